#include "control/text_session/text_session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/attachments/captions.h"
#include "control/consent/consent.h"
#include "control/engine/roles.h"
#include "control/events/events.h"
#include "control/settings/ids.h"
#include "control/settings/profile.h"
#include "control/settings/settings.h"
#include "control/text/missed.h"
#include "control/text/reading.h"
#include "control/text/taken.h"
#include "control/text/text_chat.h"
#include "control/text_session/inside.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"
#include "proto/discord.h"

uint32_t text_session_intents(const struct settings *settings)
{
	/* Another program with this token answers what people write. */
	if (settings->text_chat == SETTINGS_TEXT_OFF ||
	    settings_gateway(settings) != SETTINGS_GATEWAY_FULL)
		return 0;
	return DISCORD_INTENT_GUILD_MESSAGES | DISCORD_INTENT_GUILD_MESSAGE_REACTIONS |
	       DISCORD_INTENT_DIRECT_MESSAGES | DISCORD_INTENT_DIRECT_MESSAGE_REACTIONS |
	       (settings->text_chat == SETTINGS_TEXT_ALL ? DISCORD_INTENT_MESSAGE_CONTENT : 0);
}

/* ---- what the core does ---- */

static void perform(struct text_guild *g, const struct text_effect *e)
{
	switch (e->type) {
	case TEXT_DO_TYPING:
		text_sending_typing(g, e->channel);
		break;
	case TEXT_DO_CLASSIFY:
		text_asking_classify(g, e);
		break;
	case TEXT_DO_ASK:
		g->asked_at = env_now(g->ts->conf.env);
		text_asking_begin(g, e);
		break;
	case TEXT_DO_ABANDON:
		text_reacting_abandon(g, e->reply);
		text_asking_end(g, e->reply);
		break;
	case TEXT_DO_SEND:
		text_sending_begin(g, e);
		break;
	case TEXT_DO_REACT:
		text_reacting_begin(g, e);
		break;
	case TEXT_DO_ACKNOWLEDGE:
		text_sending_acknowledge(g->ts, e);
		break;
	case TEXT_DO_WARN:
		text_sending_warn(g->ts, e);
		break;
	case TEXT_DO_WITHDRAW:
		text_sending_withdraw(g, e);
		break;
	case TEXT_DO_WORKING:
		text_working_tell(g, e);
		break;
	case TEXT_DO_AGREE:
		text_agreeing_end(g, e);
		break;
	case TEXT_DO_STOP_JOBS:
		text_tools_stop(g, e->channel, e->user);
		break;
	case TEXT_DO_WAITS:
		text_taking_waits(g, e);
		break;
	case TEXT_DO_RECORD:
		text_session_record(g, e->record);
		break;
	}
}

static void step(struct text_guild *g, const struct text_event *ev)
{
	struct text_session *ts = g->ts;

	text_step(g->core, ev, env_now(ts->conf.env), &ts->effects);
	g->due = text_deadline(g->core);
	for (size_t i = 0; i < ts->effects.n; i++)
		perform(g, &ts->effects.v[i]);
	/* What was answered is sent by now, or is not wanted. */
	if (ev->type == TEXT_ANSWERED || ev->type == TEXT_FAILED)
		text_asking_end(g, ev->reply);
	text_working_sweep(g);
}

void text_session_arm(struct text_session *ts)
{
	uint64_t first = UINT64_MAX;

	for (unsigned i = 0; i < ts->n_guilds; i++) {
		uint64_t at = ts->guild[i]->due, until = text_questions_deadline(ts->guild[i]);

		at = until < at ? until : at;
		at = text_asking_may_retire(ts->guild[i]) ? env_now(ts->conf.env) : at;
		first = at < first ? at : first;
	}
	if (first == UINT64_MAX)
		tmr_stop(ts->tmr);
	else
		tmr_start_at(ts->tmr, first);
}

