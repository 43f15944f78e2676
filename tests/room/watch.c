#include "tests/room/watch.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/room/base/answers.h"
#include "control/room/inside.h"
#include "control/room/turn/segment.h"
#include "proto/base/time.h"
#include "tests/room/states.h"
#include "tests/room/typed.h"

enum {
	STUCK_STEPS = 64,  /* timers at one time, with a deadline that is not later */
	WAIT_S = 180,	   /* nothing of a turn waits longer without getting further */
	CHANCE_MS = 5000,  /* as much of a jump of time counts as time in which a room could act */
	CLOSING_MS = 3500, /* from a stop to the end of the turn, at most */
};

/* The requests made for a turn. */
struct turn {
	uint32_t id;
	bool asked, recorded, pcm, opened, ended, stopped, over, told_over;
	enum room_phase phase;
	uint64_t moved_at, sound; /* on the clock of chances; samples */
};

enum asr { ASR_NONE, ASR_OPEN, ASR_COMMITTED };

struct utterance {
	uint32_t id, first; /* first: of the recording that it is a part of, 0 = none */
	uint64_t user;
	enum asr state;
	bool judged; /* the interrupt classifier was asked about it */
};

struct watch {
	struct seen *seen;
	struct typed_watch typed;
	struct turn turn[WATCH_TURNS];
	struct utterance utterance[WATCH_UTTERANCES];
	uint32_t last_utterance, asking, playing, question;
	uint64_t now, probability;
	unsigned stuck;
	uint64_t deadline;
	uint32_t recording; /* of this step, its first utterance */
	struct {
		uint32_t utterance; /* whose final words came in this step, 0 = none */
		uint64_t user;
	} words, lost; /* lost: which will have none */
	uint8_t at[STATES_MACHINES], capture[ROOM_SPEAKERS];
	struct voice {
		uint64_t user, until;
	} voice[WATCH_VOICES]; /* end of the last audio of this user that is no silence */
	unsigned places;       /* of those */
	char what[256];
	bool broken;
};

__attribute__((format(printf, 2, 3))) static void broken(struct watch *w, const char *fmt, ...)
{
	va_list ap;

	if (w->broken)
		return;
	w->broken = true;
	va_start(ap, fmt);
	vsnprintf(w->what, sizeof w->what, fmt, ap);
	va_end(ap);
}

int watch_alloc(struct watch **out, struct seen *seen)
{
	struct watch *w = calloc(1, sizeof *w);

	if (!w)
		return ENOMEM;
	w->seen = seen;
	*out = w;
	return 0;
}

struct watch *watch_free(struct watch *w)
{
	free(w);
	return NULL;
}

void watch_reset(struct watch *w)
{
	*w = (struct watch){.seen = w->seen};
}

/* A machine was found in one state and left in another. */
static void moved(struct watch *w, enum states_machine m, unsigned from, unsigned to)
{
	char a[STATES_NAME], b[STATES_NAME];

	if (from == to)
		return;
	if (w->seen)
		w->seen->moves[m][from][to]++;
	if (!states_never(m, from, to))
		return;
	states_name(m, from, a);
	states_name(m, to, b);
	broken(w, "%s goes from %s to %s, and %s", states_machine(m), a, b,
	       states_never(m, from, to));
}

static struct turn *turn_of(struct watch *w, uint32_t id)
{
	struct turn *t = &w->turn[id % WATCH_TURNS];

	if (t->id != id)
		*t = (struct turn){.id = id, .moved_at = w->probability};
	return t;
}

/* ---- what came ---- */

/* The others of a recording have no words of their own. */
static void recording_over(struct watch *w, uint32_t first)
{
	for (unsigned i = 0; i < WATCH_UTTERANCES; i++)
		if (w->utterance[i].first == first)
			w->utterance[i].state = ASR_NONE;
}

