/* Sessions of browsers over HTTP: /api/auth/. */
#include <stdio.h>

#include "control/web/discord_sign_in.h"
#include "control/web/inside.h"
#include "control/web/sessions.h"
#include "proto/base/iso_time.h"
#include "proto/discord.h"

/* [{id, name, role}]: the servers that the session can look at, one at a time. */
static json_t *describe_servers(const struct web *w, const struct session *s)
{
	const struct discord_grants *g = s ? discord_sign_in_servers(web_discord(w), s->id) : NULL;
	json_t *guilds = g ? web_shown(w)->guildsh(web_shown(w)->arg) : NULL;
	json_t *list = json_array();

	for (unsigned i = 0; g && i < g->n; i++) {
		json_t *one = web_only(json_copy(guilds), "id", g->v[i].guild);

		json_array_append_new(
			list, json_pack("{s:o,s:O?,s:s}", "id",
					json_sprintf("%llu", (unsigned long long)g->v[i].guild),
					"name", json_object_get(json_array_get(one, 0), "name"),
					"role", web_role_name(g->v[i].role)));
		json_decref(one);
	}
	json_decref(guilds);
	return list;
}

static json_t *describe(const struct web *w, const struct http_exchange *x)
{
	const struct session *s = access_session(web_access(w), x);
	enum web_role role = access_role(web_access(w), x);
	char created[ISO_TIME_SIZE], expires[ISO_TIME_SIZE];

	if (s) {
		iso_time_format(created, s->created_ms);
		iso_time_format(expires, s->expires_ms);
	}
	return json_pack("{s:s,s:b,s:b,s:s?,s:s?,s:s?,s:o,s:o,s:o}", "role", web_role_name(role),
			 "words", (int)(role >= WEB_OPERATOR), "openOnly", (int)(s && s->open),
			 "talk", *web_talk(w) ? web_talk(w) : NULL, "createdAt", s ? created : NULL,
			 "expiresAt", s ? expires : NULL, "guild",
			 s && s->guild ? json_sprintf("%llu", (unsigned long long)s->guild)
				       : json_null(),
			 "servers", describe_servers(w, s), "sessions",
			 role == WEB_ADMIN ? access_list(web_access(w), x) : json_null());
}

void web_session_get(struct web *w, const struct web_request *r)
{
	web_json(r->x, 200, describe(w, r->x));
}

void web_session_post(struct web *w, const struct web_request *r)
{
	switch (access_sign_in(web_access(w), r->x, r->head)) {
	case SIGN_IN_DONE:
		web_json(r->x, 201, describe(w, r->x));
		break;
	case SIGN_IN_REFUSED:
		web_refuse(r->x, WEB_NOT_SIGNED_IN);
		break;
	case SIGN_IN_LATER:
		http_reply_field(r->x, "Retry-After", "30");
		web_refuse(r->x, WEB_TOO_MANY_TRIES);
		break;
	case SIGN_IN_FULL:
		web_refuse(r->x, WEB_BUSY);
		break;
	case SIGN_IN_FOREIGN:
		web_refuse(r->x, WEB_FOREIGN);
		break;
	case SIGN_IN_NOT_PRIVATE:
		web_refuse(r->x, WEB_NOT_PRIVATE);
		break;
	}
}

/* {server}: the session looks at this one of its servers from now on, with the role that its person
 * has there. */
void web_session_put(struct web *w, const struct web_request *r)
{
	const struct session *s = access_session(web_access(w), r->x);
	const struct discord_grants *all =
		s ? discord_sign_in_servers(web_discord(w), s->id) : NULL;
	const struct discord_grant *to;
	uint64_t guild = 0;
	char target[40];

	discord_snowflake(json_string_value(json_object_get(r->body, "server")), &guild);
	to = all && guild ? discord_grants_find(all, guild) : NULL;
	if (!to) {
		web_refuse(r->x, WEB_FORBIDDEN);
		return;
	}
	access_move(web_access(w), s->id, to);
	snprintf(target, sizeof target, "server %llu", (unsigned long long)guild);
	access_audit(web_access(w), r->x, AUDIT_KIND_LOOK_AT, target, "done");
	web_json(r->x, 200, describe(w, r->x));
}

void web_session_delete(struct web *w, const struct web_request *r)
{
	access_sign_out(web_access(w), r->x);
	http_reply(r->x, 204, NULL, NULL, 0);
}

void web_sessions_delete(struct web *w, const struct web_request *r)
{
	unsigned ended = access_sign_out_all(web_access(w), r->x);

	web_json(r->x, 200, json_pack("{s:i}", "ended", (int)ended));
}

void web_one_session_delete(struct web *w, const struct web_request *r)
{
	if (access_sign_out_one(web_access(w), r->x, r->id))
		http_reply(r->x, 204, NULL, NULL, 0);
	else
		web_refuse(r->x, WEB_NO_SUCH_SESSION);
}

void web_methods_get(struct web *w, const struct web_request *r)
{
	web_json(r->x, 200,
		 json_pack("{s:b,s:b}", "token", 1, "discord",
			   (int)discord_sign_in_is_on(web_discord(w))));
}

void web_discord_get(struct web *w, const struct web_request *r)
{
	discord_sign_in_begin(web_discord(w), r->x);
}

void web_discord_callback_get(struct web *w, const struct web_request *r)
{
	discord_sign_in_end(web_discord(w), r->x);
}
