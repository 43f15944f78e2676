#include "tests/chaos/timeline.h"

/* As resume_error_ms allows, and what a report on its way from a busy machine may add. */
enum { BACK_MS = 40, AHEAD_MS = 250 };

void timeline_begin(struct timeline *t)
{
	t->lead_ms = INT64_MIN;
	t->fresh = true;
}

enum timeline_fault timeline_note(struct timeline *t, unsigned tracks, unsigned length_ms,
				  unsigned track, uint64_t position_ms, uint64_t now_ms)
{
	enum timeline_fault fault = TIMELINE_NO_FAULT;
	uint64_t at_ms;
	int64_t lead_ms;

	if (!t->begun) {
		*t = (struct timeline){
			.begun = true, .track = track, .at_ms = position_ms, .lead_ms = INT64_MIN};
	} else if (track != t->track) {
		if (track != (t->track + 1) % tracks)
			fault = TIMELINE_OTHER_TRACK;
		t->track = track;
		t->laps_ms += length_ms;
	}
	at_ms = t->laps_ms + position_ms;
	lead_ms = (int64_t)at_ms - (int64_t)now_ms;
	if (!fault && at_ms + BACK_MS < t->at_ms)
		fault = TIMELINE_BACK;
	else if (!fault && t->lead_ms != INT64_MIN && lead_ms > t->lead_ms + AHEAD_MS)
		fault = TIMELINE_AHEAD;
	else if (!fault && t->fresh && at_ms > t->at_ms + AHEAD_MS)
		fault = TIMELINE_AHEAD;
	t->fresh = t->fresh && at_ms == t->at_ms;
	/* What was told is not told again. */
	t->at_ms = at_ms > t->at_ms || fault ? at_ms : t->at_ms;
	t->lead_ms = lead_ms > t->lead_ms ? lead_ms : t->lead_ms;
	return fault;
}
