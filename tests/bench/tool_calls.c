/* tool_lost and tool_doubled: outputs of tool calls that a model never got, and tools that ran or
 * outputs that were given twice, over 10,000 injected disconnects, cancels and repeats.
 *
 * Each dialect reads its own wire: one to four calls of a turn, each told up to three times in any
 * order. Between the messages the connection is lost (calls come under another session, and the
 * next request repeats the history), the turn is aborted, time passes, outputs come, come twice, or
 * never. At the end of the turn each call must have run at most once and been answered once. A call
 * keeps its id in the next session: there it is answered again, and one with side effects must not
 * run again.
 *
 *   BENCH_FAULTS=n   injected faults (10000) */
#include "control/dialect/realtime.h"
#include "control/dialect/text.h"
#include "control/settings/settings.h"
#include "control/tools/run.h"
#include "proto/base/time.h"
#include "proto/media.h"
#include "tests/bench/bench.h"
#include "tests/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 4, TIMES = 3, WIRE_MAX = 600, KNOWN = 64, GIVEN_MAX = 2 * TOOLS_CALLS };

static const struct wire_of {
	const char *name;
	const struct text_dialect *text; /* or */
	const struct realtime_dialect *voice;
	const char *form; /* %s: the id of the call, %s: the tool */
} dialects[] = {
	{"chat", &text_dialect_chat, NULL,
	 "{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"%s\","
	 "\"function\":{\"name\":\"%s\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}"
	 "]}"},
	{"responses", &text_dialect_responses, NULL,
	 "{\"type\":\"response.output_item.done\",\"output_index\":1,\"item\":{\"type\":\"function_"
	 "call\",\"id\":\"fc\",\"call_id\":\"%s\",\"name\":\"%s\",\"arguments\":\"{}\"}}"},
	{"messages", &text_dialect_messages, NULL,
	 "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\","
	 "\"id\":\"%s\",\"name\":\"%s\",\"input\":{}}}"},
	{"openai", NULL, &realtime_openai,
	 "{\"type\":\"response.output_item.done\",\"response_id\":\"r\",\"item\":{\"id\":\"i\","
	 "\"type\":\"function_call\",\"call_id\":\"%s\",\"name\":\"%s\",\"arguments\":\"{}\"}}"},
	{"xai", NULL, &realtime_xai,
	 "{\"type\":\"response.output_item.done\",\"response_id\":\"r\",\"item\":{\"id\":\"i\","
	 "\"type\":\"function_call\",\"call_id\":\"%s\",\"name\":\"%s\",\"arguments\":\"{}\"}}"},
	{"gemini", NULL, &realtime_gemini,
	 "{\"toolCall\":{\"functionCalls\":[{\"id\":\"%s\",\"name\":\"%s\",\"args\":{}}]}}"},
};
enum { DIALECTS = sizeof dialects / sizeof dialects[0] };

/* A call of the running turn, as the model knows it. */
struct known {
	uint64_t session;
	bool acts;
	char id[TOOLS_CALL_ID_MAX];
	unsigned runs, answers;
};

static struct {
	struct settings *settings;
	struct tools_registry *registry;
	struct tools_run *run;
	struct tool_outputs out;
	uint64_t now, session, seed;
	uint32_t turn;
	struct known known[KNOWN];
	unsigned n;
	uint32_t started[KNOWN]; /* whose outputs have not come */
	unsigned n_started;
	unsigned faults, calls, runs, lost, doubled;
	void *codec;
} w;

static struct known *find_known(uint64_t session, const char *id)
{
	for (unsigned i = 0; i < w.n; i++)
		if (w.known[i].session == session && strcmp(w.known[i].id, id) == 0)
			return &w.known[i];
	return NULL;
}

static void step(const struct tool_input *in)
{
	uint32_t await[KNOWN];
	unsigned n = 0;

	tools_run_step(w.run, in, w.now, &w.out);
	for (size_t i = 0; i < w.out.n; i++) {
		const struct tool_output *o = &w.out.v[i];
		struct known *k = find_known(o->session, o->call ? o->call : "");

		if (o->type == TOOL_DO_START && k) {
			k->runs++;
			w.runs++;
			w.started[w.n_started++ % KNOWN] = o->id;
		} else if (o->type == TOOL_DO_ANSWER && k) {
			k->answers++;
		} else if (o->type == TOOL_DO_JOURNAL && o->await && n < KNOWN) {
			await[n++] = o->id;
		}
	}
	while (n)
		step(&(struct tool_input){.type = TOOL_IN_WRITTEN, .id = await[--n], .ok = true});
}

