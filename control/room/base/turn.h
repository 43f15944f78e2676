/* A turn: what somebody said to the room, from its promotion to its one terminal reason.
 *
 *   phase         leaves by                                to
 *   HEARING       the capture ends as speech               TRANSCRIBING
 *   TRANSCRIBING  all its chunks have transcripts          admission: QUEUED, DEFERRED,
 *                                                          CLASSIFYING or ENDED
 *   CLASSIFYING   the classifier's answer, or its time     QUEUED, DEFERRED or ENDED
 *   DEFERRED      no blocker is left                       admission again
 *   QUEUED        the floor is free                        ASKED
 *   ASKED         the answer's playback opens              SPEAKING
 *   SPEAKING      the playback drained                     ENDED
 *   any of them   room_turn_cancel                         CLOSING while the playback stops, else
 *                                                          ENDED
 *   CLOSING       stopped, drained, or 3 s                 ENDED
 *
 * Cancellation: `sinks` says which work is under way for the turn. An abort stops all of it, each
 * part once, in the order speech-to-text, brain, tools, text-to-speech, playback, by the id of this
 * turn;
 * the first reason stays (statements 116 to 139).
 *
 * Turns live in the room's table. An ended turn stays there until its place is needed, for
 * room_why(). Readers outside control/room only read. */
#ifndef CONTROL_ROOM_BASE_TURN_H
#define CONTROL_ROOM_BASE_TURN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/room/base/output_lease.h"
#include "control/room/base/interruption_policy.h"
#include "control/room/base/reasons.def"

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

enum {
	ROOM_SINK_ASR = 1,
	ROOM_SINK_BRAIN = 2,
	ROOM_SINK_PLAYBACK = 4,
	ROOM_SINK_TTS = 8,
	ROOM_SINK_TOOLS = 16,
};

/* One utterance of a turn; a long capture has several. */
struct room_capture_chunk {
	uint32_t utterance;
	bool committed, done, failed;
	uint32_t ms, rms;	      /* of its audio */
	uint32_t voice_ms, voice_rms; /* of the voiced part of it */
	uint32_t doubt;		      /* of its transcript, as in ROOM_TRANSCRIPT */
	bool hallucinated;	      /* its transcript was dropped as a hallucination */
	bool echo;		      /* the bot's own words were removed from its transcript */
	uint64_t from, to;	      /* ns: when its audio began, its last voiced frame */
	char text[ROOM_CAPTURE_CHUNK_TEXT];
};

/* Words of one utterance: [at, at + n) of transcript (turn/segment.h). */
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
	enum room_reason reason; /* the first one stays */
	enum room_abort abort;	 /* NONE while the turn is live; the first abort stays */
	unsigned sinks;
	uint64_t user;
	char name[ROOM_NAME_MAX];

	unsigned chunks;
	struct room_capture_chunk chunk[ROOM_CAPTURE_CHUNKS];
	unsigned segments;
	struct room_segment segment[ROOM_SEGMENTS];
	uint32_t sound_ms;		/* audio of it that was committed */
	uint32_t dropped_head;		/* bytes of the oldest words that did not fit */
	char transcript[ROOM_TEXT_MAX]; /* the words of all its speakers */
	char answer[ROOM_TEXT_MAX];	/* the answer; at the end, the part of it that was played */
	bool answer_cut;		/* at the end: more of it was not played */
	unsigned language; /* of its newest words, told by the provider: enum room_language, or 0 */
	bool named;
	bool latched;		      /* it began in the music latch */
	bool prompted;		      /* nobody said it: the transcript is a prompt of ours */
	uint16_t quoted_at, quoted_n; /* ... in which somebody's own words stand here */
	uint64_t quoted_user;	      /* whose words those are */
	uint64_t quoted_since;	      /* ns: when they were written */
	char quoted_name[ROOM_NAME_MAX];
	uint64_t order;		 /* number of the operator's order that it carries out; 0: none */
	bool arrival;		 /* nobody said it: the bot has come in, and greets */
	bool remark;		 /* nobody said it: a shown screen has changed */
	uint64_t interrupted_by; /* who interrupted the answer */
	uint32_t interrupting_utterance;
	struct room_interruption_policy
		policy; /* who may interrupt; decided when the brain is asked */
	struct room_output_lease lease;
	unsigned pause_count;
	unsigned gates; /* bits of enum room_gate: held back a voice over the answer */
	unsigned classify_attempts;
	uint32_t question;   /* CLASSIFYING: number of the question whose answer is awaited */
	bool overlap_judged; /* ... which is about its words over an answer */
	bool stop_request;   /* its words only told the bot to stop, and the bot did */
	bool brain_done, brain_broke, released, not_understood;
	bool told_private; /* its model was told facts of the speaker's own memory */

	/* ns; 0 = has not happened */
	uint64_t born_at, end_of_speech_at, queued_at, asked_at, first_audio_at, ended_at;
	uint64_t deadline;
	uint64_t deferred_at; /* when it was first deferred */
	uint64_t retry_at;    /* DEFERRED: not before */

	uint64_t samples;	 /* of the answer, as received */
	uint64_t samples_played; /* of it, as they left the socket */

	unsigned decisions; /* may exceed ROOM_CHAIN; room_turn_decide tells which are kept */
	struct room_decision decision[ROOM_CHAIN];
	unsigned again, agains; /* the newest repeated attempt of admission: its index, and the
				   number of its decisions */
};

/* True if it ended because its words went into another turn, which is asked, answered and
 * remembered for both. */
bool room_turn_replaced(const struct room_turn *turn);
/* True if it was a speculative answer that was rolled back. */
bool room_turn_speculated(const struct room_turn *turn);

/* Adds a decision to the turn's chain. When it is full, what the prompt held of the memory takes
 * the place of the last decision of another kind; everything else is left out. */
void room_turn_decide(struct room_turn *turn, enum room_rule rule, bool yes, int64_t value,
		      int64_t limit);

const char *room_reason_name(unsigned reason);
const char *room_reason_text(unsigned reason);
const char *room_rule_name(unsigned rule);
const char *room_rule_unit(unsigned rule);
const char *room_rule_text(unsigned rule);
/* What a decision found: the rule's sentence, or the one where it does not hold; and what follows
 * from it, "" for nothing. */
const char *room_decision_text(unsigned rule, bool yes);
const char *room_decision_then(unsigned rule, bool yes);

#endif
