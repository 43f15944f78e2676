/* Calls of Discord's REST API that nobody waits for, and what the log says of calls that failed
 * (inside.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/discord/rest.h"
#include "control/text_session/inside.h"
#include "ipc/log.h"

/* Codes of Discord (documentation, "JSON error codes"). */
enum { MISSING_ACCESS = 50001, MISSING_PERMISSIONS = 50013 };

struct quiet {
	const char *what;
	uint64_t guild, channel;
};

/* The permission that Discord misses; "": it misses none. */
static const char *find_permission(const char *what, const json_t *body)
{
	static const struct {
		const char *what, *permission;
	} needed[] = {{"reaction", "Add Reactions, Read Message History"},
		      {"file", "Attach Files"},
		      {"reply", "Read Message History"}};
	json_int_t code = json_integer_value(json_object_get(body, "code"));

	if (code == MISSING_ACCESS)
		return "View Channel";
	if (code != MISSING_PERMISSIONS)
		return "";
	for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
		if (strcmp(needed[i].what, what) == 0)
			return needed[i].permission;
	return "Send Messages, in threads Send Messages in Threads";
}

void text_quiet_told(const struct text_done *done, int err, int status, const json_t *body)
{
	const char *text = json_string_value(json_object_get(body, "message"));
	const char *permission = find_permission(done->what, body);

	if (err == ECANCELED || (!err && status / 100 == 2))
		return;
	log_warn(done->event,
		 "what=%s guild=%llu channel=%llu err=%d status=%d text=\"%s\" permission=\"%s\" "
		 "help=\"%s\"",
		 done->what, (unsigned long long)done->guild, (unsigned long long)done->channel,
		 err, status, text ? text : "", permission,
		 *permission ? "open the invite link of control --check again, or allow it in the "
			       "channel"
			     : "");
}

static void on_done(int err, int status, const json_t *body, void *arg)
{
	struct quiet *q = arg;

	text_quiet_told(&(struct text_done){.event = "text_not_done",
					    .what = q->what,
					    .guild = q->guild,
					    .channel = q->channel},
			err, status, body);
	free(q);
}

void text_quiet_request(struct text_session *ts, const struct rest_call *call, const char *what,
			uint64_t guild, uint64_t channel)
{
	struct quiet *q = malloc(sizeof *q);

	if (!q)
		return;
	*q = (struct quiet){what, guild, channel};
	if (rest_request(ts->conf.rest, call, on_done, q))
		free(q);
}
