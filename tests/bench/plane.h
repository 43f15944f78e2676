/* A real mediad as a child, its calls at a far end of the bench's own, and the bench as its
 * control.
 *
 * One thread: everything happens inside plane_run and plane_until, but what far_end.h says of its
 * own thread. Whatever goes wrong ends the bench with a word. */
#ifndef TESTS_BENCH_PLANE_H
#define TESTS_BENCH_PLANE_H

#include "proto/media.h"
#include "tests/bench/far_end.h"

#include <sys/types.h>

struct env;
struct plane;

/* Gets a message of mediad; borrowed. Leases, credit and pings are handled already. */
typedef void(plane_msg_h)(const struct media_msg *msg, void *arg);

struct plane_conf {
	unsigned threads;    /* audio threads; 0: mediad's own choice */
	int cpu;	     /* mediad runs on this processor alone; -1: on all */
	const char *preload; /* a library for LD_PRELOAD; NULL */
	const char *journal; /* NULL */
	const char *music_root, *music_address; /* NULL: no music, and none from the web */
	unsigned speakers; /* members of each call's DAVE group beside mediad; 0: 1 */
	bool apart;	   /* another is its control: none of the messages and calls below */
	far_end_packet_h *packeth;
	plane_msg_h *msgh;
	void *arg;
};

enum { PLANE_USER = 900 }; /* that mediad is in its calls */

/* The program called name that stands with this bench's build ($BIN). */
void plane_program(char *buf, size_t size, const char *name);
/* Starts a program that ends with us; its standard error is ours. Returns its pid. */
pid_t plane_spawn(char *const argv[], const struct plane_conf *conf);

/* mediad runs and has said SYNCED. */
void plane_alloc(struct plane **out, const struct plane_conf *conf);
/* Ends mediad; its exit must be a clean one. */
struct plane *plane_free(struct plane *p);

struct env *plane_env(struct plane *p);
struct far_end *plane_far(struct plane *p);
pid_t plane_pid(const struct plane *p);
const char *plane_socket(const struct plane *p);
/* CPU time of mediad, all its threads, user and system, in ns. */
uint64_t plane_cpu(const struct plane *p);
/* kB of a line of /proc/PID/status, such as "VmRSS". */
unsigned plane_status_kb(pid_t pid, const char *field);

void plane_run(struct plane *p, unsigned ms);
/* Until done says so; dies after ms. */
void plane_until(struct plane *p, bool (*done)(void *arg), void *arg, unsigned ms,
		 const char *what);

/* ---- as its control ---- */

/* Opens calls from…from+n-1; returns when all are up. */
void plane_calls(struct plane *p, unsigned from, unsigned n);
void plane_send(struct plane *p, const struct media_msg *msg);
/* Adds a member, and listens to it at this rate (0: does not listen). */
void plane_speaker(struct plane *p, unsigned call, unsigned speaker, uint32_t rate);
void plane_close(struct plane *p, unsigned call);

/* Speaks endlessly at 24 kHz under credit, as control does. */
void plane_say(struct plane *p, unsigned call, uint32_t playback);
void plane_stop(struct plane *p, unsigned call, uint32_t playback);

#endif
