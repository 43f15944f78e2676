/* Answers and decisions of models (inside.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "control/agent/usage_event.h"
#include "control/engine/roles.h"
#include "control/events/events.h"
#include "control/ledger/ledger.h"
#include "control/prompts/prompts.def"
#include "control/settings/settings.h"
#include "control/store/store.h"
#include "control/text/text_chat.h"
#include "control/text_session/inside.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/base/fnv.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

enum { HISTORY_BYTES = 24 << 10 /* of earlier messages; older ones are left out */ };

static void take_event(const struct roles_event *ev, void *arg);

/* ---- jobs ---- */

struct text_job *text_asking_find(const struct text_guild *g, uint32_t reply)
{
	for (struct text_job *j = g->jobs; j; j = j->next)
		if (j->reply == reply)
			return j;
	return NULL;
}

static unsigned count_jobs(const struct text_guild *g, enum text_job_state state)
{
	unsigned n = 0;

	for (const struct text_job *j = g->jobs; j; j = j->next)
		n += j->state == state;
	return n;
}

bool text_asking_is_busy(const struct text_guild *g)
{
	for (unsigned i = 0; i < TEXT_DECISIONS; i++)
		if (g->decision[i].id)
			return true;
	return count_jobs(g, TEXT_JOB_ASKED) > 0;
}

void text_job_remove(struct text_job *job)
{
	struct text_job **at = &job->g->jobs;

	while (*at != job)
		at = &(*at)->next;
	*at = job->next;
	if (job->keeping)
		store_forget(job->g->ts->conf.store, job);
	text_recall_end(job);
	text_showing_free(job->show);
	text_tools_over(job, NULL);
	if (job->g->roles)
		roles_over(job->g->roles, job->reply);
	if (job->g->retired)
		roles_over(job->g->retired, job->reply);
	engine_ask_free(job->ask);
	text_question_free(&job->asked);
	free(job->words);
	free(job->lead);
	free(job->question);
	free(job->memory);
	free(job->answer);
	free(job->text);
	free(job->head);
	free(job->shown);
	free(job->content);
	free(job);
}

struct text_job *text_job_add(struct text_guild *g, uint32_t reply, uint64_t channel)
{
	struct text_job *job = calloc(1, sizeof *job), **at = &g->jobs;

	if (!job)
		return NULL;
	while (*at)
		at = &(*at)->next;
	*at = job;
	job->g = g;
	job->reply = reply;
	job->channel = channel;
	return job;
}

static bool is_used(const struct text_guild *g, const struct roles *roles)
{
	for (unsigned i = 0; i < TEXT_DECISIONS; i++)
		if (g->decision[i].id && g->decision[i].roles == roles)
			return true;
	for (const struct text_job *j = g->jobs; j; j = j->next)
		if (j->state == TEXT_JOB_ASKED && j->roles == roles)
			return true;
	return false;
}

bool text_asking_may_retire(const struct text_guild *g)
{
	return g->retired && !is_used(g, g->retired);
}

void text_asking_retire(struct text_guild *g)
{
	if (text_asking_may_retire(g) && !g->handling)
		g->retired = roles_free(g->retired);
}

/* The roles are those of the settings when they are opened. Answers under way go on with those that
 * they have. */
static int open_roles(struct text_guild *g)
{
	const struct text_session_conf *c = &g->ts->conf;
	const struct roles_conf rc = {.env = c->env,
				      .ws = c->ws,
				      .http = c->http,
				      .settings = g->settings,
				      .idle = true,
				      .h = take_event,
				      .arg = g};

	text_asking_retire(g);
	if (g->stale && !g->retired) {
		g->retired = g->roles;
		g->roles = NULL;
		text_asking_retire(g);
	}
	if (g->roles)
		return 0;
	g->stale = false;
	return roles_alloc(&g->roles, &rc);
}

/* False: no request may go out. *tokens: the limit of an answer, 0 for none. */
static bool may_spend(struct text_guild *g, uint32_t *tokens)
{
	const struct settings *s = g->settings;
	const struct text_session_conf *c = &g->ts->conf;
	bool spent =
		c->ledger && ledger_state(c->ledger, s, g->id, env_wall_ms(c->env)) == LEDGER_SPENT;
	bool saves = spent && s->cost_at_limit == SETTINGS_COST_DEGRADE;

	if (g->roles)
		roles_save(g->roles, saves);
	*tokens = saves ? s->cost_degraded_tokens : 0;
	return !spent || s->cost_at_limit != SETTINGS_COST_STOP;
}

