/* The programs of one run: guildd, and for each person a mediad and who drives it. Each can be
 * stopped, killed and started again; one that ends on its own is a finding. Everything stands in a
 * folder of its own. */
#ifndef TESTS_CHAOS_CLUSTER_H
#define TESTS_CHAOS_CLUSTER_H

#include "tests/chaos/agent.h"

#include <jansson.h>

enum cluster_program { CLUSTER_SERVER, CLUSTER_MEDIAD, CLUSTER_CONTROL };
enum { CLUSTER_PROCESSES = 1 + 2 * CHAOS_PEOPLE };

struct cluster_process {
	pid_t pid; /* 0: not there */
	bool frozen;
	uint64_t restart_at;   /* ns; 0: not due */
	unsigned fds, threads; /* when it was new and idle */
};

struct cluster {
	char folder[64], bin[256], clock[128];
	char ready[128], ca[256], rest[128], api[128];
	unsigned port; /* of guildd's control API */
	uint64_t epoch;
	bool real, clocked;
	unsigned journal_kb;
	char journal[128];
	bool supervised; /* what was killed is started again */
	struct cluster_process proc[CLUSTER_PROCESSES];
	struct agent_state *state; /* CHAOS_PEOPLE of them, shared with the agents */
	char trouble[256]; /* the first thing that ended on its own, or could not be started; "" */
};

uint64_t chaos_now(void); /* ns */
void chaos_sleep(unsigned ms);

unsigned cluster_index(enum cluster_program what, enum chaos_who who);

/* Starts all of them, people absent. False with trouble. */
bool cluster_open(struct cluster *h, const char *bin, const struct chaos_script *s);
/* Reaps, and restarts what is due. */
void cluster_tick(struct cluster *h);
void cluster_kill(struct cluster *h, enum cluster_program what, enum chaos_who who);
void cluster_freeze(struct cluster *h, enum cluster_program what, enum chaos_who who, bool on);
void cluster_set_wall_clock(struct cluster *h, long long seconds);
/* Ends it as asked and waits; its exit status, -1 when it had to be killed. */
int cluster_end(struct cluster *h, enum cluster_program what, enum chaos_who who, unsigned ms);
/* Waits for one that was asked otherwise. */
int cluster_wait(struct cluster *h, enum cluster_program what, enum chaos_who who, unsigned ms);
/* The disk under the journal of the bot's mediad as it runs now is full. */
bool cluster_journal_full(const struct cluster *h);
/* Ends whatever is left. The folder goes unless keep. */
void cluster_close(struct cluster *h, bool keep);

/* Removes a folder that was kept. */
void cluster_remove_folder(const char *folder);

/* Whether what the bot's real control said last about its call has this in it. */
bool cluster_log_has(const struct cluster *h, const char *word);
/* A request to guildd's control API: 200s are true; *out (may be NULL) is the caller's to free.
 * body NULL: GET. */
bool cluster_request(struct cluster *h, json_t **out, const char *path, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

unsigned cluster_count_fds(pid_t pid);
/* What they are; a static buffer. */
const char *cluster_fd_names(pid_t pid);
unsigned cluster_status(pid_t pid, const char *field);
/* As a control that asks what this mediad still holds: SYNCED's calls. -1: no answer. */
int cluster_count_calls(struct cluster *h, enum chaos_who who);

#endif
