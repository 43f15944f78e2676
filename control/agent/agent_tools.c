#include "control/agent/agent_tools_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/agent/agent_memory.h"
#include "control/agent/agent_workers.h"
#include "control/agent/retrieval.h"
#include "control/delegate/delegates.h"
#include "control/mcp/servers.h"
#include "control/media/media.h"
#include "control/settings/settings.h"
#include "control/store/store.h"
#include "control/tools/agreement.h"
#include "control/tools/builtin/builtins.h"
#include "ipc/env.h"
#include "ipc/log.h"

/* Answers that no ask of the turn took go to the provider by themselves: an unanswered call would
 * block its session. */
static void give_rest(uint32_t turn, void *arg)
{
	struct agent_tools *t = arg;
	struct engine_message m[2 * TOOLS_CALLS];
	size_t n = tools_run_messages(t->run, turn, m, 2 * TOOLS_CALLS);

	for (size_t i = 0; i < n; i++)
		if (m[i].role == ENGINE_RESULT)
			roles_result(t->a->roles, turn, m[i].call, m[i].text, m[i].failed);
}

void agent_tools_feed(struct agent_tools *t, const struct tool_input *in)
{
	tool_calls_feed(t->calls, in);
}

struct holder {
	const struct agent *a;
	uint64_t user;
};

static bool holds_role(uint64_t role, void *arg)
{
	const struct holder *h = arg;

	return h->user && h->a->roleh && h->a->roleh(h->user, role, h->a->arg);
}

/* Administrators need no role. */
enum tool_rank agent_tools_rank(const struct agent *a, uint64_t user, const char *tool)
{
	struct holder holder = {a, user};
	enum tool_rank rank = user && a->rankh ? a->rankh(user, a->arg) : TOOL_RANK_EVERYONE;

	if (rank < TOOL_RANK_OWNER &&
	    !tool_policy_has_role(a->settings->tools_roles, tool, holds_role, &holder))
		return TOOL_RANK_BARRED;
	return rank;
}

/* ---- what the engines and the room tell ---- */

/* Words of several people may merge into one turn, and the model cannot tell reliably who wanted
 * a call. */
struct tool_asker agent_tools_asker(const struct agent *a, const struct room_turn *turn,
				    const char *tool)
{
	struct tool_asker asker = {.user = turn ? turn->user : 0};

	asker.rank = agent_tools_rank(a, asker.user, tool);
	for (unsigned i = 0; turn && i < turn->segments; i++) {
		enum tool_rank rank = agent_tools_rank(a, turn->segment[i].user, tool);

		asker.shared = asker.shared || turn->segment[i].user != asker.user;
		asker.rank = rank < asker.rank ? rank : asker.rank;
	}
	return asker;
}

/* A provider's session of one use. */
static uint64_t session_of(const struct roles_event *ev)
{
	return (uint64_t)ev->use << 32 | ev->engine->session;
}

void agent_tools_call(struct agent_tools *t, const struct roles_event *ev)
{
	const struct engine_event *e = ev->engine;
	const struct room_turn *turn;
	struct tool_asker asker;
	bool speculative;

	if (!t)
		return;
	turn = room_active(t->a->room);
	asker = agent_tools_asker(t->a, turn && turn->id == ev->turn ? turn : NULL, e->tool);
	speculative = room_speculates(t->a->room, ev->turn);
	agent_tools_feed(
		t, &(struct tool_input){.type = TOOL_IN_CALL,
					.turn = ev->turn,
					.user = asker.user,
					.rank = asker.rank,
					.shared = asker.shared,
					.session = session_of(ev),
					.speculative = speculative,
					.too_large = e->too_large,
					.call = e->call,
					.tool = e->tool,
					.language = room_language_now(t->a->room),
					.lead = t->lead.turn == ev->turn ? t->lead.text : NULL,
					.text = e->data});
}

void agent_tools_revoke(struct agent_tools *t, const struct roles_event *ev)
{
	if (t)
		agent_tools_feed(t, &(struct tool_input){.type = TOOL_IN_REVOKED,
							 .session = session_of(ev),
							 .call = ev->engine->call});
}

