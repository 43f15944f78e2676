/* The programs of one run: guildd, and for each person a mediad and who drives it. Each can be
 * stopped, killed and started again; one that ends on its own is a finding. Everything stands in a
 * folder of its own. */
#ifndef TESTS_CHAOS_HOUSE_H
#define TESTS_CHAOS_HOUSE_H

#include "tests/chaos/agent.h"

#include <jansson.h>

enum house_what { HOUSE_SERVER, HOUSE_MEDIAD, HOUSE_CONTROL };
enum { HOUSE_PROCS = 1 + 2 * CHAOS_PEOPLE };

struct house_proc {
	pid_t pid; /* 0: not there */
	bool frozen;
	uint64_t restart_at;   /* ns; 0: not due */
	unsigned fds, threads; /* when it was new and idle */
};

struct house {
	char folder[64], bin[256], clock[128];
	char ready[128], ca[256], rest[128], api[128];
	unsigned port; /* of guildd's control API */
	uint64_t epoch;
	bool real, clocked;
	unsigned journal_kb;
	char journal[128];
	bool supervised; /* what was killed is started again */
	struct house_proc proc[HOUSE_PROCS];
	struct agent_state *state; /* CHAOS_PEOPLE of them, shared with the agents */
	char trouble[256]; /* the first thing that ended on its own, or could not be started; "" */
};

uint64_t chaos_now(void); /* ns */
void chaos_sleep(unsigned ms);

unsigned house_at(enum house_what what, enum chaos_who who);

/* Starts all of them, people absent. False with trouble. */
bool house_open(struct house *h, const char *bin, const struct chaos_script *s);
/* Reaps, and restarts what is due. */
void house_tick(struct house *h);
void house_kill(struct house *h, enum house_what what, enum chaos_who who);
void house_freeze(struct house *h, enum house_what what, enum chaos_who who, bool on);
void house_wall(struct house *h, long long seconds);
/* Ends it as asked and waits; its exit status, -1 when it had to be killed. */
int house_end(struct house *h, enum house_what what, enum chaos_who who, unsigned ms);
/* Waits for one that was asked otherwise. */
int house_wait(struct house *h, enum house_what what, enum chaos_who who, unsigned ms);
/* The disk under the journal of the bot's mediad as it runs now is full. */
bool house_journal_full(const struct house *h);
/* Ends whatever is left. The folder goes unless keep. */
void house_close(struct house *h, bool keep);

/* Removes a folder that was kept. */
void house_forget(const char *folder);

/* Whether what the bot's real control said last about its call has this in it. */
bool house_said_last(const struct house *h, const char *word);
/* A request to guildd's control API: 200s are true; *out (may be NULL) is the caller's to free.
 * body NULL: GET. */
bool house_ask(struct house *h, json_t **out, const char *path, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

unsigned house_fds(pid_t pid);
/* What they are; a static buffer. */
const char *house_fd_names(pid_t pid);
unsigned house_status(pid_t pid, const char *field);
/* As a control that asks what this mediad still holds: SYNCED's calls. -1: no answer. */
int house_calls(struct house *h, enum chaos_who who);

#endif
