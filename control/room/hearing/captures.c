#include "control/room/hearing/captures.h"

#include <assert.h>

#include "control/room/inside.h"
#include "proto/base/time.h"

/* Continuing speech counts as activity of the session this often at most. */
enum { ACTIVITY_MS = 2000 };

unsigned room_live_captures(const struct room *room)
{
	unsigned n = 0;

	for (unsigned i = 0; i < room->places; i++)
		n += room->speaker[i].used && room->speaker[i].capture.phase != ROOM_CAPTURE_NONE;
	return n;
}

static void promote_capture(struct room *room, struct room_speaker *sp)
{
	struct room_turn *t = room_turn_new(room, sp);

	room_thought_on_speech(&room->thought, &room->context);
	if (room->shared)
		room_asr_promote(room, sp);
	if (!t)
		return;
	t->latched = room_music_latched(&room->music, sp->user, room->context.now);
	room_turn_decide(t, ROOM_RULE_PROMOTED, true, (int64_t)room_signal_ms(&sp->capture.signal),
			 room->context.settings->promote_ms);
}

static void end_capture(struct room *room, struct room_speaker *sp, enum room_capture_end end)
{
	struct room_turn *t = sp->turn;

	if (!t) {
		room_asr_discard(room, sp);
		return;
	}
	t->end_of_speech_at = sp->capture.voice_at;
	if (end == ROOM_CAPTURE_NOISE || end == ROOM_CAPTURE_DISCARDED) {
		room_asr_discard(room, sp);
		if (!t->chunks) {
			bool voiceless =
				room_capture_lacks_voice(&sp->capture, room->context.settings);

			room_turn_decide(t, ROOM_RULE_VOICED, !voiceless,
					 (int64_t)room_signal_ms(&sp->capture.voiced),
					 room->context.settings->noise_voice_ms);
			if (!voiceless)
				room_turn_decide(t, ROOM_RULE_NOISE_GATE, false,
						 room_signal_rms(&sp->capture.signal),
						 room->context.settings->noise_rms);
			room_turn_end(&room->context, t, ROOM_REASON_NOISE);
			return;
		}
	} else if (end != ROOM_CAPTURE_CONSUMED) {
		room_asr_commit(room, sp);
	}
	if (end != ROOM_CAPTURE_CHUNK)
		room_turn_end_capture(room, t);
}

static void apply_capture_output(struct room *room, struct room_speaker *sp,
				 const struct room_capture_out *out, const struct room_event *ev)
{
	/* Only a frame of audio is appended, so there is an event. */
	assert(!out->append || ev);
	if (out->start)
		room_asr_start(room, sp);
	if (out->append && ev) {
		struct room_effect *e = room_emit(&room->context, ROOM_DO_ASR_APPEND);

		e->user = sp->user;
		e->utterance = sp->capture.utterance;
		e->pcm = ev->pcm;
	}
	if (out->promote)
		promote_capture(room, sp);
	if (out->append && ev)
		room_overlap_audio(room, sp, &out->frame, ev->at);
	if (out->append && sp->capture.voice_at == ev->at)
		room_speculative_on_voice(room, sp->user, room_signal_ms(&out->frame));
	if (out->append && room_capture_confirmed(&sp->capture, room->context.settings) &&
	    room->context.now >= room_session_active_at(&room->session) + ACTIVITY_MS * NS_PER_MS)
		room_session_active(&room->session, &room->context);
	if (out->end != ROOM_CAPTURE_CONTINUES)
		end_capture(room, sp, out->end);
}

static void step_capture(struct room *room, const struct room_event *ev)
{
	struct room_speaker *sp = room_speaker(room, ev->user);
	const struct settings *s = room->context.settings;
	struct room_capture_out out;

	if (!sp || sp->is_bot)
		return;
	if (ev->type == ROOM_SPEAKING)
		out = room_capture_on_speaking(&sp->capture, s, ev->yes, ev->at,
					       room_live_captures(room), room->context.now);
	else if (ev->type == ROOM_HEARD)
		out = room_capture_on_audio(&sp->capture, s, ev->pcm, ev->at, room->context.now);
	else
		out = room_capture_finish(&sp->capture, s, ev->at);
	apply_capture_output(room, sp, &out, ev);
}

void room_captures_on_event(struct room *room, const struct room_event *ev)
{
	if (ev->type == ROOM_SPEAKING || ev->type == ROOM_HEARD || ev->type == ROOM_HEARD_END)
		step_capture(room, ev);
}

void room_captures_end(struct room *room)
{
	for (unsigned i = 0; i < room->places; i++) {
		struct room_speaker *sp = &room->speaker[i];
		struct room_capture_out out;

		if (!sp->used)
			continue;
		out = room_capture_finish(&sp->capture, room->context.settings, 0);
		apply_capture_output(room, sp, &out, NULL);
	}
}

void room_captures_tick(struct room *room)
{
	for (unsigned i = 0; i < room->places; i++) {
		struct room_speaker *sp = &room->speaker[i];

		if (!sp->used)
			continue;
		if (sp->capture.phase != ROOM_CAPTURE_NONE &&
		    room->context.now >=
			    room_capture_deadline(&sp->capture, room->context.settings)) {
			struct room_capture_out out = room_capture_tick(
				&sp->capture, room->context.settings, room->context.now);

			apply_capture_output(room, sp, &out, NULL);
		}
		if (sp->asr_open)
			room_asr_tick(room, sp);
	}
}

uint64_t room_captures_deadline(const struct room *room)
{
	uint64_t first = UINT64_MAX;

	for (unsigned i = 0; i < room->places; i++) {
		const struct room_speaker *sp = &room->speaker[i];
		uint64_t at = UINT64_MAX;

		if (!sp->used)
			continue;
		if (sp->capture.phase != ROOM_CAPTURE_NONE)
			at = room_capture_deadline(&sp->capture, room->context.settings);
		else if (sp->asr_open)
			at = room_asr_idle_at(room, sp);
		if (at < first)
			first = at;
	}
	return first;
}
