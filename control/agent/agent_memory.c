#include "control/agent/agent_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/agent/inside.h"
#include "control/media/media.h"
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
};

struct agent_memory {
	struct agent *a;
	agent_memory_h *h;
	void *arg;
	struct memory_ask ask[ASKS_MAX];
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
		if (m->ask[i].m)
			store_forget(m->a->store, &m->ask[i]);
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
	char *text = err ? NULL : json_dumps(json, JSON_COMPACT);

	ask->m = NULL;
	json_decref(json);
	m->h(id, text != NULL, slice_str(text ? text : strerror(err ? err : ENOMEM)), m->arg);
	free(text);
}

/* ---- the timeline ---- */

/* The question itself is no answer to it. */
static bool asks_now(const struct agent_memory *m, const char *words)
{
	const struct room_turn *turn = room_active(m->a->room);

	return turn && strstr(turn->transcript, words);
}

/* As the model gets it. NULL: it may not be told. */
static json_t *tell_line(const struct agent_memory *m, const json_t *line)
{
	const char *name = json_string_value(json_object_get(line, "name"));
	const char *text = json_string_value(json_object_get(line, "text"));
	uint64_t at = (uint64_t)json_integer_value(json_object_get(line, "at_ms"));
	uint64_t user = 0, now = env_wall_ms(m->a->env);
	bool bot = json_is_true(json_object_get(line, "bot"));

	discord_u64(json_string_value(json_object_get(line, "user")), &user);
	if (!text || asks_now(m, text) || (user && !agent_may_recall(m->a, user)))
		return NULL;
	return json_pack("{s:O,s:s,s:s,s:I}", "id", json_object_get(line, "id"), "speaker",
			 bot	? "you"
			 : name ? name
				: "",
			 "said", text, "minutes_ago",
			 (json_int_t)(now > at ? (now - at) / MINUTE_MS : 0));
}

static void append_line(json_t *list, json_t *line)
{
	if (line)
		json_array_append_new(list, line);
}

static json_t *tell_lines(const struct agent_memory *m, const char *document)
{
	json_t *lines = json_loads(document, 0, NULL), *told = json_array(), *line, *beside;
	size_t i, k;

	json_array_foreach(lines, i, line)
	{
		json_t *out = tell_line(m, line), *near = json_array();

		json_array_foreach(json_object_get(line, "near"), k, beside)
		{
			append_line(near, tell_line(m, beside));
		}
		if (out && json_array_size(near))
			json_object_set(out, "near", near);
		json_decref(near);
		append_line(told, out);
	}
	json_decref(lines);
	return told;
}

static void take_lines(int err, const struct store_document *document, void *arg)
{
	struct memory_ask *ask = arg;

	give(ask, err, err ? NULL : tell_lines(ask->m, document->document));
}

/* When the turn that asks began: its own words are no evidence. */
static uint64_t asked_ms(const struct agent *a)
{
	const struct room_turn *turn = room_active(a->room);
	uint64_t now = env_now(a->env), wall = env_wall_ms(a->env), ago = 0;

	if (turn && turn->born_at && turn->born_at < now)
		ago = (now - turn->born_at) / NS_PER_MS;
	return wall > ago ? wall - ago : wall;
}

/* Only of this voice channel: whoever listens here may not be allowed to see another one. */
int agent_memory_search(struct agent_memory *m, uint32_t id, const struct tool_said *q)
{
	const struct media_want *where = media_call_want(m->a->call);
	uint64_t oldest = agent_oldest_words_ms(m->a), asked = asked_ms(m->a);
	struct memory_ask *ask = find_ask(m);
	const struct store_said what = {.guild = where->guild,
					.channel = where->channel,
					.since_ms = q->since_ms > oldest ? q->since_ms : oldest,
					.until_ms = q->until_ms && q->until_ms < asked ? q->until_ms
										       : asked,
					.name = q->speaker,
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
