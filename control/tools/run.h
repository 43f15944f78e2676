/* The calls of tools in one room: from the model's call to its one output. Pure: (state, input,
 * now) gives outputs, which the shell (control/agent/agent_tools.c) performs.
 *
 *   state     input                                       next       outputs
 *   -         a call with an id that was seen             -          none
 *   -         a call that is malformed, too large, one    ENDED      BEGIN, ANSWER, END, SETTLE
 *             too many, or not allowed
 *   -         the same call again in its turn, where      WAITING    BEGIN; ends with the other one
 *             the row says REUSE
 *   -         a call of a speculative answer that has     HELD       BEGIN
 *             side effects or needs a yes; it is judged
 *             at COMMIT
 *   -         a yes to the call that was read back        WRITING or JOURNAL, START, JOBS
 *                                                         JOB
 *   -, HELD   a call that acts outside the room           WRITING    BEGIN, JOURNAL
 *   -, HELD   any other call                              RUNNING    BEGIN, JOURNAL, START
 *   WRITING   its row is written                          RUNNING    START
 *   RUNNING   its output                                  ENDED      ANSWER, END, SETTLE
 *   RUNNING   timeout_ms                                  ENDED      CANCEL, ANSWER, END, SETTLE
 *   RUNNING   nearly tool_ms, the row says FORGET, or     JOB        ANSWER (it runs), END
 *             its turn is aborted and the row says DETACH
 *   any       the provider takes it back before its       ENDED      as when its turn is aborted
 *             answer
 *   RUNNING   its turn is aborted                         ENDED      CANCEL, ANSWER, END, SETTLE
 *   JOB       its output                                  ENDED      SETTLE, LATE
 *   JOB       cancelled, timeout, TOOL_JOB_END_MS         ENDED      CANCEL, SETTLE, LATE
 *
 * PROGRESS tells what a job is doing, TOOL_JOB_TELLS times at most: after TOOL_JOB_TELL_MS and then
 * each time after twice as long. JOBS follows each change of the number of jobs.
 *
 * A call is known by the session of its provider and its id. It is executed once and answered once,
 * whatever the provider repeats. A call with side effects that comes again in its turn with the
 * same id, tool and arguments is the same one in any session: it gets the output of the first. Its
 * row in the journal is written before it acts outside the room. tools_run_messages hands the
 * answers of a turn to the ask that goes on with them; the rest are given when the turn ends.
 *
 * While a turn waits and nothing is audible, LINE asks for words: after TOOL_LINE_MS, after
 * TOOL_PROGRESS_MS and then every TOOL_PROGRESS_AGAIN_MS, TOOL_LINES times at most. */
#ifndef CONTROL_TOOLS_RUN_H
#define CONTROL_TOOLS_RUN_H

#include "control/tools/envelope.h"
#include "control/tools/policy.h"
#include "control/tools/registry.h"

struct engine_message;
struct settings;
struct tools_run;

enum {
	TOOLS_CALLS = 32,	      /* remembered, those that run among them */
	TOOLS_OPEN = TOOLS_CALLS / 2, /* under way at once; more are refused */
	TOOLS_CALL_ID_MAX = 129,
	TOOLS_SEEN = 256,
	TOOLS_OUTPUTS = 8 * TOOLS_CALLS,
	TOOL_LINE_MS = 800,
	TOOL_PROGRESS_MS = 6000,
	TOOL_PROGRESS_AGAIN_MS = 15000,
	TOOL_LINES = 4,
	TOOL_JOB_AHEAD_MS = 1000, /* before the room gives the answer up */
	TOOL_JOB_END_MS = 3600000,
	TOOL_JOB_TELL_MS = 60000,
	TOOL_JOB_TELLS = 3,
};

/* L(NAME, name, how, sentence): what becomes of the result of a job. */
#define TOOL_LATES(L)                                                                              \
	L(AWAITED, awaited, SPEAK, "the speaker was told that it takes longer")                    \
	L(FAILED, failed, SPEAK, "nobody waited for it, but it failed")                            \
	L(UNASKED, unasked, NOTE, "nobody waits for what it returned")                             \
	L(ASKER_LEFT, asker_left, DROP, "the speaker left")                                        \
	L(CANCELLED, cancelled, DROP, "it was told to stop")

enum tool_how { TOOL_LATE_SPEAK, TOOL_LATE_NOTE, TOOL_LATE_DROP };
enum tool_late {
#define L(NAME, name, how, text) TOOL_LATE_##NAME,
	TOOL_LATES(L)
#undef L
};
const char *tool_late_name(enum tool_late late);
enum tool_how tool_late_how(enum tool_late late);

enum tool_input_type {
	TOOL_IN_CALL,	  /* turn, user, rank, session, call, tool, language, text: the arguments;
			     too_large; speculative */
	TOOL_IN_COMMIT,	  /* turn: its speculative answer will be heard */
	TOOL_IN_WRITTEN,  /* id, ok: its row in the journal */
	TOOL_IN_OUTPUT,	  /* id, ok; text: the output, or why it failed */
	TOOL_IN_PROGRESS, /* id, text: what it is doing */
	TOOL_IN_AUDIBLE,  /* ok: the bot is heard from now on; else not any more */
	TOOL_IN_ABORT,	  /* turn: its calls, with ok those that would go on as jobs too; turn 0:
			     every call of user, user 0: of everybody */
	TOOL_IN_END,	  /* turn: it is over; user; ok: its answer was heard to its end; text: the
			     words of the answer; superseded */
	TOOL_IN_WORDS, /* turn, user: said something to the bot, which answers it now; rank, shared;
			  ok: agreed; of: the turn whose call it is about, 0 for any */
	TOOL_IN_REVOKED,  /* session, call: the provider takes it back, and wants no answer */
	TOOL_IN_RECALLED, /* the models get answers of the control before, which had read text of
			     strangers */
	TOOL_IN_QUOTES,	  /* turn: the question of its answer quotes other people */
	TOOL_IN_TITLES,	  /* the models are told titles that strangers gave */
	TOOL_IN_LEFT,	  /* user */
	TOOL_IN_TIME,	  /* tools_run_deadline() was reached */
};

