#include "control/tools/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/engine/core/ask.h"
#include "control/settings/settings.h"
#include "control/tools/run_inside.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

static const struct {
	const char *name;
	enum tool_how how;
} lates[] = {
#define L(NAME, n, h, text) {#n, TOOL_LATE_##h},
	TOOL_LATES(L)
#undef L
};

const char *tool_late_name(enum tool_late late)
{
	return lates[late].name;
}

enum tool_how tool_late_how(enum tool_late late)
{
	return lates[late].how;
}

int tools_run_alloc(struct tools_run **out, const struct tools_registry *registry,
		    const struct settings *settings)
{
	struct tools_run *t = calloc(1, sizeof *t);

	if (!t)
		return ENOMEM;
	t->registry = registry;
	t->settings = settings;
	/* Not every provider tells each search before it uses the results. */
	t->tainted = settings->search == SETTINGS_SEARCH_PROVIDER;
	*out = t;
	return 0;
}

struct tools_run *tools_run_free(struct tools_run *t)
{
	if (!t)
		return NULL;
	for (unsigned i = 0; i < TOOLS_CALLS; i++)
		tools_run_clear(&t->call[i]);
	tools_run_clear(&t->beyond);
	tool_policy_clear(&t->policy);
	free(t);
	return NULL;
}

void tools_run_yes_s(struct tools_run *t, uint32_t seconds)
{
	t->policy.yes_s = seconds;
}

/* ---- turns ---- */

struct tool_turn *tools_run_find_turn(struct tools_run *t, uint32_t turn)
{
	for (unsigned i = 0; i < TOOLS_TURNS; i++)
		if (t->turn[i].turn == turn)
			return &t->turn[i];
	return NULL;
}

struct tool_turn *tools_run_turn(struct tools_run *t, uint32_t turn)
{
	struct tool_turn *place = tools_run_find_turn(t, turn);

	if (place)
		return place;
	place = &t->turn[0];
	for (unsigned i = 1; i < TOOLS_TURNS; i++)
		if (t->turn[i].turn < place->turn)
			place = &t->turn[i];
	*place = (struct tool_turn){.turn = turn};
	return place;
}

static bool works_for(const struct tools_run *t, uint32_t turn)
{
	for (unsigned i = 0; i < TOOLS_CALLS; i++)
		if (t->call[i].turn == turn && tools_run_is_open(&t->call[i]) &&
		    t->call[i].state != TOOL_JOB)
			return true;
	return false;
}

static struct tool_call *find_call(struct tools_run *t, uint32_t id)
{
	for (unsigned i = 0; i < TOOLS_CALLS; i++)
		if (t->call[i].state != TOOL_FREE && t->call[i].id == id)
			return &t->call[i];
	return NULL;
}

/* for_good: the speaker wants none of it, so nothing goes on as a job. */
static void abort_turn(struct tools_run *t, uint32_t turn, bool for_good)
{
	for (unsigned i = 0; i < TOOLS_CALLS; i++) {
		struct tool_call *c = &t->call[i];

		if (!tools_run_is_open(c) || c->turn != turn || c->state == TOOL_JOB || c->agreed)
			continue;
		if (!for_good && c->abort == TOOL_ABORT_DETACH && c->state == TOOL_RUNNING)
			tools_run_detach(t, c, c->follow == TOOL_FOLLOW_UP);
		else
			tools_run_stop(t, c, TOOL_CODE_CANCELLED);
	}
}

static void abort_jobs(struct tools_run *t, uint64_t user)
{
	for (unsigned i = 0; i < TOOLS_CALLS; i++) {
		struct tool_call *c = &t->call[i];

		if (tools_run_is_open(c) && (!user || c->user == user))
			tools_run_stop(t, c, TOOL_CODE_CANCELLED);
	}
}

static void revoke_call(struct tools_run *t, const struct tool_input *in)
{
	for (unsigned i = 0; i < TOOLS_CALLS; i++) {
		struct tool_call *c = &t->call[i];

		if (!tools_run_is_open(c) || c->answered || c->agreed ||
		    c->session != in->session || strcmp(c->call, in->call) != 0)
			continue;
		c->handed = true;
		tools_run_stop(t, c, TOOL_CODE_CANCELLED);
	}
}

static void commit_turn(struct tools_run *t, uint32_t turn)
{
	for (unsigned i = 0; i < TOOLS_CALLS; i++)
		if (t->call[i].turn == turn && t->call[i].state == TOOL_HELD)
			tools_run_go_on(t, &t->call[i]);
}

