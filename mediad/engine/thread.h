/* One audio thread: its steps, and the plain epoll loop that feeds them.
 *
 * The three steps (a command came down, a datagram came in, time went on) are inputs of the
 * thread's env. Live, the loop in thread.c delivers them; on replay the journal does, on the
 * replaying thread, and the loop never runs. After a call is up the thread takes no lock, allocates
 * nothing and writes no log. */
#ifndef MEDIAD_ENGINE_THREAD_H
#define MEDIAD_ENGINE_THREAD_H

#include "mediad/engine/line.h"
#include "proto/base/ring.h"

struct athread;
struct journal;

enum {
	THREAD_LINES = 256,
	THREAD_DOWN = 1024,	   /* entries of the ring down */
	THREAD_UP = 2048,	   /* and up */
	THREAD_RING_REPLAY = 8192, /* replay runs a whole step before the other side takes a turn */
	THREAD_RESERVE = 1536,	   /* of the ring up: kept free of HEARD, which may be dropped */
	/* Up, before a command is taken: ending a line tells of each of its speakers twice. */
	THREAD_ROOM = 2 * LINE_SLOTS + 64,
};

/* number: 1…, of the thread in the journal. Caller owns *out. ENOMEM, or an errno of epoll,
 * eventfd, timerfd. */
int athread_alloc(struct athread **out, uint8_t number, bool replaying, struct journal *journal);
/* Ends the thread when it runs, then frees all that is lent to it or under way. */
struct athread *athread_free(struct athread *t);
/* EAGAIN. Not on replay. */
int athread_run(struct athread *t);
/* Ends the thread, whatever still waits for it; its env is the caller's then. */
void athread_join(struct athread *t);

struct env *athread_env(struct athread *t);

/* A turn of its loop, between two waits, lasted so long (ns): what follows from that is delivered.
 * The thread's own, or in simulated time a test's. */
void athread_turned(struct athread *t, uint64_t from, uint64_t to);

/* ---- the loop thread's ends of the rings ---- */
/* False: full. The thread looks when it is next awake: athread_wake sees to that. */
bool athread_push(struct athread *t, const struct cmd *cmd);
void athread_wake(struct athread *t);
bool athread_pop(struct athread *t, struct ev *ev);
size_t athread_waiting(const struct athread *t);
/* Events that found no room although they must not be dropped: 0, or something is amiss. */
uint64_t athread_lost(const struct athread *t);
/* Readable when events wait; -1 on replay. */
int athread_fd(const struct athread *t);

#endif
