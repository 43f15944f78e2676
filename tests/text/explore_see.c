/* What must be true of each step (explore.h). */
#include "tests/text/explore_inside.h"

#include <stdio.h>
#include <string.h>

#include "tests/random.h"

/* text rules 10 13 16 17 18 20 25 26 27 29 31 33 62 66 70 71 73 75 76 77 78 104 106 114 */
void explore_violate(struct explore *x, const char *why)
{
	if (!x->out->passed)
		return;
	x->out->passed = false;
	snprintf(x->out->why, sizeof x->out->why, "%s", why);
}

struct known *explore_known(struct explore *x, uint64_t id)
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
		explore_violate(x, "edits ask too often");
	if (e->again)
		return;
	if (n && x->now < x->sent_at[ch][(n - 1) % SENDS] + x->settings->text_spacing_s * NS_PER_S)
		explore_violate(x, "two answers without their distance");
	if (sends_of_hour(x, ch) >= x->settings->text_per_hour)
		explore_violate(x, "too many answers in an hour");
}

static void see_typing(struct explore *x, unsigned ch)
{
	if (x->typed[ch] && x->now < x->typed_at[ch] + TEXT_TYPING_S * NS_PER_S)
		explore_violate(x, "the bot is shown typing twice in eight seconds");
	x->typed[ch] = true;
	x->typed_at[ch] = x->now;
}

/* Its own message ends what people see of it, `in` ns from now. */
static void end_typing(struct explore *x, unsigned ch, uint64_t in)
{
	uint64_t until = x->typed_at[ch] + TEXT_TYPING_S * NS_PER_S;

	if (x->typed[ch] && until > x->now + in)
		x->typed_at[ch] -= until - x->now - in;
}

/* While an answer that is owed is asked for, people see the bot typing. */
static void see_typed(struct explore *x)
{
	for (unsigned ch = 0; ch < CHANNELS && !x->over; ch++)
		if (x->asked[ch] && x->owed[ch] &&
		    (!x->typed[ch] || x->now >= x->typed_at[ch] + TEXT_TYPING_S * NS_PER_S))
			explore_violate(x, "an answer is owed, and nobody sees the bot typing");
}

/* A burst begins when its window is over or it is full, and holds nothing from behind the window.
 * Of its messages those that may not be answered any more have ended just before. */
static void see_window(struct explore *x, const struct text_effect *e)
{
	const struct settings *s = x->settings;
	unsigned ch = (unsigned)(e->channel - 10), user = (unsigned)(e->triggers[0]->user - 100);
	unsigned most = s->text_chat == SETTINGS_TEXT_MENTIONS && e->guild ? TEXT_BLIND_S : 20;
	unsigned of = s->text_coalesce_s < most ? s->text_coalesce_s : most;
	uint64_t window = of ? of * NS_PER_S + TEXT_GRACE_MS * NS_PER_MS : 0;
	uint64_t first = e->triggers[0]->at;
	unsigned n = (unsigned)e->n_triggers;

	if (user < USERS && x->left_out[ch][user].n) {
		n += x->left_out[ch][user].n;
		first = x->left_out[ch][user].at < first ? x->left_out[ch][user].at : first;
	}
	if (n < s->text_coalesce_most && x->now < first + window)
		explore_violate(x, "a burst is answered before its window is over");
	for (size_t i = 0; i < e->n_triggers; i++)
		if (e->triggers[i]->at > e->triggers[0]->at + window)
			explore_violate(x, "a burst holds what was written after its window");
}

static unsigned reactions_of_hour(const struct explore *x, unsigned ch)
{
	unsigned n = 0;

	for (unsigned i = 0; i < REACTIONS && i < x->n_reacted[ch]; i++)
		n += x->reacted_at[ch][i] + 3600 * NS_PER_S > x->now;
	return n;
}

static bool may_react_to(const struct explore *x, const struct text_trigger *t)
{
	return !t->unreactive && (text_signal_confidence(t->signal) >= TEXT_ADDRESSED ||
				  t->draw < x->settings->text_reactivity);
}

/* A reaction is offered for a message that may have one, as long as the hour allows it. */
static void see_offer(struct explore *x, const struct text_effect *e)
{
	unsigned ch = (unsigned)(e->channel - 10);
	bool any = false;

	for (size_t i = 0; i < e->n_triggers; i++)
		any |= may_react_to(x, e->triggers[i]);
	if (e->reacts && (!any || e->kind != TEXT_KIND_ANSWER ||
			  reactions_of_hour(x, ch) >= x->settings->text_reactions_per_hour))
		explore_violate(x, "a reaction is offered where there may be none");
	x->offered[ch] = e->reacts;
}

