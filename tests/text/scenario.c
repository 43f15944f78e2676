#include "tests/text/scenario.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "control/settings/settings.h"
#include "control/text/own_words.h"
#include "control/text/text_chat.h"
#include "proto/base/time.h"

enum { NOTES = 256, NOTE = 512, WORDS = 16, LINE = 9000, PEOPLE = 16, BOT = 1, GUILD = 7 };

struct play {
	struct text_scenario_result *out;
	FILE *trace;
	struct settings *settings;
	struct text_chat *chat;
	struct text_effects fx;
	uint64_t now, channel, parent, category;
	char note[NOTES][NOTE];
	unsigned notes, mark, line;
	char people[PEOPLE][32];
	unsigned n_people;
	uint64_t of_bot[64]; /* messages that the bot sent */
	unsigned n_of_bot;
	uint32_t reply, before; /* asked last, and before that */
	uint32_t question;	/* n of the last CLASSIFY */
	uint32_t rnd;		/* of the timer */
	char said[512];
	unsigned taken, ended; /* messages */
};

static void fail(struct play *p, const char *what, const char *text)
{
	size_t n = 0;

	if (!p->out->passed)
		return;
	p->out->passed = false;
	p->out->line = p->line;
	n = (size_t)snprintf(p->out->why, sizeof p->out->why, "%s: %s; since then:", what, text);
	for (unsigned i = p->mark; i < p->notes && n < sizeof p->out->why; i++)
		n += (size_t)snprintf(p->out->why + n, sizeof p->out->why - n, " [%s]", p->note[i]);
}

static void note(struct play *p, const char *text)
{
	if (p->trace)
		fprintf(p->trace, "%7llu  %s\n", (unsigned long long)(p->now / NS_PER_MS), text);
	if (p->notes < NOTES)
		snprintf(p->note[p->notes++], NOTE, "%s", text);
}

static const char *name_of(const struct play *p, uint64_t user)
{
	return user >= 100 && user - 100 < p->n_people ? p->people[user - 100] : "nobody";
}

static void note_effect(struct play *p, const struct text_effect *e)
{
	const struct text_trigger *t = e->record;
	char text[NOTE];
	size_t n;

	switch (e->type) {
	case TEXT_DO_ASK:
		p->before = p->reply;
		p->reply = e->reply;
		n = (size_t)snprintf(text, sizeof text, "asked%s%s",
				     e->kind == TEXT_KIND_ANSWER ? "" : " ",
				     e->kind == TEXT_KIND_ANSWER ? "" : text_kind_name(e->kind));
		if (e->strangers)
			n += (size_t)snprintf(text + n, sizeof text - n, " strangers");
		if (e->kind == TEXT_KIND_RESULT)
			n += (size_t)snprintf(text + n, sizeof text - n, " %s \"%s\"",
					      name_of(p, e->user), e->text);
		for (size_t i = 0; i < e->n_triggers; i++)
			n += (size_t)snprintf(text + n, sizeof text - n, "%c%llu", i ? '+' : ' ',
					      (unsigned long long)e->triggers[i]->message);
		n += (size_t)snprintf(text + n, sizeof text - n, "%s after %zu",
				      e->required ? " required" : "", e->n_history);
		if (e->n_since)
			n += (size_t)snprintf(text + n, sizeof text - n, " since %zu", e->n_since);
		for (size_t i = 0; i < e->n_triggers; i++)
			n += (size_t)snprintf(text + n, sizeof text - n, " \"%s\"",
					      e->triggers[i]->text);
		break;
	case TEXT_DO_REACT:
		snprintf(text, sizeof text, "react %llu %s %s", (unsigned long long)e->message,
			 e->text, e->reply ? "alone" : "beside");
		break;
	case TEXT_DO_SEND:
		snprintf(p->said, sizeof p->said, "%s", e->text);
		if (e->message)
			snprintf(text, sizeof text, "sent reply %llu \"%s\"",
				 (unsigned long long)e->message, e->text);
		else
			snprintf(text, sizeof text, "sent message \"%s\"", e->text);
		break;
	case TEXT_DO_RECORD:
		p->ended += e->message != 0;
		snprintf(text, sizeof text, "ended %llu %s by %s %s %s",
			 (unsigned long long)e->message, text_reason_name(t->reason),
			 text_admission_name(t->admission), text_signal_name(t->signal),
			 text_attention_name(t->attention));
		break;
	case TEXT_DO_WORKING:
		snprintf(text, sizeof text, "working %u reply %llu", e->n,
			 (unsigned long long)e->message);
		break;
	case TEXT_DO_AGREE:
		snprintf(text, sizeof text, "agree %llu %s %s", (unsigned long long)e->message,
			 e->yes ? "yes" : "no", name_of(p, e->user));
		break;
	case TEXT_DO_STOP_JOBS:
		snprintf(text, sizeof text, "stop_jobs %s", name_of(p, e->user));
		break;
	case TEXT_DO_CLASSIFY:
		p->question = e->n;
		snprintf(text, sizeof text, "%s %llu", text_effect_name(e->type),
			 (unsigned long long)e->message);
		break;
	case TEXT_DO_WAITS:
		snprintf(text, sizeof text, "waits %llu%s", (unsigned long long)e->message,
			 e->late ? " among the missed" : "");
		break;
	case TEXT_DO_WARN:
		snprintf(text, sizeof text, "%s %llu", text_effect_name(e->type),
			 (unsigned long long)e->message);
		break;
	case TEXT_DO_ACKNOWLEDGE:
		snprintf(text, sizeof text, "acknowledge %llu%s", (unsigned long long)e->message,
			 e->sign ? " by a sign" : "");
		break;
	default:
		snprintf(text, sizeof text, "%s", text_effect_name(e->type));
	}
	note(p, text);
	if (e->reacts)
		note(p, "reaction offered");
}

