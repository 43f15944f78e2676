/* The answer to /status: the caller gathers the values, status_words composes the message. No I/O.
 */
#ifndef CONTROL_REPORT_STATUS_H
#define CONTROL_REPORT_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "control/report/faults.h"
#include "proto/media.h"

struct bus_event;

enum { STATUS_PEOPLE = 32, STATUS_DELAYS = 21, STATUS_DELAYS_SHOWN = 3, STATUS_NAME = 40 };

/* The delays of the last answers, newest last. All zero at first. */
struct status_delays {
	unsigned n;
	uint32_t ms[STATUS_DELAYS];
};
void status_delay(struct status_delays *d, uint32_t ms);

/* The figures of /status on a guild's turns: a subscriber of the bus. All zero at first; the
 * longest silent guild gives way. */
enum { STATUS_GUILDS = 64, STATUS_REASON = 160 };
struct status_tally {
	unsigned n;
	struct status_guild {
		uint64_t guild, turns, answered;
		char last[STATUS_REASON];
		struct status_delays delays;
	} v[STATUS_GUILDS];
};
/* TURN counts; SESSION_STARTED begins anew. arg: the tally. */
void status_take_event(const struct bus_event *ev, void *arg);

struct status_person {
	char name[STATUS_NAME];
	enum unheard why;
};

struct status {
	uint64_t now, wall_s; /* the same time: ns of the loop's clock, and seconds since 1970 */

	/* the call */
	uint64_t channel; /* 0: none */
	enum voice_state state;
	enum voice_reason why;
	unsigned media_reason;
	unsigned phase;	   /* enum media_phase */
	bool has_phase;	   /* mediad told one */
	uint64_t up_since; /* ns; 0: before this control's time */
	unsigned mediads, mediads_there;

	/* the members in the channel without the bot; person[] names as many as fit */
	unsigned people, n_people;
	struct status_person person[STATUS_PEOPLE];

	bool stage;				/* a stage has no end-to-end encryption */
	const struct media_call_secure *secure; /* NULL: not told; borrowed */

	/* the brain */
	bool no_model, engine_fails; /* why the embedded engine does not start */
	bool has_brain, brain_embedded, brain_up, brain_silent, guest;
	char brain[128];  /* for display */
	char served[256]; /* which provider serves each role */
	uint64_t turns, answered;
	const char *last_turn; /* the reason of the last turn, NULL for none; borrowed */
	struct status_delays delays;

	struct faults faults;
};

/* Its last_turn borrows of the tally. */
void status_fill_turns(struct status *s, const struct status_tally *tally, uint64_t guild);
void status_person(struct status *s, const char *name, enum unheard why);
void status_words(const struct status *s, struct words *w);
/* Its part about encryption, with the privacy code; secure may not be NULL. */
void status_encryption_words(const struct status *s, struct words *w);

#endif
