/* Messages of the client (acp.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/acp_inside.h"
#include "control/dialect/build.h"

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
	return send_message(a, json_pack("{s:s, s:I, s:s, s:o}", "jsonrpc", "2.0", "id",
					 (json_int_t)++a->ids, "method", method, "params", params));
}

void acp_out_notify(struct acp *a, const char *method, json_t *params)
{
	send_message(a, json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method", method, "params",
				  params));
}

void acp_out_answer(struct acp *a, const json_t *id, json_t *result)
{
	json_t *copy = json_deep_copy(id);

	send_message(a, result ? json_pack("{s:s, s:o, s:o}", "jsonrpc", "2.0", "id", copy,
					   "result", result)
			       : json_pack("{s:s, s:o, s:{s:i, s:s}}", "jsonrpc", "2.0", "id", copy,
					   "error", "code", -32601, "message", "Method not found"));
}
