/* How messages and their authors stand in what a model is told (inside.h).
 *
 * Each text of a person goes through prompt_add or text_prompt_label: its further lines are
 * indented, so that none of them looks like a message of somebody else, and no two authors of a
 * prompt have one name. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "control/engine/core/ask.h"
#include "control/prompts/prompts.def"
#include "control/room/language/language.h"
#include "control/settings/settings.h"
#include "control/text/text_chat.h"
#include "control/text_session/inside.h"
#include "control/tools/untrusted.h"
#include "ipc/env.h"
#include "proto/base/time.h"

enum {
	HISTORY_BYTES = 24 << 10, /* of earlier messages; older ones are left out */
	MESSAGES = TEXT_TOLD + TEXT_QUOTES + 2,
	NAMES = 128, /* authors of a prompt */
	NAME_BYTES = TEXT_CALLED + 8,
};

/* The prompt that is written. Its texts are owned. */
struct prompt {
	const struct text_guild *g;
	struct engine_message message[MESSAGES];
	size_t n;
	struct {
		uint64_t user;
		char known[TEXT_CALLED], name[NAME_BYTES]; /* name: in this prompt */
	} author[NAMES];
	unsigned n_authors;
	bool failed; /* for want of memory */
};

/* ---- texts ---- */

/* The bytes of a line's end; 0: there is none at p. */
static size_t break_size(const char *p)
{
	if (*p == '\r')
		return p[1] == '\n' ? 2 : 1;
	if (*p == '\n' || *p == '\v' || *p == '\f')
		return 1;
	if (strncmp(p, "\xc2\x85", 2) == 0)
		return 2;
	return strncmp(p, "\xe2\x80\xa8", 3) == 0 || strncmp(p, "\xe2\x80\xa9", 3) == 0 ? 3 : 0;
}

/* The text with its further lines indented; returns its bytes. to NULL: only those. */
static size_t put_lines(char *to, const char *text)
{
	static const char indent[] = "\n    ";
	size_t n = 0;

	while (*text) {
		size_t ends = break_size(text), m = ends ? sizeof indent - 1 : 1;

		if (to)
			memcpy(to + n, ends ? indent : text, m);
		n += m;
		text += ends ? ends : 1;
	}
	if (to)
		to[n] = '\0';
	return n;
}

char *text_prompt_lines(const char *text)
{
	char *all = malloc(put_lines(NULL, text) + 1);

	if (all)
		put_lines(all, text);
	return all;
}

char *text_prompt_label(const char *name, const char *text)
{
	size_t n = strlen(name);
	char *all = malloc(n + 5 + put_lines(NULL, text));

	if (!all)
		return NULL;
	sprintf(all, "[%s]: ", name);
	put_lines(all + n + 4, text);
	return all;
}

/* ---- names ---- */

static const char *name_of(const struct text_guild *g)
{
	return *g->settings->bot_name ? g->settings->bot_name : g->ts->name;
}

static bool is_taken(const struct prompt *p, const char *name)
{
	for (unsigned i = 0; i < p->n_authors; i++)
		if (room_script_same(p->author[i].name, name))
			return true;
	return false;
}

/* One name for each author; webhooks have several authors. Borrowed until the prompt is cleared. */
static const char *call(struct prompt *p, uint64_t user, const char *stored)
{
	char known[TEXT_CALLED], name[NAME_BYTES];
	unsigned i = 0;
	bool second;
	size_t n;

	text_member_called(p->g, user, *stored ? stored : "somebody", known);
	while (i < p->n_authors &&
	       (p->author[i].user != user || strcmp(p->author[i].known, known) != 0))
		i++;
	if (i < p->n_authors)
		return p->author[i].name;
	if (i == NAMES)
		return "somebody else";
	snprintf(name, sizeof name, "%s", known);
	/* It may be the second one already. */
	n = strlen(known);
	second = n > 4 && strcmp(known + n - 4, " (2)") == 0;
	for (unsigned k = 2 + second; is_taken(p, name); k++)
		snprintf(name, sizeof name, "%.*s (%u)", (int)(second ? n - 4 : n), known, k);
	p->author[i].user = user;
	memcpy(p->author[i].known, known, sizeof known);
	memcpy(p->author[i].name, name, sizeof name);
	p->n_authors++;
	return p->author[i].name;
}

/* ---- the prompt ---- */

