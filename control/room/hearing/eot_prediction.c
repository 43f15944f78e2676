#include "control/room/hearing/eot_prediction.h"

#include <stdio.h>
#include <string.h>

#include "control/room/base/answers.h"
#include "control/room/base/context.h"
#include "control/room/base/text.h"
#include "control/room/base/turns.h"
#include "control/room/hearing/captures.h"
#include "control/room/turn/admission.h"
#include "control/room/turn/segment.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"

/* The least audio of a chunk: providers refuse less. */
enum { LEAST_MS = 120 };

/* True if there is an interim transcript of the audio that is being streamed. */
static bool has_interim(const struct room_context *context, unsigned place)
{
	const struct room_open_words *o = &context->eot_prediction->of[place];
	const struct room_capture *c = room_capture_of(context, place);

	return !c->restart && o->utterance == c->utterance && *o->text;
}

void room_eot_prediction_set_interim(struct room_context *context, unsigned place,
				     uint32_t utterance, const char *text)
{
	struct room_open_words *o = &context->eot_prediction->of[place];

	if (utterance < o->utterance)
		return; /* late, of an utterance before */
	o->utterance = utterance;
	snprintf(o->text, sizeof o->text, "%s", text);
}

void room_eot_prediction_text(const struct room_context *context, unsigned place, char *buf,
			      size_t size)
{
	const struct room_turn *t = room_turn_hearing(context, place);
	const struct room_open_words *o = &context->eot_prediction->of[place];

	buf[0] = '\0';
	if (!t)
		return;
	room_append(buf, size, t->transcript, strlen(t->transcript));
	for (unsigned i = 0; i < t->chunks; i++)
		room_append(buf, size, t->chunk[i].text, strlen(t->chunk[i].text));
	if (has_interim(context, place))
		room_append(buf, size, o->text, strlen(o->text));
}

void room_eot_prediction_copy(const struct room_context *context, unsigned place,
			      struct room_turn *to)
{
	const struct room_turn *t = room_turn_hearing(context, place);
	const struct room_open_words *o = &context->eot_prediction->of[place];

	for (unsigned i = 0; i < t->chunks; i++)
		room_segment_add(to, t->user, t->name, t->chunk[i].utterance, t->chunk[i].text);
	if (has_interim(context, place))
		room_segment_add(to, t->user, t->name, o->utterance, o->text);
}

void room_eot_prediction_update(struct room_context *context, unsigned place)
{
	struct room_open_words *o = &context->eot_prediction->of[place];
	char all[ROOM_TEXT_MAX];

	o->examined_at = 0;
	context->eot_prediction->silence[place].measured_at = 0;
	if (!room_turn_hearing(context, place))
		return;
	room_eot_prediction_text(context, place, all, sizeof all);
	o->words = room_eot_words(all, context->names);
}

void room_eot_prediction_forget(struct room_context *context, unsigned place)
{
	context->eot_prediction->of[place] = (struct room_open_words){0};
	context->eot_prediction->silence[place] = (struct room_silence){0};
}

/* ---- what a pause brings ---- */

static bool has_all_transcripts(const struct room_turn *t)
{
	for (unsigned i = 0; i < t->chunks; i++)
		if (!t->chunk[i].done)
			return false;
	return true;
}

/* True if an early chunk is needed and there is a place for it. */
static bool wants_chunk(const struct room_context *context, unsigned place)
{
	const struct room_turn *t = room_turn_hearing(context, place);
	const struct room_capture *c = room_capture_of(context, place);

	return !context->asr_shared && !c->restart && !has_interim(context, place) &&
	       !room_capture_lacks_voice(c, context->settings) &&
	       room_signal_ms(&c->signal) >= LEAST_MS &&
	       (t->chunks < ROOM_CAPTURE_CHUNKS || t->chunk[0].done);
}

static bool has_known_words(const struct room_context *context, unsigned place)
{
	const struct room_turn *t = room_turn_hearing(context, place);
	const struct room_capture *c = room_capture_of(context, place);
	bool silent = c->restart || room_capture_lacks_voice(c, context->settings);

	return (has_interim(context, place) || (silent && t->chunks)) && has_all_transcripts(t);
}

static int loudness_shift(const struct room_capture *c)
{
	return room_eot_loudness_shift(c->tail_rms, room_signal_rms(&c->voiced));
}

/* When the next action is due, and which: *chunk = an early chunk, else a speculative answer.
 * */
