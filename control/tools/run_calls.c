/* The life of one call (run.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/settings/settings.h"
#include "control/tools/read_back.h"
#include "control/tools/run_inside.h"
#include "control/tools/schema.h"
#include "proto/base/fnv.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"
#include "proto/media.h"

/* ---- outputs ---- */

static struct tool_output *emit_call(struct tools_run *t, enum tool_output_type type,
				     const struct tool_call *c)
{
	struct tool_output *o = &t->out->v[t->out->n++];

	*o = (struct tool_output){.type = type,
				  .id = c->id,
				  .turn = c->turn,
				  .user = c->user,
				  .session = c->session,
				  .hash = c->hash,
				  .tainted = c->tainted,
				  .quoted = c->quoted,
				  .titled = c->titled,
				  .agreed = c->agreed,
				  .shared = c->shared,
				  .taints = c->taints > TOOL_TAINTS_NAMES,
				  .acts = c->effect != TOOL_EFFECT_NONE,
				  .failed = c->code != TOOL_CODE_OK,
				  .code = c->code,
				  .call = c->call,
				  .tool = c->tool,
				  .shell = c->shell,
				  .shell_arg = c->shell_arg,
				  .arguments = c->arguments ? c->arguments : "{}",
				  .text = ""};
	return o;
}

/* The envelope of the call in one line. */
static const char *summarise(struct tools_run *t, const struct tool_call *c)
{
	char *line = t->summaries[t->summaries_n++ % (TOOLS_CALLS * 2)];

	tool_envelope_summary(c->tool, c->text, line, TOOL_SUMMARY_MAX);
	return line;
}

/* The same without a word of the output: it goes into the instructions of later turns. */
static const char *describe_taint(struct tools_run *t, const struct tool_call *c)
{
	char *line = t->summaries[t->summaries_n++ % (TOOLS_CALLS * 2)];

	tool_envelope_bare_summary(c->tool, c->code, line, TOOL_SUMMARY_MAX);
	return line;
}

static const char *text_of(const struct tool_call *c)
{
	static const char lost[] =
		"{\"ok\":false,\"error\":{\"code\":\"failed\",\"message\":\"out of memory\"}}";

	return c->text ? c->text : lost;
}

static void emit_answer(struct tools_run *t, struct tool_call *c)
{
	c->answered = true;
	emit_call(t, TOOL_DO_ANSWER, c)->text = text_of(c);
}

/* A call beyond the limits asks for no other answer: a model that goes on calling gets none. */
static void emit_end(struct tools_run *t, struct tool_call *c)
{
	const struct tool_turn *turn = tools_run_turn(t, c->turn);
	struct tool_output *o = emit_call(t, TOOL_DO_END, c);

	o->text = c->taints ? describe_taint(t, c) : summarise(t, c);
	o->follow = (c->follow == TOOL_FOLLOW_UP || c->code != TOOL_CODE_OK) &&
		    turn->steps <= t->settings->tool_steps && c->code != TOOL_CODE_CANCELLED;
	o->silent = c->follow == TOOL_FOLLOW_SILENT && c->effect == TOOL_EFFECT_NONE &&
		    c->code == TOOL_CODE_OK;
}

static void emit_settle(struct tools_run *t, struct tool_call *c)
{
	struct tool_output *o = emit_call(t, TOOL_DO_SETTLE, c);

	o->text = summarise(t, c);
	o->ms = (uint32_t)((t->now - c->begun_at) / NS_PER_MS);
}

void tools_run_clear(struct tool_call *c)
{
	free(c->arguments);
	free(c->text);
	*c = (struct tool_call){0};
}

/* ---- the end of a call ---- */

