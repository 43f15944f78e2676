/* Quiet rooms for the benches: guildd, the bot's mediad and control run unmodified. Each room is a
 * guild of its own with the bot and one member, always the same user. The members' calls are in one
 * mediad that this process drives by control's media link. A member speaks as soon as the bot does,
 * which interrupts the bot and is the next question.
 *
 * One world a process, one thread: everything happens inside rooms_begin, rooms_run and
 * rooms_until. Whatever goes wrong ends the bench with a word. */
#ifndef TESTS_BENCH_ROOMS_H
#define TESTS_BENCH_ROOMS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct env;

enum {
	ROOMS_MAX = 64,
	ROOMS_END_MS = 100, /* the endpointing delay of the settings, for every length of speech */
};

/* A frame of the bot's sound that the member of this room heard. at: its packet arrived, ns. */
typedef void(rooms_heard_h)(unsigned room, uint64_t at, bool audible, void *arg);

/* The member of this room has said a question to its end at this time. */
typedef void(rooms_asked_h)(unsigned room, uint64_t at, void *arg);

struct rooms_conf {
	const char *const *settings; /* further ones of control, NAME=value, NULL at the end; they
					live as long as the world */
	const char *config;	     /* the settings file, as text; NULL */
	unsigned listen_ms;    /* the bot speaks for so long, and up to 20 ms more, before it is
				  interrupted; 0: 700, not so fast that Discord would call it too many
				  events a minute */
	bool journals;	       /* of the rooms and of the bot's mediad */
	rooms_heard_h *heardh; /* NULL */
	rooms_asked_h *askedh; /* NULL */
	void *arg;
};

/* A number from the environment, between 1 and most. */
unsigned rooms_number(const char *name, unsigned otherwise, unsigned most);

/* The loop of the world, which stands before its programs run, so that providers can run in it. */
struct env *rooms_open(unsigned rooms);
/* All programs run, everybody is in their call and has spoken once. */
void rooms_begin(const struct rooms_conf *conf);
void rooms_run(unsigned ms);
/* Until done says so; dies after ms. */
void rooms_until(bool (*done)(void), unsigned ms, const char *what);
/* Ends the programs; their journals are whole. */
void rooms_end(void);
/* Frees the loop and deletes the folder. */
void rooms_close(void);

unsigned rooms_count(void);
uint64_t rooms_guild(unsigned room);
/* Of logs and journals: rooms/ holds those of the rooms. */
const char *rooms_folder(void);
/* Questions of all members after which they heard nothing for 6 s, so that they asked again. */
unsigned rooms_lost(void);
/* Starts another program as a child that ends with us; its output is appended to LOG.log of the
 * folder. */
pid_t rooms_start(const char *name, const char *log, const char *const *args);
const char *rooms_journal(void); /* of the bot's mediad */
pid_t rooms_control(void);

#endif
