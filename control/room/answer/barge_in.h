/* The barge-in arbiter: decides what overlapping speech does to the bot's voice. It is the one
 * place that does.
 *
 * room_barge_in_decide(), a function of its input; the first row that fits:
 *   situation                                       action
 *   nobody may interrupt, or the answer is not      IGNORE
 *   audible
 *   takeover words, the bot's name, the verdict     STOP, if this speaker may by name
 *   INTERRUPT (overlap_question.h)
 *   this speaker may not interrupt                  IGNORE (the words become a turn)
 *   only backchannels so far, words to somebody     IGNORE
 *   else by name, words about the bot, the verdict
 *   IGNORE
 *   the interrupt classifier is asked               DUCK
 *   a voice that can be the bot's own, come back    IGNORE
 *   through this speaker's microphone
 *   words, while the overlap lasts; any other       STOP
 *   words when the utterance is over
 *   speech for barge_in_ms that passes the gate     STOP, but DUCK while an interim transcript is
 *   (barge_in_gate.h)                               awaited
 *   speech for pause_ms                             PAUSE, the same
 *   voiced audio for duck_ms                        DUCK
 *   less                                            IGNORE
 *
 * The speech that is needed is shorter or longer by what the sound tells (overlap_sound.h). Gaps of
 * up to 180 ms, as within words, count as voice.
 *
 * Voiced audio counts from its first frame, speech from the promotion of the capture: most
 * backchannels end before that. A few ambiguous words (phrase.h) count no more than the voice that
 * says them.
 *
 * An overlap segment begins with voiced audio over an answer. It continues over gaps shorter than
 * barge_in_gap_ms and ends after such a gap, but not before a transcript had words_ms to arrive
 * since the voice was lowered; after a blip the bot continues as if nothing had happened. Within
 * one overlap segment only backchannels raise a lowered voice.
 *
 * The level of the bot's voice (full, ducked, paused) is the strongest action of all speakers;
 * room_barge_in_tick() reports changes to the playback at the end of each step. */
#ifndef CONTROL_ROOM_ANSWER_BARGE_IN_H
#define CONTROL_ROOM_ANSWER_BARGE_IN_H

#include "control/room/floor/barge_in_gate.h"
#include "control/room/answer/interim_request.h"
#include "control/room/answer/overlap_sound.h"
#include "control/room/base/answers.h"
#include "control/room/floor/phrase.h"

struct room_context;
struct room_event;
struct room_turn;

enum room_barge_in_action {
	ROOM_BARGE_IN_IGNORE,
	ROOM_BARGE_IN_DUCK,
	ROOM_BARGE_IN_PAUSE,
	ROOM_BARGE_IN_STOP
};

/* One speaker's overlap segment over an answer. */
struct room_overlap {
	uint32_t turn;		  /* the answer that is spoken over, 0 = none */
	uint64_t capture;	  /* when the capture began */
	uint32_t from, utterance; /* the first and the newest utterance of it */
	enum room_phrase words;	  /* its words so far */
	size_t words_n;		  /* length of the words when they last grew ... */
	uint64_t words_voice_ms;  /* ... and voice_ms at that time */
	bool to_other;		  /* the words address somebody else, or speak of the bot */
	bool listed;		  /* a list made them WORDS (room_phrase_is_listed) */
	bool over;		  /* they are all words of the newest utterance */
	enum room_barge_in_action verdict; /* DUCK or PAUSE while the overlap lowers the voice */
	uint64_t voice_ms, voice_at, lowered_at;
	uint64_t early_ms; /* the part of voice_ms before promotion */
	bool again;	   /* an earlier segment ended over this answer */
	bool exchange;	   /* somebody else spoke just before it */
	bool judged;	   /* the interrupt classifier is asked about its words */
	struct room_interim interim;
};

/* The level of the bot's voice while it speaks. */
struct room_playback_level {
	uint32_t turn;
	enum room_barge_in_action lowered;
	bool ducked; /* ducked, also while it is paused */
};

struct room_barge_in {
	struct room_overlap overlap[ROOM_SPEAKERS]; /* by the person's place */
	struct room_playback_level level;
	struct room_interim_requests requests;
};

struct room_barge_in_input {
	struct room_gate_input gate;
	uint64_t sound_ms; /* voiced audio of the overlap; gate.voice_ms counts promoted speech only
			    */
	enum room_phrase words;
	enum room_overlap_verdict verdict; /* on these words */
	bool listed;			   /* a list decided on them */
	bool to_other, live;		   /* live: the overlap lasts */
	bool over;			   /* the utterance is over and these are all its words */
	bool awaited;			   /* an interim transcript is awaited */
	bool calls; /* this speaker may interrupt by the name or a takeover phrase */
	bool named;
};

enum room_barge_in_action room_barge_in_decide(const struct settings *s,
					       const struct room_barge_in_input *in);

/* ROOM_CLASSIFIED, of a question about words over an answer. */
void room_barge_in_on_event(struct room_context *context, const struct room_event *ev);
/* Ends questions and overlap segments that are over, then sets the level of the bot's voice. */
void room_barge_in_tick(struct room_context *context);
uint64_t room_barge_in_deadline(const struct room_context *context);
/* The person in this place left. */
void room_barge_in_forget(struct room_context *context, unsigned place);
/* A new playback begins, at full level. */
void room_barge_in_reset(struct room_context *context);
/* True if overlapping speech has paused the playback of this turn. */
bool room_barge_in_paused(const struct room_context *context, uint32_t turn);

#endif