static void step(struct play *p, const struct text_event *ev)
{
	text_step(p->chat, ev, p->now, &p->fx);
	for (size_t i = 0; i < p->fx.n; i++)
		note_effect(p, &p->fx.v[i]);
}

static void run_to(struct play *p, uint64_t at)
{
	while (text_deadline(p->chat) <= at) {
		uint64_t due = text_deadline(p->chat);

		p->now = due > p->now ? due : p->now;
		step(p, &(struct text_event){.type = TEXT_TIMER, .rnd = p->rnd});
		if (text_deadline(p->chat) <= p->now) {
			fail(p, "a deadline that does not move", "");
			return;
		}
	}
	p->now = at;
}

static uint64_t user_of(struct play *p, const char *name)
{
	for (unsigned i = 0; i < p->n_people; i++)
		if (strcmp(p->people[i], name) == 0)
			return 100 + i;
	if (p->n_people == PEOPLE)
		return 99;
	snprintf(p->people[p->n_people], sizeof p->people[0], "%s", name);
	return 100 + p->n_people++;
}

static bool is_of_bot(const struct play *p, uint64_t message)
{
	for (unsigned i = 0; i < p->n_of_bot; i++)
		if (p->of_bot[i] == message)
			return true;
	return false;
}

/* "@parley" mentions the bot, any other "@" somebody else. */
static void read_mentions(struct text_event *ev)
{
	for (const char *at = ev->text; (at = strchr(at, '@')); at++) {
		if (strncmp(at, "@parley", 7) == 0)
			ev->to_bot = true;
		else
			ev->to_others = true;
	}
}

/* Mentions are none of the author's own words. */
static void blank_mentions(char *said)
{
	for (char *at = said; (at = strchr(at, '@'));)
		for (*at++ = ' '; isalnum((unsigned char)*at); at++)
			*at = ' ';
}

/* "alice writes 1 TEXT", "edits 1 TEXT", "deletes 1", "stops 1", "agrees 50", "refuses 50": presses
 * a button; behind the number "to 2",
 * "refused", "decide", "late" (missed while the bot was away), "ago 90" (written so many minutes
 * ago), "strangers" (their text is its end), "unreactive" (the bot may not react to it),
 * "blind" (Discord keeps what does not mention the bot),
 * "unsure" (an edit of a reply that does not tell to whom), "drawn 40"
 * (for a reaction). */
