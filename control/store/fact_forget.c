#include "control/store/fact_forget.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/memory/compare.h"
#include "control/memory/slice.h"
#include "control/store/db.h"
#include "control/store/db_merge.h"
#include "control/store/fact_channels.h"
#include "control/store/fact_filter.h"
#include "control/store/fact_rows.h"
#include "control/store/forgotten.h"
#include "control/store/job.h"

enum { FORGET_MAX = 20, FORGET_NEAR = 5 };

static const char *text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* Facts of the speaker that the request may name. */
struct choice {
	json_t *chosen; /* to be deleted */
	json_t *near;	/* they share words with the request, which means perhaps another fact */
	json_t *others; /* the request's words name them, too */
};

static void choose_fact(const struct job *j, json_t *list, sqlite3_stmt *s)
{
	json_array_append_new(list, json_pack("{s:I,s:s,s:b,s:o*,s:I}", "id",
					      (json_int_t)db_uint(s, 0), "text", db_text(s, 1),
					      "private", db_uint(s, 6) != 0, "channels",
					      fact_channels(s, 10), "guild", (json_int_t)j->guild));
}

static bool is_chosen(const struct choice *c, uint64_t id)
{
	const json_t *fact;
	size_t i;

	json_array_foreach(c->chosen, i, fact)
	{
		if ((uint64_t)json_integer_value(json_object_get(fact, "id")) == id)
			return true;
	}
	return false;
}

/* Neither says more than the other one. */
static bool are_copies(const char *a, const char *b)
{
	return fact_compare(a, b, true, NULL) == FACT_SAME &&
	       fact_compare(b, a, true, NULL) == FACT_SAME;
}

/* The same statement may lie in the server's memory and in the speaker's own: who forgets it means
 * both. */
static int choose_copies(struct db *db, const struct job *j, const char *text, struct choice *out)
{
	sqlite3_stmt *s = fact_rows_use(db, j, text, false, true);
	int err;

	while ((err = db_step(db, s)) == 0)
		if (db_uint(s, 4) == j->user && !is_chosen(out, db_uint(s, 0)) &&
		    are_copies(db_text(s, 1), text))
			choose_fact(j, out->chosen, s);
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

static int choose_all_copies(struct db *db, const struct job *j, struct choice *out)
{
	size_t n = json_array_size(out->chosen);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		char *text = strdup(text_at(json_array_get(out->chosen, i), "text"));

		err = text ? choose_copies(db, j, text, out) : ENOMEM;
		free(text);
	}
	return err;
}

/* The speaker may forget only facts that they said themselves. */
static int choose_facts(struct db *db, const struct job *j, const json_t *request,
			struct choice *out)
{
	const json_t *id = json_object_get(request, "id"), *tags = json_object_get(request, "tags");
	const char *words = id ? "" : text_at(request, "words");
	bool last = json_is_true(json_object_get(request, "last"));
	/* Words find everything that shares one of them: only the best is meant. */
	size_t most = *words || last ? 1 : FORGET_MAX;
	sqlite3_stmt *s = fact_rows_use(db, j, words, !*words, true);
	int err = 0;

	fact_filter_bind_tags(s, tags);
	if (id)
		db_bind_uint(s, 5, INT64_MAX);

	while ((*words || json_array_size(out->chosen) < most) && (err = db_step(db, s)) == 0) {
		bool named = !id || (uint64_t)json_integer_value(id) == db_uint(s, 0);
		bool meant = id || last || !*words || slice_names(words, db_text(s, 1));

		json_t *list = !meant				     ? out->near
			       : json_array_size(out->chosen) < most ? out->chosen
								     : out->others;

		if (db_uint(s, 4) == j->user && named &&
		    fact_filter_has_tags(db_text(s, 3), tags) &&
		    (list == out->chosen || json_array_size(list) < FORGET_NEAR))
			choose_fact(j, list, s);
	}
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

/* ---- in every server: of a direct message ---- */

/* The servers in which the speaker said facts, as a list of their numbers. */
static int list_servers(struct db *db, uint64_t user, json_t *list)
{
	sqlite3_stmt *s = db_use(db, DB_LIST_SERVERS_OF_AUTHOR);
	int err;

	db_bind_uint(s, 1, user);
	while ((err = db_step(db, s)) == 0)
		json_array_append_new(list, json_integer((json_int_t)db_uint(s, 0)));
	sqlite3_reset(s);
	return err == ENOENT ? 0 : err;
}

/* The same request, as if it named this server. */
static struct job in_server(const struct job *j, const json_t *server)
{
	struct job in = *j;

	in.guild = (uint64_t)json_integer_value(server);
	return in;
}

/* What each server has by itself: one has no part in how many another one gives. */
static int choose_apart(struct db *db, const struct job *j, const json_t *request,
			struct choice *out)
{
	struct choice own = {json_array(), json_array(), json_array()};
	int err = choose_facts(db, j, request, &own);

