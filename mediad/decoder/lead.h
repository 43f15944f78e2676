/* How far the encoding of a film is ahead of those who watch it, and what has to be saved so that
 * it stays ahead on one core. Pure. */
#ifndef MEDIAD_DECODER_LEAD_H
#define MEDIAD_DECODER_LEAD_H

#include <stdbool.h>
#include <stdint.h>

enum { LEAD_UNITS = 2048 };

/* Each saves more than the one before. */
enum lead_saving {
	LEAD_ALL,   /* nothing */
	LEAD_HALF,  /* half of the frames are not encoded */
	LEAD_THIRD, /* two of three are not; frames that no other needs are not decoded */
	LEAD_KEYS   /* key frames alone are decoded */
};

enum {
	/* Ms of film encoded ahead: before playback begins, and below which each saving begins. */
	LEAD_OPEN_MS = 3000,
	LEAD_HALF_MS = 2000,
	LEAD_THIRD_MS = 1200,
	LEAD_KEYS_MS = 600,
	/* Ms of film that a saving lasts at least, before the next weaker one may follow. */
	LEAD_HOLD_MS = 5000,
	/* CPU time: so many ms at once, and 70 % of the film, or of the time since it was opened.
	 * zygote.c holds the jail's limit above that. */
	LEAD_CPU_MS = 60000,
	LEAD_CPU_PERCENT = 70,
	LEAD_CPU_HALF_MS = 20000, /* CPU time left, below which each saving begins */
	LEAD_CPU_THIRD_MS = 12000,
	LEAD_CPU_KEYS_MS = 6000,
};

struct lead {
	/* Units that may not be read yet: where each ends in the ring, and when it is shown. */
	struct {
		uint64_t end, at_us;
	} units[LEAD_UNITS];
	uint64_t first, n;
	uint64_t first_end; /* of the first unit of all */
	uint64_t begin_us, newest_us, read_us;
	enum lead_saving saving;
	uint64_t saves_until_us;
};

/* Notes a unit that was written to the ring, where it ends at `end`. */
void lead_wrote(struct lead *l, uint64_t end, uint64_t at_us);
/* taken: bytes that the reader has taken from the ring. Returns ms of film that it has not read. */
uint64_t lead_ms(struct lead *l, uint64_t taken);
/* What is to be saved now. cpu_ms: CPU time that was used for the film so far; waits: most of the
 * time goes into waiting for the source, which no saving makes faster. */
enum lead_saving lead_saving(struct lead *l, uint64_t taken, uint64_t cpu_ms, bool waits);
/* True if the decoder has to pause: the film has used more CPU time than the jail allows for the
 * wall_ms since it was opened, and the jail would end the process. */
bool lead_rests(uint64_t cpu_ms, uint64_t wall_ms);

#endif