static void play_person(struct play *p, char **w, unsigned n)
{
	char said[LINE];
	struct text_event ev = {.guild = strcmp(w[0], "direct") == 0 ? 0 : GUILD,
				.channel = p->channel,
				.parent = p->parent,
				.category = p->category,
				.user = user_of(p, w[0]),
				.name = w[0],
				.text = n > 3 ? w[n - 1] : ""};

	if (n < 3) {
		fail(p, "not a line of a scenario", w[0]);
		return;
	}
	ev.message = strtoull(w[2], NULL, 10);
	own_words(said, sizeof said, ev.text);
	blank_mentions(said);
	ev.said = said;
	read_mentions(&ev);
	for (unsigned i = 3; i + 1 < n; i++) {
		if (strcmp(w[i], "to") == 0 && i + 2 < n) {
			ev.replies_to = strtoull(w[i + 1], NULL, 10);
			ev.to_bot |= is_of_bot(p, ev.replies_to);
			ev.to_others |= !is_of_bot(p, ev.replies_to);
		}
		ev.refused |= strcmp(w[i], "refused") == 0;
		ev.decide |= strcmp(w[i], "decide") == 0;
		ev.bot |= strcmp(w[i], "bot") == 0;
		ev.late |= strcmp(w[i], "late") == 0;
		ev.strangers |= strcmp(w[i], "strangers") == 0;
		ev.barred |= strcmp(w[i], "barred") == 0;
		ev.unreactive |= strcmp(w[i], "unreactive") == 0;
		ev.blind |= strcmp(w[i], "blind") == 0;
		ev.unsure |= strcmp(w[i], "unsure") == 0;
		if (strcmp(w[i], "drawn") == 0)
			ev.rnd = (uint32_t)strtoul(w[i + 1], NULL, 10);
		if (strcmp(w[i], "ago") == 0)
			ev.age = strtoull(w[i + 1], NULL, 10) * 60 * NS_PER_S;
		ev.guild = strcmp(w[i], "direct") == 0 ? 0 : ev.guild;
	}
	if (strcmp(w[1], "writes") == 0) {
		p->taken++;
		ev.self = strcmp(w[0], "parley") == 0;
		ev.type = TEXT_MESSAGE;
	} else if (strcmp(w[1], "edits") == 0) {
		ev.type = TEXT_EDITED;
	} else if (strcmp(w[1], "deletes") == 0) {
		ev.type = TEXT_DELETED;
	} else if (strcmp(w[1], "stops") == 0) {
		ev.type = TEXT_CANCEL;
	} else if (strcmp(w[1], "agrees") == 0 || strcmp(w[1], "refuses") == 0) {
		ev.type = TEXT_AGREED;
		ev.yes = *w[1] == 'a';
	} else {
		fail(p, "not a line of a scenario", w[1]);
		return;
	}
	step(p, &ev);
}

/* "model says TEXT", "model yes 7"; "late …": the one that was asked before */
static void play_model(struct play *p, char **w, unsigned n)
{
	struct text_event ev = {.type = TEXT_FAILED,
				.channel = p->channel,
				.reply = *w[0] == 'l' ? p->before : p->reply};

	if (strcmp(w[1], "says") == 0 && n > 2) {
		ev.type = TEXT_ANSWERED;
		ev.text = w[2];
		text_emoji_take(w[2], ev.emoji);
		ev.rnd = n > 3 ? (uint32_t)strtoul(w[3], NULL, 10) : 0;
	} else if (strcmp(w[1], "spent") == 0) {
		ev.yes = true;
	} else if (n > 2) {
		ev.type = TEXT_CLASSIFIED;
		ev.message = strtoull(w[2], NULL, 10);
		ev.yes = strcmp(w[1], "yes") == 0;
		ev.n = p->question - (*w[0] == 'l');
	}
	step(p, &ev);
}

/* "tools 1": so many work for the answer; "tools 1 acted"; "jobs alice 1"; "result alice TEXT",
 * "result alice TEXT strangers"; "replaced alice" */