/* Calls that wait for the same output get it. */
static void end_waiting(struct tools_run *t, const struct tool_call *of)
{
	for (unsigned i = 0; i < TOOLS_CALLS; i++) {
		struct tool_call *c = &t->call[i];

		if (c->state != TOOL_WAITING || c->same != of->id)
			continue;
		c->state = TOOL_ENDED;
		c->code = of->code;
		c->text = of->text ? strdup(of->text) : NULL;
		emit_answer(t, c);
		emit_end(t, c);
	}
}

static void emit_jobs(struct tools_run *t, const struct tool_call *of)
{
	struct tool_output *o = emit_call(t, TOOL_DO_JOBS, of);

	for (unsigned i = 0; i < TOOLS_CALLS; i++)
		o->n += t->call[i].state == TOOL_JOB && t->call[i].user == of->user;
}

static bool has_waiting(const struct tools_run *t, const struct tool_call *of)
{
	for (unsigned i = 0; i < TOOLS_CALLS; i++)
		if (t->call[i].state == TOOL_WAITING && t->call[i].same == of->id)
			return true;
	return false;
}

static void end_job(struct tools_run *t, struct tool_call *c, enum tool_code code,
		    enum tool_late late)
{
	struct tool_output *o;

	c->code = code;
	c->state = TOOL_ENDED;
	emit_settle(t, c);
	o = emit_call(t, TOOL_DO_LATE, c);
	/* A model that repeated an agreed call tells its output. */
	o->late = late == TOOL_LATE_AWAITED && has_waiting(t, c) ? TOOL_LATE_UNASKED : late;
	o->text = text_of(c);
	emit_jobs(t, c);
	end_waiting(t, c);
}

static enum tool_late judge_late(const struct tool_call *c, bool ok)
{
	if (c->awaited)
		return TOOL_LATE_AWAITED;
	return ok ? TOOL_LATE_UNASKED : TOOL_LATE_FAILED;
}

/* No model waits for its answer; the person who agreed is told how it ended. */
static void end_agreed(struct tools_run *t, struct tool_call *c, enum tool_code code)
{
	c->answered = true;
	end_job(t, c, code, code == TOOL_CODE_CANCELLED ? TOOL_LATE_CANCELLED : TOOL_LATE_AWAITED);
	end_waiting(t, c);
}

/* c->text holds its answer. */
static void end_call(struct tools_run *t, struct tool_call *c, enum tool_code code)
{
	if (c->agreed) {
		end_agreed(t, c, code);
		return;
	}
	c->code = code;
	c->state = TOOL_ENDED;
	emit_answer(t, c);
	emit_end(t, c);
	emit_settle(t, c);
	end_waiting(t, c);
}

static void refuse(struct tools_run *t, struct tool_call *c, enum tool_code code,
		   const char *message)
{
	c->text = tool_envelope_error(code, message);
	end_call(t, c, code);
}

/* Models keep strangers' text beyond the turn that read it: providers keep whole sessions. */
static void note_taint(struct tools_run *t, struct tool_call *c)
{
	struct tool_turn *turn = tools_run_find_turn(t, c->turn);

	t->titled = t->titled || c->taints == TOOL_TAINTS_NAMES;
	if (c->taints <= TOOL_TAINTS_NAMES)
		return;
	if (turn)
		turn->tainted = true;
	if (c->taints == TOOL_TAINTS_SESSION)
		c->tainted = t->tainted = true;
}

void tools_run_take_output(struct tools_run *t, struct tool_call *c, bool ok, struct slice text)
{
	enum tool_code code = ok ? TOOL_CODE_OK : TOOL_CODE_FAILED;
	char why[TOOL_ERROR_MAX];

	if (c->state != TOOL_RUNNING && c->state != TOOL_JOB)
		return;
	if (!ok)
		snprintf(why, sizeof why, "%.*s", (int)text.n, text.n ? (const char *)text.p : "");
	/* A tool's error message is a stranger's text, too. */
	note_taint(t, c);
	if (c->state == TOOL_JOB)
		free(c->text);
	c->text = ok ? tool_envelope_output(text, c->max_output, c->taints)
		     : tool_envelope_error(code, why);
	if (c->state == TOOL_JOB)
		end_job(t, c, code, judge_late(c, ok));
	else
		end_call(t, c, code);
}