/* ---- what addresses the bot, and other talk ---- */

static void add_wait(struct explore *x, unsigned ch, uint64_t message, uint64_t user)
{
	for (unsigned i = 0; i < x->n_waits[ch]; i++)
		if (x->waits[ch][i].message == message)
			return;
	if (x->n_waits[ch] == TEXT_QUEUE)
		return;
	x->waits[ch][x->n_waits[ch]].message = message;
	x->waits[ch][x->n_waits[ch]++].user = user;
}

static void end_wait(struct explore *x, unsigned ch, uint64_t message)
{
	for (unsigned i = 0; i < x->n_waits[ch]; i++)
		if (x->waits[ch][i].message == message)
			x->waits[ch][i--] = x->waits[ch][--x->n_waits[ch]];
}

/* A message waits that must be answered, and that no limit of the channel holds. While many talk,
 * requests to models are not limited. */
static bool is_kept_waiting(const struct explore *x, unsigned ch)
{
	unsigned all = x->settings->text_per_hour, n = 0;

	for (unsigned i = 0; i < x->n_waits[ch]; i++) {
		bool asked = false;

		for (unsigned k = 0; k < x->n_asked_of[ch]; k++)
			asked |= x->asked_of[ch][k] == x->waits[ch][i].message;
		n += !asked;
	}
	return x->load && n && sends_of_hour(x, ch) < all - all / TEXT_SHARE;
}

/* Other talk neither comes before it nor holds it up. */
static void see_ambient(struct explore *x, unsigned ch)
{
	if (x->asked[ch] && x->ambient[ch] && !x->acted[ch] && is_kept_waiting(x, ch))
		explore_violate(x, "other talk holds up what addresses the bot");
}

/* Other talk keeps it from no place. */
static void see_full(struct explore *x, unsigned ch, const struct text_trigger *t)
{
	unsigned own = 0;

	for (unsigned i = 0; i < x->n_waits[ch]; i++)
		own += x->waits[ch][i].user == t->user;
	if (t->reason == TEXT_REASON_QUEUE_FULL && text_signal_forces(t->signal) && t->guild &&
	    !own && x->n_waits[ch] < TEXT_SHARE)
		explore_violate(x, "other talk takes the places of what addresses the bot");
}

static void see_ask(struct explore *x, const struct text_effect *e)
{
	unsigned ch = (unsigned)(e->channel - 10);
	bool forced = false;

	x->out->asks++;
	if (x->asked[ch] || x->sending[ch] || x->reacting[ch])
		explore_violate(x, "a channel has two answers");
	see_offer(x, e);
	if (e->kind == TEXT_KIND_INITIATIVE && !e->again &&
	    (!x->settings->text_initiative || !e->guild))
		explore_violate(x, "the bot writes of its own accord where it may not");
	if ((e->kind == TEXT_KIND_ANSWER) != (e->n_triggers > 0) ||
	    e->n_triggers > x->settings->text_coalesce_most)
		explore_violate(x, "an answer to none or to too many messages");
	if (e->kind == TEXT_KIND_RESULT && !e->again) {
		unsigned user = (unsigned)(e->user - 100);

		forced = true;
		if (!x->results[ch][user])
			explore_violate(x, "a result is told twice, or to somebody else");
		else
			x->results[ch][user]--;
	}
	forced |= e->kind == TEXT_KIND_RESULT;
	x->tools[ch] = 0;
	if (e->again && x->acted[ch])
		explore_violate(x, "what has acted is asked again");
	x->acted[ch] = false;
	if (!e->again)
		x->workings[ch] = 0;
	x->asked[ch] = e->reply;
	x->owed[ch] = e->required;
	x->n_asked_of[ch] = 0;
	x->ambient[ch] = e->kind == TEXT_KIND_ANSWER;
	for (size_t i = 0; i < e->n_triggers && i < TEXT_BURST; i++) {
		const struct text_trigger *t = e->triggers[i];

		forced |= text_signal_forces(t->signal);
		x->ambient[ch] = x->ambient[ch] && !t->goes_on &&
				 text_signal_confidence(t->signal) < TEXT_ADDRESSED;
		if (t->user != e->triggers[0]->user)
			explore_violate(x, "authors share an answer");
		if (explore_known(x, t->message)->deleted)
			explore_violate(x, "a deleted message is asked about");
		if (explore_known(x, t->message)->own || t->user == BOT)
			explore_violate(x, "the bot answers itself");
		if (explore_known(x, t->message)->sent)
			explore_violate(x, "a message is answered twice");
		x->asked_of[ch][x->n_asked_of[ch]++] = t->message;
	}
	if (forced != e->required)
		explore_violate(x, "required is wrong");
	if (e->n_triggers && !e->again)
		see_window(x, e);
	for (size_t i = 0; i < e->n_history; i++) {
		const struct text_line *l = &e->history[i];

		if (explore_known(x, l->message)->deleted)
			explore_violate(x, "a deleted message is told");
		if (l->user >= 100 && l->message <= x->forgotten[l->user - 100])
			explore_violate(x, "a forgotten person is told");
	}
}