/* ---- the request ---- */

static void fail(struct text_guild *g, uint64_t channel, uint32_t reply, bool spent)
{
	struct text_job *job = reply & TEXT_QUESTION ? text_asking_find(g, reply) : NULL;

	if (job) {
		text_question_end(job, spent ? TEXT_REASON_BUDGET_SPENT : TEXT_REASON_MODEL_FAILED);
		return;
	}
	text_session_feed(g, &(struct text_event){.type = TEXT_FAILED,
						  .guild = g->id,
						  .channel = channel,
						  .reply = reply,
						  .yes = spent});
}

/* Before the question. */
static void insert_text(struct engine_ask *ask, struct engine_message *messages, const char *text)
{
	if (!text)
		return;
	messages[ask->n] = messages[ask->n - 1];
	messages[ask->n - 1] =
		(struct engine_message){.role = ENGINE_USER, .speaker = "", .text = text};
	ask->n++;
}

/* Asks the provider. It may fail at once, and then the job is gone when this returns. */
static void ask_model(struct text_job *job)
{
	struct engine_message messages[ENGINE_MESSAGES_MAX];
	struct engine_image images[ENGINE_IMAGES_MAX];
	struct engine_ask *made = job->ask, ask = *made;
	struct engine_tool tools[TOOLS_MAX];
	char *memory = job->memory, *seen;
	struct text_guild *g = job->g;
	struct text_show *show = job->show;
	size_t n_images;
	bool spent;
	int err;

	memcpy(messages, made->messages, made->n * sizeof messages[0]);
	insert_text(&ask, messages, memory);
	seen = text_showing_text(job, images, &n_images);
	insert_text(&ask, messages, seen);
	messages[ask.n - 1].images = images;
	messages[ask.n - 1].n_images = n_images;
	ask.messages = messages;
	job->state = TEXT_JOB_ASKED;
	job->roles = NULL;
	job->asked_at = env_now(g->ts->conf.env);
	err = open_roles(g);
	spent = !err && !may_spend(g, &ask.output_tokens);
	if (err || spent) {
		free(seen);
		fail(g, job->channel, job->reply, spent);
		return;
	}
	/* Nobody is in the channel to watch or agree to the call of a command's question, and
	 * nobody asked for a message of the bot's own. */
	if (!job->answerh && job->kind != TEXT_KIND_INITIATIVE)
		text_tools_offer(job, &ask, tools);
	text_telling_keep(job, &ask);
	/* The job may end while it is asked. */
	job->ask = NULL;
	job->memory = NULL;
	job->roles = g->roles;
	job->show = NULL;
	roles_ask(g->roles, ENGINE_USE_TEXT, 0, &ask);
	text_showing_free(show);
	free(made);
	free(memory);
	free(seen);
}

/* The one that waits for the longest time; NULL: none does. */
static struct text_job *find_waiting(const struct text_guild *g)
{
	struct text_job *j = g->jobs;

	while (j && j->state != TEXT_JOB_WAITS)
		j = j->next;
	return j;
}

static void ask_waiting(struct text_guild *g)
{
	struct text_job *j;

	while (count_jobs(g, TEXT_JOB_ASKED) < TEXT_ASKS && (j = find_waiting(g)))
		ask_model(j);
}

void text_asking_shown(struct text_job *job)
{
	job->state = TEXT_JOB_WAITS;
	ask_waiting(job->g);
}

void text_asking_recalled(struct text_job *job)
{
	job->state = TEXT_JOB_LOOKS;
	if (!text_showing_begin(job))
		text_asking_shown(job);
}

bool text_asking_sees(struct text_guild *g)
{
	return !open_roles(g) && roles_sees(g->roles, ENGINE_USE_TEXT);
}

bool text_asking_may_spend(struct text_guild *g)
{
	uint32_t tokens;

	return may_spend(g, &tokens);
}

void text_asking_end(struct text_guild *g, uint32_t reply)
{
	struct text_job *job = text_asking_find(g, reply);

	/* An answer that is being sent leaves its place to the next question. */
	if (!job || job->state == TEXT_JOB_SENDING) {
		ask_waiting(g);
		return;
	}
	if (job->state == TEXT_JOB_ASKED && job->roles)
		roles_cancel(job->roles, ENGINE_USE_TEXT, reply);
	/* Before the job goes: what its calls tell while they end is about it. */
	text_tools_over(job, NULL);
	text_job_remove(job);
	ask_waiting(g);
}

