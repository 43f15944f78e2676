/* Transcripts: speech-to-text of the room, one session for each speaker.
 *
 *   utterance   event or input                becomes        effect
 *   none        a capture starts              streaming      ASR_START, then ASR_APPEND
 *   streaming   the capture ends, full chunk  committed      ASR_COMMIT
 *   streaming   discarded, noise              none           ASR_CANCEL
 *   committed   transcript                    done           -
 *   committed   failed, asr_wait_ms           done, failed   -
 *
 * Provisional audio is streamed as well, which saves latency; only promoted captures are committed.
 * Events of utterances that no turn waits for are dropped. A session that stays unused for
 * asr_idle_ms is closed. A session that finds no words in asr_empty_max utterances of at least
 * asr_empty_ms in a row is closed, too, so that the next utterance opens a new one; any words reset
 * the count, and shorter audio does not count. */
#include "control/room/turn/admission.h"
#include "control/room/hearing/long_capture.h"
#include "control/room/turn/deferred.h"
#include "control/room/hearing/hallucination_filter.h"
#include "control/room/inside.h"
#include "control/room/turn/segment.h"
#include "control/room/turn/supersede.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

static struct room_effect *emit_asr(struct room *room, enum room_effect_type type,
				    struct room_speaker *sp)
{
	struct room_effect *e = room_emit(&room->context, type);

	e->user = sp->user;
	e->utterance = sp->capture.utterance;
	sp->asr_used_at = room->context.now;
	return e;
}

void room_asr_start(struct room *room, struct room_speaker *sp)
{
	sp->capture.utterance = ++room->last_utterance;
	sp->asr_open = true;
	emit_asr(room, ROOM_DO_ASR_START, sp);
	/* The audio after a chunk counts as speech from its beginning. */
	if (room->shared && sp->capture.phase == ROOM_CAPTURE_PROMOTED)
		room_asr_promote(room, sp);
}

void room_asr_promote(struct room *room, struct room_speaker *sp)
{
	emit_asr(room, ROOM_DO_ASR_PROMOTE, sp);
}

void room_asr_discard(struct room *room, struct room_speaker *sp)
{
	emit_asr(room, ROOM_DO_ASR_CANCEL, sp);
}

/* ---- the lane of recordings (recordings.h) ---- */

static void emit_asr_cancel(struct room *room, uint64_t user, uint32_t utterance)
{
	struct room_effect *e = room_emit(&room->context, ROOM_DO_ASR_CANCEL);

	e->user = user;
	e->utterance = utterance;
}

static void step_transcript(struct room *room, const struct room_event *ev);

static void start_recordings(struct room *room, const struct room_recording_out *out)
{
	for (unsigned i = 0; i < out->dropped.n; i++) {
		emit_asr_cancel(room, out->dropped.user, out->dropped.utterance[i]);
		step_transcript(room, &(struct room_event){.type = ROOM_TRANSCRIPT_FAILED,
							   .user = out->dropped.user,
							   .utterance = out->dropped.utterance[i]});
	}
	for (unsigned i = 0; out->run && i < room->recordings.running.n; i++) {
		struct room_effect *e = room_emit(&room->context, ROOM_DO_ASR_RECORDING);

		e->user = room->recordings.running.user;
		e->utterance = room->recordings.running.utterance[i];
	}
}

/* The running recording is finished: its transcript belongs to the first utterance, the
 * coalesced ones have none of their own. */
static void finish_recording(struct room *room)
{
	struct room_recording ran = room->recordings.running;
	struct room_recording_out out = room_recording_done(&room->recordings, room->context.now);

	for (unsigned i = 1; i < ran.n; i++)
		step_transcript(room, &(struct room_event){.type = ROOM_TRANSCRIPT,
							   .user = ran.user,
							   .utterance = ran.utterance[i]});
	start_recordings(room, &out);
}

static bool recording_runs(const struct room *room, uint64_t user, uint32_t utterance)
{
	const struct room_recording *t = &room->recordings.running;

	return t->n && t->user == user && t->utterance[0] == utterance;
}

void room_asr_release(struct room *room, uint64_t user, uint32_t utterance)
{
	room_recording_cancel(&room->recordings, user, utterance);
	if (recording_runs(room, user, utterance))
		finish_recording(room);
}

static void queue_recording(struct room *room, struct room_speaker *sp,
			    const struct room_capture_chunk *p)
{
	struct room_recording_out out =
		room_recording_add(&room->recordings, sp->user, p->utterance, sp->capture.phase,
				   p->ms, room->context.now);

	start_recordings(room, &out);
}

