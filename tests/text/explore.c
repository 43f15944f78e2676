#include "tests/text/explore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/settings/settings.h"
#include "control/text/incoming.h"
#include "control/text/missed.h"
#include "control/text/taken.h"
#include "control/text/text_chat.h"
#include "proto/base/time.h"
#include "tests/random.h"

enum {
	CHANNELS = 6,
	USERS = 5,
	BOT = 1,
	KNOWN = 1 << 14,
	RECENT = 64,
	SENDS = 64,
	ANSWERS = 64,
	POSTS = 8
};

/* A message by its number. */
struct known {
	uint64_t id;
	uint32_t open, sent; /* RECORDs that are missing; answers that have it */
	bool deleted;
};

/* text rules 10 13 16 17 18 20 25 26 27 29 31 33 62 70 71 73 */
struct explore {
	struct text_explore_result *out;
	uint64_t random, now, next_id;
	struct settings *settings;
	struct text_chat *chat;
	struct text_effects fx;
	struct known known[KNOWN];
	uint64_t forgotten[USERS]; /* their messages up to this one */
	uint64_t recent[RECENT], recent_user[RECENT], recent_channel[RECENT];
	struct text_event recent_as[RECENT]; /* as they are now */
	struct taken_table *taken;	     /* what the store keeps */
	/* The bot's messages that Discord has, and those under way. */
	struct {
		uint64_t channel, message, replies_to, mark;
	} answer[ANSWERS], on_way[CHANNELS];
	unsigned n_answers;		/* ever */
	uint64_t post[CHANNELS][POSTS]; /* ns: of the bot's own accord, the last ones */
	unsigned n_posts[CHANNELS];	/* ever */
	uint64_t late_from; /* messages before this id were written before the core began */
	uint32_t asked[CHANNELS], sending[CHANNELS]; /* replies under way */
	uint64_t asked_of[CHANNELS][TEXT_BURST];
	unsigned n_asked_of[CHANNELS];
	bool acted[CHANNELS];			      /* calls of the answer changed something */
	unsigned tools[CHANNELS], workings[CHANNELS]; /* at work for the answer; how often told */
	uint64_t question[CHANNELS][USERS];	      /* that waits for a user's yes; 0: none */
	uint64_t asked_at[CHANNELS][USERS];
	uint64_t next_question; /* of the SENT under way; 0: it asks nothing */
	unsigned next_asker;
	uint64_t sent_at[CHANNELS][SENDS], typed_at[CHANNELS];
	unsigned n_sent[CHANNELS], edits[CHANNELS];
	bool typed[CHANNELS];
	uint64_t newest[CHANNELS];
	uint32_t reported[RECENT]; /* answers of messages that ended in this step */
	unsigned n_reported;
	bool over, jobs[CHANNELS][USERS];
	unsigned results[CHANNELS][USERS]; /* that were to be told */
};

static void violate(struct explore *x, const char *why)
{
	if (!x->out->passed)
		return;
	x->out->passed = false;
	snprintf(x->out->why, sizeof x->out->why, "%s", why);
}

static struct known *known_of(struct explore *x, uint64_t id)
{
	struct known *k = &x->known[id % KNOWN];

	if (k->id != id)
		*k = (struct known){.id = id};
	return k;
}

/* Answers that Discord took in the last hour. */
static unsigned sends_of_hour(const struct explore *x, unsigned ch)
{
	unsigned n = 0;

	for (unsigned i = 0; i < SENDS && i < x->n_sent[ch]; i++)
		n += x->sent_at[ch][i] + 3600 * NS_PER_S > x->now;
	return n;
}

/* An answer that begins keeps its distance and the number of an hour; edits ask for it twice more
 * at most. */
static void see_limits(struct explore *x, const struct text_effect *e, const struct text_event *ev)
{
	unsigned ch = (unsigned)(e->channel - 10), n = x->n_sent[ch];

	if (!e->again)
		x->edits[ch] = 0;
	else if (ev->type == TEXT_EDITED && ++x->edits[ch] > TEXT_ASKED_AGAIN)
		violate(x, "edits ask too often");
	if (e->again)
		return;
	if (n && x->now < x->sent_at[ch][(n - 1) % SENDS] + x->settings->text_spacing_s * NS_PER_S)
		violate(x, "two answers without their distance");
	if (sends_of_hour(x, ch) >= x->settings->text_per_hour)
		violate(x, "too many answers in an hour");
}

