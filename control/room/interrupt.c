/* Somebody speaks over the bot: when does it stop?
 *
 * Voiced sound that arrives after the answer's first sample left is counted for each speaker; a
 * pause of barge_in_gap_ms begins anew, so an "mhm" now and then never adds up. At barge_in_ms of a
 * capture that counts as speech the answer is cut: speech stops with a short fade, the brain is
 * cancelled, and when the playback has told how much left, the brain's memory is cut there. Before
 * the first sample there is nothing to interrupt: then only a newer turn of the same speaker takes
 * the answer's place (admission). */
#include "control/room/inside.h"

void room_overlap(struct room *room, struct room_speaker *sp, const struct room_signal *frame,
		  uint64_t at)
{
	const struct settings *s = room->settings;
	struct room_turn *t = room->active;

	if (!t || t->phase != ROOM_PHASE_SPEAKING || !t->first_audio_at || at < t->first_audio_at) {
		sp->over_ms = 0;
		return;
	}
	if (frame->peak < s->barge_in_peak || room_signal_active(frame) < s->barge_in_active)
		return;
	if (sp->over_ms && (at < sp->over_at || at - sp->over_at > s->barge_in_gap_ms * ROOM_MS))
		sp->over_ms = 0;
	sp->over_at = at;
	sp->over_ms += room_signal_ms(frame);
	if (sp->over_ms < s->barge_in_ms || sp->capture.phase != ROOM_CAPTURE_PROMOTED)
		return;
	room_decide(t, ROOM_RULE_BARGE_IN, true, (int64_t)sp->over_ms, s->barge_in_ms);
	room_turn_cancel(room, t, ROOM_REASON_INTERRUPTED);
}
