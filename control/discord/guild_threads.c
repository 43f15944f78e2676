/* The threads of a guild, also those that are archived: the settings of a channel hold in its
 * threads, of which their messages do not tell it. */
#include <stdio.h>
#include <string.h>

#include "control/discord/guilds_inside.h"
#include "proto/discord.h"

enum {
	THREADS = 1000, /* Discord has no more active ones in a guild */
	ARCHIVED = 256, /* those that were archived last */
	PRIVATE_THREAD = 12
};

/* The part of this name, which is made if need be. */
static json_t *open_part(json_t *guild, const char *name)
{
	json_t *part = json_object_get(guild, name);

	if (!part) {
		part = json_object();
		json_object_set_new(guild, name, part);
	}
	return part;
}

/* The one that was archived first gives way: an object has its keys in the order in which they
 * came. */
static void keep_archived(json_t *guild, const char *id, const char *parent)
{
	json_t *archived = open_part(guild, "archived");

	json_object_del(archived, id);
	while (json_object_size(archived) >= ARCHIVED)
		json_object_del(archived, json_object_iter_key(json_object_iter(archived)));
	json_object_set_new(archived, id, json_string(parent));
}

/* Discord names an archived one again when somebody writes there. */
static void put_thread(json_t *guild, const json_t *t)
{
	const char *id = guilds_id(t, "id"), *parent = guilds_id(t, "parent_id");
	const char *name = json_string_value(json_object_get(t, "name"));
	const json_t *meta = json_object_get(t, "thread_metadata");
	bool private = json_integer_value(json_object_get(t, "type")) == PRIVATE_THREAD;
	json_t *threads;

	if (!id || !parent)
		return;
	threads = open_part(guild, "threads");
	if (json_is_true(json_object_get(meta, "archived"))) {
		json_object_del(threads, id);
		keep_archived(guild, id, parent);
	} else if (json_object_size(threads) < THREADS || json_object_get(threads, id)) {
		json_object_del(json_object_get(guild, "archived"), id);
		json_object_set_new(threads, id,
				    json_pack("[s,s,b]", parent, name ? name : "", (int)private));
	}
}

static bool is_kept(const json_t *guild, const char *id)
{
	return json_object_get(json_object_get(guild, "threads"), id) ||
	       json_object_get(json_object_get(guild, "archived"), id);
}

/* Threads of which the list does not tell any more were archived meanwhile. */
void guild_threads_begin(json_t *guild, const json_t *before, const json_t *list)
{
	json_t *t;
	const char *key;
	size_t i;

	json_object_foreach(json_object_get(before, "archived"), key, t)
	{
		if (json_is_string(t))
			keep_archived(guild, key, json_string_value(t));
	}
	json_array_foreach(list, i, t) put_thread(guild, t);
	json_object_foreach(json_object_get(before, "threads"), key, t)
	{
		/* Those that the list names are in no need of a place among the archived ones. */
		if (json_is_string(json_array_get(t, 0)) && !is_kept(guild, key))
			keep_archived(guild, key, json_string_value(json_array_get(t, 0)));
	}
}

bool guild_threads_event(json_t *guild, const char *name, const json_t *d)
{
	const char *id = guilds_id(d, "id");
	const json_t *t;
	size_t i;

	if (strcmp(name, "THREAD_LIST_SYNC") == 0) {
		json_array_foreach(json_object_get(d, "threads"), i, t) put_thread(guild, t);
		return true;
	}
	if (!id)
		return false;
	if (strcmp(name, "THREAD_DELETE") == 0) {
		json_object_del(json_object_get(guild, "threads"), id);
		json_object_del(json_object_get(guild, "archived"), id);
	} else if (strcmp(name, "THREAD_CREATE") == 0 || strcmp(name, "THREAD_UPDATE") == 0) {
		put_thread(guild, d);
	} else {
		return false;
	}
	return true;
}

void guilds_remember(struct guilds *g, const json_t *snapshot)
{
	const char *key;
	json_t *guild;
	uint64_t id;

	json_object_foreach((json_t *)(uintptr_t)snapshot, key, guild)
	{
		const char *name = json_string_value(json_object_get(guild, "name"));
		json_t *kept = NULL;

		if (discord_snowflake(key, &id))
			kept = json_pack("{s:b,s:s,s:{},s:{},s:{},s:{},s:{},s:O*,s:O*}", "out", 1,
					 "name", name ? name : "", "roles", "channels", "members",
					 "voice", "categories", "threads",
					 json_object_get(guild, "threads"), "archived",
					 json_object_get(guild, "archived"));
		if (kept)
			json_object_set_new(guilds_all(g), key, kept);
	}
}

/* The channel of an entry of "threads" or "archived"; NULL: it has none. */
static const char *parent_of(const json_t *t)
{
	return json_string_value(json_is_array(t) ? json_array_get(t, 0) : t);
}

static void drop_from(json_t *part, const char *parent)
{
	const char *key;
	json_t *t;
	void *next;

	json_object_foreach_safe(part, next, key, t)
	{
		const char *of = parent_of(t);

		if (of && strcmp(of, parent) == 0)
			json_object_del(part, key);
	}
}

void guild_threads_drop(json_t *guild, const char *parent)
{
	drop_from(json_object_get(guild, "threads"), parent);
	drop_from(json_object_get(guild, "archived"), parent);
}

/* ---- queries ---- */

uint64_t guilds_thread(const struct guilds *g, uint64_t guild, uint64_t thread, const char **name)
{
	const json_t *t;
	const char *title;
	uint64_t parent = 0;
	char id[24];

	snprintf(id, sizeof id, "%llu", (unsigned long long)thread);
	t = json_object_get(guilds_part(g, guild, "threads"), id);
	title = json_string_value(json_array_get(t, 1));
	if (!t)
		t = json_object_get(guilds_part(g, guild, "archived"), id);
	*name = title ? title : "";
	discord_snowflake(parent_of(t), &parent);
	return parent;
}

static size_t list_threads(const json_t *part, uint64_t channel, uint64_t *to, size_t most)
{
	const json_t *t;
	const char *key;
	size_t n = 0;

	json_object_foreach((json_t *)(uintptr_t)part, key, t)
	{
		uint64_t parent = 0;

		discord_snowflake(parent_of(t), &parent);
		if (n < most && parent == channel && discord_snowflake(key, &to[n]))
			n++;
	}
	return n;
}

size_t guilds_threads(const struct guilds *g, uint64_t guild, uint64_t channel, uint64_t *to,
		      size_t most)
{
	size_t n = list_threads(guilds_part(g, guild, "threads"), channel, to, most);

	return n + list_threads(guilds_part(g, guild, "archived"), channel, to + n, most - n);
}

size_t guilds_archived(const struct guilds *g, uint64_t guild, uint64_t *to, size_t most)
{
	json_t *part = guilds_part(g, guild, "archived"), *t;
	size_t left = json_object_size(part), n = 0;
	const char *key;

	/* The last ones, turned round. */
	json_object_foreach(part, key, t)
	{
		uint64_t id;

		if (left-- > most || !discord_snowflake(key, &id))
			continue;
		memmove(to + 1, to, n++ * sizeof *to);
		to[0] = id;
	}
	return n;
}
