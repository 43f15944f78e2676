/* Whether a message is put before the model (inside.h): refusals, signal, attention, rules. The
 * rules are asked before the queue and again before the model. */
#include "control/settings/ids.h"
#include "control/settings/settings.h"
#include "control/text/inside.h"
#include "control/text/reading.h"
#include "proto/base/time.h"

static bool is_blank(const char *text)
{
	while (*text == ' ' || *text == '\n' || *text == '\t' || *text == '\r')
		text++;
	return !*text;
}

bool text_channel_is_blocked(const struct settings *s, uint64_t guild, uint64_t channel,
			     uint64_t parent, uint64_t category)
{
	return s->unread || reading_is_blocked(s->text_channels, s->text_blocked_channels, guild,
					       channel, parent, category);
}

static bool is_in_blocked(const struct settings *s, const struct text_event *ev)
{
	return text_channel_is_blocked(s, ev->guild, ev->channel, ev->parent, ev->category);
}

bool text_user_is_blocked(const struct settings *s, uint64_t guild, uint64_t user)
{
	return settings_ids_have(s->blocked_users, user) ||
	       (!guild && !settings_ids_empty(s->text_direct_users) &&
		!settings_ids_have(s->text_direct_users, user));
}

bool text_author_is_blocked(const struct settings *s, const struct text_event *ev)
{
	return text_user_is_blocked(s, ev->guild, ev->user);
}

enum text_reason text_refusal(const struct settings *s, const struct text_event *ev)
{
	if (ev->self)
		return TEXT_REASON_SELF_MESSAGE;
	if (!ev->user)
		return TEXT_REASON_MISSING_AUTHOR;
	if (is_in_blocked(s, ev))
		return TEXT_REASON_CHANNEL_BLOCKED;
	if (ev->bot)
		return TEXT_REASON_BOT_MESSAGE;
	if (text_user_is_blocked(s, ev->guild, ev->user))
		return TEXT_REASON_USER_BLOCKED;
	if (ev->refused)
		return TEXT_REASON_NO_CONSENT;
	if (ev->barred)
		return TEXT_REASON_NO_PERMISSION;
	return is_blank(ev->text) ? TEXT_REASON_MISSING_CONTENT : TEXT_REASON_NONE;
}

static bool has_seen(const struct text_channel *ch, uint64_t message)
{
	unsigned n = ch->n_seen < TEXT_SEEN ? ch->n_seen : TEXT_SEEN;

	for (unsigned i = 0; i < n; i++)
		if (ch->seen[i] == message)
			return true;
	return false;
}

static bool take_seen(struct text_channel *ch, uint64_t message)
{
	if (has_seen(ch, message))
		return true;
	ch->seen[ch->n_seen++ % TEXT_SEEN] = message;
	return false;
}

bool text_chat_knows(struct text_chat *chat, uint64_t channel, uint64_t message)
{
	const struct text_channel *ch = text_channel_find(chat, channel);

	return ch && has_seen(ch, message);
}

static enum text_signal signal_of(struct text_chat *chat, const struct text_trigger *t,
				  const struct text_event *ev, bool *unclear)
{
	enum text_signal signal;
	bool occurs;

	*unclear = false;
	if (t->to_bot || !t->guild)
		return TEXT_SIGNAL_DIRECT;
	/* Others do not address the bot in the name of the person who shows their text. */
	if (t->strangers)
		return TEXT_SIGNAL_LLM_DECIDES;
	signal = text_names_signal(chat, text_names_said(ev), &occurs);
	/* With the setting the model that answers decides, and may skip. */
	*unclear = signal == TEXT_SIGNAL_LLM_DECIDES && occurs &&
		   !chat->settings->text_unsolicited && !t->decide && !t->late;
	return signal;
}

static enum text_admission rule_of(const struct settings *s, const struct text_trigger *t)
{
	if (text_signal_forces(t->signal))
		return TEXT_ADMISSION_FORCE_RESPOND;
	if (t->decide)
		return TEXT_ADMISSION_FORCE_DECISION;
	if (t->late)
		return TEXT_ADMISSION_MISSED;
	if (text_trigger_addresses(t))
		return TEXT_ADMISSION_HARD_ADDRESS;
	if (t->goes_on && !t->to_others)
		return TEXT_ADMISSION_BURST;
	if (!s->text_unsolicited)
		return TEXT_ADMISSION_UNSOLICITED_OFF;
	if (t->to_others)
		return TEXT_ADMISSION_FOR_OTHERS;
	return t->attention == TEXT_ATTENTION_COLD_AMBIENT ? TEXT_ADMISSION_COLD_AMBIENT
							   : TEXT_ADMISSION_RECENT_REPLY_WINDOW;
}

void text_admission_owe(struct text_chat *chat, const struct text_channel *ch,
			const struct text_live *l)
{
	struct text_effect *e = text_emit(chat, TEXT_DO_WAITS, ch);

	e->message = l->t.message;
	e->user = l->t.user;
	e->late = l->t.late && l->state != TEXT_ASKED;
}