static void append_words(struct said *s, uint32_t turn, struct slice words)
{
	size_t n = words.n;

	if (s->turn != turn)
		s->n = 0;
	s->turn = turn;
	if (n > SAID_MAX - 1 - s->n)
		n = SAID_MAX - 1 - s->n;
	memcpy(s->text + s->n, words.p, n);
	s->n += n;
	s->text[s->n] = '\0';
}

void agent_tools_words(struct agent_tools *t, const struct roles_event *ev)
{
	if (!t)
		return;
	append_words(&t->lead, ev->turn, ev->engine->data);
	if (ev->use == ENGINE_USE_REPLY)
		append_words(&t->said, ev->turn, ev->engine->data);
}

const char *agent_tools_agreed(const struct agent_tools *t, uint32_t turn)
{
	return t ? tools_run_agreed(t->run, turn) : NULL;
}

void agent_tools_ask_again(struct agent_tools *t, uint32_t turn)
{
	struct agent *a;
	struct engine_message m[2 * TOOLS_CALLS + 1];
	size_t said, n;

	a = t->a;
	said = t->said.turn == turn && t->said.n;
	n = tools_run_messages(t->run, turn, m + said, 2 * TOOLS_CALLS);
	if (n && said)
		m[0] = (struct engine_message){
			.role = ENGINE_ASSISTANT, .speaker = "", .text = t->said.text};
	roles_go_on(a->roles, agent_reply_use(a), turn, n ? m : NULL, n ? n + said : 0);
	t->said.n = 0;
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

/* Reports the words that the turn's answer is based on, including words that joined the turn while
 * it waited and revised transcripts. A retried answer is based on the same words. */
static void tell_words(struct agent_tools *t, const struct room_turn *turn)
{
	char kept[TOOLS_NAME_MAX];
	struct tool_asker asker;

	if (!turn->user || t->told_words == turn->id)
		return;
	t->told_words = turn->id;
	tools_run_kept(t->run, turn->user, kept);
	asker = agent_tools_asker(t->a, turn, kept);
	agent_tools_feed(t, &(struct tool_input){.type = TOOL_IN_WORDS,
						 .turn = turn->id,
						 .user = asker.user,
						 .rank = asker.rank,
						 .shared = asker.shared,
						 .ok = tool_agrees(turn->transcript,
								   room_bot_name(t->a->room))});
}

static void note_quotes(struct agent_tools *t, const struct room_effect *e)
{
	if (e->writings || (e->quotes && agent_retrieval_quotes_others(t->a->retrieval)))
		agent_tools_feed(t, &(struct tool_input){.type = TOOL_IN_QUOTES, .turn = e->turn});
	if (e->titles)
		agent_tools_feed(t, &(struct tool_input){.type = TOOL_IN_TITLES});
}

/* A speculative answer may be rolled back, so its words wait until it is committed. */
static void take_ask(struct agent_tools *t, const struct room_effect *e)
{
	const struct room_turn *turn = room_active(t->a->room);
	uint32_t id = e->turn;

	note_quotes(t, e);
	if (!turn || turn->id != id)
		return;
	if (room_speculates(t->a->room, id))
		t->held = id;
	else
		tell_words(t, turn);
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
	else if (a->joinh(t->joins_for, t->joins, true, a->arg))
		log_warn("tool_join_failed", "turn=%u", turn);
}

static void take_record(struct agent_tools *t, const struct room_turn *record)
{
	agent_tools_feed(
		t, &(struct tool_input){.type = TOOL_IN_END,
					.turn = record->id,
					.ok = record->reason == ROOM_REASON_ANSWERED &&
					      record->samples_played,
					.superseded = record->reason == ROOM_REASON_SUPERSEDED,
					.user = record->user,
					.text = slice_str(record->answer)});
	/* "Never mind" ends the question as well. */
	if (record->user && record->reason == ROOM_REASON_CANCELLED)
		agent_tools_feed(t,
				 &(struct tool_input){.type = TOOL_IN_WORDS, .user = record->user});
	tell_found(t, record);
	go(t, record->id);
}

void agent_tools_effect(struct agent_tools *t, const struct room_effect *e)
{
	if (!t)
		return;
	switch (e->type) {
	case ROOM_DO_ASK:
		take_ask(t, e);
		break;
	case ROOM_DO_ASK_AGAIN:
		note_quotes(t, e);
		break;
	case ROOM_DO_TOOL_CANCEL:
		agent_tools_feed(
			t, &(struct tool_input){
				   .type = TOOL_IN_ABORT,
				   .turn = e->turn,
				   .user = e->user,
				   .ok = strcmp(e->text, room_reason_name(ROOM_REASON_CANCELLED)) ==
					 0});
		break;
	case ROOM_DO_RECORD:
		take_record(t, e->record);
		break;
	default:
		break;
	}
}

bool agent_tools_tainted(const struct agent_tools *t)
{
	return t && tools_run_tainted(t->run);
}

static const char soundboard[] = "soundboard";

/* A directive of an answer plays the same sounds as the tool, so the same rules hold for it. */
bool agent_tools_may_play(struct agent_tools *t, const struct agent *a, uint32_t id)
{
	const struct room_turn *turn = room_active(a->room);
	const struct tool *tool = t ? tools_registry_find(t->registry, soundboard) : NULL;
	struct tool_asker asker;
	struct tool_output o = {.turn = id, .tool = soundboard, .text = ""};
	enum tool_verdict verdict;

	if (!tool)
		return !tool_policy_lists(a->settings->tools_off, soundboard);
	asker = agent_tools_asker(a, turn && turn->id == id ? turn : NULL, soundboard);
	verdict = tools_run_judge_effect(t->run,
					 &(struct tool_request){.row = &tool->row,
								.user = asker.user,
								.rank = asker.rank,
								.shared = asker.shared,
								.arguments = "{}"},
					 id, env_now(a->env));
	o.user = asker.user;
	o.tainted = tools_run_tainted(t->run);
	if (verdict != TOOL_ALLOWED)
		o.code = verdict == TOOL_ASK ? TOOL_CODE_NEEDS_YES : TOOL_CODE_DENIED;
	agent_tools_publish(t, &o, EVENT_TOOL_CALLED, 0);
	return verdict == TOOL_ALLOWED;
}

void agent_tools_audible(struct agent_tools *t, bool audible)
{
	if (t)
		agent_tools_feed(t, &(struct tool_input){.type = TOOL_IN_AUDIBLE, .ok = audible});
}

void agent_tools_recalled(struct agent_tools *t)
{
	if (t)
		agent_tools_feed(t, &(struct tool_input){.type = TOOL_IN_RECALLED});
}

void agent_tools_show(struct agent_tools *t, uint32_t turn)
{
	if (t)
		tools_run_shown(t->run, turn);
}

void agent_tools_left(struct agent_tools *t, uint64_t user)
{
	if (t)
		agent_tools_feed(t, &(struct tool_input){.type = TOOL_IN_LEFT, .user = user});
}

void agent_tools_forget(struct agent_tools *t, uint64_t user, bool heard)
{
	if (!t)
		return;
	if (!heard)
		agent_tools_feed(t, &(struct tool_input){.type = TOOL_IN_ABORT, .user = user});
	delegate_seat_forget(t->delegate);
}

void agent_tools_settle(struct agent_tools *t)
{
	uint32_t turn = t ? t->held : 0;
	const struct room_turn *active;

	if (!turn || room_speculates(t->a->room, turn))
		return;
	t->held = 0;
	active = room_active(t->a->room);
	if (active && active->id == turn)
		tell_words(t, active);
	agent_tools_feed(t, &(struct tool_input){.type = TOOL_IN_COMMIT, .turn = turn});
}

/* ---- workers that are models ---- */

static enum tool_verdict judge_worker_call(const struct tool_request *request, void *arg)
{
	const struct agent *a = arg;
	struct tool_request ranked = *request;

	ranked.rank = agent_tools_rank(a, request->user, request->row->name);
	return tools_run_judge(a->tools->run, &ranked, env_now(a->env));
}

static void publish_worker_call(const struct tool_output *o, void *arg)
{
	const struct agent *a = arg;

	agent_tools_publish(a->tools, o,
			    o->type == TOOL_DO_JOURNAL ? EVENT_TOOL_BEGAN : EVENT_TOOL_CALLED, 0);
}

void agent_tools_worker(struct agent_tools *t, const struct roles_event *ev, uint64_t cost)
{
	if (t)
		agent_worker_event(t->delegate, ev, cost);
}

/* ---- coming and going ---- */

static bool is_off(const struct settings *s, const char *tool)
{
	return tool_policy_lists(s->tools_off, tool) ||
	       (s->soundboard == SETTINGS_SOUNDBOARD_OFF && strcmp(tool, soundboard) == 0);
}

enum { SOUNDBOARD_MAX = 1000 }; /* bytes of a description with all names */

/* The tools as they are now, but those that are switched off. */
static size_t list_tools(const struct agent_tools *t, struct engine_tool list[TOOLS_MAX])
{
	size_t n = tools_registry_list(t->registry, list), kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!is_off(t->a->settings, list[i].name))
			list[kept++] = list[i];
	return kept;
}

