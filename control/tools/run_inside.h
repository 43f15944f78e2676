/* Shared by the files of the run (run.h). For control/tools/run*.c only. */
#ifndef CONTROL_TOOLS_RUN_INSIDE_H
#define CONTROL_TOOLS_RUN_INSIDE_H

#include "control/tools/run.h"

struct settings;

enum { TOOLS_TURNS = 16 };

struct tool_call {
	enum {
		TOOL_FREE,
		TOOL_WAITING, /* for the output of `same` */
		TOOL_HELD,
		TOOL_WRITING,
		TOOL_RUNNING,
		TOOL_JOB,
		TOOL_ENDED,
	} state;
	uint32_t id, turn, same;
	uint64_t user, session, hash, begun_at, deadline;
	bool started;  /* its shell began */
	bool handed;   /* an ask, or the provider, got its answer */
	bool answered; /* text is its answer */
	bool awaited;  /* of a JOB: the speaker was told that it takes longer */
	bool tainted;  /* strangers' text was read before it in this voice session */
	bool titled;   /* titles of strangers were told before it */
	bool quoted;   /* its turn's question quotes other people, or that of an agreed call did */
	bool shared;   /* several people spoke in its turn */
	bool agreed;   /* the room makes it after a yes; a job that no model waits for */
	bool superseded; /* of an agreed one: a newer turn holds the words of its yes */
	enum tool_rank rank;
	unsigned lead;	  /* words of the answer before it */
	unsigned told;	  /* how often what a JOB is doing was told */
	uint64_t tell_at; /* not before */
	enum tool_code code;
	char call[TOOLS_CALL_ID_MAX], tool[TOOLS_NAME_MAX], language[8];
	/* Of its row, which may go while it runs. */
	enum tool_effect effect;
	enum tool_follow follow;
	enum tool_abort abort;
	uint32_t timeout_ms, max_output;
	enum tool_taints taints;
	const struct tool_shell *shell;
	void *shell_arg;
	char *arguments, *text;
};

/* Limits that a turn has used up, from its first call to its end. */
struct tool_turn {
	uint32_t turn; /* 0: free */
	unsigned calls, steps;
	unsigned refused; /* calls beyond the limits */
	bool tainted;
	bool quotes; /* its question quotes other people */
	unsigned lines;
	uint64_t line_at; /* 0: none is wanted */
	uint64_t begun_at;
};

struct tools_run {
	const struct tools_registry *registry;
	const struct settings *settings;
	struct tool_policy policy;
	struct tool_call call[TOOLS_CALLS];
	struct tool_call beyond; /* a call without a place, which is refused in its step */
	struct tool_turn turn[TOOLS_TURNS];
	uint32_t ids;
	uint64_t seen[TOOLS_SEEN]; /* keys of calls, hashed; the oldest go */
	unsigned seen_n;
	bool audible;
	bool tainted; /* strangers' text was read in this voice session */
	bool titled; /* and titles of theirs: nothing is held back but addresses of a model's own */

	/* of the running step */
	uint64_t now;
	struct tool_outputs *out;
	char summaries[TOOLS_CALLS * 2][TOOL_SUMMARY_MAX];
	unsigned summaries_n;
};

/* ---- run.c ---- */
/* The turn's place; a new turn takes a free one, or that of the oldest turn. */
struct tool_turn *tools_run_turn(struct tools_run *t, uint32_t turn);
/* NULL: the turn has not called anything, or it is over. */
struct tool_turn *tools_run_find_turn(struct tools_run *t, uint32_t turn);

/* ---- run_calls.c ---- */
void tools_run_take_call(struct tools_run *t, const struct tool_input *in);
/* The words of a turn: a yes starts the call that waited for it. */
void tools_run_take_words(struct tools_run *t, const struct tool_input *in);
void tools_run_take_output(struct tools_run *t, struct tool_call *c, bool ok, struct slice text);
/* Takes a line about its progress. */
void tools_run_take_progress(struct tools_run *t, struct tool_call *c, struct slice text);
/* The call goes on: it was HELD, or its row is written. */
void tools_run_go_on(struct tools_run *t, struct tool_call *c);
/* Stops it, whatever it does; the answer tells the code. */
void tools_run_stop(struct tools_run *t, struct tool_call *c, enum tool_code code);
/* Calls that repeat an agreed one wait no longer for it: their answer is that it runs. */
void tools_run_answer_repeats(struct tools_run *t, struct tool_call *c);
/* It becomes a job: the model gets its answer now. */
void tools_run_detach(struct tools_run *t, struct tool_call *c, bool awaited);
void tools_run_clear(struct tool_call *c);

static inline bool tools_run_is_open(const struct tool_call *c)
{
	return c->state != TOOL_FREE && c->state != TOOL_ENDED;
}

#endif
