/* Words while somebody still speaks over the bot, from a provider that has none before sound is
 * committed: speech-to-text is asked to look at what was said so far, and what it has so far comes
 * as words so far (ROOM_PARTIAL). The utterance goes on; its own words will be of its whole sound.
 *
 *   what there is                                                         then
 *   a promoted utterance with interim_ms of voice over the answer            a look
 *   ... and interim_again_ms more since the last look                        another one
 *   ... but the last one's words did not come, or interim_max were made      none
 *   the provider gives words so far by itself                             none any more
 *   words took 2 s and more                                               none for a minute
 *   recordings are transcribed, not what is streamed                      none
 *
 * While words are awaited, overlap_words_ms at most, the voice alone decides nothing that it cannot
 * take back (arbiter.h), but not beyond barge_in_ms and overlap_words_ms of voice, unless what was
 * said so far is for somebody else. Words that come later than that are not waited for again until
 * they are there. */
#ifndef CONTROL_ROOM_ANSWER_INTERIM_REQUEST_H
#define CONTROL_ROOM_ANSWER_INTERIM_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

struct room;
struct room_speaker;
struct settings;

/* The looks at one utterance over one answer. */
struct room_interim {
	unsigned n;
	uint64_t at;	   /* when words were asked for that did not come yet; 0: none are */
	uint64_t voice_ms; /* of the stretch, that the last one covers */
};

/* A voiced frame of somebody who speaks over the answer was counted. */
void room_interim_on_audio(struct room *room, struct room_speaker *sp);
/* Words so far of this utterance came. */
void room_interim_on_words(struct room *room, const struct room_speaker *sp, uint32_t utterance);
bool room_interim_awaited(const struct room_interim *p, const struct settings *s, uint64_t now);

#endif
