#include "tests/text/explore_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/text/incoming.h"
#include "control/text/missed.h"
#include "tests/random.h"

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

enum { WORDS = sizeof words / sizeof words[0], PHASE = 5000 /* steps */ };

static bool is_settled(struct explore *x, const struct text_event *ev)
{
	const struct taken *row = taken_find(x->taken, ev->message);

	if (!row)
		return ev->message < x->late_from &&
		       taken_may_have_dropped(x->taken, ev->message, ev->user, ev->guild);
	return !text_chat_knows(x->chat, ev->channel, ev->message);
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
				.unreactive = below(x, 8) == 0,
				.rnd = below(x, 1000),
				.decide = below(x, 30) == 0};
	unsigned at = below(x, RECENT);

	if (x->load) {
		ev.guild = 7;
		ev.channel = 11;
		ev.text = "what a day";
		ev.to_bot = below(x, 40) == 0;
	}
	if (below(x, 15) == 0 && x->recent[at]) { /* told twice */
		ev.message = x->recent[at];
		ev.channel = x->recent_channel[at];
		ev.user = x->recent_user[at];
		ev.guild = ev.channel == 10 ? 0 : 7;
		if (explore_known(x, ev.message)->deleted)
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
	explore_known(x, ev.message)->open++;
	explore_step(x, &ev);
}

/* Discord tells the bot of its own messages, too. */
static void play_echo(struct explore *x)
{
	unsigned at = below(x, ANSWERS);
	struct text_event ev = {.type = TEXT_MESSAGE,
				.channel = x->answer[at].channel,
				.message = x->answer[at].message,
				.user = BOT,
				.name = "parley",
				.text = words[below(x, WORDS)],
				.to_bot = below(x, 3) == 0,
				.self = true};

	if (!ev.message)
		return;
	ev.guild = ev.channel == 10 ? 0 : 7;
	explore_known(x, ev.message)->own = true;
	explore_known(x, ev.message)->open++;
	explore_step(x, &ev);
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
		explore_known(x, ev.message)->deleted = true;
	if (ev.type == TEXT_EDITED) {
		x->recent_as[at].text = ev.text;
		x->recent_as[at].to_bot = ev.to_bot;
	}
	explore_step(x, &ev);
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
	explore_step(x, &ev);
	if (ev.type == TEXT_JOBS_TOLD)
		x->jobs[ch][user] = ev.n > 0;
}

static void play_result(struct explore *x)
{
	unsigned ch = below(x, CHANNELS), how = below(x, 10);
	char words_of_answer[96];
	struct text_event ev = {.channel = 10 + ch, .rnd = below(x, 100)};

	ev.reply = below(x, 20) == 0 ? below(x, 50)
		   : x->asked[ch]    ? x->asked[ch]
		   : x->sending[ch]  ? x->sending[ch]
				     : x->reacting[ch];
	if (x->sending[ch] && ev.reply == x->sending[ch]) {
		ev.type = how ? TEXT_SENT : TEXT_NOT_SENT;
		ev.user = BOT;
		ev.name = "parley";
		ev.text = "an answer";
		ev.message = x->next_id++;
		if (how > 6)
			ask_for_yes(x, ch, &ev);
	} else if (x->reacting[ch] && ev.reply == x->reacting[ch]) {
		ev.type = how < 7 ? TEXT_REACTED : TEXT_NOT_SENT;
		ev.why = how == 9 ? TEXT_REASON_DELETED : TEXT_REASON_NONE;
	} else {
		ev.type = how < 8 ? TEXT_ANSWERED : TEXT_FAILED;
		ev.yes = ev.type == TEXT_FAILED && below(x, 3) == 0;
		snprintf(words_of_answer, sizeof words_of_answer,
			 "an answer that has more than thirty characters, number %llu",
			 (unsigned long long)x->out->steps);
		ev.text = how < 3 ? " " : how == 3 ? "[SKIP]" : words_of_answer;
		if (how && how < 6)
			memcpy(ev.emoji, "\xf0\x9f\x91\x8d", sizeof "\xf0\x9f\x91\x8d");
	}
	explore_step(x, &ev);
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
		{"text_reactions_per_hour", "0"},
		{"text_reactions_per_hour", "2"},
		{"text_reactions_per_hour", "24"},
		{"text_reactivity", "0"},
		{"text_reactivity", "40"},
		{"text_reactivity", "100"},
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
	explore_step(
		x, &(struct text_event){.type = TEXT_FORGET, .user = 100 + user, .refused = true});
	for (unsigned ch = 0; ch < CHANNELS; ch++)
		if (x->question[ch][user])
			explore_violate(x, "a question waits for somebody who is forgotten");
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
	explore_step(x, &(struct text_event){.type = TEXT_TIMER, .rnd = below(x, 100)});
}

/* ---- restarts ---- */

