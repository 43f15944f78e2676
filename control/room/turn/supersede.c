#include "control/room/turn/supersede.h"

#include "control/room/base/answers.h"
#include "control/room/base/context.h"
#include "control/room/base/text.h"
#include "control/room/base/turns.h"
#include "control/room/turn/history.h"
#include "control/room/turn/turn_queue.h"
#include "control/room/turn/segment.h"

enum room_stage room_supersede_stage(const struct room_context *context, uint64_t user)
{
	const struct room_turn *a = room_turn_on_floor(context);

	if (!a || a->user != user || a->first_audio_at || a->policy.why == ROOM_POLICY_TARGET_ALL ||
	    room_output_lease_held(&a->lease, context->settings, a->first_audio_at, context->now))
		return ROOM_STAGE_NONE;
	return a->phase == ROOM_PHASE_ASKED	 ? ROOM_STAGE_GENERATION
	       : a->phase == ROOM_PHASE_SPEAKING ? ROOM_STAGE_SPEECH
						 : ROOM_STAGE_NONE;
}

void room_turn_supersede(struct room_context *context, struct room_turn *newer,
			 enum room_stage stage)
{
	struct room_turn *older = room_turn_on_floor(context), own = *newer;

	newer->segments = 0;
	newer->transcript[0] = '\0';
	newer->dropped_head = 0;
	room_segment_merge(newer, older);
	room_segment_merge(newer, &own);
	newer->named = newer->named || older->named;
	newer->latched = newer->latched || older->latched;
	room_turn_decide(newer, ROOM_RULE_SAME_SPEAKER_GOES_ON, true, older->id, stage);
	room_turn_decide(older, ROOM_RULE_SAME_SPEAKER_GOES_ON, true, newer->id, stage);
	room_turn_cancel(context, older, ROOM_REASON_SUPERSEDED);
}

/* Replays a turn with a revised transcript as a new turn, because the question to the brain
 * cannot be changed in place. */
static void replay_turn(struct room_context *context, struct room_turn *older,
			const struct room_event *ev, const char *text)
{
	struct room_turn *t = room_turn_copy(context, older);

	if (!t)
		return;
	room_segment_revise(t, ev->user, ev->utterance, text);
	room_turn_decide(t, ROOM_RULE_REVISED, true, older->id, 0);
	room_turn_decide(older, ROOM_RULE_REVISED, true, t->id, 0);
	room_turn_cancel(context, older, ROOM_REASON_SUPERSEDED);
	room_turn_enqueue(context, t);
}

static void revise_turn(struct room_context *context, struct room_turn *t,
			const struct room_event *ev, const char *text)
{
	switch (t->phase) {
	case ROOM_PHASE_HEARING: /* a chunk of a long capture */
	case ROOM_PHASE_TRANSCRIBING:
	case ROOM_PHASE_CLASSIFYING:
	case ROOM_PHASE_DEFERRED:
	case ROOM_PHASE_QUEUED:
		if (room_segment_revise(t, ev->user, ev->utterance, text) == ROOM_REVISED)
			room_turn_decide(t, ROOM_RULE_REVISED, true, t->id, 0);
		break;
	case ROOM_PHASE_ASKED:
	case ROOM_PHASE_SPEAKING:
		/* The speaker's own turn changes, which takes a speculative answer back. */
		if (room_speculative_holds(context, t->id))
			break;
		if (t->first_audio_at)
			room_turn_decide(t, ROOM_RULE_REVISED, false, t->id, 0);
		else
			replay_turn(context, t, ev, text);
		break;
	default:
		break;
	}
}

/* The index of the segment of this utterance, or -1. */
static int find_segment(const struct room_turn *t, uint64_t user, uint32_t utterance)
{
	for (unsigned k = 0; k < t->segments; k++)
		if (t->segment[k].user == user && t->segment[k].utterance == utterance)
			return (int)k;
	return -1;
}

/* Ended turns keep their latest words for the next revision. The history is corrected in any
 * case. */
bool room_turn_revise(struct room_context *context, const struct room_event *ev)
{
	char text[ROOM_CAPTURE_CHUNK_TEXT] = "", was[ROOM_TEXT_MAX];
	bool known = false, told = false;

	room_append(text, sizeof text, (const char *)ev->text.p, ev->text.n);
	room_clean_words(text);
	for (struct room_turn *t = room_turn_known(context, NULL); t;
	     t = room_turn_known(context, t)) {
		int k = find_segment(t, ev->user, ev->utterance);

		if (k < 0)
			continue;
		known = true;
		room_segment_text(t, (unsigned)k, was, sizeof was);
		if (!*text || strcmp(was, text) == 0)
			continue;
		told = told || room_history_revise(context->history, t->segment[k].user, was, text);
		if (t->phase >= ROOM_PHASE_CLOSING)
			room_segment_revise(t, ev->user, ev->utterance, text);
		else
			revise_turn(context, t, ev, text);
	}
	return known;
}
