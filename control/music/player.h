/* Keeps mediad's music in step with the queue: what differs becomes an order.
 *
 *   input                                     queue            orders
 *   sync, after each change of the queue      -                PLAY, PAUSE, RESUME, GAIN, NEXT,
 *                                                              STOP
 *   - the prepared track is the present one   -                STOP of the other, NEXT
 *   - a station follows                       -                none: it plays in its turn
 *   seek                                      position         SEEK
 *   - while down, or with no answer until     position         up: SEEK, if it plays on
 *     then
 *   a report of the present music:
 *   - playing, paused                         position         -
 *   - ended, while one was prepared           the next track   NEXT: the prepared one plays already
 *   - ended or failed, with none prepared     the next track   PLAY, NEXT
 *   - taken back before it began              -                PLAY, NEXT
 *   - failed by the machine's fault           -                STOP: halted, with nothing behind it
 *   - failed, for it cannot begin there       its start        PLAY, NEXT
 *   - failed, its server not reached, before  it waits at the  PLAY, NEXT
 *     any sound, while others wait            end
 *   playing, of the prepared music            the next track   NEXT: the present one crosses over
 *   failed, of the prepared music             without it       NEXT
 *   - the last of MUSIC_FAILURES in a row,    -                none: it plays in its turn
 *     or by the machine's fault
 *   - its server not reached                  -                NEXT, after 10, 20 and 40 s of the
 *                                                              present music, then none
 *   reopen the present or prepared music      -                PLAY, NEXT: its source has expired
 *   a report of music that nobody wants       -                STOP
 *   before up, of music that was saved as
 *   - the present one                         position         CLAIM
 *   - the prepared one, not begun             -                CLAIM
 *   - the prepared one, begun                 the next track   CLAIM
 *   - the present one, over                   the next track   -
 *   up: mediad has told its state             -                as sync
 *   down: the call or mediad is gone          -                none until up, then PLAY at the
 *                                                              position
 *
 * mediad numbers nothing: control gives each playing of a track a number of its own, so a report
 * that is late names nothing. After MUSIC_FAILURES tracks in a row that failed, or when all of them
 * have, the player is halted; music_player_restart ends that. A network that is down takes no track
 * of the queue: those whose servers were not reached return to their places when it halts, once,
 * and stay at the end the next time, so that somebody who asks again gets on. One that fails so
 * again after others have played is removed. Instead of halting it goes on with the next track of
 * somebody whose tracks have not failed, MUSIC_FAILED_REQUESTERS
 * people at most: nobody silences everyone with dead addresses. Pure. */
#ifndef CONTROL_MUSIC_PLAYER_H
#define CONTROL_MUSIC_PLAYER_H

#include <stdbool.h>
#include <stdint.h>

#include "control/music/queue.h"

enum { MUSIC_FAILURES = 5, MUSIC_FAILED_REQUESTERS = 4 };
enum { MUSIC_ROW = MUSIC_FAILURES + MUSIC_FAILED_REQUESTERS };

enum music_order_kind {
	MUSIC_ORDER_PLAY, /* replaces what plays and what was prepared */
	MUSIC_ORDER_NEXT, /* prepares it; track NULL: nothing follows */
	MUSIC_ORDER_PAUSE,
	MUSIC_ORDER_RESUME,
	MUSIC_ORDER_SEEK,
	MUSIC_ORDER_GAIN,
	MUSIC_ORDER_STOP,
	MUSIC_ORDER_CLAIM,
};

struct music_order {
	enum music_order_kind kind;
	uint32_t music;
	uint32_t after;		   /* of NEXT: the present music */
	const struct track *track; /* of PLAY and NEXT; borrowed until return */
	uint64_t position;	   /* of PLAY and SEEK */
	unsigned volume;	   /* of PLAY, NEXT and GAIN */
	bool paused;		   /* of PLAY */
};
/* Must not change the queue or call the player. */
typedef void(music_order_h)(const struct music_order *order, void *arg);

enum music_phase {
	MUSIC_PHASE_OPENING,
	MUSIC_PHASE_READY,
	MUSIC_PHASE_PLAYING,
	MUSIC_PHASE_PAUSED,
	MUSIC_PHASE_ENDED, /* the end of the call is music_player_down */
	MUSIC_PHASE_FAILED,
};

/* Whose fault a failure is. */
enum music_fault {
	MUSIC_FAULT_TRACK,
	MUSIC_FAULT_START,   /* the source cannot begin at the position, but perhaps at its start */
	MUSIC_FAULT_MACHINE, /* no track can be decoded */
	MUSIC_FAULT_NETWORK, /* its server was not reached, is overloaded or brings nothing: its own
				fault, or that of all */
};

struct music_report {
	uint32_t music;
	enum music_phase phase;
	uint64_t position;
	enum music_fault fault; /* of FAILED */
	bool stopped;		/* ENDED, but not by itself */
	bool waits;		/* PLAYING, but its source brings nothing at the moment */
};

struct music_player {
	struct music_queue *queue;
	music_order_h *h;
	void *arg;
	struct music_told {
		uint32_t music, entry; /* 0: none */
	} present, next;
	uint32_t passing; /* crosses over into the present music */
	struct music_sought {
		uint32_t entry; /* 0: none */
		bool ordered;
		bool still; /* mediad had told its pause: no other report is under way */
		uint64_t position;
		uint64_t from; /* where mediad was, as far as was known */
	} sought;	       /* while down, or not known to have reached mediad */
	struct music_ahead {
		uint32_t entry; /* 0: none */
		unsigned tries;
		uint64_t from; /* the position of the present music at the newest failure */
	} ahead;	       /* could not be prepared, its server not reached */
	uint64_t starts;       /* of the queue, when present was told */
	unsigned volume, failures, failures_ahead; /* in a row; ahead: to prepare one */
	uint64_t failed[MUSIC_FAILED_REQUESTERS];  /* whose tracks the row has */
	unsigned n_failed;
	struct music_row {
		unsigned n;
		struct {
			uint32_t entry;
			size_t place; /* before the row began */
			bool waits;   /* at the end */
		} of[MUSIC_ROW];
	} row;				/* whose servers were not reached, in a row */
	struct music_row returned;	/* at the newest halt */
	uint32_t missed[2 * MUSIC_ROW]; /* entries of rows that are over, the newest first */
	size_t passed;			/* those that the present track went before */
	uint32_t sounded;		/* music that has played */
	bool up, paused, held;
	bool still; /* the newest report of the present music was of its pause */
};

/* queue and arg are borrowed. */
void music_player_init(struct music_player *p, struct music_queue *queue, music_order_h *h,
		       void *arg);
void music_player_up(struct music_player *p);
void music_player_down(struct music_player *p);
void music_player_sync(struct music_player *p);
/* What goes with a GAIN has changed. */
void music_player_restyle(struct music_player *p);
/* Pauses mediad, or ends that, without a change of the queue's own pause. */
void music_player_hold(struct music_player *p, bool held);
void music_player_seek(struct music_player *p, uint64_t position);
void music_player_report(struct music_player *p, const struct music_report *r);
/* This music has failed, and its source may be opened again: it is ordered as another playing. */
void music_player_reopen(struct music_player *p, uint32_t music);
bool music_player_is_halted(const struct music_player *p);
/* True if this entry has failed before and waited at the end until others had played. */
bool music_player_has_waited(const struct music_player *p, uint32_t entry);
/* A person asks for music again. */
void music_player_restart(struct music_player *p);

#endif
