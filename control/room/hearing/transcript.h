/* Transcripts: speech-to-text of the room, one session for each speaker.
 *
 *   utterance   event or input                becomes        effect
 *   none        a capture starts              streaming      ASR_START, then ASR_APPEND
 *   streaming   the capture ends, full chunk  committed      ASR_COMMIT
 *   streaming   discarded, noise              none           ASR_CANCEL
 *   committed   transcript                    done           -
 *   committed   failed, asr_wait_ms           done, failed   -
 *
 * Provisional audio is streamed as well, which saves latency; only promoted captures are committed.
 * Events of utterances that no turn waits for are dropped. A session that stays unused for
 * asr_idle_ms is closed. A session that finds no words in asr_empty_max utterances of at least
 * asr_empty_ms in a row is closed, too, so that the next utterance opens a new one; any words reset
 * the count, and shorter audio does not count. For control/room only. */
#ifndef CONTROL_ROOM_HEARING_TRANSCRIPT_H
#define CONTROL_ROOM_HEARING_TRANSCRIPT_H

#include "control/room/base/people.h"
#include "control/room/hearing/recording_queue.h"

struct room_event;

struct room_asr_session {
	bool open;
	uint64_t used_at;
	unsigned empty;	  /* utterances without words in a row */
	uint64_t echo_at; /* when its sound last proved that its microphone returns the bot's voice;
			     0: never */
	uint32_t echo_rms; /* loudness of that sound */
	uint32_t own_rms;  /* loudness of words while the bot was silent; 0: not known */
};

struct room_transcripts {
	uint32_t last;	   /* the newest utterance */
	unsigned language; /* of the newest words in a language of ours: enum room_language */
	struct room_recording_queue recordings;
	struct room_asr_session session[ROOM_SPEAKERS]; /* by the person's place */
};

/* Starts an utterance of the person in this place and returns its number. */
uint32_t room_asr_start(struct room_context *context, unsigned place);
/* The audio of the open capture counts as speech, is committed as a chunk, or is not wanted. */
void room_asr_promote(struct room_context *context, unsigned place);
void room_asr_commit(struct room_context *context, unsigned place);
void room_asr_discard(struct room_context *context, unsigned place);
/* The code of the language to write to the people in: that of the settings, else of the last
 * speaker;
 * "" for none. */
const char *room_spoken_language(const struct room_context *context);
/* The turn's capture has ended: no more chunks follow. */
void room_asr_end_capture(struct room_context *context, struct room_turn *turn);
/* Closes the session of the person in this place if one is open. why: user_left, suspended,
 * shutdown. */
void room_asr_close(struct room_context *context, unsigned place, const char *why);
/* True if the voice in the open capture can be the bot's own: this microphone has returned it
 * lately, and the capture is no more than twice as loud as that was. */
bool room_asr_returns_bot(const struct room_context *context, unsigned place);
/* The person in this place left. */
void room_asr_forget(struct room_context *context, unsigned place);
/* Closes the session once it was idle for too long. */
void room_asr_tick(struct room_context *context, unsigned place);
/* When that is; UINT64_MAX while it is in use. */
uint64_t room_asr_idle_at(const struct room_context *context, unsigned place);

void room_transcripts_on_event(struct room_context *context, const struct room_event *ev);

#endif
