/* One answer of a channel: asked, asked again, sent (inside.h). */
#include <stdlib.h>
#include <string.h>

#include "control/settings/ids.h"
#include "control/settings/settings.h"
#include "control/text/inside.h"
#include "proto/base/time.h"

static bool is_trigger(const struct text_reply *r, unsigned n, uint64_t message)
{
	for (unsigned i = 0; i < n; i++)
		if (r->asked[i]->message == message)
			return true;
	return false;
}

/* True if the message waits for an answer of its own: told with this one, it would get two. */
static bool waits_itself(const struct text_channel *ch, uint64_t message)
{
	const struct text_live *l = text_trigger_find(ch, message);

	return l && l->state == TEXT_QUEUED && text_trigger_addresses(&l->t);
}

/* The lines without the triggers: those before the first trigger, then the newer ones, of which it
 * returns the number. */
static unsigned tell_lines(struct text_channel *ch)
{
	struct text_reply *r = &ch->reply;
	uint64_t first = r->n_asked ? r->asked[0]->message : UINT64_MAX;
	unsigned before;

	r->n_told = 0;
	for (unsigned i = 0; i < ch->n_lines; i++)
		if (ch->line[i].message < first)
			r->told[r->n_told++] = ch->line[i];
	before = r->n_told;
	for (unsigned i = 0; i < ch->n_lines; i++)
		if (ch->line[i].message >= first &&
		    !is_trigger(r, r->n_asked, ch->line[i].message) &&
		    !waits_itself(ch, ch->line[i].message))
			r->told[r->n_told++] = ch->line[i];
	return r->n_told - before;
}

static void ask(struct text_chat *chat, struct text_channel *ch)
{
	struct text_reply *r = &ch->reply;
	struct text_effect *e = text_emit(chat, TEXT_DO_ASK, ch);

	ch->asked_in = chat->steps;
	r->state = TEXT_REPLY_ASKED;
	r->id = ++chat->next_reply;
	r->required = false;
	for (unsigned i = 0; i < ch->n_queue; i++) {
		struct text_live *l = ch->queue[i];

		if (l->state != TEXT_ASKED)
			continue;
		l->t.reply = r->id;
		r->required |= text_signal_forces(l->t.signal);
		r->asked[e->n_triggers++] = &l->t;
	}
	if (r->kind == TEXT_KIND_RESULT)
		r->required = true;
	e->reply = r->id;
	e->kind = r->kind;
	e->again = r->asks++ > 0;
	e->user = r->result.user;
	e->text = r->result.text;
	e->strangers = r->result.strangers;
	e->required = r->required;
	r->reacts = r->kind == TEXT_KIND_ANSWER && text_reaction_allowed(chat, ch);
	e->reacts = r->reacts;
	e->triggers = r->asked;
	r->n_asked = (unsigned)e->n_triggers;
	text_lines_expire(chat, ch);
	e->n_since = tell_lines(ch);
	e->n_history = r->n_told;
	e->history = r->told;
	if (r->kind == TEXT_KIND_INITIATIVE &&
	    e->n_history > chat->settings->text_initiative_messages) {
		e->history += e->n_history - chat->settings->text_initiative_messages;
		e->n_history = chat->settings->text_initiative_messages;
	}
	text_spending_ask(chat, ch, r->n_asked ? r->asked[0]->user : r->result.user);
	r->shown = r->required;
	r->tools = 0;
	r->working_at = UINT64_MAX;
}

void text_reply_begin(struct text_chat *chat, struct text_channel *ch)
{
	ch->reply = (struct text_reply){.since = chat->now};
	ask(chat, ch);
	ch->served[ch->n_served++ % TEXT_SERVED] = ch->reply.asked[0]->user;
}

void text_reply_tell(struct text_chat *chat, struct text_channel *ch,
		     const struct text_result *result)
{
	ch->reply = (struct text_reply){
		.kind = TEXT_KIND_RESULT, .result = *result, .since = chat->now};
	ask(chat, ch);
}

