/* What the memory has for an answer in writing (inside.h).
 *
 * A message is read by everybody in its channel. So what is told comes from that channel, from
 * facts of the server's memory, none of a person's own, and from a voice channel that everybody in
 * the server may enter. Lines and facts of people who may not be remembered any more stay out. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <jansson.h>

#include "control/memory/line_people.h"
#include "control/memory/slice.h"
#include "control/memory/tell.h"
#include "control/memory/terms.h"
#include "control/memory/time_cue.h"
#include "control/memory/untold.h"
#include "control/prompts/prompts.def"
#include "control/settings/settings.h"
#include "control/store/store.h"
#include "control/text/text_chat.h"
#include "control/text_session/inside.h"
#include "ipc/env.h"
#include "proto/discord.h"

enum {
	QUESTION = 1024,
	FACTS_ABOUT = 10, /* of the person who asks */
	FACTS = 20,	  /* with those about the question */
	LINES = 8,	  /* found by the question */
	SPOKEN = 12,
	SPOKEN_MIN = 30, /* minutes */
	LOOKUPS = 6,
	LOOKUPS_H = 6,
	MINUTE_MS = 60000,
	HOUR_MS = 3600000,
};

static const struct slice_limits limits_memory = {FACTS, LINES, 6000};
static const struct slice_limits limits_earlier = {0, TEXT_HISTORY, 8000};
static const struct slice_limits limits_spoken = {0, SPOKEN, 2400};
static const struct slice_limits limits_lookups = {0, LOOKUPS, 2000};

enum part { PART_ABOUT, PART_FACTS, PART_LINES, PART_EARLIER, PART_SPOKEN, PART_LOOKUPS, PARTS };

/* One request. */
struct text_part {
	struct text_recall *r;
	bool out; /* the store owes an answer */
	json_t *found;
	json_t *request; /* for facts */
	unsigned rounds;
};

struct text_recall {
	struct text_job *job;
	bool begun; /* all requests are made */
	struct text_part part[PARTS];
	uint64_t user, now_ms;
	unsigned missing; /* lines that the core has no more */
	char called[TEXT_CALLED];
	json_t *told; /* texts that the model is told anyway */
	char question[QUESTION];
	struct calendar_zone zone;
	struct memory_slice slice;
};

/* The embedded engine has no use for it. */
static bool is_used(const struct text_guild *g)
{
	const struct settings *s = g->settings;
	const struct provider_record *p = settings_purpose(s, PURPOSE_TEXT_REPLY, 0);

	return g->id && g->ts->conf.store && s->store_words_hours && s->memory_context && p &&
	       p->dialect != DIALECT_EMBEDDED;
}

static const char *text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* ---- what may be told ---- */

bool text_session_may_recall(const struct text_guild *g, uint64_t user)
{
	const struct text_session_conf *c = &g->ts->conf;

	return user && !text_forgot_lately(g->core, user) && c->remembersh(g->id, user, c->arg);
}

static bool may_tell(const struct text_recall *r, const char *id, uint64_t *user)
{
	return discord_u64(id, user) && text_session_may_recall(r->job->g, *user);
}

static bool may_recall(uint64_t user, void *arg)
{
	return text_session_may_recall(arg, user);
}

/* Whoever reads a thread may read the channel in which it was started. */
bool text_session_may_tell(const struct text_guild *g, uint64_t channel, const json_t *fact)
{
	const struct text_session_conf *c = &g->ts->conf;
	const json_t *channels = json_object_get(fact, "channels"), *one;
	const char *title;
	uint64_t parent = text_session_parent(g->ts, g->id, channel, &title), told;
	size_t i;

	json_array_foreach(channels, i, one)
	{
		if (discord_u64(json_string_value(one), &told) && told &&
		    (told == channel || told == parent ||
		     (c->openh && c->openh(g->id, channel, told, c->arg))))
			return true;
	}
	return !channels;
}

bool text_session_may_tell_line(const struct text_guild *g, const json_t *line)
{
	return text_session_may_recall(g, tell_user(line)) &&
	       line_people_all(line, may_recall, (void *)(uintptr_t)g);
}

/* The bot is "you", and nobody else is. Borrowed until the next one. */
static const char *author_of(struct text_recall *r, const json_t *line, uint64_t user)
{
	const char *name;

	if (json_is_true(json_object_get(line, "bot")))
		return "you";
	name = text_member_called(r->job->g, user, text_at(line, "name"), r->called);
	return strcasecmp(name, "you") == 0 ? "a person named You" : name;
}

