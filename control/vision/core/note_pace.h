/* Limits the requests to a model for notes about shown screens: only after a change, one at a time,
 * with a minimum interval, and at most so many an hour. Pure. Times in ns. */
#ifndef CONTROL_VISION_CORE_NOTE_PACE_H
#define CONTROL_VISION_CORE_NOTE_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum { NOTE_PACE_SHARES = 8 };

struct note_rules {
	uint64_t gap; /* between two questions */
	unsigned per_hour;
};

struct note_pace {
	uint32_t wanted[NOTE_PACE_SHARES]; /* shares that changed, the longest waiting first */
	unsigned n;
	bool asking;
	uint64_t asked_at, hour_at; /* 0: never */
	unsigned in_hour;
};

/* Something has changed on this share. Beyond NOTE_PACE_SHARES it waits for its next change. */
void note_pace_want(struct note_pace *p, uint32_t share);
/* When the next question is due: now or earlier, at once; UINT64_MAX: not before something changes
 * or the running question ends. */
uint64_t note_pace_due(const struct note_pace *p, const struct note_rules *rules, uint64_t now);
/* The share to ask about; it waits no more. 0: none. */
uint32_t note_pace_take(struct note_pace *p);
/* A question about it is asked. */
void note_pace_ask(struct note_pace *p, uint64_t now);
/* It was answered, or failed. */
void note_pace_end(struct note_pace *p);

#endif
