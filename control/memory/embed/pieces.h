/* The tokenizer of the embedder: splits a text into the pieces of a SentencePiece unigram
 * vocabulary, so that the sum of their log probabilities is highest (Kudo 2018, arXiv 1804.10959).
 * Pure.
 *
 * It decides ties and unknown characters as the JavaScript tokenizer of the encoder does, because
 * the encoder's published vectors rest on that. Of NFKC it knows the forms that speech recognisers
 * write: full-width ASCII, special blanks and the ellipsis. */
#ifndef CONTROL_MEMORY_EMBED_PIECES_H
#define CONTROL_MEMORY_EMBED_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PIECES_SYMBOLS = 1024, /* of a text; the rest is left out */
	PIECES_MAX = 128,      /* pieces of a text that the encoder reads */
	PIECE_UNKNOWN = 0,
};

/* Views into the file; pieces stand in the order of their bytes. */
struct pieces {
	size_t n;
	const double *score;	/* n */
	const uint32_t *offset; /* n + 1, into text */
	const uint32_t *id;	/* n */
	const uint8_t *text;
};

/* One text's lattice: the scratch of pieces_split. */
struct pieces_lattice {
	char text[4 * PIECES_SYMBOLS + 8]; /* normalised */
	uint32_t at[PIECES_SYMBOLS + 1];   /* of each symbol, and the end */
	double best[PIECES_SYMBOLS + 1];
	uint32_t word[PIECES_SYMBOLS + 1], from[PIECES_SYMBOLS + 1];
};

/* True if offsets and ids stay inside; ids are below id_end. */
bool pieces_are_sound(const struct pieces *p, size_t text_bytes, uint32_t id_end);
/* Returns how many ids were written. text need not be terminated. All borrowed. */
size_t pieces_split(const struct pieces *p, struct pieces_lattice *l, const char *text, size_t n,
		    uint32_t ids[PIECES_MAX]);

#endif