static void see_typing(struct explore *x, unsigned ch)
{
	if (x->typed[ch] && x->now < x->typed_at[ch] + TEXT_TYPING_S * NS_PER_S)
		violate(x, "the bot is shown writing twice in eight seconds");
	x->typed[ch] = true;
	x->typed_at[ch] = x->now;
}

static void see_ask(struct explore *x, const struct text_effect *e)
{
	unsigned ch = (unsigned)(e->channel - 10);
	bool forced = false;

	x->out->asks++;
	if (x->asked[ch] || x->sending[ch])
		violate(x, "a channel has two answers");
	if (e->kind == TEXT_KIND_INITIATIVE && !e->again &&
	    (!x->settings->text_initiative || !e->guild))
		violate(x, "the bot writes of its own accord where it may not");
	if ((e->kind == TEXT_KIND_ANSWER) != (e->n_triggers > 0) ||
	    e->n_triggers > x->settings->text_coalesce_most)
		violate(x, "an answer to none or to too many messages");
	if (e->kind == TEXT_KIND_RESULT && !e->again) {
		unsigned user = (unsigned)(e->user - 100);

		forced = true;
		if (!x->results[ch][user])
			violate(x, "a result is told twice, or to somebody else");
		else
			x->results[ch][user]--;
	}
	forced |= e->kind == TEXT_KIND_RESULT;
	x->tools[ch] = 0;
	if (e->again && x->acted[ch])
		violate(x, "what has acted is asked again");
	x->acted[ch] = false;
	if (!e->again)
		x->workings[ch] = 0;
	x->asked[ch] = e->reply;
	x->n_asked_of[ch] = 0;
	for (size_t i = 0; i < e->n_triggers && i < TEXT_BURST; i++) {
		const struct text_trigger *t = e->triggers[i];

		forced |= text_signal_forces(t->signal);
		if (t->user != e->triggers[0]->user)
			violate(x, "authors share an answer");
		if (known_of(x, t->message)->deleted)
			violate(x, "a deleted message is asked about");
		if (known_of(x, t->message)->sent)
			violate(x, "a message is answered twice");
		x->asked_of[ch][x->n_asked_of[ch]++] = t->message;
	}
	if (forced != e->required)
		violate(x, "required is wrong");
	for (size_t i = 0; i < e->n_history; i++) {
		const struct text_line *l = &e->history[i];

		if (known_of(x, l->message)->deleted)
			violate(x, "a deleted message is told");
		if (l->user >= 100 && l->message <= x->forgotten[l->user - 100])
			violate(x, "a forgotten person is told");
	}
}

static void keep(struct explore *x, const struct text_effect *e, uint64_t message, uint64_t user,
		 enum taken_state state)
{
	taken_put(x->taken,
		  &(struct taken){.message = message,
				  .guild = e->guild,
				  .channel = e->channel,
				  .user = user,
				  .state = state,
				  .mark = state == TAKEN_SENDING ? taken_mark(e->text) : 0});
}

/* Spacing, and the limit of a day. */
static void see_post(struct explore *x, unsigned ch)
{
	const struct settings *s = x->settings;
	unsigned n = x->n_posts[ch], day = s->text_initiative_a_day;

	if (n && x->now - x->post[ch][(n - 1) % POSTS] < s->text_initiative_minutes * 60 * NS_PER_S)
		violate(x, "the bot writes of its own accord too soon");
	if (n >= day && x->now - x->post[ch][(n - day) % POSTS] < 86400 * NS_PER_S)
		violate(x, "the bot writes of its own accord too often");
	x->post[ch][x->n_posts[ch]++ % POSTS] = x->now;
}

static void see_send(struct explore *x, const struct text_effect *e, const struct text_event *ev)
{
	unsigned ch = (unsigned)(e->channel - 10);

	for (size_t i = 0; i < e->n_triggers; i++)
		keep(x, e, e->triggers[i]->message, e->triggers[i]->user, TAKEN_SENDING);
	if (e->kind == TEXT_KIND_INITIATIVE)
		see_post(x, ch);
	x->on_way[ch].channel = e->channel;
	x->on_way[ch].replies_to = e->message;
	x->on_way[ch].mark = taken_mark(e->text);

	x->out->sends++;
	if (ev->type != TEXT_ANSWERED || ev->reply != e->reply || x->asked[ch] != e->reply)
		violate(x, "an answer nobody gave is sent");
	x->asked[ch] = 0;
	x->sending[ch] = e->reply;
	for (unsigned i = 0; i < x->n_asked_of[ch]; i++)
		if (known_of(x, x->asked_of[ch][i])->sent++)
			violate(x, "a message is answered twice");
}

