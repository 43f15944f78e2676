/* Why messages ended (inside.h): told as it happens, and of the last ones for people who ask. */
#include "control/events/events.h"
#include "control/settings/settings.h"
#include "control/text/missed.h"
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
		text_ended_note(g->ts, t);
	text_taking_ended(g, t);
	if (goes_on || (!forced && !t->reply && t->reason != TEXT_REASON_CANCEL_REQUEST &&
			t->reason != TEXT_REASON_AGREED))
		return;
	text_session_publish(g, t);
}

void text_ended_note(struct text_session *ts, const struct text_trigger *t)
{
	ts->ended[ts->n_ended++ % TEXT_ENDED] = (struct text_ended){.guild = t->guild,
								    .message = t->message,
								    .user = t->user,
								    .reason = t->reason,
								    .admission = t->admission};
}

void text_ended_forget(struct text_session *ts, uint64_t guild, uint64_t user)
{
	for (unsigned i = 0; i < TEXT_ENDED; i++)
		if (ts->ended[i].user == user && (!guild || ts->ended[i].guild == guild))
			ts->ended[i] = (struct text_ended){0};
}

/* The newest one: an edit may have had the message judged again. */
static const struct text_ended *find_ended(const struct text_session *ts, uint64_t guild,
					   uint64_t message)
{
	for (unsigned i = 0; i < TEXT_ENDED && i < ts->n_ended; i++) {
		const struct text_ended *e = &ts->ended[(ts->n_ended - 1 - i) % TEXT_ENDED];

		if (e->message == message && e->guild == guild)
			return e;
	}
	return NULL;
}

/* Nobody was asked about this message. */
static enum text_why_kind guess(const struct text_session *ts, const struct settings *s,
				uint64_t message)
{
	if (missed_ms_of(message) < ts->began_ms)
		return TEXT_WHY_UNKNOWN;
	if (s->text_chat == SETTINGS_TEXT_OFF)
		return TEXT_WHY_OFF;
	return s->text_chat == SETTINGS_TEXT_MENTIONS ? TEXT_WHY_NOT_READ : TEXT_WHY_UNKNOWN;
}

void text_session_why(const struct text_session *ts, const struct settings *s, uint64_t guild,
		      uint64_t message, struct text_why *out)
{
	const struct text_ended *e = find_ended(ts, guild, message);

	*out = (struct text_why){.reason = "", .rule = ""};
	if (!e) {
		out->kind = guess(ts, s, message);
		return;
	}
	out->kind = TEXT_WHY_ENDED;
	if (e->reason == TEXT_REASON_SENT_REPLY || e->reason == TEXT_REASON_SENT_MESSAGE ||
	    e->reason == TEXT_REASON_REACTED)
		out->kind = TEXT_WHY_ANSWERED;
	out->user = e->user;
	out->personal =
		e->reason == TEXT_REASON_NO_CONSENT || e->reason == TEXT_REASON_USER_BLOCKED;
	out->reason = text_reason_text(e->reason);
	if (e->reason == TEXT_REASON_NOT_ADMITTED)
		out->rule = text_admission_text(e->admission);
}
