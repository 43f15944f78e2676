#include "control/agent/retrieval.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/agent/inside.h"
#include "control/media/media.h"
#include "control/memory/rank.h"
#include "control/memory/slice.h"
#include "control/memory/terms.h"
#include "control/memory/time_cue.h"
#include "control/settings/settings.h"
#include "control/store/store.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"
#include "proto/discord.h"

/* Lines that are younger still stand in the conversation that a voice model keeps. */
#define RECENT_MS UINT64_C(600000)
/* In this time before a question its own words were said. */
#define ASKING_MS UINT64_C(60000)

enum { NAME_BYTES = 100 };

/* One of the two requests of a question. */
struct half {
	struct agent_retrieval *r;
	bool out; /* the store owes an answer */
	json_t *found;
};

struct agent_retrieval {
	struct agent *a;
	char name[NAME_BYTES];
	bool told; /* the room was told that there is a memory */
	bool quotes_others;
	uint32_t number;
	uint64_t user; /* who asks */
	uint64_t asked_ms;
	uint64_t told_since; /* ns: the prompt tells what was said from then on; 0: nothing */
	char question[ROOM_TEXT_MAX];
	struct half facts, lines;
	json_t *request; /* for facts */
	unsigned rounds;
};

int agent_retrieval_alloc(struct agent_retrieval **out, struct agent *a, const char *name)
{
	struct agent_retrieval *r = calloc(1, sizeof *r);

	if (!r)
		return ENOMEM;
	r->a = a;
	utf8_copy(r->name, sizeof r->name, name ? name : "");
	*out = r;
	return 0;
}

static void clear_half(struct half *h)
{
	json_decref(h->found);
	*h = (struct half){.r = h->r};
}

/* The answers of the store to an older question are not awaited. */
static void drop_request(struct agent_retrieval *r)
{
	struct half *halves[] = {&r->facts, &r->lines};

	for (size_t i = 0; i < 2; i++) {
		if (halves[i]->out)
			store_forget(r->a->store, halves[i]);
		halves[i]->r = r;
		clear_half(halves[i]);
	}
	json_decref(r->request);
	r->request = NULL;
	r->rounds = 0;
}

struct agent_retrieval *agent_retrieval_free(struct agent_retrieval *r)
{
	if (!r)
		return NULL;
	drop_request(r);
	free(r);
	return NULL;
}

/* The embedded engine has no use for it: its tools search the memory. */
static bool is_used(const struct agent *a)
{
	const struct provider_record *p =
		a->settings->reply_path == SETTINGS_REPLY_BRAIN
			? settings_purpose(a->settings, PURPOSE_VOICE_REPLY, 0)
			: settings_role(a->settings, ROLE_VOICE, 0);

	return p && p->dialect != DIALECT_EMBEDDED;
}

void agent_retrieval_settings(struct agent_retrieval *r)
{
	const struct settings *s = r->a->settings;
	bool there = r->a->store && s->store_words_hours && s->memory_context && is_used(r->a);

	if (there == r->told)
		return;
	r->told = there;
	agent_feed(r->a, &(struct room_event){.type = ROOM_MEMORY, .yes = there});
}

bool agent_retrieval_is_used(const struct agent_retrieval *r)
{
	return r->told;
}

bool agent_retrieval_quotes_others(const struct agent_retrieval *r)
{
	return r && r->quotes_others;
}

/* ---- the slice ---- */

