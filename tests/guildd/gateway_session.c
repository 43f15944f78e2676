#include "tests/guildd/gateway_session.h"

#include "tests/guildd/calls.h"
#include "tests/guildd/history.h"
#include "tests/guildd/objects.h"

#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

#include <inttypes.h>

static void event_free(struct gevent *e)
{
	free(e->text);
	free(e);
}

static void expired(void *arg)
{
	struct gsession *s = arg;

	gd_count(s->gw->g, s->bot->user->id, "main_expired");
	gsession_end(s);
}

int gsession_alloc(struct gsession **out, struct gd_gateway *gw, struct gd_bot *bot,
		   uint64_t intents)
{
	struct gsession *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return ENOMEM;
	s->gw = gw;
	s->bot = bot;
	s->intents = intents;
	gd_secret(gw->g, s->id);
	err = tmr_alloc(&s->expiry, gw->g->env, expired, s);
	if (!err)
		err = gd_vec_add(&gw->sessions, s);
	if (err) {
		gsession_free(s);
		return err;
	}
	*out = s;
	return 0;
}

struct gsession *gsession_free(struct gsession *s)
{
	if (!s)
		return NULL;
	gd_vec_remove(&s->gw->sessions, s);
	if (s->conn)
		s->conn->s = NULL;
	for (size_t i = 0; i < s->log.n; i++)
		event_free(s->log.v[i]);
	gd_vec_clear(&s->log);
	tmr_free(s->expiry);
	free(s);
	return NULL;
}

void gsession_dispatch(struct gsession *s, const char *name, const json_t *d)
{
	json_t *o = json_pack("{s:i, s:s, s:i, s:O}", "op", 0, "t", name, "s", s->seq + 1, "d", d);
	char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
	struct gevent *e = text ? malloc(sizeof(*e)) : NULL;

	json_decref(o);
	if (!e) {
		free(text);
		return;
	}
	s->seq++;
	*e = (struct gevent){.seq = s->seq, .text = text};
	if (s->log.n == GD_SESSION_LOG)
		event_free(gd_vec_take(&s->log, 0));
	if (s->conn)
		gconn_text(s->conn, text);
	if (gd_vec_add(&s->log, e))
		event_free(e);
}

void gsession_end(struct gsession *s)
{
	struct guildd *g = s->gw->g;
	uint64_t user = s->bot->user->id;

	log_info("main_end", "user=%" PRIu64, user);
	gd_history_add(g->history, "main_ended", user, 0);
	gsession_free(s);
	gd_call_leave_all(g, user, 4014);
}

void gsession_lost(struct gsession *s)
{
	s->conn = NULL;
	gd_history_add(s->gw->g->history, "main_lost", s->bot->user->id, 0);
	tmr_start(s->expiry, s->gw->g->sw.main_resume_ms * NS_PER_MS);
}

bool gsession_replay(struct gsession *s, int seq)
{
	int first = s->seq - (int)s->log.n + 1;

	if (seq + 1 < first)
		return false;
	for (size_t i = 0; i < s->log.n; i++) {
		const struct gevent *e = s->log.v[i];

		if (e->seq > seq)
			gconn_text(s->conn, e->text);
	}
	return true;
}

struct gsession *gsession_find(const struct gd_gateway *gw, uint64_t user)
{
	for (size_t i = 0; i < gw->sessions.n; i++) {
		struct gsession *s = gw->sessions.v[i];

		if (s->bot->user->id == user)
			return s;
	}
	return NULL;
}

void gd_gateway_event(struct guildd *g, uint64_t guild, uint64_t intent, const char *name,
		      json_t *d)
{
	struct gd_guild *gg = gd_guild_find(g->world, guild);

	for (size_t i = 0; gg && d && i < g->gateway->sessions.n; i++) {
		struct gsession *s = g->gateway->sessions.v[i];

		if ((s->intents & intent) == intent && gd_member_find(gg, s->bot->user->id))
			gsession_dispatch(s, name, d);
	}
	json_decref(d);
}

bool gd_gateway_event_user(struct guildd *g, uint64_t user, const char *name, json_t *d)
{
	struct gsession *s = gsession_find(g->gateway, user);

	if (s && d)
		gsession_dispatch(s, name, d);
	json_decref(d);
	return s != NULL;
}

void gd_gateway_member(struct guildd *g, const struct gd_guild *guild, uint64_t user, json_t *d)
{
	for (size_t i = 0; d && i < g->gateway->sessions.n; i++) {
		struct gsession *s = g->gateway->sessions.v[i];

		if (gd_member_find(guild, s->bot->user->id) &&
		    (s->intents & GD_INTENT_MEMBERS || s->bot->user->id == user))
			gsession_dispatch(s, "GUILD_MEMBER_UPDATE", d);
	}
	json_decref(d);
}

/* Whether the session gets events about messages of this channel. guild_intent: of servers; that of
 * direct messages is three bits higher. */
static bool hears(const struct gsession *s, const struct gd_guild *guild,
		  const struct gd_channel *c, uint64_t guild_intent)
{
	uint64_t user = s->bot->user->id;

	if (!guild)
		return c && c->bot == user && s->intents & guild_intent << 3;
	return s->intents & guild_intent && gd_permissions(guild, user, c) & GD_PERM_VIEW;
}

void gd_gateway_message(struct guildd *g, const char *name, const json_t *message)
{
	struct gd_guild *guild =
		gd_guild_find(g->world, gd_id(json_object_get(message, "guild_id")));
	struct gd_channel *c =
		gd_channel_find(g->world, gd_id(json_object_get(message, "channel_id")));

	for (size_t i = 0; i < g->gateway->sessions.n; i++) {
		struct gsession *s = g->gateway->sessions.v[i];
		json_t *seen = s->intents & GD_INTENT_CONTENT
				       ? json_incref((json_t *)(uintptr_t)message)
				       : gd_message_for(message, s->bot->user->id);

		if (seen && hears(s, guild, c, GD_INTENT_MESSAGES))
			gsession_dispatch(s, name, seen);
		json_decref(seen);
	}
}

void gd_gateway_about(struct guildd *g, const struct gd_channel *c, uint64_t intent,
		      const char *name, json_t *d)
{
	struct gd_guild *guild = gd_guild_find(g->world, c->guild);

	if (d && guild)
		json_object_set_new(d, "guild_id", gd_id_json(guild->id));
	for (size_t i = 0; d && i < g->gateway->sessions.n; i++) {
		struct gsession *s = g->gateway->sessions.v[i];

		if (hears(s, guild, c, intent))
			gsession_dispatch(s, name, d);
	}
	json_decref(d);
}

void gd_gateway_guild(struct guildd *g, uint64_t user, const struct gd_guild *guild)
{
	struct gsession *s = gsession_find(g->gateway, user);
	json_t *d;

	if (!s || !(s->intents & GD_INTENT_GUILDS))
		return;
	d = gd_guild_json(guild, true, user, s->intents & GD_INTENT_PRESENCES);
	if (d)
		gsession_dispatch(s, "GUILD_CREATE", d);
	json_decref(d);
}
