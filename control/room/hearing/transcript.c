#include "control/room/hearing/transcript.h"

#include "control/room/base/answers.h"
#include "control/room/base/context.h"
#include "control/room/base/hearing.h"
#include "control/room/base/text.h"
#include "control/room/base/turns.h"
#include "control/room/floor/address.h"
#include "control/room/floor/followup.h"
#include "control/room/hearing/captures.h"
#include "control/room/hearing/echo_filter.h"
#include "control/room/hearing/eot_prediction.h"
#include "control/room/hearing/hallucination_filter.h"
#include "control/room/hearing/long_capture.h"
#include "control/room/language/language.h"
#include "control/room/turn/admission.h"
#include "control/room/turn/deferred.h"
#include "control/room/turn/history.h"
#include "control/room/turn/saying.h"
#include "control/room/turn/segment.h"
#include "control/room/turn/supersede.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"

static struct room_effect *emit_asr(struct room_context *context, enum room_effect_type type,
				    unsigned place, uint32_t utterance)
{
	struct room_effect *e = room_emit(context, type);

	e->user = context->people->person[place].user;
	e->utterance = utterance;
	context->transcripts->session[place].used_at = context->now;
	return e;
}

/* The same for the utterance of the open capture. */
static struct room_effect *emit_current(struct room_context *context, enum room_effect_type type,
					unsigned place)
{
	return emit_asr(context, type, place, room_capture_of(context, place)->utterance);
}

uint32_t room_asr_start(struct room_context *context, unsigned place)
{
	struct room_asr_session *session = &context->transcripts->session[place];
	uint32_t utterance = ++context->transcripts->last;

	emit_asr(context, ROOM_DO_ASR_START, place, utterance)->opens = !session->open;
	session->open = true;
	/* The audio after a chunk counts as speech from its beginning. */
	if (context->asr_shared && room_capture_of(context, place)->phase == ROOM_CAPTURE_PROMOTED)
		emit_asr(context, ROOM_DO_ASR_PROMOTE, place, utterance);
	return utterance;
}

void room_asr_promote(struct room_context *context, unsigned place)
{
	emit_current(context, ROOM_DO_ASR_PROMOTE, place);
}

void room_asr_discard(struct room_context *context, unsigned place)
{
	emit_current(context, ROOM_DO_ASR_CANCEL, place);
}

/* ---- the bot's own voice in a member's microphone (echo_filter.h) ---- */

/* A loudspeaker plays the bot's voice up to ECHO_DELAY_MS later; the rest is what the playout
 * position and the beginning of a capture can be wrong by. */
enum { ECHO_DELAY_MS = 700, ECHO_EARLY_MS = 1500, ECHO_LATE_MS = 1500, ECHO_KNOWN_S = 300 };
/* A member's voice near the microphone is more than so many times as loud as the echo. */
enum { ECHO_OWN = 2 };
enum { LANGUAGE_CODE_MAX = 16 };

/* Audio of a member that may hold the bot's words. */
struct heard {
	uint64_t from, to;
	uint32_t rms;
	uint32_t echo_rms; /* loudness of the echo that it continues; 0: it continues none */
};

static bool sounds_like(uint32_t rms, uint32_t echo_rms)
{
	return echo_rms && rms <= (uint64_t)echo_rms * ECHO_OWN;
}

/* This microphone returned the bot's voice lately, and this audio is as quiet as that was. */
static bool is_known_echo(const struct room_context *context,
			  const struct room_asr_session *session, uint32_t rms)
{
	return session->echo_at && context->now < session->echo_at + ECHO_KNOWN_S * NS_PER_S &&
	       sounds_like(rms, session->echo_rms);
}

/* Words that are the bot's prove nothing, since people repeat what they hear. The sound does: it is
 * much quieter than the member's own voice, or begins with an answer that nobody has heard yet. */
static bool proves_echo(const struct room_context *context, const struct room_asr_session *session,
			const struct heard *heard)
{
	uint64_t since = room_audible_since(context, heard->from);

	return (uint64_t)heard->rms * ECHO_OWN <= session->own_rms ||
	       (since && heard->from <= since + ECHO_DELAY_MS * NS_PER_MS);
}

