/* The tools of a channel: its calls and what comes of them (inside.h).
 *
 * A channel has a seat from its first question on that may have tools. A seat that is not used
 * gives way to another one; whether text of strangers was read in it is remembered. */
#include "control/text_session/tools_inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/agent/usage_event.h"
#include "control/engine/roles.h"
#include "control/delegate/delegates.h"
#include "control/events/events.h"
#include "control/ledger/ledger.h"
#include "control/mcp/servers.h"
#include "control/room/language/language.h"
#include "control/settings/settings.h"
#include "control/text/text_chat.h"
#include "control/tools/builtin/builtins.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"
#include "proto/media.h"

enum { RESULT_BYTES = 4000 /* of the output of a call that went on */ };

/* ---- what the calls cause ---- */

static struct text_job *job_of(const struct text_seat *seat, uint32_t reply)
{
	struct text_job *job = text_asking_find(seat->g, reply);

	return job && job->channel == seat->channel && job->state == TEXT_JOB_ASKED ? job : NULL;
}

static const char *words_of(uint32_t reply, void *arg)
{
	const struct text_job *job = job_of(arg, reply);

	return job && job->words ? job->words : "";
}

static void tell_core(const struct text_seat *seat, struct text_event ev)
{
	ev.guild = seat->g->id;
	ev.channel = seat->channel;
	text_session_feed(seat->g, &ev);
}

static void tell_at_work(const struct text_job *job)
{
	tell_core(job->seat,
		  (struct text_event){.type = TEXT_TOOLS, .reply = job->reply, .n = job->at_work});
}

static void take_end(const struct text_seat *seat, const struct tool_output *o)
{
	struct text_job *job = job_of(seat, o->turn);

	/* Without a seat it is over, and nobody waits for its calls. */
	if (!job || !job->at_work || !job->seat)
		return;
	job->at_work--;
	job->follow |= o->follow;
	if (job->at_work)
		return;
	tell_at_work(job);
	job = job_of(seat, o->turn);
	if (job && job->passed)
		text_asking_passed(job);
}

/* The question that names the call is asked whatever the model says. Each person has one call that
 * waits. */
static void take_answer(const struct text_seat *seat, const struct tool_output *o)
{
	struct text_job *job = o->code == TOOL_CODE_NEEDS_YES ? job_of(seat, o->turn) : NULL;
	json_t *root = job ? json_loads(o->text, 0, NULL) : NULL;
	const char *question =
		json_string_value(json_object_get(json_object_get(root, "error"), "question"));

	if (job && question) {
		free(job->question);
		job->question = strdup(question);
		job->wants_yes++;
		tell_core(seat, (struct text_event){.type = TEXT_REPLACED, .user = job->user});
	}
	json_decref(root);
}

static void tell_late(const struct text_seat *seat, const struct tool_output *o)
{
	char line[RESULT_BYTES], *cut;

	log_info("tool_late", "call=%u tool=%s late=%s", o->id, o->tool, tool_late_name(o->late));
	if (tool_late_how(o->late) != TOOL_LATE_SPEAK)
		return;
	cut = tool_envelope_cut(o->text, sizeof line - strlen(o->tool) - 3);
	snprintf(line, sizeof line, "%s: %s", o->tool, cut ? cut : "");
	free(cut);
	tell_core(seat, (struct text_event){.type = TEXT_RESULT,
					    .user = o->user,
					    .reply = o->turn,
					    .text = line,
					    .strangers = o->taints});
}

static void take_output(const struct tool_output *o, void *arg)
{
	const struct text_seat *seat = arg;
	struct text_job *job;

	switch (o->type) {
	case TOOL_DO_BEGIN:
		job = job_of(seat, o->turn);
		if (job && job->seat && job->at_work++ == 0)
			tell_at_work(job);
		break;
	case TOOL_DO_ANSWER:
		take_answer(seat, o);
		break;
	case TOOL_DO_END:
		take_end(seat, o);
		break;
	case TOOL_DO_LATE:
		tell_late(seat, o);
		break;
	case TOOL_DO_JOBS:
		tell_core(seat, (struct text_event){.type = TEXT_JOBS_TOLD,
						    .user = o->user,
						    .reply = o->turn,
						    .n = o->n});
		break;
	default: /* nothing is heard in between, and nobody is told how a long call goes on */
		break;
	}
}