static void utterance_over(struct watch *w, uint32_t id, uint64_t user, bool failed)
{
	struct utterance *u = &w->utterance[id % WATCH_UTTERANCES];

	if (u->id != id || u->user != user || u->state != ASR_COMMITTED)
		return;
	if (failed) {
		w->lost.utterance = id;
		w->lost.user = user;
	}
	u->state = ASR_NONE;
	if (u->first == id)
		recording_over(w, id);
}

/* Any sample of this amplitude may be speech. */
static void measure_voice(struct watch *w, const struct room *room, const struct room_event *ev)
{
	struct voice *voice = &w->voice[ev->user % WATCH_VOICES];
	uint64_t until = w->now + ev->pcm.n / 2 * NS_PER_S / ROOM_RATE;
	const struct settings *set = room->context.settings;
	int active = (int)(set->active_sample < set->promote_peak / 2 ? set->active_sample
								      : set->promote_peak / 2);

	for (size_t i = 0; i + 1 < ev->pcm.n; i += 2) {
		int v = (int16_t)(ev->pcm.p[i] | ev->pcm.p[i + 1] << 8);

		if (v < active && v > -active)
			continue;
		if (voice->user != ev->user || until > voice->until)
			*voice = (struct voice){ev->user, until};
		return;
	}
}

static bool has_letters(const char *text, size_t n)
{
	for (size_t i = 0; i < n && text[i]; i++)
		if (isalnum((unsigned char)text[i]))
			return true;
	return false;
}

/* A transcript that was awaited, with words. */
static void words_came(struct watch *w, const struct room_event *ev)
{
	const struct utterance *u = &w->utterance[ev->utterance % WATCH_UTTERANCES];

	if (!has_letters((const char *)ev->text.p, ev->text.n) || u->id != ev->utterance ||
	    u->user != ev->user || u->state != ASR_COMMITTED)
		return;
	w->words.utterance = ev->utterance;
	w->words.user = ev->user;
}

static void came(struct watch *w, const struct room *room, const struct room_event *ev)
{
	if (ev->type == ROOM_TRANSCRIPT)
		words_came(w, ev);
	if (ev->type == ROOM_TYPED || ev->type == ROOM_EDITED)
		typed_came(&w->typed, ev);
	switch ((int)ev->type) {
	case ROOM_HEARD:
		measure_voice(w, room, ev);
		break;
	case ROOM_TRANSCRIPT:
	case ROOM_TRANSCRIPT_FAILED:
		utterance_over(w, ev->utterance, ev->user, ev->type == ROOM_TRANSCRIPT_FAILED);
		break;
	case ROOM_BRAIN_AUDIO:
	case ROOM_BRAIN_TEXT:
	case ROOM_BRAIN_DONE:
	case ROOM_BRAIN_FAILED:
		if (ev->turn != w->asking || !ev->turn)
			break;
		turn_of(w, ev->turn)->moved_at = w->probability;
		turn_of(w, ev->turn)->sound += ev->pcm.n / 2;
		if (ev->type == ROOM_BRAIN_DONE || ev->type == ROOM_BRAIN_FAILED)
			w->asking = 0;
		break;
	case ROOM_SPEECH_AUDIO:
		if (!ev->turn || turn_of(w, ev->turn)->recorded)
			break;
		turn_of(w, ev->turn)->moved_at = w->probability;
		turn_of(w, ev->turn)->sound += ev->pcm.n / 2;
		break;
	case ROOM_SPEECH_DONE:
	case ROOM_SOUND_DONE:
		if (ev->turn)
			turn_of(w, ev->turn)->moved_at = w->probability;
		break;
	case ROOM_SAY_DRAINED:
	case ROOM_SAY_STOPPED:
		/* None that was not ended can have drained; who believes it may end the turn all
		 * the same. */
		if (!ev->turn || !turn_of(w, ev->turn)->opened)
			break;
		turn_of(w, ev->turn)->told_over = true;
		turn_of(w, ev->turn)->over =
			turn_of(w, ev->turn)->ended || ev->type == ROOM_SAY_STOPPED;
		break;
	default:
		break;
	}
}