static const char *text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static uint64_t ms_at(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

static void read_quote(const struct agent *a, const json_t *object, char label[ROOM_NAME_MAX],
		       struct slice_quote *out)
{
	*out = (struct slice_quote){
		.id = (uint32_t)json_integer_value(json_object_get(object, "id")),
		.author = agent_label(a, object, label),
		.text = text_at(object, "text"),
		.at_ms = ms_at(object, "at_ms"),
		.again_ms = ms_at(object, "again_ms")};
	discord_u64(text_at(object, "user"), &out->user);
}

static void add_facts(const struct agent_retrieval *r, struct memory_slice *s)
{
	const json_t *fact, *former, *against;
	char label[ROOM_NAME_MAX];
	struct slice_quote q;
	size_t i;

	json_array_foreach(r->facts.found, i, fact)
	{
		enum agent_audience who = agent_audience_of(r->a, fact, r->user);

		read_quote(r->a, fact, label, &q);
		q.private = who == AUDIENCE_OWNER;
		former = agent_former_of(r->a, fact, q.private);
		against = agent_conflict_of(r->a, fact, q.private);
		if (former) {
			q.former = text_at(former, "text");
			q.former_from_ms = ms_at(former, "from_ms");
			q.former_until_ms = ms_at(former, "until_ms");
		}
		if (against) {
			q.against = text_at(against, "text");
			q.against_ms = ms_at(against, "from_ms");
		}
		if (who != AUDIENCE_NONE && !json_is_true(json_object_get(fact, "unsure")) &&
		    agent_may_recall(r->a, q.user))
			slice_add_fact(s, &q);
	}
}

static bool is_asking(const struct agent_retrieval *r, const struct slice_quote *line)
{
	return line->user == r->user && line->at_ms + ASKING_MS > r->asked_ms;
}

/* The oldest line in the prompt began before its end, which is its time there. */
static bool is_told(const struct agent_retrieval *r, const json_t *line,
		    const struct slice_quote *q)
{
	uint64_t user = json_is_true(json_object_get(line, "bot")) ? 0 : q->user;

	return r->told_since && room_said_since(r->a->room, r->told_since, user, q->text);
}

static void add_lines(const struct agent_retrieval *r, struct memory_slice *s)
{
	const json_t *line;
	char label[ROOM_NAME_MAX];
	struct slice_quote q;
	size_t i;

	json_array_foreach(r->lines.found, i, line)
	{
		read_quote(r->a, line, label, &q);
		if (json_is_true(json_object_get(line, "bot")))
			q.author = "you";
		/* Near the question, but no answer to it; and the question itself. */
		if (json_is_true(json_object_get(line, "unsure")) || is_asking(r, &q))
			continue;
		q.other_time = json_is_true(json_object_get(line, "other_time"));
		if (is_told(r, line, &q))
			continue;
		if (agent_may_recall_line(r->a, line))
			slice_add_line(s, &q, r->question);
	}
}

static void answer_room(struct agent_retrieval *r, bool ok)
{
	const struct calendar_zone zone = server_zone(&r->a->zone);
	struct memory_slice s = {.zone = &zone};
	char text[sizeof s.text + 16 * (SLICE_FACTS + SLICE_LINES + SLICE_SUMMARIES)];
	size_t n = 0;

	if (ok) {
		agent_continuity_add_unfinished(r->a->continuity, &s);
		add_facts(r, &s);
		add_lines(r, &s);
		agent_continuity_add(r->a->continuity, &s, r->question);
	}
	r->quotes_others = false;
	for (unsigned i = 0; i < slice_count(&s); i++)
		r->quotes_others = r->quotes_others || s.quoted[i].user != r->user;
	for (unsigned i = 0; i < slice_count(&s); i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%c%u", i ? " " : "",
				      s.quoted[i].kind, s.quoted[i].id);
	n += (size_t)snprintf(text + n, sizeof text - n, "\n%s", s.text);
	log_debug("memory_retrieved", "guild=%llu facts=%u lines=%u summaries=%u",
		  (unsigned long long)media_call_want(r->a->call)->guild, s.facts, s.lines,
		  s.summaries);
	agent_feed(r->a, &(struct room_event){.type = ROOM_RETRIEVED,
					      .chunk = r->number,
					      .yes = ok,
					      .text = {(const uint8_t *)text, n}});
}

/* ---- the requests ---- */

/* Leaves a quarter of the question's time for the search. */
static uint32_t embedding_wait_ms(const struct agent_retrieval *r)
{
	uint32_t ms = r->a->settings->memory_wait_ms * 3 / 4;

	return ms ? ms : 1;
}

static void take_half(int err, const struct store_document *document, void *arg);

static int find_facts(struct agent_retrieval *r)
{
	char *text = json_dumps(r->request, JSON_COMPACT);
	struct store_facts f = {.guild = media_call_want(r->a->call)->guild,
				.user = r->user,
				.name = "",
				.request = text,
				.any = true,
				.most = 4 * SLICE_FACTS}; /* some may not be told here */
	int err = ENOMEM;

	f.owner = room_alone_with(r->a->room, r->user) ? r->user : 0;
	f.question = r->question;
	f.wait_ms = embedding_wait_ms(r);
	if (text)
		err = store_find_facts(r->a->store, &f, take_half, &r->facts);
	r->facts.out = !err;
	free(text);
	return err;
}

static enum untold judge(const json_t *fact, void *arg)
{
	const struct agent_retrieval *r = arg;

	return agent_untold(r->a, fact, r->user);
}

/* True: the facts are searched for again, without those that may not be told. */
static bool search_again(struct agent_retrieval *r)
{
	size_t told = 0;

	for (size_t i = 0; i < json_array_size(r->facts.found); i++)
		told += judge(json_array_get(r->facts.found, i), r) == UNTOLD_NOT;
	if (told >= SLICE_FACTS || r->rounds++ >= UNTOLD_ROUNDS ||
	    !untold_add(r->request, r->facts.found, judge, r) || find_facts(r))
		return false;
	json_decref(r->facts.found);
	r->facts.found = NULL;
	return true;
}

static void take_half(int err, const struct store_document *document, void *arg)
{
	struct half *h = arg;
	struct agent_retrieval *r = h->r;

	h->out = false;
	h->found = err ? NULL : json_loads(document->document, 0, NULL);
	if (h == &r->facts && search_again(r))
		return;
	if (r->facts.out || r->lines.out)
		return;
	answer_room(r, r->facts.found || r->lines.found);
	clear_half(&r->facts);
	clear_half(&r->lines);
}

/* {"NAME": "ID", …}: whom the question names of the people present, under the names that models
 * and people know them by now. NULL: nobody, or no memory. */
static char *list_named(const struct agent_retrieval *r)
{
	json_t *people = json_object();
	unsigned place = 0;
	const char *name;
	char *text;

	while ((name = room_person(r->a->room, &place))) {
		uint64_t user = room_user_of(r->a->room, name);

		if (user && rank_names(r->question, name))
			json_object_set_new(people, name,
					    json_sprintf("%llu", (unsigned long long)user));
	}
	text = json_object_size(people) ? json_dumps(people, JSON_COMPACT) : NULL;
	json_decref(people);
	return text;
}

/* What was said from then on the model is told anyway: of the history a text model gets the newest
 * lines, which in a lively room are those of a minute. */
static uint64_t find_known(struct agent_retrieval *r)
{
	const struct agent *a = r->a;
	uint64_t now = env_now(a->env), ago_ms = RECENT_MS, at = 0;

	if (a->settings->reply_path == SETTINGS_REPLY_BRAIN) {
		at = room_told_since(a->room);
		ago_ms = at && at < now ? (now - at) / NS_PER_MS : 0;
	}
	r->told_since = at;
	return r->asked_ms > ago_ms ? r->asked_ms - ago_ms : r->asked_ms;
}

static int find_lines(struct agent_retrieval *r)
{
	const struct media_want *where = media_call_want(r->a->call);
	const struct calendar_zone zone = server_zone(&r->a->zone);
	uint64_t oldest = agent_oldest_words_ms(r->a);
	struct store_said what = {.guild = where->guild,
				  .channel = where->channel,
				  .since_ms = oldest,
				  .until_ms = find_known(r),
				  .held = true,
				  .name = "",
				  .words = r->question,
				  .most = 2 * SLICE_LINES,
				  .wait_ms = embedding_wait_ms(r)};
	struct time_window window;
	char *people;
	int err;

	if (time_cue_find(r->question, r->asked_ms, &zone, &window))
		what.when = &window;
	if (what.since_ms >= what.until_ms)
		return ENOENT;
	people = list_named(r);
	what.people = people;
	err = store_find_said(r->a->store, &what, take_half, &r->lines);
	r->lines.out = !err;
	free(people);
	return err;
}

void agent_retrieval_begin(struct agent_retrieval *r, const struct room_effect *e)
{
	const struct calendar_zone zone = server_zone(&r->a->zone);
	char terms[TERMS_QUERY_MAX];

	drop_request(r);
	r->number = e->chunk;
	r->user = e->user;
	r->asked_ms = env_wall_ms(r->a->env);
	slice_question(r->question, sizeof r->question, e->text, r->name);
	/* Of a question without content words the store would give the newest rows. */
	if (!terms_query(terms, r->question)) {
		answer_room(r, true);
		return;
	}
	if (r->a->settings->memory_days) {
		r->request = json_pack("{s:s}", "words", r->question);
		time_cue_note(r->request, r->question, r->asked_ms, &zone);
		find_facts(r);
	}
	find_lines(r);
	if (!r->facts.out && !r->lines.out)
		answer_room(r, false);
}