void tools_run_stop(struct tools_run *t, struct tool_call *c, enum tool_code code)
{
	bool job = c->state == TOOL_JOB;

	if (!tools_run_is_open(c))
		return;
	if (job || c->state == TOOL_RUNNING)
		emit_call(t, TOOL_DO_CANCEL, c);
	if (!job) {
		refuse(t, c, code, "");
		return;
	}
	free(c->text);
	c->text = tool_envelope_error(code, "");
	end_job(t, c, code,
		code == TOOL_CODE_CANCELLED ? TOOL_LATE_CANCELLED : judge_late(c, false));
}

static void begin_job(struct tools_run *t, struct tool_call *c, bool awaited)
{
	c->state = TOOL_JOB;
	c->awaited = awaited;
	c->tell_at = t->now + TOOL_JOB_TELL_MS * NS_PER_MS;
	c->deadline = c->begun_at + (uint64_t)c->timeout_ms * NS_PER_MS;
	c->text = tool_envelope_running(c->id);
	emit_jobs(t, c);
}

void tools_run_detach(struct tools_run *t, struct tool_call *c, bool awaited)
{
	begin_job(t, c, awaited);
	emit_answer(t, c);
	emit_end(t, c);
	end_waiting(t, c);
}

void tools_run_take_progress(struct tools_run *t, struct tool_call *c, struct slice text)
{
	char *line = t->summaries[t->summaries_n++ % (TOOLS_CALLS * 2)];
	uint64_t wait = (uint64_t)TOOL_JOB_TELL_MS << (c->told + 1);

	if (c->state != TOOL_JOB || !c->awaited || c->told == TOOL_JOB_TELLS || t->now < c->tell_at)
		return;
	note_taint(t, c);
	c->told++;
	c->tell_at = t->now + wait * NS_PER_MS;
	snprintf(line, TOOL_SUMMARY_MAX, "%.*s", (int)text.n, text.n ? (const char *)text.p : "");
	utf8_mend(line);
	utf8_plain(line);
	emit_call(t, TOOL_DO_PROGRESS, c)->text = line;
}

/* ---- the beginning ---- */

static bool mark_seen(struct tools_run *t, uint64_t session, const char *call)
{
	uint64_t key =
		fnv_bytes(fnv_bytes(FNV_BEGIN, &session, sizeof session), call, strlen(call));

	for (unsigned i = 0; i < TOOLS_SEEN && i < t->seen_n; i++)
		if (t->seen[i] == key)
			return false;
	t->seen[t->seen_n++ % TOOLS_SEEN] = key;
	return true;
}

/* A smaller number is given away first: free places, calls whose answer was handed over, those of
 * other turns. UINT64_MAX: never. */
static uint64_t rate_place(const struct tool_call *c, uint32_t turn)
{
	if (tools_run_is_open(c) || (c->state == TOOL_ENDED && !c->handed && c->turn == turn))
		return UINT64_MAX;
	return c->state == TOOL_FREE ? 0 : c->id + (c->handed ? 0 : UINT64_C(1) << 32);
}

/* t->beyond if there is no place: the turn made more calls than it gets answers to. */
static struct tool_call *add_call(struct tools_run *t, const struct tool_input *in)
{
	struct tool_call *best = &t->call[0];

	for (unsigned i = 1; i < TOOLS_CALLS; i++)
		if (rate_place(&t->call[i], in->turn) < rate_place(best, in->turn))
			best = &t->call[i];
	if (rate_place(best, in->turn) == UINT64_MAX)
		best = &t->beyond;
	tools_run_clear(best);
	best->state = TOOL_HELD;
	best->id = ++t->ids;
	best->turn = in->turn;
	best->user = in->user;
	best->shared = in->shared;
	best->rank = in->rank;
	utf8_copy(best->language, sizeof best->language, in->language ? in->language : "");
	best->lead = in->lead ? tool_count_words(in->lead) : 0;
	best->session = in->session;
	best->begun_at = t->now;
	utf8_copy(best->call, sizeof best->call, in->call);
	utf8_copy(best->tool, sizeof best->tool, in->tool);
	return best;
}