/* ---- what the room did ---- */

static void asr_effect(struct watch *w, const struct room_effect *e)
{
	struct utterance *u = &w->utterance[e->utterance % WATCH_UTTERANCES];
	bool known = u->id == e->utterance && u->user == e->user;

	switch ((int)e->type) {
	case ROOM_DO_ASR_START:
		if (e->utterance <= w->last_utterance)
			broken(w, "utterance %u was started after %u", e->utterance,
			       w->last_utterance);
		w->last_utterance = e->utterance;
		*u = (struct utterance){.id = e->utterance, .user = e->user, .state = ASR_OPEN};
		break;
	case ROOM_DO_ASR_APPEND:
		if (!known || u->state != ASR_OPEN)
			broken(w, "sound for utterance %u, which takes none", e->utterance);
		break;
	case ROOM_DO_ASR_COMMIT:
		if (!known || u->state != ASR_OPEN)
			broken(w, "utterance %u is committed and was not open", e->utterance);
		u->state = ASR_COMMITTED;
		break;
	case ROOM_DO_ASR_RECORDING:
		if (!known || u->state != ASR_OPEN)
			broken(w, "utterance %u is a recording and was not open", e->utterance);
		u->state = ASR_COMMITTED;
		u->first = w->recording = w->recording ? w->recording : e->utterance;
		break;
	case ROOM_DO_ASR_CANCEL:
		if (known && u->state == ASR_COMMITTED) {
			w->lost.utterance = u->id;
			w->lost.user = u->user;
		}
		if (known)
			u->state = ASR_NONE;
		if (known && u->first == u->id)
			recording_over(w, u->id);
		break;
	case ROOM_DO_ASR_CLOSE:
		for (unsigned i = 0; i < WATCH_UTTERANCES; i++)
			if (w->utterance[i].user == e->user)
				w->utterance[i].state = ASR_NONE;
		break;
	default:
		break;
	}
}

static void brain_effect(struct watch *w, struct turn *t, const struct room_effect *e)
{
	if (e->type == ROOM_DO_ASK) {
		if (w->asking)
			broken(w, "turn %u is asked while %u still is", e->turn, w->asking);
		if (!e->text || !*e->text)
			broken(w, "turn %u is asked without a word", e->turn);
		t->asked = true;
		w->asking = e->turn;
	} else if (e->type == ROOM_DO_ASK_AGAIN) {
		if (!t->asked)
			broken(w, "turn %u is asked again and never was", e->turn);
		w->asking = e->turn;
	} else if (e->type == ROOM_DO_BRAIN_CANCEL) {
		/* It may cross the brain's own end on the way, but not be about another turn. */
		if (!t->asked || (w->asking && w->asking != e->turn))
			broken(w, "turn %u is cancelled at the brain and is not asked", e->turn);
		w->asking = 0;
	} else if (!t->asked) {
		broken(w, "the answer to turn %u is truncated and was never asked for", e->turn);
	}
}

static void say_effect(struct watch *w, struct turn *t, const struct room_effect *e)
{
	struct turn *other = turn_of(w, w->playing);

	switch ((int)e->type) {
	case ROOM_DO_SAY_PCM:
		/* On the brain path another playback follows one that is over. */
		if (t->ended && t->over && !t->stopped)
			t->opened = t->ended = t->over = t->told_over = false;
		if (t->stopped || t->ended || t->over)
			broken(w, "more sound for turn %u after its end", e->turn);
		t->pcm = true;
		break;
	case ROOM_DO_SAY_OPEN:
		if (t->opened || !t->pcm)
			broken(w, "turn %u opens %s", e->turn,
			       t->opened ? "twice" : "without sound");
		if (w->playing && w->playing != e->turn && !other->over && !other->recorded)
			broken(w, "turn %u opens while %u still plays", e->turn, w->playing);
		t->opened = true;
		w->playing = e->turn;
		break;
	case ROOM_DO_SAY_END:
		if (!t->opened || t->ended || t->stopped)
			broken(w, "turn %u is told to end %s", e->turn,
			       t->opened ? "twice" : "before it opened");
		t->ended = true;
		break;
	default: /* stop, and what changes a playback */
		if (t->stopped || t->over || (!t->opened && e->type != ROOM_DO_SAY_STOP) || !t->pcm)
			broken(w, "turn %u is stopped or changed and does not play", e->turn);
		t->stopped = t->stopped || e->type == ROOM_DO_SAY_STOP;
	}
}

