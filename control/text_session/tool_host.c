/* What tools can do in a channel of text: the web, servers of MCP, and the server's memory, of
 * which everybody in the channel may read (inside.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/events/events.h"
#include "control/memory/tell.h"
#include "control/memory/time_cue.h"
#include "control/memory/untold.h"
#include "control/settings/settings.h"
#include "control/store/facts_written.h"
#include "control/store/store.h"
#include "control/text/missed.h"
#include "control/text/reading.h"
#include "control/text/text_chat.h"
#include "control/text_session/tools_inside.h"
#include "ipc/env.h"
#include "proto/discord.h"
#include "proto/media.h"

#define MINUTE_MS UINT64_C(60000)
#define HOUR_MS	  UINT64_C(3600000)

static void take_output(uint32_t id, bool ok, struct slice text, void *arg)
{
	const struct text_seat *seat = arg;

	if (!text_workers_output(seat, id, ok, text))
		tool_calls_feed(seat->calls,
				&(struct tool_input){
					.type = TOOL_IN_OUTPUT, .id = id, .ok = ok, .text = text});
}

static void take_cost(uint32_t id, const struct tool_cost *cost, void *arg)
{
	const struct text_seat *seat = arg;

	if (!text_workers_cost(seat, id, cost))
		tool_calls_cost(seat->calls, id, cost);
}

static void take_progress(uint32_t id, const char *text, void *arg)
{
	const struct text_seat *seat = arg;

	if (!text_workers_progress(id))
		tool_calls_feed(seat->calls, &(struct tool_input){.type = TOOL_IN_PROGRESS,
								  .id = id,
								  .text = slice_str(text)});
}

/* The model names its sources in the answer, which is read. */
static void drop_link(uint32_t reply, const char *title, const char *url, void *arg)
{
	(void)reply;
	(void)title;
	(void)url;
	(void)arg;
}

static uint64_t guild_of(void *arg)
{
	const struct text_seat *seat = arg;

	return seat->g->id;
}

/* ---- the memory ---- */

static bool remembers(void *arg)
{
	const struct text_seat *seat = arg;
	const struct settings *s = seat->g->settings;

	return seat->g->id && seat->g->ts->conf.store && s->store_words_hours && s->memory_days;
}

static bool may_write(const struct text_seat *seat, uint64_t user)
{
	const struct text_session_conf *c = &seat->g->ts->conf;

	return user && c->remembersh(seat->g->id, user, c->arg);
}

/* The output is the JSON, or why there is none; json is stolen. */
static void give(struct text_memory_ask *ask, int err, json_t *json)
{
	struct text_seat *seat = ask->seat;
	uint32_t id = ask->id;
	char why[96], *text = err ? NULL : json_dumps(json, JSON_COMPACT);

	ask->seat = NULL;
	json_decref(ask->skipped);
	json_decref(ask->request);
	json_decref(json);
	if (!text)
		snprintf(why, sizeof why, "memory_unavailable: %s", strerror(err ? err : ENOMEM));
	take_output(id, text != NULL, slice_str(text ? text : why), seat);
	free(text);
}

static void take_written(int err, const struct store_document *document, void *arg)
{
	struct text_memory_ask *ask = arg;
	const struct text_session_conf *c = &ask->seat->g->ts->conf;
	json_t *done = err ? NULL : json_loads(document->document, 0, NULL);
	struct bus_event ev = {.type = EVENT_MEMORY_WRITTEN,
			       .at_ms = env_wall_ms(c->env),
			       .guild = ask->seat->g->id};

	if (ask->skipped)
		json_array_extend(json_object_get(done, "skipped"), ask->skipped);
	if (facts_written_fill(&ev.memory, done, "asked"))
		bus_publish(c->bus, &ev);
	give(ask, err, done);
}

static void tell_unwritten(unsigned facts, void *arg)
{
	const struct text_seat *seat = arg;
	const struct text_session_conf *c = &seat->g->ts->conf;

	bus_publish(c->bus, &(struct bus_event){.type = EVENT_MEMORY_WRITTEN,
						.at_ms = env_wall_ms(c->env),
						.guild = seat->g->id,
						.memory = {.source = "asked", .refused = facts}});
}

/* ---- what may be told (control/memory/tell.h) ---- */

static bool recalls(uint64_t user, void *arg)
{
	const struct text_memory_ask *ask = arg;

	return text_session_may_recall(ask->seat->g, user);
}

