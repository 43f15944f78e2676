#include "control/agent/agent_memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/agent/inside.h"
#include "control/events/events.h"
#include "control/media/media.h"
#include "control/memory/last_told.h"
#include "control/memory/tell.h"
#include "control/memory/time_cue.h"
#include "control/memory/untold.h"
#include "control/settings/settings.h"
#include "control/store/facts_written.h"
#include "control/store/store.h"
#include "control/tools/builtin/host.h"
#include "ipc/env.h"
#include "proto/base/time.h"
#include "proto/discord.h"

enum { ASKS_MAX = 16 };
#define MINUTE_MS UINT64_C(60000)

/* A call that waits for the store. */
struct memory_ask {
	struct agent_memory *m; /* NULL: free */
	uint32_t id;
	uint64_t user;
	json_t *skipped; /* of a write */
	/* of a search: */
	json_t *request;
	uint64_t owner;
	bool any;
	unsigned most; /* facts that may be told */
	unsigned rounds;
};

struct agent_memory {
	struct agent *a;
	agent_memory_h *h;
	void *arg;
	struct memory_ask ask[ASKS_MAX];
	struct last_told told;
};

int agent_memory_alloc(struct agent_memory **out, struct agent *a, agent_memory_h *h, void *arg)
{
	struct agent_memory *m = calloc(1, sizeof *m);

	if (!m)
		return ENOMEM;
	m->a = a;
	m->h = h;
	m->arg = arg;
	*out = m;
	return 0;
}

struct agent_memory *agent_memory_free(struct agent_memory *m)
{
	if (!m)
		return NULL;
	for (unsigned i = 0; i < ASKS_MAX; i++)
		if (m->ask[i].m) {
			store_forget(m->a->store, &m->ask[i]);
			json_decref(m->ask[i].skipped);
			json_decref(m->ask[i].request);
		}
	free(m);
	return NULL;
}

static struct memory_ask *find_ask(struct agent_memory *m)
{
	for (unsigned i = 0; i < ASKS_MAX; i++)
		if (!m->ask[i].m)
			return &m->ask[i];
	return NULL;
}

/* The output is the JSON, or why there is none; json is stolen. */
static void give(struct memory_ask *ask, int err, json_t *json)
{
	struct agent_memory *m = ask->m;
	uint32_t id = ask->id;
	char why[96], *text = err ? NULL : json_dumps(json, JSON_COMPACT);

	ask->m = NULL;
	json_decref(ask->skipped);
	json_decref(ask->request);
	json_decref(json);
	if (!text)
		snprintf(why, sizeof why, "memory_unavailable: %s", strerror(err ? err : ENOMEM));
	m->h(id, text != NULL, slice_str(text ? text : why), m->arg);
	free(text);
}

/* ---- the timeline ---- */

/* When the turn that asks began: its own words are no evidence. */
static uint64_t asked_ms(const struct agent *a)
{
	const struct room_turn *turn = room_active(a->room);
	uint64_t now = env_now(a->env), wall = env_wall_ms(a->env), ago = 0;

	if (turn && turn->born_at && turn->born_at < now)
		ago = (now - turn->born_at) / NS_PER_MS;
	return wall > ago ? wall - ago : wall;
}

/* The question itself is no answer to it. Its words may be older than its turn, which others may
 * have begun; what somebody else said in the same words is evidence. */
static bool asks_now(const struct agent *a, uint64_t user, uint64_t at_ms, const char *words)
{
	const struct room_turn *turn = room_active(a->room);

	for (unsigned i = 0; turn && i < turn->segments; i++)
		if (turn->segment[i].user == user && at_ms + MINUTE_MS > asked_ms(a) &&
		    strstr(turn->transcript, words))
			return true;
	return false;
}

const char *agent_label(const struct agent *a, const json_t *row, char to[ROOM_NAME_MAX])
{
	const char *name = json_string_value(json_object_get(row, "name"));

	room_label(a->room, tell_user(row), name ? name : "", to);
	return to;
}