/* The text with its further lines indented; returns its bytes. to NULL: only those. */
static size_t put_lines(char *to, const char *text)
{
	static const char indent[] = "    ";
	size_t n = 0;

	for (; *text; text++) {
		if (to)
			to[n] = *text;
		n++;
		if (*text != '\n' && *text != '\r')
			continue;
		if (to)
			memcpy(to + n, indent, sizeof indent - 1);
		n += sizeof indent - 1;
	}
	if (to)
		to[n] = '\0';
	return n;
}

char *text_asking_label(const char *name, const char *text)
{
	size_t n = strlen(name);
	char *all = malloc(n + 5 + put_lines(NULL, text));

	if (!all)
		return NULL;
	sprintf(all, "[%s]: ", name);
	put_lines(all + n + 4, text);
	return all;
}

/* NULL: hardly any time passed. */
static const char *gap_between(uint64_t from, uint64_t to)
{
	uint64_t hours = to > from ? (to - from) / (3600 * NS_PER_S) : 0;

	return hours >= 24 ? PROMPT_TEXT_DAYS : hours ? PROMPT_TEXT_HOURS : NULL;
}

/* skip: so many gaps are left out yet. */
static size_t put_gap(struct engine_message *to, uint64_t from, uint64_t until, size_t *skip)
{
	const char *gap = gap_between(from, until);

	if (!gap || *skip) {
		*skip -= gap != NULL;
		return 0;
	}
	*to = (struct engine_message){.role = ENGINE_USER, .speaker = "", .text = gap};
	return 1;
}

/* Gaps that are too many to be told: the first ones. */
static size_t gaps_left_out(const struct text_line *lines, size_t first, size_t n, uint64_t now)
{
	size_t gaps = 0;

	for (size_t i = first; i < n; i++)
		gaps += gap_between(lines[i].at, i + 1 < n ? lines[i + 1].at : now) != NULL;
	return gaps > TEXT_GAPS ? gaps - TEXT_GAPS : 0;
}

/* The first of the lines that are told. *bytes: what they need. */
static size_t first_told(const struct text_line *lines, size_t n, size_t *bytes)
{
	size_t first = n;

	*bytes = 1;
	while (first) {
		size_t more = put_lines(NULL, lines[first - 1].text) + 1;

		if (*bytes + more > HISTORY_BYTES)
			break;
		*bytes += more;
		first--;
	}
	return first;
}

char *text_asking_history(const struct text_guild *g, const struct text_line *lines, size_t n_lines,
			  struct engine_message *to, size_t *n_to)
{
	uint64_t now = env_now(g->ts->conf.env);
	size_t bytes, n = 0, at = 0, first = first_told(lines, n_lines, &bytes);
	size_t skip = gaps_left_out(lines, first, n_lines, now);
	char *texts = malloc(bytes);

	*n_to = 0;
	if (!texts)
		return NULL;
	for (size_t i = first; i < n_lines; i++) {
		const struct text_line *l = &lines[i];

		to[n++] = (struct engine_message){.role = l->bot ? ENGINE_ASSISTANT : ENGINE_USER,
						  .speaker = l->bot ? "" : l->name,
						  .text = texts + at};
		/* The bot's own stand in no brackets. */
		at += l->bot ? (size_t)sprintf(texts + at, "%s", l->text) + 1
			     : put_lines(texts + at, l->text) + 1;
		n += put_gap(to + n, l->at, i + 1 < n_lines ? lines[i + 1].at : now, &skip);
	}
	*n_to = n;
	return texts;
}

/* What the messages reply to, as far as it is not among the lines. */
static size_t put_quotes(struct text_job *job, const struct text_effect *e,
			 struct engine_message *to)
{
	const struct text_guild *g = job->g;
	size_t n = 0;

