#include "control/room/answer/barge_in.h"

#include "control/room/inside.h"

/* What a pause adds to the time an answer has to come to its end. */
enum { PAUSE_SLACK_S = 10 };

static bool calling(const struct room_arbitrate_in *in)
{
	return in->named || in->words == ROOM_PHRASE_TAKEOVER || in->words == ROOM_PHRASE_STOP;
}

enum room_verdict room_arbitrate(const struct settings *s, const struct room_arbitrate_in *in)
{
	enum room_gate gate = room_gate(s, &in->gate);

	/* Words are worth more than how long and how loud they were. */
	if (calling(in) && in->calls && gate >= ROOM_GATE_ECHO_GUARD_ACTIVE &&
	    gate != ROOM_GATE_OUTPUT_LEASE_SPEECH_IMMUNITY &&
	    gate != ROOM_GATE_NO_ACTIVE_BOT_SPEECH)
		return ROOM_CUT;
	if (in->words == ROOM_PHRASE_LISTENING || in->aside)
		return ROOM_IGNORE;
	if (gate == ROOM_GATE_ALLOWED && !in->awaited)
		return ROOM_CUT;
	if (gate != ROOM_GATE_ALLOWED && gate != ROOM_GATE_INSUFFICIENT_CAPTURE_BYTES &&
	    gate != ROOM_GATE_CAPTURE_TOO_YOUNG_FOR_BUFFERED_PLAYBACK &&
	    gate != ROOM_GATE_SPEAKING_END_FINALIZE_PENDING)
		return ROOM_IGNORE;
	if (!in->gate.allowed || !in->live)
		return ROOM_IGNORE;
	if (in->words == ROOM_PHRASE_WORDS)
		return ROOM_CUT;
	if (in->gate.voice_ms >= s->pause_ms && in->gate.promoted && !in->awaited)
		return ROOM_PAUSE;
	return in->sound_ms >= s->duck_ms ? ROOM_DUCK : ROOM_IGNORE;
}

/* ---- a speaker's stretch ---- */

static bool lasts(const struct room_over *o, const struct settings *s, uint64_t now)
{
	return o->voice_at && (now < o->voice_at + s->barge_in_gap_ms * ROOM_MS ||
			       (o->verdict && now < o->lowered_at + s->words_ms * ROOM_MS));
}

/* The next voice begins another stretch. */
static void over(struct room_over *o)
{
	o->voice_ms = o->early_ms = o->words_voice_ms = o->peek.voice_ms = 0;
}

/* The answer that can be heard, or NULL. */
static struct room_turn *audible(struct room *room)
{
	struct room_turn *t = room->active;

	return t && t->phase == ROOM_PHASE_SPEAKING && t->first_audio_at ? t : NULL;
}

static struct room_arbitrate_in look(const struct room *room, const struct room_speaker *sp,
				     const struct room_turn *t)
{
	const struct room_over *o = &sp->over;
	const struct settings *s = room->settings;
	const struct room_capture *c = &sp->capture;
	struct room_arbitrate_in in = {.words = o->words, .aside = o->aside};

	/* Much more was said since: what, nobody knows yet. Whoever is called by name is told
	 * longer. */
	if (o->voice_ms >= o->words_voice_ms + s->barge_in_ms + (o->aside ? s->promote_ms : 0)) {
		in.words = ROOM_PHRASE_NOTHING;
		in.aside = false;
	}
	in.sound_ms = o->voice_ms;
	in.live = lasts(o, s, room->now);
	/* Who goes on after a word or two is not kept waiting for more and more of them. */
	in.awaited = room_interim_awaits(&o->peek, s, room->now) &&
		     (o->aside || o->voice_ms < s->barge_in_ms + s->words_ms);
	in.calls = room_policy_allows(&t->policy, sp->user, true);
	in.gate = (struct room_gate_in){
		.locked = true,
		.answering = true,
		.heard = true,
		.heard_ms = room->now > t->first_audio_at
				    ? (room->now - t->first_audio_at) / ROOM_MS
				    : 0,
		.immune_ms = room_lease_immune_ms(&t->lease, s, t->first_audio_at, room->now),
		.user = sp->user,
		.finalizing = c->phase == ROOM_CAPTURE_NONE || c->over_at,
		.allowed = room_policy_allows(&t->policy, sp->user, false),
		.read_out = room->reply.planned,
		.age_ms = (room->now - c->started_at) / ROOM_MS,
		.voice_ms = o->voice_ms - o->early_ms,
		.promoted = c->phase == ROOM_CAPTURE_PROMOTED,
		.active = room_signal_active(&c->signal),
		.peak = c->signal.peak,
		/* Only such frames are counted. */
		.voice_active = s->barge_in_active,
		.voice_peak = s->barge_in_peak,
	};
	return in;
}

