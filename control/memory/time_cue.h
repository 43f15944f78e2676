/* Finds the time that a question is about ("last Tuesday", "two days ago", 昨日) as a window. Pure.
 *
 * A window is half-open, in ms since 1970 (UTC). Days begin at midnight of the asker's zone, weeks
 * on Monday, whether or not the clocks have changed since. */
#ifndef CONTROL_MEMORY_TIME_CUE_H
#define CONTROL_MEMORY_TIME_CUE_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "control/memory/calendar.h"

struct time_window {
	uint64_t since_ms, until_ms;
	bool loose; /* it may be the time of what was talked about: "the meeting on Tuesday" */
};

/* With the NUL; what a question has beyond it is not read. */
enum { TIME_CUE_TEXT = 512 };

/* False: the question names no time. "last Tuesday" is the last one before today, and so is "on
 * Tuesday", as a loose window; a weekday without such a word, and "this Tuesday", is what was
 * talked about. A date ("on November 5th") is the last one, loosely, too. Until 5 o'clock "tonight"
 * and "this morning" are those of the day before. "since yesterday" ends now; "before yesterday"
 * begins with all time, and is loose. */
bool time_cue_find(const char *question, uint64_t now_ms, const struct calendar_zone *zone,
		   struct time_window *out);
/* The question in lower case, with blanks in the place of the words that name its time. */
void time_cue_strip(char out[TIME_CUE_TEXT], const char *question);
/* Adds the time that the question surely names to a request for facts, as "since_ms" and
 * "until_ms"; nothing for a loose window. */
void time_cue_note(json_t *request, const char *question, uint64_t now_ms,
		   const struct calendar_zone *zone);

#endif
