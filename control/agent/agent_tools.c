#include "control/agent/agent_tools.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/agent/inside.h"
#include "control/media/media.h"
#include "control/settings/settings.h"
#include "control/tools/builtin/builtins.h"
#include "control/tools/run.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

enum { SAID_MAX = 4096, MINUTE_S = 60 };

/* An input that came while another one was performed. */
struct later {
	struct later *next;
	struct tool_input in;
	uint8_t text[];
};

struct agent_tools {
	struct agent *a;
	struct tools_registry *registry;
	struct tools_run *run;
	struct builtins *builtins;
	struct tmr *timer;
	struct tool_outputs *out;
	bool performing;
	struct later *first, **last;
	uint64_t up_at;
	uint32_t held; /* a turn whose answer was speculative when it called; 0: none */
	/* What the answer of this turn said before its calls. */
	uint32_t said_turn;
	size_t said_n;
	char said[SAID_MAX];
};

/* ---- stepping ---- */

static void perform(struct agent_tools *t, const struct tool_output *o);

static void step(struct agent_tools *t, const struct tool_input *in)
{
	uint64_t at;

	tools_run_step(t->run, in, env_now(t->a->env), t->out);
	for (size_t i = 0; i < t->out->n; i++)
		perform(t, &t->out->v[i]);
	at = tools_run_deadline(t->run);
	if (at == UINT64_MAX)
		tmr_stop(t->timer);
	else
		tmr_start_at(t->timer, at);
}

static int defer_input(struct agent_tools *t, const struct tool_input *in)
{
	struct later *l = calloc(1, sizeof *l + in->text.n);

	if (!l)
		return ENOMEM;
	l->in = *in;
	if (in->text.n)
		memcpy(l->text, in->text.p, in->text.n);
	l->in.text.p = l->text;
	*t->last = l;
	t->last = &l->next;
	return 0;
}

/* What an input points to but its text lives until the end of what is performed. */
static void feed(struct agent_tools *t, const struct tool_input *in)
{
	if (t->performing) {
		if (defer_input(t, in))
			log_warn("tool_input_lost", "type=%d", in->type);
		return;
	}
	t->performing = true;
	step(t, in);
	while (t->first) {
		struct later *l = t->first;

		t->first = l->next;
		if (!t->first)
			t->last = &t->first;
		step(t, &l->in);
		free(l);
	}
	t->performing = false;
}

static void timer_fired(void *arg)
{
	feed(arg, &(struct tool_input){.type = TOOL_IN_TIME});
}

static void take_output(uint32_t id, bool ok, struct slice text, void *arg)
{
	feed(arg, &(struct tool_input){.type = TOOL_IN_OUTPUT, .id = id, .ok = ok, .text = text});
}

/* ---- what the run decides ---- */

static void start_call(struct agent_tools *t, const struct tool_output *o)
{
	const struct tool *tool = tools_registry_find(t->registry, o->tool);
	const struct tool_start call = {.id = o->id,
					.turn = o->turn,
					.user = o->user,
					.tainted = o->tainted,
					.tool = o->tool,
					.arguments = o->arguments};
	int err = tool ? tool->shell->start(&call, tool->arg) : ENOENT;

	if (err)
		take_output(o->id, false, slice_str(strerror(err)), t);
}

static void cancel_call(struct agent_tools *t, const struct tool_output *o)
{
	const struct tool *tool = tools_registry_find(t->registry, o->tool);

	if (tool && tool->shell->cancel)
		tool->shell->cancel(o->id, tool->arg);
}

static void tell_room(struct agent_tools *t, const struct tool_output *o, bool begins)
{
	agent_feed(t->a, &(struct room_event){.type = ROOM_TOOL,
					      .user = o->user,
					      .turn = o->turn,
					      .yes = begins,
					      .follow = o->silent   ? ROOM_TOOL_SILENCE
							: o->follow ? ROOM_TOOL_GOES_ON
								    : ROOM_TOOL_QUIET,
					      .text = slice_str(o->text)});
}