void room_asr_commit(struct room *room, struct room_speaker *sp)
{
	const struct room_signal *heard = &sp->capture.signal;
	struct room_turn *t = sp->turn;
	struct room_capture_chunk *p = room_long_capture_add(t);

	if (p) {
		*p = (struct room_capture_chunk){
			.utterance = sp->capture.utterance,
			.committed = true,
			.ms = (uint32_t)room_signal_ms(heard),
			.voice_ms = (uint32_t)room_signal_ms(&sp->capture.voiced),
			.rms = room_signal_rms(heard)};
		t->sound_ms += p->ms;
		t->sinks |= ROOM_SINK_ASR;
		if (room->files)
			queue_recording(room, sp, p);
		else
			emit_asr(room, ROOM_DO_ASR_COMMIT, sp);
	} else {
		room_asr_discard(room, sp);
	}
}

/* The mean lack of confidence over all chunks; 0 if it was not reported. */
static uint32_t mean_doubt(const struct room_turn *t)
{
	uint64_t sum = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < t->chunks; i++) {
		sum += t->chunk[i].doubt;
		n += t->chunk[i].doubt > 0;
	}
	return n ? (uint32_t)(sum / n) : 0;
}

/* Decides the kind of a transcript and records every rule that was examined. */
static enum room_transcript_kind classify_transcript(const struct room *room, struct room_turn *t)
{
	const struct settings *s = room->context.settings;
	struct room_transcript_input f = {.text = t->transcript, .doubt = mean_doubt(t)};
	enum room_transcript_kind kind;

	if (t->end_of_speech_at > t->born_at)
		f.spoken_ms =
			(uint32_t)((t->end_of_speech_at - t->born_at) / NS_PER_MS) + s->promote_ms;
	f.named = f.doubt && room_address(&room->names, t->transcript) != ROOM_ADDRESS_NONE;
	kind = room_transcript_classify(&f, s);
	if (kind == ROOM_TRANSCRIPT_KIND_CONTROL)
		room_turn_decide(t, ROOM_RULE_CONTROL_TOKENS, true, 0, 0);
	else
		room_turn_decide(t, ROOM_RULE_TRANSCRIPT, kind != ROOM_TRANSCRIPT_KIND_EMPTY,
				 (int64_t)strlen(t->transcript), 1);
	if (f.doubt && (kind == ROOM_TRANSCRIPT_KIND_UNSURE || kind == ROOM_TRANSCRIPT_KIND_SPARSE))
		room_turn_decide(t, ROOM_RULE_LOW_CONFIDENCE, kind != ROOM_TRANSCRIPT_KIND_UNSURE,
				 f.doubt - 1, s->asr_unsure);
	if (kind == ROOM_TRANSCRIPT_KIND_SPARSE)
		room_turn_decide(t, ROOM_RULE_SPARSE, false,
				 room_speech_rate(t->transcript, f.spoken_ms), s->asr_sparse_pace);
	return kind;
}

/* Drops a hallucinated transcript and records the evidence. */
static void drop_hallucination(const struct room *room, struct room_turn *t,
			       struct room_capture_chunk *p, uint32_t no_speech)
{
	const struct settings *s = room->context.settings;
	struct room_utterance_transcript h = {.text = p->text,
					      .no_speech = no_speech,
					      .voice_ms = p->voice_ms,
					      .named = room_address(&room->names, p->text) !=
						       ROOM_ADDRESS_NONE};

	switch (room_hallucination_detect(&h, s)) {
	case ROOM_HALLUCINATION_NONE:
		return;
	case ROOM_HALLUCINATION_SILENCE:
		room_turn_decide(t, ROOM_RULE_NO_SPEECH, false, no_speech - 1, s->asr_no_speech);
		break;
	case ROOM_HALLUCINATION_RATE:
		room_turn_decide(t, ROOM_RULE_SPEECH_RATE, false,
				 room_speech_rate(p->text, p->voice_ms), s->asr_most_pace);
		break;
	case ROOM_HALLUCINATION_LOOP:
		room_turn_decide(t, ROOM_RULE_REPETITION, false, room_repetitions(p->text),
				 ROOM_REPETITIONS_MIN);
		break;
	}
	p->hallucinated = true;
	p->text[0] = '\0';
}

static void admit_turn(struct room *room, struct room_turn *t)
{
	struct room_turn *early = room_speculative_match(room, t);

	room_history_add(&room->history, t->end_of_speech_at, t->id, false, false, t->name,
			 t->transcript);
	room_turn_admit(room, t);
	room_speculative_commit(room, t, early);
}

/* Whether this turn interrupted an answer: then it was meant for the bot, however unclear it
 * is. */