json_t *agent_tools_shown(const struct agent_tools *t)
{
	struct engine_tool list[TOOLS_MAX];
	size_t n = t ? list_tools(t, list) : 0;
	json_t *all = json_array();

	for (size_t i = 0; i < n; i++) {
		const char *server = strstr(list[i].name, "__");

		json_array_append_new(
			all, json_pack("{s:s,s:s,s:o}", "name", list[i].name, "toolType",
				       server ? "mcp" : "function", "serverName",
				       server ? json_stringn(list[i].name,
							     (size_t)(server - list[i].name))
					      : json_null()));
	}
	return all;
}

/* Sessions get them. The one that plays sounds names them. */
static void tell_tools(void *arg)
{
	const struct agent_tools *t = arg;
	struct engine_tool list[TOOLS_MAX];
	size_t n = list_tools(t, list);
	const char *sounds = room_sound_names(t->a->room);
	char described[SOUNDBOARD_MAX];

	for (size_t i = 0; *sounds && i < n; i++)
		if (strcmp(list[i].name, soundboard) == 0) {
			snprintf(described, sizeof described, "%s The sounds: %s.",
				 list[i].description, sounds);
			list[i].description = described;
		}
	roles_tools(t->a->roles, list, n);
	roles_search(t->a->roles,
		     t->provider_search && tool_policy_is_free(t->a->settings, "web_search"));
}

