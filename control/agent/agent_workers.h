/* The asks of workers that are models (control/delegate/delegates.h), by the room's roles and
 * within its budgets. Everything is borrowed. */
#ifndef CONTROL_AGENT_AGENT_WORKERS_H
#define CONTROL_AGENT_AGENT_WORKERS_H

#include <stdint.h>

struct delegate_seat;
struct engine_ask;
struct roles_event;

/* For struct delegate_model; agent: the struct agent. EDQUOT: the budget is spent. */
int agent_worker_ask(const struct engine_ask *ask, void *agent);
void agent_worker_stop(uint32_t turn, void *agent);
/* Hands an event of an ask to the worker. seat may be NULL. cost: millionths of a dollar. */
void agent_worker_event(struct delegate_seat *seat, const struct roles_event *ev, uint64_t cost);

#endif
