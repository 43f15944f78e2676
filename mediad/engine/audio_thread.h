/* One audio thread: its steps, and the plain epoll loop that feeds them.
 *
 * Its steps (a command arrived, a datagram arrived, time passed, the load changed) are inputs of
 * the thread's env. In a live run the loop in audio_thread.c delivers them; on replay the journal
 * does, on the replaying thread, and the loop never runs. Once a call is up the thread takes no
 * lock, allocates nothing and writes no log. */
#ifndef MEDIAD_ENGINE_AUDIO_THREAD_H
#define MEDIAD_ENGINE_AUDIO_THREAD_H

#include "mediad/engine/call_stream.h"
#include "proto/base/ring.h"

struct audio_thread;
struct journal;

enum {
	THREAD_STREAMS = 256,
	THREAD_DOWN = 1024,	   /* entries of the command ring */
	THREAD_DOWN_PCM = 128,	   /* those with audio */
	THREAD_UP = 2048,	   /* entries of the event ring */
	THREAD_UP_PCM = 512,	   /* those with audio */
	THREAD_RING_REPLAY = 8192, /* replay runs a whole step before the other side's turn */
	/* Of the event ring, closed to what may be dropped: HEARD, progress, statistics. */
	THREAD_RESERVE = 1536,
	/* Room in the event ring before a command is run, a datagram is read or the speakers of a
	 * stream have their tick: each of them may end the speech of each speaker and the capture
	 * of each listen, of which a stream has at most CALL_STREAM_SLOTS. Ends of playbacks come
	 * at any time; those that find no room stay with their stream (CALL_STREAM_OWED). */
	THREAD_ROOM = 2 * CALL_STREAM_SLOTS + 64,
	THREAD_ROOM_DATAGRAM = 1280,
};

/* number: of the thread in the journal, from 1. Returns ENOMEM, or an errno of epoll or eventfd.
 * The caller owns *out. */
int audio_thread_alloc(struct audio_thread **out, uint8_t number, bool replaying,
		       struct journal *journal);
/* Ends the thread if it runs, then frees everything that is lent to it or in its rings. */
struct audio_thread *audio_thread_free(struct audio_thread *t);
/* Starts the thread; not on replay. Returns EAGAIN. */
int audio_thread_run(struct audio_thread *t);
/* Ends the thread without running what still waits. Its env belongs to the caller then. */
void audio_thread_join(struct audio_thread *t);

struct env *audio_thread_env(struct audio_thread *t);

/* ---- the loop, run by the thread and by tests in simulated time ---- */
/* Waits for events, but not beyond audio_thread_next, and serves them. A thread that has more to do
 * than time leaves the rest to the next turn, so commands and sockets get theirs. */
void audio_thread_turn(struct audio_thread *t);
/* When the next turn is due if nothing arrives; UINT64_MAX: never. */
uint64_t audio_thread_next(const struct audio_thread *t, uint64_t now);
/* One turn of the loop lasted from `from` to `to` (ns). Delivers a change of degradation if the
 * load calls for one. Called by the thread, and by tests in simulated time. */
void audio_thread_measure(struct audio_thread *t, uint64_t from, uint64_t to);

/* ---- the loop thread's ends of the rings ---- */
/* Returns false when the ring is full. The thread reads the command when it next wakes, for which
 * audio_thread_wake provides. */
bool audio_thread_push(struct audio_thread *t, const struct cmd *cmd);
void audio_thread_wake(struct audio_thread *t);
bool audio_thread_pop(struct audio_thread *t, struct ev *ev);
size_t audio_thread_waiting(const struct audio_thread *t);
/* Returns true once after the thread has lost real-time priority (priority.h). */
bool audio_thread_lost_real_time(struct audio_thread *t);
/* Readable when events wait; -1 on replay. */
int audio_thread_fd(const struct audio_thread *t);

#endif