/* What was under way in the core ends with it. */
static void end_core(struct explore *x)
{
	for (unsigned ch = 0; ch < CHANNELS; ch++) {
		bool took = below(x, 2) == 0;

		if (x->sending[ch] && took)
			explore_arrive(x, ch, x->next_id++);
		for (unsigned i = 0; x->sending[ch] && !took && i < x->n_asked_of[ch]; i++)
			explore_known(x, x->asked_of[ch][i])->sent = 0;
		if (x->reacting[ch])
			explore_reacted(x, ch, took);
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
		explore_violate(x, "no memory");
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

	if (explore_known(x, ev.message)->deleted)
		return;
	what = missed_judge(page, x->taken, &in, x->late_from, &reply);
	if (what == MISSED_ANSWERED || what == MISSED_REACTED)
		row->state = TAKEN_ENDED;
	if ((what == MISSED_ANSWERED || what == MISSED_REACTED) &&
	    !explore_known(x, ev.message)->sent)
		explore_violate(x, "a message without an answer counts as answered");
	if (what != MISSED_OWED && what != MISSED_LATE)
		return;
	ev.late = what == MISSED_LATE;
	ev.refused |= ev.message <= x->forgotten[ev.user - 100];
	if (row)
		row->before = false;
	explore_known(x, ev.message)->open++;
	explore_step(x, &ev);
	row = taken_find(x->taken, ev.message);
	if (ev.to_bot && (!row || row->before))
		explore_violate(x, "a message that addresses the bot is lost");
}

static void catch_up(struct explore *x, unsigned ch)
{
	struct missed_page page = {.n = 0};
	unsigned order[RECENT] = {0}, n = 0;

	for (unsigned i = 0; i < ANSWERS; i++)
		if (x->answer[i].message && x->answer[i].channel == 10 + ch) {
			page.own[page.n].message = x->answer[i].message;
			page.own[page.n].replies_to = x->answer[i].replies_to;
			page.own[page.n++].mark = x->answer[i].mark;
		}
	for (unsigned i = 0; i < ANSWERS; i++)
		if (x->put[i].channel == 10 + ch)
			page.put[page.n_put++] = x->put[i].mark;
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
	memset(x->n_reacted, 0, sizeof x->n_reacted);
	memset(x->typed, 0, sizeof x->typed);
	memset(x->n_waits, 0, sizeof x->n_waits);
	if (below(x, 2))
		explore_step(x, &(struct text_event){.type = TEXT_SHUTDOWN});
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
						       .rnd = below(x, 100),
						       .to_bot = below(x, 2) == 0};
		x->recent[at] = x->recent_as[at].message;
		x->recent_user[at] = x->recent_as[at].user;
		x->recent_channel[at] = x->recent_as[at].channel;
	}
	if (text_chat_alloc(&x->chat, x->settings, "Parley")) {
		explore_violate(x, "no memory");
		return;
	}
	for (unsigned ch = 0; ch < CHANNELS; ch++)
		for (unsigned i = x->n_posts[ch] > POSTS ? x->n_posts[ch] - POSTS : 0;
		     i < x->n_posts[ch]; i++)
			explore_step(x, &(struct text_event){
						.type = TEXT_POSTED,
						.guild = 7,
						.channel = 10 + ch,
						.n = (uint32_t)((x->now - x->post[ch][i % POSTS]) /
								NS_PER_S)});
	for (unsigned ch = 0; ch < CHANNELS; ch++)
		catch_up(x, ch);
}

/* Many people talk to one another, and now and then somebody addresses the bot. */
static void play_load(struct explore *x)
{
	unsigned what = below(x, 1000);

	if (x->out->steps % PHASE == 0) {
		settings_set(x->settings, "text_chat", "all");
		settings_set(x->settings, "text_unsolicited", "yes");
		settings_set(x->settings, "text_asks_per_hour", "10000");
		settings_set(x->settings, "text_coalesce_s", below(x, 2) ? "6" : "0");
		settings_set(x->settings, "text_per_hour", below(x, 2) ? "500" : "60");
		settings_set(x->settings, "blocked_users", "");
		settings_set(x->settings, "text_blocked_channels", "");
	}
	if (what < 700)
		play_message(x);
	else if (what < 730)
		play_change(x);
	else if (what < 850)
		play_result(x);
	else
		play_time(x);
}

static void play(struct explore *x)
{
	unsigned what = below(x, 1000);

	x->load = x->out->steps / PHASE % 4 == 3;
	if (x->load) {
		play_load(x);
		return;
	}
	if (x->out->steps % PHASE == 0)
		settings_set(x->settings, "text_asks_per_hour", "120");
	if (below(x, 500) == 0)
		play_restart(x);
	else if (what < 285)
		play_message(x);
	else if (what < 300)
		play_echo(x);
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
	explore_step(x, &(struct text_event){.type = TEXT_SHUTDOWN});
	x->over = true;
	for (unsigned i = 0; i < 25; i++) {
		play_message(x);
		play_change(x);
		play_tools(x);
		play_result(x);
	}
	for (unsigned i = 0; i < KNOWN; i++)
		if (x->known[i].open)
			explore_violate(x, "a message has no reason");
	if (text_waiting(x->chat))
		explore_violate(x, "a message waits after the end");
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