/* ---- what may be told (control/memory/tell.h) ---- */

static bool recalls(uint64_t user, void *arg)
{
	return agent_may_recall(arg, user);
}

static bool is_here(const json_t *fact, void *arg)
{
	return agent_is_told_here(arg, fact);
}

static bool may_tell_line(const json_t *line, void *arg)
{
	const struct agent *a = arg;
	const char *text = json_string_value(json_object_get(line, "text"));
	uint64_t at = (uint64_t)json_integer_value(json_object_get(line, "at_ms"));

	return (json_is_true(json_object_get(line, "bot")) ||
		!asks_now(a, tell_user(line), at, text)) &&
	       agent_may_recall_line(a, line);
}

static void note_told(uint64_t user, void *arg)
{
	const struct agent *a = arg;

	turns_told(a->turns, user);
}

static const char *name_person(uint64_t user, const char *stored, char to[TELL_NAME], void *arg)
{
	const struct agent *a = arg;

	return room_label(a->room, user, stored ? stored : "", to) || stored ? to : NULL;
}

_Static_assert((int)TELL_NAME >= (int)ROOM_NAME_MAX, "a label of a room has no place");

/* zone is borrowed. */
static struct tell_rules rules_of(const struct agent *a, uint64_t asker,
				  const struct calendar_zone *zone)
{
	return (struct tell_rules){.zone = zone,
				   .now_ms = env_wall_ms(a->env),
				   .asker = asker,
				   .recallh = recalls,
				   .hereh = is_here,
				   .lineh = may_tell_line,
				   .noteh = note_told,
				   .nameh = name_person,
				   .arg = (void *)(uintptr_t)a};
}

/* ---- the search of lines ---- */

static void take_lines(int err, const struct store_document *document, void *arg)
{
	struct memory_ask *ask = arg;
	const struct calendar_zone zone = server_zone(&ask->m->a->zone);
	const struct tell_rules rules = rules_of(ask->m->a, ask->user, &zone);
	json_t *lines = err ? NULL : json_loads(document->document, 0, NULL);

	give(ask, err, err ? NULL : tell_lines(&rules, lines));
	json_decref(lines);
}

static bool names_bot(const struct agent *a, const char *speaker)
{
	return tell_means_bot(speaker) || (*speaker && room_is_bot_name(a->room, speaker));
}

/* Only of this voice channel: whoever listens here may not be allowed to see another one. */
int agent_memory_search(struct agent_memory *m, uint32_t id, const struct tool_said *q)
{
	const struct media_want *where = media_call_want(m->a->call);
	uint64_t oldest = agent_oldest_words_ms(m->a), asked = asked_ms(m->a);
	uint64_t user = room_user_of(m->a->room, q->speaker);
	struct memory_ask *ask = find_ask(m);
	const struct store_said what = {.guild = where->guild,
					.channel = where->channel,
					.since_ms = q->since_ms > oldest ? q->since_ms : oldest,
					.until_ms = asked,
					.when = q->when,
					.name = q->speaker,
					.user = user,
					.bot = !user && names_bot(m->a, q->speaker),
					.words = q->query,
					.most = q->most};
	int err;

	if (!m->a->store)
		return ENOTSUP;
	if (!ask)
		return ENOSPC;
	*ask = (struct memory_ask){.m = m, .id = id};
	err = store_find_said(m->a->store, &what, take_lines, ask);
	if (err)
		ask->m = NULL;
	return err;
}

/* ---- facts ---- */

bool agent_memory_keeps(const struct agent_memory *m)
{
	const struct settings *s = m->a->settings;

	return m->a->store && s->store_words_hours && s->memory_days;
}

/* The model sees its own refusals beside those of the store. */
static void take_written(int err, const struct store_document *document, void *arg)
{
	struct memory_ask *ask = arg;
	const struct agent *a = ask->m->a;
	json_t *done = err ? NULL : json_loads(document->document, 0, NULL);
	struct bus_event ev = {.type = EVENT_MEMORY_WRITTEN,
			       .at_ms = env_wall_ms(a->env),
			       .guild = media_call_want(a->call)->guild};

	if (ask->skipped)
		json_array_extend(json_object_get(done, "skipped"), ask->skipped);
	if (facts_written_fill(&ev.memory, done, "asked"))
		bus_publish(a->bus, &ev);
	give(ask, err, done);
}