/* text is stolen; NULL: there was no memory for it. */
static void add_owned(struct prompt *p, enum engine_speaker role, const char *speaker, char *text)
{
	if (!text || p->n == MESSAGES) {
		p->failed = true;
		free(text);
		return;
	}
	p->message[p->n++] =
		(struct engine_message){.role = role, .speaker = speaker, .text = text};
}

/* What somebody wrote; the bot's own stand in no brackets. */
static void add_message(struct prompt *p, uint64_t user, const char *stored, const char *text)
{
	if (user == p->g->ts->self)
		add_owned(p, ENGINE_ASSISTANT, "", strdup(text));
	else
		add_owned(p, ENGINE_USER, call(p, user, stored), text_prompt_lines(text));
}

/* Text of ours, or in a fence. */
static void add_ours(struct prompt *p, const char *text)
{
	add_owned(p, ENGINE_USER, "", strdup(text));
}

static void clear(struct prompt *p)
{
	while (p->n)
		free((char *)(uintptr_t)p->message[--p->n].text);
}

/* ---- earlier messages ---- */

/* NULL: hardly any time passed. */
static const char *gap_between(uint64_t from, uint64_t to)
{
	uint64_t hours = to > from ? (to - from) / (3600 * NS_PER_S) : 0;

	return hours >= 24 ? PROMPT_TEXT_DAYS : hours ? PROMPT_TEXT_HOURS : NULL;
}

/* skip: so many gaps are left out yet. */
static void add_gap(struct prompt *p, uint64_t from, uint64_t until, size_t *skip)
{
	const char *gap = gap_between(from, until);

	if (gap && !*skip)
		add_ours(p, gap);
	else if (gap)
		--*skip;
}

/* Gaps that are too many to be told: the first ones. */
static size_t gaps_left_out(const struct text_line *lines, size_t first, size_t n, uint64_t now)
{
	size_t gaps = 0;

	for (size_t i = first; i < n; i++)
		gaps += gap_between(lines[i].at, i + 1 < n ? lines[i + 1].at : now) != NULL;
	return gaps > TEXT_GAPS ? gaps - TEXT_GAPS : 0;
}

/* The first of the lines that are told. */
static size_t first_told(const struct text_line *lines, size_t n)
{
	size_t first = n, bytes = 1;

	while (first) {
		bytes += put_lines(NULL, lines[first - 1].text) + 1;
		if (bytes > HISTORY_BYTES)
			break;
		first--;
	}
	return first;
}

/* The newest lines that fit, oldest first, and what time passed between them and until now. */
static void add_history(struct prompt *p, const struct text_line *lines, size_t n)
{
	uint64_t now = env_now(p->g->ts->conf.env);
	size_t first = first_told(lines, n), skip = gaps_left_out(lines, first, n, now);

	for (size_t i = first; i < n; i++) {
		const struct text_line *l = &lines[i];

		add_message(p, l->bot ? p->g->ts->self : l->user, l->name, l->text);
		add_gap(p, l->at, i + 1 < n ? lines[i + 1].at : now, &skip);
	}
}

/* ---- what messages reply to ---- */

static bool is_wanted(const struct text_quote *q, const struct text_effect *e)
{
	bool told = !q->reply, asked = false;

	for (size_t k = 0; k < e->n_history; k++)
		told = told || e->history[k].message == q->message;
	for (size_t k = 0; k < e->n_triggers; k++)
		asked = asked || e->triggers[k]->message == q->reply;
	return asked && !told;
}

/* As far as it is not among the lines. One of the bot's may repeat words of anybody: for whom it
 * was written, and what its model was told, is not known any more. */
static void add_quotes(struct prompt *p, struct text_job *job, const struct text_effect *e)
{
	const struct text_guild *g = job->g;

	for (unsigned i = 0; i < TEXT_QUOTES; i++) {
		const struct text_quote *q = &g->quote[i];

		if (!is_wanted(q, e) || text_user_is_blocked(g->settings, g->id, q->user))
			continue;
		job->others |= q->user != job->user;
		job->strangers |= q->strangers;
		add_message(p, q->user, q->name, q->text);
	}
}

/* ---- the question ---- */

/* Puts a line behind what is there. Without memory *all is NULL, and stays so. */
static void join_line(char **all, const char *mark, const char *name, const char *text)
{
	char *one = *all ? text_prompt_label(name, text) : NULL, *more = NULL;

	if (one && asprintf(&more, "%s%s%s%s", *all, **all ? "\n" : "", mark, one) < 0)
		more = NULL;
	free(one);
	free(*all);
	*all = more;
}