/* Removes the bot's words from the transcript of this audio. */
static enum room_echo remove_echo(struct room_context *context, unsigned place, char *text,
				  const struct heard *heard)
{
	struct room_asr_session *session = &context->transcripts->session[place];
	uint64_t until = room_audible_until(context, heard->from, heard->to),
		 early = ECHO_EARLY_MS * NS_PER_MS;
	struct room_echo_input in = {.names = context->names};
	char played[ROOM_TEXT_MAX];
	enum room_echo echo;

	if (!until || !*text)
		return ROOM_ECHO_NONE;
	room_audible_words(context, heard->from > early ? heard->from - early : 0,
			   heard->to + ECHO_LATE_MS * NS_PER_MS, played, sizeof played);
	in.played = played;
	in.outlasts = until != UINT64_MAX && heard->to > until + ECHO_DELAY_MS * NS_PER_MS;
	in.own = session->own_rms && (uint64_t)heard->rms * ECHO_OWN > session->own_rms;
	echo = room_echo_remove(text, &in);
	if (echo == ROOM_ECHO_ALL && proves_echo(context, session, heard)) {
		session->echo_at = context->now;
		session->echo_rms = heard->rms;
	}
	in.known = is_known_echo(context, session, heard->rms) ||
		   sounds_like(heard->rms, heard->echo_rms);
	return in.known && echo == ROOM_ECHO_NONE ? room_echo_remove(text, &in) : echo;
}

/* The member's own voice: words while the bot is silent. */
static void learn_own_voice(struct room_context *context, unsigned place,
			    const struct room_capture_chunk *p)
{
	struct room_asr_session *session = &context->transcripts->session[place];

	if (room_has_words(p->text) && !room_audible_until(context, p->from, p->to))
		session->own_rms = session->own_rms ? (3 * session->own_rms + p->rms) / 4 : p->rms;
}

bool room_asr_returns_bot(const struct room_context *context, unsigned place)
{
	const struct room_asr_session *session = &context->transcripts->session[place];

	return is_known_echo(context, session,
			     room_signal_rms(&room_capture_of(context, place)->signal));
}

/* The end of the audio so far in which there can be words. */
static uint64_t heard_until(const struct room_capture *c)
{
	return c->voice_at ? c->voice_at : c->input_at;
}

/* When the audio of the open utterance began. */
static uint64_t find_beginning(const struct room_context *context, unsigned place)
{
	const struct room_turn *t = room_turn_hearing(context, place);
	uint64_t from = room_capture_of(context, place)->started_at;

	for (unsigned i = 0; t && i < t->chunks; i++)
		if (t->chunk[i].to > from)
			from = t->chunk[i].to;
	return from;
}

/* ---- the lane of recordings (recording_queue.h) ---- */

static void emit_asr_cancel(struct room_context *context, uint64_t user, uint32_t utterance)
{
	struct room_effect *e = room_emit(context, ROOM_DO_ASR_CANCEL);

	e->user = user;
	e->utterance = utterance;
}

static void step_transcript(struct room_context *context, const struct room_event *ev);

static void start_recordings(struct room_context *context, const struct room_recording_out *out)
{
	for (unsigned i = 0; i < out->dropped.n; i++) {
		emit_asr_cancel(context, out->dropped.user, out->dropped.utterance[i]);
		step_transcript(context,
				&(struct room_event){.type = ROOM_TRANSCRIPT_FAILED,
						     .user = out->dropped.user,
						     .utterance = out->dropped.utterance[i]});
	}
	for (unsigned i = 0; out->run && i < context->transcripts->recordings.running.n; i++) {
		struct room_effect *e = room_emit(context, ROOM_DO_ASR_RECORDING);

		e->user = context->transcripts->recordings.running.user;
		e->utterance = context->transcripts->recordings.running.utterance[i];
	}
}