/* A recording that waits for the one before it. */
static bool waits_in_lane(const struct room *room, uint32_t utterance)
{
	const struct room_recording *t = &room->transcripts.recordings.waiting;

	for (unsigned i = 0; i < t->n; i++)
		if (t->utterance[i] == utterance)
			return true;
	return false;
}

/* Of this turn's words some are on their way through speech-to-text. */
static bool words_come(const struct watch *w, const struct room *room, const struct room_turn *r)
{
	for (unsigned i = 0; i < r->chunks; i++) {
		const struct utterance *u = &w->utterance[r->chunk[i].utterance % WATCH_UTTERANCES];

		if (u->id == r->chunk[i].utterance && u->user == r->user &&
		    (u->state == ASR_COMMITTED ||
		     (u->state == ASR_OPEN && waits_in_lane(room, u->id))))
			return true;
	}
	return false;
}

static void question_effect(struct watch *w, const struct room_effect *e)
{
	struct utterance *u = &w->utterance[e->utterance % WATCH_UTTERANCES];

	if (e->chunk <= w->question)
		broken(w, "question %u follows question %u", e->chunk, w->question);
	w->question = e->chunk;
	if (!e->text || !*e->text)
		broken(w, "question %u has no words", e->chunk);
	if (e->type != ROOM_DO_CLASSIFY_OVERLAP || u->id != e->utterance || u->user != e->user)
		return;
	if (u->judged)
		broken(w, "utterance %u is asked about twice", e->utterance);
	u->judged = true;
}

/* ---- words ---- */

static bool has_utterance(const struct room_turn *t, uint64_t user, uint32_t utterance)
{
	for (unsigned i = 0; i < t->segments; i++)
		if (t->segment[i].user == user && t->segment[i].utterance == utterance)
			return true;
	for (unsigned i = 0; i < t->chunks; i++)
		if (t->user == user && t->chunk[i].utterance == utterance)
			return true;
	return false;
}

/* True if this turn records that one of these rules dropped words of it. */
static bool records_drop(const struct room_turn *t, const enum room_rule *rules, unsigned n)
{
	for (unsigned k = 0; k < t->decisions && k < ROOM_CHAIN; k++)
		for (unsigned r = 0; r < n; r++)
			if (t->decision[k].rule == rules[r] && !t->decision[k].yes)
				return true;
	/* The chain is full; later decisions are counted alone. */
	return t->decisions > ROOM_CHAIN;
}

/* True if this turn has words of this utterance, not only its place. */
static bool has_words(const struct room_turn *t, uint64_t user, uint32_t utterance)
{
	char text[ROOM_TEXT_MAX];

	for (unsigned i = 0; i < t->segments; i++) {
		if (t->segment[i].user != user || t->segment[i].utterance != utterance)
			continue;
		room_segment_text(t, i, text, sizeof text);
		if (has_letters(text, sizeof text))
			return true;
	}
	for (unsigned i = 0; i < t->chunks; i++)
		if (t->user == user && t->chunk[i].utterance == utterance &&
		    has_letters(t->chunk[i].text, sizeof t->chunk[i].text))
			return true;
	return false;
}

/* A failed transcript is recorded by a turn of its speaker. */
static void look_at_loss(struct watch *w, const struct room *room)
{
	static const enum room_rule lost[] = {ROOM_RULE_TRANSCRIBED};

	if (!w->lost.utterance)
		return;
	for (unsigned i = 0; i < ROOM_TURNS; i++) {
		const struct room_turn *t = &room->turns.turn[i];

		if (t->phase != ROOM_PHASE_FREE && t->user == w->lost.user &&
		    records_drop(t, lost, 1))
			return;
	}
	broken(w, "no turn records that the words of utterance %u are lost", w->lost.utterance);
}

