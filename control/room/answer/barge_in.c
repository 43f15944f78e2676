#include "control/room/answer/barge_in.h"

#include "control/room/inside.h"
#include "proto/base/time.h"

/* Extends the deadline of an answer by this for every pause. */
enum { PAUSE_SLACK_S = 10 };

static bool takes_floor(const struct room_barge_in_input *in)
{
	return in->named || in->words == ROOM_PHRASE_TAKEOVER || in->words == ROOM_PHRASE_STOP;
}

enum room_barge_in_action room_barge_in_decide(const struct settings *s,
					       const struct room_barge_in_input *in)
{
	enum room_gate gate = room_gate(s, &in->gate);

	/* Words by name or takeover override duration and level. */
	if (takes_floor(in) && in->calls && gate >= ROOM_GATE_ECHO_GUARD_ACTIVE &&
	    gate != ROOM_GATE_OUTPUT_LEASE_SPEECH_IMMUNITY &&
	    gate != ROOM_GATE_NO_ACTIVE_BOT_SPEECH)
		return ROOM_BARGE_IN_STOP;
	if (in->words == ROOM_PHRASE_BACKCHANNEL || in->to_other)
		return ROOM_BARGE_IN_IGNORE;
	if (gate == ROOM_GATE_ALLOWED && !in->awaited)
		return ROOM_BARGE_IN_STOP;
	if (gate != ROOM_GATE_ALLOWED && gate != ROOM_GATE_INSUFFICIENT_CAPTURE_BYTES &&
	    gate != ROOM_GATE_CAPTURE_TOO_YOUNG_FOR_BUFFERED_PLAYBACK &&
	    gate != ROOM_GATE_SPEAKING_END_FINALIZE_PENDING)
		return ROOM_BARGE_IN_IGNORE;
	if (!in->gate.allowed || !in->live)
		return ROOM_BARGE_IN_IGNORE;
	if (in->words == ROOM_PHRASE_WORDS)
		return ROOM_BARGE_IN_STOP;
	if (in->gate.voice_ms >= s->pause_ms && in->gate.promoted && !in->awaited)
		return ROOM_BARGE_IN_PAUSE;
	return in->sound_ms >= s->duck_ms ? ROOM_BARGE_IN_DUCK : ROOM_BARGE_IN_IGNORE;
}

/* ---- overlap segments ---- */

static bool overlap_lasts(const struct room_overlap *o, const struct settings *s, uint64_t now)
{
	return o->voice_at &&
	       (now < o->voice_at + s->barge_in_gap_ms * NS_PER_MS ||
		(o->verdict && now < o->lowered_at + s->overlap_words_ms * NS_PER_MS));
}

/* Resets the counters: the next voiced frame begins another overlap segment. */
static void reset_overlap(struct room_overlap *o)
{
	o->voice_ms = o->early_ms = o->words_voice_ms = o->interim.voice_ms = 0;
}

/* The answer that is audible, or NULL. */
static struct room_turn *find_audible_turn(struct room *room)
{
	struct room_turn *t = room->active;

	return t && t->phase == ROOM_PHASE_SPEAKING && t->first_audio_at ? t : NULL;
}

static struct room_barge_in_input
gather_input(const struct room *room, const struct room_speaker *sp, const struct room_turn *t)
{
	const struct room_overlap *o = &sp->overlap;
	const struct settings *s = room->context.settings;
	const struct room_capture *c = &sp->capture;
	struct room_barge_in_input in = {.words = o->words, .to_other = o->to_other};

	/* Much more was said since these words arrived, and it is still unknown. A speaker who
	 * addresses somebody else by name gets more time. */
	if (o->voice_ms >= o->words_voice_ms + s->barge_in_ms + (o->to_other ? s->promote_ms : 0)) {
		in.words = ROOM_PHRASE_NOTHING;
		in.to_other = false;
	}
	in.sound_ms = o->voice_ms;
	in.live = overlap_lasts(o, s, room->context.now);
	/* A speaker that continues after a few words does not wait for further transcripts. */
	in.awaited = room_interim_awaited(&o->interim, s, room->context.now) &&
		     (o->to_other || o->voice_ms < s->barge_in_ms + s->overlap_words_ms);
	in.calls = room_interruption_allowed(&t->policy, sp->user, true);
	in.gate = (struct room_gate_input){
		.locked = true,
		.answering = true,
		.heard = true,
		.heard_ms = room->context.now > t->first_audio_at
				    ? (room->context.now - t->first_audio_at) / NS_PER_MS
				    : 0,
		.immune_ms = room_output_lease_immune_ms(&t->lease, s, t->first_audio_at,
							 room->context.now),
		.user = sp->user,
		.finalizing = c->phase == ROOM_CAPTURE_NONE || c->over_at,
		.allowed = room_interruption_allowed(&t->policy, sp->user, false),
		.read_out = room_reply_planned(&room->reply),
		.age_ms = (room->context.now - c->started_at) / NS_PER_MS,
		.voice_ms = o->voice_ms - o->early_ms,
		.promoted = c->phase == ROOM_CAPTURE_PROMOTED,
		.active = room_signal_active(&c->signal),
		.peak = c->signal.peak,
		/* Only frames above these thresholds are counted. */
		.voice_active = s->barge_in_active,
		.voice_peak = s->barge_in_peak,
	};
	return in;
}

