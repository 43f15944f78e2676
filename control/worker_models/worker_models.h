/* The providers of workers that are models (control/delegate/delegates.h), for a seat outside a
 * call: roles of its own, within the budget of a server. What workers cost is counted here, too.
 * The agent has its own (control/agent/agent_workers.h). Everything runs on env's thread. */
#ifndef CONTROL_WORKER_MODELS_WORKER_MODELS_H
#define CONTROL_WORKER_MODELS_WORKER_MODELS_H

#include <stdbool.h>
#include <stdint.h>

struct bus;
struct delegate_seat;
struct engine_ask;
struct env;
struct http;
struct ledger;
struct settings;
struct tool_cost;
struct worker_models;
struct ws_ctx;

struct worker_models_conf {
	struct env *env;
	struct ws_ctx *ws;
	struct http *http;
	const struct settings *settings; /* of the server */
	struct ledger *ledger;		 /* NULL: nothing is counted */
	struct bus *bus;
	uint64_t guild, channel; /* channel: of text, 0: of no channel */
};

/* All of conf is borrowed. ENOMEM. Caller owns *out, and frees it after the seat. */
int worker_models_alloc(struct worker_models **out, const struct worker_models_conf *conf);
struct worker_models *worker_models_free(struct worker_models *m);
/* The seat that asks. */
void worker_models_serve(struct worker_models *m, struct delegate_seat *seat);
/* False: the budget is spent. *tokens: the limit of an answer, 0 for none. */
bool worker_models_may_spend(struct worker_models *m, uint32_t *tokens);
/* For struct delegate_model; m: the struct worker_models. */
int worker_models_ask(const struct engine_ask *ask, void *m);
void worker_models_stop(uint32_t turn, void *m);
/* What a worker that is no model of ours cost. */
void worker_models_cost(struct worker_models *m, const struct tool_cost *cost);
/* The settings changed. busy: tasks are under way; a model that is asked goes on with what it has.
 */
void worker_models_settings(struct worker_models *m, bool busy);

#endif