static void keep(struct explore *x, const struct text_effect *e, const struct text_trigger *t,
		 enum taken_state state, uint64_t mark)
{
	taken_put(x->taken, &(struct taken){.message = t ? t->message : e->message,
					    .guild = e->guild,
					    .channel = e->channel,
					    .user = t ? t->user : e->user,
					    .state = state,
					    .mark = mark});
}

/* Spacing, and the limit of a day. */
static void see_post(struct explore *x, unsigned ch)
{
	const struct settings *s = x->settings;
	unsigned n = x->n_posts[ch], day = s->text_initiative_a_day;

	if (n && x->now - x->post[ch][(n - 1) % POSTS] < s->text_initiative_minutes * 60 * NS_PER_S)
		explore_violate(x, "the bot writes of its own accord too soon");
	if (n >= day && x->now - x->post[ch][(n - day) % POSTS] < 86400 * NS_PER_S)
		explore_violate(x, "the bot writes of its own accord too often");
	x->post[ch][x->n_posts[ch]++ % POSTS] = x->now;
}

static void see_send(struct explore *x, const struct text_effect *e, const struct text_event *ev)
{
	unsigned ch = (unsigned)(e->channel - 10);

	for (size_t i = 0; i < e->n_triggers; i++)
		keep(x, e, e->triggers[i], TAKEN_SENDING, taken_mark(e->text));
	if (e->kind == TEXT_KIND_INITIATIVE)
		see_post(x, ch);
	x->on_way[ch].channel = e->channel;
	x->on_way[ch].replies_to = e->message;
	x->on_way[ch].mark = taken_mark(e->text);

	x->out->sends++;
	if (ev->type != TEXT_ANSWERED || ev->reply != e->reply || x->asked[ch] != e->reply)
		explore_violate(x, "an answer nobody gave is sent");
	x->asked[ch] = 0;
	x->sending[ch] = e->reply;
	for (unsigned i = 0; i < x->n_asked_of[ch]; i++)
		if (explore_known(x, x->asked_of[ch][i])->sent++)
			explore_violate(x, "a message is answered twice");
}

/* Once on a message of those that are answered, which is still there and whose author may be read;
 * within the hour's number. */
static void see_react(struct explore *x, const struct text_effect *e, const struct text_event *ev)
{
	unsigned ch = (unsigned)(e->channel - 10);
	bool asked = false;

	x->out->reactions++;
	for (unsigned i = 0; i < x->n_asked_of[ch]; i++)
		asked |= x->asked_of[ch][i] == e->message;
	if (!asked || !x->offered[ch])
		explore_violate(x, "a reaction that was not offered, or on another message");
	if (explore_known(x, e->message)->deleted || e->message <= x->forgotten[e->user - 100])
		explore_violate(x, "a reaction on a message that is gone or may not be read");
	if (explore_known(x, e->message)->put)
		explore_violate(x, "a message has two reactions");
	if (reactions_of_hour(x, ch) >= x->settings->text_reactions_per_hour)
		explore_violate(x, "too many reactions in an hour");
	x->reacted_at[ch][x->n_reacted[ch]++ % REACTIONS] = x->now;
	x->react_on[ch] = e->message;
	x->react_mark[ch] = taken_reaction_mark(e->message, e->text);
	if (!e->reply) {
		explore_known(x, e->message)->put = true;
		if (ev->type != TEXT_SENT)
			explore_violate(x, "a reaction beside words that were not sent");
		return;
	}
	for (size_t i = 0; i < e->n_triggers; i++) {
		keep(x, e, e->triggers[i], TAKEN_SENDING, x->react_mark[ch]);
		if (explore_known(x, e->triggers[i]->message)->sent++)
			explore_violate(x, "a message is answered twice");
	}
	x->asked[ch] = 0;
	x->reacting[ch] = e->reply;
}