static bool is_here(const json_t *fact, void *arg)
{
	const struct text_memory_ask *ask = arg;

	return text_session_may_tell(ask->seat->g, ask->seat->channel, fact);
}

static bool may_tell_line(const json_t *line, void *arg)
{
	const struct text_memory_ask *ask = arg;

	return text_session_may_tell_line(ask->seat->g, line);
}

static void note_told(uint64_t user, void *arg)
{
	const struct text_memory_ask *ask = arg;

	text_keeping_told(ask->seat->g, ask->reply, user);
}

_Static_assert((int)TELL_NAME >= (int)TEXT_CALLED, "a name of a member has no place");

static const char *name_person(uint64_t user, const char *stored, char to[TELL_NAME], void *arg)
{
	const struct text_memory_ask *ask = arg;

	if (!stored && !*text_member_name(ask->seat->g, user))
		return NULL;
	return text_member_called(ask->seat->g, user, stored ? stored : "", to);
}

/* zone is borrowed. */
static struct tell_rules rules_of(const struct text_memory_ask *ask,
				  const struct calendar_zone *zone)
{
	return (struct tell_rules){.zone = zone,
				   .now_ms = env_wall_ms(ask->seat->g->ts->conf.env),
				   .asker = ask->user,
				   .recallh = recalls,
				   .hereh = is_here,
				   .lineh = may_tell_line,
				   .noteh = note_told,
				   .nameh = name_person,
				   .arg = (void *)(uintptr_t)ask};
}

/* ---- the search of lines ---- */

static void take_lines(int err, const struct store_document *document, void *arg)
{
	struct text_memory_ask *ask = arg;
	const struct calendar_zone zone = server_zone(&ask->seat->g->zone);
	const struct tell_rules rules = rules_of(ask, &zone);
	json_t *lines = err ? NULL : json_loads(document->document, 0, NULL);

	give(ask, err, err ? NULL : tell_lines(&rules, lines));
	json_decref(lines);
}

/* NULL: too many calls wait. */
static struct text_memory_ask *find_ask(struct text_seat *seat)
{
	for (unsigned i = 0; i < TEXT_MEMORY_ASKS; i++)
		if (!seat->ask[i].seat)
			return &seat->ask[i];
	return NULL;
}

/* When the message that is answered was written. A search finds only what was said before. */
static uint64_t asked_ms(const struct text_seat *seat, uint32_t reply)
{
	const struct text_job *job = text_asking_find(seat->g, reply);
	uint64_t now = env_wall_ms(seat->g->ts->conf.env);

	return job && job->first && missed_ms_of(job->first) < now ? missed_ms_of(job->first) : now;
}

/* Of this channel alone: who reads here may not be allowed to read another one. */
static int search_said(uint32_t id, const struct tool_said *q, void *arg)
{
	struct text_seat *seat = arg;
	const struct text_session_conf *c = &seat->g->ts->conf;
	uint64_t user = text_member_of(seat->g, q->speaker), now = env_wall_ms(c->env);
	uint64_t kept = (uint64_t)seat->g->settings->store_words_hours * HOUR_MS;
	uint64_t oldest = now > kept ? now - kept : 0;
	struct text_memory_ask *ask = find_ask(seat);
	const struct store_said what = {.guild = seat->g->id,
					.channel = seat->channel,
					.since_ms = q->since_ms > oldest ? q->since_ms : oldest,
					.until_ms = asked_ms(seat, q->turn),
					.when = q->when,
					.name = q->speaker,
					.user = user,
					.bot = !user && (tell_means_bot(q->speaker) ||
							 text_member_is_bot(seat->g, q->speaker)),
					.words = q->query,
					.most = q->most};
	int err;

	if (!c->store || !kept)
		return ENOTSUP;
	if (!ask)
		return ENOSPC;
	*ask = (struct text_memory_ask){.seat = seat, .id = id, .reply = q->turn};
	err = store_find_said(c->store, &what, take_lines, ask);
	if (err)
		ask->seat = NULL;
	return err;
}

/* ---- facts ---- */

/* True if the fact may name somebody who was forgotten a moment ago: an erasure that is under way
 * takes it. */
static bool names_forgotten(const struct text_memory_ask *ask, const json_t *fact)
{
	json_t *people = json_object_get(fact, "people"), *bound;
	const char *id;
	uint64_t user;

	json_object_foreach(people, id, bound)
	{
		if (discord_u64(id, &user) && text_forgot_lately(ask->seat->g->core, user))
			return true;
	}
	return false;
}