void agent_memory_unwritten(const struct agent_memory *m, unsigned facts)
{
	bus_publish(m->a->bus,
		    &(struct bus_event){.type = EVENT_MEMORY_WRITTEN,
					.at_ms = env_wall_ms(m->a->env),
					.guild = media_call_want(m->a->call)->guild,
					.memory = {.source = "asked", .refused = facts}});
}

bool agent_is_told_here(const struct agent *a, const json_t *fact)
{
	const json_t *channels = json_object_get(fact, "channels"), *one;
	uint64_t here = media_call_want(a->call)->channel, told;
	size_t i;

	json_array_foreach(channels, i, one)
	{
		if (discord_u64(json_string_value(one), &told) && told &&
		    (told == here || (a->openh && a->openh(told, a->arg))))
			return true;
	}
	return !channels;
}

/* What somebody told where not everybody can hear it stays between them and the bot. */
enum agent_audience agent_audience_of(const struct agent *a, const json_t *fact, uint64_t asker)
{
	bool own = json_is_true(json_object_get(fact, "private"));
	const char *user = json_string_value(json_object_get(fact, "user"));
	uint64_t author = asker;

	if (!own && agent_is_told_here(a, fact))
		return AUDIENCE_ALL;
	if (user && !own)
		discord_u64(user, &author);
	return author == asker && room_alone_with(a->room, asker) ? AUDIENCE_OWNER : AUDIENCE_NONE;
}

static const json_t *first_told(const struct agent *a, const json_t *list, bool all)
{
	const struct tell_rules rules = rules_of(a, 0, NULL);

	return tell_first(&rules, list, all);
}

const json_t *agent_former_of(const struct agent *a, const json_t *fact, bool all)
{
	const json_t *former = first_told(a, json_object_get(fact, "former"), all);

	return json_is_true(json_object_get(former, "unsure")) ? NULL : former;
}

const json_t *agent_conflict_of(const struct agent *a, const json_t *fact, bool all)
{
	return first_told(a, json_object_get(fact, "conflicts"), all);
}

void agent_hold_private(struct agent *a, uint64_t user)
{
	a->private_told = user;
}

void agent_forget_private(struct agent *a)
{
	if (!a->private_told || room_alone_with(a->room, a->private_told))
		return;
	agent_renew_voice(a);
}

void agent_renew_voice(struct agent *a)
{
	a->private_told = 0;
	a->screen_held = a->screen_over = false;
	free(a->memory_told);
	a->memory_told = NULL;
	/* A question that comes before the answer is over may still reach the session of before. */
	if (!room_active(a->room))
		turns_renewed(a->turns);
	roles_renew(a->roles);
}

/* The room and the voice's conversation know from now on that the answer may quote the speaker's
 * own memory. */
static void note_private(const struct memory_ask *ask)
{
	struct agent *a = ask->m->a;
	const struct room_turn *turn = room_active(a->room);

	agent_hold_private(a, ask->user);
	if (turn)
		agent_feed(a, &(struct room_event){.type = ROOM_PRIVATE_TOLD, .turn = turn->id});
}

enum untold agent_untold(const struct agent *a, const json_t *fact, uint64_t asker)
{
	if (!agent_may_recall(a, tell_user(fact)))
		return UNTOLD_AUTHOR;
	return !json_is_true(json_object_get(fact, "private")) &&
			       agent_audience_of(a, fact, asker) == AUDIENCE_NONE
		       ? UNTOLD_CHANNEL
		       : UNTOLD_NOT;
}

static enum untold judge(const json_t *fact, void *arg)
{
	const struct memory_ask *ask = arg;

	return agent_untold(ask->m->a, fact, ask->user);
}

