/* The answer, from the brain to the room, derived from what was told and nothing else:
 *
 *   active turn   brain's sound   playback          output is
 *   none          -               -                 idle
 *   ASKED         none            -                 pending
 *   ASKED         held back       not open          pending (is it "I did not catch that"?)
 *   SPEAKING      let out         not started       pending
 *   SPEAKING      let out         started           speaking
 *   SPEAKING      whole           started           speaking, until drained
 *   CLOSING       cancelled       stopping          fading
 *
 * A guest may say to each speaker only rarely that it did not understand. Whether an answer is that
 * is known from its words, so a guest's answer is held back until enough words or enough sound came
 * to tell. */
#include "control/room/inside.h"

enum { TELL_CHARS = 40, TELL_MS = 400, DRAIN_SLACK_S = 5 };

void room_ask(struct room *room, struct room_turn *turn)
{
	struct room_effect *e;

	room->active = turn;
	room_cancel_arm(&room->cancel, ROOM_HERE, &turn->token);
	turn->phase = ROOM_PHASE_ASKED;
	turn->asked_at = room->now;
	turn->deadline = room->now + room->settings->first_audio_ms * ROOM_MS;
	turn->sinks |= ROOM_SINK_BRAIN;
	turn->policy = room_policy(room->settings->interruptions, ROOM_TARGET_UNTOLD, 0, turn->user);
	room_decide(turn, ROOM_RULE_ASKED, true,
		    turn->end_of_speech_at < room->now
			    ? (int64_t)((room->now - turn->end_of_speech_at) / ROOM_MS)
			    : 0,
		    0);
	e = room_do(room, ROOM_DO_ASK);
	e->turn = turn->id;
	e->user = turn->user;
	e->text = room_line(room, turn);
}

/* Letters only, lower case, one blank between words: so that punctuation does not hide a phrase. */
static void plain(const char *text, char *to, size_t size)
{
	size_t k = 0;

	for (; *text && k + 1 < size; text++) {
		char ch = *text;

		if (ch >= 'A' && ch <= 'Z')
			ch = (char)(ch - 'A' + 'a');
		if (ch == '\'')
			continue;
		if (!((ch >= 'a' && ch <= 'z') || (ch >= '0' && ch <= '9') ||
		      (unsigned char)ch >= 0x80))
			ch = ' ';
		if (ch == ' ' && (k == 0 || to[k - 1] == ' '))
			continue;
		to[k++] = ch;
	}
	to[k] = '\0';
}

static bool says_not_understood(const struct room *room, const struct room_turn *t)
{
	char said[TELL_CHARS * 4], phrase[128];

	plain(t->said, said, sizeof said);
	plain(room->settings->not_understood, phrase, sizeof phrase);
	return *phrase && strstr(said, phrase);
}

static void let_out(struct room *room, struct room_turn *t)
{
	t->let_out = true;
	t->phase = ROOM_PHASE_SPEAKING;
	t->deadline = room->now + room->settings->stall_ms * ROOM_MS;
	room_do(room, ROOM_DO_SAY_OPEN)->turn = t->id;
}

/* This speaker's place; else a free one, or that of whoever was told longest ago, emptied. */
static struct room_told *told_of(struct room *room, uint64_t user)
{
	struct room_told *oldest = &room->not_understood[0];

	for (unsigned i = 0; i < ROOM_SPEAKERS; i++) {
		struct room_told *x = &room->not_understood[i];

		if (x->user == user)
			return x;
		if (oldest->user && (!x->user || x->at < oldest->at))
			oldest = x;
	}
	oldest->user = 0;
	return oldest;
}

/* True when the turn was ended here. */
static bool not_understood_too_often(struct room *room, struct room_turn *t)
{
	struct room_told *told = told_of(room, t->user);
	uint64_t limit = room->settings->not_understood_s, since = limit;

	if (told->user)
		since = (room->now - told->at) / ROOM_S;
	room_decide(t, ROOM_RULE_NOT_UNDERSTOOD_RARE, since >= limit, (int64_t)since,
		    (int64_t)limit);
	if (since < limit) {
		room_turn_cancel(room, t, ROOM_REASON_NOT_UNDERSTOOD);
		return true;
	}
	*told = (struct room_told){.user = t->user, .at = room->now};
	return false;
}