/* The earlier call of the turn with the same arguments, whose output this one gets too: any call
 * where the row says REUSE, the call that the room makes after a yes, and else the same id of a
 * call with side effects, which a provider repeats in a new session after it lost the old one. */
static struct tool_call *find_same(struct tools_run *t, const struct tool_call *of,
				   enum tool_repeat repeat)
{
	for (unsigned i = 0; i < TOOLS_CALLS; i++) {
		struct tool_call *c = &t->call[i];
		bool reused = repeat == TOOL_REPEAT_REUSE &&
			      (tools_run_is_open(c) || c->code == TOOL_CODE_OK);
		bool repeated = of->effect != TOOL_EFFECT_NONE &&
				(tools_run_is_open(c) || c->started) &&
				(c->agreed || strcmp(c->call, of->call) == 0);

		if (c != of && c->state != TOOL_FREE && c->state != TOOL_WAITING &&
		    c->turn == of->turn && c->arguments && strcmp(c->tool, of->tool) == 0 &&
		    strcmp(c->arguments, of->arguments) == 0 && (reused || repeated))
			return c;
	}
	return NULL;
}

static void copy_row(struct tool_call *c, const struct tool *tool)
{
	const struct tool_row *row = &tool->row;

	c->shell = tool->shell;
	c->shell_arg = tool->arg;
	c->effect = row->effect;
	c->follow = row->follow;
	c->abort = row->abort;
	c->timeout_ms = row->timeout_ms < TOOL_JOB_END_MS ? row->timeout_ms : TOOL_JOB_END_MS;
	c->max_output = row->max_output;
	c->taints = row->taints;
}

/* False: refused. */
static bool read_arguments(struct tools_run *t, struct tool_call *c, const struct tool *tool,
			   struct slice text)
{
	json_t *root = tool_arguments_read(text);
	char why[SCHEMA_WHY_MAX] = "";
	bool fits = root && schema_check(tool->schema, root, why, sizeof why) == 0;