static void keep_pending(struct text_guild *g, const struct text_event *ev)
{
	size_t text = ev->text ? strlen(ev->text) + 1 : 0,
	       name = ev->name ? strlen(ev->name) + 1 : 0,
	       said = ev->said ? strlen(ev->said) + 1 : 0;
	struct text_pending *p = malloc(sizeof *p + text + name + said);
	char *at;

	/* The core ends what never comes by its own time limits. */
	if (!p)
		return;
	at = (char *)(p + 1);
	*p = (struct text_pending){.g = g, .ev = *ev};
	if (text)
		p->ev.text = memcpy(at, ev->text, text);
	if (name)
		p->ev.name = memcpy(at + text, ev->name, name);
	if (said)
		p->ev.said = memcpy(at + text + name, ev->said, said);
	*g->ts->last = p;
	g->ts->last = &p->next;
}

void text_session_feed(struct text_guild *g, const struct text_event *ev)
{
	struct text_session *ts = g->ts;
	struct text_pending *p;

	if (ts->stepping) {
		keep_pending(g, ev);
		return;
	}
	ts->stepping = true;
	step(g, ev);
	while ((p = ts->first)) {
		ts->first = p->next;
		if (!ts->first)
			ts->last = &ts->first;
		step(p->g, &p->ev);
		free(p);
	}
	ts->stepping = false;
	text_session_arm(ts);
}

static void feed_timer(struct text_guild *g)
{
	struct text_event ev = {.type = TEXT_TIMER};

	env_random(g->ts->conf.env, &ev.rnd, sizeof ev.rnd);
	text_session_feed(g, &ev);
}

static void on_timer(void *arg)
{
	struct text_session *ts = arg;
	uint64_t now = env_now(ts->conf.env);

	for (unsigned i = 0; i < ts->n_guilds; i++)
		if (ts->guild[i]->due <= now)
			feed_timer(ts->guild[i]);
	for (unsigned i = 0; i < ts->n_guilds; i++)
		text_questions_expire(ts->guild[i], now);
	for (unsigned i = 0; i < ts->n_guilds; i++)
		text_asking_retire(ts->guild[i]);
	text_session_arm(ts);
}

/* ---- events of the gateway ---- */

/* Of the bot's own messages the core is told those that are answers: "<message>.<part>". */
static bool is_answer(const struct incoming *in)
{
	size_t n = strspn(in->nonce, "0123456789");

	return n && in->nonce[n] == '.' && strspn(in->nonce + n + 1, "0123456789") > 0;
}

static struct text_event event_of(enum text_event_type type, const struct incoming *in)
{
	return (struct text_event){.type = type,
				   .guild = in->guild,
				   .channel = in->channel,
				   .parent = in->parent,
				   .category = in->category,
				   .message = in->message,
				   .user = in->user,
				   .name = in->name,
				   .text = in->text,
				   .said = in->said,
				   .replies_to = in->replies_to,
				   .strangers = in->strangers,
				   .own = in->own,
				   .self = in->self,
				   .bot = in->bot,
				   .to_bot = in->to_bot,
				   .unsure = in->untold,
				   .to_others = in->to_others && !in->to_bot};
}

/* Something is under way in each server that has a place, or the program ends. */
static void refuse(struct text_session *ts, const struct incoming *in)
{
	const struct text_trigger t = {.guild = in->guild,
				       .channel = in->channel,
				       .message = in->message,
				       .user = in->user,
				       .at = env_now(ts->conf.env),
				       .signal = TEXT_SIGNAL_DIRECT,
				       .attention = TEXT_ATTENTION_DIRECT_ADDRESS,
				       .admission = TEXT_ADMISSION_COUNT,
				       .reason = ts->stopped ? TEXT_REASON_SHUTDOWN
							     : TEXT_REASON_QUEUE_FULL};

	const struct text_event ev = event_of(TEXT_MESSAGE, in);

	if (text_refusal(ts->conf.settings, &ev))
		return;
	text_ended_note(ts, NULL, &t);
	text_ended_publish(ts, &t, &(struct text_times){0});
}

/* The server's core if the settings have this message read; NULL: they do not. */
static struct text_guild *reader_of(struct text_session *ts, const struct incoming *in)
{
	/* Discord gives the bot the text of its own messages, too. */
	bool addressed = in->to_bot || !in->guild || (in->starter && in->self);
	struct text_guild *g = text_guild_find(ts, in->guild);

