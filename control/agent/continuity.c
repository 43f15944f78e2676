#include "control/agent/continuity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/agent/inside.h"
#include "control/agent/unfinished.h"
#include "control/media/media.h"
#include "control/memory/slice.h"
#include "control/settings/settings.h"
#include "control/store/store.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/discord.h"

#define HOUR_MS UINT64_C(3600000)
#define DAY_MS	(24 * HOUR_MS)

/* Stands in prompts until people have heard an answer to a question with it. */
struct telling {
	bool told;	  /* it stood in a prompt */
	uint64_t answers; /* that were heard before that */
};

struct agent_continuity {
	struct agent *a;
	json_t *summaries;  /* as the store gave them; NULL: none yet */
	json_t *unfinished; /* the line; NULL: none, or it was told */
	bool cut;	    /* it is an answer, not a question */
	bool opens;	    /* the newest slice holds summaries of the last session */
	struct telling unfinished_told, opening_told;
};

int agent_continuity_alloc(struct agent_continuity **out, struct agent *a)
{
	struct agent_continuity *c = calloc(1, sizeof *c);

	if (!c)
		return ENOMEM;
	c->a = a;
	*out = c;
	return 0;
}

struct agent_continuity *agent_continuity_free(struct agent_continuity *c)
{
	if (!c)
		return NULL;
	if (c->a->store)
		store_forget(c->a->store, c);
	json_decref(c->summaries);
	json_decref(c->unfinished);
	free(c);
	return NULL;
}

static void take_lines(int err, const struct store_document *document, void *arg)
{
	struct agent_continuity *c = arg;
	json_t *lines = err ? NULL : json_loads(document->document, 0, NULL), *line;
	size_t i, told = 0;

	json_decref(c->unfinished);
	c->unfinished = json_incref((json_t *)(uintptr_t)unfinished_find(lines, &c->cut));
	c->unfinished_told = (struct telling){0};
	json_array_foreach(lines, i, line)
	{
		if (!json_is_string(json_object_get(line, "text")) ||
		    !agent_may_recall_line(c->a, line))
			continue;
		agent_recall_line(c->a, line);
		told++;
	}
	log_info("continued", "guild=%llu lines=%zu of=%zu",
		 (unsigned long long)media_call_want(c->a->call)->guild, told,
		 json_array_size(lines));
	json_decref(lines);
}

static void take_summaries(int err, const struct store_document *document, void *arg)
{
	struct agent_continuity *c = arg;

	json_decref(c->summaries);
	c->summaries = err ? NULL : json_loads(document->document, 0, NULL);
}

static void find_lines(struct agent_continuity *c, uint64_t now)
{
	const struct media_want *where = media_call_want(c->a->call);
	uint64_t oldest = agent_oldest_words_ms(c->a);
	struct store_said what = {.guild = where->guild,
				  .channel = where->channel,
				  .until_ms = now,
				  .name = "",
				  .words = "",
				  .most = CONTINUITY_LINES};

	what.since_ms = now > CONTINUITY_HOURS * HOUR_MS ? now - CONTINUITY_HOURS * HOUR_MS : 0;
	what.since_ms = oldest > what.since_ms ? oldest : what.since_ms;
	if (what.since_ms < what.until_ms)
		store_find_said(c->a->store, &what, take_lines, c);
}

static void find_summaries(struct agent_continuity *c)
{
	const struct media_want *where = media_call_want(c->a->call);
	uint64_t keep = c->a->settings->memory_days * DAY_MS, now = env_wall_ms(c->a->env);

	if (keep)
		store_find_summaries(c->a->store, where->guild, where->channel,
				     now > keep ? now - keep : 0, take_summaries, c);
}

void agent_continuity_begin(struct agent_continuity *c)
{
	c->opening_told = (struct telling){0};
	if (!agent_retrieval_is_used(c->a->retrieval))
		return;
	find_lines(c, env_wall_ms(c->a->env));
	find_summaries(c);
}

void agent_continuity_renew(struct agent_continuity *c)
{
	if (!c->summaries)
		return;
	json_decref(c->summaries);
	c->summaries = NULL;
	find_summaries(c);
}

