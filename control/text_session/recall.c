/* What the memory has about a question (inside.h).
 *
 * A message is read by everybody in its channel, so the slice holds facts of the server's memory
 * alone, and none of a person's own. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/memory/slice.h"
#include "control/memory/terms.h"
#include "control/prompts/prompts.def"
#include "control/settings/settings.h"
#include "control/store/store.h"
#include "control/text_session/inside.h"
#include "ipc/env.h"
#include "proto/discord.h"

enum { QUESTION = 1024 };

/* The embedded engine has no use for it. */
static bool is_used(const struct text_guild *g)
{
	const struct settings *s = g->settings;
	const struct provider_record *p = settings_purpose(s, PURPOSE_TEXT_REPLY, 0);

	return g->id && g->ts->conf.store && s->store_words_hours && s->memory_context &&
	       s->memory_days && p && p->dialect != DIALECT_EMBEDDED;
}

static const char *text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static void add_facts(const struct text_guild *g, const json_t *found, struct memory_slice *s)
{
	const json_t *fact;
	size_t i;

	json_array_foreach(found, i, fact)
	{
		const json_t *former = json_array_get(json_object_get(fact, "former"), 0);
		struct slice_quote q = {
			.id = (uint32_t)json_integer_value(json_object_get(fact, "id")),
			.author = text_at(fact, "name"),
			.text = text_at(fact, "text"),
			.at_ms = (uint64_t)json_integer_value(json_object_get(fact, "at_ms")),
			.former = former ? text_at(former, "text") : NULL};

		if (discord_u64(text_at(fact, "user"), &q.user) &&
		    !json_is_true(json_object_get(fact, "unsure")) &&
		    !json_is_true(json_object_get(fact, "private")) &&
		    g->ts->conf.remembersh(g->id, q.user, g->ts->conf.arg))
			slice_add_fact(s, &q);
	}
}

static void take_facts(int err, const struct store_document *document, void *arg)
{
	struct text_job *job = arg;
	json_t *found = err ? NULL : json_loads(document->document, 0, NULL);
	const struct text_guild *g = job->g;
	struct memory_slice s = {
		.utc_offset_s = (int32_t)env_utc_offset(g->ts->conf.env, g->settings->time_zone)};

	add_facts(g, found, &s);
	json_decref(found);
	if (slice_count(&s) && asprintf(&job->memory, "%s%s", PROMPT_MEMORY_SECTION, s.text) < 0)
		job->memory = NULL;
	text_asking_recalled(job);
}

bool text_recall_begin(struct text_job *job, uint64_t user, const char *question)
{
	const struct text_guild *g = job->g;
	char asked[QUESTION], terms[TERMS_QUERY_MAX];
	struct store_facts f = {
		.guild = g->id, .user = user, .name = "", .any = true, .most = 2 * SLICE_FACTS};
	json_t *request;
	char *text;
	int err = ENOMEM;

	if (!is_used(g))
		return false;
	slice_question(asked, sizeof asked, question, g->ts->name);
	/* Of a question without content words the store would give the newest rows. */
	if (!terms_query(terms, asked))
		return false;
	request = json_pack("{s:s}", "words", asked);
	text = request ? json_dumps(request, JSON_COMPACT) : NULL;
	f.request = text;
	f.question = asked;
	f.wait_ms = g->settings->memory_wait_ms;
	if (text)
		err = store_find_facts(g->ts->conf.store, &f, take_facts, job);
	free(text);
	json_decref(request);
	job->state = TEXT_JOB_RECALLS;
	return !err;
}

void text_recall_end(struct text_job *job)
{
	if (job->state == TEXT_JOB_RECALLS && job->g->ts->conf.store)
		store_forget(job->g->ts->conf.store, job);
}