	for (unsigned i = 0; i < TEXT_QUOTES; i++) {
		const struct text_quote *q = &g->quote[i];
		bool bot = q->user == g->ts->self, told = !q->reply, asked = false;

		for (size_t k = 0; k < e->n_history; k++)
			told = told || e->history[k].message == q->message;
		for (size_t k = 0; k < e->n_triggers; k++)
			asked = asked || e->triggers[k]->message == q->reply;
		if (!asked || told)
			continue;
		job->others |= !bot && q->user != job->user;
		job->strangers |= q->strangers;
		to[n++] = (struct engine_message){.role = bot ? ENGINE_ASSISTANT : ENGINE_USER,
						  .speaker = bot ? "" : q->name,
						  .text = q->text};
	}
	return n;
}

/* The messages that are answered, a line each. NULL without memory; the caller frees it. */
static char *join_triggers(const struct text_effect *e)
{
	char *all = NULL;

	for (size_t i = 0; i < e->n_triggers; i++) {
		char *one = text_asking_label(e->triggers[i]->name, e->triggers[i]->text);
		char *more = NULL;

		if (one && asprintf(&more, "%s%s%s", all ? all : "", all ? "\n" : "", one) < 0)
			more = NULL;
		free(one);
		free(all);
		if (!more)
			return NULL;
		all = more;
	}
	return all;
}

/* What is put last: the messages, or the result that the person is to be told. NULL without memory;
 * the caller frees it. */
static char *write_question(const struct text_job *job, const struct text_effect *e,
			    const struct text_line *since, size_t n_since)
{
	const char *name = text_member_name(job->g, e->user);
	char *text;

	if (e->kind == TEXT_KIND_ANSWER)
		return n_since ? text_since_join(job, e, since, n_since) : join_triggers(e);
	if (e->kind == TEXT_KIND_INITIATIVE)
		return strdup(PROMPT_TEXT_INITIATIVE);
	return asprintf(&text, PROMPT_TEXT_RESULT, *name ? name : "somebody", e->text) < 0 ? NULL
											   : text;
}

/* In the place of a message: no other answer has it, in whatever channel. */
static uint64_t name_result(const struct text_guild *g, uint64_t channel)
{
	uint64_t now = env_wall_ms(g->ts->conf.env);

	return fnv_bytes(fnv_bytes(FNV_BEGIN, &channel, sizeof channel), &now, sizeof now) | 1;
}

static const char *name_of(const struct text_guild *g)
{
	return *g->settings->bot_name ? g->settings->bot_name : g->ts->name;
}

char *text_asking_instructions(const struct text_guild *g, bool required, bool reacts,
			       size_t *stable)
{
	char *text = NULL;
	int n = asprintf(&text, "%s" PROMPT_TEXT, g->settings->instructions, name_of(g));
	char *all = NULL;

	if (n < 0)
		return NULL;
	*stable = (size_t)n;
	n = asprintf(&all, "%s%s%s", text, required ? PROMPT_TEXT_REQUIRED : PROMPT_TEXT_OPTIONAL,
		     reacts ? PROMPT_TEXT_REACT : "");
	free(text);
	return n < 0 ? NULL : all;
}

static int write_ask(struct text_job *job, const struct text_effect *e)
{
	struct engine_message messages[TEXT_TOLD + TEXT_QUOTES + 1];
	struct engine_ask ask = {.turn = e->reply,
				 .purpose = PURPOSE_TEXT_REPLY,
				 .model = "",
				 .voice = "",
				 .messages = messages};
	size_t bytes, first = first_told(e->history, e->n_history, &bytes);
	size_t before = e->n_history - e->n_since, since = first > before ? first : before;
	char *question = write_question(job, e, e->history + since, e->n_history - since);
	char *instructions =
		text_asking_instructions(job->g, e->required, e->reacts, &ask.instructions_stable);
	char *texts =
		text_asking_history(job->g, e->history + first, since - first, messages, &ask.n);
	int err = ENOMEM;

	if (question && instructions && texts) {
		ask.n += put_quotes(job, e, messages + ask.n);
		messages[ask.n++] = (struct engine_message){
			.role = ENGINE_USER, .speaker = "", .text = question};
		ask.instructions = instructions;
		err = engine_ask_copy(&job->ask, &ask);
	}
	free(question);
	free(instructions);
	free(texts);
	return err;
}