	if (in->self && !in->starter)
		return g && is_answer(in) ? g : NULL;
	/* No server is opened for messages that nobody may read there. */
	if (!g && !addressed && ts->conf.settings->text_chat != SETTINGS_TEXT_ALL)
		return NULL;
	g = text_guild_open(ts, in->guild, addressed);
	if (!g && addressed && !in->bot && !in->starter &&
	    ts->conf.settings->text_chat != SETTINGS_TEXT_OFF)
		refuse(ts, in);
	if (!g || g->settings->text_chat == SETTINGS_TEXT_OFF ||
	    (!addressed && g->settings->text_chat != SETTINGS_TEXT_ALL))
		return NULL;
	return g;
}

bool text_session_refused(const struct text_guild *g, uint64_t user)
{
	const struct consent_table *t = g->ts->conf.consents;
	enum consent unanswered = consent_default(t, (enum consent)g->settings->consent);

	return consent_of(t, g->id, user, unanswered) == CONSENT_NEITHER;
}

uint64_t text_session_age(const struct text_session *ts, uint64_t message)
{
	uint64_t now = env_wall_ms(ts->conf.env), ms = missed_ms_of(message);

	return now > ms ? (now - ms) * NS_PER_MS : 0;
}

bool text_session_unread(const struct text_guild *g, uint64_t user, uint64_t message)
{
	return missed_ms_of(message) < consent_unread_before(g->ts->conf.consents, g->id, user,
							     (enum consent)g->settings->consent);
}

uint64_t text_session_category(const struct text_session *ts, uint64_t guild, uint64_t channel)
{
	return ts->conf.categoryh ? ts->conf.categoryh(guild, channel, ts->conf.arg) : 0;
}

struct channel_names {
	const struct text_session_conf *c;
	uint64_t guild;
};

static const char *channel_name(uint64_t channel, void *arg)
{
	const struct channel_names *n = arg;

	return n->c->channelh(n->guild, channel, n->c->arg);
}

uint64_t text_session_first_title(const struct text_session *ts, uint64_t post)
{
	for (unsigned i = 0; i < TEXT_POSTS_KNOWN; i++)
		if (post && ts->post[i].message == post)
			return ts->post[i].title;
	return 0;
}

/* The title that a post was created with is its author's; others may change it later. Of one that
 * is owed an answer the row tells the first title, after a restart, too. */
static bool has_own_title(struct text_session *ts, const char *title, bool created)
{
	const struct incoming *in = &ts->in;
	const struct taken *row = taken_find(ts->taken, in->message);
	uint64_t mark = taken_mark(title);

	if (in->message != in->channel || in->starter)
		return false;
	if (row && taken_is_open(row) && !taken_answer_mark(row) && row->mark)
		return row->mark == mark;
	if (created)
		ts->post[ts->n_posts++ % TEXT_POSTS_KNOWN] =
			(struct text_post){.message = in->message, .title = mark};
	return text_session_first_title(ts, in->message) == mark;
}

/* A message in a channel of a server is no direct one, whatever it says. */
static uint64_t guild_of(const struct text_session *ts, uint64_t told, uint64_t channel)
{
	const struct text_session_conf *c = &ts->conf;

	return told || !c->guildh ? told : c->guildh(channel, c->arg);
}

/* A mention of the bot's own role is one of the bot. */
int text_session_read(struct text_session *ts, const json_t *d, bool created)
{
	const struct text_session_conf *c = &ts->conf;
	int err = incoming_read(&ts->in, d, ts->self, ts->name);

	if (!err)
		ts->in.guild = guild_of(ts, ts->in.guild, ts->in.channel);
	if (!err && ts->in.guild) {
		const char *title;
		uint64_t parent = text_session_parent(ts, ts->in.guild, ts->in.channel, &title);

		if (parent)
			incoming_set_thread(&ts->in, parent, title,
					    has_own_title(ts, title, created));
		ts->in.category = text_session_category(ts, ts->in.guild, ts->in.channel);
	}
	if (!err && ts->in.guild && c->channelh)
		incoming_name_channels(&ts->in, channel_name,
				       &(struct channel_names){c, ts->in.guild});
	for (unsigned i = 0; !err && c->roleh && i < ts->in.n_roles; i++)
		if (c->roleh(ts->in.guild, ts->in.role[i], c->arg)) {
			ts->in.to_bot = true;
			incoming_name_role(&ts->in, ts->in.role[i], ts->name);
		}
	return err;
}