/* The words that came in this step stand in a turn, which ends with a reason, or the turn of their
 * utterance records the rule that dropped them. */
static void look_at_words(struct watch *w, const struct room *room)
{
	static const enum room_rule drops[] = {ROOM_RULE_NO_SPEECH, ROOM_RULE_SPEECH_RATE,
					       ROOM_RULE_REPETITION, ROOM_RULE_ECHO};
	bool vanished = false;

	look_at_loss(w, room);
	if (!w->words.utterance)
		return;
	for (unsigned i = 0; i < ROOM_TURNS; i++) {
		const struct room_turn *t = &room->turns.turn[i];

		if (t->phase == ROOM_PHASE_FREE)
			continue;
		/* A full list of chunks gives up those without words. */
		if (t->phase < ROOM_PHASE_ASKED && t->user == w->words.user &&
		    records_drop(t, drops, 4))
			return;
		if (!has_utterance(t, w->words.user, w->words.utterance))
			continue;
		if (has_words(t, w->words.user, w->words.utterance) || records_drop(t, drops, 4))
			return;
		vanished = true;
	}
	broken(w, "the words of utterance %u %s", w->words.utterance,
	       vanished ? "vanish without a rule" : "are in no turn");
}

/* A turn that ended because another one has its words: that one does have them. */
static void look_at_heir(struct watch *w, const struct room *room, const struct room_turn *r)
{
	for (unsigned k = 0; k < r->segments; k++) {
		const struct room_segment *s = &r->segment[k];
		/* Words of somebody who has left are dropped with them. */
		bool found = !s->utterance || room_place(&room->context, s->user) == ROOM_SPEAKERS;

		char text[ROOM_TEXT_MAX];

		room_segment_text(r, k, text, sizeof text);
		found = found || !has_letters(text, sizeof text);
		for (unsigned i = 0; i < ROOM_TURNS && !found; i++) {
			const struct room_turn *t = &room->turns.turn[i];

			found = t->phase != ROOM_PHASE_FREE && t->id != r->id &&
				(t->dropped_head || has_utterance(t, s->user, s->utterance) ||
				 strstr(t->transcript, text));
		}
		if (!found)
			broken(w, "turn %u ends as %s, and no other turn has the words of %u",
			       r->id, room_reason_name(r->reason), s->utterance);
	}
}

/* Words of a turn that ends: asked, in another turn, or dropped for the reason that is recorded. */
static void look_at_end_of_words(struct watch *w, const struct room *room, const struct turn *t,
				 const struct room_turn *r)
{
	/* A speculative answer had interim words only, which stay with the capture; a turn that had
	 * a playback to stop gave its words away a while ago. */
	if ((r->reason == ROOM_REASON_MERGED || r->reason == ROOM_REASON_SUPERSEDED) && !t->stopped)
		look_at_heir(w, room, r);
	else if ((r->reason == ROOM_REASON_ANSWERED || r->reason == ROOM_REASON_INTERRUPTED ||
		  r->reason == ROOM_REASON_NO_ANSWER) &&
		 !t->asked)
		broken(w, "turn %u ends as %s and the brain was never asked", r->id,
		       room_reason_name(r->reason));
}

