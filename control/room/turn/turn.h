/* A turn: what somebody said to the room, from the moment it counts as speech to its one terminal
 * reason.
 *
 *   phase          leaves by                                  to
 *   HEARING        capture ends spoken                        TRANSCRIBING
 *   TRANSCRIBING   all its pieces have transcripts            admission: QUEUED, DEFERRED, JUDGED
 * or ENDED JUDGED         the classifier's answer, or 900 ms         QUEUED or ENDED DEFERRED
 * nothing blocks any more                    admission again QUEUED         the floor is free ASKED
 *   ASKED          the answer's sound is let out              SPEAKING
 *   SPEAKING       drained                                    ENDED
 *   any of them    turn_cancel                                CLOSING while its sound stops, else
 * ENDED CLOSING        stopped, drained, or 3 s                   ENDED
 *
 * Whatever works for the turn hangs on its token (token.h, cancel.h): the first reason stays, each
 * sink is called once, and nothing is cancelled but by the id of this turn. `sinks` says what is at
 * work now. Turns live in the room's table; one that ended stays there until its place is needed,
 * for room_why(). Readers outside the room only look. */
#ifndef CONTROL_ROOM_TURN_TURN_H
#define CONTROL_ROOM_TURN_TURN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/room/floor/output_lease.h"
#include "control/room/floor/interruption_policy.h"
#include "control/room/reasons.def"

enum room_reason {
#define X(NAME, name, text) ROOM_REASON_##NAME,
	ROOM_REASONS(X)
#undef X
		ROOM_REASON_COUNT
};

enum room_rule {
#define X(NAME, name, unit, text) ROOM_RULE_##NAME,
	ROOM_RULES(X)
#undef X
		ROOM_RULE_COUNT
};

/* Why the work of a turn was aborted. */
enum room_abort {
	ROOM_ABORT_NONE,
	ROOM_ABORT_BARGE_IN,
	ROOM_ABORT_EOT_REVOKED,
	ROOM_ABORT_USER_CANCEL,
	ROOM_ABORT_TIMEOUT,
	ROOM_ABORT_EXTERNAL,
	ROOM_ABORT_COUNT,
};

enum room_phase {
	ROOM_PHASE_FREE,
	ROOM_PHASE_HEARING,
	ROOM_PHASE_TRANSCRIBING,
	ROOM_PHASE_CLASSIFYING,
	ROOM_PHASE_DEFERRED,
	ROOM_PHASE_QUEUED,
	ROOM_PHASE_ASKED,
	ROOM_PHASE_SPEAKING,
	ROOM_PHASE_CLOSING,
	ROOM_PHASE_ENDED,
};

enum {
	ROOM_NAME_MAX = 100,
	ROOM_TEXT_MAX = 2048,
	ROOM_CAPTURE_CHUNK_TEXT = 704,
	ROOM_CAPTURE_CHUNKS = 6,
	ROOM_SEGMENTS = 16,
	ROOM_CHAIN = 48,
};

enum { ROOM_SINK_ASR = 1, ROOM_SINK_BRAIN = 2, ROOM_SINK_PLAYBACK = 4, ROOM_SINK_TTS = 8 };

/* One utterance of a turn; long speech comes in several. */
struct room_capture_chunk {
	uint32_t utterance;
	bool committed, done, failed;
	uint32_t ms, rms;  /* of its sound */
	uint32_t voice_ms; /* of that, a voice */
	uint32_t doubt;	   /* of its transcript, as of ROOM_TRANSCRIPT */
	bool hallucinated; /* its words were none: they were dropped */
	char text[ROOM_CAPTURE_CHUNK_TEXT];
};

/* Words of one utterance: at [at, at + n) of heard (control/room/turn/segment.h). */
struct room_segment {
	uint64_t user;
	uint32_t utterance, revision;
	uint16_t at, n;
	char name[ROOM_NAME_MAX];
};

/* One decision: `yes` when the value passed the limit. */
struct room_decision {
	enum room_rule rule;
	bool yes;
	int64_t value, limit;
};

struct room_turn {
	uint32_t id;
	enum room_phase phase;
	enum room_reason reason; /* the first that was given */
	enum room_abort abort;	 /* NONE while the turn is live; the first abort stays */
	unsigned sinks;
	uint64_t user;
	char name[ROOM_NAME_MAX];

	unsigned chunks;
	struct room_capture_chunk chunk[ROOM_CAPTURE_CHUNKS];
	unsigned segments;
	struct room_segment segment[ROOM_SEGMENTS];
	uint32_t sound_ms;		/* of all that was committed of it */
	uint32_t dropped_head;		/* bytes of the oldest words that did not fit */
	char transcript[ROOM_TEXT_MAX]; /* what was said to the bot, by all who said it */
	char answer[ROOM_TEXT_MAX];	/* its answer; at the end, as much as was heard of it */
	bool answer_cut;		/* at the end: there was more of it */
	bool named;
	bool latched;		 /* it began while music listened for more */
	uint64_t interrupted_by; /* who spoke over the answer */
	uint32_t interrupting_utterance;
	struct room_interruption_policy policy; /* who may, decided when the brain is asked */
	struct room_output_lease lease;
	unsigned pause_count;
	bool hushed; /* it only told the bot to be quiet, and the bot is */
	bool brain_done, brain_broke, released, not_understood;

	/* ns; 0 = has not happened */
	uint64_t born_at, end_of_speech_at, queued_at, asked_at, first_audio_at, ended_at;
	uint64_t deadline;
	uint64_t deferred_at; /* since when it has had to wait because the bot was busy */
	uint64_t retry_at;    /* DEFERRED: not before */

	uint64_t samples;	 /* of the answer, as the brain sent it */
	uint64_t samples_played; /* of it, as they left for the room */

	unsigned
		decisions; /* more than ROOM_CHAIN were made when larger; the first ones are kept */
	struct room_decision decision[ROOM_CHAIN];
	unsigned again, agains; /* the newest of the judgements that changed nothing: its place
				   there, and its decisions */
};

/* It ended because its words went into another turn, which is asked, answered and remembered for
 * both. */
bool room_turn_replaced(const struct room_turn *turn);

const char *room_reason_name(unsigned reason);
const char *room_reason_text(unsigned reason);
const char *room_rule_name(unsigned rule);
const char *room_rule_unit(unsigned rule);
const char *room_rule_text(unsigned rule);

#endif