void text_reply_initiate(struct text_chat *chat, struct text_channel *ch)
{
	ch->reply = (struct text_reply){.kind = TEXT_KIND_INITIATIVE, .since = chat->now};
	ask(chat, ch);
}

bool text_reply_tells(const struct text_channel *ch, uint64_t user)
{
	const struct text_reply *r = &ch->reply;

	return r->kind == TEXT_KIND_RESULT && r->result.user == user &&
	       (r->state == TEXT_REPLY_ASKED || r->state == TEXT_REPLY_RETRY);
}

static void end(struct text_channel *ch)
{
	ch->reply.state = TEXT_REPLY_NONE;
	free(ch->reply.result.text);
	ch->reply.result.text = NULL;
}

void text_reply_abandon(struct text_chat *chat, struct text_channel *ch)
{
	if (ch->reply.state == TEXT_REPLY_ASKED || ch->reply.state == TEXT_REPLY_REACTING)
		text_emit(chat, TEXT_DO_ABANDON, ch)->reply = ch->reply.id;
	end(ch);
}

static void ask_later(struct text_chat *chat, struct text_channel *ch, unsigned times)
{
	ch->reply.state = TEXT_REPLY_RETRY;
	ch->reply.tools = 0;
	ch->reply.working_at = UINT64_MAX;
	ch->reply.retry_at = chat->now + times * TEXT_RETRY_MS * NS_PER_MS;
}

static bool is_told_of(const struct text_reply *r, uint64_t user)
{
	for (unsigned i = 0; i < r->n_told; i++)
		if (r->told[i].user == user || r->told[i].answers == user)
			return true;
	return (r->n_asked && r->asked[0]->user == user) || r->result.user == user;
}

/* Ends every message of the answer. */
static void end_reply(struct text_chat *chat, struct text_channel *ch, enum text_reason reason)
{
	enum text_state state = ch->reply.state == TEXT_REPLY_SENDING ? TEXT_SENDING : TEXT_ASKED;

	end(ch);
	if (ch->reply.kind == TEXT_KIND_INITIATIVE)
		text_initiative_record(chat, ch, reason);
	ch->reply.result.reply = ch->reply.id;
	if (ch->reply.kind == TEXT_KIND_RESULT)
		text_result_record(chat, ch, &ch->reply.result, reason);
	for (unsigned i = ch->n_queue; i > 0; i--)
		if (ch->queue[i - 1]->state == state)
			text_trigger_end(chat, ch, ch->queue[i - 1], reason);
}

/* After the second time it waits, longer each time, until its time is over. A new question would
 * make the same calls anew. */
void text_reply_forget(struct text_chat *chat, struct text_channel *ch, uint64_t user, bool quoted)
{
	struct text_reply *r = &ch->reply;

	if (!quoted && !is_told_of(r, user))
		return;
	r->untold |= r->state == TEXT_REPLY_SENDING;
	if (r->state != TEXT_REPLY_ASKED)
		return;
	text_emit(chat, TEXT_DO_ABANDON, ch)->reply = r->id;
	if (r->acted)
		end_reply(chat, ch, TEXT_REASON_ACTED);
	else if (r->again++ < TEXT_ASKED_AGAIN)
		ask(chat, ch);
	else
		ask_later(chat, ch, r->again - TEXT_ASKED_AGAIN);
}

void text_reply_overtake(struct text_chat *chat, struct text_channel *ch)
{
	struct text_reply *r = &ch->reply;

	if (r->kind != TEXT_KIND_ANSWER || r->acted ||
	    (r->state != TEXT_REPLY_ASKED && r->state != TEXT_REPLY_RETRY))
		return;
	for (unsigned i = 0; i < ch->n_queue; i++)
		if (ch->queue[i]->state == TEXT_ASKED && !text_trigger_is_ambient(&ch->queue[i]->t))
			return;
	if (r->state == TEXT_REPLY_ASKED)
		text_emit(chat, TEXT_DO_ABANDON, ch)->reply = r->id;
	end_reply(chat, ch, TEXT_REASON_OVERTAKEN);
}