/* Operators see an output, and the store keeps it, as in voice: it may repeat words and pictures of
 * everybody of whom the model was told. */
static bool may_tell_output(const struct text_guild *g, const struct tool_output *o)
{
	return g->id && o->user && g->ts->conf.remembersh(g->id, o->user, g->ts->conf.arg) &&
	       text_keeping_of(g, o->turn) && !tool_output_is_of_memory(o);
}

/* A call of an answer that is under way begins. From now on it cannot be asked for again. */
static void note_act(const struct text_seat *seat, const struct tool_output *o)
{
	const struct text_job *job = job_of(seat, o->turn);

	if (job)
		tell_core(seat, (struct text_event){.type = TEXT_TOOLS,
						    .reply = job->reply,
						    .n = job->at_work,
						    .yes = true});
}

static void write_mac(struct text_session *ts, uint64_t hash, char out[ARGUMENTS_MAC])
{
	if (!ts->keyed)
		env_random(ts->conf.env, ts->arguments_key, sizeof ts->arguments_key);
	ts->keyed = true;
	arguments_mac(ts->arguments_key, hash, out);
}

void text_tools_publish(const struct text_seat *seat, const struct tool_output *o,
			enum event_type type, uint64_t call, uint64_t nano)
{
	const struct text_session_conf *c = &seat->g->ts->conf;
	struct bus_event ev = {
		.type = type, .at_ms = env_wall_ms(c->env), .guild = seat->g->id, .user = o->user};
	char mac[ARGUMENTS_MAC], bare[TOOL_SUMMARY_MAX];
	bool may = may_tell_output(seat->g, o);

	tool_envelope_bare_summary(tool_output_name(o), o->code, bare, sizeof bare);
	if (may)
		write_mac(seat->g->ts, o->hash, mac);
	ev.tool = (struct event_tool){.channel = seat->channel,
				      .turn = o->turn,
				      .call = call,
				      .name = tool_output_name(o),
				      .code = tool_code_name(o->code),
				      .arguments = may ? mac : NULL,
				      .tainted = o->tainted,
				      .lasted_ms = o->ms,
				      .summary = !o->text || may ? o->text : bare,
				      .nano = nano};
	bus_publish(c->bus, &ev);
}

static void publish(const struct tool_output *o, enum event_type type, uint64_t nano, void *arg)
{
	const struct text_seat *seat = arg;

	text_tools_publish(seat, o, type, seat->numbers + o->id, nano);
	if (type == EVENT_TOOL_BEGAN && o->acts)
		note_act(seat, o);
}

static uint64_t spend(uint32_t reply, const char *tool, const struct tool_cost *cost, void *arg)
{
	const struct text_seat *seat = arg;
	const struct text_session_conf *c = &seat->g->ts->conf;
	struct bus_event out = {
		.type = EVENT_ENGINE_USED, .at_ms = env_wall_ms(c->env), .guild = seat->g->id};

	if (cost->counted)
		return cost->nano;
	usage_event_fill_tool(&out.usage, seat->g->settings, tool, cost);
	out.usage.turn = reply ? seat->g->numbers + reply : 0;
	out.usage.channel = seat->channel;
	if (c->ledger)
		ledger_add(c->ledger, seat->g->id, out.usage.nano, out.at_ms);
	bus_publish(c->bus, &out);
	return out.usage.nano;
}

/* ---- seats ---- */

