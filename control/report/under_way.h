/* The turns that were admitted and have not ended, and the tasks that workers were given and that
 * were not told: a control that takes over knows from them that somebody waits for an answer. It
 * holds no words. A value without I/O, kept in the state file;
 * when it is full the oldest turn or task makes room. */
#ifndef CONTROL_REPORT_UNDER_WAY_H
#define CONTROL_REPORT_UNDER_WAY_H

#include <stdbool.h>
#include <stdint.h>

struct bus_event;

enum { UNDER_WAY_MAX = 64 };

struct turn_under_way {
	uint64_t guild;
	uint32_t turn; /* number in its voice session; of a task, that of its call */
	bool speaking; /* the first sound of its answer left the socket */
	enum {
		UNDER_WAY_TURN,
		UNDER_WAY_TASK,
		UNDER_WAY_RESULT
	} what; /* RESULT: of a task, not
		   told yet */
};

struct under_way {
	struct turn_under_way v[UNDER_WAY_MAX]; /* oldest first */
	unsigned n;
};

/* Takes TURN_ADMITTED, TURN_SPEAKING, TURN, TOOL_BEGAN, TOOL_CALLED, SESSION_STARTED and
 * SESSION_OVER. Returns whether anything changed. The result of a task counts as told when the next
 * turn of its server ends as answered. */
bool under_way_take(struct under_way *u, const struct bus_event *ev);
void under_way_add(struct under_way *u, const struct turn_under_way *t);
/* Number of this server's turns, and of those that were speaking. */
unsigned under_way_count(const struct under_way *u, uint64_t guild, unsigned *speaking);
/* Number of this server's tasks and untold results. */
unsigned under_way_tasks(const struct under_way *u, uint64_t guild);

#endif