static bool may_tell_fact(const struct text_memory_ask *ask, const json_t *fact)
{
	const struct text_seat *seat = ask->seat;

	return !json_is_true(json_object_get(fact, "private")) &&
	       text_session_may_tell(seat->g, seat->channel, fact) && !names_forgotten(ask, fact);
}

static enum untold judge(const json_t *fact, void *arg)
{
	const struct text_memory_ask *ask = arg;

	if (!text_session_may_recall(ask->seat->g, tell_user(fact)))
		return UNTOLD_AUTHOR;
	return text_session_may_tell(ask->seat->g, ask->seat->channel, fact) ? UNTOLD_NOT
									     : UNTOLD_CHANNEL;
}

static void take_facts(int err, const struct store_document *document, void *arg);

/* Facts of closed channels come off, and must not take the places of others. */
static int find_facts(struct text_memory_ask *ask)
{
	char *request = json_dumps(ask->request, JSON_COMPACT);
	const struct store_facts f = {
		.guild = ask->seat->g->id,
		.owner = ask->owner,
		.user = ask->user,
		.name = "",
		.request = request,
		.any = ask->any,
		.most = STORE_FACTS_MAX,
		.question = json_string_value(json_object_get(ask->request, "words"))};
	int err = request ? store_find_facts(ask->seat->g->ts->conf.store, &f, take_facts, ask)
			  : ENOMEM;

	free(request);
	return err;
}

/* The time that the words name. */
static void note_time(struct text_memory_ask *ask)
{
	const struct text_guild *g = ask->seat->g;
	const struct calendar_zone zone = server_zone(&g->zone);
	const char *words = json_string_value(json_object_get(ask->request, "words"));

	if (words)
		time_cue_note(ask->request, words, env_wall_ms(g->ts->conf.env), &zone);
}

/* True: another search is under way, without the facts that may not be told. */
static bool search_again(struct text_memory_ask *ask, const json_t *facts)
{
	return ask->rounds++ < UNTOLD_ROUNDS && untold_add(ask->request, facts, judge, ask) &&
	       !find_facts(ask);
}

static json_t *list_matches(const struct text_memory_ask *ask, const json_t *facts)
{
	const struct calendar_zone zone = server_zone(&ask->seat->g->zone);
	const struct tell_rules rules = rules_of(ask, &zone);
	json_t *matches = json_array(), *told;
	const json_t *fact;
	size_t i;

	json_array_foreach(facts, i, fact)
	{
		if (json_array_size(matches) == ask->most)
			break;
		told = may_tell_fact(ask, fact) ? tell_fact(&rules, fact, false) : NULL;
		if (told)
			json_array_append_new(matches, told);
	}
	return matches;
}

static void take_facts(int err, const struct store_document *document, void *arg)
{
	struct text_memory_ask *ask = arg;
	json_t *facts = err ? NULL : json_loads(document->document, 0, NULL);
	json_t *matches = list_matches(ask, facts);
	bool again = json_array_size(matches) < ask->most && search_again(ask, facts);

	json_decref(facts);
	if (again) {
		json_decref(matches);
		return;
	}
	last_told_note(&ask->seat->told, ask->user, matches, env_now(ask->seat->g->ts->conf.env));
	/* Of what the asker told in private nothing is said, also that there is something. */
	give(ask, err, json_pack("{s:o,s:b}", "matches", matches, "open", true));
}

/* Nobody reads of a person's own memory, nor of channels that are closed to some. remove: such a
 * fact; otherwise its words alone, since the fact is forgotten and the model is to say so. */
static void hide_private(const struct text_seat *seat, json_t *list, bool remove)
{
	for (size_t i = json_array_size(list); i-- > 0;) {
		json_t *fact = json_array_get(list, i);
		bool hidden = json_is_true(json_object_get(fact, "private")) ||
			      !text_session_may_tell(seat->g, seat->channel, fact);

		json_object_del(fact, "private");
		json_object_del(fact, "channels");
		if (hidden && remove)
			json_array_remove(list, i);
		else if (hidden)
			json_object_del(fact, "text");
	}
}

static void take_forgotten(int err, const struct store_document *document, void *arg)
{
	const struct text_memory_ask *ask = arg;
	json_t *done = err ? NULL : json_loads(document->document, 0, NULL);

	hide_private(ask->seat, json_object_get(done, "candidates"), true);
	hide_private(ask->seat, json_object_get(done, "forgotten"), false);
	give(arg, err, done);
}