/* The place of the channel, or of the one that was noted the longest time ago. */
static void note_tainted(struct text_session *ts, uint64_t channel)
{
	struct text_tainted *at = ts->tainted;
	unsigned i = 0;

	while (i < ts->n_tainted && ts->tainted[i].channel != channel)
		i++;
	if (i == TEXT_TAINTED) {
		for (unsigned k = 1; k < TEXT_TAINTED; k++)
			at = ts->tainted[k].at < at->at ? &ts->tainted[k] : at;
		ts->taint_lost_at = at->at;
	} else {
		at = &ts->tainted[i];
		ts->n_tainted += i == ts->n_tainted;
	}
	*at = (struct text_tainted){channel, env_now(ts->conf.env)};
}

/* The list may have lost it, as long as lines from then may be told. */
static bool was_tainted(const struct text_guild *g, uint64_t channel)
{
	const struct text_session *ts = g->ts;
	uint64_t hours = g->settings->store_words_hours ? g->settings->store_words_hours : 1;

	for (unsigned i = 0; i < ts->n_tainted; i++)
		if (ts->tainted[i].channel == channel)
			return true;
	return ts->taint_lost_at &&
	       env_now(ts->conf.env) - ts->taint_lost_at < hours * 3600 * NS_PER_S;
}

static void seat_free(struct text_seat *seat)
{
	struct text_seat **at = &seat->g->seats;
	struct text_session *ts = seat->g->ts;

	while (*at && *at != seat)
		at = &(*at)->next;
	if (*at) {
		*at = seat->next;
		ts->n_seats--;
	}
	/* An answer that is being sent goes on without. */
	for (struct text_job *j = seat->g->jobs; j; j = j->next)
		if (j->seat == seat)
			j->seat = NULL;
	if (seat->calls && tools_run_tainted(tool_calls_run(seat->calls)))
		note_tainted(ts, seat->channel);
	tool_calls_end(seat->calls);
	text_workers_free(seat); /* cancels calls of servers, too */
	mcp_seat_free(seat->mcp);
	tool_calls_free(seat->calls);
	builtins_free(seat->builtins);
	text_tool_memory_free(seat);
	text_lookup_cancel(0, seat);
	free(seat);
}

/* A question for a yes alone may give way, as a last resort: nobody can agree to it any more. */
static bool is_at_work(const struct text_seat *seat)
{
	for (const struct text_job *j = seat->g->jobs; j; j = j->next)
		if (j->channel == seat->channel)
			return true;
	return tool_calls_performs(seat->calls) || tools_run_open(tool_calls_run(seat->calls)) > 0;
}

static bool is_used(const struct text_seat *seat)
{
	return is_at_work(seat) || text_agreeing_waits(seat->g, seat->channel);
}

static unsigned count_seats(const struct text_guild *g)
{
	unsigned n = 0;

	for (const struct text_seat *s = g->seats; s; s = s->next)
		n++;
	return n;
}

/* The one of a server, or (NULL) of all, that is unused for the longest time, or at least has
 * nothing at work; NULL: there is none. */
static struct text_seat *idle_seat(const struct text_session *ts, const struct text_guild *of)
{
	struct text_seat *idle = NULL, *asking = NULL;

	for (unsigned i = 0; i < ts->n_guilds; i++)
		for (struct text_seat *s = ts->guild[i]->seats; s; s = s->next) {
			struct text_seat **best = is_used(s) ? &asking : &idle;

			if ((!of || s->g == of) && !is_at_work(s) &&
			    (!*best || s->used_at < (*best)->used_at))
				*best = s;
		}
	return idle ? idle : asking;
}

/* No server takes the places of the others: it has a share of them. Direct messages are of many
 * people. False: there is no place, and nothing that may give way. */
static bool make_place(struct text_guild *g, uint64_t channel)
{
	unsigned share = TEXT_SEATS / (g->id ? 4 : 2);
	bool over = count_seats(g) >= share;
	struct text_seat *seat;

	if (!over && g->ts->n_seats < TEXT_SEATS)
		return true;
	seat = idle_seat(g->ts, over ? g : NULL);
	if (seat)
		seat_free(seat);
	else
		log_warn("text_no_tools", "guild=%llu channel=%llu seats=%u",
			 (unsigned long long)g->id, (unsigned long long)channel, count_seats(g));
	return seat != NULL;
}

