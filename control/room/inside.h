/* The room's state, and the functions that its machines call across files. For control/room only.
 *
 * A machine is a struct of its own in struct room, with a table of states in its header. Only the
 * file that owns a machine may write its state (tests/check/room_state.sh); others call its
 * functions. */
#ifndef CONTROL_ROOM_INSIDE_H
#define CONTROL_ROOM_INSIDE_H

#include "control/room/floor/address.h"
#include "control/room/answer/barge_in.h"
#include "control/room/hearing/capture.h"
#include "control/room/hearing/recording_queue.h"
#include "control/room/answer/instructions.h"
#include "control/room/answer/prompt.h"
#include "control/room/floor/floor.h"
#include "control/room/floor/choice.h"
#include "control/room/turn/classifier.h"
#include "control/room/turn/moments.h"
#include "control/room/base/turns.h"
#include "control/room/floor/followup.h"
#include "control/room/floor/music.h"
#include "control/room/session.h"
#include "control/room/answer/thought.h"
#include "control/room/turn/history.h"
#include "control/room/answer/retry_policy.h"
#include "control/room/answer/speculative.h"
#include "control/room/turn/endpointing.h"
#include "control/room/answer/output_state.h"
#include "control/room/answer/reply.h"
#include "control/room/base/context.h"
#include "control/room/base/text.h"
#include "control/room/people.h"
#include "control/room/room.h"
#include "control/settings/settings.h"

struct room_speaker {
	bool used, is_bot;
	uint64_t user;
	char name[ROOM_NAME_MAX];
	struct room_capture capture;
	struct room_turn *turn; /* the HEARING one, or NULL */
	/* speech-to-text */
	bool asr_open;
	uint64_t asr_used_at;
	unsigned asr_empty;
	struct room_overlap overlap; /* overlapping speech */
	struct room_endpointing endpointing;
	uint32_t interim_utterance; /* the newest utterance with an interim request */
};

/* The level of the bot's voice while it speaks (answer/barge_in.h). */
struct room_playback_level {
	uint32_t turn;
	enum room_barge_in_action lowered;
	bool ducked; /* ducked, also while it is paused */
};

/* Who was told that the bot did not understand. Kept apart from the speakers: somebody who
 * leaves and returns is the same person. */
struct room_not_understood {
	uint64_t user, at; /* user 0: free */
};

struct room {
	struct room_context context; /* the first member: room_of */
	struct room_names names;
	bool shared; /* one transcription session for all speakers, fixed when the room began */
	bool files;  /* recordings are transcribed instead of streams */
	struct room_recording_queue recordings;
	uint64_t interim_not_before; /* no interim requests before this time: the provider was too
					slow */
	bool interim_unrequested;    /* the provider sends interim transcripts without requests */

	struct room_speaker speaker[ROOM_SPEAKERS];
	unsigned places; /* places in use; those beyond are free */
	struct room_turn turn[ROOM_TURNS];
	uint64_t live[(ROOM_TURNS + 63) / 64]; /* bit set of the turns that have not ended */
	struct room_turn *active; /* the turn that has the floor: ASKED, SPEAKING or CLOSING */
	uint32_t last_turn, last_utterance;
	struct room_playback_level level;
	struct room_reply reply; /* of the active turn */
	struct room_speculative speculative;
	struct room_retry retry; /* the same */
	struct room_output output;
	uint64_t free_at; /* when the floor became free */
	struct room_floor floor;
	struct room_followup followup;
	struct room_choice choice;
	struct room_classifier classifier;
	struct room_music music;
	struct room_session session;
	struct room_thought thought;
	struct room_moments moments;
	uint64_t counts[ROOM_REASON_COUNT];
	struct room_not_understood not_understood[ROOM_SPEAKERS];
	struct room_history history;
	struct room_instructions instructions;
};

/* The room of this context: for the functions that machines with the narrow context call. */
static inline struct room *room_of(const struct room_context *context)
{
	return (struct room *)(uintptr_t)context;
}

/* turn.c */
struct room_turn *room_turn_new(struct room *room, struct room_speaker *sp);
/* Another turn with the same words, in the phase HEARING; NULL if there is no place. */
struct room_turn *room_turn_copy(struct room *room, const struct room_turn *of);
/* The index of the next turn that has not ended, beginning with `from`; ROOM_TURNS if there is
 * none. A step that ends turns may still meet an ended one. */
unsigned room_turn_next(const struct room *room, unsigned from);
/* Its first speaker left: the turn now belongs to the speaker of its first segment. */
void room_turn_reassign(struct room_turn *turn);
void room_turns_tick(struct room *room);
uint64_t room_turns_deadline(const struct room *room);

/* transcript.c: speech-to-text, one session a speaker */
void room_asr_start(struct room *room, struct room_speaker *sp);
void room_asr_promote(struct room *room, struct room_speaker *sp);
void room_asr_commit(struct room *room, struct room_speaker *sp);
void room_asr_discard(struct room *room, struct room_speaker *sp);
void room_transcripts_on_event(struct room *room, const struct room_event *ev);
/* The transcript of this utterance is no longer awaited; the next recording may run. */
void room_asr_release(struct room *room, uint64_t user, uint32_t utterance);
/* Cancels pending transcripts of this turn; it keeps the words that arrived. */
void room_asr_abandon(struct room *room, struct room_turn *turn);
/* why: idle_ttl, user_left, empty, shutdown. */
void room_asr_close(struct room *room, struct room_speaker *sp, const char *why);
/* The capture has ended: no more chunks follow. */
void room_turn_end_capture(struct room *room, struct room_turn *turn);
void room_asr_tick(struct room *room, struct room_speaker *sp);
/* When its session is closed as idle; UINT64_MAX while it is in use. */
uint64_t room_asr_idle_at(const struct room *room, const struct room_speaker *sp);

/* output.c: the answer, from the brain to the room */
/* The state of the bot's output now. */
struct room_output_state room_output_state_now(const struct room *room);
void room_output_tick(struct room *room);
void room_output_on_event(struct room *room, const struct room_event *ev);
/* Its audio is no longer held back. */
void room_answer_release(struct room *room, struct room_turn *turn);

#endif
