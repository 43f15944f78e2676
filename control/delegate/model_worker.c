/* A worker of kind model: a provider of text does the task, and calls the tools that its record
 * allows (kinds.h).
 *
 *   state     input                               next      what happens
 *   IDLE      a task                              ASKING    the model is asked
 *   ASKING    its answer, without calls           IDLE      the result
 *   ASKING    its answer, with calls              CALLING   the tools are called
 *   CALLING   the last output, or the time limit  ASKING    the model is asked again
 *             of the slowest tool
 *   any       cancel, the time limit, the cost,   IDLE      the result
 *             a failure, too many steps
 *
 * The conversation of the task is kept here for the next ask, and forgotten with the task. The last
 * ask that the record's steps allow offers no tools. */
#include "control/delegate/kinds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/delegate/model_calls.h"
#include "control/engine/core/ask.h"
#include "control/prompts/prompts.def"
#include "control/settings/record.h"
#include "ipc/env.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"
#include "proto/media.h"

struct model_worker {
	struct delegate_process_conf conf;
	enum { IDLE, ASKING, CALLING } state;
	bool ended, too_dear;
	uint64_t task, cost; /* cost: millionths of a dollar */
	uint32_t turn;	     /* of the ask under way */
	unsigned steps;
	struct tmr *due;
	struct model_calls *calls;
	struct engine_message message[ENGINE_MESSAGES_MAX]; /* its texts are owned */
	size_t n;
	char *words; /* of the answer under way */
	size_t words_n;
	bool cut;
};

/* ---- the conversation ---- */

static void clear_message(struct engine_message *m)
{
	free((char *)m->text);
	free((char *)m->call);
	free((char *)m->tool);
	*m = (struct engine_message){0};
}

static void clear_task(struct model_worker *w)
{
	while (w->n)
		clear_message(&w->message[--w->n]);
	model_calls_clear(w->calls);
	w->words_n = 0;
	w->cut = w->too_dear = false;
	w->steps = 0;
	w->cost = 0;
}

static char *copy_text(const char *text)
{
	return text ? strdup(text) : NULL;
}

/* ENOSPC, ENOMEM. */
static int add_message(struct model_worker *w, const struct engine_message *m)
{
	struct engine_message *to = &w->message[w->n];

	if (w->n == ENGINE_MESSAGES_MAX)
		return ENOSPC;
	*to = *m;
	to->speaker = "";
	to->text = copy_text(m->text);
	to->call = copy_text(m->call);
	to->tool = copy_text(m->tool);
	if (!to->text || !to->call != !m->call || !to->tool != !m->tool) {
		clear_message(to);
		return ENOMEM;
	}
	w->n++;
	return 0;
}

/* ---- the end of a task ---- */

static void finish(struct model_worker *w, enum acp_outcome outcome, const char *why)
{
	uint64_t task = w->task;
	char *text;

	if (!task)
		return;
	text = why ? strdup(why) : strndup(w->words ? w->words : "", w->words_n);
	w->task = 0;
	tmr_stop(w->due);
	if (w->state == ASKING)
		w->conf.model->stoph(w->turn, w->conf.model->model_arg);
	w->state = IDLE;
	w->conf.resulth(task,
			&(struct acp_result){.outcome = text ? outcome : ACP_FAILED,
					     .text = text ? text : "",
					     .n = text ? strlen(text) : 0,
					     .cut = w->cut,
					     .cost = w->cost},
			w->conf.arg);
	free(text);
	clear_task(w);
	w->conf.changeh(w->conf.arg);
}

static void fail(struct model_worker *w, struct slice text)
{
	char why[ACP_WHY_MAX];

	utf8_copy_bytes(why, sizeof why, (const char *)text.p, text.n);
	utf8_mend(why);
	utf8_plain(why);
	finish(w, ACP_FAILED, why);
}

static const char *model_worker_why(const void *worker)
{
	(void)worker;
	return "it was told to end";
}

/* ---- steps ---- */

static void ask_model(struct model_worker *w)
{
	const struct worker_record *r = w->conf.record;
	struct engine_tool tools[ENGINE_TOOLS_MAX];
	bool last = ++w->steps >= r->steps;
	const struct engine_ask ask = {.turn = w->conf.numberh(w->conf.arg),
				       .instructions = PROMPT_WORKER_MODEL,
				       .purpose = PURPOSE_WORKER,
				       .messages = w->message,
				       .n = w->n,
				       .tools = tools,
				       .n_tools = last ? 0 : model_calls_list(w->calls, tools)};
	int err;

	w->turn = ask.turn;
	w->state = ASKING;
	w->words_n = 0;
	err = w->conf.model->askh(&ask, w->conf.model->model_arg);
	if (err)
		finish(w, ACP_FAILED,
		       err == EDQUOT ? "the budget of the settings is spent" : strerror(err));
}

/* All calls of this round have their outputs. */
static void on_called(void *arg)
{
	struct model_worker *w = arg;
	struct engine_message m[2 * MODEL_CALLS_MAX];
	size_t n = model_calls_messages(w->calls, m);
	int err = 0;

	for (size_t i = 0; !err && i < n; i++)
		err = add_message(w, &m[i]);
	model_calls_clear(w->calls);
	if (err)
		finish(w, err == ENOSPC ? ACP_CUT_SHORT : ACP_FAILED, strerror(err));
	else
		ask_model(w);
}

static void take_words(struct model_worker *w, struct slice words)
{
	size_t more = words.n, room = ACP_TEXT_MAX - w->words_n;
	char *text;

	if (more > room) {
		more = utf8_whole((const char *)words.p, room);
		w->cut = true;
	}
	text = realloc(w->words, w->words_n + more + 1);
	if (!text)
		return;
	memcpy(text + w->words_n, words.p, more);
	w->words = text;
	w->words_n += more;
	text[w->words_n] = '\0';
}

