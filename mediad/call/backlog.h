/* The audio of one playback that control has sent and that its lane has no room for yet. It lies on
 * the loop thread, so that an answer goes on to its end when control is gone, and grows with what
 * it holds: one allocation per doubling, freed with the playback.
 *
 * Samples are s16 at the playback's rate. */
#ifndef MEDIAD_CALL_BACKLOG_H
#define MEDIAD_CALL_BACKLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed, it is empty. A ring, so that what was reserved bounds its memory too. */
struct backlog {
	int16_t *pcm; /* the oldest is at start; they go on at the front */
	size_t start, n, cap;
	uint64_t reserved; /* bytes */
};

/* The most that all backlogs of the process may reserve, in bytes. */
enum { BACKLOG_ALL_MAX = 64 << 20 };

/* Reserves so many bytes, once, of those that all backlogs share; the caller then sends no more
 * than that. False: others have reserved too much. On the loop thread only. */
bool backlog_reserve(struct backlog *b, uint64_t bytes);
void backlog_release(struct backlog *b);

/* Appends n samples, which need no alignment. ENOMEM, and then nothing changes. */
int backlog_append(struct backlog *b, const uint8_t *pcm, size_t n);
/* Copies at most `most` of the oldest samples to out and drops them. Returns how many. */
size_t backlog_take(struct backlog *b, int16_t *out, size_t most);
/* Drops everything and frees the memory, but keeps the reservation. */
void backlog_clear(struct backlog *b);

#endif
