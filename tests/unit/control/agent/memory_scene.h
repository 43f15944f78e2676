/* The scene of agent_scene.h with a store: what the memory is told, asks for and tells. */
#ifndef TESTS_UNIT_CONTROL_AGENT_MEMORY_SCENE_H
#define TESTS_UNIT_CONTROL_AGENT_MEMORY_SCENE_H

#include "control/tools/builtin/host.h"
#include "tests/unit/control/agent/agent_scene.h"

enum { BOB = ALICE + 1 };

/* What the last call of a tool gave. */
extern char memory_output[1024];

/* A scene with a store, in which Alice is alone with the bot and her own question is answered, so
 * that the room retrieves nothing by itself. */
bool open_memory(struct scene *s);
void close_memory(struct scene *s);
void come(struct scene *s, uint64_t user, const char *name);

/* request: an array of facts, as a model writes them. owner: whose own memory; 0: that of the
 * server. channel: 0 for none. At most five a minute are written. */
bool write_fact_of(struct scene *s, uint64_t user, uint64_t channel, uint64_t owner,
		   const char *request);
/* By Alice. */
bool write_fact_in(struct scene *s, uint64_t channel, uint64_t owner, const char *request);
bool write_fact(struct scene *s, uint64_t owner, const char *request);
/* Over a connection of its own. */
void run_store_sql(const struct scene *s, const char *statement);

/* Lines of the room that the store hears of; it has them when a fact is written behind them. */
void add_line_at(struct scene *s, uint64_t user, const char *name, const char *text,
		 uint64_t minutes_ago);
void add_line(struct scene *s, uint64_t user, const char *name, const char *text,
	      uint64_t hours_ago);

/* The memory that a prompt gets for these words of a user; retrieve: of Alice. */
const char *retrieve_for(struct scene *s, uint64_t user, const char *words);
const char *retrieve(struct scene *s, const char *words);

/* The output of a call by Alice. */
const char *call_memory(struct scene *s, enum tool_memory_op op, bool any, const char *request);
/* What conversation_search tells in a turn with these words of Bob. speaker: "" for anybody. */
const char *search_lines_of(struct scene *s, const char *speaker, const char *asked,
			    const char *query);
/* For agent_memory_alloc. */
void take_memory_output(uint32_t id, bool ok, struct slice text, void *arg);

#endif