void text_tools_changed(void *arg)
{
	(void)arg; /* each ask lists them */
}

static int open_calls(struct text_seat *seat)
{
	struct text_guild *g = seat->g;
	const struct text_session_conf *c = &g->ts->conf;
	const struct tool_calls_conf calls = {.env = c->env,
					      .store = c->store,
					      .settings = g->settings,
					      .wordsh = words_of,
					      .outputh = take_output,
					      .publishh = publish,
					      .spendh = spend,
					      .arg = seat};
	const struct tool_host host = text_tool_host(seat);
	int err = tool_calls_alloc(&seat->calls, &calls);

	if (err)
		return err;
	tools_run_yes_s(tool_calls_run(seat->calls), TEXT_YES_S + TEXT_YES_GRACE_S);
	err = builtins_alloc(&seat->builtins, &host);
	if (!err)
		err = builtins_add(seat->builtins, tool_calls_registry(seat->calls));
	if (!err && was_tainted(g, seat->channel))
		tool_calls_feed(seat->calls, &(struct tool_input){.type = TOOL_IN_RECALLED});
	return err;
}

bool text_tools_reach_out(const struct text_seat *seat)
{
	return seat->g->id || seat->g->settings->text_direct_tools;
}

/* Without a place among its seats a channel has the other tools. */
static void open_mcp(struct text_seat *seat)
{
	const struct text_session_conf *c = &seat->g->ts->conf;
	const struct tool_room room = {tool_calls_registry(seat->calls), text_tool_host(seat),
				       text_tools_changed};

	if (c->mcp && !seat->mcp && mcp_seat_alloc(&seat->mcp, c->mcp, &room))
		seat->mcp = NULL;
}

/* Ends what may not be called any more, and all calls with it. Not from inside of one of them. */
static void close_reach(struct text_seat *seat)
{
	if (!seat->mcp && !seat->delegate)
		return;
	tool_calls_feed(seat->calls, &(struct tool_input){.type = TOOL_IN_ABORT});
	seat->mcp = mcp_seat_free(seat->mcp);
	text_workers_free(seat);
}

/* Direct messages reach neither servers nor workers, unless the settings want it otherwise. False:
 * what they reached until now cannot go yet, because it performs a call at this moment. */
static bool open_reach(struct text_seat *seat)
{
	if (text_tools_reach_out(seat)) {
		open_mcp(seat);
		text_workers_open(seat);
	} else if (!tool_calls_performs(seat->calls)) {
		close_reach(seat);
	}
	return text_tools_reach_out(seat) || (!seat->mcp && !seat->delegate);
}

static struct text_seat *find_seat(const struct text_guild *g, uint64_t channel)
{
	struct text_seat *s = g->seats;

	while (s && s->channel != channel)
		s = s->next;
	return s;
}

/* Written answers have no session, so their calls are told apart by their numbers alone: each seat
 * begins at the time of its start, which no other one has, also of a control before this one. */
uint64_t text_tools_numbers(struct text_session *ts)
{
	uint64_t now = env_wall_ms(ts->conf.env);

	ts->last_start = now > ts->last_start ? now : ts->last_start + 1;
	return ts->last_start * TEXT_CALLS;
}

/* NULL: the settings want no tools, or there is no place or no memory. */
static struct text_seat *open_seat(struct text_guild *g, uint64_t channel)
{
	struct text_seat *seat = g->settings->tools ? find_seat(g, channel) : NULL;