static bool is_blocked(const struct text_guild *g, const struct text_event *ev)
{
	return text_author_is_blocked(g->settings, ev) ||
	       text_refusal(g->settings, ev) == TEXT_REASON_CHANNEL_BLOCKED;
}

void text_session_take_nickname(struct text_guild *g)
{
	const struct text_session_conf *c = &g->ts->conf;
	const char *known;
	char name[INCOMING_NAME];

	if (!g->id || !c->nicknameh)
		return;
	known = c->nicknameh(g->id, c->arg);
	incoming_copy_name(name, known ? known : "");
	text_chat_set_nickname(g->core, name);
}

/* It is not read, but people see it. */
static void tell_heard(struct text_session *ts)
{
	const struct incoming *in = &ts->in;
	struct text_guild *g = in->guild ? text_guild_find(ts, in->guild) : NULL;

	if (g && !in->self && !in->bot)
		text_session_feed(g, &(struct text_event){.type = TEXT_HEARD,
							  .guild = in->guild,
							  .channel = in->channel,
							  .message = in->message});
}

/* The text_chat that held there when the message was written, as far as Discord sends it. */
static uint32_t read_then(const struct text_session *ts)
{
	const struct text_session_conf *c = &ts->conf;
	const struct incoming *in = &ts->in;

	return c->readingh ? c->readingh(in->guild, in->channel, in->parent,
					 missed_ms_of(in->message), c->arg)
			   : SETTINGS_TEXT_ALL;
}

bool text_session_was_read(const struct text_session *ts)
{
	const struct incoming *in = &ts->in;
	uint32_t chat = read_then(ts);

	return chat == SETTINGS_TEXT_ALL ||
	       (chat == SETTINGS_TEXT_MENTIONS && (in->to_bot || in->self || !in->guild));
}

bool text_session_take(struct text_session *ts, const json_t *d, enum text_came came)
{
	struct text_guild *g = reader_of(ts, &ts->in);
	struct text_event ev;

	if (!g && came == TEXT_CAME_NOW)
		tell_heard(ts);
	if (!g)
		return false;
	ev = event_of(TEXT_MESSAGE, &ts->in);
	/* The history, and a session that goes on, tell of some that were written while their
	 * author was not to be read. */
	ev.age = text_session_age(ts, ts->in.message);
	ev.refused =
		!ts->in.self &&
		(text_session_refused(g, ts->in.user) ||
		 (came != TEXT_CAME_OWED && text_session_unread(g, ts->in.user, ts->in.message)));
	ev.kept = !ts->in.self && text_keeping_may(g, ts->in.user, ev.age);
	ev.barred =
		g->id && ts->conf.writeh && !ts->conf.writeh(g->id, ts->in.channel, ts->conf.arg);
	ev.unreactive =
		g->id && ts->conf.reacth && !ts->conf.reacth(g->id, ts->in.channel, ts->conf.arg);
	ev.blind = read_then(ts) == SETTINGS_TEXT_MENTIONS;
	ev.late = came == TEXT_CAME_MISSED;
	env_random(ts->conf.env, &ev.rnd, sizeof ev.rnd);
	g->used_at = env_now(ts->conf.env);
	text_session_take_nickname(g);
	/* The history of a channel has messages that were taken before, too. */
	if (!ev.refused && !is_blocked(g, &ev) &&
	    !text_chat_knows(g->core, ts->in.channel, ts->in.message)) {
		text_quoting_keep(g, &ts->in);
		text_showing_keep(g, &ts->in);
		text_keeping_written(g, &ts->in, ev.age);
	}
	if (!ev.refused && !ts->in.self && !ts->in.bot)
		text_member_keep(g, ts->in.user, ts->in.message, ts->in.name,
				 json_object_get(d, "member"));
	if (!ts->in.self || !text_keeping_is_untold(g, &ts->in))
		text_session_feed(g, &ev);
	return true;
}