void agent_tools_settings(struct agent_tools *t)
{
	if (t)
		tell_tools(t);
}

static int open_tools(struct agent_tools *t, struct http *http)
{
	const struct tool_host host = agent_tools_host(t, http);
	struct tool_room room;
	const struct tool_calls_conf calls = {.env = t->a->env,
					      .store = t->a->store,
					      .settings = t->a->settings,
					      .wordsh = agent_tools_words_of,
					      .outputh = agent_tools_take,
					      .publishh = agent_tools_tell,
					      .spendh = agent_tools_spend,
					      .overh = give_rest,
					      .arg = t};
	int err = tool_calls_alloc(&t->calls, &calls);

	t->provider_search = t->a->settings->search == SETTINGS_SEARCH_PROVIDER;
	if (err)
		return err;
	t->registry = tool_calls_registry(t->calls);
	t->run = tool_calls_run(t->calls);
	err = agent_memory_alloc(&t->memory, t->a, agent_tools_output, t);
	if (!err)
		err = builtins_alloc(&t->builtins, &host);
	if (!err)
		err = builtins_add(t->builtins, t->registry);
	room = (struct tool_room){t->registry, host, tell_tools};
	if (!err && t->a->mcp)
		err = mcp_seat_alloc(&t->mcp, t->a->mcp, &room);
	if (!err && t->a->delegates)
		err = delegate_seat_alloc(&t->delegate, t->a->delegates, &room,
					  &(struct delegate_model){.askh = agent_worker_ask,
								   .stoph = agent_worker_stop,
								   .model_arg = t->a,
								   .judgeh = judge_worker_call,
								   .calledh = publish_worker_call,
								   .arg = t->a});
	return err;
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

struct agent_tools *agent_tools_free(struct agent_tools *t)
{
	if (!t)
		return NULL;
	/* The room hears no more of them. */
	tool_calls_end(t->calls);
	delegate_seat_free(t->delegate); /* cancels calls of servers, too */
	mcp_seat_free(t->mcp);
	tool_calls_free(t->calls);
	builtins_free(t->builtins);
	agent_memory_free(t->memory);
	free(t);
	return NULL;
}
