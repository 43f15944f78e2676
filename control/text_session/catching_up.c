/* What was missed while the bot was away, and what controls before this one owe, from the history
 * of the channels (inside.h; control/text/missed.h decides). One channel is read at a time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/discord/rest.h"
#include "control/settings/settings.h"
#include "control/text/missed.h"
#include "control/text/taken.h"
#include "control/text/text_chat.h"
#include "control/text_session/inside.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/iso_time.h"
#include "proto/base/time.h"
#include "proto/discord.h"

enum {
	HOUR_MS = 3600 * 1000,
	GRACE_MS =
		60000, /* messages of different channels may come in another order than written */
	TRIES = 5,
	AGAIN_S = 5,	/* times the number of tries */
	LATER_S = 300,	/* after these, where an answer is owed */
	SERVERS_S = 10, /* in which Discord tells of the servers of a new session */
};

static void ask_next(struct text_session *ts);

static bool is_owed(const struct taken *row)
{
	return row->before && (row->state == TAKEN_WAITS || row->state == TAKEN_SENDING);
}

/* ---- which channels ---- */

static unsigned count_places(const struct text_catching_up *up, uint64_t guild)
{
	unsigned n = 0;

	for (unsigned i = 0; i < up->n; i++)
		n += up->place[i].guild == guild;
	return n;
}

static void drop_place(struct text_catching_up *up, unsigned i)
{
	memmove(&up->place[i], &up->place[i + 1], (--up->n - i) * sizeof up->place[0]);
}

/* The last place of the server that has the most, and more than `least`, gives way. A place where
 * an answer is owed, and the one whose history was asked for, do not. */
static bool make_place(struct text_catching_up *up, unsigned least)
{
	unsigned last = up->n, most = least;

	for (unsigned i = up->asking; i < up->n; i++)
		if (!up->place[i].owed && up->place[i].turn > most) {
			most = up->place[i].turn;
			last = i;
		}
	if (last == up->n)
		return false;
	drop_place(up, last);
	return true;
}

/* False: the channel has no place. */
static bool add_place(struct text_session *ts, const struct text_place *p)
{
	struct text_catching_up *up = &ts->up;
	unsigned turn = p->owed ? 0 : count_places(up, p->guild);

	for (unsigned i = up->asking; i < up->n; i++)
		if (up->place[i].channel == p->channel) {
			up->place[i].owed |= p->owed;
			up->place[i].at = 0;
			up->place[i].tries = 0;
			if (p->since < up->place[i].since)
				up->place[i].since = p->since;
			return true;
		}
	if (!p->owed && p->guild && turn >= TEXT_PLACES_OF_GUILD)
		return false;
	if (up->n == TEXT_PLACES && !make_place(up, turn))
		return false;
	up->place[up->n] = *p;
	up->place[up->n++].turn = turn;
	return true;
}

static void warn_left_out(uint64_t guild, unsigned channels)
{
	if (channels)
		log_warn("text_not_caught_up", "guild=%llu channels=%u why=\"too many channels\"",
			 (unsigned long long)guild, channels);
}

static uint64_t oldest_ms(const struct text_session *ts)
{
	uint64_t hours = ts->conf.settings->text_catchup_hours, now = env_wall_ms(ts->conf.env);
	uint64_t ms = now > hours * HOUR_MS ? now - hours * HOUR_MS : 0;

	return ms > ts->conf.since_ms ? ms : ts->conf.since_ms;
}

static void end_row(struct text_session *ts, const struct taken *row, enum text_reason reason)
{
	struct text_guild *g = text_session_open(ts, row->guild);
	const struct text_trigger t = {.guild = row->guild,
				       .channel = row->channel,
				       .message = row->message,
				       .user = row->user,
				       .at = env_now(ts->conf.env),
				       .signal = TEXT_SIGNAL_DIRECT,
				       .admission = TEXT_ADMISSION_COUNT,
				       .reason = reason};

	if (g)
		text_session_record(g, &t);
}

static bool is_on(const struct text_session *ts)
{
	return ts->conf.settings->text_catchup && text_session_intents(ts->conf.settings);
}

/* A server of a new session that Discord has not told more of yet, as in an outage. What was missed
 * before another session is still missed there. */
static struct text_away *find_away(struct text_catching_up *up, uint64_t guild)
{
	for (unsigned i = 0; i < up->n_away; i++)
		if (up->away[i].guild == guild)
			return &up->away[i];
	return NULL;
}