void text_session_note_starter(struct text_session *ts)
{
	struct text_guild *g = reader_of(ts, &ts->in);
	struct text_event ev = event_of(TEXT_MESSAGE, &ts->in);

	if (!g || !*ts->in.text || is_blocked(g, &ev) ||
	    text_quoting_bars(g, ts->in.user, ts->in.message, 0))
		return;
	ev.noted = true;
	ev.age = text_session_age(ts, ts->in.message);
	ev.kept = !ts->in.self && text_keeping_may(g, ts->in.user, ev.age);
	text_showing_keep(g, &ts->in);
	text_session_feed(g, &ev);
}

/* True if the message, which Discord tells of, is not to be taken again. Whether an answer that was
 * under way when a control ended was sent is told by the channel's history. */
static bool is_settled(struct text_session *ts, const struct incoming *in)
{
	struct taken *row = taken_find(ts->taken, in->message);
	const struct text_guild *g = text_guild_find(ts, in->guild);

	if (!row || row->state == TAKEN_POSTED ||
	    (g && text_chat_knows(g->core, in->channel, in->message)))
		return false;
	if (row->state == TAKEN_ENDED || (row->before && row->state == TAKEN_SENDING))
		return true;
	row->before = false;
	return false;
}

/* An id from the future would hide every message that is missed later. */
static void note_newest(struct text_session *ts, uint64_t message)
{
	if (message > ts->up.newest &&
	    missed_ms_of(message) <= env_wall_ms(ts->conf.env) + TEXT_AHEAD_MS)
		ts->up.newest = message;
}

/* A resumed session repeats messages from before this control began, or from before the settings
 * changed while Discord was away. Those without a row are left alone if the bot did not read them
 * then, or if their row may have given way to others. */
static bool is_over(const struct text_session *ts)
{
	const struct incoming *in = &ts->in;
	uint64_t ms = missed_ms_of(in->message);
	bool before = ms < ts->began_ms, changed = ts->away && ms < ts->changed_ms;

	return (before || changed) && !taken_find(ts->taken, in->message) &&
	       (!text_session_was_read(ts) ||
		(before && taken_may_have_dropped(ts->taken, in->message, in->user, in->guild)));
}

static void take_message(struct text_session *ts, const json_t *d)
{
	if (text_session_read(ts, d, true))
		return;
	note_newest(ts, ts->in.message);
	if (is_over(ts))
		return;
	if (ts->in.starter)
		text_session_note_starter(ts);
	else if (!is_settled(ts, &ts->in))
		text_session_take(ts, d, TEXT_CAME_NOW);
}

/* A message has changed from which a thread may have been started: it is a line there, too. */
static void feed_change(struct text_guild *g, struct text_event ev)
{
	text_session_feed(g, &ev);
	if (ev.channel == ev.message)
		return;
	ev.channel = ev.message;
	text_session_feed(g, &ev);
}

static void take_edit(struct text_session *ts, const json_t *d)
{
	struct text_guild *g;
	struct text_event ev;

	if (text_session_read(ts, d, false) || ts->in.starter)
		return;
	text_keeping_close(ts, &ts->in);
	g = text_guild_find(ts, ts->in.guild);
	text_keeping_edited(ts, g, &ts->in);
	ev = event_of(TEXT_EDITED, &ts->in);
	if (!g)
		return;
	text_quoting_edit(g, &ts->in);
	text_showing_edited(g, &ts->in);
	feed_change(g, ev);
	text_showing_stop_gone(g);
}

static void take_one_deletion(struct text_guild *g, const struct incoming_change *change,
			      uint64_t message)
{
	struct text_event ev = {.type = TEXT_DELETED,
				.guild = change->guild,
				.channel = change->channel,
				.message = text_question_line(g, message)};

	if (ev.message)
		text_session_feed(g, &ev);
	ev.message = message;
	text_quoting_drop(g, message, 0);
	text_showing_drop(g, message, 0);
	feed_change(g, ev);
	text_showing_stop_looking(g, message, 0);
}