static void cut(struct room *room, struct room_turn *t, const struct room_arbitrate_in *in,
		struct room_speaker *sp)
{
	const struct settings *s = room->settings;

	if (in->named)
		room_decide(t, ROOM_RULE_OVER_NAMED, true, sp->over.utterance, 0);
	else if (calling(in))
		room_decide(t, ROOM_RULE_OVER_TAKEN, true, sp->over.utterance, 0);
	else if (in->words == ROOM_PHRASE_WORDS)
		room_decide(t, ROOM_RULE_OVER_WORDS, true, (int64_t)sp->over.voice_ms, s->words_ms);
	else
		room_decide(t, ROOM_RULE_BARGE_IN, true, (int64_t)sp->over.voice_ms,
			    s->barge_in_ms);
	t->cut_by = sp->user;
	t->cut_utterance = sp->over.utterance;
	room_turn_cancel(room, t, ROOM_REASON_INTERRUPTED);
}

static void decide(struct room *room, struct room_speaker *sp, struct room_turn *t, bool named)
{
	struct room_arbitrate_in in = look(room, sp, t);
	enum room_verdict v;

	in.named = named;
	v = room_arbitrate(room->settings, &in);
	if (v == ROOM_CUT) {
		cut(room, t, &in, sp);
		return;
	}
	if (v > sp->over.verdict) {
		if (v == ROOM_PAUSE && !t->paused_times++)
			room_decide(t, ROOM_RULE_OVER_PAUSED, true, (int64_t)sp->over.voice_ms,
				    room->settings->pause_ms);
		sp->over.lowered_at = room->now;
		sp->over.verdict = v;
	} else if (in.words == ROOM_PHRASE_LISTENING || in.aside) {
		sp->over.verdict = ROOM_IGNORE;
	}
}

void room_over_sound(struct room *room, struct room_speaker *sp, const struct room_signal *frame,
		     uint64_t at)
{
	const struct settings *s = room->settings;
	struct room_turn *t = audible(room);
	struct room_over *o = &sp->over;

	if (!t || at < t->first_audio_at)
		return;
	if (frame->peak < s->barge_in_peak || room_signal_active(frame) < s->barge_in_active)
		return;
	if (o->turn != t->id || o->capture != sp->capture.started_at)
		*o = (struct room_over){.turn = t->id,
					.capture = sp->capture.started_at,
					.from = sp->capture.utterance};
	o->utterance = sp->capture.utterance;
	if (at < o->voice_at || at - o->voice_at > s->barge_in_gap_ms * ROOM_MS)
		over(o);
	o->voice_at = at;
	o->voice_ms += room_signal_ms(frame);
	if (sp->capture.phase != ROOM_CAPTURE_PROMOTED)
		o->early_ms = o->voice_ms;
	room_interim_sound(room, sp);
	decide(room, sp, t, false);
}

/* "Bob, pass me the salt": the name of somebody else who is there, at its beginning. */
static bool aside(const struct room *room, const struct room_speaker *sp, const char *text)
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

/* The words of what is said over the answer, up to these of one of its pieces. */
static void join(const struct room_turn *of, uint32_t from, uint32_t utterance, const char *words,
		 char *text, size_t size)
{
	text[0] = '\0';
	for (unsigned i = 0; of && i < of->pieces; i++) {
		const struct room_piece *p = &of->piece[i];

		if (p->utterance < from || p->utterance >= utterance || !*p->text)
			continue;
		room_append(text, size, p->text, strlen(p->text));
	}
	room_append(text, size, words, strlen(words));
}