void text_reply_ask_again(struct text_chat *chat, struct text_channel *ch)
{
	struct text_reply *r = &ch->reply;

	if (r->state != TEXT_REPLY_ASKED || r->acted || r->again >= TEXT_ASKED_AGAIN)
		return;
	r->again++;
	text_emit(chat, TEXT_DO_ABANDON, ch)->reply = r->id;
	ask(chat, ch);
}

static size_t characters(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += (*text & 0xc0) != 0x80;
	return n;
}

/* The last message that addresses the bot, or asked for what is told; 0: none. */
static uint64_t last_addressed(const struct text_channel *ch)
{
	uint64_t target = ch->reply.result.request;

	for (unsigned i = 0; i < ch->n_queue; i++)
		if (ch->queue[i]->state == TEXT_ASKED &&
		    text_signal_confidence(ch->queue[i]->t.signal) >= TEXT_ADDRESSED)
			target = ch->queue[i]->t.message;
	return target;
}

/* A thread is one of the channels where the bot is one of the people if its own channel is. */
static bool is_initiative(const struct settings *s, const struct text_channel *ch)
{
	return settings_ids_name(s->text_initiative_channels, ch->id, ch->parent, ch->category);
}

/* The message that the answer replies to; 0: it is a message of its own. Behind what somebody wrote
 * since nobody could tell whom that answers. */
static uint64_t reply_target(const struct text_chat *chat, const struct text_channel *ch,
			     const char *text, uint32_t rnd)
{
	const struct settings *s = chat->settings;
	uint64_t target = last_addressed(ch);
	unsigned share = characters(text) <= TEXT_SHORT ? s->text_reply_short
			 : is_initiative(s, ch)		? s->text_reply_initiative
							: s->text_reply_share;

	return target && (ch->newest > target || rnd % 100 < share) ? target : 0;
}

/* The words of the answer. */
static enum text_words read_answer(struct text_chat *chat, bool required, const char **text)
{
	size_t n;
	enum text_words words = text_answer_read(chat->settings, chat->name, required, text, &n);

	if (words == TEXT_WORDS_SAID && (*text)[n]) {
		chat->cut = strndup(*text, n);
		*text = chat->cut;
		return chat->cut ? TEXT_WORDS_SAID : TEXT_WORDS_NONE;
	}
	return words;
}

static void take_answer(struct text_chat *chat, struct text_channel *ch,
			const struct text_event *ev)
{
	const char *text = ev->text;
	enum text_words words = read_answer(chat, ch->reply.required, &text);
	bool reacts = *ev->emoji && ch->reply.reacts && text_reaction_allowed(chat, ch);
	struct text_effect *e;

	if (words != TEXT_WORDS_SAID && reacts) {
		text_reaction_answer(chat, ch, ev->emoji);
		return;
	}
	if (words != TEXT_WORDS_SAID && ch->reply.required && !ch->reply.skipped &&
	    !ch->reply.acted) {
		ch->reply.skipped = true;
		ask(chat, ch);
		return;
	}
	if (words != TEXT_WORDS_SAID) {
		end_reply(chat, ch,
			  words == TEXT_WORDS_SKIP ? TEXT_REASON_SKIPPED : TEXT_REASON_EMPTY_REPLY);
		return;
	}
	/* What the answer takes the place of is a reply already, or none. */
	if (!ch->reply.workings)
		ch->reply.reply_to = reply_target(chat, ch, text, ev->rnd);
	if (reacts)
		text_reaction_keep(ch, ev->emoji);
	ch->reply.state = TEXT_REPLY_SENDING;
	ch->reply.withdraw_at = chat->now + TEXT_SENDING_S * NS_PER_S;
	e = text_emit(chat, TEXT_DO_SEND, ch);
	for (unsigned i = 0; i < ch->n_queue; i++)
		if (ch->queue[i]->state == TEXT_ASKED) {
			ch->queue[i]->state = TEXT_SENDING;
			ch->reply.asked[e->n_triggers++] = &ch->queue[i]->t;
		}
	e->triggers = ch->reply.asked;
	e->reply = ch->reply.id;
	e->kind = ch->reply.kind;
	if (e->kind == TEXT_KIND_INITIATIVE)
		text_initiative_sending(chat, ch);
	e->message = ch->reply.reply_to;
	e->text = text;
}