/* Without memory they count from the session's beginning. */
static void note_away(struct text_catching_up *up, const json_t *guilds)
{
	size_t most = json_array_size(guilds) + up->n_away;
	const json_t *entry;
	struct text_away *all;
	uint64_t guild;
	size_t i;

	if (most > TEXT_AWAY)
		most = TEXT_AWAY;
	all = realloc(up->away, (most + 1) * sizeof *all);
	if (!all)
		return;
	up->away = all;
	json_array_foreach(guilds, i, entry)
	{
		if (up->n_away < most &&
		    discord_snowflake(json_string_value(json_object_get(entry, "id")), &guild) &&
		    !find_away(up, guild))
			up->away[up->n_away++] =
				(struct text_away){.guild = guild, .since = up->since};
	}
}

static void begin_session(struct text_session *ts, const json_t *guilds, uint64_t oldest)
{
	uint64_t known = ts->up.newest ? missed_id_of(missed_ms_of(ts->up.newest) - GRACE_MS) : 0;

	ts->up.since = known > oldest ? known : oldest;
	ts->up.fresh_at = env_now(ts->conf.env);
	note_away(&ts->up, guilds);
}

/* Messages of this server before this id are left alone; 0: all, as none was missed. */
static uint64_t since_of(struct text_session *ts, uint64_t guild)
{
	struct text_away *away = find_away(&ts->up, guild);
	uint64_t since = away ? away->since : ts->up.since, oldest = missed_id_of(oldest_ms(ts));

	if (away)
		*away = ts->up.away[--ts->up.n_away];
	/* A server may come back long after the session began. */
	return since && since < oldest ? oldest : since;
}

void text_session_online(struct text_session *ts, const json_t *guilds)
{
	bool fresh = guilds != NULL;
	const struct taken *row;
	unsigned left_out = 0;
	uint64_t oldest;

	if (ts)
		ts->away = false;
	if (!ts || !is_on(ts))
		return;
	oldest = missed_id_of(oldest_ms(ts));
	if (fresh)
		begin_session(ts, guilds, oldest);
	/* A server may come back that the control before this one did not see, either. */
	else if (!ts->up.since)
		ts->up.since = oldest;
	for (size_t i = 0; (row = taken_at(ts->taken, i)); i++) {
		/* In a session that goes on Discord itself tells what was missed. */
		struct text_place p = {.guild = row->guild,
				       .channel = row->channel,
				       .since = fresh ? ts->up.since : UINT64_MAX,
				       .owed = is_owed(row)};

		if (!row->message)
			continue;
		if (is_owed(row) && row->message < oldest)
			end_row(ts, row, TEXT_REASON_EXPIRED);
		else if (is_owed(row) || (fresh && !row->guild))
			left_out += !add_place(ts, &p);
	}
	warn_left_out(0, left_out);
	ask_next(ts);
}

bool text_session_catches_up(const struct text_session *ts)
{
	unsigned n = 0;

	/* What is owed in channels that are tried again later is on the disk. */
	for (unsigned i = 0; ts && i < ts->up.n; i++)
		n += ts->up.place[i].at == 0;
	return ts && ts->up.fresh_at &&
	       (n || env_now(ts->conf.env) < ts->up.fresh_at + SERVERS_S * NS_PER_S);
}

const struct settings *text_session_borrow(const struct text_session *ts, uint64_t guild)
{
	return guild ? ts->conf.settingsh(guild, ts->conf.arg) : ts->conf.settings;
}

void text_session_return(const struct text_session *ts, uint64_t guild)
{
	if (guild && !text_session_uses(ts, guild))
		ts->conf.releaseh(guild, ts->conf.arg);
}

static bool may_read(const struct text_session *ts, const struct settings *s, uint64_t guild,
		     uint64_t channel)
{
	const char *title;
	uint64_t parent = text_session_parent_by(ts, s, guild, channel, &title);

	return s->text_chat != SETTINGS_TEXT_OFF &&
	       !text_channel_is_blocked(s, guild, channel, parent,
					text_session_category(ts, guild, channel));
}

static bool is_read(const struct text_session *ts, uint64_t guild, uint64_t channel)
{
	bool read = may_read(ts, text_session_borrow(ts, guild), guild, channel);

	text_session_return(ts, guild);
	return read;
}

/* Discord tells of channels that the bot cannot see, too; what it owes anywhere is looked for. */
static bool is_worth_asking(const struct text_session *ts, const struct text_place *p)
{
	return p->owed || !p->guild || !ts->conf.writeh ||
	       ts->conf.writeh(p->guild, p->channel, ts->conf.arg);
}

/* How many found no place. */
static unsigned add_channels(struct text_session *ts, const struct settings *s, uint64_t guild,
			     uint64_t since, const json_t *list)
{
	unsigned left_out = 0;
	const json_t *c;
	size_t i;

	json_array_foreach(list, i, c)
	{
		struct text_place p = {.guild = guild, .since = since};
		uint64_t last = 0;

		discord_snowflake(json_string_value(json_object_get(c, "id")), &p.channel);
		discord_snowflake(json_string_value(json_object_get(c, "last_message_id")), &last);
		if (p.channel && last >= since && may_read(ts, s, guild, p.channel) &&
		    is_worth_asking(ts, &p))
			left_out += !add_place(ts, &p);
	}
	return left_out;
}