static void interrupt_answer(struct room *room, struct room_turn *t,
			     const struct room_barge_in_input *in, struct room_speaker *sp)
{
	const struct settings *s = room->context.settings;

	if (in->named)
		room_turn_decide(t, ROOM_RULE_OVERLAP_NAMED, true, sp->overlap.utterance, 0);
	else if (takes_floor(in))
		room_turn_decide(t, ROOM_RULE_OVERLAP_TAKEOVER, true, sp->overlap.utterance, 0);
	else if (in->words == ROOM_PHRASE_WORDS)
		room_turn_decide(t, ROOM_RULE_OVERLAP_WORDS, true, (int64_t)sp->overlap.voice_ms,
				 s->overlap_words_ms);
	else
		room_turn_decide(t, ROOM_RULE_BARGE_IN, true, (int64_t)sp->overlap.voice_ms,
				 s->barge_in_ms);
	t->interrupted_by = sp->user;
	t->interrupting_utterance = sp->overlap.utterance;
	room_turn_cancel(&room->context, t, ROOM_REASON_INTERRUPTED);
}

static void decide_overlap(struct room *room, struct room_speaker *sp, struct room_turn *t,
			   bool named)
{
	struct room_barge_in_input in = gather_input(room, sp, t);
	enum room_barge_in_action v;

	in.named = named;
	v = room_barge_in_decide(room->context.settings, &in);
	if (v == ROOM_BARGE_IN_STOP) {
		interrupt_answer(room, t, &in, sp);
		return;
	}
	if (v > sp->overlap.verdict) {
		if (v == ROOM_BARGE_IN_PAUSE && !t->pause_count++)
			room_turn_decide(t, ROOM_RULE_OVERLAP_PAUSED, true,
					 (int64_t)sp->overlap.voice_ms,
					 room->context.settings->pause_ms);
		sp->overlap.lowered_at = room->context.now;
		sp->overlap.verdict = v;
	} else if (in.words == ROOM_PHRASE_BACKCHANNEL || in.to_other) {
		sp->overlap.verdict = ROOM_BARGE_IN_IGNORE;
	}
}

void room_overlap_audio(struct room *room, struct room_speaker *sp, const struct room_signal *frame,
			uint64_t at)
{
	const struct settings *s = room->context.settings;
	struct room_turn *t = find_audible_turn(room);
	struct room_overlap *o = &sp->overlap;

	if (!t || at < t->first_audio_at)
		return;
	if (frame->peak < s->barge_in_peak || room_signal_active(frame) < s->barge_in_active)
		return;
	if (o->turn != t->id || o->capture != sp->capture.started_at)
		*o = (struct room_overlap){.turn = t->id,
					   .capture = sp->capture.started_at,
					   .from = sp->capture.utterance};
	o->utterance = sp->capture.utterance;
	if (at < o->voice_at || at - o->voice_at > s->barge_in_gap_ms * NS_PER_MS)
		reset_overlap(o);
	o->voice_at = at;
	o->voice_ms += room_signal_ms(frame);
	if (sp->capture.phase != ROOM_CAPTURE_PROMOTED)
		o->early_ms = o->voice_ms;
	room_interim_on_audio(room, sp);
	decide_overlap(room, sp, t, false);
}

/* The utterance begins with the name of somebody else who is present: "Bob, pass me the salt".
 * */
static bool addresses_somebody_else(const struct room *room, const struct room_speaker *sp,
				    const char *text)
{
	for (unsigned i = 0; i < room->places; i++) {
		const struct room_speaker *x = &room->speaker[i];
		size_t n = strcspn(x->name, " ");

		if (x->used && x != sp && n >= 2 && strncasecmp(text, x->name, n) == 0 &&
		    !((text[n] | 0x20) >= 'a' && (text[n] | 0x20) <= 'z'))
			return true;
	}
	return false;
}

/* Joins the words of the overlap segment, up to these words of one of its chunks. */
static void join_words(const struct room_turn *of, uint32_t from, uint32_t utterance,
		       const char *words, char *text, size_t size)
{
	text[0] = '\0';
	for (unsigned i = 0; of && i < of->chunks; i++) {
		const struct room_capture_chunk *p = &of->chunk[i];

		if (p->utterance < from || p->utterance >= utterance || !*p->text)
			continue;
		room_append(text, size, p->text, strlen(p->text));
	}
	room_append(text, size, words, strlen(words));
}

