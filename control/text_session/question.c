/* Questions of commands (inside.h): the text model of the server answers them as it answers
 * messages, but to a handler and not into a channel. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/engine/roles.h"
#include "control/settings/settings.h"
#include "control/text/text_chat.h"
#include "control/text_session/inside.h"
#include "ipc/env.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

enum { AGAIN_MOST = 4 /* times that one question is asked again because somebody was forgotten */ };

static void publish(struct text_guild *g, const struct text_job *job, enum text_reason reason)
{
	text_session_publish(g, &(struct text_trigger){.guild = g->id,
						       .channel = job->channel,
						       .message = job->first,
						       .user = job->user,
						       .at = job->asked_at,
						       .signal = TEXT_SIGNAL_DIRECT,
						       .attention = TEXT_ATTENTION_DIRECT_ADDRESS,
						       .admission = TEXT_ADMISSION_FORCE_RESPOND,
						       .reason = reason,
						       .reply = job->reply});
}

/* *text becomes the words of the answer. */
static enum text_reason read_answer(const struct text_guild *g, char **text)
{
	const char *words = *text;
	size_t n;
	enum text_words read = text_answer_read(g->settings, g->ts->name, true, &words, &n);

	*text += words - *text;
	(*text)[n] = '\0';
	switch (read) {
	case TEXT_WORDS_SKIP:
		return TEXT_REASON_SKIPPED;
	case TEXT_WORDS_NONE:
		return TEXT_REASON_EMPTY_REPLY;
	default:
		return TEXT_REASON_SENT_REPLY;
	}
}

void text_question_end(struct text_job *job, enum text_reason reason)
{
	bool answered;
	struct text_guild *g = job->g;
	text_outcome_h *h = job->answerh;
	void *arg = job->arg;
	char *text = job->answer, *words = text;

	if (reason == TEXT_REASON_SENT_REPLY)
		reason = read_answer(g, &words);
	answered = reason == TEXT_REASON_SENT_REPLY;
	publish(g, job, reason);
	job->answer = NULL;
	job->answerh = NULL;
	text_asking_end(g, job->reply);
	h(&(struct text_outcome){.text = answered ? words : NULL,
				 .reason = text_reason_text(reason),
				 .personal = reason == TEXT_REASON_NO_CONSENT,
				 .forgets = g->forgets},
	  arg);
	free(text);
}

uint64_t text_questions_deadline(const struct text_guild *g)
{
	uint64_t first = UINT64_MAX;

	for (const struct text_job *j = g->jobs; j; j = j->next)
		if (j->answerh && j->until < first)
			first = j->until;
	return first;
}

void text_question_free(struct text_question *q)
{
	free((char *)(uintptr_t)q->name);
	free((char *)(uintptr_t)q->text);
	free((char *)(uintptr_t)q->material);
	*q = (struct text_question){0};
}

/* user: 0, or whose questions end, whatever their time. */
static void end_questions(struct text_guild *g, uint64_t user, uint64_t now,
			  enum text_reason reason)
{
	struct text_job *j = g->jobs;

	while (j) {
		if (j->answerh && (user ? j->user == user : j->until <= now)) {
			text_question_end(j, reason);
			j = g->jobs; /* others may have begun, or ended */
		} else {
			j = j->next;
		}
	}
}

void text_questions_expire(struct text_guild *g, uint64_t now)
{
	end_questions(g, 0, now, TEXT_REASON_TIMEOUT);
}

/* ---- asking ---- */

static unsigned count_questions(const struct text_guild *g)
{
	unsigned n = 0;

	for (const struct text_job *j = g->jobs; j; j = j->next)
		n += j->answerh != NULL;
	return n;
}

static uint64_t parent_of(const struct text_session *ts, const struct text_question *q)
{
	const char *title;

	return q->parent ? q->parent : text_session_parent(ts, q->guild, q->channel, &title);
}

static uint64_t category_of(const struct text_session *ts, const struct text_question *q)
{
	return text_session_category(ts, q->guild, q->parent ? q->parent : q->channel);
}

static enum text_reason refusal_of(const struct text_guild *g, const struct text_question *q)
{
	const struct text_event ev = {.guild = q->guild,
				      .channel = q->channel,
				      .parent = parent_of(g->ts, q),
				      .category = category_of(g->ts, q),
				      .user = q->user,
				      .text = q->text,
				      .refused = text_session_refused(g, q->user)};
	enum text_reason reason = text_refusal(g->settings, &ev);

	if (!reason && count_questions(g) >= TEXT_COMMAND_QUESTIONS)
		reason = TEXT_REASON_QUEUE_FULL;
	return reason;
}

/* What the memory has, as for a message of the channel. */
static bool recall(struct text_job *job, const struct text_question *q)
{
	const struct text_trigger trigger = {.guild = q->guild,
					     .channel = q->channel,
					     .message = q->id,
					     .user = q->user,
					     .text = (char *)(uintptr_t)q->text};
	const struct text_trigger *const triggers[] = {&trigger};
	struct text_effect e = {.type = TEXT_DO_ASK,
				.guild = q->guild,
				.channel = q->channel,
				.reply = job->reply,
				.triggers = triggers,
				.n_triggers = 1};
	const struct text_line *lines = NULL;

	if (!q->blind) {
		e.n_history = text_chat_lines(job->g->core, q->channel,
					      env_now(job->g->ts->conf.env), &lines);
		e.history = lines;
		text_showing_collect(job, &e);
	}
	return text_recall_begin(job, &e);
}