/* The running recording is finished: its transcript belongs to the first utterance, the
 * coalesced ones have none of their own. */
static void finish_recording(struct room_context *context)
{
	struct room_recording ran = context->transcripts->recordings.running;
	struct room_recording_out out =
		room_recording_done(&context->transcripts->recordings, context->now);

	for (unsigned i = 1; i < ran.n; i++)
		step_transcript(context, &(struct room_event){.type = ROOM_TRANSCRIPT,
							      .user = ran.user,
							      .utterance = ran.utterance[i]});
	start_recordings(context, &out);
}

static bool recording_runs(const struct room_context *context, uint64_t user, uint32_t utterance)
{
	const struct room_recording *t = &context->transcripts->recordings.running;

	return t->n && t->user == user && t->utterance[0] == utterance;
}

/* The transcript of this utterance is no longer awaited; the next recording may run. */
static void release_recording(struct room_context *context, uint64_t user, uint32_t utterance)
{
	room_recording_cancel(&context->transcripts->recordings, user, utterance);
	if (recording_runs(context, user, utterance))
		finish_recording(context);
}

/* No words of this much audio will come. */
static void lose_words(struct room_turn *turn, uint32_t ms)
{
	room_turn_decide(turn, ROOM_RULE_TRANSCRIBED, false, ms, 0);
}

void room_asr_abandon(struct room_context *context, struct room_turn *turn)
{
	for (unsigned i = 0; i < turn->chunks; i++) {
		struct room_effect *e;

		if (turn->chunk[i].done)
			continue;
		turn->chunk[i].done = turn->chunk[i].failed = true;
		lose_words(turn, turn->chunk[i].ms);
		e = room_emit(context, ROOM_DO_ASR_CANCEL);
		e->user = turn->user;
		e->utterance = turn->chunk[i].utterance;
		release_recording(context, turn->user, turn->chunk[i].utterance);
	}
}

static void queue_recording(struct room_context *context, unsigned place,
			    const struct room_capture_chunk *p)
{
	struct room_recording_out out = room_recording_add(
		&context->transcripts->recordings, context->people->person[place].user,
		p->utterance, room_capture_of(context, place)->phase, p->ms, context->now);

	start_recordings(context, &out);
}

/* A place for the chunk that ends now. If all places of the turn await transcripts, the turn has
 * been heard as far as they go, and the speaker goes on in another one. */
static struct room_capture_chunk *add_chunk(struct room_context *context, unsigned place)
{
	struct room_turn *t = room_turn_hearing(context, place), *next;
	struct room_capture_chunk *p = room_long_capture_add(t);

	next = p ? NULL : room_turn_new(context, place);
	if (!next)
		return p;
	room_turn_decide(t, ROOM_RULE_CONTINUED, true, next->id, 0);
	next->latched = t->latched;
	next->end_of_speech_at = t->end_of_speech_at;
	room_asr_end_capture(context, t);
	return room_long_capture_add(next);
}