static bool interrupted_answer(const struct room *room, const struct room_turn *t)
{
	for (unsigned i = 0; i < t->chunks; i++)
		if (room_followup_interrupted_with(&room->followup, room->context.settings, t->user,
						   t->chunk[i].utterance, room->context.now))
			return !room->context.guest;
	return false;
}

/* All chunks have transcripts: joins their words in order. */
static void complete_turn(struct room *room, struct room_turn *t)
{
	unsigned failed = 0, imagined = 0;
	enum room_transcript_kind kind;

	t->sinks &= ~(unsigned)ROOM_SINK_ASR;
	for (unsigned i = 0; i < t->chunks; i++) {
		failed += t->chunk[i].failed;
		imagined += t->chunk[i].hallucinated;
		room_segment_add(t, t->user, t->name, t->chunk[i].utterance, t->chunk[i].text);
	}
	if (t->dropped_head)
		room_turn_decide(t, ROOM_RULE_FITS, false, t->dropped_head, 0);
	kind = classify_transcript(room, t);
	if (kind != ROOM_TRANSCRIPT_KIND_WORDS && kind != ROOM_TRANSCRIPT_KIND_CONTROL &&
	    interrupted_answer(room, t))
		room_turn_admit_unclear(room, t);
	else if (t->hushed && kind == ROOM_TRANSCRIPT_KIND_WORDS)
		room_turn_end(&room->context, t, ROOM_REASON_HUSHED);
	else if (kind == ROOM_TRANSCRIPT_KIND_WORDS)
		admit_turn(room, t);
	else if (kind == ROOM_TRANSCRIPT_KIND_EMPTY && failed)
		room_turn_end(&room->context, t, ROOM_REASON_ASR_FAILED);
	else if (kind == ROOM_TRANSCRIPT_KIND_EMPTY && imagined)
		room_turn_end(&room->context, t, ROOM_REASON_HALLUCINATION);
	else if (kind == ROOM_TRANSCRIPT_KIND_EMPTY || kind == ROOM_TRANSCRIPT_KIND_CONTROL)
		room_turn_end(&room->context, t, ROOM_REASON_EMPTY_TRANSCRIPT);
	else
		room_turn_end(&room->context, t, ROOM_REASON_LOW_CONFIDENCE);
}

static bool has_all_transcripts(const struct room_turn *t)
{
	for (unsigned i = 0; i < t->chunks; i++)
		if (!t->chunk[i].done)
			return false;
	return t->phase == ROOM_PHASE_TRANSCRIBING;
}

void room_asr_close(struct room *room, struct room_speaker *sp, const char *why)
{
	sp->asr_empty = 0;
	sp->asr_open = false;
	emit_asr(room, ROOM_DO_ASR_CLOSE, sp)->text = why;
}

/* Whether a transcript of this user is pending. */
static bool transcript_pending(const struct room *room, uint64_t user)
{
	for (unsigned i = room_turn_next(room, 0); i < ROOM_TURNS;
	     i = room_turn_next(room, i + 1)) {
		const struct room_turn *t = &room->turn[i];

		for (unsigned k = 0; t->user == user && k < t->chunks; k++)
			if (!t->chunk[k].done)
				return true;
	}
	return false;
}

/* Closes the session after too many empty transcripts, unless the user speaks or a transcript
 * is pending; a shared session does not belong to one speaker. */
static void close_after_empty(struct room *room, struct room_speaker *sp)
{
	if (!room->shared && sp->asr_empty >= room->context.settings->asr_empty_max &&
	    sp->capture.phase == ROOM_CAPTURE_NONE && !transcript_pending(room, sp->user))
		room_asr_close(room, sp, "empty");
}

void room_turn_end_capture(struct room *room, struct room_turn *turn)
{
	struct room_speaker *sp = room_speaker(room, turn->user);

	turn->phase = ROOM_PHASE_TRANSCRIBING;
	turn->deadline = room->context.now + room->context.settings->asr_wait_ms * NS_PER_MS;
	if (sp && sp->turn == turn)
		sp->turn = NULL;
	if (sp)
		close_after_empty(room, sp);
	if (!has_all_transcripts(turn))
		return;
	/* Deferred turns that waited for this speaker to finish are older. */
	room_deferred_tick(room);
	complete_turn(room, turn);
}

/* Updates the circuit breaker and the noise floor from the transcript of a chunk. */
static void update_session(struct room *room, struct room_speaker *sp,
			   const struct room_capture_chunk *p)
{
	const struct settings *s = room->context.settings;
	bool empty = !p->failed && !room_has_words(p->text);

	if (!p->failed)
		room_noise_floor_update(&sp->capture.noise, s, p->rms, !empty, room->context.now);
	if (!empty)
		sp->asr_empty = 0;
	else if (p->ms >= s->asr_empty_ms)
		sp->asr_empty++;
	close_after_empty(room, sp);
}