static void recorded(struct watch *w, const struct room *room, struct turn *t,
		     const struct room_turn *r)
{
	if (t->recorded)
		broken(w, "turn %u ends twice", r->id);
	if (r->reason == ROOM_REASON_NONE || r->phase != ROOM_PHASE_ENDED)
		broken(w, "turn %u ends without a reason", r->id);
	if (w->asking == r->id)
		broken(w, "turn %u ends and the brain is not told", r->id);
	if (words_come(w, room, r))
		broken(w, "turn %u ends and speech-to-text is not told", r->id);
	if (t->opened && !t->told_over && !t->stopped && r->reason != ROOM_REASON_SHUTDOWN)
		broken(w, "turn %u ends and goes on playing", r->id);
	look_at_end_of_words(w, room, t, r);
	t->recorded = true;
	moved(w, STATES_TURN, t->phase, ROOM_PHASE_ENDED);
	t->phase = ROOM_PHASE_ENDED;
	if (w->seen) {
		w->seen->reasons[r->reason]++;
		for (unsigned i = 0; i < r->decisions && i < ROOM_CHAIN; i++)
			w->seen->rules[r->decision[i].rule]++;
	}
}

/* The question holds the words of every segment of its turn. */
static void look_at_question(struct watch *w, const struct room *room, const struct room_effect *e)
{
	const struct room_turn *t = room_turn_by_id(&room->context, e->turn);
	char text[ROOM_TEXT_MAX];

	if (typed_is_stale(&w->typed, room, e))
		broken(w, "turn %u is asked with words that were taken back", e->turn);
	for (unsigned i = 0; t && e->text && i < t->segments; i++) {
		room_segment_text(t, i, text, sizeof text);
		if (!strstr(e->text, text))
			broken(w, "turn %u is asked without the words of utterance %u", e->turn,
			       t->segment[i].utterance);
	}
}

static void did(struct watch *w, const struct room *room, const struct room_effect *e)
{
	uint32_t id = e->record ? e->record->id : e->turn;
	struct turn *t = id ? turn_of(w, id) : NULL;

	if (w->seen)
		w->seen->effects[e->type]++;
	if (t && t->recorded && e->type != ROOM_DO_RECORD)
		broken(w, "effect %d for turn %u, which has ended", (int)e->type, id);
	if (e->type == ROOM_DO_ASK)
		look_at_question(w, room, e);
	switch ((int)e->type) {
	case ROOM_DO_ASR_START:
	case ROOM_DO_ASR_APPEND:
	case ROOM_DO_ASR_COMMIT:
	case ROOM_DO_ASR_RECORDING:
	case ROOM_DO_ASR_CANCEL:
	case ROOM_DO_ASR_CLOSE:
		asr_effect(w, e);
		break;
	case ROOM_DO_ASK:
	case ROOM_DO_ASK_AGAIN:
	case ROOM_DO_BRAIN_CANCEL:
	case ROOM_DO_BRAIN_TRUNCATE:
		if (t)
			brain_effect(w, t, e);
		break;
	case ROOM_DO_SAY_PCM:
	case ROOM_DO_SAY_OPEN:
	case ROOM_DO_SAY_END:
	case ROOM_DO_SAY_STOP:
	case ROOM_DO_SAY_PAUSE:
	case ROOM_DO_SAY_RESUME:
	case ROOM_DO_SAY_GAIN:
		if (t)
			say_effect(w, t, e);
		break;
	case ROOM_DO_SPEAK:
	case ROOM_DO_SOUNDBOARD:
		if (t->stopped || !e->text || !*e->text)
			broken(w, "turn %u is to speak %s", id,
			       t->stopped ? "after it was stopped" : "no words");
		break;
	case ROOM_DO_CLASSIFY:
	case ROOM_DO_CLASSIFY_OVERLAP:
		question_effect(w, e);
		break;
	case ROOM_DO_RECORD:
		recorded(w, room, t, e->record);
		break;
	case ROOM_DO_LEAVE:
		if (w->seen)
			w->seen->ends[room->session.end]++;
		break;
	default:
		break;
	}
}

/* ---- how the room stands ---- */

static bool lives(const struct room_turn *t)
{
	return t->phase != ROOM_PHASE_FREE && t->phase != ROOM_PHASE_ENDED;
}