void explore_reacted(struct explore *x, unsigned ch, bool took)
{
	x->reacting[ch] = 0;
	if (took) {
		explore_known(x, x->react_on[ch])->put = true;
		x->put[x->n_put % ANSWERS].channel = 10 + ch;
		x->put[x->n_put++ % ANSWERS].mark = x->react_mark[ch];
	}
	for (unsigned i = 0; i < x->n_asked_of[ch] && !took; i++)
		explore_known(x, x->asked_of[ch][i])->sent = 0;
}

/* A call is agreed to once, by its asker, in time; calls that go on are stopped by their person. */
static void see_tools(struct explore *x, const struct text_effect *e, const struct text_event *ev)
{
	unsigned ch = (unsigned)(e->channel - 10), user = (unsigned)(e->user - 100);

	if (e->type == TEXT_DO_WORKING) {
		if (!x->tools[ch] || x->asked[ch] != e->reply)
			explore_violate(x, "a tool is announced that does not work");
		if (x->workings[ch]++ == TEXT_WORKINGS)
			explore_violate(x, "a tool is announced too often");
		if (!e->n)
			end_typing(x, ch, TEXT_POSTED_S * NS_PER_S);
		return;
	}
	if (user >= USERS) {
		explore_violate(x, "nobody's call is agreed to or stopped");
		return;
	}
	if (e->type == TEXT_DO_AGREE) {
		if (!x->question[ch][user] || x->question[ch][user] != e->message)
			explore_violate(x, "a question is answered twice, or was never asked");
		if (e->yes && ev->user != e->user)
			explore_violate(x, "somebody else agrees");
		if (e->yes && x->now > x->asked_at[ch][user] + TEXT_YES_S * NS_PER_S)
			explore_violate(x, "a yes came too late");
		if (e->yes && ev->type == TEXT_MESSAGE && ev->message < e->message)
			explore_violate(x, "a yes was written before the question");
		if (e->yes && ev->type == TEXT_AGREED && !ev->yes)
			explore_violate(x, "a no counts as a yes");
		if (e->yes && ev->type == TEXT_MESSAGE && ev->replies_to != e->message &&
		    (ev->replies_to || (!ev->to_bot && ev->guild && x->newest[ch] > e->message)))
			explore_violate(x, "a yes to somebody else counts");
		x->question[ch][user] = 0;
	} else {
		if (!x->jobs[ch][user])
			explore_violate(x, "calls are stopped that do not go on");
		if (ev->type != TEXT_DELETED && ev->user != e->user)
			explore_violate(x, "somebody else stops a call");
		x->jobs[ch][user] = false;
	}
}

/* Reasons of the rules that are asked again when a burst begins. */
static bool is_gate(enum text_reason reason)
{
	return reason == TEXT_REASON_NOT_READ || reason == TEXT_REASON_CHANNEL_BLOCKED ||
	       reason == TEXT_REASON_USER_BLOCKED || reason == TEXT_REASON_MISSING_CONTENT ||
	       reason == TEXT_REASON_NOT_ADMITTED || reason == TEXT_REASON_MISSED_ENOUGH;
}

static void leave_out(struct explore *x, unsigned ch, const struct text_trigger *t)
{
	unsigned user = (unsigned)(t->user - 100);

	if (user >= USERS || !is_gate(t->reason))
		return;
	if (!x->left_out[ch][user].n++ || t->at < x->left_out[ch][user].at)
		x->left_out[ch][user].at = t->at;
}

/* True if the message was deleted, and its answer goes on for others. */
static bool goes_on(struct explore *x, unsigned ch, const struct text_effect *e)
{
	if (e->record->reason != TEXT_REASON_DELETED || x->asked[ch] != e->record->reply)
		return false;
	for (unsigned i = 0; i < x->n_asked_of[ch]; i++)
		if (x->asked_of[ch][i] != e->message && explore_known(x, x->asked_of[ch][i])->open)
			return true;
	return false;
}

/* The row of an ended message keeps the mark of its answer. */
static uint64_t mark_of(const struct explore *x, uint64_t message)
{
	const struct taken *row = taken_find(x->taken, message);

	return row ? row->mark : 0;
}

