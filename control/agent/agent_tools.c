#include "control/agent/agent_tools.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/agent/agent_memory.h"
#include "control/agent/agent_workers.h"
#include "control/agent/inside.h"
#include "control/delegate/delegates.h"
#include "control/mcp/servers.h"
#include "control/media/media.h"
#include "control/room/answer/tool_results.h"
#include "control/settings/settings.h"
#include "control/store/store.h"
#include "control/tools/agreement.h"
#include "control/tools/builtin/builtins.h"
#include "control/tools/run.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

enum { SAID_MAX = 4096, MINUTE_S = 60 };
/* The chunk of a sound that a tool plays; those of answers are small numbers. */
#define TOOL_CHUNK UINT32_MAX

/* An input that came while another one was performed. */
struct later {
	struct later *next;
	struct tool_input in;
	uint8_t text[];
};

/* A call whose row is being written. */
struct written {
	struct agent_tools *t; /* NULL: free */
	uint32_t id;
};

struct agent_tools {
	struct agent *a;
	struct written written[TOOLS_CALLS];
	struct tools_registry *registry;
	struct tools_run *run;
	struct builtins *builtins;
	struct agent_memory *memory;
	struct mcp_seat *mcp;		/* NULL: no servers */
	struct delegate_seat *delegate; /* NULL: no workers */
	struct tmr *timer;
	struct tool_outputs *out;
	bool performing;
	struct later *first, **last;
	uint64_t up_at;
	/* Once this turn is over: goes, to the channel of this name or altogether. 0: neither. */
	uint32_t leaves_after;
	char joins[128];
	/* Results of this turn's searches, for the text channel. */
	uint32_t found_turn;
	unsigned n_found;
	struct words found;
	/* Costs of the calls that still run. */
	struct spent {
		uint32_t id; /* 0: a free place */
		struct tool_cost cost;
		char service[64];
	} spent[TOOLS_CALLS];
	uint32_t held; /* a turn whose answer was speculative when it called; 0: none */
	/* The words of this turn's answer before its calls. */
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

/* The strings of an input live until its effects were performed. */
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

static enum tool_rank rank_of(const struct agent *a, uint64_t user)
{
	return user && a->rankh ? a->rankh(user, a->arg) : TOOL_RANK_EVERYONE;
}

static void take_output(uint32_t id, bool ok, struct slice text, void *arg)
{
	struct agent_tools *t = arg;

	if (id & DELEGATE_NUMBER) {
		delegate_seat_output(t->delegate, id, ok, text);
		return;
	}
	feed(t, &(struct tool_input){.type = TOOL_IN_OUTPUT, .id = id, .ok = ok, .text = text});
}

static void take_cost(uint32_t id, const struct tool_cost *cost, void *arg)
{
	struct agent_tools *t = arg;
	unsigned i = 0;

	if (id & DELEGATE_NUMBER) {
		agent_spend_tool(t->a, 0, "worker", cost);
		return;
	}
	while (i < TOOLS_CALLS && t->spent[i].id)
		i++;
	if (i == TOOLS_CALLS)
		return;
	t->spent[i] = (struct spent){.id = id, .cost = *cost};
	snprintf(t->spent[i].service, sizeof t->spent[i].service, "%s", cost->service);
	t->spent[i].cost.service = t->spent[i].service;
}

/* The call is over. */
static uint64_t count_cost(struct agent_tools *t, const struct tool_output *o)
{
	uint64_t nano = 0;

	for (unsigned i = 0; i < TOOLS_CALLS; i++)
		if (t->spent[i].id == o->id && o->id) {
			nano += agent_spend_tool(t->a, o->turn, o->tool, &t->spent[i].cost);
			t->spent[i].id = 0;
		}
	return nano;
}

static void take_progress(uint32_t id, const char *text, void *arg)
{
	if (id & DELEGATE_NUMBER)
		return;
	feed(arg,
	     &(struct tool_input){.type = TOOL_IN_PROGRESS, .id = id, .text = slice_str(text)});
}

/* ---- what the run decides ---- */

static void start_call(struct agent_tools *t, const struct tool_output *o)
{
	const struct tool *tool = tools_registry_find(t->registry, o->tool);
	const struct room_turn *turn = room_active(t->a->room);
	const struct tool_start call = {.id = o->id,
					.turn = o->turn,
					.words =
						turn && turn->id == o->turn ? turn->transcript : "",
					.user = o->user,
					.tainted = o->tainted,
					.tool = o->tool,
					.arguments = o->arguments};
	int err = tool ? tool->shell->start(&call, tool->arg) : ENOENT;

	if (err)
		take_output(o->id, false, slice_str(strerror(err)), t);
}

/* Its row may be gone: a server can take a tool from its list while a call of it runs. */
static void cancel_call(const struct tool_output *o)
{
	if (o->shell && o->shell->cancel)
		o->shell->cancel(o->id, o->shell_arg);
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

static void publish(struct agent_tools *t, const struct tool_output *o, enum event_type type)
{
	const struct media_want *where = media_call_want(t->a->call);
	struct bus_event ev = {.type = type,
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
	if (type == EVENT_TOOL_CALLED)
		ev.tool.nano = count_cost(t, o);
	bus_publish(t->a->bus, &ev);
}

/* Its row is on the disk, or shed. */
static void take_written(int err, void *arg)
{
	struct written *w = arg;
	struct agent_tools *t = w->t;
	uint32_t id = w->id;

	w->t = NULL;
	feed(t, &(struct tool_input){.type = TOOL_IN_WRITTEN, .id = id, .ok = !err});
}

static struct written *find_written(struct agent_tools *t)
{
	for (unsigned i = 0; i < TOOLS_CALLS; i++)
		if (!t->written[i].t)
			return &t->written[i];
	return NULL;
}

/* Without a store there is no crash after which it could be made again. */
static void record_call(struct agent_tools *t, const struct tool_output *o)
{
	struct written *w = o->await && t->a->store ? find_written(t) : NULL;
	int err = o->await && t->a->store && !w ? ENOSPC : 0;

	publish(t, o, EVENT_TOOL_BEGAN);
	if (!o->await)
		return;
	if (w) {
		*w = (struct written){.t = t, .id = o->id};
		err = store_sync(t->a->store, take_written, w);
		if (!err)
			return;
		w->t = NULL;
	}
	feed(t, &(struct tool_input){.type = TOOL_IN_WRITTEN, .id = o->id, .ok = !err});
}

static void tell_late(struct agent_tools *t, const struct tool_output *o)
{
	char line[ROOM_RESULT_MAX], *cut;
	enum tool_how how = tool_late_how(o->late);

	log_info("tool_late", "call=%u tool=%s late=%s", o->id, o->tool, tool_late_name(o->late));
	if (how == TOOL_LATE_DROP)
		return;
	cut = tool_envelope_cut(o->text, sizeof line - strlen(o->tool) - 3);
	snprintf(line, sizeof line, "%s: %s", o->tool, cut ? cut : "");
	free(cut);
	agent_feed(t->a, &(struct room_event){.type = ROOM_TOOL_RESULT,
					      .user = o->user,
					      .tainted = o->taints,
					      .yes = how == TOOL_LATE_SPEAK,
					      .text = slice_str(line)});
}

static void tell_progress(struct agent_tools *t, const struct tool_output *o)
{
	char line[ROOM_TEXT_MAX];

	snprintf(line, sizeof line, "%s is still at work, not done. It is doing: \"%s\"", o->tool,
		 o->text);
	agent_feed(t->a, &(struct room_event){.type = ROOM_TOOL_RESULT,
					      .user = o->user,
					      .tainted = o->taints,
					      .yes = true,
					      .text = slice_str(line)});
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
		cancel_call(o);
		break;
	case TOOL_DO_SETTLE:
		publish(t, o, EVENT_TOOL_CALLED);
		break;
	case TOOL_DO_JOURNAL:
		record_call(t, o);
		break;
	case TOOL_DO_LATE:
		tell_late(t, o);
		break;
	case TOOL_DO_LINE:
		agent_feed(t->a, &(struct room_event){
					 .type = ROOM_TOOL_WAIT, .turn = o->turn, .chunk = o->n});
		break;
	case TOOL_DO_PROGRESS:
		tell_progress(t, o);
		break;
	case TOOL_DO_JOBS:
		agent_feed(t->a, &(struct room_event){
					 .type = ROOM_TOOL_JOBS, .user = o->user, .chunk = o->n});
		break;
	case TOOL_DO_ANSWER:
		break;
	}
}

/* ---- what the engines and the room tell ---- */

void agent_tools_call(struct agent_tools *t, const struct roles_event *ev)
{
	const struct engine_event *e = ev->engine;
	const struct room_turn *turn;
	uint64_t user;
	bool speculative;

	if (!t)
		return;
	turn = room_active(t->a->room);
	user = turn && turn->id == ev->turn ? turn->user : 0;
	speculative = room_speculates(t->a->room, ev->turn);
	if (speculative)
		t->held = ev->turn;
	feed(t, &(struct tool_input){.type = TOOL_IN_CALL,
				     .turn = ev->turn,
				     .user = user,
				     .rank = rank_of(t->a, user),
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

/* Outputs that no ask of the turn took go to the provider alone: a call that is never answered
 * would hinder it. */
static void give_rest(struct agent_tools *t, uint32_t turn)
{
	struct engine_message m[2 * TOOLS_CALLS];
	size_t n = tools_run_messages(t->run, turn, m, 2 * TOOLS_CALLS);

	for (size_t i = 0; i < n; i++)
		if (m[i].role == ENGINE_RESULT)
			roles_result(t->a->roles, turn, m[i].call, m[i].text, m[i].failed);
}

/* The links of an answer that nobody heard are of no use. */
static void tell_found(struct agent_tools *t, const struct room_turn *record)
{
	if (record->id != t->found_turn)
		return;
	if (t->n_found && record->samples_played && t->a->tellh)
		t->a->tellh(&t->found, t->a->arg);
	t->found_turn = 0;
}

/* The turn that wanted to go is over, its goodbye said. */
static void go(struct agent_tools *t, uint32_t turn)
{
	struct agent *a = t->a;

	if (!turn || t->leaves_after != turn)
		return;
	t->leaves_after = 0;
	if (!*t->joins)
		agent_leave(a, "assistant_leave_directive");
	else if (a->joinh(t->joins, a->arg))
		log_warn("tool_join_failed", "turn=%u", turn);
}

void agent_tools_effect(struct agent_tools *t, const struct room_effect *e)
{
	if (!t)
		return;
	switch (e->type) {
	case ROOM_DO_ADMIT:
		feed(t, &(struct tool_input){.type = TOOL_IN_WORDS,
					     .user = e->record->user,
					     .ok = tool_agrees(e->record->transcript,
							       room_bot_name(t->a->room))});
		break;
	case ROOM_DO_TOOL_CANCEL:
		feed(t,
		     &(struct tool_input){
			     .type = TOOL_IN_ABORT,
			     .turn = e->turn,
			     .user = e->user,
			     .ok = strcmp(e->text, room_reason_name(ROOM_REASON_CANCELLED)) == 0});
		break;
	case ROOM_DO_RECORD:
		feed(t, &(struct tool_input){.type = TOOL_IN_END,
					     .turn = e->record->id,
					     .ok = e->record->reason == ROOM_REASON_ANSWERED &&
						   e->record->samples_played,
					     .user = e->record->user});
		give_rest(t, e->record->id);
		tell_found(t, e->record);
		go(t, e->record->id);
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

static int write_text(const char *text, void *arg)
{
	const struct agent_tools *t = arg;
	struct words words = {0};

	if (!t->a->tellh)
		return ENOTSUP;
	utf8_copy(words.text, sizeof words.text, text);
	words.n = strlen(words.text);
	t->a->tellh(&words, t->a->arg);
	return 0;
}

static void keep_link(uint32_t turn, const char *title, const char *url, void *arg)
{
	struct agent_tools *t = arg;

	if (turn & DELEGATE_NUMBER)
		return; /* the worker names its sources itself */
	if (t->found_turn != turn) {
		t->found = (struct words){0};
		t->n_found = 0;
	}
	t->found_turn = turn;
	if (t->n_found >= t->a->settings->search_links)
		return;
	if (t->n_found++)
		words_line(&t->found);
	words_found_link(&t->found, title, url);
}

/* The call's number takes the place of the turn's. */
static int play_sound(uint32_t id, const char *name, void *arg)
{
	const struct agent_tools *t = arg;

	return t->a->soundh ? t->a->soundh(id, TOOL_CHUNK, name, t->a->arg) : ENOTSUP;
}

bool agent_tools_sounded(struct agent_tools *t, uint32_t turn, uint32_t chunk, int err)
{
	if (!t || chunk != TOOL_CHUNK)
		return false;
	take_output(turn, !err, slice_str(err ? strerror(err) : "{\"played\":true}"), t);
	return true;
}

static int leave_after(uint32_t turn, void *arg)
{
	struct agent_tools *t = arg;

	t->leaves_after = turn;
	t->joins[0] = '\0';
	return 0;
}

static int join_after(uint32_t turn, const char *name, void *arg)
{
	struct agent_tools *t = arg;

	if (!t->a->joinh)
		return ENOTSUP;
	t->leaves_after = turn;
	utf8_copy(t->joins, sizeof t->joins, name);
	return 0;
}

static int search_said(uint32_t id, const struct tool_said *what, void *arg)
{
	const struct agent_tools *t = arg;

	return agent_memory_search(t->memory, id, what);
}

static bool remembers(void *arg)
{
	const struct agent_tools *t = arg;

	return agent_memory_keeps(t->memory);
}

static uint64_t guild_of(void *arg)
{
	const struct agent_tools *t = arg;

	return media_call_want(t->a->call)->guild;
}

static int ask_memory(uint32_t id, const struct tool_memory *what, void *arg)
{
	const struct agent_tools *t = arg;

	return agent_memory_facts(t->memory, id, what);
}

/* ---- workers that are models ---- */

static enum tool_verdict judge_worker_call(const struct tool_request *request, void *arg)
{
	const struct agent *a = arg;
	struct tool_request ranked = *request;

	ranked.rank = rank_of(a, request->user);
	return tools_run_judge(a->tools->run, &ranked, env_now(a->env));
}

static void publish_worker_call(const struct tool_output *o, void *arg)
{
	const struct agent *a = arg;

	publish(a->tools, o, o->type == TOOL_DO_JOURNAL ? EVENT_TOOL_BEGAN : EVENT_TOOL_CALLED);
}

void agent_tools_worker(struct agent_tools *t, const struct roles_event *ev, uint64_t cost)
{
	if (t)
		agent_worker_event(t->delegate, ev, cost);
}

/* ---- coming and going ---- */

/* Sessions get the tools as they are now, but those that are switched off. */
static void tell_tools(void *arg)
{
	const struct agent_tools *t = arg;
	struct engine_tool list[TOOLS_MAX];
	size_t n = tools_registry_list(t->registry, list), kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!tool_policy_lists(t->a->settings->tools_off, list[i].name))
			list[kept++] = list[i];
	roles_tools(t->a->roles, list, kept);
}

void agent_tools_settings(struct agent_tools *t)
{
	if (t)
		tell_tools(t);
}

static int open_tools(struct agent_tools *t, struct http *http)
{
	const struct tool_host host = {.env = t->a->env,
				       .http = http,
				       .settings = t->a->settings,
				       .outputh = take_output,
				       .costh = take_cost,
				       .progressh = take_progress,
				       .statush = tell_status,
				       .writeh = write_text,
				       .linkh = keep_link,
				       .soundh = play_sound,
				       .leaveh = leave_after,
				       .joinh = join_after,
				       .searchh = search_said,
				       .rememberh = remembers,
				       .guildh = guild_of,
				       .memoryh = ask_memory,
				       .arg = t};
	struct tool_room room;
	int err = tools_registry_alloc(&t->registry);

	if (!err)
		err = tools_run_alloc(&t->run, t->registry, t->a->settings);
	if (!err)
		err = agent_memory_alloc(&t->memory, t->a, take_output, t);
	if (!err)
		err = builtins_alloc(&t->builtins, &host);
	if (!err)
		err = builtins_add(t->builtins, t->registry);
	room = (struct tool_room){t->registry, host, tell_tools};
	if (!err && t->a->mcp)
		err = mcp_seat_alloc(&t->mcp, t->a->mcp, &room);
	if (!err && t->a->delegates)
		err = delegate_seat_alloc(
			&t->delegate, t->a->delegates, &room,
			&(struct delegate_model){agent_worker_ask, agent_worker_stop,
						 judge_worker_call, publish_worker_call, t->a});
	if (!err)
		err = tmr_alloc(&t->timer, t->a->env, timer_fired, t);
	t->out = calloc(1, sizeof *t->out);
	return !err && !t->out ? ENOMEM : err;
}

int agent_tools_alloc(struct agent_tools **out, struct agent *a, struct http *http)
{
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
	tell_tools(t);
	*out = t;
	return 0;
}

/* The calls in flight are cancelled at their servers, and their rows settled. The room hears no
 * more of them. */
static void end_calls(struct agent_tools *t)
{
	if (!t->run || !t->out)
		return;
	tools_run_step(t->run, &(struct tool_input){.type = TOOL_IN_ABORT}, env_now(t->a->env),
		       t->out);
	for (size_t i = 0; i < t->out->n; i++) {
		const struct tool_output *o = &t->out->v[i];

		if (o->type == TOOL_DO_CANCEL)
			cancel_call(o);
		else if (o->type == TOOL_DO_SETTLE)
			publish(t, o, EVENT_TOOL_CALLED);
	}
}

struct agent_tools *agent_tools_free(struct agent_tools *t)
{
	if (!t)
		return NULL;
	end_calls(t);
	for (unsigned i = 0; i < TOOLS_CALLS && t->a->store; i++)
		store_forget(t->a->store, &t->written[i]);
	while (t->first) {
		struct later *l = t->first;

		t->first = l->next;
		free(l);
	}
	delegate_seat_free(t->delegate); /* cancels calls of servers, too */
	mcp_seat_free(t->mcp);
	tmr_free(t->timer);
	tools_run_free(t->run);
	tools_registry_free(t->registry);
	builtins_free(t->builtins);
	agent_memory_free(t->memory);
	free(t->out);
	free(t);
	return NULL;
}