/* Of a server that the bot has just been invited to, nothing was missed. Times of Discord compare
 * as texts, but for the fraction of the second. */
static bool joined_since(const json_t *d, uint64_t since)
{
	const char *joined = json_string_value(json_object_get(d, "joined_at"));
	char at[ISO_TIME_SIZE];

	iso_time_format(at, missed_ms_of(since));
	return joined && strncmp(joined, at, strlen("2026-11-29T01:02:03")) > 0;
}

void text_session_guild(struct text_session *ts, const json_t *d)
{
	const struct settings *s;
	uint64_t guild = 0, since;
	unsigned left_out;

	if (!ts || !is_on(ts) ||
	    !discord_snowflake(json_string_value(json_object_get(d, "id")), &guild))
		return;
	since = since_of(ts, guild);
	if (!since || joined_since(d, since))
		return;
	s = text_session_borrow(ts, guild);
	left_out = add_channels(ts, s, guild, since, json_object_get(d, "channels")) +
		   add_channels(ts, s, guild, since, json_object_get(d, "threads"));
	text_session_return(ts, guild);
	warn_left_out(guild, left_out);
	/* Others that come with it have their turn, too. */
	if (ts->up.n && !ts->up.asking)
		tmr_start(ts->up.tmr, NS_PER_MS);
}

/* ---- one channel ---- */

static void take_one(struct text_session *ts, const struct missed_page *page, uint64_t since,
		     json_t *d)
{
	struct taken *row;
	bool reply;

	if (text_session_read(ts, d, false))
		return;
	if (ts->in.starter) {
		if (text_session_was_read(ts))
			text_session_note_starter(ts);
		return;
	}
	row = taken_find(ts->taken, ts->in.message);
	switch (missed_judge(page, ts->taken, &ts->in, since, &reply)) {
	case MISSED_ANSWERED:
		end_row(ts, row, reply ? TEXT_REASON_SENT_REPLY : TEXT_REASON_SENT_MESSAGE);
		break;
	case MISSED_REACTED:
		end_row(ts, row, TEXT_REASON_REACTED);
		break;
	case MISSED_OWED:
		row->before = false;
		if (!text_session_take(ts, d, TEXT_CAME_OWED))
			end_row(ts, row, TEXT_REASON_NOT_READ);
		break;
	case MISSED_LATE:
		if (text_session_was_read(ts))
			text_session_take(ts, d, TEXT_CAME_MISSED);
		break;
	case MISSED_DONE:
		break;
	}
}

/* Messages of the channel that are owed an answer and are not in its history. */
static void end_rest(struct text_session *ts, uint64_t channel, uint64_t from,
		     enum text_reason reason)
{
	const struct taken *row;

	for (size_t i = 0; (row = taken_at(ts->taken, i)); i++)
		if (row->message >= from && row->channel == channel && is_owed(row))
			end_row(ts, row, reason);
}

static unsigned most_of(const struct text_session *ts, const struct text_place *p)
{
	return p->owed ? MISSED_PAGE : ts->conf.settings->text_catchup_messages;
}

/* What told of a tool at work for a message that is still owed its answer. */
static void find_left(struct text_session *ts, const struct text_place *p,
		      const struct missed_page *page)
{
	for (size_t i = 0; i < page->n; i++) {
		const struct taken *row = page->own[i].works && page->own[i].replies_to
						  ? taken_find(ts->taken, page->own[i].replies_to)
						  : NULL;
		struct text_guild *g = row && is_owed(row) ? text_session_open(ts, p->guild) : NULL;

		if (g)
			text_working_find_left(g, p->channel, page->own[i].message, row->message);
	}
}

/* Discord gives an empty history to a bot that may not read it. */
static bool is_hidden(const struct text_session *ts, const struct text_place *p,
		      const struct missed_page *page)
{
	const struct text_session_conf *c = &ts->conf;

	if (page->messages || !p->guild || !c->historyh ||
	    c->historyh(p->guild, p->channel, c->arg))
		return false;
	if (p->owed)
		log_warn("text_not_caught_up",
			 "guild=%llu channel=%llu why=\"no permission to read message history\"",
			 (unsigned long long)p->guild, (unsigned long long)p->channel);
	return true;
}

