/* Why messages ended (inside.h): told as it happens, and of the last ones for people who ask. */
#include "control/events/events.h"
#include "control/settings/settings.h"
#include "control/text/missed.h"
#include "control/text/text_chat.h"
#include "control/text_session/inside.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/base/time.h"

void text_ended_publish(struct text_session *ts, const struct text_trigger *t,
			const struct text_times *times)
{
	struct bus_event ev = {.type = EVENT_TEXT_MESSAGE,
			       .at_ms = env_wall_ms(ts->conf.env),
			       .guild = t->guild,
			       .user = t->user};

	ev.text = (struct event_text){.channel = t->channel,
				      .message = t->message,
				      .signal = text_signal_name(t->signal),
				      .attention = text_attention_name(t->attention),
				      .rule = text_admission_name(t->admission),
				      .reply = t->reply,
				      .reason = text_reason_name(t->reason),
				      .reaction = t->emoji,
				      .lasted_ms = (env_now(ts->conf.env) - t->at) / NS_PER_MS};
	if (t->reply && times->reply == t->reply) {
		ev.text.llm1_ms = times->llm1_ms;
		ev.text.followup_ms = times->followup_ms;
	}
	bus_publish(ts->conf.bus, &ev);
}

void text_session_publish(struct text_guild *g, const struct text_trigger *t)
{
	text_ended_publish(g->ts, t, &g->times[t->reply % TEXT_TIMES]);
}

/* Of messages that concern nobody the log alone tells, at its lowest level. */
void text_session_record(struct text_guild *g, const struct text_trigger *t)
{
	bool forced = text_signal_forces(t->signal) ||
		      (t->to_bot && (t->reason == TEXT_REASON_MISSING_CONTENT ||
				     t->reason == TEXT_REASON_NO_PERMISSION));
	bool goes_on = t->reason == TEXT_REASON_SHUTDOWN && text_taking_goes_on(g, t->message);

	log_debug("text_message_ended", "guild=%llu channel=%llu reason=%s",
		  (unsigned long long)t->guild, (unsigned long long)t->channel,
		  text_reason_name(t->reason));
	if (t->message && t->reason != TEXT_REASON_DUPLICATE_TRIGGER)
		text_ended_note(g->ts, g, t);
	/* Before the row ends: after a kill between the two it ends once more, and not untold. */
	if (!goes_on && (forced || t->reply || t->reason == TEXT_REASON_CANCEL_REQUEST ||
			 t->reason == TEXT_REASON_AGREED))
		text_session_publish(g, t);
	text_taking_ended(g, t);
}

/* Each server has rings of its own, and other talk one beside those for the bot: neither drives out
 * what people ask about. */
void text_ended_note(struct text_session *ts, struct text_guild *g, const struct text_trigger *t)
{
	bool for_bot = text_signal_forces(t->signal) || t->to_bot || t->reply;
	struct text_ended *e;

	if (!g)
		e = &ts->ended_out[ts->n_ended_out++ % TEXT_ENDED_OUT];
	else if (for_bot)
		e = &g->ended[g->n_ended++ % TEXT_ENDED];
	else
		e = &g->ended_talk[g->n_ended_talk++ % TEXT_ENDED_TALK];
	*e = (struct text_ended){.guild = t->guild,
				 .channel = t->channel,
				 .message = t->message,
				 .user = t->user,
				 .signal = t->signal,
				 .attention = t->attention,
				 .admission = t->admission,
				 .reason = t->reason};
}

static void forget(struct text_ended *list, size_t n, uint64_t guild, uint64_t user)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].user == user && (!guild || list[i].guild == guild))
			list[i] = (struct text_ended){0};
}

void text_ended_forget(struct text_session *ts, uint64_t guild, uint64_t user)
{
	forget(ts->ended_out, TEXT_ENDED_OUT, guild, user);
	for (unsigned i = 0; i < ts->n_guilds; i++) {
		forget(ts->guild[i]->ended, TEXT_ENDED, guild, user);
		forget(ts->guild[i]->ended_talk, TEXT_ENDED_TALK, guild, user);
	}
}

/* The newest one: an edit may have had the message judged again. newest: how many there ever were.
 */