	if (seat || !g->settings->tools || !make_place(g, channel))
		return seat;
	seat = calloc(1, sizeof *seat);
	if (!seat)
		return NULL;
	seat->g = g;
	seat->channel = channel;
	seat->numbers = text_tools_numbers(g->ts);
	seat->next = g->seats;
	g->seats = seat;
	g->ts->n_seats++;
	if (open_calls(seat)) {
		seat_free(seat);
		return NULL;
	}
	return seat;
}

void text_tools_free(struct text_guild *g)
{
	while (g->seats)
		seat_free(g->seats);
}

bool text_tools_tainted(const struct text_guild *g, uint64_t channel)
{
	const struct text_seat *seat = find_seat(g, channel);

	return seat ? tools_run_tainted(tool_calls_run(seat->calls)) : was_tainted(g, channel);
}

void text_tools_settings(const struct text_guild *g)
{
	for (struct text_seat *s = g->seats; s; s = s->next) {
		text_workers_settings(s);
		if (!text_tools_reach_out(s) && !tool_calls_performs(s->calls))
			close_reach(s);
	}
}

void text_tools_forget(const struct text_guild *g, uint64_t user)
{
	for (struct text_seat *s = g->seats; s; s = s->next) {
		tool_calls_feed(s->calls,
				&(struct tool_input){.type = TOOL_IN_ABORT, .user = user});
		delegate_seat_forget(s->delegate);
	}
}

bool text_tools_busy(const struct text_guild *g)
{
	for (const struct text_seat *s = g->seats; s; s = s->next)
		if (is_used(s))
			return true;
	return false;
}

/* ---- answers ---- */

/* Nobody is in the channel to watch or agree to the call of a command's question: it may look into
 * what everybody there may know, and reaches nothing outside. A list, so that no tool gets there
 * unnoticed. */
