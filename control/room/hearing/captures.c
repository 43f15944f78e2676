#include "control/room/hearing/captures.h"

#include <assert.h>

#include "control/room/base/answers.h"
#include "control/room/base/context.h"
#include "control/room/base/hearing.h"
#include "control/room/base/turn.h"
#include "control/room/base/turns.h"
#include "control/room/floor/music.h"
#include "control/room/hearing/eot_prediction.h"
#include "control/room/hearing/transcript.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"

static struct room_capture *capture_of(const struct room_context *context, unsigned place)
{
	return &context->captures->of[place];
}

const struct room_capture *room_capture_of(const struct room_context *context, unsigned place)
{
	return capture_of(context, place);
}

bool room_captures_is_voice(const struct room_context *context, unsigned place,
			    const struct room_signal *frame)
{
	const struct room_background *b = &capture_of(context, place)->background;

	return !b->most || room_signal_rms(frame) >= room_background_threshold(b);
}

unsigned room_live_captures(const struct room_context *context)
{
	unsigned n = 0;

	for (unsigned i = 0; i < context->people->places; i++)
		n += context->people->person[i].used &&
		     capture_of(context, i)->phase != ROOM_CAPTURE_NONE;
	return n;
}

uint64_t room_speech_until(const struct room_context *context, const struct room_turn *turn,
			   bool others)
{
	const struct settings *s = context->settings;
	uint64_t until = 0;

	for (unsigned i = 0; i < context->people->places; i++) {
		const struct room_person *person = &context->people->person[i];
		const struct room_capture *c = capture_of(context, i);
		uint64_t pause = c->voice_at + s->end_long_ms * NS_PER_MS;

		if (person->used && c->phase == ROOM_CAPTURE_PROMOTED &&
		    ((turn && person->user == turn->user) || others) && pause > context->now &&
		    pause > until)
			until = pause;
	}
	return until;
}

void room_captures_on_vad(struct room_context *context, unsigned place, uint32_t utterance)
{
	room_capture_on_vad(capture_of(context, place), utterance);
}

void room_captures_on_words(struct room_context *context, unsigned place,
			    const struct room_capture_chunk *chunk, bool words)
{
	struct room_capture *c = capture_of(context, place);
	bool goes_on = c->phase == ROOM_CAPTURE_PROMOTED && c->started_at <= chunk->from;

	room_noise_floor_update(&c->noise, context->settings, chunk->rms, words, context->now);
	if (words)
		room_background_on_words(&c->background, chunk->voice_rms);
	if (!goes_on)
		return;
	c->wordless_ms = words ? 0 : c->wordless_ms + chunk->ms;
	if (c->wordless_ms >= ROOM_BACKGROUND_MS)
		room_background_on_no_words(&c->background, context->settings);
}

uint64_t room_last_voice_at(const struct room_context *context)
{
	uint64_t last = 0;

	for (unsigned i = 0; i < context->people->places; i++)
		if (context->people->person[i].used && capture_of(context, i)->voice_at > last)
			last = capture_of(context, i)->voice_at;
	return last;
}

void room_captures_split(struct room_context *context, unsigned place)
{
	struct room_capture *c = capture_of(context, place);

	room_capture_split(c);
	room_turn_hearing(context, place)->end_of_speech_at = c->voice_at;
	room_asr_commit(context, place);
}

void room_captures_forget(struct room_context *context, unsigned place)
{
	*capture_of(context, place) = (struct room_capture){0};
	room_preroll_clear(&context->captures->preroll[place]);
}

static void promote_capture(struct room_context *context, unsigned place)
{
	struct room_turn *t = room_turn_new(context, place);

	room_answer_speech_began(context);
	if (context->asr_shared)
		room_asr_promote(context, place);
	if (!t)
		return;
	t->latched = room_music_latched(context->music, t->user, context->now);
	room_turn_decide(t, ROOM_RULE_PROMOTED, true,
			 (int64_t)room_signal_ms(&capture_of(context, place)->signal),
			 context->settings->promote_ms);
}

static void end_capture(struct room_context *context, unsigned place, enum room_capture_end end)
{
	const struct room_capture *c = capture_of(context, place);
	struct room_turn *t = room_turn_hearing(context, place);

	if (!t) {
		room_asr_discard(context, place);
		return;
	}
	t->end_of_speech_at = c->voice_at ? c->voice_at : c->input_at;
	if (end != ROOM_CAPTURE_CHUNK && c->voice_at && c->voice_at <= context->now)
		room_turn_decide(t, ROOM_RULE_ENDPOINTING, true,
				 (int64_t)((context->now - c->voice_at) / NS_PER_MS), 0);
	if (end == ROOM_CAPTURE_NOISE || end == ROOM_CAPTURE_DISCARDED) {
		room_asr_discard(context, place);
		if (!t->chunks) {
			bool voiceless = room_capture_lacks_voice(c, context->settings);

			room_turn_decide(t, ROOM_RULE_VOICED, !voiceless,
					 (int64_t)room_signal_ms(&c->voiced),
					 context->settings->noise_voice_ms);
			if (!voiceless)
				room_turn_decide(t, ROOM_RULE_NOISE_GATE, false,
						 room_signal_rms(&c->signal),
						 context->settings->noise_rms);
			room_turn_end(context, t, ROOM_REASON_NOISE);
			return;
		}
	} else if (end != ROOM_CAPTURE_CONSUMED) {
		room_asr_commit(context, place);
	}
	if (end != ROOM_CAPTURE_CHUNK)
		room_asr_end_capture(context, room_turn_hearing(context, place));
}