/* Sound is there and not let out yet: decide. */
static void decide_out(struct room *room, struct room_turn *t)
{
	bool told = strlen(t->said) >= TELL_CHARS || t->brain_done ||
		    t->samples >= TELL_MS * ROOM_RATE / 1000;

	t->not_understood = says_not_understood(room, t);
	if (!t->samples || (room->guest && !told && !t->not_understood))
		return;
	if (room->guest && t->not_understood && not_understood_too_often(room, t))
		return;
	room_decide(t, ROOM_RULE_FIRST_AUDIO, true, (int64_t)((room->now - t->asked_at) / ROOM_MS),
		    room->settings->first_audio_ms);
	let_out(room, t);
}

static void brain_over(struct room *room, struct room_turn *t, bool broke)
{
	t->brain_done = true;
	t->brain_broke = broke;
	t->sinks &= ~(unsigned)ROOM_SINK_BRAIN;
	if (!t->let_out)
		decide_out(room, t);
	if (t->phase == ROOM_PHASE_ENDED)
		return;
	if (!t->let_out) {
		t->sinks &= ~(unsigned)ROOM_SINK_SPEECH;
		room_turn_end(room, t, broke ? ROOM_REASON_BRAIN_FAILED : ROOM_REASON_NO_ANSWER);
		return;
	}
	room_do(room, ROOM_DO_SAY_END)->turn = t->id;
	t->deadline = room->now + t->samples * ROOM_S / ROOM_RATE + DRAIN_SLACK_S * ROOM_S;
}

void room_brain_fact(struct room *room, const struct room_event *ev)
{
	struct room_turn *t = room->active;
	struct room_effect *e;

	if (!t || t->id != ev->turn || t->brain_done ||
	    (t->phase != ROOM_PHASE_ASKED && t->phase != ROOM_PHASE_SPEAKING))
		return;
	switch (ev->type) {
	case ROOM_BRAIN_AUDIO:
		if (ev->pcm.n < 2)
			return;
		t->samples += ev->pcm.n / 2;
		t->sinks |= ROOM_SINK_SPEECH;
		e = room_do(room, ROOM_DO_SAY_PCM);
		e->turn = t->id;
		e->pcm = ev->pcm;
		break;
	case ROOM_BRAIN_TEXT: {
		size_t n = strlen(t->said);

		/* The words come in pieces that hold their own blanks. */
		if (ev->text.n < sizeof t->said - n) {
			memcpy(t->said + n, ev->text.p, ev->text.n);
			t->said[n + ev->text.n] = '\0';
		}
		break;
	}
	case ROOM_BRAIN_DONE:
	case ROOM_BRAIN_FAILED:
		brain_over(room, t, ev->type == ROOM_BRAIN_FAILED);
		return;
	default:
		return;
	}
	if (!t->let_out)
		decide_out(room, t);
	else
		t->deadline = room->now + room->settings->stall_ms * ROOM_MS;
}

static enum room_reason end_reason(const struct room *room, const struct room_turn *t, bool drained)
{
	if (!drained)
		return room->up ? ROOM_REASON_PLAYBACK_FAILED : ROOM_REASON_CALL_LOST;
	if (t->brain_broke)
		return ROOM_REASON_BRAIN_FAILED;
	return t->not_understood ? ROOM_REASON_NOT_UNDERSTOOD : ROOM_REASON_ANSWERED;
}

void room_playback_fact(struct room *room, const struct room_event *ev)
{
	struct room_turn *t = room->active;

	if (!t || t->id != ev->turn || !t->let_out)
		return;
	if (ev->type == ROOM_SAY_STARTED) {
		if (!t->first_audio_at)
			t->first_audio_at = ev->at;
		return;
	}
	t->samples_heard = ev->samples < t->samples ? ev->samples : t->samples;
	t->sinks &= ~(unsigned)ROOM_SINK_SPEECH;
	if (t->sinks & ROOM_SINK_BRAIN) {
		t->sinks &= ~(unsigned)ROOM_SINK_BRAIN;
		room_do(room, ROOM_DO_BRAIN_CANCEL)->turn = t->id;
	}
	room_turn_end(room, t, end_reason(room, t, ev->type == ROOM_SAY_DRAINED));
}