static struct room_capture_chunk *find_chunk(struct room *room, const struct room_event *ev,
					     struct room_turn **turn)
{
	for (unsigned i = room_turn_next(room, 0); i < ROOM_TURNS;
	     i = room_turn_next(room, i + 1)) {
		struct room_turn *t = &room->turn[i];

		if ((t->phase != ROOM_PHASE_HEARING && t->phase != ROOM_PHASE_TRANSCRIBING) ||
		    t->user != ev->user)
			continue;
		for (unsigned k = 0; k < t->chunks; k++)
			if (t->chunk[k].utterance == ev->utterance && !t->chunk[k].done) {
				*turn = t;
				return &t->chunk[k];
			}
	}
	return NULL;
}

/* An interim transcript may stop the bot; it is not kept. */
static void apply_interim(struct room *room, struct room_speaker *sp, const struct room_event *ev)
{
	char text[ROOM_CAPTURE_CHUNK_TEXT] = "", all[ROOM_TEXT_MAX];

	room_append(text, sizeof text, (const char *)ev->text.p, ev->text.n);
	utf8_plain(text);
	if (room_has_words(text))
		room_capture_on_vad(&sp->capture, ev->utterance);
	room_endpointing_set_interim(sp, ev->utterance, text);
	room_endpointing_update(room, sp);
	room_endpointing_text(sp, all, sizeof all);
	if (*all)
		room_speculative_on_words(room, sp->user, all);
	room_interim_on_words(room, sp, ev->utterance);
	room_overlap_words(room, sp, NULL, ev->utterance, text);
}

static void apply_transcript(struct room *room, const struct room_event *ev)
{
	struct room_speaker *sp = room_speaker(room, ev->user);
	struct room_turn *t = NULL;
	struct room_capture_chunk *p;

	if (ev->type == ROOM_PARTIAL) {
		if (sp)
			apply_interim(room, sp, ev);
		return;
	}
	p = find_chunk(room, ev, &t);
	if (!p) {
		if (ev->type == ROOM_TRANSCRIPT)
			room_turn_revise(room, ev);
		return;
	}
	p->done = true;
	p->failed = ev->type == ROOM_TRANSCRIPT_FAILED;
	p->doubt = ev->doubt;
	if (!p->failed) {
		room_append(p->text, sizeof p->text, (const char *)ev->text.p, ev->text.n);
		utf8_plain(p->text); /* a line of its own would look like another speaker */
		drop_hallucination(room, t, p, ev->no_speech);
	}
	if (sp && !p->failed && room_overlap_words(room, sp, t, p->utterance, p->text))
		t->hushed = t->chunks == 1 && !t->segments;
	if (sp)
		update_session(room, sp, p);
	if (sp && sp->turn == t)
		room_endpointing_update(room, sp);
	if (has_all_transcripts(t))
		complete_turn(room, t);
}

static void step_transcript(struct room *room, const struct room_event *ev)
{
	bool over = ev->type != ROOM_PARTIAL,
	     ran = over && recording_runs(room, ev->user, ev->utterance);

	/* A recording that was not started yet is cancelled. */
	if (over && room_recording_cancel(&room->recordings, ev->user, ev->utterance))
		emit_asr_cancel(room, ev->user, ev->utterance);
	apply_transcript(room, ev);
	if (ran && recording_runs(room, ev->user, ev->utterance))
		finish_recording(room);
}

/* The session stays open while a transcript is pending. */
uint64_t room_asr_idle_at(const struct room *room, const struct room_speaker *sp)
{
	uint64_t at = sp->asr_used_at + room->context.settings->asr_idle_ms * NS_PER_MS;

	if (!sp->asr_open || sp->capture.phase != ROOM_CAPTURE_NONE)
		return UINT64_MAX;
	if (room->context.now >= at && transcript_pending(room, sp->user))
		return UINT64_MAX;
	return at;
}

void room_asr_tick(struct room *room, struct room_speaker *sp)
{
	if (room->context.now < room_asr_idle_at(room, sp))
		return;
	room_asr_close(room, sp, "idle_ttl");
}

void room_transcripts_on_event(struct room *room, const struct room_event *ev)
{
	if (ev->type == ROOM_PARTIAL || ev->type == ROOM_TRANSCRIPT ||
	    ev->type == ROOM_TRANSCRIPT_FAILED)
		step_transcript(room, ev);
}