static void take_deletion(struct text_session *ts, const json_t *d)
{
	struct incoming_change change;
	struct text_guild *g;

	if (incoming_deleted(&change, d))
		return;
	change.guild = guild_of(ts, change.guild, change.channel);
	for (size_t i = 0; i < change.n; i++) {
		text_keeping_deleted(ts, change.guild, change.channel, change.message[i]);
		text_showing_gone(ts, change.guild, change.channel, change.message[i]);
	}
	g = text_guild_find(ts, change.guild);
	for (size_t i = 0; g && i < change.n; i++)
		take_one_deletion(g, &change, change.message[i]);
}

/* The messages of a channel, and of its threads, go with it, and nothing is under way there. What
 * stands in threads of which nothing is known any more goes when its time is over. */
static void take_channel(struct text_session *ts, const json_t *d)
{
	const struct text_session_conf *c = &ts->conf;
	uint64_t guild = 0, channel = 0, thread[TEXT_THREADS];
	struct text_guild *g;
	size_t n;

	if (!discord_snowflake(json_string_value(json_object_get(d, "guild_id")), &guild) ||
	    !discord_snowflake(json_string_value(json_object_get(d, "id")), &channel))
		return;
	n = c->threadsh ? c->threadsh(guild, channel, thread, TEXT_THREADS, c->arg) : 0;
	text_keeping_deleted(ts, guild, channel, 0);
	for (size_t i = 0; i < n; i++)
		text_keeping_deleted(ts, guild, thread[i], 0);
	g = text_guild_find(ts, guild);
	if (!g)
		return;
	text_showing_drop_channel(g, channel);
	for (size_t i = 0; i < n; i++)
		text_showing_drop_channel(g, thread[i]);
	text_session_feed(
		g, &(struct text_event){.type = TEXT_GONE, .guild = guild, .channel = channel});
}

/* The bot is in the server no more. An outage passes. */
static void take_server(struct text_session *ts, const json_t *d)
{
	uint64_t guild = 0;
	struct text_guild *g;

	if (json_is_true(json_object_get(d, "unavailable")) ||
	    !discord_snowflake(json_string_value(json_object_get(d, "id")), &guild))
		return;
	g = text_guild_find(ts, guild);
	if (g)
		text_session_feed(g, &(struct text_event){.type = TEXT_GONE, .guild = guild});
}

static void take_reaction(struct text_session *ts, const json_t *d)
{
	struct incoming_change change;
	struct text_guild *g;
	uint64_t first;

	if (incoming_stop(&change, d) || change.user == ts->self)
		return;
	g = text_guild_find(ts, guild_of(ts, change.guild, change.channel));
	if (!g)
		return;
	/* On what announces an answer it is meant for that answer. */
	first = text_working_of(g, change.channel, change.message[0]);
	text_session_feed(g, &(struct text_event){.type = TEXT_CANCEL,
						  .guild = g->id,
						  .channel = change.channel,
						  .message = first ? first : change.message[0],
						  .user = change.user});
}

bool text_session_event(struct text_session *ts, const char *name, const json_t *d)
{
	static const struct {
		const char *name;
		void (*take)(struct text_session *ts, const json_t *d);
	} events[] = {{"MESSAGE_CREATE", take_message},
		      {"MESSAGE_UPDATE", take_edit},
		      {"MESSAGE_DELETE", take_deletion},
		      {"MESSAGE_DELETE_BULK", take_deletion},
		      {"MESSAGE_REACTION_ADD", take_reaction}};

	for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
		if (strcmp(events[i].name, name) == 0) {
			events[i].take(ts, d);
			return true;
		}
	if (strcmp(name, "CHANNEL_DELETE") == 0 || strcmp(name, "THREAD_DELETE") == 0)
		take_channel(ts, d);
	if (strcmp(name, "GUILD_DELETE") == 0)
		take_server(ts, d);
	if (strcmp(name, "CHANNEL_UPDATE") == 0 || strcmp(name, "GUILD_CREATE") == 0)
		text_session_place(ts, d, *name == 'G');
	return strncmp(name, "MESSAGE_", 8) == 0;
}

