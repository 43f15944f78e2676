/* What the memory keeps, over HTTP: /api/memory/…. A person's own memory is shown without its text.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/store/store.h"
#include "control/web/inside.h"
#include "control/web/list_query.h"
#include "proto/discord.h"

static void list(struct web *w, const struct web_request *r, enum store_reading what,
		 const struct list_query *q)
{
	web_read(w, r,
		 &(struct store_query){
			 .what = what,
			 .guild = r->scope ? r->scope : q->guild,
			 .user = q->user,
			 .reason = what == STORE_FACTS || what == STORE_SUBJECTS ? q->letters : "",
			 .since_ms = q->since_ms,
			 .row = q->cursor,
			 .most = q->limit,
			 .words = true,
			 .operators = true},
		 NULL);
}

static void list_all(struct web *w, const struct web_request *r, enum store_reading what)
{
	struct list_query q;

	if (list_query_read(&q, r->head))
		list(w, r, what, &q);
	else
		web_refuse(r->x, WEB_BAD_LIST_QUERY);
}

void web_facts_get(struct web *w, const struct web_request *r)
{
	list_all(w, r, STORE_FACTS);
}

void web_memory_subjects_get(struct web *w, const struct web_request *r)
{
	list_all(w, r, STORE_SUBJECTS);
}

void web_memory_reflections_get(struct web *w, const struct web_request *r)
{
	list_all(w, r, STORE_REFLECTIONS);
}

void web_memory_writes_get(struct web *w, const struct web_request *r)
{
	list_all(w, r, STORE_WRITES);
}

void web_memory_profile_get(struct web *w, const struct web_request *r)
{
	struct list_query q;

	if (!list_query_read(&q, r->head))
		web_refuse(r->x, WEB_BAD_LIST_QUERY);
	else if (!q.user)
		web_refuse(r->x, WEB_BAD_PERSON);
	else
		list(w, r, STORE_FACTS, &q);
}

/* The list of store_find_facts. */
static void answer_search(struct web *w, struct http_exchange *x, enum web_role role,
			  const struct store_document *d)
{
	json_t *results = json_loads(d->document, 0, NULL);

	(void)w;
	(void)role;
	web_json(x, 200, results ? json_pack("{s:o}", "results", results) : NULL);
}

static bool is_unsure(const json_t *fact)
{
	return json_is_true(json_object_get(fact, "unsure"));
}

static void drop_unsure(json_t *facts)
{
	for (size_t i = json_array_size(facts); i-- > 0;)
		if (is_unsure(json_array_get(facts, i)))
			json_array_remove(facts, i);
}

void web_memory_drop_unsure(json_t *facts)
{
	json_t *fact;
	size_t i;

	drop_unsure(facts);
	json_array_foreach(facts, i, fact)
	{
		drop_unsure(json_object_get(fact, "former"));
	}
}

/* The same as the seeds' snapshot: what a prompt that asks this would be given. */
static void answer_snapshot(struct web *w, struct http_exchange *x, enum web_role role,
			    const struct store_document *d)
{
	json_t *facts = json_loads(d->document, 0, NULL);
	struct list_query q;

	(void)w;
	(void)role;
	list_query_read(&q, http_request_head(x));
	web_memory_drop_unsure(facts);
	web_json(x, 200,
		 facts ? json_pack("{s:o,s:s,s:o}", "guildId",
				   json_sprintf("%llu", (unsigned long long)q.guild), "question",
				   q.letters, "facts", facts)
		       : NULL);
}

/* The server's memory alone: what a person has to themselves is found by themselves. */
static void search(struct web *w, const struct web_request *r, read_done_h *h)
{
	struct list_query q;
	struct store_facts f = {0};
	struct read *read;
	json_t *words;
	char *request;

	if (!list_query_read(&q, r->head) || !q.guild || !*q.letters) {
		web_refuse(r->x, WEB_BAD_SEARCH);
		return;
	}
	read = web_read_begin(w, r, h);
	if (!read)
		return;
	words = json_pack("{s:s}", "words", q.letters);
	request = words ? json_dumps(words, JSON_COMPACT) : NULL;
	json_decref(words);
	f.guild = q.guild;
	f.request = request ? request : "{}";
	f.question = q.letters;
	f.most = q.limit;
	web_read_begun(r, read, store_find_facts(web_reads_store(w), &f, web_on_read, read));
	free(request);
}

void web_memory_search_get(struct web *w, const struct web_request *r)
{
	search(w, r, answer_search);
}

void web_memory_snapshot_get(struct web *w, const struct web_request *r)
{
	search(w, r, answer_snapshot);
}

void web_memory_guild_delete(struct web *w, const struct web_request *r)
{
	struct read *read = web_read_begin(w, r, NULL);
	char target[48];
	int err;

	if (!read)
		return;
	err = store_forget_guild(web_reads_store(w), r->id, web_on_read, read);
	snprintf(target, sizeof target, "server %llu", (unsigned long long)r->id);
	access_audit(web_access(w), r->x, AUDIT_KIND_FORGET_SERVER, target,
		     err ? "refused" : "begun");
	web_read_begun(r, read, err);
}

/* ---- erasing a person ---- */

static void lose_erasure(struct http_exchange *x, void *arg)
{
	(void)x;
	web_erasing(arg)->x = NULL;
}

