/* Interim-transcript requests: while somebody speaks over the bot, asks a provider without interim
 * transcripts of its own for the words so far. They arrive as ROOM_PARTIAL. The utterance
 * continues; its final transcript covers the whole audio.
 *
 *   situation                                                    result
 *   a promoted capture with interim_ms of voice over the answer  a request
 *   interim_again_ms more voice since the last request           another request
 *   the last request is unanswered, or interim_max were made     no request
 *   the provider sends interim transcripts without requests      no further request
 *   an answer took 2 s or longer                                 no request for one minute
 *   none came for 2 s                                            none of this speaker, until a
 *                                                                transcript comes or for one minute
 *   recordings are transcribed instead of streams                no request
 *
 * While an answer is awaited, for words_ms at most, voice alone triggers no action that cannot be
 * taken back (barge_in.h), but not beyond barge_in_ms + words_ms of voice, unless the words so far
 * address somebody else. After an answer that came later than that, the arbiter waits again only
 * once words are there. */
#ifndef CONTROL_ROOM_ANSWER_INTERIM_REQUEST_H
#define CONTROL_ROOM_ANSWER_INTERIM_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "control/room/base/people.h"

struct settings;

/* Shared by the requests of all speakers. */
struct room_interim_requests {
	uint64_t not_before;		      /* the provider was too slow */
	uint64_t silent_until[ROOM_SPEAKERS]; /* this speaker's session gave no answer, by place */
	bool unrequested;		      /* it sends interim transcripts without requests */
	uint32_t utterance[ROOM_SPEAKERS];    /* the newest one with a request, by place */
};

/* The requests for one overlap segment. */
struct room_interim {
	unsigned n;
	uint64_t at;	   /* time of the request that is unanswered; 0 = none */
	uint64_t voice_ms; /* voice_ms that the last request covers */
};

/* A voiced frame of overlapping speech was counted, voice_ms so far: makes a request if one is due.
 */
void room_interim_on_audio(struct room_interim_requests *r, struct room_context *context,
			   unsigned place, struct room_interim *p, uint64_t voice_ms);
/* An interim transcript of this utterance arrived. */
void room_interim_on_words(struct room_interim_requests *r, const struct room_context *context,
			   unsigned place, const struct room_interim *p, uint32_t utterance);
/* A transcript of this speaker arrived: their session gives answers. */
void room_interim_on_transcript(struct room_interim_requests *r, unsigned place);
/* A session was closed: the next one may be with another provider. */
void room_interim_on_close(struct room_interim_requests *r);
bool room_interim_awaited(const struct room_interim *p, const struct settings *s, uint64_t now);

#endif