static void take_facts(int err, const struct store_document *document, void *arg);

static int find_facts(struct memory_ask *ask)
{
	const struct agent *a = ask->m->a;
	char *request = json_dumps(ask->request, JSON_COMPACT);
	const struct store_facts f = {
		.guild = media_call_want(a->call)->guild,
		.owner = room_alone_with(a->room, ask->user) ? ask->owner : 0,
		.user = ask->user,
		.name = "",
		.request = request,
		.any = ask->any,
		.most = STORE_FACTS_MAX,
		.question = json_string_value(json_object_get(ask->request, "words"))};
	int err = request ? store_find_facts(a->store, &f, take_facts, ask) : ENOMEM;

	free(request);
	return err;
}

/* The time that the words name. */
static void note_time(struct memory_ask *ask)
{
	const struct agent *a = ask->m->a;
	const struct calendar_zone zone = server_zone(&a->zone);
	const char *words = json_string_value(json_object_get(ask->request, "words"));

	if (words)
		time_cue_note(ask->request, words, env_wall_ms(a->env), &zone);
}

/* True: another search is under way, without the facts that may not be told. */
static bool search_again(struct memory_ask *ask, const json_t *facts)
{
	return ask->rounds++ < UNTOLD_ROUNDS && untold_add(ask->request, facts, judge, ask) &&
	       !find_facts(ask);
}

/* *private: some are told because their owner is alone. */
static json_t *list_matches(const struct memory_ask *ask, const json_t *facts, bool *private)
{
	const struct calendar_zone zone = server_zone(&ask->m->a->zone);
	const struct tell_rules rules = rules_of(ask->m->a, ask->user, &zone);
	json_t *matches = json_array(), *fact;
	size_t i;

	*private = false;
	json_array_foreach(facts, i, fact)
	{
		enum agent_audience who = agent_audience_of(ask->m->a, fact, ask->user);
		json_t *told;

		/* Somebody may have come since the tool was called. */
		if (who == AUDIENCE_NONE)
			continue;
		if (json_array_size(matches) == ask->most)
			break;
		told = tell_fact(&rules, fact, who == AUDIENCE_OWNER);
		if (told)
			json_array_append_new(matches, told);
		*private = *private || (told && who == AUDIENCE_OWNER);
	}
	return matches;
}

/* True if the speaker asks what is known of them before others: what they told in private is not
 * among the matches, and neither is that there is something. */
static bool is_open(const struct memory_ask *ask)
{
	return ask->any && json_is_true(json_object_get(ask->request, "mine")) &&
	       !room_alone_with(ask->m->a->room, ask->user);
}

static void take_facts(int err, const struct store_document *document, void *arg)
{
	struct memory_ask *ask = arg;
	json_t *facts = err ? NULL : json_loads(document->document, 0, NULL), *out;
	bool private;
	json_t *matches = list_matches(ask, facts, &private);
	bool again = json_array_size(matches) < ask->most && search_again(ask, facts);

	json_decref(facts);
	if (again) {
		json_decref(matches);
		return;
	}
	if (private)
		note_private(ask);
	last_told_note(&ask->m->told, ask->user, matches, env_now(ask->m->a->env));
	out = json_pack("{s:o}", "matches", matches);
	if (is_open(ask))
		json_object_set_new(out, "open", json_true());
	give(ask, err, out);
}

/* Others in the room do not hear of the speaker's own memory. */
static void tell_candidates(const struct memory_ask *ask, json_t *candidates)
{
	for (size_t i = json_array_size(candidates); i-- > 0;) {
		json_t *fact = json_array_get(candidates, i);
		enum agent_audience who = agent_audience_of(ask->m->a, fact, ask->user);

		json_object_del(fact, "private");
		json_object_del(fact, "channels");
		if (who == AUDIENCE_NONE)
			json_array_remove(candidates, i);
		else if (who == AUDIENCE_OWNER)
			note_private(ask);
	}
}

void agent_fact_forgotten(struct agent *a)
{
	agent_continuity_renew(a->continuity);
}