static const struct text_ended *find(const struct text_ended *list, size_t size, size_t newest,
				     uint64_t guild, uint64_t message)
{
	for (size_t i = 0; i < size && i < newest; i++) {
		const struct text_ended *e = &list[(newest - 1 - i) % size];

		if (e->message == message && e->guild == guild)
			return e;
	}
	return NULL;
}

static const struct text_ended *find_ended(const struct text_session *ts, uint64_t guild,
					   uint64_t message)
{
	const struct text_guild *g = text_guild_find(ts, guild);
	const struct text_ended *e = NULL;

	if (g)
		e = find(g->ended, TEXT_ENDED, g->n_ended, guild, message);
	if (g && !e)
		e = find(g->ended_talk, TEXT_ENDED_TALK, g->n_ended_talk, guild, message);
	return e ? e : find(ts->ended_out, TEXT_ENDED_OUT, ts->n_ended_out, guild, message);
}

/* Nothing is known of this message. */
static enum text_why_kind guess(const struct text_session *ts, const struct settings *s,
				uint64_t message)
{
	if (missed_ms_of(message) < ts->began_ms)
		return TEXT_WHY_UNKNOWN;
	if (s->text_chat == SETTINGS_TEXT_OFF)
		return TEXT_WHY_OFF;
	return s->text_chat == SETTINGS_TEXT_MENTIONS ? TEXT_WHY_NOT_READ : TEXT_WHY_UNKNOWN;
}

static void tell_judged(const struct text_ended *e, struct text_why *out)
{
	if (e->admission == TEXT_ADMISSION_COUNT)
		return;
	out->signal = text_signal_text(e->signal);
	if (e->attention != TEXT_ATTENTION_COLD_AMBIENT)
		out->attention = text_attention_text(e->attention);
}

/* False: it is none that waits. */
static bool tell_waiting(const struct text_session *ts, uint64_t guild, uint64_t message,
			 struct text_why *out)
{
	const struct text_guild *g = text_guild_find(ts, guild);
	const struct text_trigger *t;
	enum text_hold hold;

	t = g ? text_chat_waits(g->core, message, &hold) : NULL;
	if (!t)
		return false;
	out->kind = TEXT_WHY_WAITS;
	out->user = t->user;
	out->channel = t->channel;
	out->hold = text_hold_text(hold);
	tell_judged(&(struct text_ended){.signal = t->signal,
					 .attention = t->attention,
					 .admission = t->admission},
		    out);
	return true;
}

static void tell_ended(const struct text_ended *e, struct text_why *out)
{
	out->kind = TEXT_WHY_ENDED;
	if (e->reason == TEXT_REASON_SENT_REPLY || e->reason == TEXT_REASON_SENT_MESSAGE ||
	    e->reason == TEXT_REASON_REACTED)
		out->kind = TEXT_WHY_ANSWERED;
	out->user = e->user;
	out->channel = e->channel;
	out->personal =
		e->reason == TEXT_REASON_NO_CONSENT || e->reason == TEXT_REASON_USER_BLOCKED;
	out->reason = e->reason == TEXT_REASON_NOT_ADMITTED ? text_admission_text(e->admission)
							    : text_reason_text(e->reason);
	out->help = text_reason_help(e->reason);
	out->no_content = e->reason == TEXT_REASON_MISSING_CONTENT;
	tell_judged(e, out);
}

void text_session_why(const struct text_session *ts, const struct settings *s, uint64_t guild,
		      uint64_t message, struct text_why *out)
{
	const struct text_ended *e;

	*out = (struct text_why){
		.signal = "", .attention = "", .hold = "", .reason = "", .help = ""};
	if (tell_waiting(ts, guild, message, out))
		return;
	e = find_ended(ts, guild, message);
	if (e)
		tell_ended(e, out);
	else
		out->kind = guess(ts, s, message);
}

uint64_t text_session_last(const struct text_session *ts, uint64_t guild, uint64_t user)
{
	const struct text_guild *g = text_guild_find(ts, guild);
	uint64_t newest = g ? text_chat_last_waiting(g->core, user) : 0;

	for (unsigned i = 0; g && i < TEXT_ENDED && i < g->n_ended; i++) {
		const struct text_ended *e = &g->ended[(g->n_ended - 1 - i) % TEXT_ENDED];

		if (e->user == user && e->message)
			return e->message > newest ? e->message : newest;
	}
	return newest;
}
