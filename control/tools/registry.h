/* The tools that a room's models may call: the built-in ones of registry.def, and rows that MCP
 * servers and delegation add while the room lives. Pure.
 *
 * A row's texts are copied. The shell that runs a tool is borrowed until tools_registry_remove, and
 * for cancel until the calls that began before are over. The list and its hash change only with the
 * rows, so that a session is told the tools again only when they differ. */
#ifndef CONTROL_TOOLS_REGISTRY_H
#define CONTROL_TOOLS_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/tools/registry.def"

struct engine_tool;
struct schema;

enum {
	TOOLS_MAX = 64,		  /* of a room, ENGINE_TOOLS_MAX of an ask */
	TOOLS_NAME_MAX = 65,	  /* with the NUL: the smallest limit of a provider is 64 */
	TOOLS_OUTPUT_MAX = 24000, /* bytes, whatever a row says */
};

enum tool_effect { TOOL_EFFECT_NONE, TOOL_EFFECT_ROOM, TOOL_EFFECT_OUTSIDE, TOOL_EFFECT_FINAL };
enum tool_who { TOOL_WHO_EVERYONE, TOOL_WHO_MODERATORS, TOOL_WHO_OWNERS };
enum tool_follow { TOOL_FOLLOW_UP, TOOL_FOLLOW_SILENT, TOOL_FOLLOW_FORGET };
enum tool_abort { TOOL_ABORT_STOP, TOOL_ABORT_DETACH };
enum tool_repeat { TOOL_REPEAT_REUSE, TOOL_REPEAT_RUN };

/* Whose words the output holds, and how long calls with side effects are held back after it. */
enum tool_taints {
	TOOL_TAINTS_NOTHING,
	/* strangers' titles: the model is told so, and nothing is held back but addresses of its
	 * own, and without a yes what acts outside of the room */
	TOOL_TAINTS_NAMES,
	TOOL_TAINTS_TURN,    /* other people of the room: for the turn */
	TOOL_TAINTS_SESSION, /* strangers: for the voice session */
};

/* One row, as in registry.def. */
struct tool_row {
	const char *name; /* [a-z_][a-z0-9_]* */
	const char *description;
	const char *schema; /* of the arguments, JSON Schema as text */
	enum tool_effect effect;
	enum tool_who who;
	uint32_t timeout_ms;
	enum tool_follow follow;
	enum tool_abort abort;
	enum tool_repeat repeat;
	uint32_t max_output;
	enum tool_taints taints;
	bool confirm;
	bool loose; /* the tool checks its arguments itself: schema_alloc_loose */
};

/* A call that a shell is to run. All of it is borrowed until start returns. */
struct tool_start {
	uint32_t id; /* of the call in its room: its output and its cancellation name it */
	uint32_t turn;
	uint64_t user;	   /* whose turn it is; 0: nobody's */
	bool shared;	   /* others spoke in the turn, too: nothing private is read or written */
	bool tainted;	   /* strangers' text was read in this voice session */
	bool quoted;	   /* the question of this turn quotes other people */
	bool titled;	   /* the models know titles that strangers gave */
	bool agreed;	   /* the user said yes to this very call */
	const char *words; /* the asker's in this turn; NULL or "": none */
	const char *tool;
	const char *arguments; /* a JSON object as text, valid by the row's schema */
};

/* The implementation of a tool. After start returned 0 the shell gives exactly one output
 * (tools_output of its host, control/tools/builtin/host.h), unless the call is cancelled first; it
 * may give it from inside start. An errno: the call failed at once, and no output follows. cancel
 * stops the work: no output follows. */
struct tool_shell {
	int (*start)(const struct tool_start *call, void *arg);
	void (*cancel)(uint32_t id, void *arg); /* may be NULL: it always ends within start */
	/* The effect of a call with these arguments, where it may be less than that of the row. May
	 * be NULL: it is that of the row. */
	enum tool_effect (*effect)(const char *arguments, void *arg);
};

/* A row in use. */
struct tool {
	struct tool_row row; /* its texts are the registry's */
	const struct tool_shell *shell;
	void *arg;
	struct schema *schema;
	char *texts;
};

struct tools_registry;

/* Without rows. ENOMEM. Caller owns *out. */
int tools_registry_alloc(struct tools_registry **out);
struct tools_registry *tools_registry_free(struct tools_registry *r);

/* EEXIST: the name is in use; EINVAL: the name or the schema is malformed; ENOSPC, ENOMEM. */
int tools_registry_add(struct tools_registry *r, const struct tool_row *row,
		       const struct tool_shell *shell, void *arg);
/* All rows of this shell and arg, as when its server is gone. */
void tools_registry_remove(struct tools_registry *r, const struct tool_shell *shell,
			   const void *arg);
/* The row of registry.def with this name; NULL: it is no built-in tool. Borrowed for ever. */
const struct tool_row *tools_builtin(const char *name);

/* NULL: there is none. Borrowed until a row is added or removed. */
const struct tool *tools_registry_find(const struct tools_registry *r, const char *name);
/* The number of tools; out takes TOOLS_MAX, in the order in which they were added. The texts are
 * borrowed until a row is removed. */
size_t tools_registry_list(const struct tools_registry *r, struct engine_tool *out);
/* Of names, descriptions and schemas in their order; equal lists have equal hashes. */
uint64_t tools_registry_hash(const struct tools_registry *r);
/* "roll, time": for a model that called a tool which does not exist. Always terminated. */
void tools_registry_names(const struct tools_registry *r, char *buf, size_t size);

#endif
