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
	/* Nobody asked for a message of the bot's own, and what a question brings along is all that
	 * it is about. */
	if (!job->asked.material && job->kind != TEXT_KIND_INITIATIVE)
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

/* In the place of a message: no other answer has it, in whatever channel. */
static uint64_t name_result(const struct text_guild *g, uint64_t channel)
{
	uint64_t now = env_wall_ms(g->ts->conf.env);

	return fnv_bytes(fnv_bytes(FNV_BEGIN, &channel, sizeof channel), &now, sizeof now) | 1;
}

bool text_asking_repeats(const struct text_job *job)
{
	return job->strangers || job->machines || job->others;
}

/* What Discord would refuse is not asked for: the permission may have gone since the message came,
 * and a post of the bot's own accord comes without one. */
static bool may_send(const struct text_guild *g, uint64_t channel)
{
	const struct text_session_conf *c = &g->ts->conf;

	return !g->id || !c->writeh || c->writeh(g->id, channel, c->arg);
}

void text_asking_begin(struct text_guild *g, const struct text_effect *e)
{
	const struct text_trigger *last = e->n_triggers ? e->triggers[e->n_triggers - 1] : NULL;
	struct text_job *job = NULL;

	if (!may_send(g, e->channel)) {
		text_session_feed(g, &(struct text_event){.type = TEXT_FAILED,
							  .guild = g->id,
							  .channel = e->channel,
							  .reply = e->reply,
							  .why = TEXT_REASON_NO_PERMISSION});
		return;
	}
	job = text_job_add(g, e->reply, e->channel);

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
	job->keep = text_keeping_asked(g, e, job->first, job->user);
	text_showing_collect(job, e);
	if (text_prompt_answer(job, e)) {
		fail(g, e->channel, e->reply, false);
		return;
	}
	if (!last || !text_recall_begin(job, e))
		text_asking_recalled(job);
}

/* ---- decisions ---- */

/* The embedded engine's brain answers what it takes for a question, and never with a yes alone. */
static bool may_decide(const struct settings *s)
{
	const struct provider_record *p = settings_purpose(s, PURPOSE_REPLY_DECISION, 0);

	return p && p->dialect != DIALECT_EMBEDDED;
}

void text_asking_classify(struct text_guild *g, const struct text_effect *e)
{
	struct text_decision *d = g->decision;
	struct engine_message message = {.role = ENGINE_USER, .speaker = ""};
	uint32_t tokens;
	char *text = NULL;

	while (d < g->decision + TEXT_DECISIONS && d->id)
		d++;
	if (d < g->decision + TEXT_DECISIONS && may_decide(g->settings))
		text = text_prompt_decision(g, e->text);
	if (!text || open_roles(g) || !may_spend(g, &tokens)) {
		free(text);
		text_session_feed(g, &(struct text_event){.type = TEXT_CLASSIFIED,
							  .channel = e->channel,
							  .message = e->message,
							  .n = e->n});
		return;
	}
	message.text = text;
	*d = (struct text_decision){.id = ++g->next_decision,
				    .roles = g->roles,
				    .channel = e->channel,
				    .message = e->message,
				    .n = e->n};
	roles_ask(g->roles, ENGINE_USE_DECISION, 0,
		  &(struct engine_ask){.turn = d->id,
				       .purpose = PURPOSE_REPLY_DECISION,
				       .one_word = true,
				       .instructions = "",
				       .model = "",
				       .voice = "",
				       .messages = &message,
				       .n = 1});
	free(text);
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
	out.n = d->n;
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
	if (job && ev->use == ENGINE_USE_TEXT) {
		out.usage.channel = job->channel;
		out.usage.turn = g->numbers + job->reply;
	}
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
	size_t n;
	bool asks = job->question && (text_answer_read(job->g->settings, job->g->ts->name, true,
						       &words, &n) != TEXT_WORDS_SAID ||
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
		/* What it said before its calls, if it said nothing after them. */
		if (!job->answer) {
			job->answer = job->lead;
			job->lead = NULL;
		}
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