/* The oldest line behind this message; NULL: none is. */
static const struct text_line *line_behind(const struct text_line *lines, size_t n,
					   uint64_t message)
{
	const struct text_line *next = NULL;

	for (size_t i = 0; i < n; i++)
		if (lines[i].message > message && (!next || lines[i].message < next->message))
			next = &lines[i];
	return next;
}

/* The messages of an answer, and in their places, with a mark, what else was written since the
 * first of them: its author may have been answered there already. NULL without memory; the caller
 * frees it. */
static char *join_messages(struct prompt *p, const struct text_effect *e,
			   const struct text_line *since, size_t n_since)
{
	const struct text_line *line = line_behind(since, n_since, 0);
	char *all = strdup(""), *noted = NULL;

	for (size_t i = 0; i < e->n_triggers || line;) {
		const struct text_trigger *t = i < e->n_triggers ? e->triggers[i] : NULL;

		if (t && (!line || t->message < line->message)) {
			join_line(&all, "", call(p, t->user, t->name), t->text);
			i++;
			continue;
		}
		join_line(&all, PROMPT_TEXT_MEANWHILE,
			  line->bot ? name_of(p->g) : call(p, line->user, line->name), line->text);
		line = line_behind(since, n_since, line->message);
	}
	if (!all || !n_since)
		return all;
	if (asprintf(&noted, "%s\n" PROMPT_TEXT_ANSWER, all,
		     call(p, e->triggers[0]->user, e->triggers[0]->name)) < 0)
		noted = NULL;
	free(all);
	return noted;
}

static char *write_result(struct prompt *p, const struct text_effect *e)
{
	const char *known = text_member_name(p->g, e->user);
	const char *name = *known ? call(p, e->user, known) : "somebody";
	char *lines = text_prompt_lines(e->text), *text = NULL;

	if (lines && asprintf(&text, PROMPT_TEXT_RESULT, name, lines) < 0)
		text = NULL;
	free(lines);
	return text;
}

/* What is put last: the messages, or the result that the person is to be told. NULL without
 * memory; the caller frees it. */
static char *write_question(struct prompt *p, const struct text_effect *e,
			    const struct text_line *since, size_t n_since)
{
	if (e->kind == TEXT_KIND_ANSWER)
		return join_messages(p, e, since, n_since);
	return e->kind == TEXT_KIND_INITIATIVE ? strdup(PROMPT_TEXT_INITIATIVE)
					       : write_result(p, e);
}

/* The same bytes for all answers of the channel, as long as the settings are the same. NULL without
 * memory; the caller frees it. */
static char *write_standing(const struct text_guild *g, uint64_t channel)
{
	const struct text_session_conf *c = &g->ts->conf;
	const char *own = *g->settings->text_instructions ? g->settings->text_instructions
							  : settings_own_instructions(g->settings);
	bool by_voice =
		g->settings->text_spoken && c->spokenh && c->spokenh(g->id, channel, c->arg);
	char *text;

	return asprintf(&text, "%s" PROMPT_TEXT, *own ? own : PROMPT_TEXT_SELF, name_of(g),
			g->id ? PROMPT_TEXT_CHANNEL : PROMPT_TEXT_DIRECT,
			by_voice ? PROMPT_TEXT_BY_VOICE : PROMPT_TEXT_READ) < 0
		       ? NULL
		       : text;
}

/* NULL without memory; the caller frees it. */
static char *write_screens(const struct text_job *job)
{
	const struct text_session_conf *c = &job->g->ts->conf;
	char told[512] = "", *text;

	if (c->screenh && job->g->id)
		c->screenh(job->g->id, job->channel, job->user, told, sizeof told, c->arg);
	if (!*told)
		return strdup("");
	untrusted_clean_line(told);
	return asprintf(&text, PROMPT_TEXT_SCREENS, told) < 0 ? NULL : text;
}

