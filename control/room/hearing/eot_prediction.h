/* End-of-turn prediction: when a speaker is silent, predicts whether the turn has ended (eot.h),
 * and begins a speculative answer (speculative.h) if that is likely.
 *
 *   speaker                                         result
 *   is silent for eot_pause_ms, an interim          (the words are known)
 *   transcript is known
 *   is silent for eot_pause_ms, the provider sends  the audio so far is committed as
 *   no interim
 *   transcripts                                     a chunk (capture.h)
 *   is still silent when the EOT probability        the speculative answer begins
 *   reaches eot_share
 *   goes on                                         it is rolled back; the next silence counts
 *                                                   anew
 *
 *   has all words known, and is silent until the    the capture ends
 *   end-of-turn model (eot_model.h) gives
 *   eot_end_share; not at 0
 *
 * The first four happen only while speculation is allowed at all (policy, free floor) and each
 * speaker has a transcription session of their own. The endpointing delay, after which a capture
 * ends, is chosen in capture.c. An early chunk costs nothing if the speaker goes on: its audio had
 * to be transcribed anyway. For control/room only. */
#ifndef CONTROL_ROOM_HEARING_EOT_PREDICTION_H
#define CONTROL_ROOM_HEARING_EOT_PREDICTION_H

#include <stddef.h>
#include <stdint.h>

#include "control/room/base/people.h"
#include "control/room/hearing/prosody.h"
#include "control/room/turn/eot_model.h"

/* The words of a capture that is still open. */
struct room_open_words {
	uint32_t utterance; /* the utterance of the interim transcript in text */
	char text[ROOM_CAPTURE_CHUNK_TEXT];
	enum room_eot_words words; /* class of all words of the turn */
	uint64_t examined_at; /* end of the voiced audio before the silence that was examined */
};

/* Input of the end-of-turn model for one speaker, and its verdict on the silence. */
struct room_silence {
	struct room_prosody prosody;
	uint64_t capture, voice_at; /* the newest voiced audio, and its capture */
	uint32_t usual_pause_ms;    /* 0: not known */
	uint64_t measured_at;	    /* end of the voiced audio that was measured; 0 = none */
	uint64_t end_ms;	    /* the silence that ends the turn then */
};

struct room_eot_prediction {
	struct room_open_words of[ROOM_SPEAKERS]; /* by the person's place */
	struct room_silence silence[ROOM_SPEAKERS];
};

/* A voiced frame of the open capture arrived. */
void room_eot_prediction_on_voice(struct room_context *context, unsigned place, struct slice pcm);
/* An interim transcript of an utterance arrived. */
void room_eot_prediction_set_interim(struct room_context *context, unsigned place,
				     uint32_t utterance, const char *text);
/* All words of the speaker so far, "" for none. */
void room_eot_prediction_text(const struct room_context *context, unsigned place, char *buf,
			      size_t size);
/* Adds the same words, by utterance, to another turn, which has the turn's own segments
 * already. */
void room_eot_prediction_copy(const struct room_context *context, unsigned place,
			      struct room_turn *to);
/* The words changed: classifies them again. */
void room_eot_prediction_update(struct room_context *context, unsigned place);
/* The person in this place left. */
void room_eot_prediction_forget(struct room_context *context, unsigned place);
/* At the end of a step: commits early chunks and begins speculative answers that are due. */
void room_eot_prediction_tick(struct room_context *context);
uint64_t room_eot_prediction_deadline(const struct room_context *context);

#endif