static void end_turn(struct tools_run *t, const struct tool_input *in)
{
	struct tool_turn *turn;
	char *said;

	abort_turn(t, in->turn, false);
	turn = tools_run_find_turn(t, in->turn);
	if (turn)
		*turn = (struct tool_turn){0};
	for (unsigned i = 0; in->superseded && i < TOOLS_CALLS; i++)
		if (t->call[i].turn == in->turn)
			t->call[i].superseded = t->call[i].agreed;
	said = in->ok && in->text.n ? strndup((const char *)in->text.p, in->text.n) : NULL;
	if (said)
		tool_policy_read_back(&t->policy, in->user, said, t->now);
	free(said);
}

/* ---- time ---- */

static void set_audible(struct tools_run *t, bool audible)
{
	bool stopped = t->audible && !audible;

	t->audible = audible;
	for (unsigned i = 0; stopped && i < TOOLS_TURNS; i++)
		if (t->turn[i].line_at && t->turn[i].line_at < t->now + TOOL_LINE_MS * NS_PER_MS)
			t->turn[i].line_at = t->now + TOOL_LINE_MS * NS_PER_MS;
}

static void ask_for_words(struct tools_run *t, struct tool_turn *turn)
{
	struct tool_output *o;

	if (!works_for(t, turn->turn) || turn->lines == TOOL_LINES) {
		turn->line_at = 0;
		return;
	}
	o = &t->out->v[t->out->n++];
	*o = (struct tool_output){.type = TOOL_DO_LINE, .turn = turn->turn, .n = turn->lines};
	turn->line_at = turn->lines++ ? t->now + TOOL_PROGRESS_AGAIN_MS * NS_PER_MS
				      : turn->begun_at + TOOL_PROGRESS_MS * NS_PER_MS;
}

/* When a call that runs becomes a job: before the room gives the answer up. */
static uint64_t job_at(const struct tools_run *t, const struct tool_call *c)
{
	return c->begun_at + (t->settings->tool_ms - TOOL_JOB_AHEAD_MS) * NS_PER_MS;
}

static void take_time(struct tools_run *t)
{
	for (unsigned i = 0; i < TOOLS_CALLS; i++) {
		struct tool_call *c = &t->call[i];

		if (c->state != TOOL_RUNNING && c->state != TOOL_JOB)
			continue;
		if (t->now >= c->deadline)
			tools_run_stop(t, c, TOOL_CODE_TIMEOUT);
		else if (c->state == TOOL_RUNNING && t->now >= job_at(t, c))
			tools_run_detach(t, c, true);
		else if (c->agreed && !c->answered && t->now >= job_at(t, c))
			tools_run_answer_repeats(t, c);
	}
	for (unsigned i = 0; i < TOOLS_TURNS; i++)
		if (t->turn[i].line_at && t->now >= t->turn[i].line_at && !t->audible)
			ask_for_words(t, &t->turn[i]);
}

uint64_t tools_run_deadline(const struct tools_run *t)
{
	uint64_t at = UINT64_MAX;

	for (unsigned i = 0; i < TOOLS_CALLS; i++) {
		const struct tool_call *c = &t->call[i];

		if (c->state != TOOL_RUNNING && c->state != TOOL_JOB)
			continue;
		if (c->deadline < at)
			at = c->deadline;
		if ((c->state == TOOL_RUNNING || (c->agreed && !c->answered)) && job_at(t, c) < at)
			at = job_at(t, c);
	}
	for (unsigned i = 0; !t->audible && i < TOOLS_TURNS; i++)
		if (t->turn[i].line_at && t->turn[i].line_at < at)
			at = t->turn[i].line_at;
	return at;
}

/* ---- the door ---- */

static void take_written(struct tools_run *t, struct tool_call *c, bool ok)
{
	if (!c || c->state != TOOL_WRITING)
		return;
	if (ok)
		tools_run_go_on(t, c);
	else
		tools_run_stop(t, c, TOOL_CODE_NOT_RECORDED);
}

/* What the shell of a call tells. */
static void take_shell(struct tools_run *t, const struct tool_input *in)
{
	struct tool_call *c = find_call(t, in->id);

	if (c && in->type == TOOL_IN_OUTPUT)
		tools_run_take_output(t, c, in->ok, in->text);
	else if (c)
		tools_run_take_progress(t, c, in->text);
}

