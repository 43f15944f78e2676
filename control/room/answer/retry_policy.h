/* An answer that stays silent: asked for again, and given up in the end.
 *
 *   state      input                                             next        what is done
 *   WAITING    no sound silent_ms after it was asked for          RETRIED     asked for again,
 * response_retries times RETRIED    the same, all retries used                         RECOVERED
 * the question is put anew, once RECOVERED  the same GIVEN_UP    the turn ends, what waits is
 * looked at any        the answer is over and had no sound                 as above, after
 * silent_done_ms any        speech that blocks                                  postponed, at most
 * hold_ms any        no sign of life for first_audio_ms; tool_ms while tools work   GIVEN_UP,
 * whoever speaks any        sound                                              HEARD       nothing
 * any more
 *
 * A sign of life is a word, sound, or a tool. */
#ifndef CONTROL_ROOM_ANSWER_RETRY_POLICY_H
#define CONTROL_ROOM_ANSWER_RETRY_POLICY_H

#include <stdbool.h>
#include <stdint.h>

struct settings;

enum room_retry_step {
	ROOM_RETRY_WAIT,
	ROOM_RETRY_AGAIN,
	ROOM_RETRY_RECOVER,
	ROOM_RETRY_GIVE_UP,  /* all was tried */
	ROOM_RETRY_WATCHDOG, /* it gives no sign of life */
};

struct room_retry {
	uint64_t asked_at; /* this try; 0: nothing is awaited */
	uint64_t done_at;  /* the answer was over without sound; 0: it was not */
	uint64_t life_at;  /* the last sign of life of this try, 0 = none */
	bool heard, recovered;
	unsigned retries, tools;
	bool outputs; /* of tools are there that this try does not know */
};

void room_retry_asked(struct room_retry *l, uint64_t now);
void room_retry_word(struct room_retry *l, uint64_t now);
void room_retry_tool(struct room_retry *l, bool on, uint64_t now);
void room_retry_audio(struct room_retry *l);
/* The answer is over. True: it had no sound, and the ladder goes on. */
bool room_retry_done(struct room_retry *l, uint64_t now);

/* blocked_until: speech that blocks lasts at least so long, 0 for none. */
uint64_t room_retry_deadline(const struct room_retry *l, const struct settings *s,
			     uint64_t blocked_until);
/* The step that is due; taken by this, and its time begins anew. */
enum room_retry_step room_retry_tick(struct room_retry *l, const struct settings *s,
				     uint64_t blocked_until, uint64_t now);

/* The room's side: of the turn that is being answered by a voice of the brain's own. */
struct room;
struct room_turn;
struct room_event;
void room_watchdog_asked(struct room *room, struct room_turn *turn);
/* The brain is done with this turn. True: it had nothing to say yet, or tools of it work; the turn
 * goes on, and is asked for again when their outputs are there. */
bool room_watchdog_done(struct room *room, struct room_turn *turn);
void room_watchdog_on_event(struct room *room, const struct room_event *ev);
void room_watchdog_tick(struct room *room);
uint64_t room_watchdog_deadline(const struct room *room);

#endif