static void take_failure(struct text_chat *chat, struct text_channel *ch,
			 const struct text_event *ev)
{
	if (ev->why) {
		end_reply(chat, ch, ev->why);
		return;
	}
	if (ev->yes) {
		end_reply(chat, ch, TEXT_REASON_BUDGET_SPENT);
		return;
	}
	if (ch->reply.acted) {
		end_reply(chat, ch, TEXT_REASON_ACTED);
		return;
	}
	if (++ch->reply.tries == TEXT_TRIES) {
		end_reply(chat, ch, TEXT_REASON_MODEL_FAILED);
		return;
	}
	ask_later(chat, ch, ch->reply.tries);
}

/* The messages of the answer, whose calls of tools may go on; returns their author. */
static uint64_t note_answered(struct text_channel *ch, enum text_state state,
			      struct text_request *request)
{
	uint64_t user = 0;

	request->n = 0;
	for (unsigned i = 0; i < ch->n_queue && request->n < TEXT_BURST; i++)
		if (ch->queue[i]->state == state) {
			user = ch->queue[i]->t.user;
			request->message[request->n++] = ch->queue[i]->t.message;
		}
	if (request->n)
		text_jobs_answered(ch, ch->reply.id, request);
	return user;
}

static void take_sent(struct text_chat *chat, struct text_channel *ch, const struct text_event *ev)
{
	struct text_request request;
	uint64_t answers = note_answered(ch, TEXT_SENDING, &request);
	const struct text_event own = {.message = ev->message, .text = ev->text ? ev->text : ""};

	if (ch->reply.kind == TEXT_KIND_RESULT)
		answers = ch->reply.result.user;
	ch->sent_to[ch->sends % TEXT_SENDS] = answers;
	ch->sent_at[ch->sends++ % TEXT_SENDS] = chat->now;
	/* It may have been known as the message that told of a tool. */
	text_typing_posted(chat, ch, 0);
	if (!ch->reply.untold && !text_line_add(chat, ch, ev, true, answers))
		text_line_edit(ch, &own);
	if (ev->asker)
		text_agreement_asked(chat, ch, ev->asks, ev->asker, &request);
	if (!ev->partial)
		text_reaction_follow(chat, ch);
	end_reply(chat, ch,
		  ev->partial	       ? TEXT_REASON_SENT_IN_PART
		  : ch->reply.reply_to ? TEXT_REASON_SENT_REPLY
				       : TEXT_REASON_SENT_MESSAGE);
}

/* The results of calls that go on reply to the message that asked, as after words. */
static void take_reacted(struct text_chat *chat, struct text_channel *ch)
{
	struct text_request request;

	note_answered(ch, TEXT_ASKED, &request);
	end_reply(chat, ch, TEXT_REASON_REACTED);
}

/* Words are asked for where somebody is owed an answer, unless they could not be sent either, or
 * that would make the same calls anew. */
static void take_unreacted(struct text_chat *chat, struct text_channel *ch, enum text_reason why)
{
	for (unsigned i = 0; i < ch->n_queue; i++)
		if (ch->queue[i]->state == TEXT_ASKED)
			*ch->queue[i]->t.emoji = '\0';
	if (!ch->reply.required || ch->reply.acted || why) {
		end_reply(chat, ch, why ? why : TEXT_REASON_SEND_FAILED);
		return;
	}
	ch->reply.unreacted = true;
	ask(chat, ch);
}

/* People see that it works, and after a while one message says so. */
static void take_tools(struct text_chat *chat, struct text_reply *r, uint32_t n, bool acted)
{
	r->acted = r->acted || acted;
	if (n && !r->tools) {
		r->shown = true;
		if (r->workings < TEXT_WORKINGS)
			r->working_at = chat->now + TEXT_WORKING_S * NS_PER_S;
	} else if (!n) {
		r->working_at = UINT64_MAX;
	}
	r->tools = n;
}