/* A call is agreed to once, by its asker, in time; calls that go on are stopped by their person. */
static void see_tools(struct explore *x, const struct text_effect *e, const struct text_event *ev)
{
	unsigned ch = (unsigned)(e->channel - 10), user = (unsigned)(e->user - 100);

	if (e->type == TEXT_DO_WORKING) {
		if (!x->tools[ch] || x->asked[ch] != e->reply)
			violate(x, "a tool is announced that does not work");
		if (x->workings[ch]++ == TEXT_WORKINGS)
			violate(x, "a tool is announced too often");
		return;
	}
	if (user >= USERS) {
		violate(x, "nobody's call is agreed to or stopped");
		return;
	}
	if (e->type == TEXT_DO_AGREE) {
		if (!x->question[ch][user] || x->question[ch][user] != e->message)
			violate(x, "a question is answered twice, or was never asked");
		if (e->yes && ev->user != e->user)
			violate(x, "somebody else agrees");
		if (e->yes && x->now > x->asked_at[ch][user] + TEXT_YES_S * NS_PER_S)
			violate(x, "a yes came too late");
		if (e->yes && ev->type == TEXT_AGREED && !ev->yes)
			violate(x, "a no counts as a yes");
		if (e->yes && ev->type == TEXT_MESSAGE && ev->replies_to != e->message &&
		    (ev->replies_to || (!ev->to_bot && ev->guild && x->newest[ch] > e->message)))
			violate(x, "a yes to somebody else counts");
		x->question[ch][user] = 0;
	} else {
		if (!x->jobs[ch][user])
			violate(x, "calls are stopped that do not go on");
		if (ev->type != TEXT_DELETED && ev->user != e->user)
			violate(x, "somebody else stops a call");
		x->jobs[ch][user] = false;
	}
}

static void see_effect(struct explore *x, const struct text_effect *e, const struct text_event *ev)
{
	unsigned ch = (unsigned)(e->channel - 10);
	struct known *k;

	if (ch >= CHANNELS) {
		violate(x, "an effect in no channel");
		return;
	}
	if (e->type == TEXT_DO_ASK) {
		see_limits(x, e, ev);
		see_ask(x, e);
	}
	if (e->type == TEXT_DO_TYPING)
		see_typing(x, ch);
	if (e->type == TEXT_DO_SEND)
		see_send(x, e, ev);
	if (e->type == TEXT_DO_WORKING || e->type == TEXT_DO_AGREE || e->type == TEXT_DO_STOP_JOBS)
		see_tools(x, e, ev);
	if (e->type == TEXT_DO_ABANDON) {
		if (x->asked[ch] != e->reply)
			violate(x, "what was not asked is abandoned");
		for (unsigned i = 0; i < x->n_reported; i++)
			if (x->reported[i] == e->reply)
				violate(x, "an end is reported before the stop");
		x->asked[ch] = 0;
	}
	if (x->over && e->type != TEXT_DO_RECORD)
		violate(x, "something begins after the end");
	if (e->type == TEXT_DO_WAITS)
		keep(x, e, e->message, e->user, TAKEN_WAITS);
	if (e->type != TEXT_DO_RECORD)
		return;
	if (e->record->reply && x->n_reported < RECENT)
		x->reported[x->n_reported++] = e->record->reply;
	if (e->record->reason != TEXT_REASON_SHUTDOWN &&
	    e->record->reason != TEXT_REASON_DUPLICATE_TRIGGER)
		keep(x, e, e->message, e->user, TAKEN_ENDED);
	x->out->ended++;
	if (e->record->admission == TEXT_ADMISSION_INITIATIVE) {
		if (e->message || e->record->reason == TEXT_REASON_NONE)
			violate(x, "a message of the bot's own accord has no reason");
		return;
	}
	k = known_of(x, e->message);
	if (!k->open || e->record->reason == TEXT_REASON_NONE)
		violate(x, "a message ends twice, or without a reason");
	else
		k->open--;
	if (e->record->reason == TEXT_REASON_NOT_ADMITTED && e->record->to_bot)
		violate(x, "a direct message is not admitted");
}