struct tool_input {
	enum tool_input_type type;
	uint32_t id, turn, of;
	uint64_t user, session;
	enum tool_rank rank;
	bool ok, too_large, speculative, superseded;
	bool shared; /* of CALL: several people spoke in the turn; rank: the lowest of theirs */
	const char *call, *tool;
	const char *language; /* of CALL: people are asked for a yes in it; NULL: English */
	const char *lead;     /* of CALL: words of the answer before it; NULL: none */
	struct slice text;
};

enum tool_output_type {
	TOOL_DO_BEGIN,	 /* turn, user: a call began to work for the turn */
	TOOL_DO_JOURNAL, /* all of the call; await: WRITTEN is expected */
	TOOL_DO_START,	 /* all of the call */
	TOOL_DO_CANCEL,	 /* id, shell, shell_arg: those of its row when it began, which may be gone
			  */
	TOOL_DO_ANSWER,	 /* all of the call; text: for the model; failed */
	TOOL_DO_END,	/* turn, user, text: its summary; follow: the model goes on with it; silent:
			   nothing is said in this turn */
	TOOL_DO_SETTLE, /* all of the call; code, text: its summary; ms it took */
	TOOL_DO_LATE,	/* id, user, tool, late, text: for the model */
	TOOL_DO_LINE,	/* turn, n: words are wanted, the n-th time */
	TOOL_DO_PROGRESS, /* id, user, tool, text: what a job that is awaited is doing */
	TOOL_DO_JOBS,	  /* user, n: how many jobs run for them now */
};

struct tool_output {
	enum tool_output_type type;
	uint32_t id, turn, n, ms;
	uint64_t user, session, hash; /* hash: of the arguments */
	bool failed, follow, silent, await, tainted;
	bool quoted; /* the question of its turn quotes other people; of an agreed call: that of the
			turn that asked, or several people spoke in it */
	bool shared; /* several people spoke in its turn */
	bool titled; /* the models know titles that strangers gave */
	bool agreed; /* the asker said yes to this very call */
	bool taints; /* the tool reads text of strangers */
	bool acts;   /* the call has side effects */
	enum tool_code code;
	enum tool_late late;
	const char *call, *tool, *arguments, *text;
	const struct tool_shell *shell; /* NULL: no such tool */
	void *shell_arg;
};

/* The tool's name as others may see and keep it: one that a model made up may say anything. */
const char *tool_output_name(const struct tool_output *o);
/* True if it repeats what the memory holds, which expires and is erased there: it is not kept a
 * second time, and may be one person's own. */
bool tool_output_is_of_memory(const struct tool_output *o);

/* Pointers are valid until the next step. */
struct tool_outputs {
	size_t n;
	struct tool_output v[TOOLS_OUTPUTS];
};

/* registry and settings are borrowed. ENOMEM. Caller owns *out. */
int tools_run_alloc(struct tools_run **out, const struct tools_registry *registry,
		    const struct settings *settings);
struct tools_run *tools_run_free(struct tools_run *t);
/* People have so long to agree to a call, in place of TOOL_YES_S: they write. */
void tools_run_yes_s(struct tools_run *t, uint32_t seconds);
/* now: ns, never going back. out->n is set anew. */
void tools_run_step(struct tools_run *t, const struct tool_input *in, uint64_t now,
		    struct tool_outputs *out);
/* When it wants TIME; UINT64_MAX for never. */
uint64_t tools_run_deadline(const struct tools_run *t);

/* The calls of the turn and their answers that no ask got yet, the calls first; from now on one
 * has. At most `most` messages, whose texts live until the turn's end. */
size_t tools_run_messages(struct tools_run *t, uint32_t turn, struct engine_message *out,
			  size_t most);
/* The tool of the user's call that waits for a yes, "" for none. */
void tools_run_kept(const struct tools_run *t, uint64_t user, char tool[TOOLS_NAME_MAX]);
/* True if a yes of this user to their call of this turn counts now. */
bool tools_run_awaits(const struct tools_run *t, uint64_t user, uint32_t turn, uint64_t now);
/* The tool of the call that the room makes for the turn, whose words were the yes. NULL: none. */
const char *tools_run_agreed(const struct tools_run *t, uint32_t turn);
/* The room's policy on a call that a worker makes for the request's user. */
enum tool_verdict tools_run_judge(struct tools_run *t, const struct tool_request *request,
				  uint64_t now);
/* The same on an effect of the turn's answer that is no call; what was read is known here. */
enum tool_verdict tools_run_judge_effect(struct tools_run *t, const struct tool_request *request,
					 uint32_t turn, uint64_t now);
/* True if strangers' text was read in this voice session. */
bool tools_run_tainted(const struct tools_run *t);
/* The provider searched the web by itself in this turn: strangers' text was read. */
void tools_run_searched(struct tools_run *t, uint32_t turn);
/* A shown screen stands before the question of this turn. Strangers' text was read in the voice
 * session; but each question comes with it, so in the turn a yes of the asker still allows a call,
 * as in later ones: else nothing could be done in a room for as long as anybody shows a screen. */
void tools_run_shown(struct tools_run *t, uint32_t turn);
/* Calls and jobs that are not over. */
unsigned tools_run_open(const struct tools_run *t);

#endif
