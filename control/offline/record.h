/* The record of a run (`--record DIR`): DIR/events.jsonl with one line for each recognised and each
 * spoken sentence, and their sound.
 *
 *   {"ms":12,"kind":"heard","text":"what time is it","wav":"heard-1.wav","inside":true}
 *   {"ms":40,"kind":"said","text":"It is ten past four.","wav":"said-1.wav"}
 *
 * ms counts from the start. Files are 24 kHz s16 mono and complete before their line is written.
 * Blocking. */
#ifndef OFFLINE_RECORD_H
#define OFFLINE_RECORD_H

#include <stddef.h>
#include <stdint.h>

struct record;

/* Creates the folder if necessary. errno. Caller owns *out. */
int record_open(struct record **out, const char *dir, uint64_t start_ms);
struct record *record_close(struct record *r);
/* kind: "heard" or "said". extra: "inside" of a heard sentence, -1 = leave out. errno. */
int record_add(struct record *r, uint64_t now_ms, const char *kind, const char *text, int inside,
	       const int16_t *pcm, size_t n);

#endif