/* Discord has the answer that was under way. */
static void arrive(struct explore *x, unsigned ch, uint64_t message)
{
	x->on_way[ch].message = message;
	x->answer[x->n_answers++ % ANSWERS] = x->on_way[ch];
}

static void step(struct explore *x, const struct text_event *ev)
{
	/* What a result ends. */
	for (unsigned ch = 0; ch < CHANNELS && ev->reply; ch++) {
		if (ev->channel != 10 + ch)
			continue;
		if (ev->type == TEXT_FAILED && x->asked[ch] == ev->reply)
			x->asked[ch] = 0;
		if ((ev->type == TEXT_SENT || ev->type == TEXT_NOT_SENT) &&
		    x->sending[ch] == ev->reply) {
			x->sending[ch] = 0;
			if (ev->type == TEXT_SENT) {
				x->sent_at[ch][x->n_sent[ch]++ % SENDS] = x->now;
				arrive(x, ch, ev->message);
			}
		}
		if (ev->type == TEXT_ANSWERED && x->asked[ch] == ev->reply &&
		    (*ev->text == ' ' || *ev->text == '['))
			x->asked[ch] = 0;
	}
	text_step(x->chat, ev, x->now, &x->fx);
	x->n_reported = 0;
	for (size_t i = 0; i < x->fx.n; i++)
		see_effect(x, &x->fx.v[i], ev);
	if (ev->type == TEXT_MESSAGE && ev->message > x->newest[ev->channel - 10])
		x->newest[ev->channel - 10] = ev->message;
	if (x->next_question) {
		unsigned ch = (unsigned)(ev->channel - 10);

		x->question[ch][x->next_asker] = x->next_question;
		x->asked_at[ch][x->next_asker] = x->now;
		x->next_question = 0;
	}
	if (ev->type == TEXT_TIMER && text_deadline(x->chat) <= x->now)
		violate(x, "a deadline that does not move");
}

static unsigned below(struct explore *x, unsigned n)
{
	return random_below(&x->random, n);
}

static const char *const words[] = {
	"hello",
	"Parley, what time is it?",
	"I think that Parley is asleep",
	"stop",
	"",
	"never mind",
	"yes",
	"@parley what time is it",
	"what a day",
};

enum { WORDS = sizeof words / sizeof words[0] };

static bool is_settled(struct explore *x, const struct text_event *ev)
{
	const struct taken *row = taken_find(x->taken, ev->message);

	return row && !text_chat_knows(x->chat, ev->channel, ev->message);
}

static void play_message(struct explore *x)
{
	unsigned user = below(x, USERS), ch = below(x, CHANNELS);
	struct text_event ev = {.type = TEXT_MESSAGE,
				.guild = ch ? 7 : 0,
				.channel = 10 + ch,
				.user = 100 + user,
				.name = "somebody",
				.text = words[below(x, WORDS)],
				.to_bot = below(x, 3) == 0,
				.to_others = below(x, 5) == 0,
				.bot = below(x, 20) == 0,
				.refused = below(x, 30) == 0,
				.decide = below(x, 30) == 0};
	unsigned at = below(x, RECENT);

	if (below(x, 15) == 0 && x->recent[at]) { /* told twice */
		ev.message = x->recent[at];
		ev.channel = x->recent_channel[at];
		ev.user = x->recent_user[at];
		ev.guild = ev.channel == 10 ? 0 : 7;
		if (known_of(x, ev.message)->deleted)
			return;
		if (ev.message <= x->forgotten[ev.user - 100])
			return;
	} else {
		ev.message = x->next_id++;
		x->recent[at] = ev.message;
		x->recent_channel[at] = ev.channel;
		x->recent_user[at] = ev.user;
		x->recent_as[at] = ev;
	}
	if (below(x, 8) == 0 && x->recent[below(x, RECENT)])
		ev.replies_to = x->recent[below(x, RECENT)];
	/* The shell asks the table first. */
	if (is_settled(x, &ev))
		return;
	known_of(x, ev.message)->open++;
	step(x, &ev);
}

