/* Ranks tracks by how well they fit what somebody asked for, in text that a person typed or a
 * transcriber wrote down: case, accents, punctuation, misspelt and joined words do not matter.
 *
 *   part of the score                                   thousandths
 *   words of the query that the track has               750
 *   words of the title that the query has               150
 *   the query is the title, or artist and title         all 1000
 *
 * A query with a word that the track lacks is none of it by the artist's name alone, however long
 * that is: "taylor swift style" does not find "Taylor Swift - Love Story".
 *
 * Longer words count for more, and words such as "the" and "by" for little: alone
 * they find only a track that is called so. Similarity of two words
 * is their edit distance with swapped neighbours (optimal string alignment), of words of at most
 * six letters one such mistake; chinese, japanese and korean text is compared by overlapping pairs
 * of characters, for it has no blanks.
 *
 * Queries and tracks are texts of strangers: a search that has compared too many words finds only
 * what is called as the query, among the tracks that are left. Pure. */
#ifndef CONTROL_MUSIC_MATCH_H
#define CONTROL_MUSIC_MATCH_H

#include <stddef.h>
#include <stdint.h>

struct track;

enum {
	MUSIC_MATCH_FULL = 1000,
	MUSIC_MATCH_WORDS = 48,	     /* of a text; further ones are ignored */
	MUSIC_MATCH_ASKED = 24,	     /* of a query; likewise */
	MUSIC_MATCH_LETTERS = 32,    /* of a word; likewise */
	MUSIC_FOLDED_MAX = 1024,     /* bytes with NUL */
	MUSIC_MATCH_PLAUSIBLE = 500, /* a lower score is no hit */
	MUSIC_MATCH_SURE = 750,	     /* a lower one may mean music that is elsewhere */
};

/* The text as it is compared and indexed: lower case, without accents (of Latin letters), its words
 * separated by single blanks. Truncated to fit; always terminated. Returns the length. */
size_t music_fold(char to[MUSIC_FOLDED_MAX], const char *text);

struct music_hit {
	const struct track *track; /* borrowed */
	unsigned score;		   /* 0 to MUSIC_MATCH_FULL */
};

unsigned music_match(const char *query, const struct track *t);
/* Gives each hit its score, drops those that are not plausible, and sorts the best first; equal
 * ones stay in order. Returns how many are left. */
size_t music_rank(const char *query, struct music_hit *hits, size_t n);

#endif