/* Asks a model whether the message is meant for the bot. False: the trigger is ended. */
static bool classify(struct text_chat *chat, struct text_channel *ch, struct text_live *l)
{
	struct text_effect *e;

	if (!text_spending_decide(chat, ch, l->t.user)) {
		text_trigger_end(chat, ch, l, TEXT_REASON_RATE_LIMITED);
		return false;
	}
	e = text_emit(chat, TEXT_DO_CLASSIFY, ch);
	l->state = TEXT_CLASSIFYING;
	l->asked_at = chat->now;
	e->message = l->t.message;
	e->user = l->t.user;
	e->text = l->t.text;
	e->n = l->questions;
	return true;
}

/* What a model says of the former text does not hold for this one. False: the trigger is ended. */
static bool classify_again(struct text_chat *chat, struct text_channel *ch, struct text_live *l,
			   bool unclear)
{
	if (l->state != TEXT_CLASSIFYING)
		return true;
	l->questions++;
	if (unclear)
		return classify(chat, ch, l);
	l->state = TEXT_QUEUED;
	return text_admission_again(chat, ch, l);
}

/* A message that a model held for the bot's remains one as long as the name is in it. While a
 * reaction is being put on it as its answer, an edit makes no other answer owed. */
void text_admission_edited(struct text_chat *chat, struct text_channel *ch, struct text_live *l,
			   const struct text_event *ev)
{
	bool reacts = l->state == TEXT_ASKED && ch->reply.state == TEXT_REPLY_REACTING;
	struct text_trigger *t = &l->t;
	enum text_signal before = t->signal;
	bool unclear, owed = text_signal_forces(t->signal);

	t->signal = signal_of(chat, t, ev, &unclear);
	if (unclear && before == TEXT_SIGNAL_LLM_DIRECT_ADDRESS)
		t->signal = before;
	t->admission = rule_of(chat->settings, t);
	if (!classify_again(chat, ch, l, unclear))
		return;
	if (!owed && !reacts && text_signal_forces(t->signal))
		text_admission_owe(chat, ch, l);
}

enum text_reason text_admission_gate(const struct text_chat *chat, const struct text_channel *ch,
				     uint64_t user)
{
	const struct settings *s = chat->settings;

	if (s->text_chat == SETTINGS_TEXT_OFF)
		return TEXT_REASON_NOT_READ;
	if (text_channel_is_blocked(s, ch->guild, ch->id, ch->parent, ch->category))
		return TEXT_REASON_CHANNEL_BLOCKED;
	return text_user_is_blocked(s, ch->guild, user) ? TEXT_REASON_USER_BLOCKED
							: TEXT_REASON_NONE;
}

bool text_admission_again(struct text_chat *chat, struct text_channel *ch, struct text_live *l)
{
	const struct settings *s = chat->settings;
	enum text_reason reason = text_admission_gate(chat, ch, l->t.user);

	l->t.admission = rule_of(s, &l->t);
	if (!reason && s->text_chat == SETTINGS_TEXT_MENTIONS && ch->guild && !l->t.to_bot)
		reason = TEXT_REASON_NOT_READ;
	else if (!reason && is_blank(l->t.text))
		reason = TEXT_REASON_MISSING_CONTENT;
	else if (!reason && !text_admission_admits(l->t.admission))
		reason = TEXT_REASON_NOT_ADMITTED;
	if (reason)
		text_trigger_end(chat, ch, l, reason);
	return !reason;
}

/* A place in the queue, or a reason. */
static void queue_message(struct text_chat *chat, struct text_channel *ch,
			  const struct text_event *ev, const struct text_trigger *judged,
			  bool unclear)
{
	enum text_reason why;
	struct text_live *l = text_trigger_add(chat, ch, ev, text_trigger_is_ambient(judged), &why);

	if (!l) {
		text_trigger_refuse(chat, ev, judged, why);
		return;
	}
	l->t.signal = judged->signal;
	l->t.attention = judged->attention;
	l->t.admission = judged->admission;
	l->t.goes_on = judged->goes_on;
	if (unclear)
		classify(chat, ch, l);
	else if (text_signal_forces(l->t.signal))
		text_admission_owe(chat, ch, l);
}