/* An edit, a deletion, a stop sign, a decision about a message. */
static void play_change(struct explore *x)
{
	static const enum text_event_type types[] = {TEXT_EDITED, TEXT_DELETED, TEXT_CANCEL,
						     TEXT_CLASSIFIED, TEXT_CLASSIFIED};
	unsigned at = below(x, RECENT);
	struct text_event ev = {.type = types[below(x, 5)],
				.channel = x->recent_channel[at],
				.message = x->recent[at],
				.user = below(x, 3) ? x->recent_user[at] : 100 + below(x, USERS),
				.text = words[below(x, WORDS)],
				.to_bot = below(x, 2) == 0,
				.yes = below(x, 2) == 0};

	if (!ev.message)
		return;
	if (ev.type == TEXT_DELETED)
		known_of(x, ev.message)->deleted = true;
	if (ev.type == TEXT_EDITED) {
		x->recent_as[at].text = ev.text;
		x->recent_as[at].to_bot = ev.to_bot;
	}
	step(x, &ev);
}

/* The answer that is sent asks somebody for a yes. */
static void ask_for_yes(struct explore *x, unsigned ch, struct text_event *ev)
{
	unsigned user = below(x, USERS);

	ev->asker = 100 + user;
	ev->asks = below(x, 2) ? ev->message : x->next_id++;
	if (!ev->reply || x->sending[ch] != ev->reply)
		return;
	/* In the core the one before ends with an AGREE of this step, which comes first. */
	x->next_question = ev->asks;
	x->next_asker = user;
}

/* Tools at work, calls that go on, their results, buttons. */
static void play_tools(struct explore *x)
{
	unsigned ch = below(x, CHANNELS), user = below(x, USERS), what = below(x, 5);
	struct text_event ev = {.type = TEXT_TOOLS,
				.channel = 10 + ch,
				.user = 100 + user,
				.reply = x->asked[ch],
				.text = "write: it is done"};

	if (what == 0 && x->asked[ch]) {
		ev.n = x->tools[ch] = below(x, 3);
		ev.yes = below(x, 4) == 0;
		x->acted[ch] |= ev.yes;
	} else if (what == 1) {
		ev.type = TEXT_JOBS_TOLD;
		ev.n = below(x, 2);
	} else if (what == 2) {
		ev.type = TEXT_RESULT;
		x->results[ch][user]++;
	} else if (what == 3) {
		ev.type = TEXT_REPLACED;
	} else {
		ev.type = TEXT_AGREED;
		ev.message = x->question[ch][below(x, USERS)];
		ev.yes = below(x, 2) == 0;
	}
	step(x, &ev);
	if (ev.type == TEXT_JOBS_TOLD)
		x->jobs[ch][user] = ev.n > 0;
}

static void play_result(struct explore *x)
{
	unsigned ch = below(x, CHANNELS), how = below(x, 10);
	char words_of_answer[96];
	struct text_event ev = {.channel = 10 + ch, .rnd = below(x, 100)};

	ev.reply = below(x, 20) == 0 ? below(x, 50) : x->asked[ch] ? x->asked[ch] : x->sending[ch];
	if (x->sending[ch] && ev.reply == x->sending[ch]) {
		ev.type = how ? TEXT_SENT : TEXT_NOT_SENT;
		ev.user = BOT;
		ev.name = "parley";
		ev.text = "an answer";
		ev.message = x->next_id++;
		if (how > 6)
			ask_for_yes(x, ch, &ev);
	} else {
		ev.type = how < 8 ? TEXT_ANSWERED : TEXT_FAILED;
		ev.yes = ev.type == TEXT_FAILED && below(x, 3) == 0;
		snprintf(words_of_answer, sizeof words_of_answer,
			 "an answer that has more than thirty characters, number %llu",
			 (unsigned long long)x->out->steps);
		ev.text = how == 0 ? " " : how == 1 ? "[SKIP]" : words_of_answer;
	}
	step(x, &ev);
}