static uint64_t compute_due(const struct room_context *context, unsigned place, bool *chunk)
{
	const struct settings *s = context->settings;
	const struct room_capture *c = room_capture_of(context, place);
	const struct room_open_words *o = &context->eot_prediction->of[place];
	uint64_t pause = s->eot_pause_ms, likely;

	*chunk = false;
	if (c->phase != ROOM_CAPTURE_PROMOTED || context->asr_files ||
	    o->examined_at == c->voice_at || !room_speculative_possible(context))
		return UINT64_MAX;
	*chunk = wants_chunk(context, place);
	if (*chunk)
		return c->voice_at + pause * NS_PER_MS;
	if (!has_known_words(context, place))
		return UINT64_MAX;
	likely = room_eot_delay(o->words, loudness_shift(c), s->eot_share);
	return c->voice_at + (likely > pause ? likely : pause) * NS_PER_MS;
}

static void tick_speaker(struct room_context *context, unsigned place)
{
	const struct room_capture *c = room_capture_of(context, place);
	struct room_open_words *o = &context->eot_prediction->of[place];
	uint64_t pause;
	bool chunk;

	/* The common case first: the speaker is not silent long enough. */
	if (context->now < c->voice_at + context->settings->eot_pause_ms * NS_PER_MS ||
	    context->now < compute_due(context, place, &chunk))
		return;
	if (chunk) {
		room_captures_split(context, place);
		return;
	}
	pause = (context->now - c->voice_at) / NS_PER_MS;
	o->examined_at = c->voice_at;
	room_speculative_begin(context, place,
			       room_eot_probability(o->words, loudness_shift(c), pause));
}

/* ---- the end by the model ---- */

void room_eot_prediction_on_voice(struct room_context *context, unsigned place, struct slice pcm)
{
	struct room_silence *o = &context->eot_prediction->silence[place];
	const struct room_capture *c = room_capture_of(context, place);
	uint64_t pause = c->voice_at > o->voice_at ? (c->voice_at - o->voice_at) / NS_PER_MS : 0;

	if (!context->settings->eot_end_share)
		return;
	if (o->capture != c->started_at)
		room_prosody_clear(&o->prosody);
	else if (pause >= ROOM_EOT_PAUSE_MIN_MS)
		o->usual_pause_ms = room_eot_usual_pause(o->usual_pause_ms, pause);
	o->capture = c->started_at;
	o->voice_at = c->voice_at;
	room_prosody_add(&o->prosody, pcm);
}

static void measure_silence(struct room_context *context, unsigned place)
{
	struct room_silence *o = &context->eot_prediction->silence[place];
	struct room_eot_input in = {.words = context->eot_prediction->of[place].words,
				    .answers = room_bot_asked_question(context),
				    .usual_pause_ms = o->usual_pause_ms};
	struct room_prosody_end end;

	room_prosody_measure(&o->prosody, &end);
	in.pitch = end.pitch;
	in.energy = end.energy;
	in.length = end.length;
	o->end_ms = room_eot_model_delay(&in, context->settings->eot_end_share);
	o->measured_at = room_capture_of(context, place)->voice_at;
}

/* When the model is asked, or ends the capture. */
static uint64_t compute_end_due(const struct room_context *context, unsigned place)
{
	const struct settings *s = context->settings;
	const struct room_silence *o = &context->eot_prediction->silence[place];
	const struct room_capture *c = room_capture_of(context, place);
	uint64_t ms = s->eot_pause_ms;

	if (!s->eot_end_share || c->phase != ROOM_CAPTURE_PROMOTED || !c->voice_at ||
	    !has_known_words(context, place))
		return UINT64_MAX;
	if (o->measured_at == c->voice_at && o->end_ms > ms)
		ms = o->end_ms;
	return c->voice_at + ms * NS_PER_MS;
}

static void tick_silence(struct room_context *context, unsigned place)
{
	if (context->now < compute_end_due(context, place))
		return;
	if (context->eot_prediction->silence[place].measured_at !=
	    room_capture_of(context, place)->voice_at)
		measure_silence(context, place);
	if (context->now >= compute_end_due(context, place))
		room_captures_finish(context, place);
}

void room_eot_prediction_tick(struct room_context *context)
{
	for (unsigned i = 0; i < context->people->places; i++) {
		if (room_turn_hearing(context, i))
			tick_speaker(context, i);
		if (room_turn_hearing(context, i))
			tick_silence(context, i);
	}
}

uint64_t room_eot_prediction_deadline(const struct room_context *context)
{
	uint64_t first = UINT64_MAX, at;
	bool chunk;

	for (unsigned i = 0; i < context->people->places; i++) {
		if (!room_turn_hearing(context, i))
			continue;
		at = compute_due(context, i, &chunk);
		if (at < first)
			first = at;
		at = compute_end_due(context, i);
		if (at < first)
			first = at;
	}
	return first;
}