bool room_overlap_words(struct room *room, struct room_speaker *sp, const struct room_turn *of,
			uint32_t utterance, const char *words)
{
	struct room_overlap *o = &sp->overlap;
	struct room_turn *t = room_turn_by_id(&room->context, o->turn);
	char text[ROOM_TEXT_MAX];
	bool named;

	if (!t || !o->turn || utterance < o->from || utterance > o->utterance)
		return false;
	join_words(of ? of : sp->turn, o->from, utterance, words, text, sizeof text);
	named = room_address(&room->names, text) == ROOM_ADDRESS_ADDRESSED;
	o->words = room_phrase_of(text);
	/* An interim transcript covers the audio up to its request, and the same words again
	 * cover no more. */
	if (strlen(text) != o->words_n)
		o->words_voice_ms = !of && o->interim.n ? o->interim.voice_ms : o->voice_ms;
	o->words_n = strlen(text);
	o->interim.at = 0;
	o->to_other = !named && addresses_somebody_else(room, sp, text + strspn(text, " "));
	if (t == find_audible_turn(room))
		decide_overlap(room, sp, t, named);
	return t->interrupted_by == sp->user && o->words == ROOM_PHRASE_STOP;
}

/* ---- the bot's voice ---- */

static void change_level(struct room *room, struct room_turn *t, enum room_barge_in_action to)
{
	const struct settings *s = room->context.settings;
	struct room_effect *e;

	if (to == ROOM_BARGE_IN_PAUSE) {
		t->deadline += PAUSE_SLACK_S * NS_PER_S;
		e = room_emit(&room->context, ROOM_DO_SAY_PAUSE);
		e->ms = s->stop_fade_ms;
	} else if (room->level.lowered == ROOM_BARGE_IN_PAUSE) {
		e = room_emit(&room->context, ROOM_DO_SAY_RESUME);
		e->ms = s->duck_fade_ms;
	} else {
		e = room_emit(&room->context, ROOM_DO_SAY_GAIN);
		e->gain = to == ROOM_BARGE_IN_DUCK ? s->duck_gain : 1000;
		e->ms = s->duck_fade_ms;
	}
	e->turn = t->id;
}

void room_barge_in_tick(struct room *room)
{
	struct room_turn *t = find_audible_turn(room);
	enum room_barge_in_action to = ROOM_BARGE_IN_IGNORE;

	/* Between two playbacks of one answer no level can be changed; the next playback begins
	 * at full level. */
	if (!t || !room_reply_is_open(&room->reply)) {
		room->level = (struct room_playback_level){0};
		return;
	}
	if (room->level.turn != t->id)
		room->level = (struct room_playback_level){.turn = t->id};
	for (unsigned i = 0; i < room->places; i++) {
		struct room_overlap *o = &room->speaker[i].overlap;

		if (!room->speaker[i].used || !o->verdict)
			continue;
		if (o->turn != t->id ||
		    !overlap_lasts(o, room->context.settings, room->context.now)) {
			o->verdict = ROOM_BARGE_IN_IGNORE;
			reset_overlap(o);
		}
		if (o->verdict > to)
			to = o->verdict;
	}
	if (to == room->level.lowered)
		return;
	change_level(room, t, to);
	/* It was ducked before it paused, so the gain is restored as well. */
	if (room->level.lowered == ROOM_BARGE_IN_PAUSE && room->level.ducked &&
	    to == ROOM_BARGE_IN_IGNORE) {
		room->level.lowered = ROOM_BARGE_IN_DUCK;
		change_level(room, t, to);
	}
	room->level.ducked =
		to == ROOM_BARGE_IN_DUCK ||
		(to == ROOM_BARGE_IN_PAUSE && room->level.lowered == ROOM_BARGE_IN_DUCK);
	room->level.lowered = to;
}

uint64_t room_barge_in_deadline(const struct room *room)
{
	const struct settings *s = room->context.settings;
	uint64_t at = UINT64_MAX;

	if (!room->level.lowered)
		return at;
	for (unsigned i = 0; i < room->places; i++) {
		const struct room_overlap *o = &room->speaker[i].overlap;
		uint64_t gap = o->voice_at + s->barge_in_gap_ms * NS_PER_MS;
		uint64_t words = o->lowered_at + s->overlap_words_ms * NS_PER_MS;

		if (room->speaker[i].used && o->verdict && (gap > words ? gap : words) < at)
			at = gap > words ? gap : words;
	}
	return at;
}

void room_barge_in_reset(struct room *room)
{
	room->level = (struct room_playback_level){0};
}

bool room_barge_in_paused(const struct room *room, uint32_t turn)
{
	return room->level.turn == turn && room->level.lowered == ROOM_BARGE_IN_PAUSE;
}