bool room_over_words(struct room *room, struct room_speaker *sp, const struct room_turn *of,
		     uint32_t utterance, const char *words)
{
	struct room_over *o = &sp->over;
	struct room_turn *t = room_turn_by_id(room, o->turn);
	char text[ROOM_TEXT_MAX];
	bool named;

	if (!t || !o->turn || utterance < o->from || utterance > o->utterance)
		return false;
	join(of ? of : sp->turn, o->from, utterance, words, text, sizeof text);
	named = room_address(&room->names, text) == ROOM_ADDRESS_ADDRESSED;
	o->words = room_phrase(text);
	/* A look covers what had been said when it was taken, and the same words once more nothing
	 * since. */
	if (strlen(text) != o->words_n)
		o->words_voice_ms = !of && o->peek.n ? o->peek.voice_ms : o->voice_ms;
	o->words_n = strlen(text);
	o->peek.at = 0;
	o->aside = !named && aside(room, sp, text + strspn(text, " "));
	if (t == audible(room))
		decide(room, sp, t, named);
	return t->cut_by == sp->user && o->words == ROOM_PHRASE_STOP;
}

/* ---- the bot's voice ---- */

static void lower(struct room *room, struct room_turn *t, enum room_verdict to)
{
	const struct settings *s = room->settings;
	struct room_effect *e;

	if (to == ROOM_PAUSE) {
		t->deadline += PAUSE_SLACK_S * ROOM_S;
		e = room_do(room, ROOM_DO_SAY_PAUSE);
		e->ms = s->stop_fade_ms;
	} else if (room->voice.lowered == ROOM_PAUSE) {
		e = room_do(room, ROOM_DO_SAY_RESUME);
		e->ms = s->duck_fade_ms;
	} else {
		e = room_do(room, ROOM_DO_SAY_GAIN);
		e->gain = to == ROOM_DUCK ? s->duck_gain : 1000;
		e->ms = s->duck_fade_ms;
	}
	e->turn = t->id;
}

void room_arbiter_settle(struct room *room)
{
	struct room_turn *t = audible(room);
	enum room_verdict to = ROOM_IGNORE;

	/* Between two playbacks of one answer there is nothing to be lowered; the next one is. */
	if (!t || !room->reply.open) {
		room->voice = (struct room_voice){0};
		return;
	}
	if (room->voice.turn != t->id)
		room->voice = (struct room_voice){.turn = t->id};
	for (unsigned i = 0; i < room->places; i++) {
		struct room_over *o = &room->speaker[i].over;

		if (!room->speaker[i].used || !o->verdict)
			continue;
		if (o->turn != t->id || !lasts(o, room->settings, room->now)) {
			o->verdict = ROOM_IGNORE;
			over(o);
		}
		if (o->verdict > to)
			to = o->verdict;
	}
	if (to == room->voice.lowered)
		return;
	lower(room, t, to);
	/* From a pause to full: it was softer before it paused. */
	if (room->voice.lowered == ROOM_PAUSE && room->voice.ducked && to == ROOM_IGNORE) {
		room->voice.lowered = ROOM_DUCK;
		lower(room, t, to);
	}
	room->voice.ducked =
		to == ROOM_DUCK || (to == ROOM_PAUSE && room->voice.lowered == ROOM_DUCK);
	room->voice.lowered = to;
}

uint64_t room_arbiter_deadline(const struct room *room)
{
	const struct settings *s = room->settings;
	uint64_t at = UINT64_MAX;

	if (!room->voice.lowered)
		return at;
	for (unsigned i = 0; i < room->places; i++) {
		const struct room_over *o = &room->speaker[i].over;
		uint64_t gap = o->voice_at + s->barge_in_gap_ms * ROOM_MS;
		uint64_t words = o->lowered_at + s->words_ms * ROOM_MS;

		if (room->speaker[i].used && o->verdict && (gap > words ? gap : words) < at)
			at = gap > words ? gap : words;
	}
	return at;
}