static void judge_message(struct text_chat *chat, struct text_channel *ch,
			  const struct text_event *ev)
{
	struct text_trigger t = {.guild = ev->guild,
				 .text = (char *)ev->text,
				 .to_bot = ev->to_bot,
				 .to_others = ev->to_others,
				 .decide = ev->decide,
				 .late = ev->late,
				 .strangers = ev->strangers,
				 .goes_on = text_queue_joins(chat, ch, ev->user)};
	bool unclear;

	t.signal = signal_of(chat, &t, ev, &unclear);
	t.attention = text_lines_attend(chat, ch, ev, t.signal);
	t.admission = rule_of(chat->settings, &t);
	text_line_add(chat, ch, ev, false, 0);
	text_queue_note(chat, ch, ev->user);
	if (!ev->late)
		text_initiative_heard(chat, ch);
	/* Other words to the bot are no yes. */
	if (text_trigger_addresses(&t))
		text_agreement_withdraw(chat, ch, ev->user);
	/* What belongs to a question needs no decision. */
	unclear = unclear && t.admission != TEXT_ADMISSION_BURST;
	if (unclear || text_admission_admits(t.admission))
		queue_message(chat, ch, ev, &t, unclear);
	else
		text_trigger_refuse(chat, ev, &t, TEXT_REASON_NOT_ADMITTED);
}

static struct text_channel *open_channel(struct text_chat *chat, const struct text_event *ev)
{
	struct text_channel *ch = text_channel_open(chat, ev->channel, ev->guild);

	if (ch) {
		ch->parent = ev->parent;
		ch->category = ev->category;
	}
	return ch;
}

/* The bot's own messages, and those of other bots, are told to the model. */
static bool is_told_only(const struct text_chat *chat, const struct text_event *ev)
{
	return (ev->self || (ev->bot && !text_author_is_blocked(chat->settings, ev))) &&
	       !is_blank(ev->text) && !is_in_blocked(chat->settings, ev);
}

/* A question that a command asked, and its answer. */
static void note_line(struct text_chat *chat, const struct text_event *ev)
{
	struct text_channel *ch = is_in_blocked(chat->settings, ev) ? NULL : open_channel(chat, ev);

	if (ch)
		text_line_add(chat, ch, ev, ev->self, ev->answers);
}

static void take_message(struct text_chat *chat, const struct text_event *ev)
{
	enum text_reason reason = text_refusal(chat->settings, ev);
	struct text_channel *ch = NULL;

	if (!reason || is_told_only(chat, ev))
		ch = open_channel(chat, ev);
	if (ch && reason)
		text_line_add(chat, ch, ev, ev->self, 0);
	if (!reason && !ch)
		reason = TEXT_REASON_QUEUE_FULL;
	if (!reason && take_seen(ch, ev->message))
		reason = TEXT_REASON_DUPLICATE_TRIGGER;
	if (reason && !ev->self && !ev->bot && !ev->late && text_channel_find(chat, ev->channel))
		text_initiative_unread(chat, text_channel_find(chat, ev->channel));
	if (reason)
		text_trigger_refuse(chat, ev, NULL, reason);
	else if (!text_agreement_by_words(chat, ch, ev) && !text_cancel_by_words(chat, ch, ev))
		judge_message(chat, ch, ev);
	ch = text_channel_find(chat, ev->channel);
	if (ch && ev->message > ch->newest)
		ch->newest = ev->message;
}

void text_admission_take(struct text_chat *chat, const struct text_event *ev)
{
	if (ev->noted)
		note_line(chat, ev);
	else
		take_message(chat, ev);
}

/* ---- calls by name that are unclear ---- */

static void end_classification(struct text_chat *chat, struct text_channel *ch, struct text_live *l,
			       bool yes)
{
	l->state = TEXT_QUEUED;
	if (yes) {
		l->t.signal = TEXT_SIGNAL_LLM_DIRECT_ADDRESS;
		l->t.attention = TEXT_ATTENTION_DIRECT_ADDRESS;
	}
	text_admission_again(chat, ch, l);
}

void text_admission_on_event(struct text_chat *chat, struct text_channel *ch,
			     const struct text_event *ev)
{
	struct text_live *l;

	if (ev->type == TEXT_HEARD && ev->message > ch->newest)
		ch->newest = ev->message;
	if (ev->type != TEXT_CLASSIFIED)
		return;
	l = text_trigger_find(ch, ev->message);
	if (l && l->state == TEXT_CLASSIFYING && ev->n == l->questions)
		end_classification(chat, ch, l, ev->yes);
}

static uint64_t classified_by(const struct text_live *l)
{
	return l->state == TEXT_CLASSIFYING ? l->asked_at + TEXT_CLASSIFY_S * NS_PER_S : UINT64_MAX;
}

void text_admission_tick(struct text_chat *chat, struct text_channel *ch)
{
	for (unsigned i = ch->n_queue; i > 0; i--)
		if (classified_by(ch->queue[i - 1]) <= chat->now)
			end_classification(chat, ch, ch->queue[i - 1], false);
}

uint64_t text_admission_deadline(const struct text_chat *chat, const struct text_channel *ch)
{
	uint64_t first = UINT64_MAX;

	(void)chat;
	for (unsigned i = 0; i < ch->n_queue; i++)
		if (classified_by(ch->queue[i]) < first)
			first = classified_by(ch->queue[i]);
	return first;
}