static bool note_one(uint64_t user, void *arg)
{
	struct text_recall *r = arg;

	text_keeping_told(r->job->g, r->job->reply, user);
	return true;
}

/* The answer may quote the speaker, and of the bot's own line whom that answers and quotes. */
static void note_told(struct text_recall *r, const json_t *line, uint64_t user)
{
	note_one(user, r);
	line_people_all(line, note_one, r);
}

static bool read_line(struct text_recall *r, const json_t *line, struct slice_quote *out)
{
	*out = (struct slice_quote){
		.id = (uint32_t)json_integer_value(json_object_get(line, "id")),
		.text = text_at(line, "text"),
		.at_ms = (uint64_t)json_integer_value(json_object_get(line, "at_ms"))};
	out->user = tell_user(line);
	if (!*out->text || !text_session_may_tell_line(r->job->g, line) ||
	    json_object_get(r->told, out->text))
		return false;
	out->author = author_of(r, line, out->user);
	/* What the bot said may repeat anybody. */
	r->job->others |= out->user != r->user || json_is_true(json_object_get(line, "bot"));
	note_told(r, line, out->user);
	return true;
}

/* ---- the sections ---- */

/* A former value is of the fact's own author, and names none. */
static const json_t *first_told(const struct text_recall *r, const json_t *list)
{
	const json_t *one;
	uint64_t author;
	size_t i;

	json_array_foreach(list, i, one)
	{
		if (text_session_may_tell(r->job->g, r->job->channel, one) &&
		    (!json_object_get(one, "user") || may_tell(r, text_at(one, "user"), &author)))
			return one;
	}
	return NULL;
}