	json_array_extend(out->chosen, own.chosen);
	json_array_extend(out->near, own.near);
	json_array_extend(out->others, own.others);
	json_decref(own.chosen);
	json_decref(own.near);
	json_decref(own.others);
	return err;
}

/* Words that name different facts in different servers forget none of them: which is meant? */
static void choose_none_if_different(struct choice *out)
{
	const char *first = text_at(json_array_get(out->chosen, 0), "text");
	bool differ = false;
	const json_t *fact;
	json_t *doubted;
	size_t i;

	json_array_foreach(out->chosen, i, fact)
	{
		differ = differ || !are_copies(first, text_at(fact, "text"));
	}
	if (!differ)
		return;
	/* What was chosen comes first among what may be meant. */
	doubted = out->chosen;
	json_array_extend(doubted, out->others);
	json_array_extend(doubted, out->near);
	json_array_clear(out->near);
	out->chosen = out->near;
	out->near = doubted;
}

static int choose_everywhere(struct db *db, const struct job *j, const json_t *request,
			     struct choice *out)
{
	json_t *servers = json_array();
	const json_t *server;
	size_t i;
	int err = servers ? list_servers(db, j->user, servers) : ENOMEM;

	json_array_foreach(servers, i, server)
	{
		const struct job in = in_server(j, server);

		err = err ? err : choose_apart(db, &in, request, out);
	}
	choose_none_if_different(out);
	json_array_foreach(servers, i, server)
	{
		const struct job in = in_server(j, server);

		err = err ? err : choose_all_copies(db, &in, out);
	}
	json_decref(servers);
	return err;
}

int fact_list_own(struct db *db, const struct job *j, char **out)
{
	sqlite3_stmt *s = db_use(db, DB_LIST_OWN_FACTS);
	json_t *list = json_array();
	char user[24];
	int err;

	snprintf(user, sizeof user, "%llu", (unsigned long long)j->user);
	db_bind_uint(s, 1, j->user);
	db_bind_uint(s, 2, j->version);
	while ((err = db_step(db, s)) == 0)
		json_array_append_new(list,
				      json_pack("{s:I,s:s,s:s}", "id", (json_int_t)db_uint(s, 0),
						"text", db_text(s, 1), "user", user));
	sqlite3_reset(s);
	return fact_rows_dump(err == ENOENT ? 0 : err, list, out);
}

/* ---- the request ---- */

static int forget_chosen(struct db *db, const struct job *j, const json_t *chosen,
			 const char *words, struct forgotten *f)
{
	const json_t *fact;
	size_t i;
	int err = 0;

	json_array_foreach(chosen, i, fact)
	{
		uint64_t id = (uint64_t)json_integer_value(json_object_get(fact, "id"));
		const struct job in = in_server(j, json_object_get(fact, "guild"));

		err = err ? err : fact_rows_drop(db, id, words, f);
		err = err ? err : fact_rows_audit(db, &in, AUDIT_KIND_MEMORY_FORGET, "deleted");
	}
	return err ? err : forgotten_save(f);
}

static int choose(struct db *db, const struct job *j, const json_t *request, struct choice *out)
{
	int err;

	if (!j->guild)
		return choose_everywhere(db, j, request, out);
	err = choose_facts(db, j, request, out);
	return err ? err : choose_all_copies(db, j, out);
}

/* In one transaction. */
static int forget(struct db *db, const char *dir, const struct job *j, const json_t *request,
		  struct choice *choice)
{
	struct forgotten *f = NULL;
	int err = db_begin_synced(db);

	if (err)
		return err;
	err = forgotten_alloc(&f, db, dir, j->now_ms);
	if (!err)
		err = choose(db, j, request, choice);
	if (!err)
		err = forget_chosen(db, j, choice->chosen, text_at(request, "words"), f);
	if (err)
		db_rollback(db);
	else
		err = db_commit(db);
	forgotten_free(f);
	return err;
}

/* What the words may have meant instead, or meant as well. */
static void tell_candidates(json_t *root, const json_t *gone, const struct choice *c)
{
	json_t *others = json_array(), *fact;
	size_t i;

	json_array_foreach(c->others, i, fact)
	{
		if (!is_chosen(c, (uint64_t)json_integer_value(json_object_get(fact, "id"))))
			json_array_append(others, fact);
	}
	if (!json_array_size(gone) && json_array_size(c->near))
		json_object_set(root, "candidates", c->near);
	else if (json_array_size(others))
		json_object_set(root, "candidates", others);
	json_decref(others);
}

/* Models get the document of a request that names its server (memory_forget); the id of that is
 * nothing to them. */
static void leave_guild_out(json_t *list)
{
	json_t *fact;
	size_t i;

	json_array_foreach(list, i, fact)
	{
		json_object_del(fact, "guild");
	}
}

int fact_forget(struct db *db, const char *dir, const struct job *j, char **out)
{
	json_t *request = json_loads(j->text, 0, NULL), *root;
	struct choice choice = {json_array(), json_array(), json_array()};
	int err = request ? forget(db, dir, j, request, &choice) : EINVAL;

	if (!err && json_array_size(choice.chosen))
		err = db_merge(db, DB_INDEX_FACTS);
	if (j->guild) {
		leave_guild_out(choice.chosen);
		leave_guild_out(choice.near);
		leave_guild_out(choice.others);
	}
	root = json_pack("{s:O}", "forgotten", choice.chosen);
	tell_candidates(root, choice.chosen, &choice);
	json_decref(request);
	json_decref(choice.chosen);
	json_decref(choice.near);
	json_decref(choice.others);
	return fact_rows_dump(err, root, out);
}