/* Packets without voice keep no turn open. */
static void look_at_voice(struct watch *w, const struct room *room, const struct room_turn *rt)
{
	const struct voice *v = &w->voice[rt->user % WATCH_VOICES];
	uint64_t delay = room->context.settings->end_long_ms * NS_PER_MS;

	if (v->user == rt->user && w->now >= v->until + delay)
		broken(w, "turn %u is heard for %llu ms without voice", rt->id,
		       (unsigned long long)((w->now - v->until) / NS_PER_MS));
}

static void look_at_turn(struct watch *w, const struct room *room, const struct room_turn *rt)
{
	struct turn *t = turn_of(w, rt->id);
	uint64_t most = (uint64_t)WAIT_S * NS_PER_S + t->sound * NS_PER_S / ROOM_RATE;

	if (t->phase != rt->phase) {
		moved(w, STATES_TURN, t->phase, rt->phase);
		t->phase = rt->phase;
		t->moved_at = w->probability;
	}
	if (!lives(rt))
		return;
	if (t->stopped && rt->phase != ROOM_PHASE_CLOSING)
		broken(w, "turn %u was stopped and is in phase %d", rt->id, (int)rt->phase);
	if (rt->phase == ROOM_PHASE_CLOSING &&
	    w->probability - t->moved_at > CLOSING_MS * NS_PER_MS)
		broken(w, "turn %u was stopped and does not end", rt->id);
	if (rt->phase == ROOM_PHASE_HEARING) {
		unsigned place = room_place(&room->context, rt->user);

		if (place == ROOM_SPEAKERS || room->turns.hearing[place] != rt)
			broken(w, "turn %u is heard from nobody", rt->id);
		look_at_voice(w, room, rt);
		return;
	}
	if (rt->phase == ROOM_PHASE_TRANSCRIBING && !words_come(w, room, rt))
		broken(w, "turn %u has its words and waits for them", rt->id);
	if (rt->phase == ROOM_PHASE_DEFERRED && !room->context.settings->defer_expire_ms)
		return; /* for ever, if so wanted */
	if (w->probability - t->moved_at > most)
		broken(w, "turn %u waits in phase %d and gets no further", rt->id, (int)rt->phase);
	if (w->deadline > w->now + most)
		broken(w, "turn %u waits in phase %d and there is no timer", rt->id,
		       (int)rt->phase);
}

/* Who waits is held by confirmed speech alone, until it has its words. */
static void look_at_queue(struct watch *w, const struct room *room, unsigned queued)
{
	/* A model that receives the room's state before each question has to confirm it. */
	if (!queued || room->turns.active || !room->context.up ||
	    room->context.settings->reply_path == SETTINGS_REPLY_BRIDGE ||
	    room->context.settings->transcript_batch_ms || room->context.settings->debounce_ms)
		return;
	for (unsigned i = 0; i < room->people.places; i++)
		if (room->people.person[i].used &&
		    room->captures.of[i].phase == ROOM_CAPTURE_PROMOTED &&
		    w->now < room->captures.of[i].voice_at +
				     room->context.settings->end_long_ms * NS_PER_MS)
			return;
	for (const struct room_turn *t = room_turn_next(&room->context, NULL); t;
	     t = room_turn_next(&room->context, t))
		if (t->phase == ROOM_PHASE_TRANSCRIBING ||
		    (t->phase == ROOM_PHASE_QUEUED &&
		     w->now < room_retrieval_until(&room->context, t)))
			return;
	/* A step that frees the floor at its very end may leave the taking up to a timer at once.
	 */
	if (w->deadline > w->now)
		broken(w, "a turn is held and nobody speaks");
}