/* The dialect read a whole call. */
static void take_call(const char *id, const char *tool, struct slice arguments)
{
	struct known *k = find_known(w.session, id);

	if (!k) {
		if (w.n == KNOWN)
			return;
		k = &w.known[w.n++];
		*k = (struct known){.session = w.session, .acts = strcmp(tool, "look") != 0};
		snprintf(k->id, sizeof k->id, "%s", id);
		w.calls++;
	}
	step(&(struct tool_input){.type = TOOL_IN_CALL,
				  .turn = w.turn,
				  .user = 5,
				  .rank = TOOL_RANK_OWNER,
				  .session = w.session,
				  .call = id,
				  .tool = tool,
				  .text = arguments});
}

static bool on_text(const struct text_fact *f, void *arg)
{
	(void)arg;
	if (f->type == TEXT_CALL)
		take_call(f->call, f->tool, f->text);
	return true;
}

static void tell(const struct wire_of *d, const char *id, const char *tool)
{
	char wire[WIRE_MAX];
	int n = snprintf(wire, sizeof wire, d->form, id, tool);
	struct text_stream s = {0};
	struct realtime_facts facts = {0};

	if (d->text) {
		text_stream_read(&s, d->text, (const uint8_t *)wire, (size_t)n, on_text, NULL);
		text_stream_end(&s, on_text, NULL);
		text_stream_clear(&s);
		return;
	}
	BENCH_OK(d->voice->decode(w.codec, true, (const uint8_t *)wire, (size_t)n, &facts));
	for (size_t i = 0; i < facts.n; i++)
		if (facts.v[i].type == REALTIME_CALL)
			take_call(facts.v[i].call, facts.v[i].name, facts.v[i].text);
	realtime_facts_clear(&facts);
}

static void give_output(void)
{
	unsigned at = w.n_started ? random_below(&w.seed, w.n_started % KNOWN + 1) : 0;

	if (at < w.n_started)
		step(&(struct tool_input){.type = TOOL_IN_OUTPUT,
					  .id = w.started[at],
					  .ok = random_below(&w.seed, 4) != 0,
					  .text = slice_str("\"done\"")});
}

static void inject(const struct wire_of *d)
{
	w.faults++;
	switch (random_below(&w.seed, 4)) {
	case 0: /* the connection is lost: what comes belongs to another session */
		w.session++;
		if (d->voice)
			d->voice->reset(w.codec);
		break;
	case 1:
		step(&(struct tool_input){.type = TOOL_IN_ABORT, .turn = w.turn, .user = 5});
		break;
	case 2:
		w.now += random_below(&w.seed, 25000) * NS_PER_MS;
		step(&(struct tool_input){.type = TOOL_IN_TIME});
		break;
	default: /* a tool that answers twice */
		give_output();
		give_output();
		break;
	}
}

/* The call of this id that got no output yet, else the last one. */
static unsigned *find_given(unsigned given[KNOWN], const char *id)
{
	unsigned *found = NULL;

	for (unsigned k = 0; k < w.n && !(found && !*found); k++)
		if (strcmp(w.known[k].id, id) == 0)
			found = &given[k];
	return found;
}

/* Runs of the call in all sessions. */
static unsigned count_runs(const struct known *of)
{
	unsigned runs = 0;

	for (unsigned k = 0; k < w.n; k++)
		if (&w.known[k] == of || (of->acts && strcmp(w.known[k].id, of->id) == 0))
			runs += w.known[k].runs;
	return runs;
}

/* Whatever an ask or the provider gets at last. */
static void count_given(unsigned given[KNOWN])
{
	struct engine_message m[GIVEN_MAX];
	size_t n = tools_run_messages(w.run, w.turn, m, GIVEN_MAX);

	for (size_t i = 0; i < n; i++) {
		unsigned *found = m[i].role == ENGINE_RESULT ? find_given(given, m[i].call) : NULL;

		if (found)
			++*found;
	}
}

