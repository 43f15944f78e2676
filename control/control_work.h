/* The tasks of /work: a desk of each server that has some, with a seat among the workers
 * (control/delegate/delegates.h). For control_work.c and control_work_desk.c alone. */
#ifndef CONTROL_CONTROL_WORK_H
#define CONTROL_CONTROL_WORK_H

#include "control/control_inside.h"
#include "control/discord/interaction.h"

struct delegate_seat;
struct delegate_told;
struct tools_registry;
struct worker_models;

enum {
	WORK_TASKS = 32,     /* of a server: those that are over give way, the oldest first */
	WORK_OF_MEMBER = 3,  /* that wait, or run */
	WORK_TEXT = 8001,    /* of a task with its NUL */
	WORK_RESULT = 32768, /* bytes of a result that are kept */
};

enum work_state { WORK_FREE, WORK_ASKED, WORK_GIVEN, WORK_ENDED };

/*   ASKED  the member has to say yes, because the worker acts outside    -> GIVEN, or gone
 *   GIVEN  it waits for its worker, or runs                              -> ENDED, or gone
 *   ENDED  with its result */
struct work_task {
	enum work_state state;
	uint32_t number; /* also its call */
	uint64_t user, channel, at;
	bool hidden; /* its result is shown to its member alone */
	bool ok;     /* of an ENDED one */
	char locale[INTERACTION_LOCALE];
	char *text, *worker, *result; /* owned; result NULL until it is ENDED */
};

struct work_desk {
	struct work_desk *next;
	struct control *c;
	uint64_t guild;
	struct tools_registry *registry; /* holds no tools but those of delegation */
	struct delegate_seat *seat;
	struct worker_models *models;
	uint32_t numbers;
	struct work_task task[WORK_TASKS];
};

/* The desk of the server. NULL: there is none, or without memory, or too many servers have tasks.
 */
struct work_desk *work_desk_find(const struct control *c, uint64_t guild);
struct work_desk *work_desk_open(struct control *c, uint64_t guild);
struct work_desk *work_desk_free(struct work_desk *d);
/* Tasks that are not over. user 0: of all. */
unsigned work_desk_count(const struct work_desk *d, uint64_t user);
/* The settings are others. */
void work_desk_update(struct work_desk *d);
/* A free place, or that of the oldest task that is over; its texts are the caller's to set. NULL:
 * none. */
struct work_task *work_desk_place(struct work_desk *d);
/* Ends it without a word. */
void work_task_drop(struct work_desk *d, struct work_task *t);
/* Hands it to its worker: as delegate_seat_give. */
int work_task_give(struct work_desk *d, struct work_task *t);
/* False: the budget is spent. *tokens: the limit of an answer, 0 for none. */
bool work_may_spend(struct work_desk *d, uint32_t *tokens);

/* control_work.c: a task ended. */
void work_task_ended(struct work_desk *d, struct work_task *t, const struct delegate_told *told);

#endif
