/* Calls of tools that go on after their answers: who may stop them, and what they returned
 * (inside.h). */
#include <stdlib.h>
#include <string.h>

#include "control/text/inside.h"

static struct text_jobs *find_jobs(struct text_channel *ch, uint64_t user)
{
	for (unsigned i = 0; i < TEXT_JOBS; i++)
		if (ch->jobs[i].n && ch->jobs[i].user == user)
			return &ch->jobs[i];
	return NULL;
}

bool text_jobs_has(const struct text_channel *ch, uint64_t user)
{
	for (unsigned i = 0; i < TEXT_JOBS; i++)
		if (ch->jobs[i].n && ch->jobs[i].user == user)
			return true;
	return false;
}

bool text_jobs_stop(struct text_chat *chat, struct text_channel *ch, uint64_t user)
{
	struct text_jobs *j = find_jobs(ch, user);

	if (!j)
		return false;
	*j = (struct text_jobs){0};
	text_emit(chat, TEXT_DO_STOP_JOBS, ch)->user = user;
	return true;
}

void text_jobs_forget(struct text_channel *ch, uint64_t user)
{
	for (unsigned i = ch->n_results; i > 0; i--)
		if (!user || ch->result[i - 1].user == user) {
			free(ch->result[i - 1].text);
			memmove(&ch->result[i - 1], &ch->result[i],
				(--ch->n_results - (i - 1)) * sizeof ch->result[0]);
		}
}

void text_jobs_end(struct text_chat *chat, struct text_channel *ch)
{
	for (unsigned i = 0; i < TEXT_JOBS; i++)
		if (ch->jobs[i].n)
			text_jobs_stop(chat, ch, ch->jobs[i].user);
	for (unsigned i = 0; i < ch->n_results; i++)
		text_result_record(chat, ch, &ch->result[i], TEXT_REASON_DELETED);
	text_jobs_forget(ch, 0);
}

bool text_request_has(const struct text_request *request, uint64_t message)
{
	for (unsigned i = 0; i < request->n; i++)
		if (request->message[i] == message)
			return true;
	return false;
}

/* The messages whose answer made the call. Of a call that somebody agreed to, that answer was sent
 * long ago. */
static struct text_request asked_by(const struct text_channel *ch, uint32_t reply)
{
	struct text_request request = {.n = 0};

	for (unsigned i = 0; reply && i < ch->n_queue && request.n < TEXT_BURST; i++)
		if (ch->queue[i]->t.reply == reply)
			request.message[request.n++] = ch->queue[i]->t.message;
	for (unsigned i = 0; reply && !request.n && i < TEXT_JOBS; i++)
		if (ch->answered[i].reply == reply)
			request = ch->answered[i].request;
	return request;
}

void text_jobs_answered(struct text_channel *ch, uint32_t reply, const struct text_request *request)
{
	unsigned i = ch->n_answered++ % TEXT_JOBS;

	ch->answered[i].reply = reply;
	ch->answered[i].request = *request;
}

static void count_jobs(struct text_channel *ch, const struct text_event *ev)
{
	struct text_jobs *j = find_jobs(ch, ev->user);
	struct text_request request = asked_by(ch, ev->reply);

	for (unsigned i = 0; !j && i < TEXT_JOBS; i++)
		if (!ch->jobs[i].n)
			j = &ch->jobs[i];
	if (!j)
		return; /* no more calls than places go on */
	if (!j->n)
		*j = (struct text_jobs){.user = ev->user};
	j->n = ev->n;
	if (request.n)
		j->request = request;
}

static void drop_oldest(struct text_chat *chat, struct text_channel *ch)
{
	text_result_record(chat, ch, &ch->result[0], TEXT_REASON_QUEUE_FULL);
	free(ch->result[0].text);
	memmove(ch->result, ch->result + 1, --ch->n_results * sizeof ch->result[0]);
}

static void add_result(struct text_chat *chat, struct text_channel *ch, const struct text_event *ev)
{
	const struct text_jobs *j = find_jobs(ch, ev->user);
	struct text_request request = asked_by(ch, ev->reply);
	struct text_result result = {
		.user = ev->user, .text = strdup(ev->text), .strangers = ev->strangers};

	if (!request.n && j)
		request = j->request;
	result.request = request.message[0];
	if (!result.text) {
		text_result_record(chat, ch, &result, TEXT_REASON_NO_MEMORY);
		return;
	}
	if (ch->n_results == TEXT_RESULTS)
		drop_oldest(chat, ch);
	ch->result[ch->n_results++] = result;
}

/* Who waits for it sees that it does not come. */
void text_result_record(struct text_chat *chat, struct text_channel *ch,
			const struct text_result *result, enum text_reason reason)
{
	struct text_trigger *t = &ch->own[ch->n_own++ % TEXT_OWN];
	struct text_effect *e;

	*t = (struct text_trigger){.guild = ch->guild,
				   .channel = ch->id,
				   .user = result->user,
				   .at = chat->now,
				   .signal = TEXT_SIGNAL_LLM_DECIDES,
				   .attention = TEXT_ATTENTION_COLD_AMBIENT,
				   .admission = TEXT_ADMISSION_RESULT,
				   .reply = result->reply,
				   .reason = reason};
	text_trigger_record(chat, t);
	if (!result->request || !text_reason_signs(reason) ||
	    !text_spending_sign(chat, TEXT_DO_WARN, ch->id, result->user))
		return;
	e = text_emit(chat, TEXT_DO_WARN, ch);
	e->message = result->request;
	e->user = result->user;
	e->record = t;
}

static bool is_told(const struct text_channel *ch, uint64_t message, uint64_t user)
{
	for (unsigned i = 0; i < ch->n_lines; i++)
		if (ch->line[i].message == message)
			return ch->line[i].bot || ch->line[i].user == user;
	return false;
}

/* A stop sign of theirs on their message or on one of the bot stops them, and so does deleting the
 * message that asked. */
void text_jobs_on_event(struct text_chat *chat, struct text_channel *ch,
			const struct text_event *ev)
{
	if (ev->type == TEXT_JOBS_TOLD)
		count_jobs(ch, ev);
	else if (ev->type == TEXT_RESULT)
		add_result(chat, ch, ev);
	else if (ev->type == TEXT_CANCEL && is_told(ch, ev->message, ev->user) &&
		 text_jobs_stop(chat, ch, ev->user))
		text_cancel_acknowledge(chat, ch, ev);
	for (unsigned i = 0; ev->type == TEXT_DELETED && i < TEXT_JOBS; i++)
		if (ch->jobs[i].n && text_request_has(&ch->jobs[i].request, ev->message))
			text_jobs_stop(chat, ch, ch->jobs[i].user);
}