/* end: the instruction for this answer. */
static char *write_instructions(const struct text_job *job, const char *end, size_t *stable)
{
	const struct calendar_zone zone = server_zone(&job->g->zone);
	uint64_t now_ms = env_wall_ms(job->g->ts->conf.env);
	char *standing = write_standing(job->g, job->channel), *all = NULL;
	char *screens = write_screens(job), today[CALENDAR_DATE];

	if (!standing || !screens) {
		free(standing);
		free(screens);
		return NULL;
	}
	*stable = strlen(standing);
	calendar_date(today, now_ms, calendar_offset(&zone, now_ms));
	if (asprintf(&all, "%s" PROMPT_TEXT_TODAY "%s%s", standing, today, screens, end) < 0)
		all = NULL;
	free(standing);
	free(screens);
	return all;
}

/* Copies it for the job. ENOMEM. */
static int finish(struct prompt *p, struct text_job *job, const char *end)
{
	struct engine_ask ask = {.turn = job->reply,
				 .purpose = PURPOSE_TEXT_REPLY,
				 .model = "",
				 .voice = "",
				 .messages = p->message,
				 .n = p->n};
	char *instructions = write_instructions(job, end, &ask.instructions_stable);
	int err = p->failed || !instructions ? ENOMEM : 0;

	ask.instructions = instructions;
	if (!err)
		err = engine_ask_copy(&job->ask, &ask);
	free(instructions);
	clear(p);
	return err;
}

char *text_prompt_decision(const struct text_guild *g, const char *message)
{
	char *lines = text_prompt_lines(message), *text = NULL;

	if (lines && asprintf(&text, PROMPT_TEXT_DECISION, name_of(g), lines) < 0)
		text = NULL;
	free(lines);
	return text;
}

/* Whose words the model is told, which may ask it for calls in the name of another person. */
static void note_lines(struct text_job *job, const struct text_effect *e)
{
	for (size_t i = 0; i < e->n_history; i++) {
		const struct text_line *l = &e->history[i];
		uint64_t of = l->bot ? l->answers : l->user;

		job->machines |= l->machine;
		job->strangers |= l->strangers;
		job->others |= l->others || (of && of != job->user);
	}
	for (size_t i = 0; i < e->n_triggers; i++)
		job->strangers |= e->triggers[i]->strangers;
}

static const char *end_of(const struct text_effect *e)
{
	if (e->required)
		return e->reacts ? PROMPT_TEXT_REQUIRED PROMPT_TEXT_REACT : PROMPT_TEXT_REQUIRED;
	return e->reacts ? PROMPT_TEXT_OPTIONAL PROMPT_TEXT_REACT : PROMPT_TEXT_OPTIONAL;
}

/* The words of whom it answers, without those of strangers behind them. NULL without memory; the
 * caller frees it. */
static char *join_own(const struct text_effect *e)
{
	char *all = strdup("");

	for (size_t i = 0; all && i < e->n_triggers; i++) {
		const struct text_trigger *t = e->triggers[i];
		char *more = NULL;

		if (asprintf(&more, "%s%s%.*s", all, *all ? "\n" : "", (int)t->own, t->text) < 0)
			more = NULL;
		free(all);
		all = more;
	}
	return all;
}

int text_prompt_answer(struct text_job *job, const struct text_effect *e)
{
	size_t first = first_told(e->history, e->n_history), before = e->n_history - e->n_since;
	size_t since = first > before ? first : before;
	struct prompt *p = calloc(1, sizeof *p);
	int err;

	if (!p)
		return ENOMEM;
	p->g = job->g;
	note_lines(job, e);
	add_history(p, e->history + first, since - first);
	add_quotes(p, job, e);
	if (e->kind == TEXT_KIND_ANSWER)
		job->words = join_own(e);
	add_owned(p, ENGINE_USER, "",
		  write_question(p, e, e->history + since, e->n_history - since));
	err = finish(p, job, end_of(e));
	free(p);
	return err;
}

int text_prompt_question(struct text_job *job, const struct text_question *q)
{
	struct prompt *p = calloc(1, sizeof *p);
	const struct text_line *lines = NULL;
	size_t n = q->material || q->blind ? 0
					   : text_chat_lines(job->g->core, q->channel,
							     env_now(job->g->ts->conf.env), &lines);
	int err;

	if (!p)
		return ENOMEM;
	p->g = job->g;
	add_history(p, lines, n);
	if (q->material)
		add_ours(p, q->material);
	add_owned(p, ENGINE_USER, "", text_prompt_label(call(p, q->user, q->name), q->text));
	err = finish(p, job, PROMPT_TEXT_REQUIRED);
	free(p);
	return err;
}