/* What the machines of the room went through, and what stands at once. */
static void look_at_machines(struct watch *w, const struct room *room)
{
	unsigned places = room->people.places > w->places ? room->people.places : w->places;
	uint8_t at[STATES_MACHINES] = {0};

	states_of(room, w->now, at);
	/* A room that is over is not stepped any more: its machines stand where they stood. */
	if (room->context.over) {
		moved(w, STATES_SESSION, w->at[STATES_SESSION], at[STATES_SESSION]);
		memcpy(w->at, at, sizeof at);
		if (w->seen)
			w->seen->pairs[STATES_SESSION][at[STATES_OUTPUT]][at[STATES_SESSION]]++;
		return;
	}
	for (unsigned i = 0; i < places; i++) {
		uint8_t capture = (uint8_t)room->captures.of[i].phase;

		moved(w, STATES_CAPTURE, w->capture[i], capture);
		w->capture[i] = capture;
		if (capture > at[STATES_CAPTURE])
			at[STATES_CAPTURE] = capture;
	}
	w->places = room->people.places;
	for (unsigned m = 0; m < STATES_MACHINES; m++) {
		if (m != STATES_CAPTURE && m != STATES_TURN)
			moved(w, (enum states_machine)m, w->at[m], at[m]);
		if (!states_paired(m))
			continue;
		if (w->seen)
			w->seen->pairs[m][at[STATES_OUTPUT]][at[m]]++;
		if (states_never_both(m, at[STATES_OUTPUT], at[m]))
			broken(w, "the output is in state %d and %s in %d, and %s",
			       at[STATES_OUTPUT], states_machine(m), at[m],
			       states_never_both(m, at[STATES_OUTPUT], at[m]));
	}
	memcpy(w->at, at, sizeof at);
}

static void look(struct watch *w, const struct room *room, const struct room_event *ev)
{
	unsigned queued = 0;

	w->deadline = room_deadline(room);
	for (const struct room_turn *t = room_turn_next(&room->context, NULL); t;
	     t = room_turn_next(&room->context, t)) {
		look_at_turn(w, room, t);
		queued += t->phase == ROOM_PHASE_QUEUED;
	}
	look_at_queue(w, room, queued);
	look_at_words(w, room);
	if (room->turns.active && !lives(room->turns.active))
		broken(w, "turn %u is over and keeps the floor", room->turns.active->id);
	w->stuck = w->deadline <= w->now && ev->type == ROOM_TIMER ? w->stuck + 1 : 0;
	if (w->stuck > STUCK_STEPS)
		broken(w, "timers pass and the deadline stays");
	look_at_machines(w, room);
}

const char *watch_step(struct watch *w, const struct room *room, const struct room_event *ev,
		       uint64_t now, const struct room_effects *fx)
{
	uint64_t before = w->deadline, gone = w->now ? now - w->now : 0;

	w->probability += gone < CHANCE_MS * NS_PER_MS ? gone : CHANCE_MS * NS_PER_MS;
	w->now = now;
	w->recording = 0;
	w->words.utterance = w->lost.utterance = 0;
	came(w, room, ev);
	for (size_t i = 0; i < fx->n; i++)
		did(w, room, &fx->v[i]);
	if (fx->n >= ROOM_EFFECTS)
		broken(w, "more effects than there is room for");
	look(w, room, ev);
	if (w->seen) {
		w->seen->events[ev->type]++;
		w->seen->steps++;
		w->seen->changed += fx->n || before != w->deadline;
	}
	return w->broken ? w->what : NULL;
}

const char *watch_rest(struct watch *w, const struct room *room)
{
	for (unsigned i = 0; i < ROOM_TURNS; i++)
		if (lives(&room->turns.turn[i]) != (room->turns.live[i / 64] >> i % 64 & 1))
			broken(w, "turn %u is not where it is looked for", room->turns.turn[i].id);
	for (unsigned i = 0; i < ROOM_TURNS; i++)
		if (lives(&room->turns.turn[i]) &&
		    (room->turns.turn[i].phase != ROOM_PHASE_DEFERRED ||
		     room->context.settings->defer_expire_ms))
			broken(w, "turn %u never ended", room->turns.turn[i].id);
	for (unsigned i = 0; i < WATCH_UTTERANCES; i++)
		if (w->utterance[i].state != ASR_NONE)
			broken(w, "utterance %u never ended", w->utterance[i].id);
	if (w->asking)
		broken(w, "turn %u is asked for ever", w->asking);
	return w->broken ? w->what : NULL;
}