/* A fact told in a thread that everybody may follow is of its channel: Discord archives the thread,
 * and the fact would be closed then. */
static uint64_t place_of(const struct text_seat *seat)
{
	const struct text_session_conf *c = &seat->g->ts->conf;
	const char *title;
	uint64_t parent = text_session_parent(seat->g->ts, seat->g->id, seat->channel, &title);

	return parent && parent != READING_UNKNOWN && c->openh &&
			       c->openh(seat->g->id, parent, seat->channel, c->arg)
		       ? parent
		       : seat->channel;
}

/* What the person wrote from a minute before the message that is answered. */
static uint64_t sources_since(const struct text_seat *seat, uint32_t reply)
{
	uint64_t asked = asked_ms(seat, reply);

	return asked > MINUTE_MS ? asked - MINUTE_MS : 0;
}

static int post_forget(struct text_seat *seat, struct store_facts *f, struct text_memory_ask *ask)
{
	const struct text_session_conf *c = &seat->g->ts->conf;
	char *request = last_told_request(&seat->told, f->user, f->request, env_now(c->env));
	int err;

	f->request = request;
	err = request ? store_forget_facts(c->store, f, take_forgotten, ask) : ENOMEM;
	free(request);
	last_told_clear(&seat->told, f->user);
	return err;
}

static int post_facts(struct text_seat *seat, const struct tool_memory *q,
		      struct text_memory_ask *ask)
{
	struct store *store = seat->g->ts->conf.store;
	struct store_facts f = {.guild = seat->g->id,
				.channel = place_of(seat),
				.said_in = seat->channel,
				.owner = q->owner,
				.user = q->user,
				.name = text_member_name(seat->g, q->user),
				.request = q->request,
				.since_ms = sources_since(seat, q->turn),
				.any = q->any,
				.most = q->most};

	if (q->op == TOOL_MEMORY_WRITE) {
		last_told_clear(&seat->told, q->user);
		return store_write_facts(store, &f, take_written, ask);
	}
	if (q->op == TOOL_MEMORY_FORGET)
		return post_forget(seat, &f, ask);
	ask->most = q->most;
	ask->owner = q->owner;
	ask->any = q->any;
	ask->request = json_loads(q->request, 0, NULL);
	note_time(ask);
	return ask->request ? find_facts(ask) : EINVAL;
}

static int ask_memory(uint32_t id, const struct tool_memory *q, void *arg)
{
	struct text_seat *seat = arg;
	struct text_memory_ask *ask = find_ask(seat);
	int err;

	if (q->op == TOOL_MEMORY_WRITE && !may_write(seat, q->user))
		return EACCES;
	if (!ask)
		return ENOSPC;
	*ask = (struct text_memory_ask){.seat = seat,
					.id = id,
					.reply = q->turn,
					.user = q->user,
					.skipped = json_deep_copy(q->skipped)};
	err = post_facts(seat, q, ask);
	if (err) {
		json_decref(ask->skipped);
		json_decref(ask->request);
		ask->seat = NULL;
	}
	return err;
}

void text_tool_memory_free(struct text_seat *seat)
{
	for (unsigned i = 0; i < TEXT_MEMORY_ASKS; i++)
		if (seat->ask[i].seat) {
			store_forget(seat->g->ts->conf.store, &seat->ask[i]);
			json_decref(seat->ask[i].skipped);
			json_decref(seat->ask[i].request);
		}
}

struct tool_host text_tool_host(struct text_seat *seat)
{
	bool looks = seat->g->ts->conf.viewers.fetcher && seat->g->settings->attachments;

	return (struct tool_host){.env = seat->g->ts->conf.env,
				  .http = seat->g->ts->conf.http,
				  .settings = seat->g->settings,
				  .outputh = take_output,
				  .costh = take_cost,
				  .progressh = take_progress,
				  .linkh = drop_link,
				  .searchh = seat->g->id ? search_said : NULL,
				  .rememberh = remembers,
				  .guildh = guild_of,
				  .memoryh = ask_memory,
				  .unwrittenh = tell_unwritten,
				  .lookh = looks ? text_lookup : NULL,
				  .look_cancelh = text_lookup_cancel,
				  .writtenh = text_lookup_written,
				  .open = true,
				  .arg = seat};
}
