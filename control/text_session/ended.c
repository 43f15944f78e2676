/* Why messages ended (inside.h): the last ones, for people who ask. */
#include "control/settings/settings.h"
#include "control/text/missed.h"
#include "control/text_session/inside.h"

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
	if (e->reason == TEXT_REASON_SENT_REPLY || e->reason == TEXT_REASON_SENT_MESSAGE)
		out->kind = TEXT_WHY_ANSWERED;
	out->user = e->user;
	out->personal =
		e->reason == TEXT_REASON_NO_CONSENT || e->reason == TEXT_REASON_USER_BLOCKED;
	out->reason = text_reason_text(e->reason);
	if (e->reason == TEXT_REASON_NOT_ADMITTED)
		out->rule = text_admission_text(e->admission);
}
