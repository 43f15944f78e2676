/* The playout position in an answer's text: which words were played, from the samples that left
 * the socket. Keeps the text and the audio of an answer side by side, in the order of their
 * playout.
 *
 * An answer consists of chunks (a voice model's answer is one chunk). All words of a chunk whose
 * audio was played completely count as played. Within a chunk that was cut, the last word that
 * ended before the cut counts, by the provider's word times where there are any; else the same
 * share of the characters as of the audio, back to the end of a word. While a chunk's audio is
 * incomplete, its length is estimated as at least what its text needs at a slow pace, so that text
 * which runs ahead of its audio does not count as played. Chunks without audio were not played.
 * Input beyond the limits belongs to the last chunk, or has no time of its own. */
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
	size_t begin, end;	/* range of its words in the answer's text */
	uint64_t from, samples; /* its audio; `from` counts from the answer's first sample */
	bool sounded, whole;
};

struct room_playout {
	unsigned chunks, words;
	struct room_playout_chunk chunk[ROOM_PLAYOUT_CHUNKS];
	struct {
		size_t end;  /* end of the word, in the text */
		uint64_t at; /* its last sample, counted from the chunk's first */
	} word[ROOM_PLAYOUT_WORDS];
	uint64_t samples; /* samples of the whole answer so far */
};

/* A struct of zeros is ready for use. The text has grown to n bytes by words of this chunk. */
void room_playout_add_text(struct room_playout *said, uint32_t chunk, size_t n);
/* More audio of this chunk is sent, after everything before it. */
void room_playout_add_audio(struct room_playout *said, uint32_t chunk, uint64_t samples);
/* The provider's time of the next word of this chunk: it ends `samples` after the chunk's first
 * sample. `text` is the answer's text; a word that is not found near the previous one is dropped.
 * */
void room_playout_add_word(struct room_playout *said, uint32_t chunk, const char *text,
			   const char *word, size_t len, uint64_t samples);
/* All audio of this chunk, or of the answer, was sent. */
void room_playout_chunk_complete(struct room_playout *said, uint32_t chunk);
void room_playout_complete(struct room_playout *said);
/* The number of bytes of text that were played after so many samples, at the end of a word. */
size_t room_playout_text_played(const struct room_playout *said, const char *text, uint64_t samples,
				uint32_t rate);

#endif