static bool may_question(const char *name)
{
	static const char *const names[] = {"memory_search", "roll", "time"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* A result that is told is nobody's request: its calls change nothing. */
static bool may_offer(const struct text_job *job, const struct text_seat *seat, const char *name)
{
	const struct tool *tool = tools_registry_find(tool_calls_registry(seat->calls), name);

	return tool && !tool_policy_lists(job->g->settings->tools_off, name) &&
	       (!job->answerh || may_question(name)) &&
	       (job->kind != TEXT_KIND_RESULT || tool->row.effect == TOOL_EFFECT_NONE);
}

/* What stands in the prompt holds calls back as what the calls of this answer return does. */
static void tell_prompt(const struct text_job *job, struct text_seat *seat)
{
	if (job->strangers)
		tools_run_searched(tool_calls_run(seat->calls), job->reply);
	if (job->machines)
		tool_calls_feed(seat->calls, &(struct tool_input){.type = TOOL_IN_RECALLED});
	if (job->others || job->kind == TEXT_KIND_RESULT)
		tool_calls_feed(seat->calls,
				&(struct tool_input){.type = TOOL_IN_QUOTES, .turn = job->reply});
}

void text_tools_offer(struct text_job *job, struct engine_ask *ask, struct engine_tool *list)
{
	struct text_seat *seat = open_seat(job->g, job->channel);
	size_t n;

	if (!seat)
		return;
	seat->used_at = env_now(job->g->ts->conf.env);
	tell_prompt(job, seat);
	if (!open_reach(seat))
		return;
	n = tools_registry_list(tool_calls_registry(seat->calls), list);
	for (size_t i = 0; i < n; i++)
		if (may_offer(job, seat, list[i].name))
			list[ask->n_tools++] = list[i];
	ask->tools = ask->n_tools ? list : NULL;
}

static void take_call(struct text_job *job, const struct roles_event *ev)
{
	const struct engine_event *e = ev->engine;
	struct text_seat *seat = find_seat(job->g, job->channel);
	/* What the model was not offered for a command is no tool to it. */
	const char *tool = job->answerh && !may_question(e->tool) ? "unknown" : e->tool;

	if (!seat)
		return;
	job->seat = seat;
	job->calls++;
	tool_calls_feed(seat->calls,
			&(struct tool_input){
				.type = TOOL_IN_CALL,
				.turn = job->reply,
				.user = job->user,
				.rank = text_member_rank(job->g, job->user, tool),
				.session = (uint64_t)ev->use << 32 | e->session,
				.too_large = e->too_large,
				.call = e->call,
				.tool = tool,
				.language = room_language_code(room_language_guess(
					job->words ? job->words : "", "", ROOM_LANGUAGE_UNKNOWN)),
				.text = e->data});
}

void text_tools_event(struct text_job *job, const struct roles_event *ev)
{
	struct text_seat *seat = find_seat(job->g, job->channel);

	if (ev->engine->type == ENGINE_TOOL_CALL)
		take_call(job, ev);
	else if (seat)
		tool_calls_feed(seat->calls,
				&(struct tool_input){.type = TOOL_IN_REVOKED,
						     .session = (uint64_t)ev->use << 32 |
								ev->engine->session,
						     .call = ev->engine->call});
}

bool text_tools_go_on(struct text_job *job)
{
	struct engine_message m[2 * TOOLS_CALLS + 1];
	size_t said = job->n ? 1 : 0, n = 0;

	if (job->seat)
		n = tools_run_messages(tool_calls_run(job->seat->calls), job->reply, m + said,
				       2 * TOOLS_CALLS);
	if (!n)
		return false;
	if (said) {
		free(job->lead);
		job->lead = job->answer;
		job->answer = NULL;
		m[0] = (struct engine_message){
			.role = ENGINE_ASSISTANT, .speaker = "", .text = job->lead};
	}
	job->n = 0;
	job->calls = job->wants_yes = 0;
	job->passed = job->follow = false;
	roles_go_on(job->roles, ENGINE_USE_TEXT, job->reply, m, n + said);
	return true;
}

/* Stops the calls that go on for this answer, which is no longer wanted. */
void text_tools_over(struct text_job *job, const char *shown)
{
	struct text_seat *seat = job->seat;
	uint32_t reply = job->reply;

	job->seat = NULL;
	if (!seat)
		return;
	if (job->state != TEXT_JOB_SENDING)
		tool_calls_feed(
			seat->calls,
			&(struct tool_input){.type = TOOL_IN_ABORT, .turn = reply, .ok = true});
	tool_calls_feed(seat->calls, &(struct tool_input){.type = TOOL_IN_END,
							  .turn = reply,
							  .user = job->user,
							  .ok = shown != NULL,
							  .text = slice_str(shown ? shown : "")});
	/* Nobody can agree to what nobody was asked. */
	if (job->question && !shown)
		tool_calls_feed(seat->calls, &(struct tool_input){.type = TOOL_IN_WORDS,
								  .turn = reply,
								  .of = reply,
								  .user = job->user});
}

bool text_tools_words(struct text_guild *g, uint64_t channel, uint32_t reply, uint64_t user,
		      bool yes)
{
	struct text_seat *seat = find_seat(g, channel);
	char tool[TOOLS_NAME_MAX];
	bool made;

	if (!seat)
		return false;
	made = yes &&
	       tools_run_awaits(tool_calls_run(seat->calls), user, reply, env_now(g->ts->conf.env));
	if (yes && !made)
		log_warn("text_yes_lost", "channel=%llu reply=%u", (unsigned long long)channel,
			 reply);
	tools_run_kept(tool_calls_run(seat->calls), user, tool);
	tool_calls_feed(seat->calls, &(struct tool_input){.type = TOOL_IN_WORDS,
							  .turn = reply,
							  .of = reply,
							  .user = user,
							  .rank = text_member_rank(g, user, tool),
							  .ok = yes});
	return made;
}

void text_tools_stop(struct text_guild *g, uint64_t channel, uint64_t user)
{
	struct text_seat *seat = find_seat(g, channel);

	if (seat)
		tool_calls_feed(seat->calls,
				&(struct tool_input){.type = TOOL_IN_ABORT, .user = user});
}