static bool allows_people(const struct agent *a, const json_t *people)
{
	const json_t *one;
	uint64_t user;
	size_t i;

	json_array_foreach(people, i, one)
	{
		if (!discord_u64(json_string_value(one), &user) || !agent_may_recall(a, user))
			return false;
	}
	return json_array_size(people) > 0;
}

static uint64_t number_of(const json_t *summary, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(summary, key));
}

static bool is_present(const struct agent *a, const json_t *user)
{
	char label[ROOM_NAME_MAX];
	uint64_t id;

	return discord_u64(json_string_value(user), &id) && room_label(a->room, id, "", label);
}

static bool has_returned(const struct agent *a, const json_t *people)
{
	const json_t *one;
	size_t i;

	json_array_foreach(people, i, one)
	{
		if (is_present(a, one))
			return true;
	}
	return false;
}

/* Everybody for whom the answer was. */
static bool have_all_returned(const struct agent *a, const json_t *line)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(line, "askers"), i, one)
	{
		if (!is_present(a, one))
			return false;
	}
	return is_present(a, json_object_get(line, "user"));
}

/* Answers that people heard, to their end or not. */
static uint64_t count_answers(const struct agent *a)
{
	return room_count(a->room, ROOM_REASON_ANSWERED) +
	       room_count(a->room, ROOM_REASON_INTERRUPTED);
}

static bool is_over(const struct agent_continuity *c, const struct telling *t)
{
	return t->told && count_answers(c->a) > t->answers;
}

void agent_continuity_add_unfinished(struct agent_continuity *c, struct memory_slice *s)
{
	const struct agent *a = c->a;
	char label[ROOM_NAME_MAX];
	struct slice_quote q;

	if (is_over(c, &c->unfinished_told)) {
		json_decref(c->unfinished);
		c->unfinished = NULL;
	}
	if (!c->unfinished || !have_all_returned(a, c->unfinished) ||
	    !agent_may_recall_line(a, c->unfinished))
		return;
	q = (struct slice_quote){.id = (uint32_t)number_of(c->unfinished, "id"),
				 .text = json_string_value(json_object_get(c->unfinished, "text")),
				 .at_ms = number_of(c->unfinished, "at_ms")};
	discord_u64(json_string_value(json_object_get(c->unfinished, "user")), &q.user);
	room_label(a->room, q.user, "", label);
	q.author = label;
	if (q.text)
		slice_add_unfinished(s, &q, c->cut);
}

static void note_telling(const struct agent_continuity *c, struct telling *t)
{
	if (!t->told)
		*t = (struct telling){true, count_answers(c->a)};
}

void agent_continuity_note_told(struct agent_continuity *c, const char *memory)
{
	if (c->unfinished && slice_has_line(memory, SLICE_UNFINISHED))
		note_telling(c, &c->unfinished_told);
	if (c->opens && slice_has_line(memory, SLICE_SUMMARIZED))
		note_telling(c, &c->opening_told);
}

/* The parts of the last session, if the conversation may go on where that one ended. */
static bool opens_conversation(const struct agent_continuity *c, const json_t *summary)
{
	return !is_over(c, &c->opening_told) &&
	       number_of(summary, "ended_ms") + CONTINUITY_HOURS * HOUR_MS >=
		       env_wall_ms(c->a->env) &&
	       number_of(summary, "session") ==
		       number_of(json_array_get(c->summaries, 0), "session") &&
	       has_returned(c->a, json_object_get(summary, "people"));
}

void agent_continuity_add(struct agent_continuity *c, struct memory_slice *s, const char *question)
{
	const json_t *one;
	size_t i;

	c->opens = false;
	json_array_foreach(c->summaries, i, one)
	{
		const struct slice_quote q = {
			.id = (uint32_t)number_of(one, "line"),
			.text = json_string_value(json_object_get(one, "text")),
			.at_ms = number_of(one, "session")};
		bool opens = opens_conversation(c, one);

		if (q.text && allows_people(c->a, json_object_get(one, "people")) &&
		    (opens || slice_fits(question, q.text)) && slice_add_summary(s, &q))
			c->opens = c->opens || opens;
	}
}
