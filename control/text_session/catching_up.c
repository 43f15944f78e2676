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
	ARCHIVED = 32,	/* threads of a server that are looked at */
};

static void ask_next(struct text_session *ts);

static bool is_owed(const struct taken *row)
{
	return row->before && taken_is_open(row);
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

/* Until Discord has told of a server, its channels, their threads and who may do what there are not
 * known. */
static bool is_known(const struct text_session *ts, uint64_t guild)
{
	return !guild || !ts->conf.knownh || ts->conf.knownh(guild, ts->conf.arg);
}

/* No step of the core ends these messages: who asked sees here that no answer comes. */
static void warn(struct text_guild *g, const struct text_trigger *t)
{
	struct text_session *ts = g->ts;
	const char *title;
	const struct text_event ev = {.guild = t->guild,
				      .channel = t->channel,
				      .parent =
					      text_session_parent(ts, t->guild, t->channel, &title),
				      .category = text_session_category(ts, t->guild, t->channel),
				      .user = t->user,
				      .text = "?",
				      .refused = text_session_refused(g, t->user)};

	if (text_reason_signs(t->reason) && g->settings->text_chat != SETTINGS_TEXT_OFF &&
	    is_known(ts, t->guild) && text_refusal(g->settings, &ev) == TEXT_REASON_NONE &&
	    text_chat_warns(g->core, t->channel, t->user, env_now(ts->conf.env)))
		text_sending_warn(ts, &(struct text_effect){.type = TEXT_DO_WARN,
							    .guild = t->guild,
							    .channel = t->channel,
							    .message = t->message,
							    .user = t->user,
							    .record = t});
}

static void end_row(struct text_session *ts, const struct taken *row, enum text_reason reason)
{
	/* Those that wait had to be answered. */
	bool waits = row->state == TAKEN_WAITS;
	struct text_guild *g = text_session_open(ts, row->guild);
	const struct text_trigger t = {.guild = row->guild,
				       .channel = row->channel,
				       .message = row->message,
				       .user = row->user,
				       .at = env_now(ts->conf.env),
				       .signal = TEXT_SIGNAL_DIRECT,
				       .admission = TEXT_ADMISSION_COUNT,
				       .reason = reason};

	if (!g)
		return;
	text_session_record(g, &t);
	if (waits)
		warn(g, &t);
}

void text_session_end_owed(struct text_session *ts, uint64_t guild, uint64_t user)
{
	const struct taken *row;

	for (size_t i = 0; (row = taken_at(ts->taken, i)); i++)
		if (row->message && row->user == user && (!guild || row->guild == guild) &&
		    is_owed(row))
			end_row(ts, row, TEXT_REASON_NO_CONSENT);
}

/* Ends what is owed in the channel for too long. False: nothing else is owed there. */
static bool end_old(struct text_session *ts, uint64_t channel)
{
	uint64_t oldest = missed_id_of(oldest_ms(ts));
	const struct taken *row;
	bool owes = false;

	for (size_t i = 0; (row = taken_at(ts->taken, i)); i++) {
		if (!row->message || row->channel != channel || !is_owed(row))
			continue;
		if (row->message < oldest)
			end_row(ts, row, TEXT_REASON_EXPIRED);
		else
			owes = true;
	}
	return owes;
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
		if (is_owed(row) && row->message < oldest && is_known(ts, row->guild))
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

/* A server that has not come yet may have messages that nobody has read. */
uint64_t text_session_newest(const struct text_session *ts, uint64_t before)
{
	bool all = ts && !text_session_catches_up(ts) && !ts->up.n_away;

	return all && ts->up.newest > before ? ts->up.newest : before;
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

/* Discord tells of active threads alone. One that was archived since somebody wrote in it is idle
 * for an hour or longer, unless people archived it. */
static unsigned add_archived(struct text_session *ts, const struct settings *s, uint64_t guild,
			     uint64_t since)
{
	const struct text_session_conf *c = &ts->conf;
	bool idle = missed_ms_of(since) + HOUR_MS < env_wall_ms(c->env);
	uint64_t thread[ARCHIVED];
	unsigned left_out = 0;
	size_t n = idle && c->archivedh ? c->archivedh(guild, thread, ARCHIVED, c->arg) : 0;

	for (size_t i = 0; i < n; i++) {
		const struct text_place p = {.guild = guild, .channel = thread[i], .since = since};

		if (may_read(ts, s, guild, thread[i]) && is_worth_asking(ts, &p))
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

/* What is owed there has waited for the server. */
static void wake_places(struct text_catching_up *up, uint64_t guild)
{
	for (unsigned i = up->asking; i < up->n; i++)
		if (up->place[i].guild == guild)
			up->place[i].at = 0;
}

static void add_server(struct text_session *ts, uint64_t guild, const json_t *d)
{
	uint64_t since = since_of(ts, guild);
	const struct settings *s;
	unsigned left_out;

	if (!since || joined_since(d, since))
		return;
	s = text_session_borrow(ts, guild);
	left_out = add_channels(ts, s, guild, since, json_object_get(d, "channels")) +
		   add_channels(ts, s, guild, since, json_object_get(d, "threads")) +
		   add_archived(ts, s, guild, since);
	text_session_return(ts, guild);
	warn_left_out(guild, left_out);
}

void text_session_guild(struct text_session *ts, const json_t *d)
{
	uint64_t guild = 0;

	if (!ts || !is_on(ts) ||
	    !discord_snowflake(json_string_value(json_object_get(d, "id")), &guild))
		return;
	wake_places(&ts->up, guild);
	add_server(ts, guild, d);
	/* Others that come with it have their turn, too. */
	if (ts->up.n && !ts->up.asking)
		tmr_start(ts->up.tmr, NS_PER_MS);
}

/* ---- one channel ---- */

/* The core decides whether a name in the text addresses the bot. */
static bool may_address(struct text_session *ts)
{
	const struct incoming *in = &ts->in;
	struct text_guild *g =
		in->to_bot || !in->guild ? NULL : text_guild_open(ts, in->guild, false);

	if (g)
		text_session_take_nickname(g);
	return in->to_bot || !in->guild || (g && text_chat_has_name(g->core, in->text));
}

/* near: it is one of the last messages, of which other talk is read, too. */
static void take_one(struct text_session *ts, uint64_t since, json_t *d, bool near)
{
	const struct missed_page *page = &ts->up.page;
	struct taken *row;
	bool reply;

	if (text_session_read(ts, d, false))
		return;
	if (ts->in.starter) {
		if (near && text_session_was_read(ts))
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
		if (row) {
			row->before = false;
			if (!text_session_take(ts, d, TEXT_CAME_MISSED))
				end_row(ts, row, TEXT_REASON_NOT_READ);
		} else if (text_session_was_read(ts) && (near || may_address(ts)))
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

static unsigned near_of(const struct text_session *ts, const struct text_place *p)
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

static void forget_list(struct text_catching_up *up)
{
	json_decref(up->list);
	up->list = NULL;
}

static void take_history(struct text_session *ts, const struct text_place *p)
{
	struct missed_page *page = &ts->up.page;
	const json_t *list = ts->up.list;
	size_t i = json_array_size(list), near = near_of(ts, p);

	missed_read(page, list, ts->self);
	find_left(ts, p, page);
	/* The oldest first. */
	while (i-- > 0) {
		json_t *d = json_copy(json_array_get(list, i));

		if (d && p->guild)
			json_object_set_new(d, "guild_id",
					    json_sprintf("%llu", (unsigned long long)p->guild));
		if (d)
			take_one(ts, p->since, d, i < near);
		json_decref(d);
	}
	if (!is_hidden(ts, p, page))
		end_rest(ts, p->channel, ts->up.whole ? 1 : page->oldest, TEXT_REASON_DELETED);
	end_rest(ts, p->channel, 1, TEXT_REASON_EXPIRED);
	/* Some of them have ended by now. */
	if (text_session_uses(ts, p->guild))
		text_working_sweep(text_session_open(ts, p->guild));
	forget_list(&ts->up);
}

/* Another session began before the channel had its turn: its server tells of it anew. */
static void leave_to_server(struct text_catching_up *up, const struct text_place *p)
{
	struct text_away *away = find_away(up, p->guild);

	if (away && p->since < away->since)
		away->since = p->since;
}

/* False: no answer is owed there, or none any more. */
static bool try_later(struct text_session *ts, struct text_place *p)
{
	p->at = env_now(ts->conf.env) + LATER_S * NS_PER_S;
	return end_old(ts, p->channel);
}

/* True: others have their turn. */
static bool try_again(struct text_session *ts, int err, int status)
{
	struct text_place *p = &ts->up.place[0];

	forget_list(&ts->up);
	if (++p->tries < TRIES) {
		tmr_start(ts->up.tmr, (uint64_t)p->tries * AGAIN_S * NS_PER_S);
		return false;
	}
	log_warn("text_not_caught_up", "guild=%llu channel=%llu err=%d status=%d",
		 (unsigned long long)p->guild, (unsigned long long)p->channel, err, status);
	if (!try_later(ts, p))
		drop_place(&ts->up, 0);
	return true;
}

static uint64_t oldest_of(const json_t *list)
{
	const json_t *last = json_array_get(list, json_array_size(list) - 1);
	uint64_t id = 0;

	discord_snowflake(json_string_value(json_object_get(last, "id")), &id);
	return id;
}

/* Messages before this id are not looked for. */
static uint64_t floor_of(const struct text_session *ts, const struct text_place *p)
{
	uint64_t first = p->since;
	const struct taken *row;

	for (size_t i = 0; (row = taken_at(ts->taken, i)); i++)
		if (row->message && row->channel == p->channel && is_owed(row) &&
		    row->message < first)
			first = row->message;
	return first;
}

static bool wants_more(const struct text_session *ts, const struct text_place *p)
{
	if (ts->up.whole || oldest_of(ts->up.list) <= floor_of(ts, p))
		return false;
	if (json_array_size(ts->up.list) < MISSED_MOST)
		return true;
	log_warn("text_not_caught_up",
		 "guild=%llu channel=%llu why=\"more than %d messages since then\"",
		 (unsigned long long)p->guild, (unsigned long long)p->channel, MISSED_MOST);
	return false;
}

static int ask(struct text_session *ts);

/* True: another page of the channel is under way, or the next try waits. */
static bool take_page(struct text_session *ts, const struct text_place *p, const json_t *body)
{
	struct text_catching_up *up = &ts->up;
	int err = 0;

	if (!up->list)
		up->list = json_array();
	if (json_array_extend(up->list, (json_t *)(uintptr_t)body))
		return !try_again(ts, ENOMEM, 0);
	up->whole = json_array_size(body) < up->limit;
	if (wants_more(ts, p)) {
		err = ask(ts);
		up->asking = !err;
		return !err || !try_again(ts, err, 0);
	}
	drop_place(up, 0);
	take_history(ts, p);
	return false;
}

static void on_history(int err, int status, const json_t *body, void *arg)
{
	struct text_session *ts = arg;
	struct text_place p = ts->up.place[0];

	ts->up.asking = false;
	if (err == ECANCELED)
		return;
	if (!err && status / 100 == 4 && status != 429) {
		forget_list(&ts->up);
		drop_place(&ts->up, 0);
		end_rest(ts, p.channel, 1, TEXT_REASON_CHANNEL_BLOCKED);
	} else if (!err && status == 200 && json_is_array(body)) {
		if (take_page(ts, &p, body))
			return;
	} else if (!try_again(ts, err, status)) {
		return;
	}
	ask_next(ts);
}

/* For the next page, behind what was read of the channel's history. */
static int ask(struct text_session *ts)
{
	struct text_catching_up *up = &ts->up;
	const struct text_place *p = &up->place[0];
	size_t have = json_array_size(up->list);
	char path[128], major[24], before[40] = "";
	const struct rest_call call = {.method = "GET",
				       .route = "/channels/{}/messages",
				       .path = path,
				       .major = major,
				       .idempotent = true};

	snprintf(major, sizeof major, "%llu", (unsigned long long)p->channel);
	up->limit = have ? MISSED_PAGE : near_of(ts, p);
	if (have + up->limit > MISSED_MOST)
		up->limit = (unsigned)(MISSED_MOST - have);
	if (have)
		snprintf(before, sizeof before, "&before=%llu",
			 (unsigned long long)oldest_of(up->list));
	snprintf(path, sizeof path, "/channels/%s/messages?limit=%u%s", major, up->limit, before);
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

		/* What is owed in a server that does not come is too old some time. */
		if (!is_known(ts, p.guild)) {
			leave_to_server(up, &p);
			if (!try_later(ts, &up->place[0]))
				drop_place(up, 0);
			continue;
		}
		if (p.owed)
			end_old(ts, p.channel);
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
	/* From a clock that was ahead, it would hide what is missed. */
	if (missed_ms_of(ts->conf.newest) <= ts->began_ms)
		ts->up.newest = ts->conf.newest;
	return tmr_alloc(&ts->up.tmr, ts->conf.env, on_again, ts);
}

void text_catching_up_end(struct text_session *ts)
{
	tmr_free(ts->up.tmr);
	free(ts->up.away);
	json_decref(ts->up.list);
}