static void take_history(struct text_session *ts, const struct text_place *p, const json_t *list)
{
	struct missed_page page;
	size_t i = json_array_size(list);

	missed_read(&page, list, ts->self);
	find_left(ts, p, &page);
	/* The oldest first. */
	while (i-- > 0) {
		json_t *d = json_copy(json_array_get(list, i));

		if (d && p->guild)
			json_object_set_new(d, "guild_id",
					    json_sprintf("%llu", (unsigned long long)p->guild));
		if (d)
			take_one(ts, &page, p->since, d);
		json_decref(d);
	}
	if (!is_hidden(ts, p, &page))
		end_rest(ts, p->channel, page.messages < most_of(ts, p) ? 1 : page.oldest,
			 TEXT_REASON_DELETED);
	end_rest(ts, p->channel, 1, TEXT_REASON_EXPIRED);
	/* Some of them have ended by now. */
	if (text_session_uses(ts, p->guild))
		text_working_sweep(text_session_open(ts, p->guild));
}

/* False: no answer is owed there, or none any more. */
static bool try_later(struct text_session *ts, struct text_place *p)
{
	uint64_t oldest = missed_id_of(oldest_ms(ts));
	const struct taken *row;
	bool owes = false;

	for (size_t i = 0; (row = taken_at(ts->taken, i)); i++) {
		if (row->channel != p->channel || !is_owed(row))
			continue;
		if (row->message < oldest)
			end_row(ts, row, TEXT_REASON_EXPIRED);
		else
			owes = true;
	}
	p->at = env_now(ts->conf.env) + LATER_S * NS_PER_S;
	return owes;
}

static void on_history(int err, int status, const json_t *body, void *arg)
{
	struct text_session *ts = arg;
	struct text_place p = ts->up.place[0];

	ts->up.asking = false;
	if (err == ECANCELED)
		return;
	if (!err && status / 100 == 4 && status != 429) {
		drop_place(&ts->up, 0);
		end_rest(ts, p.channel, 1, TEXT_REASON_CHANNEL_BLOCKED);
	} else if (!err && status == 200 && json_is_array(body)) {
		drop_place(&ts->up, 0);
		take_history(ts, &p, body);
	} else if (++ts->up.place[0].tries < TRIES) {
		tmr_start(ts->up.tmr, (uint64_t)ts->up.place[0].tries * AGAIN_S * NS_PER_S);
		return;
	} else {
		log_warn("text_not_caught_up", "guild=%llu channel=%llu err=%d status=%d",
			 (unsigned long long)p.guild, (unsigned long long)p.channel, err, status);
		if (!try_later(ts, &ts->up.place[0]))
			drop_place(&ts->up, 0);
	}
	ask_next(ts);
}

static int ask(struct text_session *ts)
{
	const struct text_place *p = &ts->up.place[0];
	char path[96], major[24];
	const struct rest_call call = {.method = "GET",
				       .route = "/channels/{}/messages",
				       .path = path,
				       .major = major,
				       .idempotent = true};

	snprintf(major, sizeof major, "%llu", (unsigned long long)p->channel);
	snprintf(path, sizeof path, "/channels/%s/messages?limit=%u", major, most_of(ts, p));
	return rest_request(ts->conf.rest, &call, on_history, ts);
}

/* Each server has one of its channels read before any has its second one. False: all wait. */
static bool choose_first(struct text_catching_up *up, uint64_t now)
{
	struct text_place first;
	uint64_t next = UINT64_MAX;
	unsigned best = up->n;

	for (unsigned i = 0; i < up->n; i++) {
		if (up->place[i].at > now)
			next = up->place[i].at < next ? up->place[i].at : next;
		else if (best == up->n || up->place[i].turn < up->place[best].turn)
			best = i;
	}
	if (best == up->n) {
		tmr_start_at(up->tmr, next);
		return false;
	}
	first = up->place[best];
	memmove(&up->place[1], &up->place[0], best * sizeof first);
	up->place[0] = first;
	return true;
}

static void ask_next(struct text_session *ts)
{
	struct text_catching_up *up = &ts->up;

	while (up->n && !up->asking && choose_first(up, env_now(ts->conf.env))) {
		struct text_place p = up->place[0];
		bool worth;
		int err;

		worth = is_read(ts, p.guild, p.channel) && is_worth_asking(ts, &p);
		err = worth ? ask(ts) : EACCES;

		up->asking = !err;
		if (err && err != EACCES)
			tmr_start(up->tmr, AGAIN_S * NS_PER_S);
		if (err != EACCES)
			return;
		drop_place(up, 0);
		end_rest(ts, p.channel, 1, TEXT_REASON_CHANNEL_BLOCKED);
	}
}

static void on_again(void *arg)
{
	ask_next(arg);
}

int text_catching_up_init(struct text_session *ts)
{
	return tmr_alloc(&ts->up.tmr, ts->conf.env, on_again, ts);
}

void text_catching_up_end(struct text_session *ts)
{
	tmr_free(ts->up.tmr);
	free(ts->up.away);
}