static void see_effect(struct explore *x, const struct text_effect *e, const struct text_event *ev)
{
	unsigned ch = (unsigned)(e->channel - 10);
	struct known *k;

	if (ch >= CHANNELS) {
		explore_violate(x, "an effect in no channel");
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
	if (e->type == TEXT_DO_REACT)
		see_react(x, e, ev);
	if (e->type == TEXT_DO_WORKING || e->type == TEXT_DO_AGREE || e->type == TEXT_DO_STOP_JOBS)
		see_tools(x, e, ev);
	if (e->type == TEXT_DO_ABANDON) {
		if (x->asked[ch] != e->reply && x->reacting[ch] != e->reply)
			explore_violate(x, "what was not asked is abandoned");
		for (unsigned i = 0; i < x->n_reported; i++)
			if (x->reported[i] == e->reply)
				explore_violate(x, "an end is reported before the stop");
		x->asked[ch] = 0;
		/* Discord may have it already. */
		if (x->reacting[ch])
			explore_reacted(x, ch, random_below(&x->random, 2) == 0);
	}
	if (x->over && e->type != TEXT_DO_RECORD)
		explore_violate(x, "something begins after the end");
	if (e->type == TEXT_DO_WAITS) {
		keep(x, e, NULL, e->late ? TAKEN_LATE : TAKEN_WAITS, 0);
		add_wait(x, ch, e->message, e->user);
	}
	if (e->type != TEXT_DO_RECORD)
		return;
	if (e->record->reply && !goes_on(x, ch, e) && x->n_reported < RECENT)
		x->reported[x->n_reported++] = e->record->reply;
	if (e->record->reason != TEXT_REASON_SHUTDOWN &&
	    e->record->reason != TEXT_REASON_DUPLICATE_TRIGGER)
		keep(x, e, NULL, TAKEN_ENDED, mark_of(x, e->message));
	x->out->ended++;
	see_full(x, ch, e->record);
	end_wait(x, ch, e->message);
	leave_out(x, ch, e->record);
	if (e->record->admission == TEXT_ADMISSION_INITIATIVE ||
	    e->record->admission == TEXT_ADMISSION_RESULT) {
		if (e->message || e->record->reason == TEXT_REASON_NONE)
			explore_violate(x, "what nobody has just asked for has no reason");
		return;
	}
	k = explore_known(x, e->message);
	if (!k->open || e->record->reason == TEXT_REASON_NONE)
		explore_violate(x, "a message ends twice, or without a reason");
	else
		k->open--;
	if (e->record->reason == TEXT_REASON_NOT_ADMITTED && e->record->to_bot)
		explore_violate(x, "a direct message is not admitted");
}

/* Discord has the answer that was under way. */
void explore_arrive(struct explore *x, unsigned ch, uint64_t message)
{
	x->on_way[ch].message = message;
	x->answer[x->n_answers++ % ANSWERS] = x->on_way[ch];
}

void explore_step(struct explore *x, const struct text_event *ev)
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
				end_typing(x, ch, 0);
				x->sent_at[ch][x->n_sent[ch]++ % SENDS] = x->now;
				explore_arrive(x, ch, ev->message);
			}
		}
		if ((ev->type == TEXT_REACTED || ev->type == TEXT_NOT_SENT) &&
		    x->reacting[ch] == ev->reply)
			explore_reacted(x, ch, ev->type == TEXT_REACTED);
		if (ev->type == TEXT_ANSWERED && x->asked[ch] == ev->reply &&
		    (*ev->text == ' ' || *ev->text == '['))
			x->asked[ch] = 0;
	}
	text_step(x->chat, ev, x->now, &x->fx);
	x->n_reported = 0;
	memset(x->left_out, 0, sizeof x->left_out);
	/* It may be none to the bot any more. */
	if (ev->type == TEXT_EDITED)
		end_wait(x, (unsigned)(ev->channel - 10), ev->message);
	for (size_t i = 0; i < x->fx.n; i++)
		see_effect(x, &x->fx.v[i], ev);
	see_typed(x);
	if (ev->channel >= 10 && ev->channel < 10 + CHANNELS)
		see_ambient(x, (unsigned)(ev->channel - 10));
	if (ev->type == TEXT_MESSAGE && ev->message > x->newest[ev->channel - 10])
		x->newest[ev->channel - 10] = ev->message;
	if (x->next_question) {
		unsigned ch = (unsigned)(ev->channel - 10);

		x->question[ch][x->next_asker] = x->next_question;
		x->asked_at[ch][x->next_asker] = x->now;
		x->next_question = 0;
	}
	if (ev->type == TEXT_TIMER && text_deadline(x->chat) <= x->now)
		explore_violate(x, "a deadline that does not move");
}