/* The audit has the end, also when nobody waits for it any more: a large database takes longer than
 * proxies do. */
static void audit_erased(struct web *w, const char *actor, const json_t *receipt)
{
	const json_t *scan = json_object_get(receipt, "scan");
	json_int_t traces = json_integer_value(json_object_get(scan, "traces"));
	char result[64] = "erased";

	if (!receipt)
		snprintf(result, sizeof result, "not erased");
	else if (traces)
		snprintf(result, sizeof result, "erased, %" JSON_INTEGER_FORMAT " traces left",
			 traces);
	access_audit_of(web_access(w), actor, AUDIT_KIND_ERASE_PERSON, "", result);
}

void web_erased(struct web *w, const char *receipt)
{
	struct web_erasing *e = web_erasing(w);
	struct http_exchange *x = e->x;
	json_t *told = receipt ? json_loads(receipt, 0, NULL) : NULL;

	e->x = NULL;
	e->on = false;
	audit_erased(w, e->actor, told);
	if (x)
		http_on_gone(x, NULL, NULL);
	if (x && told)
		web_json(x, 200, json_incref(told));
	else if (x)
		web_refuse(x, WEB_NOT_ERASED);
	json_decref(told);
}

/* Of all servers, so not for a session of one; and of an id that an account can have. */
static bool is_for_erasure(const struct web_request *r)
{
	if (r->scope)
		web_refuse(r->x, WEB_FORBIDDEN);
	else if (!discord_is_account(r->id))
		web_refuse(r->x, WEB_BAD_ACCOUNT);
	return !r->scope && discord_is_account(r->id);
}

/* The audit does not name whom it was about: it would keep what is erased. One at a time. */
void web_person_delete(struct web *w, const struct web_request *r)
{
	const struct web_conf *c = web_shown(w);
	struct web_erasing *e = web_erasing(w);
	int err;

	if (!is_for_erasure(r))
		return;
	err = c->eraseh ? c->eraseh(r->id, c->arg) : ENOENT;
	access_audit(web_access(w), r->x, AUDIT_KIND_ERASE_PERSON, "", err ? "refused" : "begun");
	if (err) {
		web_refuse(r->x, err == EBUSY || err == ENOSPC ? WEB_BUSY : WEB_NO_HISTORY);
		return;
	}
	*e = (struct web_erasing){.on = true, .user = r->id, .x = r->x};
	access_actor(web_access(w), r->x, e->actor);
	http_on_gone(r->x, lose_erasure, w);
}

/* receipt: steals it; NULL without memory. */
static void tell_receipt(struct http_exchange *x, bool running, json_t *receipt)
{
	web_json(x, 200, json_pack("{s:b,s:o}", "running", (int)running, "receipt", receipt));
}

static void answer_receipt(struct web *w, struct http_exchange *x, enum web_role role,
			   const struct store_document *d)
{
	(void)w;
	(void)role;
	tell_receipt(x, false, json_loads(d->document, JSON_DECODE_ANY, NULL));
}

/* For whoever began an erasure and lost the answer. The store erases on the thread that would look
 * for the receipt, so nobody asks it meanwhile. */
void web_person_receipt_get(struct web *w, const struct web_request *r)
{
	const struct web_erasing *e = web_erasing(w);
	struct read *read;

	if (!is_for_erasure(r))
		return;
	if (e->on) {
		if (e->user == r->id)
			tell_receipt(r->x, true, json_null());
		else
			web_refuse(r->x, WEB_BUSY);
		return;
	}
	read = web_read_begin(w, r, answer_receipt);
	if (read)
		web_read_begun(r, read,
			       store_find_receipt(web_reads_store(w), r->id, web_on_read, read));
}

/* Their number alone: what somebody keeps in their own memory is for nobody else, and the server's
 * may hold a copy of it. */
static void answer_forgotten(struct web *w, struct http_exchange *x, enum web_role role,
			     const struct store_document *d)
{
	json_t *told = json_loads(d->document, 0, NULL);
	size_t n = json_array_size(json_object_get(told, "forgotten"));

	(void)w;
	(void)role;
	json_decref(told);
	web_json(x, 200, json_pack("{s:I}", "forgotten", (json_int_t)n));
}

/* What rests on the fact goes with it, as if its author had forgotten it. */
void web_fact_delete(struct web *w, const struct web_request *r)
{
	char request[64], target[96];
	struct store_facts f = {.request = request, .any = true, .by_operator = true};
	struct list_query q;
	struct read *read;
	int err;

	if (!list_query_read(&q, r->head) || !q.guild || !q.user) {
		web_refuse(r->x, WEB_BAD_LIST_QUERY);
		return;
	}
	read = web_read_begin(w, r, answer_forgotten);
	if (!read)
		return;
	snprintf(request, sizeof request, "{\"id\": %llu}", (unsigned long long)r->id);
	f.guild = q.guild;
	f.owner = f.user = q.user;
	err = store_forget_facts(web_reads_store(w), &f, web_on_read, read);
	snprintf(target, sizeof target, "fact %llu in server %llu", (unsigned long long)r->id,
		 (unsigned long long)q.guild);
	access_audit(web_access(w), r->x, AUDIT_KIND_FORGET_FACT, target,
		     err ? "refused" : "begun");
	web_read_begun(r, read, err);
}