static uint64_t ms_at(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

/* The newest that it surely took the place of, and what contradicts it, as far as they may be
 * told. */
static void add_others(struct text_recall *r, const json_t *fact, struct slice_quote *q)
{
	const json_t *former = first_told(r, json_object_get(fact, "former"));
	const json_t *against = first_told(r, json_object_get(fact, "conflicts"));
	uint64_t author;

	if (former && !json_is_true(json_object_get(former, "unsure"))) {
		q->former = text_at(former, "text");
		q->former_from_ms = ms_at(former, "from_ms");
		q->former_until_ms = ms_at(former, "until_ms");
	}
	if (against) {
		if (discord_u64(text_at(against, "user"), &author))
			text_keeping_told(r->job->g, r->job->reply, author);
		q->against = text_at(against, "text");
		q->against_ms = ms_at(against, "from_ms");
	}
}

static void add_facts(struct text_recall *r, const json_t *found, unsigned most)
{
	const json_t *fact;
	size_t i;

	json_array_foreach(found, i, fact)
	{
		const struct text_job *job = r->job;
		struct slice_quote q = {
			.id = (uint32_t)json_integer_value(json_object_get(fact, "id")),
			.text = text_at(fact, "text"),
			.at_ms = ms_at(fact, "at_ms"),
			.again_ms = ms_at(fact, "again_ms")};

		if (r->slice.facts < most && text_session_may_tell(job->g, job->channel, fact) &&
		    !json_is_true(json_object_get(fact, "unsure")) &&
		    !json_is_true(json_object_get(fact, "private")) &&
		    may_tell(r, text_at(fact, "user"), &q.user)) {
			q.author = author_of(r, fact, q.user);
			add_others(r, fact, &q);
			slice_add_fact(&r->slice, &q);
			r->job->others |= q.user != r->user;
			note_told(r, fact, q.user);
		}
	}
}

static void add_found(struct text_recall *r, const json_t *found)
{
	const json_t *line;
	struct slice_quote q;
	size_t i;

	json_array_foreach(found, i, line)
	{
		if (json_is_true(json_object_get(line, "unsure")) || !read_line(r, line, &q))
			continue;
		q.other_time = json_is_true(json_object_get(line, "other_time"));
		slice_add_line(&r->slice, &q, r->question);
	}
}

/* The newest come first. */
static void add_recent(struct text_recall *r, const json_t *found, unsigned most)
{
	struct slice_quote q;
	size_t n = json_array_size(found);

	for (size_t i = n < most ? n : most; i > 0; i--)
		if (read_line(r, json_array_get(found, i - 1), &q)) {
			slice_add_recent(&r->slice, &q, r->now_ms);
			/* No other section quotes it again. */
			json_object_set_new(r->told, q.text, json_true());
		}
}

/* Of strangers: fenced as all other quotes. The request for it may tell of who asked. */
static void add_lookups(struct text_recall *r, const json_t *found)
{
	for (size_t i = json_array_size(found); i > 0; i--) {
		const json_t *one = json_array_get(found, i - 1);
		uint64_t user;
		const struct slice_quote q = {
			.id = (uint32_t)i,
			.author = text_at(one, "tool"),
			.text = text_at(one, "text"),
			.at_ms = (uint64_t)json_integer_value(json_object_get(one, "at_ms"))};

		if (may_tell(r, text_at(one, "user"), &user) &&
		    slice_add_recent(&r->slice, &q, r->now_ms))
			r->job->strangers = true;
	}
}

static void begin_section(struct text_recall *r, const struct slice_limits *limits)
{
	r->zone = server_zone(&r->job->g->zone);
	r->slice = (struct memory_slice){.zone = &r->zone, .limits = limits};
}

static void end_section(struct text_recall *r, const char *title)
{
	struct text_job *job = r->job;
	char *all;

	if (!slice_count(&r->slice) ||
	    asprintf(&all, "%s%s%s", job->memory ? job->memory : "", title, r->slice.text) < 0)
		return;
	free(job->memory);
	job->memory = all;
}

static void finish(struct text_recall *r)
{
	struct text_job *job = r->job;

	begin_section(r, &limits_earlier);
	add_recent(r, r->part[PART_EARLIER].found, r->missing);
	end_section(r, PROMPT_TEXT_EARLIER);
	begin_section(r, &limits_spoken);
	add_recent(r, r->part[PART_SPOKEN].found, SPOKEN);
	end_section(r, PROMPT_TEXT_SPOKEN);
	begin_section(r, &limits_lookups);
	add_lookups(r, r->part[PART_LOOKUPS].found);
	end_section(r, PROMPT_TEXT_LOOKUPS);
	begin_section(r, &limits_memory);
	add_facts(r, r->part[PART_ABOUT].found, FACTS_ABOUT);
	add_facts(r, r->part[PART_FACTS].found, FACTS);
	add_found(r, r->part[PART_LINES].found);
	end_section(r, PROMPT_MEMORY_SECTION);
	text_recall_end(job);
	text_asking_recalled(job);
}

static bool is_waiting(const struct text_recall *r)
{
	for (size_t i = 0; i < PARTS; i++)
		if (r->part[i].out)
			return true;
	return !r->begun;
}

static enum untold judge(const json_t *fact, void *arg)
{
	const struct text_recall *r = arg;
	uint64_t user;

	if (!may_tell(r, text_at(fact, "user"), &user))
		return UNTOLD_AUTHOR;
	return text_session_may_tell(r->job->g, r->job->channel, fact) ? UNTOLD_NOT
								       : UNTOLD_CHANNEL;
}

static unsigned facts_wanted(const struct text_part *p)
{
	return p == &p->r->part[PART_ABOUT] ? FACTS_ABOUT : FACTS;
}

static void take_part(int err, const struct store_document *document, void *arg);

static bool search_facts(struct text_part *p)
{
	const struct text_guild *g = p->r->job->g;
	char *text = json_dumps(p->request, JSON_COMPACT);
	const struct store_facts f = {
		.guild = g->id,
		.user = p->r->user,
		.name = "",
		.any = true,
		.request = text,
		.most = 4 * facts_wanted(p), /* some may not be told here */
		.question = json_string_value(json_object_get(p->request, "words")),
		.wait_ms = g->settings->memory_wait_ms};

	p->out = text && !store_find_facts(g->ts->conf.store, &f, take_part, p);
	free(text);
	return p->out;
}

/* True: the facts are searched for again, without those that may not be told. */
static bool search_again(struct text_part *p)
{
	size_t told = 0;

	for (size_t i = 0; i < json_array_size(p->found); i++)
		told += judge(json_array_get(p->found, i), p->r) == UNTOLD_NOT;
	if (told >= facts_wanted(p) || p->rounds++ >= UNTOLD_ROUNDS ||
	    !untold_add(p->request, p->found, judge, p->r) || !search_facts(p))
		return false;
	json_decref(p->found);
	p->found = NULL;
	return true;
}

static void take_part(int err, const struct store_document *document, void *arg)
{
	struct text_part *p = arg;

	p->out = false;
	p->found = err ? NULL : json_loads(document->document, 0, NULL);
	if (p->request && search_again(p))
		return;
	if (!is_waiting(p->r))
		finish(p->r);
}

/* ---- the requests ---- */

static void find_facts(struct text_recall *r, enum part part)
{
	const struct calendar_zone zone = server_zone(&r->job->g->zone);
	struct text_part *p = &r->part[part];

	p->request = part == PART_ABOUT ? json_pack("{s:b}", "mine", 1)
					: json_pack("{s:s}", "words", r->question);
	if (part != PART_ABOUT)
		time_cue_note(p->request, r->question, r->now_ms, &zone);
	search_facts(p);
}

static void find_lines(struct text_recall *r, enum part part, uint64_t channel, unsigned most,
		       uint64_t lasts_ms)
{
	const struct text_guild *g = r->job->g;
	uint64_t kept = (uint64_t)g->settings->store_words_hours * HOUR_MS;
	uint64_t since = lasts_ms && lasts_ms < kept ? lasts_ms : kept;
	const struct calendar_zone zone = server_zone(&g->zone);
	struct time_window window;
	struct store_said what = {.guild = g->id,
				  .channel = channel,
				  .since_ms = r->now_ms > since ? r->now_ms - since : 0,
				  .name = "",
				  .words = part == PART_LINES ? r->question : "",
				  .most = most,
				  .wait_ms = g->settings->memory_wait_ms};

	/* A time that the question names limits the search, as in conversation_search. */
	if (part == PART_LINES && time_cue_find(r->question, r->now_ms, &zone, &window))
		what.when = &window;
	r->part[part].out = !store_find_said(g->ts->conf.store, &what, take_part, &r->part[part]);
}

static void find_lookups(struct text_recall *r)
{
	const struct text_guild *g = r->job->g;
	const struct store_lookups what = {
		.guild = g->id,
		.channel = r->job->channel,
		.since_ms = r->now_ms > LOOKUPS_H * HOUR_MS ? r->now_ms - LOOKUPS_H * HOUR_MS : 0,
		.most = LOOKUPS};

	r->part[PART_LOOKUPS].out =
		!store_find_lookups(g->ts->conf.store, &what, take_part, &r->part[PART_LOOKUPS]);
}

static void begin_requests(struct text_recall *r)
{
	const struct text_guild *g = r->job->g;
	const struct text_session_conf *c = &g->ts->conf;
	uint64_t spoken = c->voiceh ? c->voiceh(g->id, r->job->channel, c->arg) : 0;
	char terms[TERMS_QUERY_MAX];

	/* Of a question without content words the store would give the newest rows. */
	if (terms_query(terms, r->question)) {
		find_lines(r, PART_LINES, r->job->channel, 2 * LINES, 0);
		if (g->settings->memory_days)
			find_facts(r, PART_FACTS);
	}
	if (g->settings->memory_days)
		find_facts(r, PART_ABOUT);
	if (r->missing)
		find_lines(r, PART_EARLIER, r->job->channel, TEXT_HISTORY, 0);
	/* The channel's own talk is among its lines. */
	if (spoken && spoken != r->job->channel)
		find_lines(r, PART_SPOKEN, spoken, SPOKEN, SPOKEN_MIN * MINUTE_MS);
	find_lookups(r);
	r->begun = true;
}

bool text_recall_begin(struct text_job *job, const struct text_effect *e)
{
	const struct text_guild *g = job->g;
	const struct text_trigger *last = e->triggers[e->n_triggers - 1];
	struct text_recall *r = is_used(g) && !g->ts->memory_held ? calloc(1, sizeof *r) : NULL;

	if (!r)
		return false;
	r->job = job;
	r->user = last->user;
	r->now_ms = env_wall_ms(g->ts->conf.env);
	r->missing = TEXT_HISTORY - (unsigned)e->n_history;
	r->told = json_object();
	slice_question(r->question, sizeof r->question, last->text, g->ts->name);
	for (size_t i = 0; i < e->n_history; i++)
		json_object_set_new(r->told, e->history[i].text, json_true());
	for (size_t i = 0; i < e->n_triggers; i++)
		json_object_set_new(r->told, e->triggers[i]->text, json_true());
	for (size_t i = 0; i < PARTS; i++)
		r->part[i].r = r;
	job->recall = r;
	job->state = TEXT_JOB_RECALLS;
	begin_requests(r);
	if (is_waiting(r))
		return true;
	text_recall_end(job);
	return false;
}

void text_recall_end(struct text_job *job)
{
	struct text_recall *r = job->recall;

	if (!r)
		return;
	for (size_t i = 0; i < PARTS; i++) {
		if (r->part[i].out)
			store_forget(job->g->ts->conf.store, &r->part[i]);
		json_decref(r->part[i].found);
		json_decref(r->part[i].request);
	}
	json_decref(r->told);
	free(r);
	job->recall = NULL;
}
