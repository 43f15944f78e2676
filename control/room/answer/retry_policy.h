/* The retry policy of a silent response; response_watchdog.h applies it to the room.
 *
 *   state      input                       next                        action
 *   WAITING    no audio silent_ms after    RETRIED                     ask again, up to
 *              the question                                            response_retries times
 *   RETRIED    the same, all retries are   RECOVERED                   a new question, once
 *              used
 *   RECOVERED  the same                    GIVEN_UP                    the turn ends
 *   any        the answer is complete and  as above, after
 *              had no audio                silent_done_ms
 *   any        live speech                 postponed, by hold_ms at
 *                                          most
 *   any        no sign of life for         GIVEN_UP, even during
 *              first_audio_ms, or for      speech
 *              tool_ms while tools work
 *   any        audio                       HEARD                       none any more
 *
 * A sign of life is text, audio or a tool. */
#ifndef CONTROL_ROOM_ANSWER_RETRY_POLICY_H
#define CONTROL_ROOM_ANSWER_RETRY_POLICY_H

#include <stdbool.h>
#include <stdint.h>

struct settings;

enum room_retry_step {
	ROOM_RETRY_WAIT,
	ROOM_RETRY_AGAIN,
	ROOM_RETRY_RECOVER,
	ROOM_RETRY_GIVE_UP,  /* all retries failed */
	ROOM_RETRY_WATCHDOG, /* no sign of life */
};

enum room_wait_line { ROOM_WAIT_LINE_NONE, ROOM_WAIT_LINE_FIRST, ROOM_WAIT_LINE_STILL };

struct room_retry {
	uint64_t asked_at; /* time of this attempt; 0: nothing is awaited */
	uint64_t done_at;  /* the answer ended without audio; 0: it did not */
	uint64_t life_at;  /* the last sign of life of this attempt, 0 = none */
	bool heard, recovered;
	unsigned retries, tools;
	uint64_t waits_until;	  /* to ask with the outputs, while audio waits; 0: it does not */
	uint32_t waits_for;	  /* the turn of it */
	bool outputs;		  /* outputs of tools arrived that this attempt does not know */
	bool quiet;		  /* a tool of this attempt wants no more words */
	enum room_wait_line line; /* that is read out while tools work (wait_line.h) */
	bool line_begun;
};

void room_retry_asked(struct room_retry *l, uint64_t now);
void room_retry_word(struct room_retry *l, uint64_t now);
/* follows: the brain goes on with the output. */
void room_retry_tool(struct room_retry *l, bool on, bool follows, uint64_t now);
void room_retry_audio(struct room_retry *l);
/* The answer is complete. Returns true if it had no audio, and retries go on. */
bool room_retry_done(struct room_retry *l, uint64_t now);

/* blocked_until: when live speech ends at the earliest, 0 for none. */
uint64_t room_retry_deadline(const struct room_retry *l, const struct settings *s,
			     uint64_t blocked_until);
/* Takes the step that is due; its time begins again. */
enum room_retry_step room_retry_tick(struct room_retry *l, const struct settings *s,
				     uint64_t blocked_until, uint64_t now);

/* Tools that work for the active turn. */
unsigned room_retry_tools(const struct room_retry *l);

#endif