static void play_turn(const struct wire_of *d, unsigned number)
{
	static const char *const tools[] = {"look", "act", "slow"};
	unsigned calls = random_between(&w.seed, 1, CALLS), given[KNOWN] = {0};
	char id[40];

	w.turn = number + 1;
	w.session++;
	w.n = w.n_started = 0;
	w.now += 61 * NS_PER_S; /* the limits of a minute are others' business */
	for (unsigned i = 0; i < calls * TIMES; i++) {
		unsigned which = random_below(&w.seed, calls);

		snprintf(id, sizeof id, "call_%u_%u", number, which);
		tell(d, id, tools[which % 3]);
		w.now += random_below(&w.seed, 50) * NS_PER_MS;
		if (random_below(&w.seed, 3) == 0)
			inject(d);
		if (random_below(&w.seed, 3) == 0)
			give_output();
		if (random_below(&w.seed, 4) == 0)
			count_given(given);
	}
	step(&(struct tool_input){.type = TOOL_IN_END, .turn = w.turn, .user = 5});
	count_given(given);
	/* Jobs end, too. */
	w.now += 700 * NS_PER_S;
	step(&(struct tool_input){.type = TOOL_IN_TIME});
	count_given(given);
	for (unsigned i = 0; i < w.n; i++) {
		w.lost += w.known[i].answers == 0 || given[i] == 0;
		w.doubled += count_runs(&w.known[i]) > 1 || w.known[i].answers > 1 || given[i] > 1;
	}
}

static int start(const struct tool_start *call, void *arg)
{
	(void)call, (void)arg;
	return 0;
}

static void add_tool(const char *name, enum tool_effect effect, enum tool_abort abort)
{
	static const struct tool_shell shell = {.start = start};
	const struct tool_row row = {.name = name,
				     .description = "A tool.",
				     .schema = "{\"type\":\"object\"}",
				     .timeout_ms = 30000,
				     .max_output = 1000,
				     .effect = effect,
				     .abort = abort,
				     .repeat = TOOL_REPEAT_RUN};

	BENCH_OK(tools_registry_add(w.registry, &row, &shell, NULL));
}

int main(void)
{
	const char *env = getenv("BENCH_FAULTS");
	unsigned want = env ? (unsigned)strtoul(env, NULL, 10) : 10000, turns = 0;

	w.seed = 16;
	w.now = NS_PER_S;
	BENCH_OK(settings_alloc(&w.settings));
	w.settings->tool_calls = 32;
	w.settings->tool_steps = 8;
	BENCH_OK(settings_set(w.settings, "tools_allowed", "act,slow"));
	BENCH_OK(tools_registry_alloc(&w.registry));
	add_tool("look", TOOL_EFFECT_NONE, TOOL_ABORT_STOP);
	add_tool("act", TOOL_EFFECT_OUTSIDE, TOOL_ABORT_DETACH);
	add_tool("slow", TOOL_EFFECT_OUTSIDE, TOOL_ABORT_STOP);
	for (unsigned i = 0; i < DIALECTS; i++) {
		const struct wire_of *d = &dialects[i];
		unsigned before = w.calls;

		BENCH_OK(tools_run_alloc(&w.run, w.registry, w.settings));
		if (d->voice)
			BENCH_OK(d->voice->alloc(&w.codec,
						 &(struct realtime_conf){.url = "ws://127.0.0.1/",
									 .model = "m",
									 .voice = "",
									 .rate_in = 24000,
									 .rate_out = 24000}));
		while (w.faults < want * (i + 1) / DIALECTS)
			play_turn(d, turns++);
		if (d->voice)
			d->voice->free(w.codec);
		tools_run_free(w.run);
		if (w.calls == before)
			bench_die("%s: no call was read", d->name);
	}
	bench_row_more("tool_lost", w.lost, "",
		       "\"calls\": %u, \"run\": %u, \"faults\": %u, \"turns\": %u", w.calls, w.runs,
		       w.faults, turns);
	bench_row_more("tool_doubled", w.doubled, "",
		       "\"calls\": %u, \"run\": %u, \"faults\": %u, \"turns\": %u", w.calls, w.runs,
		       w.faults, turns);
	tools_registry_free(w.registry);
	settings_free(w.settings);
	return 0;
}