/* ---- what others change ---- */

void text_session_self(struct text_session *ts, uint64_t user, const char *name)
{
	ts->self = user;
	utf8_copy(ts->name, sizeof ts->name, name);
}

void text_session_offline(struct text_session *ts)
{
	if (ts)
		ts->away = true;
}

void text_session_stop(struct text_session *ts)
{
	if (ts)
		ts->stopped = true;
	for (unsigned i = 0; ts && i < ts->n_guilds; i++) {
		text_session_feed(ts->guild[i], &(struct text_event){.type = TEXT_SHUTDOWN});
		text_tools_free(ts->guild[i]);
	}
}

void text_session_settings(struct text_session *ts)
{
	if (ts)
		ts->changed_ms = env_wall_ms(ts->conf.env);
	for (unsigned i = 0; ts && i < ts->n_guilds; i++) {
		struct text_guild *g = ts->guild[i];

		g->stale = true;
		if (g->roles)
			roles_settings(g->roles);
		if (g->retired)
			roles_settings(g->retired);
		if (g->viewer)
			viewer_settings(g->viewer);
		text_tools_settings(g);
	}
	for (unsigned i = 0; ts && i < ts->n_guilds; i++)
		feed_timer(ts->guild[i]);
}

void text_session_forget(struct text_session *ts, uint64_t guild, uint64_t user, bool refuses)
{
	if (ts && ts->conf.viewers.captions)
		captions_forget(ts->conf.viewers.captions, guild, user);
	for (unsigned i = 0; ts && i < ts->n_guilds; i++)
		if (!guild || ts->guild[i]->id == guild) {
			ts->guild[i]->forgets++;
			text_quoting_drop(ts->guild[i], 0, user);
			text_member_forget(ts->guild[i], user);
			text_showing_drop(ts->guild[i], 0, user);
			text_keeping_forget(ts->guild[i]);
			text_session_feed(ts->guild[i], &(struct text_event){.type = TEXT_FORGET,
									     .user = user,
									     .refused = refuses,
									     .yes = guild != 0});
			text_tools_forget(ts->guild[i], user);
			text_questions_forget(ts->guild[i], refuses || !guild ? user : 0);
			text_showing_stop_looking(ts->guild[i], 0, user);
		}
	if (ts && refuses)
		text_session_end_owed(ts, guild, user);
	/* After the step, which tells why their messages end. */
	if (ts)
		text_ended_forget(ts, guild, user);
	/* Everything of theirs is erased. */
	if (ts && !guild)
		taken_forget(ts->taken, user);
}

void text_session_hold_memory(struct text_session *ts, bool hold)
{
	if (ts)
		ts->memory_held += hold ? 1U : -1U;
}

/* ---- making ---- */

int text_session_alloc(struct text_session **out, const struct text_session_conf *conf)
{
	struct text_session *ts = calloc(1, sizeof *ts);
	int err;

	if (!ts)
		return ENOMEM;
	ts->conf = *conf;
	ts->last = &ts->first;
	ts->began_ms = env_wall_ms(conf->env);
	err = tmr_alloc(&ts->tmr, conf->env, on_timer, ts);
	if (!err)
		err = taken_alloc(&ts->taken);
	if (!err)
		err = text_catching_up_init(ts);
	if (err) {
		text_session_free(ts);
		return err;
	}
	taken_read(ts->taken, conf->taken);
	*out = ts;
	return 0;
}

struct text_session *text_session_free(struct text_session *ts)
{
	if (!ts)
		return NULL;
	for (unsigned i = 0; i < ts->n_guilds; i++)
		text_session_feed(ts->guild[i], &(struct text_event){.type = TEXT_SHUTDOWN});
	while (ts->n_guilds)
		text_guild_free(ts->guild[--ts->n_guilds]);
	tmr_free(ts->tmr);
	text_sending_free_notices(ts);
	text_catching_up_end(ts);
	taken_free(ts->taken);
	free(ts);
	return NULL;
}
