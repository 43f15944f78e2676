/* What operators have the bot do in a room, over HTTP: POST /api/rooms/:id/… and /api/voice/join.
 * Each order, carried out or not, is a row of the audit. The words that the bot is to say are not
 * in it. They wait until the room is quiet: another row, of the kind order_ended, tells what became
 * of them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "control/events/audit_kind.h"
#include "control/web/inside.h"
#include "proto/discord.h"

static const enum audit_kind kinds[] = {
	[WEB_SAY] = AUDIT_KIND_SAY,
	[WEB_STOP] = AUDIT_KIND_STOP,
	[WEB_MUTE] = AUDIT_KIND_MUTE,
	[WEB_UNMUTE] = AUDIT_KIND_UNMUTE,
	[WEB_LEAVE] = AUDIT_KIND_LEAVE,
	[WEB_MOVE] = AUDIT_KIND_MOVE,
	[WEB_MUSIC_PAUSE] = AUDIT_KIND_MUSIC_PAUSE,
	[WEB_MUSIC_RESUME] = AUDIT_KIND_MUSIC_RESUME,
	[WEB_MUSIC_SKIP] = AUDIT_KIND_MUSIC_SKIP,
	[WEB_MUSIC_STOP] = AUDIT_KIND_MUSIC_STOP,
};

static void answer(const struct web_request *r, const struct web_order *o, int err, const char *why)
{
	if (err == ENOENT)
		web_refuse(r->x, WEB_NO_SUCH_ROOM);
	else if (err == ENOTCONN)
		web_refuse(r->x, WEB_NO_CONVERSATION);
	else if (err == EPERM)
		web_refuse(r->x, WEB_MUTED);
	else if (err == ESRCH)
		web_refuse(r->x, WEB_NOTHING_PLAYS);
	else if (err && *why)
		web_problem(r->x, 409, "order_refused", why, NULL);
	else if (err)
		web_refuse(r->x, WEB_ORDER_REFUSED);
	else
		web_json(r->x, 202,
			 json_pack("{s:s,s:o,s:o}", "order", web_order_name(o->kind), "guild",
				   json_sprintf("%llu", (unsigned long long)o->guild), "id",
				   o->number ? json_sprintf("%llu", (unsigned long long)o->number)
					     : json_null()));
}

/* The room, and where it goes to. */
static bool may_order(const struct web *w, const struct web_request *r, const struct web_order *o)
{
	json_t *rooms;
	bool seen;

	if (!r->open)
		return true;
	rooms = web_seen_rooms(w, o->guild, true);
	seen = json_array_size(rooms) > 0;
	json_decref(rooms);
	return seen && (!o->channel || web_is_open(w, o->guild, o->channel));
}

static void give(struct web *w, const struct web_request *r, const struct web_order *o)
{
	const struct web_conf *c = web_shown(w);
	char why[WEB_WHY_SIZE] = "", target[64];
	int err = may_order(w, r, o) ? c->orderh(o, why, c->arg) : ENOENT;
	size_t n = (size_t)snprintf(target, sizeof target, "server %llu",
				    (unsigned long long)o->guild);

	if (o->number)
		snprintf(target + n, sizeof target - n, ", order %llu",
			 (unsigned long long)o->number);
	access_audit(web_access(w), r->x, kinds[o->kind], target,
		     err		  ? "refused"
		     : o->kind == WEB_SAY ? "accepted"
					  : "carried out");
	answer(r, o, err, why);
}

const char *web_order_name(enum web_order_kind kind)
{
	return audit_kind_name(kinds[kind]);
}

void web_say_post(struct web *w, const struct web_request *r)
{
	const char *text = json_string_value(json_object_get(r->body, "text"));

	if (!text || !text[strspn(text, " \t\r\n")] || strlen(text) > WEB_SAY_MAX)
		web_refuse(r->x, WEB_BAD_TEXT);
	else
		give(w, r,
		     &(struct web_order){.kind = WEB_SAY,
					 .guild = r->id,
					 .text = text,
					 .number = web_next_order(w)});
}

void web_stop_post(struct web *w, const struct web_request *r)
{
	give(w, r, &(struct web_order){.kind = WEB_STOP, .guild = r->id});
}

void web_mute_post(struct web *w, const struct web_request *r)
{
	const json_t *muted = json_object_get(r->body, "muted");

	if (!json_is_boolean(muted))
		web_refuse(r->x, WEB_BAD_MUTE);
	else
		give(w, r,
		     &(struct web_order){.kind = json_is_true(muted) ? WEB_MUTE : WEB_UNMUTE,
					 .guild = r->id});
}

/* {action: pause, resume, skip or stop}. */
void web_music_post(struct web *w, const struct web_request *r)
{
	const char *action = json_string_value(json_object_get(r->body, "action"));
	struct web_order o = {.kind = WEB_MUSIC_PAUSE, .guild = r->id};

	while (action && o.kind <= WEB_MUSIC_STOP &&
	       strcmp(web_order_name(o.kind) + strlen("music_"), action) != 0)
		o.kind++;
	if (!action || o.kind > WEB_MUSIC_STOP)
		web_refuse(r->x, WEB_BAD_ACTION);
	else
		give(w, r, &o);
}

void web_leave_post(struct web *w, const struct web_request *r)
{
	give(w, r, &(struct web_order){.kind = WEB_LEAVE, .guild = r->id});
}

void web_move_post(struct web *w, const struct web_request *r)
{
	struct web_order o = {.kind = WEB_MOVE, .guild = r->id};
	const char *id = json_string_value(json_object_get(r->body, "channel"));

	if (!discord_snowflake(id, &o.channel))
		web_refuse(r->x, WEB_BAD_CHANNEL);
	else
		give(w, r, &o);
}

/* {guildId, channelId}. */
void web_voice_join_post(struct web *w, const struct web_request *r)
{
	struct web_order o = {.kind = WEB_MOVE};

	if (!discord_snowflake(json_string_value(json_object_get(r->body, "guildId")), &o.guild) ||
	    !discord_snowflake(json_string_value(json_object_get(r->body, "channelId")),
			       &o.channel))
		web_refuse(r->x, WEB_BAD_CHANNEL);
	else
		give(w, r, &o);
}

void web_guilds_get(struct web *w, const struct web_request *r)
{
	const struct web_conf *c = web_shown(w);
	json_t *guilds = web_only(c->guildsh(c->arg), "id", r->scope);

	web_json(r->x, 200, guilds ? json_pack("{s:o}", "guilds", guilds) : NULL);
}

void web_channels_get(struct web *w, const struct web_request *r)
{
	json_t *channels = web_seen_channels(w, r->id, r->open);

	if (channels)
		web_json(r->x, 200, json_pack("{s:o}", "channels", channels));
	else
		web_refuse(r->x, WEB_NO_SUCH_ROOM);
}