static void tell_working(struct text_chat *chat, struct text_channel *ch)
{
	struct text_reply *r = &ch->reply;
	struct text_effect *e = text_emit(chat, TEXT_DO_WORKING, ch);

	if (!r->workings)
		r->reply_to = last_addressed(ch);
	e->reply = r->id;
	e->message = r->reply_to;
	e->n = r->workings++;
	/* The first one is a message, which ends what people see of the typing once it is there. */
	if (!e->n && *chat->settings->tool_wait_line)
		text_typing_posted(chat, ch, TEXT_POSTED_S * NS_PER_S);
	r->working_at = r->workings == TEXT_WORKINGS ? UINT64_MAX
						     : chat->now + TEXT_WORKING_AGAIN_S * NS_PER_S;
}

void text_reply_on_event(struct text_chat *chat, struct text_channel *ch,
			 const struct text_event *ev)
{
	bool asked = ch->reply.state == TEXT_REPLY_ASKED;
	bool sending = ch->reply.state == TEXT_REPLY_SENDING;
	bool reacting = ch->reply.state == TEXT_REPLY_REACTING;

	if (ev->reply != ch->reply.id)
		return;
	if (ev->type == TEXT_ANSWERED && asked)
		take_answer(chat, ch, ev);
	else if (ev->type == TEXT_FAILED && asked)
		take_failure(chat, ch, ev);
	else if (ev->type == TEXT_TOOLS && asked)
		take_tools(chat, &ch->reply, ev->n, ev->yes);
	else if (ev->type == TEXT_SENT && sending)
		take_sent(chat, ch, ev);
	else if (ev->type == TEXT_NOT_SENT && sending)
		end_reply(chat, ch, ev->why ? ev->why : TEXT_REASON_SEND_FAILED);
	else if (ev->type == TEXT_REACTED && reacting)
		take_reacted(chat, ch);
	else if (ev->type == TEXT_NOT_SENT && reacting)
		take_unreacted(chat, ch, ev->why);
}

static uint64_t gives_up_at(const struct text_chat *chat, const struct text_channel *ch)
{
	return ch->reply.since + chat->settings->text_answer_s * NS_PER_S;
}

/* Discord may have it wait for an hour. */
static void withdraw(struct text_chat *chat, struct text_channel *ch)
{
	if (ch->reply.withdraw_at > chat->now)
		return;
	text_emit(chat, TEXT_DO_WITHDRAW, ch)->reply = ch->reply.id;
	ch->reply.withdraw_at = chat->now + TEXT_SENDING_AGAIN_S * NS_PER_S;
}

void text_reply_tick(struct text_chat *chat, struct text_channel *ch)
{
	struct text_reply *r = &ch->reply;

	if (r->state == TEXT_REPLY_SENDING || r->state == TEXT_REPLY_REACTING)
		withdraw(chat, ch);
	if (r->state != TEXT_REPLY_ASKED && r->state != TEXT_REPLY_RETRY)
		return;
	if (gives_up_at(chat, ch) <= chat->now) {
		if (r->state == TEXT_REPLY_ASKED)
			text_emit(chat, TEXT_DO_ABANDON, ch)->reply = r->id;
		end_reply(chat, ch, TEXT_REASON_TIMEOUT);
		return;
	}
	if (r->state == TEXT_REPLY_RETRY && r->retry_at <= chat->now)
		ask(chat, ch);
	if (r->working_at <= chat->now)
		tell_working(chat, ch);
}

uint64_t text_reply_deadline(const struct text_chat *chat, const struct text_channel *ch)
{
	const struct text_reply *r = &ch->reply;
	uint64_t at;

	if (r->state == TEXT_REPLY_SENDING || r->state == TEXT_REPLY_REACTING)
		return r->withdraw_at;
	if (r->state != TEXT_REPLY_ASKED && r->state != TEXT_REPLY_RETRY)
		return UINT64_MAX;
	at = gives_up_at(chat, ch);
	if (r->state == TEXT_REPLY_RETRY && r->retry_at < at)
		at = r->retry_at;
	return r->working_at < at ? r->working_at : at;
}
