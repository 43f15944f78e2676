/* Which words of an answer were heard: the answer's words and its sound side by side, in the order
 * in which the sound goes out on the wire.
 *
 * An answer comes in chunks (a voice model's answer is one chunk). Of a chunk whose sound left as a
 * whole all words were heard. Of the one in which the sound was cut: the last word that ended
 * before the cut, by the provider's word times where it gave them; else as large a part of the
 * characters as of the sound, back to a word's end. While the sound of a chunk is not known to be
 * whole, its length is taken to be at least what its words need at a slow speaker's pace, so that
 * words which run ahead of their sound do not count as heard. Of a chunk without sound nothing was
 * heard. What comes beyond the limits belongs to the last chunk, or has no time of its own. */
#ifndef CONTROL_ROOM_ANSWER_PLAYOUT_POSITION_H
#define CONTROL_ROOM_ANSWER_PLAYOUT_POSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	ROOM_PLAYOUT_CHUNKS = 48,
	ROOM_PLAYOUT_WORDS = 512,
	ROOM_PLAYOUT_PACE = 12 /* characters a second */
};

struct room_playout_chunk {
	uint32_t id;
	size_t begin, end;	/* of its words, in the answer's text */
	uint64_t from, samples; /* of its sound; from counts from the answer's first sample */
	bool sounded, whole;
};

struct room_playout {
	unsigned chunks, words;
	struct room_playout_chunk chunk[ROOM_PLAYOUT_CHUNKS];
	struct {
		size_t end;  /* in the text */
		uint64_t at; /* its last sample, from the first of its chunk */
	} word[ROOM_PLAYOUT_WORDS];
	uint64_t samples; /* of the whole answer so far */
};

/* A struct of zeros is ready. The text has grown to n bytes by words of this chunk. */
void room_playout_add_text(struct room_playout *said, uint32_t chunk, size_t n);
/* More sound of this chunk goes to the wire, after all that went before. */
void room_playout_add_audio(struct room_playout *said, uint32_t chunk, uint64_t samples);
/* The next word of this chunk, as the provider times it: it ends so many samples after the chunk's
 * first. `text` is the answer's; a word that is not found near the one before is left out. */
void room_playout_add_word(struct room_playout *said, uint32_t chunk, const char *text,
			   const char *word, size_t len, uint64_t samples);
/* All sound of this chunk, or of the answer, is there. */
void room_playout_chunk_complete(struct room_playout *said, uint32_t chunk);
void room_playout_complete(struct room_playout *said);
/* How many bytes of text were heard when so many samples left, at a word's end. */
size_t room_playout_text_played(const struct room_playout *said, const char *text, uint64_t samples,
				uint32_t rate);

#endif