static void publish(struct agent_tools *t, const struct tool_output *o)
{
	const struct media_want *where = media_call_want(t->a->call);
	struct bus_event ev = {.type = EVENT_TOOL_CALLED,
			       .at_ms = env_wall_ms(t->a->env),
			       .guild = where->guild,
			       .user = o->user};
	char hash[20];

	snprintf(hash, sizeof hash, "%016llx", (unsigned long long)o->hash);
	ev.tool = (struct event_tool){.session = turns_session(t->a->turns),
				      .channel = where->channel,
				      .turn = o->turn,
				      .call = o->id,
				      .name = o->tool,
				      .code = tool_code_name(o->code),
				      .arguments = hash,
				      .tainted = o->tainted,
				      .lasted_ms = o->ms,
				      .summary = o->text};
	bus_publish(t->a->bus, &ev);
}

static void perform(struct agent_tools *t, const struct tool_output *o)
{
	switch (o->type) {
	case TOOL_DO_BEGIN:
		tell_room(t, o, true);
		break;
	case TOOL_DO_END:
		tell_room(t, o, false);
		break;
	case TOOL_DO_START:
		start_call(t, o);
		break;
	case TOOL_DO_CANCEL:
		cancel_call(t, o);
		break;
	case TOOL_DO_SETTLE:
		publish(t, o);
		break;
	case TOOL_DO_JOURNAL:
	case TOOL_DO_ANSWER:
	case TOOL_DO_LATE:
	case TOOL_DO_LINE:
		break;
	}
}

/* ---- what the engines and the room tell ---- */

void agent_tools_call(struct agent_tools *t, const struct roles_event *ev)
{
	const struct engine_event *e = ev->engine;
	const struct room_turn *turn;
	bool speculative;

	if (!t)
		return;
	turn = room_active(t->a->room);
	speculative = room_speculates(t->a->room, ev->turn);
	if (speculative)
		t->held = ev->turn;
	feed(t, &(struct tool_input){.type = TOOL_IN_CALL,
				     .turn = ev->turn,
				     .user = turn && turn->id == ev->turn ? turn->user : 0,
				     .session = (uint64_t)ev->use << 32 | e->session,
				     .speculative = speculative,
				     .too_large = e->too_large,
				     .call = e->call,
				     .tool = e->tool,
				     .text = e->data});
}

void agent_tools_words(struct agent_tools *t, const struct roles_event *ev)
{
	const struct slice *words = &ev->engine->data;
	size_t n = words->n;

	if (!t || ev->use != ENGINE_USE_REPLY)
		return;
	if (t->said_turn != ev->turn)
		t->said_n = 0;
	t->said_turn = ev->turn;
	if (n > SAID_MAX - 1 - t->said_n)
		n = SAID_MAX - 1 - t->said_n;
	memcpy(t->said + t->said_n, words->p, n);
	t->said_n += n;
	t->said[t->said_n] = '\0';
}

void agent_tools_ask_again(struct agent_tools *t, uint32_t turn)
{
	struct agent *a;
	struct engine_message m[2 * TOOLS_CALLS + 1];
	size_t said, n;

	a = t->a;
	said = t->said_turn == turn && t->said_n;
	n = tools_run_messages(t->run, turn, m + said, 2 * TOOLS_CALLS);
	if (n && said)
		m[0] = (struct engine_message){
			.role = ENGINE_ASSISTANT, .speaker = "", .text = t->said};
	roles_go_on(a->roles, agent_reply_use(a), turn, n ? m : NULL, n ? n + said : 0);
	t->said_n = 0;
}

/* What no ask of the turn took goes to the provider alone: a call that is never answered would
 * hinder it. */