static void take_call(struct model_worker *w, const struct delegate_event *ev)
{
	char doing[ACP_PROGRESS_MAX];

	if (model_calls_add(w->calls, ev->call, ev->tool, ev->text))
		return;
	snprintf(doing, sizeof doing, "calls %s", ev->tool);
	utf8_plain(doing);
	w->conf.progressh(w->task, doing, w->conf.arg);
}

static void take_end(struct model_worker *w, enum engine_end end)
{
	int err = 0;

	w->state = IDLE;
	if (!model_calls_open(w->calls)) {
		finish(w,
		       end == ENGINE_END_LENGTH	    ? ACP_CUT_SHORT
		       : end == ENGINE_END_FILTERED ? ACP_DECLINED
						    : ACP_DONE,
		       NULL);
		return;
	}
	if (w->words_n)
		err = add_message(
			w, &(struct engine_message){.role = ENGINE_ASSISTANT, .text = w->words});
	if (err || w->steps >= w->conf.record->steps) {
		finish(w, ACP_CUT_SHORT, NULL);
		return;
	}
	w->state = CALLING;
	model_calls_start(w->calls);
}

/* The ask is ended by the timer, because the engine is still at work on its event. */
static void take_cost(struct model_worker *w, uint64_t cost)
{
	uint64_t most = w->conf.record->usd;

	w->cost += cost;
	w->too_dear = most && w->cost > most;
	if (w->too_dear)
		tmr_start(w->due, 0);
}

static void model_worker_event(void *worker, const struct delegate_event *ev)
{
	struct model_worker *w = worker;

	if (!w->task || w->state != ASKING || ev->turn != w->turn)
		return;
	switch (ev->type) {
	case DELEGATE_WORDS:
		take_words(w, ev->text);
		break;
	case DELEGATE_CALL:
		take_call(w, ev);
		break;
	case DELEGATE_COST:
		take_cost(w, ev->cost);
		break;
	case DELEGATE_DONE:
		take_end(w, ev->end);
		break;
	case DELEGATE_FAILED:
		w->state = IDLE;
		fail(w, ev->text);
		break;
	}
}

static void model_worker_output(void *worker, uint32_t id, bool ok, struct slice text)
{
	struct model_worker *w = worker;

	model_calls_output(w->calls, id, ok, text);
}

static void on_due(void *arg)
{
	struct model_worker *w = arg;

	finish(w, w->too_dear ? ACP_TOO_DEAR : ACP_LATE, "");
}

/* ---- the kind ---- */

static void model_worker_free(void *worker)
{
	struct model_worker *w = worker;

	w->task = 0;
	if (w->state == ASKING)
		w->conf.model->stoph(w->turn, w->conf.model->model_arg);
	if (w->calls)
		clear_task(w);
	model_calls_free(w->calls);
	tmr_free(w->due);
	free(w->words);
	free(w);
}

static uint32_t take_number(void *arg)
{
	const struct model_worker *w = arg;

	return w->conf.numberh(w->conf.arg);
}

static int model_worker_alloc(void **out, const struct delegate_process_conf *conf)
{
	struct model_worker *w = calloc(1, sizeof *w);
	const struct model_calls_conf cc = {.env = conf->env,
					    .allowed = conf->record->tools,
					    .registry = conf->registry,
					    .off = conf->off,
					    .model = conf->model,
					    .numberh = take_number,
					    .doneh = on_called,
					    .arg = w};
	int err;

	if (!w)
		return ENOMEM;
	w->conf = *conf;
	err = model_calls_alloc(&w->calls, &cc);
	if (!err)
		err = tmr_alloc(&w->due, conf->env, on_due, w);
	if (err) {
		model_worker_free(w);
		return err;
	}
	*out = w;
	return 0;
}

static void model_worker_stop(void *worker)
{
	struct model_worker *w = worker;

	w->ended = true;
	finish(w, ACP_LOST, model_worker_why(w));
}

static enum delegate_process_state model_worker_state(const void *worker)
{
	const struct model_worker *w = worker;

	if (w->ended)
		return DELEGATE_ENDED;
	return w->task ? DELEGATE_BUSY : DELEGATE_IDLE;
}

static bool model_worker_runs(const void *worker)
{
	(void)worker;
	return false;
}

static int model_worker_prompt(void *worker, const struct delegate_task *task)
{
	struct model_worker *w = worker;
	const struct engine_message question = {.role = ENGINE_USER, .text = task->text};
	int err;

	if (w->ended || !w->conf.model)
		return ENOTCONN;
	if (w->task)
		return EBUSY;
	err = add_message(w, &question);
	if (err)
		return err;
	w->task = task->number;
	model_calls_begin(w->calls, task->user, task->tainted);
	tmr_start(w->due, task->timeout_ms * NS_PER_MS);
	ask_model(w);
	return 0;
}

static void model_worker_cancel(void *worker, uint64_t task)
{
	struct model_worker *w = worker;

	if (w->task == task)
		finish(w, ACP_CANCELLED, "");
}

const struct worker_kind worker_model = {.jailed = false,
					 .alloc = model_worker_alloc,
					 .free = model_worker_free,
					 .stop = model_worker_stop,
					 .state = model_worker_state,
					 .runs = model_worker_runs,
					 .why = model_worker_why,
					 .prompt = model_worker_prompt,
					 .cancel = model_worker_cancel,
					 .event = model_worker_event,
					 .output = model_worker_output};
