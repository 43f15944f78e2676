/* Messages of the client (acp.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/acp_inside.h"
#include "control/dialect/build.h"
#include "control/dialect/json_rpc.h"

/* Steals root. */
static int send_message(struct acp *a, json_t *root)
{
	char *text = build_text(root);

	if (!text)
		return ENOMEM;
	a->conf.sendh(text, strlen(text), a->conf.arg);
	free(text);
	return 0;
}

int acp_out_request(struct acp *a, const char *method, json_t *params)
{
	return send_message(a, json_rpc_request(++a->ids, method, params));
}

void acp_out_notify(struct acp *a, const char *method, json_t *params)
{
	send_message(a, json_rpc_notification(method, params));
}

void acp_out_answer(struct acp *a, const json_t *id, json_t *result)
{
	send_message(a, json_rpc_answer(id, result));
}