static void play_tools(struct play *p, char **w, unsigned n)
{
	struct text_event ev = {.type = TEXT_TOOLS, .channel = p->channel, .reply = p->reply};

	if (strcmp(w[0], "tools") == 0) {
		ev.n = (uint32_t)strtoul(w[1], NULL, 10);
		ev.yes = n > 2;
	} else {
		ev.type = *w[0] == 'j'			? TEXT_JOBS_TOLD
			  : strcmp(w[0], "result") == 0 ? TEXT_RESULT
							: TEXT_REPLACED;
		ev.strangers = n > 3;
		ev.reply = ev.type == TEXT_RESULT ? 0 : ev.reply;
		ev.user = user_of(p, w[1]);
		ev.n = n > 2 ? (uint32_t)strtoul(w[2], NULL, 10) : 0;
		ev.text = n > 2 ? w[2] : "";
	}
	step(p, &ev);
}

/* "discord took 50", "discord took 50 asks alice", "discord took 50 asks alice 51" (by that
 * message), "discord refused [REASON]", "discord reacted" */
static void play_discord(struct play *p, char **w, unsigned n)
{
	struct text_event ev = {.type = TEXT_NOT_SENT,
				.channel = p->channel,
				.reply = p->reply,
				.user = BOT,
				.name = "parley",
				.text = p->said};

	if (strcmp(w[1], "reacted") == 0) {
		ev.type = TEXT_REACTED;
	} else if (strcmp(w[1], "refused") == 0) {
		for (int r = 0; n > 2 && r < TEXT_REASON_COUNT; r++)
			if (strcmp(text_reason_name(r), w[2]) == 0)
				ev.why = (enum text_reason)r;
	} else if (n > 2) {
		ev.type = TEXT_SENT;
		ev.message = strtoull(w[2], NULL, 10);
		p->of_bot[p->n_of_bot++ % 64] = ev.message;
		ev.partial = n > 3 && strcmp(w[3], "partial") == 0;
		if (n > 4 && strcmp(w[3], "asks") == 0)
			ev.asker = user_of(p, w[4]);
		ev.asks = n > 5 ? strtoull(w[5], NULL, 10) : ev.message;
	}
	step(p, &ev);
}

static bool begins_with(const char *note, const char *text)
{
	size_t n = strlen(text);

	return strncmp(note, text, n) == 0 && (!note[n] || note[n] == ' ');
}

/* The words of a note begin with those of the line. */
static void expect(struct play *p, const char *what)
{
	bool none = strncmp(what, "no ", 3) == 0, found = false;
	const char *text = what + (none ? 3 : 0);

	for (unsigned i = p->mark; i < p->notes; i++)
		found |= begins_with(p->note[i], text);
	if (found == none)
		fail(p, none ? "happened" : "did not happen", text);
}

/* Words, those in quotes as one. */
static unsigned split(char *line, char *w[WORDS])
{
	unsigned n = 0;

	while (n < WORDS) {
		char *end;

		line += strspn(line, " \t\n");
		if (!*line || *line == '#')
			break;
		end = *line == '"' ? strchr(line + 1, '"') : line + strcspn(line, " \t\n");
		w[n++] = *line == '"' ? line + 1 : line;
		if (!end || !*end)
			break;
		*end = '\0';
		line = end + 1;
	}
	return n;
}

