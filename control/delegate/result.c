/* Hands over a worker's answer (delegates.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/delegate/inside.h"
#include "control/tools/envelope.h"
#include "control/tools/untrusted.h"
#include "ipc/env.h"
#include "proto/base/utf8.h"
#include "proto/media.h"

enum {
	FENCE_MAX = 400,
	LEAD_MAX = 200,
	WRITTEN_LEAST = 500, /* shorter answers are only spoken */
	MESSAGE_MAX = 1900,
	MESSAGES_MAX = 4,
};

static const struct {
	const char *name;
	bool ok, texts; /* texts: what the worker wrote is worth reading */
	const char *lead;
} outcomes[] = {
	[ACP_DONE] = {"done", true, true, "The worker's answer:"},
	[ACP_CUT_SHORT] = {"cut short", true, true,
			   "The worker reached a limit of its own. It wrote so far:"},
	[ACP_DECLINED] = {"declined", false, true, "The worker refuses this task:"},
	[ACP_FAILED] = {"failed", false, true, "The worker failed:"},
	[ACP_CANCELLED] = {"cancelled", false, false, "The worker stopped by itself."},
	[ACP_LATE] = {"too late", false, false, "The worker's time limit has passed."},
	[ACP_TOO_DEAR] = {"too expensive", false, false,
			  "The task was stopped, because it cost what the settings allow."},
	[ACP_LOST] = {"lost", false, true, "The worker was lost:"},
};

const char *delegate_result_name(enum acp_outcome outcome)
{
	return outcomes[outcome].name;
}

char *delegate_result_fence(struct env *env, const char *worker, const char *text, size_t most)
{
	uint8_t mark[UNTRUSTED_MARK];
	char origin[RECORD_NAME_MAX + 16], *cut, *fenced = NULL;
	size_t n = strlen(text);

	cut = strndup(text, n > most ? utf8_whole(text, most) : n);
	env_random(env, mark, sizeof mark);
	snprintf(origin, sizeof origin, "worker %s", worker);
	if (cut && untrusted_wrap(&fenced, mark, origin, cut))
		fenced = NULL;
	free(cut);
	return fenced;
}

static void tell_people(const struct delegate_seat *seat, uint32_t call,
			const struct acp_result *result)
{
	char *text = outcomes[result->outcome].texts ? strdup(result->text) : NULL;

	if (text)
		untrusted_clean(text);
	seat->toldh(&(struct delegate_told){.call = call,
					    .ok = outcomes[result->outcome].ok,
					    .outcome = outcomes[result->outcome].name,
					    .text = text ? text : ""},
		    seat->told_arg);
	free(text);
}

static void tell_model(const struct delegate_seat *seat, uint32_t call, const char *worker,
		       const struct acp_result *result)
{
	bool ok = outcomes[result->outcome].ok;
	size_t most = (ok ? OUTPUT_MAX : TOOL_ERROR_MAX) - FENCE_MAX;
	char *fenced = outcomes[result->outcome].texts
			       ? delegate_result_fence(seat->set->env, worker, result->text, most)
			       : NULL;
	size_t size = LEAD_MAX + (fenced ? strlen(fenced) : 0);
	char *text = malloc(size);

	if (text)
		snprintf(text, size, "%s%s%s%s", outcomes[result->outcome].lead,
			 ok && result->n >= WRITTEN_LEAST && seat->room.host.writeh
				 ? " It stands in the text channel as a whole; say what matters."
				 : "",
			 fenced ? "\n" : "", fenced ? fenced : "");
	seat->room.host.outputh(call, ok && text, slice_str(text ? text : strerror(ENOMEM)),
				seat->room.host.arg);
	free(fenced);
	free(text);
}

void delegate_result_give(const struct delegate_seat *seat, uint32_t call, const char *worker,
			  const struct acp_result *result)
{
	if (seat->toldh)
		tell_people(seat, call, result);
	else
		tell_model(seat, call, worker, result);
}

/* Returns the number of bytes that fit into a message: whole lines, if there are any. */
static size_t fit(const char *text)
{
	size_t n = strlen(text), line;

	if (n <= MESSAGE_MAX)
		return n;
	n = utf8_whole(text, MESSAGE_MAX);
	for (line = n; line > MESSAGE_MAX / 2 && text[line - 1] != '\n'; line--)
		;
	return line > MESSAGE_MAX / 2 ? line : n;
}

void delegate_result_write(const struct delegate_seat *seat, const struct acp_result *result)
{
	char message[MESSAGE_MAX + 8], *text, *at;

	if (!outcomes[result->outcome].ok || result->n < WRITTEN_LEAST || !seat->room.host.writeh ||
	    seat->toldh)
		return;
	at = text = strdup(result->text);
	if (!text)
		return;
	untrusted_clean(text);
	for (unsigned i = 0; *at && i < MESSAGES_MAX; i++) {
		size_t n = fit(at);

		snprintf(message, sizeof message, "%.*s%s", (int)n, at,
			 i + 1 == MESSAGES_MAX && at[n] ? " …" : "");
		if (seat->room.host.writeh(message, seat->room.host.arg))
			break;
		at += n;
	}
	free(text);
}