	if (fits)
		c->arguments = json_dumps(root, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(root);
	if (!fits || !c->arguments) {
		refuse(t, c, TOOL_CODE_BAD_ARGUMENTS, why);
		return false;
	}
	c->hash = fnv_bytes(FNV_BEGIN, c->arguments, strlen(c->arguments));
	if (tool->shell->effect) {
		enum tool_effect effect = tool->shell->effect(c->arguments, tool->arg);

		c->effect = effect < c->effect ? effect : c->effect;
	}
	return true;
}

const char *tool_output_name(const struct tool_output *o)
{
	return o->code == TOOL_CODE_UNKNOWN_TOOL ? "unknown" : o->tool;
}

bool tool_output_is_of_memory(const struct tool_output *o)
{
	return strncmp(o->tool, "memory_", 7) == 0 || strcmp(o->tool, "conversation_search") == 0;
}

static void refuse_unknown(struct tools_run *t, struct tool_call *c)
{
	char names[TOOL_ERROR_MAX - 64], message[TOOL_ERROR_MAX];

	tools_registry_names(t->registry, names, sizeof names);
	snprintf(message, sizeof message, "no such tool; there are: %s", names);
	refuse(t, c, TOOL_CODE_UNKNOWN_TOOL, message);
}

/* False: refused by the limits of the room and of the turn. */
static bool count_call(struct tools_run *t, struct tool_call *c)
{
	struct tool_turn *turn = tools_run_turn(t, c->turn);

	if (c == &t->beyond || tools_run_open(t) > TOOLS_OPEN) {
		refuse(t, c, TOOL_CODE_BUSY, "");
		return false;
	}
	if (turn->calls < t->settings->tool_calls && turn->steps < t->settings->tool_steps) {
		turn->calls++;
		return true;
	}
	refuse(t, c, TOOL_CODE_LIMIT, "");
	return false;
}

/* The room's own call is a job from the start: it outlives the turn of the yes. */
static void start_agreed(struct tools_run *t, struct tool_call *c)
{
	c->started = true;
	emit_call(t, TOOL_DO_START, c);
	begin_job(t, c, true);
}

void tools_run_answer_repeats(struct tools_run *t, struct tool_call *c)
{
	c->answered = true;
	end_waiting(t, c);
}

static void start(struct tools_run *t, struct tool_call *c)
{
	struct tool_turn *turn;

	if (c->agreed) {
		start_agreed(t, c);
		return;
	}
	turn = tools_run_turn(t, c->turn);
	c->state = TOOL_RUNNING;
	c->started = true;
	c->deadline = t->now + (uint64_t)c->timeout_ms * NS_PER_MS;
	if (!turn->begun_at) {
		turn->begun_at = t->now;
		turn->line_at = t->now + TOOL_LINE_MS * NS_PER_MS;
	}
	emit_call(t, TOOL_DO_START, c);
	if (c->follow == TOOL_FOLLOW_FORGET)
		tools_run_detach(t, c, false);
}

/* Writes the call down before it can cause anything: after a crash it is never made again. */
static void record(struct tools_run *t, struct tool_call *c)
{
	bool outside = c->effect >= TOOL_EFFECT_OUTSIDE;

	emit_call(t, TOOL_DO_JOURNAL, c)->await = outside;
	if (outside)
		c->state = TOOL_WRITING;
	else
		start(t, c);
}

static void refuse_until_yes(struct tools_run *t, struct tool_call *c)
{
	char question[TOOL_QUESTION_MAX];

	tool_question(c->tool, c->arguments, c->language, question);
	tool_policy_keep(&t->policy,
			 &(struct tool_asking){.user = c->user,
					       .turn = c->turn,
					       .tool = c->tool,
					       .arguments = c->arguments,
					       .question = question,
					       .lead = c->lead,
					       .quoted = c->quoted || c->shared},
			 t->now);
	c->text = tool_envelope_ask(tool_verdict_text(TOOL_ASK), question);
	end_call(t, c, TOOL_CODE_NEEDS_YES);
}

/* False: refused. */
static bool allow(struct tools_run *t, struct tool_call *c, const struct tool *tool)
{
	struct tool_row row = tool->row;
	enum tool_verdict verdict;

	row.confirm = row.confirm && c->effect == row.effect;
	row.effect = c->effect;
	c->tainted = t->tainted || tools_run_turn(t, c->turn)->tainted;
	c->titled = t->titled;
	c->quoted = c->quoted || tools_run_turn(t, c->turn)->quotes;
	verdict = tool_policy_judge(
		&t->policy, t->settings,
		&(struct tool_request){.row = &row,
				       .user = c->user,
				       .rank = c->rank,
				       .arguments = c->arguments,
				       .shared = c->shared,
				       .tainted = tools_run_turn(t, c->turn)->tainted,
				       .quotes = c->quoted,
				       .titled = c->titled,
				       .room_tainted = t->tainted,
				       .agreed = c->agreed},
		t->now);
	if (verdict == TOOL_ALLOWED)
		return true;
	if (verdict == TOOL_ASK)
		refuse_until_yes(t, c);
	else
		refuse(t, c, TOOL_CODE_DENIED, tool_verdict_text(verdict));
	return false;
}

static void wait_for_same(struct tools_run *t, struct tool_call *c, const struct tool_call *same)
{
	c->state = TOOL_WAITING;
	c->same = same->id;
	if (same->state == TOOL_ENDED || same->answered)
		end_waiting(t, same);
}

/* True if it changes anything, the turn itself included, or a yes to it may be in words that the
 * policy does not know before the answer is committed. */
static bool waits_for_commit(const struct tool_call *c, const struct tool *tool)
{
	return c->effect != TOOL_EFFECT_NONE || c->follow != TOOL_FOLLOW_UP || tool->row.confirm;
}

/* Makes the call unless it is one that was made already, or the policy refuses it. */
static void judge(struct tools_run *t, struct tool_call *c, const struct tool *tool)
{
	/* A speculative call that repeats an agreed one is the one that waits. */
	const struct tool_call *same = c->agreed ? NULL : find_same(t, c, tool->row.repeat);

	if (same)
		wait_for_same(t, c, same);
	else if (allow(t, c, tool))
		record(t, c);
}

void tools_run_go_on(struct tools_run *t, struct tool_call *c)
{
	const struct tool *tool = tools_registry_find(t->registry, c->tool);

	if (c->state == TOOL_WRITING)
		start(t, c);
	else if (c->state == TOOL_HELD && tool)
		judge(t, c, tool);
	else if (c->state == TOOL_HELD)
		refuse_unknown(t, c);
}

void tools_run_take_call(struct tools_run *t, const struct tool_input *in)
{
	const struct tool *tool = tools_registry_find(t->registry, in->tool);
	struct tool_call *c;

	if (!mark_seen(t, in->session, in->call))
		return;
	c = add_call(t, in);
	emit_call(t, TOOL_DO_BEGIN, c);
	if (!count_call(t, c))
		return;
	if (!tool) {
		refuse_unknown(t, c);
		return;
	}
	copy_row(c, tool);
	if (in->too_large || in->text.n > TOOL_ARGUMENTS_MAX) {
		refuse(t, c, TOOL_CODE_TOO_LARGE, "");
		return;
	}
	if (read_arguments(t, c, tool, in->text) && !(in->speculative && waits_for_commit(c, tool)))
		judge(t, c, tool);
}

/* ---- a spoken yes ---- */

/* call: "TOOL ARGUMENTS", as it was read back. quoted: a yes to a call is none to what a worker
 * makes of it, so it goes on telling that others may have asked for it. */
static void make_agreed(struct tools_run *t, const struct tool_input *in, char *call, bool quoted)
{
	char *arguments = strchr(call, ' ');
	struct tool_input kept = *in;
	const struct tool *tool;
	struct tool_call *c;

	*arguments++ = '\0';
	kept.tool = call;
	kept.call = "";
	tool = tools_registry_find(t->registry, call);
	c = add_call(t, &kept);
	c->agreed = c->handed = true;
	c->quoted = quoted;
	if (tool)
		copy_row(c, tool);
	if (c == &t->beyond || tools_run_open(t) > TOOLS_OPEN)
		refuse(t, c, TOOL_CODE_BUSY, "");
	else if (!tool)
		refuse_unknown(t, c);
	else if (read_arguments(t, c, tool, slice_str(arguments)))
		judge(t, c, tool);
}

/* The speaker went on after a yes: the call that it began goes on if all of it is a yes still. */
static void review_superseded(struct tools_run *t, uint64_t user, bool yes)
{
	for (unsigned i = 0; i < TOOLS_CALLS; i++) {
		struct tool_call *c = &t->call[i];

		if (!c->superseded || c->user != user)
			continue;
		c->superseded = false;
		if (!yes)
			tools_run_stop(t, c, TOOL_CODE_CANCELLED);
	}
}

void tools_run_take_words(struct tools_run *t, const struct tool_input *in)
{
	bool yes = in->ok && !in->shared, quoted = false;
	char *call = tool_policy_words(&t->policy, in->user, in->of, yes, t->now, &quoted);

	review_superseded(t, in->user, yes);
	if (call)
		make_agreed(t, in, call, quoted);
	free(call);
}