static void append_audio(struct room_context *context, unsigned place, struct slice pcm)
{
	struct room_effect *e = room_emit(context, ROOM_DO_ASR_APPEND);

	e->user = context->people->person[place].user;
	e->utterance = capture_of(context, place)->utterance;
	e->pcm = pcm;
}

/* Keeps the audio before a capture, and hands it over when one begins in an open microphone. */
static void apply_preroll(struct room_context *context, unsigned place,
			  const struct room_capture_out *out, struct slice pcm)
{
	struct room_preroll *p = &context->captures->preroll[place];
	struct slice part[2];

	if (out->preroll) {
		room_preroll_read(p, part);
		for (unsigned i = 0; i < 2; i++)
			if (part[i].n)
				append_audio(context, place, part[i]);
	}
	if (out->start || capture_of(context, place)->phase == ROOM_CAPTURE_PROMOTED)
		room_preroll_clear(p);
	if (capture_of(context, place)->phase != ROOM_CAPTURE_PROMOTED)
		room_preroll_add(p, pcm);
}

static void apply_capture_output(struct room_context *context, unsigned place,
				 const struct room_capture_out *out, const struct room_event *ev)
{
	struct room_capture *c = capture_of(context, place);

	/* Only a frame of audio is appended, so there is an event. */
	assert(!out->append || ev);
	if (out->start)
		c->utterance = room_asr_start(context, place);
	if (ev && ev->type == ROOM_HEARD)
		apply_preroll(context, place, out, ev->pcm);
	if (out->append && ev)
		append_audio(context, place, ev->pcm);
	if (out->promote)
		promote_capture(context, place);
	if (out->append && ev)
		room_overlap_audio(context, place, &out->frame, ev->at);
	if (out->append && c->voice_at == ev->at)
		room_eot_prediction_on_voice(context, place, ev->pcm);
	if (out->append && c->voice_at == ev->at)
		room_speculative_on_voice(context, context->people->person[place].user,
					  room_signal_ms(&out->frame));
	if (out->append && room_capture_confirmed(c, context->settings))
		room_report_speech(context);
	if (out->end != ROOM_CAPTURE_CONTINUES)
		end_capture(context, place, out->end);
}

static void step_capture(struct room_context *context, const struct room_event *ev)
{
	unsigned place = room_place(context, ev->user);
	const struct settings *s = context->settings;
	struct room_capture_out out;
	struct room_capture *c;

	if (place == ROOM_SPEAKERS || context->people->person[place].is_bot)
		return;
	c = capture_of(context, place);
	if (ev->type == ROOM_SPEAKING)
		out = room_capture_on_speaking(c, s, ev->yes, ev->at, room_live_captures(context),
					       context->now);
	else if (ev->type == ROOM_HEARD)
		out = room_capture_on_audio(c, s, ev->pcm, ev->at, context->now);
	else
		out = room_capture_finish(c, s, ev->at);
	apply_capture_output(context, place, &out, ev);
}

void room_captures_on_event(struct room_context *context, const struct room_event *ev)
{
	if (ev->type == ROOM_SPEAKING || ev->type == ROOM_HEARD || ev->type == ROOM_HEARD_END)
		step_capture(context, ev);
}

void room_captures_finish(struct room_context *context, unsigned place)
{
	struct room_capture_out out =
		room_capture_conclude(capture_of(context, place), context->settings);

	apply_capture_output(context, place, &out, NULL);
}

void room_captures_end(struct room_context *context)
{
	for (unsigned i = 0; i < context->people->places; i++) {
		struct room_capture_out out;

		if (!context->people->person[i].used)
			continue;
		out = room_capture_finish(capture_of(context, i), context->settings, 0);
		apply_capture_output(context, i, &out, NULL);
	}
}

void room_captures_tick(struct room_context *context)
{
	for (unsigned i = 0; i < context->people->places; i++) {
		struct room_capture *c = capture_of(context, i);

		if (!context->people->person[i].used)
			continue;
		if (c->phase != ROOM_CAPTURE_NONE &&
		    context->now >= room_capture_deadline(c, context->settings)) {
			struct room_capture_out out =
				room_capture_tick(c, context->settings, context->now);

			apply_capture_output(context, i, &out, NULL);
		}
		room_asr_tick(context, i);
	}
}

uint64_t room_captures_deadline(const struct room_context *context)
{
	uint64_t first = UINT64_MAX;

	for (unsigned i = 0; i < context->people->places; i++) {
		const struct room_capture *c = capture_of(context, i);
		uint64_t at = UINT64_MAX;

		if (!context->people->person[i].used)
			continue;
		if (c->phase != ROOM_CAPTURE_NONE)
			at = room_capture_deadline(c, context->settings);
		else
			at = room_asr_idle_at(context, i);
		if (at < first)
			first = at;
	}
	return first;
}