static void begin(struct text_job *job, const struct text_question *q)
{
	struct text_guild *g = job->g;

	if (text_prompt_question(job, q)) {
		text_question_end(job, TEXT_REASON_NO_MEMORY);
		return;
	}
	text_session_arm(g->ts);
	if (q->material || !recall(job, q))
		text_asking_recalled(job);
}

/* The same question, of which nothing is known yet. What it is about (material) is of nobody here.
 */
static void ask_again(struct text_job *job)
{
	struct text_guild *g = job->g;

	if (job->asked.material)
		return;
	if (++job->again > AGAIN_MOST) {
		text_question_end(job, TEXT_REASON_TIMEOUT);
		return;
	}
	if (job->state == TEXT_JOB_ASKED && job->roles)
		roles_cancel(job->roles, ENGINE_USE_TEXT, job->reply);
	if (job->roles)
		roles_over(job->roles, job->reply);
	text_tools_over(job, NULL);
	text_recall_end(job);
	text_showing_free(job->show);
	engine_ask_free(job->ask);
	free(job->memory);
	free(job->answer);
	free(job->lead);
	job->show = NULL;
	job->ask = NULL;
	job->memory = job->answer = job->lead = NULL;
	job->n = 0;
	job->calls = job->at_work = job->wants_yes = 0;
	job->passed = job->follow = false;
	job->passed_at = 0;
	job->state = TEXT_JOB_RECALLS;
	job->roles = NULL;
	job->reply = TEXT_QUESTION | ++g->n_questions;
	begin(job, &job->asked);
}

void text_questions_forget(struct text_guild *g, uint64_t user)
{
	struct text_job *j;

	if (user)
		end_questions(g, user, 0, TEXT_REASON_NO_CONSENT);
	for (j = g->jobs; j;) {
		bool old = j->answerh && j->forgets != g->forgets;

		if (old) {
			j->forgets = g->forgets;
			ask_again(j);
		}
		j = old ? g->jobs : j->next; /* others may have begun, or ended */
	}
}

static bool copy_question(struct text_question *to, const struct text_question *q)
{
	*to = *q;
	to->name = strdup(q->name);
	to->text = strdup(q->text);
	to->material = q->material ? strdup(q->material) : NULL;
	return to->name && to->text && (!q->material || to->material);
}

void text_session_ask(struct text_session *ts, const struct text_question *q, text_outcome_h *h,
		      void *arg)
{
	uint64_t now = env_now(ts->conf.env);
	struct text_guild *g = ts->stopped ? NULL : text_session_open(ts, q->guild);
	struct text_job *job =
		g ? text_job_add(g, TEXT_QUESTION | ++g->n_questions, q->channel) : NULL;
	enum text_reason refusal;
	char name[INCOMING_NAME];

	if (!job) {
		h(&(struct text_outcome){.reason =
						 text_reason_text(ts->stopped ? TEXT_REASON_SHUTDOWN
								  : g ? TEXT_REASON_NO_MEMORY
								      : TEXT_REASON_QUEUE_FULL)},
		  arg);
		return;
	}
	refusal = refusal_of(g, q);
	g->used_at = now;
	job->answerh = h;
	job->arg = arg;
	job->user = q->user;
	job->first = q->id;
	job->asked_at = now;
	job->until = now + g->settings->text_answer_s * NS_PER_S;
	job->forgets = g->forgets;
	if (!copy_question(&job->asked, q))
		refusal = TEXT_REASON_NO_MEMORY;
	if (refusal) {
		text_question_end(job, refusal);
		return;
	}
	incoming_copy_name(name, q->name);
	if (*name)
		text_member_keep(g, q->user, 0, name, NULL);
	begin(job, &job->asked);
}

uint64_t text_question_line(const struct text_guild *g, uint64_t message)
{
	for (unsigned i = 0; i < TEXT_NOTED; i++)
		if (message && g->noted[i].message == message)
			return g->noted[i].question;
	return 0;
}

void text_session_note(struct text_session *ts, const struct text_question *q, const char *answer,
		       uint64_t message)
{
	struct text_guild *g = text_session_open(ts, q->guild);
	char name[INCOMING_NAME];
	struct text_event ev = {.type = TEXT_MESSAGE,
				.guild = q->guild,
				.channel = q->channel,
				.parent = parent_of(ts, q),
				.category = category_of(ts, q),
				.message = q->id,
				.user = q->user,
				.name = name,
				.text = q->text,
				.noted = true};

	if (g)
		ev.kept = text_keeping_may(g, q->user, text_session_age(ts, q->id));
	incoming_copy_name(name, q->name);
	/* They may have chosen not to be read since. */
	if (!g || text_session_refused(g, q->user))
		return;
	text_session_feed(g, &ev);
	g->noted[g->n_noted++ % TEXT_NOTED] = (struct text_noted){message, q->id};
	if (g->forgets != q->forgets)
		return;
	ev.message = message;
	ev.user = ts->self;
	ev.name = ts->name;
	ev.text = answer;
	ev.self = true;
	ev.answers = q->user;
	ev.strangers = true; /* its model had the channel's lines */
	text_session_feed(g, &ev);
}