static void play_settings(struct explore *x)
{
	static const char *const changes[][2] = {
		{"text_unsolicited", "yes"},
		{"text_unsolicited", "no"},
		{"text_coalesce_s", "0"},
		{"text_coalesce_s", "6"},
		{"text_blocked_channels", "11"},
		{"text_blocked_channels", ""},
		{"blocked_users", "101"},
		{"blocked_users", ""},
		{"text_window", "0"},
		{"text_window", "100"},
		{"text_per_hour", "60"},
		{"text_per_hour", "20"},
		{"text_spacing_s", "0"},
		{"text_spacing_s", "5"},
		{"text_initiative", "yes"},
		{"text_initiative", "yes"},
		{"text_initiative", "no"},
		{"text_initiative_channels", "12,13"},
		{"text_initiative_channels", "11,12"},
		{"text_initiative_minutes", "20"},
		{"text_initiative_minutes", "360"},
		{"text_initiative_a_day", "3"},
		{"text_chat", "off"},
		{"text_chat", "mentions"},
		{"text_chat", "all"},
		{"text_chat", "all"},
	};
	unsigned i = below(x, sizeof changes / sizeof changes[0]);

	settings_set(x->settings, changes[i][0], changes[i][1]);
}

static void play_forget(struct explore *x)
{
	unsigned user = below(x, USERS);

	x->forgotten[user] = x->next_id - 1;
	step(x, &(struct text_event){.type = TEXT_FORGET, .user = 100 + user, .refused = true});
}

static void play_time(struct explore *x)
{
	uint64_t due = text_deadline(x->chat);

	if (below(x, 3) == 0) {
		x->now += below(x, 5000) * NS_PER_MS;
		return;
	}
	if (below(x, 200) == 0)
		x->now += 1000 * NS_PER_S;
	else if (due != UINT64_MAX && due > x->now)
		x->now = due;
	step(x, &(struct text_event){.type = TEXT_TIMER, .rnd = below(x, 100)});
}

/* ---- restarts ---- */

/* What was under way in the core ends with it. */
static void end_core(struct explore *x)
{
	for (unsigned ch = 0; ch < CHANNELS; ch++) {
		bool took = below(x, 2) == 0;

		if (x->sending[ch] && took)
			arrive(x, ch, x->next_id++);
		for (unsigned i = 0; x->sending[ch] && !took && i < x->n_asked_of[ch]; i++)
			known_of(x, x->asked_of[ch][i])->sent = 0;
		x->asked[ch] = x->sending[ch] = 0;
		x->tools[ch] = x->workings[ch] = 0;
		memset(x->question[ch], 0, sizeof x->question[ch]);
		memset(x->jobs[ch], 0, sizeof x->jobs[ch]);
		memset(x->results[ch], 0, sizeof x->results[ch]);
	}
	for (unsigned i = 0; i < KNOWN; i++)
		x->known[i].open = 0;
	x->chat = text_chat_free(x->chat);
}

/* The rows as the store gives them back. */
static void read_again(struct explore *x)
{
	json_t *rows = json_array();
	const struct taken *row;

	for (size_t i = 0; (row = taken_at(x->taken, i)); i++)
		if (row->message)
			json_array_append_new(rows, taken_row(row));
	x->taken = taken_free(x->taken);
	if (taken_alloc(&x->taken))
		violate(x, "no memory");
	else
		taken_read(x->taken, rows);
	json_decref(rows);
}

static void judge(struct explore *x, const struct missed_page *page, unsigned at)
{
	struct text_event ev = x->recent_as[at];
	const struct incoming in = {.message = ev.message, .user = ev.user, .bot = ev.bot};
	struct taken *row = taken_find(x->taken, ev.message);
	enum missed_what what;
	bool reply;

	if (known_of(x, ev.message)->deleted)
		return;
	what = missed_judge(page, x->taken, &in, x->late_from, &reply);
	if (what == MISSED_ANSWERED)
		row->state = TAKEN_ENDED;
	if (what == MISSED_ANSWERED && !known_of(x, ev.message)->sent)
		violate(x, "a message without an answer counts as answered");
	if (what != MISSED_OWED && what != MISSED_LATE)
		return;
	ev.late = what == MISSED_LATE;
	ev.refused |= ev.message <= x->forgotten[ev.user - 100];
	if (row)
		row->before = false;
	known_of(x, ev.message)->open++;
	step(x, &ev);
	row = taken_find(x->taken, ev.message);
	if (ev.to_bot && (!row || row->before))
		violate(x, "a message that addresses the bot is lost");
}