static void play_line(struct play *p, char *line)
{
	char *w[WORDS], whole[LINE], *at;
	unsigned n, first = 0;

	snprintf(whole, sizeof whole, "%s", line);
	whole[strcspn(whole, "\n")] = '\0';
	n = split(line, w);
	if (!n)
		return;
	if (*w[0] >= '0' && *w[0] <= '9') {
		p->mark = p->notes;
		run_to(p, strtoull(w[0], NULL, 10) * NS_PER_MS);
		first = 1;
	}
	if (n == first)
		return;
	at = strstr(whole, "expect ");
	if (strcmp(w[first], "expect") == 0 && at) {
		expect(p, at + 7);
		return;
	}
	if (!first)
		p->mark = p->notes;
	if (strcmp(w[first], "set") == 0 && n > first + 2) {
		if (settings_set(p->settings, w[first + 1], w[first + 2]))
			fail(p, "not a setting", w[first + 1]);
	} else if (strcmp(w[first], "channel") == 0 && n > first + 1) {
		p->channel = strtoull(w[first + 1], NULL, 10);
		p->parent = p->category = 0;
		for (unsigned i = first + 2; i + 1 < n; i += 2)
			*(strcmp(w[i], "of") == 0 ? &p->parent : &p->category) =
				strtoull(w[i + 1], NULL, 10);
	} else if ((strcmp(w[first], "model") == 0 || strcmp(w[first], "late") == 0) &&
		   n > first + 1) {
		play_model(p, w + first, n - first);
	} else if (strcmp(w[first], "discord") == 0 && n > first + 1) {
		play_discord(p, w + first, n - first);
	} else if ((strcmp(w[first], "tools") == 0 || strcmp(w[first], "jobs") == 0 ||
		    strcmp(w[first], "result") == 0 || strcmp(w[first], "replaced") == 0) &&
		   n > first + 1) {
		play_tools(p, w + first, n - first);
	} else if (strcmp(w[first], "gone") == 0 && n > first + 1) {
		step(p, &(struct text_event){.type = TEXT_GONE,
					     .guild = GUILD,
					     .channel = strtoull(w[first + 1], NULL, 10)});
	} else if (strcmp(w[first], "forget") == 0 && n > first + 1) {
		step(p, &(struct text_event){.type = TEXT_FORGET,
					     .user = user_of(p, w[first + 1]),
					     .refused = true});
	} else if (strcmp(w[first], "draw") == 0 && n > first + 1) {
		p->rnd = (uint32_t)strtoul(w[first + 1], NULL, 10);
	} else if (strcmp(w[first], "posted") == 0 && n > first + 1) {
		step(p, &(struct text_event){.type = TEXT_POSTED,
					     .guild = GUILD,
					     .channel = p->channel,
					     .n = (uint32_t)strtoul(w[first + 1], NULL, 10)});
	} else if (strcmp(w[first], "heard") == 0) {
		step(p, &(struct text_event){
				.type = TEXT_HEARD,
				.guild = GUILD,
				.channel = p->channel,
				.message = n > first + 1 ? strtoull(w[first + 1], NULL, 10) : 0});
	} else if (strcmp(w[first], "forgets") == 0 && n > first + 1) {
		/* In a server, by somebody who may be read. */
		step(p, &(struct text_event){.type = TEXT_FORGET,
					     .guild = GUILD,
					     .user = user_of(p, w[first + 1]),
					     .yes = true});
	} else if (strcmp(w[first], "nickname") == 0 && n > first + 1) {
		text_chat_set_nickname(p->chat, w[first + 1]);
	} else if (strcmp(w[first], "shutdown") == 0) {
		step(p, &(struct text_event){.type = TEXT_SHUTDOWN});
	} else {
		play_person(p, w + first, n - first);
	}
}

/* Every message ends in one reason. */
static void end(struct play *p)
{
	p->mark = p->notes;
	run_to(p, p->now + 3600 * NS_PER_S);
	step(p, &(struct text_event){.type = TEXT_SHUTDOWN});
	if (p->taken != p->ended || text_waiting(p->chat))
		fail(p, "a message has no reason, or two", "");
}

void text_scenario_play(struct text_scenario_result *out, const char *path, FILE *trace)
{
	struct play *p = calloc(1, sizeof *p);
	FILE *f = fopen(path, "r");
	char line[LINE];

	*out = (struct text_scenario_result){.passed = true};
	if (p && f && !settings_alloc(&p->settings) &&
	    !settings_set(p->settings, "text_chat", "all") &&
	    !text_chat_alloc(&p->chat, p->settings, "Parley")) {
		p->out = out;
		p->trace = trace;
		p->channel = 5;
		while (fgets(line, sizeof line, f) && out->passed) {
			p->line++;
			play_line(p, line);
		}
		if (out->passed)
			end(p);
	} else {
		out->passed = false;
		snprintf(out->why, sizeof out->why, "%s cannot be played", path);
	}
	if (f)
		fclose(f);
	if (p) {
		text_chat_free(p->chat);
		settings_free(p->settings);
	}
	free(p);
}