void tools_run_step(struct tools_run *t, const struct tool_input *in, uint64_t now,
		    struct tool_outputs *out)
{
	t->now = now;
	t->out = out;
	out->n = 0;
	switch (in->type) {
	case TOOL_IN_CALL:
		tools_run_take_call(t, in);
		break;
	case TOOL_IN_COMMIT:
		commit_turn(t, in->turn);
		break;
	case TOOL_IN_WRITTEN:
		take_written(t, find_call(t, in->id), in->ok);
		break;
	case TOOL_IN_OUTPUT:
	case TOOL_IN_PROGRESS:
		take_shell(t, in);
		break;
	case TOOL_IN_AUDIBLE:
		set_audible(t, in->ok);
		break;
	case TOOL_IN_ABORT:
		if (in->turn)
			abort_turn(t, in->turn, in->ok);
		else
			abort_jobs(t, in->user);
		break;
	case TOOL_IN_END:
		end_turn(t, in);
		break;
	case TOOL_IN_WORDS:
		tools_run_take_words(t, in);
		break;
	case TOOL_IN_REVOKED:
		revoke_call(t, in);
		break;
	case TOOL_IN_RECALLED:
		t->tainted = true;
		break;
	case TOOL_IN_QUOTES:
		tools_run_turn(t, in->turn)->quotes = true;
		break;
	case TOOL_IN_TITLES:
		t->titled = true;
		break;
	case TOOL_IN_LEFT:
		abort_jobs(t, in->user);
		break;
	case TOOL_IN_TIME:
		take_time(t);
		break;
	}
}

/* ---- messages ---- */

static bool is_to_hand(const struct tool_call *c, uint32_t turn)
{
	return c->state != TOOL_FREE && c->turn == turn && c->answered && !c->handed;
}

static size_t put_messages(struct tools_run *t, uint32_t turn, enum engine_speaker role,
			   struct engine_message *out, size_t n, size_t most)
{
	for (uint32_t id = 1, last = 0; n < most; last = id) {
		struct tool_call *next = NULL;

		/* In the order in which they were made. */
		for (unsigned i = 0; i < TOOLS_CALLS; i++)
			if (is_to_hand(&t->call[i], turn) && t->call[i].id > last &&
			    (!next || t->call[i].id < next->id))
				next = &t->call[i];
		if (!next)
			break;
		id = next->id;
		out[n++] = (struct engine_message){
			.role = role,
			.speaker = "",
			.call = next->call,
			.tool = next->tool,
			.failed = role == ENGINE_RESULT && next->code != TOOL_CODE_OK,
			.text = role == ENGINE_CALL ? (next->arguments ? next->arguments : "{}")
						    : (next->text ? next->text : "{\"ok\":false}")};
	}
	return n;
}

size_t tools_run_messages(struct tools_run *t, uint32_t turn, struct engine_message *out,
			  size_t most)
{
	struct tool_turn *limits = tools_run_find_turn(t, turn);
	size_t n = put_messages(t, turn, ENGINE_CALL, out, 0, most / 2);

	n = put_messages(t, turn, ENGINE_RESULT, out, n, 2 * n);
	for (unsigned i = 0; i < TOOLS_CALLS; i++)
		if (is_to_hand(&t->call[i], turn))
			t->call[i].handed = true;
	if (n && limits)
		limits->steps++;
	return n;
}

void tools_run_kept(const struct tools_run *t, uint64_t user, char tool[TOOLS_NAME_MAX])
{
	const char *call = tool_policy_kept(&t->policy, user);

	utf8_copy_bytes(tool, TOOLS_NAME_MAX, call, strcspn(call, " "));
}

bool tools_run_awaits(const struct tools_run *t, uint64_t user, uint32_t turn, uint64_t now)
{
	return tool_policy_awaits(&t->policy, user, turn, now);
}

const char *tools_run_agreed(const struct tools_run *t, uint32_t turn)
{
	for (unsigned i = 0; i < TOOLS_CALLS; i++)
		if (t->call[i].agreed && t->call[i].turn == turn && t->call[i].state != TOOL_FREE)
			return t->call[i].tool;
	return NULL;
}

enum tool_verdict tools_run_judge(struct tools_run *t, const struct tool_request *request,
				  uint64_t now)
{
	return tool_policy_judge(&t->policy, t->settings, request, now);
}

enum tool_verdict tools_run_judge_effect(struct tools_run *t, const struct tool_request *request,
					 uint32_t turn, uint64_t now)
{
	const struct tool_turn *place = tools_run_find_turn(t, turn);
	struct tool_request q = *request;

	q.tainted = place && place->tainted;
	q.quotes = place && place->quotes;
	q.room_tainted = t->tainted;
	return tool_policy_judge(&t->policy, t->settings, &q, now);
}

bool tools_run_tainted(const struct tools_run *t)
{
	return t->tainted;
}

void tools_run_searched(struct tools_run *t, uint32_t turn)
{
	tools_run_turn(t, turn)->tainted = true;
	t->tainted = true;
}

void tools_run_shown(struct tools_run *t, uint32_t turn)
{
	tools_run_turn(t, turn)->quotes = true;
	t->tainted = true;
}

unsigned tools_run_open(const struct tools_run *t)
{
	unsigned n = 0;

	for (unsigned i = 0; i < TOOLS_CALLS; i++)
		n += tools_run_is_open(&t->call[i]);
	return n;
}