static void catch_up(struct explore *x, unsigned ch)
{
	struct missed_page page = {.n = 0};
	unsigned order[RECENT], n = 0;

	for (unsigned i = 0; i < ANSWERS; i++)
		if (x->answer[i].message && x->answer[i].channel == 10 + ch) {
			page.own[page.n].message = x->answer[i].message;
			page.own[page.n].replies_to = x->answer[i].replies_to;
			page.own[page.n++].mark = x->answer[i].mark;
		}
	for (unsigned i = 0; i < RECENT; i++) {
		unsigned k = n;

		if (!x->recent[i] || x->recent_channel[i] != 10 + ch)
			continue;
		for (; k > 0 && x->recent[order[k - 1]] > x->recent[i]; k--)
			order[k] = order[k - 1];
		order[k] = i;
		n++;
	}
	for (unsigned i = 0; i < n; i++)
		judge(x, &page, order[i]);
}

static void play_restart(struct explore *x)
{
	unsigned missed = below(x, 4);

	x->out->restarts++;
	/* The limits begin anew with a core. */
	memset(x->n_sent, 0, sizeof x->n_sent);
	memset(x->typed, 0, sizeof x->typed);
	if (below(x, 2))
		step(x, &(struct text_event){.type = TEXT_SHUTDOWN});
	end_core(x);
	read_again(x);
	x->late_from = x->next_id;
	while (missed--) {
		unsigned at = below(x, RECENT);

		x->recent_as[at] = (struct text_event){.type = TEXT_MESSAGE,
						       .guild = 7,
						       .channel = 11 + below(x, CHANNELS - 1),
						       .message = x->next_id++,
						       .user = 100 + below(x, USERS),
						       .name = "somebody",
						       .text = words[below(x, WORDS)],
						       .to_bot = below(x, 2) == 0};
		x->recent[at] = x->recent_as[at].message;
		x->recent_user[at] = x->recent_as[at].user;
		x->recent_channel[at] = x->recent_as[at].channel;
	}
	if (text_chat_alloc(&x->chat, x->settings, "Parley")) {
		violate(x, "no memory");
		return;
	}
	for (unsigned ch = 0; ch < CHANNELS; ch++)
		for (unsigned i = x->n_posts[ch] > POSTS ? x->n_posts[ch] - POSTS : 0;
		     i < x->n_posts[ch]; i++)
			step(x, &(struct text_event){
					.type = TEXT_POSTED,
					.guild = 7,
					.channel = 10 + ch,
					.n = (uint32_t)((x->now - x->post[ch][i % POSTS]) /
							NS_PER_S)});
	for (unsigned ch = 0; ch < CHANNELS; ch++)
		catch_up(x, ch);
}

static void play(struct explore *x)
{
	unsigned what = below(x, 1000);

	if (below(x, 500) == 0)
		play_restart(x);
	else if (what < 300)
		play_message(x);
	else if (what < 400)
		play_change(x);
	else if (what < 650)
		play_result(x);
	else if (what < 720)
		play_tools(x);
	else if (what < 990)
		play_time(x);
	else if (what < 997)
		play_settings(x);
	else
		play_forget(x);
}

static void finish(struct explore *x)
{
	step(x, &(struct text_event){.type = TEXT_SHUTDOWN});
	x->over = true;
	for (unsigned i = 0; i < 25; i++) {
		play_message(x);
		play_change(x);
		play_tools(x);
		play_result(x);
	}
	for (unsigned i = 0; i < KNOWN; i++)
		if (x->known[i].open)
			violate(x, "a message has no reason");
	if (text_waiting(x->chat))
		violate(x, "a message waits after the end");
}

void text_explore(struct text_explore_result *out, uint64_t seed, uint64_t steps)
{
	struct explore *x = calloc(1, sizeof *x);

	*out = (struct text_explore_result){.passed = true};
	if (x && !settings_alloc(&x->settings) && !settings_set(x->settings, "text_chat", "all") &&
	    !taken_alloc(&x->taken) && !text_chat_alloc(&x->chat, x->settings, "Parley")) {
		x->out = out;
		x->random = seed;
		x->next_id = 1000;
		while (out->passed && out->steps < steps) {
			out->steps++;
			play(x);
		}
		if (out->passed)
			finish(x);
	} else {
		out->passed = false;
	}
	if (x) {
		text_chat_free(x->chat);
		taken_free(x->taken);
		settings_free(x->settings);
	}
	free(x);
}