static void take_forgotten(int err, const struct store_document *document, void *arg)
{
	const struct memory_ask *ask = arg;
	json_t *done = err ? NULL : json_loads(document->document, 0, NULL), *fact;
	size_t i;

	tell_candidates(ask, json_object_get(done, "candidates"));
	json_array_foreach(json_object_get(done, "forgotten"), i, fact)
	{
		enum agent_audience who = agent_audience_of(ask->m->a, fact, ask->user);

		if (who == AUDIENCE_NONE)
			json_object_del(fact, "text");
		else if (who == AUDIENCE_OWNER)
			note_private(ask);
		json_object_del(fact, "private");
		json_object_del(fact, "channels");
	}
	give(arg, err, done);
}

static int post_forget(struct agent_memory *m, struct store_facts *f, struct memory_ask *ask)
{
	char *request = last_told_request(&m->told, f->user, f->request, env_now(m->a->env));
	int err;

	f->request = request;
	err = request ? store_forget_facts(m->a->store, f, take_forgotten, ask) : ENOMEM;
	free(request);
	last_told_clear(&m->told, f->user);
	return err;
}

static int post_facts(struct agent_memory *m, const struct tool_memory *q, struct memory_ask *ask)
{
	uint64_t asked = asked_ms(m->a);
	struct store_facts f = {.guild = media_call_want(m->a->call)->guild,
				.channel = media_call_want(m->a->call)->channel,
				.owner = q->owner,
				.user = q->user,
				.name = turns_name(m->a->turns, q->user),
				.request = q->request,
				.since_ms = asked > MINUTE_MS ? asked - MINUTE_MS : 0,
				.any = q->any,
				.most = q->most};

	switch (q->op) {
	case TOOL_MEMORY_WRITE:
		last_told_clear(&m->told, q->user);
		return store_write_facts(m->a->store, &f, take_written, ask);
	case TOOL_MEMORY_FORGET:
		return post_forget(m, &f, ask);
	case TOOL_MEMORY_FIND:
		break;
	}
	/* Facts of closed channels come off, and must not take the places of others. */
	ask->most = q->most;
	ask->owner = q->owner;
	ask->any = q->any;
	ask->request = json_loads(q->request, 0, NULL);
	note_time(ask);
	return ask->request ? find_facts(ask) : EINVAL;
}

/* Everybody whose words a turn holds has to agree before any of them are kept. */
static bool may_write(const struct agent *a, uint64_t user)
{
	const struct room_turn *turn = room_active(a->room);

	if (turn && !turns_keeps_words(a->turns, turn))
		return false;
	for (unsigned i = 0; turn && i < turn->segments; i++) {
		uint64_t by = turn->quoted_n ? turn->quoted_user : turn->segment[i].user;

		if (!agent_may_recall(a, by))
			return false;
	}
	return user && agent_may_recall(a, user);
}

/* A search of the speaker's own memory alone, before others. */
static bool is_withheld(const struct agent *a, const struct tool_memory *q)
{
	return q->op == TOOL_MEMORY_FIND && q->owner && !q->any &&
	       !room_alone_with(a->room, q->user);
}

int agent_memory_facts(struct agent_memory *m, uint32_t id, const struct tool_memory *q)
{
	struct memory_ask *ask = find_ask(m);
	int err;

	if (!agent_memory_keeps(m))
		return ENOTSUP;
	if (q->op == TOOL_MEMORY_WRITE && !may_write(m->a, q->user))
		return EACCES;
	if (!ask)
		return ENOSPC;
	*ask = (struct memory_ask){
		.m = m, .id = id, .user = q->user, .skipped = json_deep_copy(q->skipped)};
	if (is_withheld(m->a, q)) {
		give(ask, 0, json_pack("{s:[],s:s}", "matches", "withheld", "others_listen"));
		return 0;
	}
	err = post_facts(m, q, ask);
	if (err) {
		json_decref(ask->skipped);
		json_decref(ask->request);
		ask->m = NULL;
	}
	return err;
}