void room_asr_commit(struct room_context *context, unsigned place)
{
	const struct room_capture *c = room_capture_of(context, place);
	uint64_t from = find_beginning(context, place);
	struct room_capture_chunk *p = add_chunk(context, place);
	struct room_turn *t = room_turn_hearing(context, place);

	if (p) {
		*p = (struct room_capture_chunk){.utterance = c->utterance,
						 .committed = true,
						 .from = from,
						 .to = heard_until(c),
						 .ms = (uint32_t)room_signal_ms(&c->signal),
						 .voice_ms = (uint32_t)room_signal_ms(&c->voiced),
						 .rms = room_signal_rms(&c->signal),
						 .voice_rms = room_signal_rms(&c->voiced)};
		t->sound_ms += p->ms;
		t->sinks |= ROOM_SINK_ASR;
		if (context->asr_files)
			queue_recording(context, place, p);
		else
			emit_current(context, ROOM_DO_ASR_COMMIT, place);
	} else {
		lose_words(t, (uint32_t)room_signal_ms(&c->signal));
		room_asr_discard(context, place);
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
static enum room_transcript_kind classify_transcript(const struct room_context *context,
						     struct room_turn *t)
{
	const struct settings *s = context->settings;
	struct room_transcript_input f = {.text = t->transcript, .doubt = mean_doubt(t)};
	enum room_transcript_kind kind;

	if (t->end_of_speech_at > t->born_at)
		f.spoken_ms =
			(uint32_t)((t->end_of_speech_at - t->born_at) / NS_PER_MS) + s->promote_ms;
	f.named = f.doubt && room_address(context->names, t->transcript) != ROOM_ADDRESS_NONE;
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
static void drop_hallucination(const struct room_context *context, struct room_turn *t,
			       struct room_capture_chunk *p, uint32_t no_speech)
{
	const struct settings *s = context->settings;
	struct room_saying saying = room_saying_of(context, p->text, t->language);
	struct room_utterance_transcript h = {.text = p->text,
					      .no_speech = no_speech,
					      .voice_ms = p->voice_ms,
					      .stop = room_phrase_of(&saying) == ROOM_PHRASE_STOP,
					      .named = room_address(context->names, p->text) !=
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

const char *room_spoken_language(const struct room_context *context)
{
	enum room_language language = (enum room_language)context->transcripts->language;

	if (*context->settings->language)
		return context->settings->language;
	return language ? room_language_code(language) : "";
}

static void note_language(struct room_context *context, const struct room_turn *t)
{
	struct room_saying saying = room_saying_of(context, t->transcript, t->language);
	enum room_language language = room_phrase_language(&saying);

	if (language)
		context->transcripts->language = language;
}

static void admit_turn(struct room_context *context, struct room_turn *t)
{
	struct room_turn *early = room_speculative_match(context, t);

	note_language(context, t);
	room_history_add(context->history, &(struct room_history_words){.at = t->end_of_speech_at,
									.user = t->user,
									.turn = t->id,
									.name = t->name,
									.text = t->transcript});
	room_turn_admit(context, t);
	room_speculative_commit(context, t, early);
}

/* True if this turn interrupted an answer: then it was meant for the bot, however unclear it
 * is. */
static bool interrupted_answer(const struct room_context *context, const struct room_turn *t)
{
	for (unsigned i = 0; i < t->chunks; i++)
		if (room_followup_interrupted_with(context->followup, context->settings, t->user,
						   t->chunk[i].utterance, context->now))
			return !context->guest;
	return false;
}

/* True if these words are likelier an error of speech-to-text than somebody's. */
static bool is_slight(const struct room_context *context, const struct room_turn *t)
{
	struct room_saying saying = room_saying_of(context, t->transcript, t->language);

	return room_phrase_is_slight(&saying);
}

/* All chunks have transcripts: joins their words in order. */
static void complete_turn(struct room_context *context, struct room_turn *t)
{
	unsigned failed = 0, imagined = 0, echoes = 0;
	enum room_transcript_kind kind;

	t->sinks &= ~(unsigned)ROOM_SINK_ASR;
	for (unsigned i = 0; i < t->chunks; i++) {
		failed += t->chunk[i].failed;
		imagined += t->chunk[i].hallucinated;
		echoes += t->chunk[i].echo;
		room_segment_add(t, t->user, t->name, t->chunk[i].utterance, t->chunk[i].text);
	}
	if (t->dropped_head)
		room_turn_decide(t, ROOM_RULE_FITS, false, t->dropped_head, 0);
	kind = classify_transcript(context, t);
	if (echoes && (kind == ROOM_TRANSCRIPT_KIND_EMPTY || is_slight(context, t)))
		room_turn_end(context, t, ROOM_REASON_ECHO);
	else if (kind != ROOM_TRANSCRIPT_KIND_WORDS && kind != ROOM_TRANSCRIPT_KIND_CONTROL &&
		 interrupted_answer(context, t))
		room_turn_admit_unclear(context, t);
	else if (t->stop_request && kind == ROOM_TRANSCRIPT_KIND_WORDS)
		room_turn_end(context, t, ROOM_REASON_STOP_REQUEST);
	else if (kind == ROOM_TRANSCRIPT_KIND_WORDS)
		admit_turn(context, t);
	else if (kind == ROOM_TRANSCRIPT_KIND_EMPTY && failed)
		room_turn_end(context, t, ROOM_REASON_ASR_FAILED);
	else if (kind == ROOM_TRANSCRIPT_KIND_EMPTY && imagined)
		room_turn_end(context, t, ROOM_REASON_HALLUCINATION);
	else if (kind == ROOM_TRANSCRIPT_KIND_EMPTY || kind == ROOM_TRANSCRIPT_KIND_CONTROL)
		room_turn_end(context, t, ROOM_REASON_EMPTY_TRANSCRIPT);
	else
		room_turn_end(context, t, ROOM_REASON_LOW_CONFIDENCE);
}

static bool has_all_transcripts(const struct room_turn *t)
{
	for (unsigned i = 0; i < t->chunks; i++)
		if (!t->chunk[i].done)
			return false;
	return t->phase == ROOM_PHASE_TRANSCRIBING;
}

static void close_session(struct room_context *context, unsigned place, const char *why)
{
	struct room_asr_session *session = &context->transcripts->session[place];

	session->empty = 0;
	session->open = false;
	room_overlap_session_closed(context);
	emit_current(context, ROOM_DO_ASR_CLOSE, place)->text = why;
}

void room_asr_close(struct room_context *context, unsigned place, const char *why)
{
	if (context->transcripts->session[place].open)
		close_session(context, place, why);
}

void room_asr_forget(struct room_context *context, unsigned place)
{
	context->transcripts->session[place] = (struct room_asr_session){0};
}

/* True if a transcript of this user is pending. */
static bool transcript_pending(const struct room_context *context, uint64_t user)
{
	for (const struct room_turn *t = room_turn_next(context, NULL); t;
	     t = room_turn_next(context, t)) {
		for (unsigned k = 0; t->user == user && k < t->chunks; k++)
			if (!t->chunk[k].done)
				return true;
	}
	return false;
}

/* Closes the session after too many empty transcripts, unless the user speaks or a transcript
 * is pending; a shared session does not belong to one speaker. */
static void close_after_empty(struct room_context *context, unsigned place)
{
	const struct room_asr_session *session = &context->transcripts->session[place];

	if (!context->asr_shared && session->empty >= context->settings->asr_empty_max &&
	    room_capture_of(context, place)->phase == ROOM_CAPTURE_NONE &&
	    !transcript_pending(context, context->people->person[place].user))
		close_session(context, place, "empty");
}

void room_asr_end_capture(struct room_context *context, struct room_turn *turn)
{
	unsigned place = room_place(context, turn->user);

	room_turn_await_transcripts(context, turn);
	if (place < ROOM_SPEAKERS)
		close_after_empty(context, place);
	if (!has_all_transcripts(turn))
		return;
	/* Deferred turns that waited for this speaker to finish are older. */
	room_deferred_tick(context);
	complete_turn(context, turn);
}

/* Updates the circuit breaker and the noise floor from the transcript of a chunk. */
static void update_session(struct room_context *context, unsigned place,
			   const struct room_capture_chunk *p)
{
	struct room_asr_session *session = &context->transcripts->session[place];
	bool empty = !p->failed && !room_has_words(p->text);

	/* The words of another voice tell nothing of this microphone's noise. */
	if (empty && p->echo)
		return;

	if (!p->failed)
		room_captures_on_words(context, place, p, !empty);
	if (!empty)
		session->empty = 0;
	else if (p->ms >= context->settings->asr_empty_ms)
		session->empty++;
	close_after_empty(context, place);
}

/* The chunk of this utterance in a turn that is not complete yet; done: it has its transcript. */
static struct room_capture_chunk *find_chunk(struct room_context *context,
					     const struct room_event *ev, bool done,
					     struct room_turn **turn)
{
	for (struct room_turn *t = room_turn_next(context, NULL); t;
	     t = room_turn_next(context, t)) {
		if ((t->phase != ROOM_PHASE_HEARING && t->phase != ROOM_PHASE_TRANSCRIBING) ||
		    t->user != ev->user)
			continue;
		for (unsigned k = 0; k < t->chunks; k++)
			if (t->chunk[k].utterance == ev->utterance && t->chunk[k].done == done) {
				*turn = t;
				return &t->chunk[k];
			}
	}
	return NULL;
}

/* The language that the provider told. */
static enum room_language told_language(const struct room_event *ev)
{
	char code[LANGUAGE_CODE_MAX] = "";

	if (ev->language.n && ev->language.n < sizeof code)
		memcpy(code, ev->language.p, ev->language.n);
	return room_language_told(code);
}

static void store_words(struct room_context *context, struct room_turn *t,
			struct room_capture_chunk *p, const struct room_event *ev)
{
	unsigned place = room_place(context, ev->user);
	bool present = place < ROOM_SPEAKERS, stopped;
	struct heard heard = {.to = p->to, .rms = p->rms};
	enum room_echo echo;
	size_t n;

	p->failed = p->hallucinated = p->echo = false;
	p->doubt = ev->doubt;
	t->language = told_language(ev);
	p->text[0] = '\0';
	room_append(p->text, sizeof p->text, (const char *)ev->text.p, ev->text.n);
	room_clean_words(p->text);
	n = strlen(p->text);
	/* The last word of an echo that was cut into chunks arrives after the bot's voice. */
	heard.from = p->from;
	if (p > t->chunk && p[-1].echo) {
		heard.from = p[-1].from;
		heard.echo_rms = p[-1].rms;
	}
	echo = present ? remove_echo(context, place, p->text, &heard) : ROOM_ECHO_NONE;
	p->echo = echo != ROOM_ECHO_NONE;
	if (present)
		learn_own_voice(context, place, p);
	if (p->echo)
		room_turn_decide(t, ROOM_RULE_ECHO, false, (int64_t)(n - strlen(p->text)), 0);
	drop_hallucination(context, t, p, ev->no_speech);
	stopped = present && room_overlap_words(context, place, t, p->utterance, p->text, p->echo);
	/* Words that follow a request to stop are to be answered. */
	if (room_has_words(p->text))
		t->stop_request = stopped && t->chunks == 1 && !t->segments;
}

/* The words of the open capture changed, which may take a speculative answer back. */
static void update_open_words(struct room_context *context, unsigned place)
{
	char all[ROOM_TEXT_MAX];

	room_eot_prediction_update(context, place);
	room_eot_prediction_text(context, place, all, sizeof all);
	if (*all)
		room_speculative_on_words(context, context->people->person[place].user, all);
}

/* An interim transcript may stop the bot; it is not kept. */
static void apply_interim(struct room_context *context, unsigned place, const struct room_event *ev)
{
	const struct room_capture *c = room_capture_of(context, place);
	char text[ROOM_CAPTURE_CHUNK_TEXT] = "";
	enum room_echo echo = ROOM_ECHO_NONE;
	struct heard heard;

	room_append(text, sizeof text, (const char *)ev->text.p, ev->text.n);
	room_clean_words(text);
	if (c->utterance == ev->utterance) {
		heard = (struct heard){find_beginning(context, place), heard_until(c),
				       room_signal_rms(&c->signal), 0};
		echo = remove_echo(context, place, text, &heard);
	}
	if (room_has_words(text))
		room_captures_on_vad(context, place, ev->utterance);
	room_eot_prediction_set_interim(context, place, ev->utterance, text);
	update_open_words(context, place);
	room_overlap_interim(context, place, ev->utterance, text, echo != ROOM_ECHO_NONE);
}

/* The chunk of this utterance in a turn that is complete, or NULL. */
static const struct room_capture_chunk *find_known_chunk(struct room_context *context,
							 const struct room_event *ev)
{
	for (struct room_turn *t = room_turn_known(context, NULL); t;
	     t = room_turn_known(context, t))
		for (unsigned k = 0; t->user == ev->user && k < t->chunks; k++)
			if (t->chunk[k].utterance == ev->utterance)
				return &t->chunk[k];
	return NULL;
}

/* The same for a turn that is complete, without the bot's own words. */
static bool revise_complete(struct room_context *context, unsigned place,
			    const struct room_event *ev)
{
	const struct room_capture_chunk *p = find_known_chunk(context, ev);
	char text[ROOM_CAPTURE_CHUNK_TEXT] = "";
	struct room_event own = *ev;

	room_append(text, sizeof text, (const char *)ev->text.p, ev->text.n);
	if (p && place < ROOM_SPEAKERS)
		remove_echo(context, place, text, &(struct heard){p->from, p->to, p->rms, 0});
	own.text = (struct slice){(const uint8_t *)text, strlen(text)};
	return room_turn_revise(context, &own);
}

/* A transcript of an utterance that has one. A turn that is not complete yet changes its words; the
 * others are in turn/supersede.h. */
static void revise_transcript(struct room_context *context, const struct room_event *ev)
{
	struct room_turn *t = NULL;
	struct room_capture_chunk *p = find_chunk(context, ev, true, &t);
	unsigned place = room_place(context, ev->user);

	if (p && ev->text.n)
		store_words(context, t, p, ev);
	else if (p || !revise_complete(context, place, ev))
		return;
	if (place < ROOM_SPEAKERS)
		update_open_words(context, place);
}

static void apply_transcript(struct room_context *context, const struct room_event *ev)
{
	unsigned place = room_place(context, ev->user);
	bool present = place < ROOM_SPEAKERS;
	struct room_turn *t = NULL;
	struct room_capture_chunk *p;

	if (ev->type == ROOM_PARTIAL) {
		if (present)
			apply_interim(context, place, ev);
		return;
	}
	p = find_chunk(context, ev, false, &t);
	if (!p) {
		if (ev->type == ROOM_TRANSCRIPT)
			revise_transcript(context, ev);
		return;
	}
	p->done = true;
	if (ev->type == ROOM_TRANSCRIPT_FAILED) {
		p->failed = true;
		lose_words(t, p->ms);
	} else {
		store_words(context, t, p, ev);
	}
	if (present)
		update_session(context, place, p);
	if (present && room_turn_hearing(context, place) == t)
		room_eot_prediction_update(context, place);
	if (has_all_transcripts(t))
		complete_turn(context, t);
}

static void step_transcript(struct room_context *context, const struct room_event *ev)
{
	bool over = ev->type != ROOM_PARTIAL,
	     ran = over && recording_runs(context, ev->user, ev->utterance);

	/* A recording that was not started yet is cancelled. */
	if (over &&
	    room_recording_cancel(&context->transcripts->recordings, ev->user, ev->utterance))
		emit_asr_cancel(context, ev->user, ev->utterance);
	apply_transcript(context, ev);
	if (ran && recording_runs(context, ev->user, ev->utterance))
		finish_recording(context);
}

/* The session stays open while a transcript is pending. */
uint64_t room_asr_idle_at(const struct room_context *context, unsigned place)
{
	const struct room_asr_session *session = &context->transcripts->session[place];
	uint64_t at = session->used_at + context->settings->asr_idle_ms * NS_PER_MS;

	if (!session->open || room_capture_of(context, place)->phase != ROOM_CAPTURE_NONE)
		return UINT64_MAX;
	if (context->now >= at && transcript_pending(context, context->people->person[place].user))
		return UINT64_MAX;
	return at;
}

void room_asr_tick(struct room_context *context, unsigned place)
{
	if (context->now < room_asr_idle_at(context, place))
		return;
	close_session(context, place, "idle_ttl");
}

void room_transcripts_on_event(struct room_context *context, const struct room_event *ev)
{
	if (ev->type == ROOM_PARTIAL || ev->type == ROOM_TRANSCRIPT ||
	    ev->type == ROOM_TRANSCRIPT_FAILED)
		step_transcript(context, ev);
}