bool text_asking_repeats(const struct text_job *job)
{
	return job->strangers || job->machines || job->others;
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

void text_asking_begin(struct text_guild *g, const struct text_effect *e)
{
	const struct text_trigger *last = e->n_triggers ? e->triggers[e->n_triggers - 1] : NULL;
	struct text_job *job = text_job_add(g, e->reply, e->channel);

	/* What told of an answer before it is no part of this one. */
	if (!e->again)
		text_working_drop(g, e->channel);

	if (!job) {
		fail(g, e->channel, e->reply, false);
		return;
	}
	if (!e->again)
		text_working_claim(g, e);
	job->first = last ? e->triggers[0]->message : name_result(g, e->channel);
	job->user = last ? last->user : e->user;
	job->kind = e->kind;
	job->strangers = e->strangers;
	note_lines(job, e);
	job->words = last ? join_triggers(e) : NULL;
	job->keep = text_keeping_asked(g, e, job->first, job->user);
	text_showing_collect(job, e);
	if (write_ask(job, e)) {
		fail(g, e->channel, e->reply, false);
		return;
	}
	if (!last || !text_recall_begin(job, e))
		text_asking_recalled(job);
}

/* ---- decisions ---- */

void text_asking_classify(struct text_guild *g, const struct text_effect *e)
{
	struct text_decision *d = g->decision;
	char text[INCOMING_TEXT + sizeof PROMPT_TEXT_DECISION + TEXT_NAME];
	const struct engine_message message = {.role = ENGINE_USER, .speaker = "", .text = text};
	uint32_t tokens;

	while (d < g->decision + TEXT_DECISIONS && d->id)
		d++;
	if (d == g->decision + TEXT_DECISIONS || open_roles(g) || !may_spend(g, &tokens)) {
		text_session_feed(g, &(struct text_event){.type = TEXT_CLASSIFIED,
							  .channel = e->channel,
							  .message = e->message});
		return;
	}
	snprintf(text, sizeof text, PROMPT_TEXT_DECISION, name_of(g), e->text);
	utf8_mend(text);
	*d = (struct text_decision){.id = ++g->next_decision,
				    .roles = g->roles,
				    .channel = e->channel,
				    .message = e->message};
	roles_ask(g->roles, ENGINE_USE_DECISION, 0,
		  &(struct engine_ask){.turn = d->id,
				       .purpose = PURPOSE_REPLY_DECISION,
				       .one_word = true,
				       .instructions = "",
				       .model = "",
				       .voice = "",
				       .messages = &message,
				       .n = 1});
}

static bool says_yes(struct slice words)
{
	while (words.n && (*words.p == ' ' || *words.p == '\n')) {
		words.p++;
		words.n--;
	}
	return words.n >= 3 && strncasecmp((const char *)words.p, "YES", 3) == 0;
}

static void take_decision(struct text_guild *g, const struct roles_event *ev)
{
	const struct engine_event *e = ev->engine;
	struct text_decision *d = g->decision;
	struct text_event out = {.type = TEXT_CLASSIFIED, .guild = g->id};

	while (d < g->decision + TEXT_DECISIONS && d->id != ev->turn)
		d++;
	/* The words, or an end without words, which decides nothing. */
	if (d == g->decision + TEXT_DECISIONS || !ev->turn ||
	    (e->type != ENGINE_WORDS && e->type != ENGINE_DONE && e->type != ENGINE_FAILED))
		return;
	out.channel = d->channel;
	out.message = d->message;
	out.yes = e->type == ENGINE_WORDS && says_yes(e->data);
	*d = (struct text_decision){0};
	text_session_feed(g, &out);
}

/* ---- what comes back ---- */

void text_asking_spend(struct text_guild *g, const struct roles_event *ev)
{
	const struct text_session_conf *c = &g->ts->conf;
	const struct text_job *job = text_asking_find(g, ev->turn);
	struct bus_event out = {
		.type = EVENT_ENGINE_USED, .at_ms = env_wall_ms(c->env), .guild = g->id};

	usage_event_fill(&out.usage, g->settings, ev);
	out.usage.channel = job && ev->use == ENGINE_USE_TEXT ? job->channel : 0;
	if (c->ledger)
		ledger_add(c->ledger, g->id, out.usage.nano, out.at_ms);
	bus_publish(c->bus, &out);
}

static void add_words(struct text_job *job, struct slice words)
{
	size_t room = TEXT_ANSWER_BYTES - job->n;
	char *more;

	if (words.n > room)
		words.n = room;
	more = realloc(job->answer, job->n + words.n + 1);
	/* An answer without its middle says something else. */
	if (!more) {
		fail(job->g, job->channel, job->reply, false);
		return;
	}
	memcpy(more + job->n, words.p, words.n);
	job->answer = more;
	job->n += words.n;
	more[job->n] = '\0';
}

static uint32_t ms_plus(uint64_t from, uint64_t to)
{
	return (uint32_t)((to - from) / NS_PER_MS) + 1;
}

static void keep_times(const struct text_job *job)
{
	uint64_t now = env_now(job->g->ts->conf.env);
	bool once = !job->passed_at;

	job->g->times[job->reply % TEXT_TIMES] =
		(struct text_times){.reply = job->reply,
				    .llm1_ms = ms_plus(job->asked_at, once ? now : job->passed_at),
				    .followup_ms = once ? 0 : ms_plus(job->passed_at, now)};
}

/* The answer, or the question that asks for a yes if there is nothing else: it gets a message of
 * its own, and is not told twice. NULL without memory; the caller frees it. */
static char *write_answer(const struct text_job *job)
{
	const char *said = job->answer && *job->answer ? job->answer : job->lead ? job->lead : "";
	const char *words = said;
	bool asks = job->question && (text_answer_read(job->g->settings, job->g->ts->name, true,
						       &words) != TEXT_WORDS_SAID ||
				      tool_is_question(job->question, said, 0));

	return strdup(asks ? job->question : said);
}

static void take_end(struct text_job *job)
{
	struct text_guild *g = job->g;
	struct text_event ev = {.type = TEXT_ANSWERED,
				.guild = g->id,
				.channel = job->channel,
				.reply = job->reply};
	char *text;

	keep_times(job);
	text_reacting_read(job, ev.emoji);
	if (job->answerh) {
		if (job->answer)
			utf8_mend(job->answer);
		text_question_end(job,
				  job->answer ? TEXT_REASON_SENT_REPLY : TEXT_REASON_EMPTY_REPLY);
		return;
	}
	text = write_answer(job);
	ev.text = text ? text : "";
	if (text)
		utf8_mend(text);
	env_random(g->ts->conf.env, &ev.rnd, sizeof ev.rnd);
	text_session_feed(g, &ev);
	free(text);
}

/* A call that waits for a yes needs no other words than its question. */
void text_asking_passed(struct text_job *job)
{
	bool asks = job->calls == 1 && job->wants_yes == 1;
	bool wordless = !job->answer || !*job->answer;

	uint32_t tokens;

	if (!job->passed_at)
		job->passed_at = env_now(job->g->ts->conf.env);
	if (asks || !(job->follow || wordless))
		take_end(job);
	else if (!may_spend(job->g, &tokens))
		fail(job->g, job->channel, job->reply, true);
	else if (!text_tools_go_on(job))
		take_end(job);
}

static void take_pass(struct text_job *job)
{
	if (!job->calls) {
		take_end(job);
		return;
	}
	job->passed = true;
	if (!job->at_work)
		text_asking_passed(job);
}

static void take_failure(struct text_job *job, const struct engine_event *e)
{
	log_warn("text_not_answered", "guild=%llu why=\"%.*s\"", (unsigned long long)job->g->id,
		 (int)e->data.n, (const char *)e->data.p);
	fail(job->g, job->channel, job->reply, false);
}

static void handle_event(struct text_guild *g, const struct roles_event *ev)
{
	struct text_job *job;

	if (ev->engine->type == ENGINE_USAGE)
		text_asking_spend(g, ev);
	if (ev->use == ENGINE_USE_DECISION) {
		take_decision(g, ev);
		return;
	}
	job = ev->use == ENGINE_USE_TEXT ? text_asking_find(g, ev->turn) : NULL;
	if (!job || job->state != TEXT_JOB_ASKED)
		return;
	if (ev->engine->type == ENGINE_WORDS)
		add_words(job, ev->engine->data);
	else if (ev->engine->type == ENGINE_DONE)
		take_pass(job);
	else if (ev->engine->type == ENGINE_TOOL_CALL || ev->engine->type == ENGINE_TOOL_REVOKED)
		text_tools_event(job, ev);
	else if (ev->engine->type == ENGINE_FAILED)
		take_failure(job, ev->engine);
}

static void take_event(const struct roles_event *ev, void *arg)
{
	struct text_guild *g = arg;
	bool within = g->handling;

	g->handling = true;
	handle_event(g, ev);
	g->handling = within;
	if (g->retired && !within)
		text_session_arm(g->ts);
}