static void give_rest(struct agent_tools *t, uint32_t turn)
{
	struct engine_message m[2 * TOOLS_CALLS];
	size_t n = tools_run_messages(t->run, turn, m, 2 * TOOLS_CALLS);

	for (size_t i = 0; i < n; i++)
		if (m[i].role == ENGINE_RESULT)
			roles_result(t->a->roles, turn, m[i].call, m[i].text, m[i].failed);
}

void agent_tools_effect(struct agent_tools *t, const struct room_effect *e)
{
	if (!t)
		return;
	switch (e->type) {
	case ROOM_DO_TOOL_CANCEL:
		feed(t,
		     &(struct tool_input){.type = TOOL_IN_ABORT, .turn = e->turn, .user = e->user});
		break;
	case ROOM_DO_RECORD:
		feed(t, &(struct tool_input){.type = TOOL_IN_END,
					     .turn = e->record->id,
					     .user = e->record->user});
		give_rest(t, e->record->id);
		break;
	default:
		break;
	}
}

void agent_tools_audible(struct agent_tools *t, bool audible)
{
	if (t)
		feed(t, &(struct tool_input){.type = TOOL_IN_AUDIBLE, .ok = audible});
}

void agent_tools_left(struct agent_tools *t, uint64_t user)
{
	if (t)
		feed(t, &(struct tool_input){.type = TOOL_IN_LEFT, .user = user});
}

void agent_tools_settle(struct agent_tools *t)
{
	uint32_t turn = t ? t->held : 0;

	if (!turn || room_speculates(t->a->room, turn))
		return;
	t->held = 0;
	feed(t, &(struct tool_input){.type = TOOL_IN_COMMIT, .turn = turn});
}

/* ---- the host of the built-in tools ---- */

static json_t *tell_status(void *arg)
{
	const struct agent_tools *t = arg;
	json_t *people = json_array();
	const char *name;
	unsigned place = 0;

	while (people && (name = room_person(t->a->room, &place)))
		json_array_append_new(people, json_string(name));
	return json_pack("{s:o,s:I}", "people", people, "minutes",
			 (json_int_t)((env_now(t->a->env) - t->up_at) / (MINUTE_S * NS_PER_S)));
}

/* ---- coming and going ---- */

static int open_tools(struct agent_tools *t, struct http *http)
{
	const struct tool_host host = {.env = t->a->env,
				       .http = http,
				       .settings = t->a->settings,
				       .outputh = take_output,
				       .statush = tell_status,
				       .arg = t};
	int err = tools_registry_alloc(&t->registry);

	if (!err)
		err = tools_run_alloc(&t->run, t->registry, t->a->settings);
	if (!err)
		err = builtins_alloc(&t->builtins, &host);
	if (!err)
		err = builtins_add(t->builtins, t->registry);
	if (!err)
		err = tmr_alloc(&t->timer, t->a->env, timer_fired, t);
	t->out = calloc(1, sizeof *t->out);
	return !err && !t->out ? ENOMEM : err;
}

int agent_tools_alloc(struct agent_tools **out, struct agent *a, struct http *http)
{
	struct engine_tool list[TOOLS_MAX];
	struct agent_tools *t;
	int err;

	if (!a->settings->tools)
		return 0;
	t = calloc(1, sizeof *t);
	if (!t)
		return ENOMEM;
	t->a = a;
	t->last = &t->first;
	t->up_at = env_now(a->env);
	err = open_tools(t, http);
	if (err) {
		agent_tools_free(t);
		return err;
	}
	roles_tools(a->roles, list, tools_registry_list(t->registry, list));
	*out = t;
	return 0;
}

struct agent_tools *agent_tools_free(struct agent_tools *t)
{
	if (!t)
		return NULL;
	while (t->first) {
		struct later *l = t->first;

		t->first = l->next;
		free(l);
	}
	tmr_free(t->timer);
	tools_run_free(t->run);
	tools_registry_free(t->registry);
	builtins_free(t->builtins);
	free(t->out);
	free(t);
	return NULL;
}
