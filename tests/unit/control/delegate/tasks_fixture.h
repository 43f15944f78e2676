/* A room with workers for tests: what its calls return is kept. A script stands where bubblewrap
 * would. */
#ifndef TESTS_DELEGATE_TASKS_FIXTURE_H
#define TESTS_DELEGATE_TASKS_FIXTURE_H

#include "control/delegate/delegates.h"
#include "control/delegate/inside.h"
#include "control/settings/settings.h"
#include "control/tools/registry.h"
#include "control/tools/run.h"
#include "tests/unit/ipc/loop.h"

enum { OUTPUTS = 8 };

struct tasks_fixture {
	struct loop loop;
	char dir[32], path[4096];
	struct settings *settings;
	struct delegates *delegates;
	struct tools_registry *registry;
	struct delegate_seat *seat;
	uint64_t user; /* that calls */
	bool shared;   /* others spoke in the turn, too */
	unsigned outputs, until, tellings, writings, changes;
	struct {
		uint32_t id;
		bool ok;
		char text[9000];
	} output[OUTPUTS];
	char progress[200];
	size_t written;
	/* Of the last ask of a worker that is a model. */
	unsigned asks;
	uint32_t turn, stopped; /* stopped: of an ask that was given up */
	size_t tools, messages;
	char last[4096];  /* its last message */
	char called[256]; /* the audit of its calls */
};
extern struct tasks_fixture tasks;

/* The room with the workers of this list, a JSON array. False: it cannot be made. */
bool tasks_open(const char *workers);
/* One worker, tests/standins/worker.sh with this argument; more: further members of its record. */
bool tasks_begin(const char *argument, const char *more);
bool tasks_name_worker(const char *argument, const char *more);
void tasks_end(void);
/* Calls the tool. An errno. */
int tasks_call(const char *name, uint32_t id, const char *arguments);
/* Calls ask. */
int tasks_ask(uint32_t id, const char *task);
void tasks_cancel(uint32_t id);
/* Until there are so many outputs. False: they did not come in time. */
bool tasks_run(unsigned outputs);

#endif
