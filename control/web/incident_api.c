/* Exports an incident: POST /api/incidents. Its folder stays on the machine of control, and whoever
 * runs the bot passes it on. One at a time. */
#include <errno.h>

#include "control/web/inside.h"
#include "proto/discord.h"

enum { HOURS = 24, HOURS_MAX = 24 * 30 };

static void lose(struct http_exchange *x, void *arg)
{
	(void)x;
	*web_exporting(arg) = NULL;
}

static void on_made(const char *dir, void *arg)
{
	struct http_exchange *x = *web_exporting(arg);

	*web_exporting(arg) = NULL;
	if (!x)
		return;
	http_on_gone(x, NULL, NULL);
	if (dir)
		web_json(x, 201,
			 json_pack("{s:s,s:o}", "folder", dir, "command",
				   json_sprintf("control --show '%s'", dir)));
	else
		web_refuse(x, WEB_NO_INCIDENT);
}

static bool read_body(const json_t *body, struct web_incident *out)
{
	const json_t *hours = json_object_get(body, "hours"),
		     *guild = json_object_get(body, "guild");
	json_int_t n = hours ? json_integer_value(hours) : HOURS;

	*out = (struct web_incident){.hours = (uint32_t)n};
	return n >= 1 && n <= HOURS_MAX &&
	       (!guild || discord_snowflake(json_string_value(guild), &out->guild));
}

void web_incidents_post(struct web *w, const struct web_request *r)
{
	const struct web_conf *c = web_shown(w);
	struct web_incident what;
	int err;

	if (!read_body(r->body, &what)) {
		web_refuse(r->x, WEB_BAD_INCIDENT);
		return;
	}
	err = c->incidenth ? c->incidenth(&what, on_made, w, c->arg) : ENOENT;
	access_audit(web_access(w), r->x, AUDIT_KIND_EXPORT_INCIDENT, "",
		     err ? "refused" : "begun");
	if (err) {
		web_refuse(r->x, err == EBUSY	 ? WEB_BUSY
				 : err == ENOSPC ? WEB_MANY_INCIDENTS
						 : WEB_NO_INCIDENT);
		return;
	}
	*web_exporting(w) = r->x;
	http_on_gone(r->x, lose, w);
}
