/* A cluster: the programs of one run, which are guildd and, for each person, a mediad and its
 * driver. Each can be stopped, killed and restarted; a program that ends on its own is a finding. A
 * cluster has a folder of its own. */
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
	bool supervised; /* killed programs are restarted */
	struct cluster_process proc[CLUSTER_PROCESSES];
	bool music;
	bool bot_plays;		   /* a real control has been told to play music */
	struct agent_state *state; /* CHAOS_PEOPLE of them, shared with the agents */
	char trouble[256]; /* the first program that ended on its own or failed to start; "" */
};

uint64_t chaos_now(void); /* ns */
void chaos_sleep(unsigned ms);

unsigned cluster_index(enum cluster_program what, enum chaos_who who);

/* Starts all programs, with nobody in the channel. Returns false with trouble set. */
bool cluster_open(struct cluster *h, const char *bin, const struct chaos_script *s);
/* Reaps ended programs and restarts those that are due. */
void cluster_tick(struct cluster *h);
void cluster_kill(struct cluster *h, enum cluster_program what, enum chaos_who who);
/* Kills a process of decoderd, whose own children start the next one: the one that starts decoders
 * (all), or the oldest decoder of those that are not too young to be replaced. Returns false if
 * there is none. */
bool cluster_kill_decoder(struct cluster *h, enum chaos_who who, bool all);
void cluster_freeze(struct cluster *h, enum cluster_program what, enum chaos_who who, bool on);
void cluster_set_wall_clock(struct cluster *h, long long seconds);
/* Asks a program to end and waits. Returns its exit status, or -1 when it had to be killed. */
int cluster_end(struct cluster *h, enum cluster_program what, enum chaos_who who, unsigned ms);
/* Waits for a program that somebody else has told to end. */
int cluster_wait(struct cluster *h, enum cluster_program what, enum chaos_who who, unsigned ms);
/* True if the disk under the journal of the bot's present mediad is full. */
bool cluster_journal_full(const struct cluster *h);
/* Ends the remaining programs. Removes the folder unless keep. */
void cluster_close(struct cluster *h, bool keep);

/* Removes a folder that was kept. */
void cluster_remove_folder(const char *folder);

/* True if the last log line of the bot's real control about its call contains word. */
bool cluster_log_has(const struct cluster *h, const char *word);
/* Sends a request to guildd's control API and returns true for a 2xx status; the caller frees *out
 * (may be NULL). body NULL: GET. */
bool cluster_request(struct cluster *h, json_t **out, const char *path, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

unsigned cluster_count_fds(pid_t pid);
/* Names the descriptors; a static buffer. */
const char *cluster_fd_names(pid_t pid);
unsigned cluster_status(pid_t pid, const char *field);
/* Asks this mediad, as a control, for the calls it holds (SYNCED). Returns -1 without an answer. */
int cluster_count_calls(struct cluster *h, enum chaos_who who);

#endif
