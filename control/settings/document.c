#include "control/settings/document.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/settings/document_check.h"
#include "control/settings/forget_id.h"

struct version {
	uint64_t number;
	char updated_at[DOCUMENT_TIME_MAX], author[DOCUMENT_AUTHOR_MAX];
	json_t *intent;
};

struct document {
	struct version v[DOCUMENT_HISTORY_MAX + 1]; /* oldest first; the last one is current */
	unsigned n;				    /* at least 1 */
};

static const struct {
	const char *name, *text;
	int status;
} results[] = {
#define RESULT(NAME, name, status, text) {#name, text, status},
	DOCUMENT_RESULTS(RESULT)
#undef RESULT
};

const char *document_result_name(enum document_result r)
{
	return results[r].name;
}

const char *document_result_text(enum document_result r)
{
	return results[r].text;
}

int document_result_status(enum document_result r)
{
	return results[r].status;
}

int document_alloc(struct document **out)
{
	struct document *d;

	if (!out)
		return EINVAL;
	d = calloc(1, sizeof *d);
	if (!d)
		return ENOMEM;
	d->n = 1;
	d->v[0].intent = json_object();
	if (!d->v[0].intent) {
		free(d);
		return ENOMEM;
	}
	*out = d;
	return 0;
}

static void clear(struct document *d)
{
	for (unsigned i = 0; i < d->n; i++)
		json_decref(d->v[i].intent);
	d->n = 0;
}

struct document *document_free(struct document *d)
{
	if (!d)
		return NULL;
	clear(d);
	free(d);
	return NULL;
}

/* Intents never change once they are in a document, so that both share them. */
int document_copy(struct document **out, const struct document *d)
{
	struct document *copy = malloc(sizeof *copy);

	if (!copy)
		return ENOMEM;
	*copy = *d;
	for (unsigned i = 0; i < copy->n; i++)
		json_incref(copy->v[i].intent);
	*out = copy;
	return 0;
}

static const struct version *current(const struct document *d)
{
	return &d->v[d->n - 1];
}

uint64_t document_version(const struct document *d)
{
	return current(d)->number;
}

const char *document_updated_at(const struct document *d)
{
	return current(d)->updated_at;
}

const char *document_author(const struct document *d)
{
	return current(d)->author;
}

void document_forget_author(struct document *d, const char *author)
{
	for (unsigned i = 0; i < d->n; i++)
		if (strcmp(d->v[i].author, author) == 0)
			snprintf(d->v[i].author, sizeof d->v[i].author, "erased");
}

/* Intents are shared with copies of the document. */
void document_forget_person(struct document *d, uint64_t user)
{
	for (unsigned i = 0; i + 1 < d->n; i++) {
		json_t *intent = json_deep_copy(d->v[i].intent);

		if (intent && forget_id_json(intent, user)) {
			json_decref(d->v[i].intent);
			d->v[i].intent = intent;
		} else {
			json_decref(intent);
		}
	}
}

const json_t *document_intent(const struct document *d)
{
	return current(d)->intent;
}

/* ---- as text ---- */

static json_t *version_json(const struct version *v, bool whole)
{
	json_t *j = json_pack("{s:I,s:s,s:s}", "version", (json_int_t)v->number, "updatedAt",
			      v->updated_at, "author", v->author);

	if (j && whole && json_object_set(j, "intent", v->intent)) {
		json_decref(j);
		return NULL;
	}
	return j;
}

char *document_text(const struct document *d)
{
	json_t *list = json_array(), *all = json_pack("{s:o}", "versions", list);
	char *text = NULL;
	bool good = all != NULL;

	for (unsigned i = 0; good && i < d->n; i++)
		good = json_array_append_new(list, version_json(&d->v[i], true)) == 0;
	if (good)
		text = json_dumps(all, JSON_COMPACT);
	json_decref(all);
	return text;
}

char *document_version_text(const struct document *d)
{
	json_t *j = version_json(current(d), true);
	char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;

	json_decref(j);
	return text;
}

static int parse_version(struct version *v, const json_t *j, uint64_t after)
{
	const char *at = json_string_value(json_object_get(j, "updatedAt"));
	const char *author = json_string_value(json_object_get(j, "author"));
	json_t *intent = json_object_get(j, "intent");
	json_int_t number = json_integer_value(json_object_get(j, "version"));

	if (!at || !author || !json_is_object(intent) || strlen(at) >= sizeof v->updated_at ||
	    strlen(author) >= sizeof v->author || number < 0 ||
	    (after && number <= (json_int_t)after))
		return EBADMSG;
	v->number = (uint64_t)number;
	snprintf(v->updated_at, sizeof v->updated_at, "%s", at);
	snprintf(v->author, sizeof v->author, "%s", author);
	v->intent = json_incref(intent);
	return 0;
}

int document_parse(struct document *d, const char *text, size_t len)
{
	struct document *fresh = NULL;
	json_t *all, *list, *j;
	int err = len > DOCUMENT_MAX ? EMSGSIZE : 0;
	size_t i;

	if (err)
		return err;
	all = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	list = json_object_get(all, "versions");
	if (!json_is_array(list) || !json_array_size(list) ||
	    json_array_size(list) > DOCUMENT_HISTORY_MAX + 1)
		err = EBADMSG;
	if (!err) {
		fresh = calloc(1, sizeof *fresh);
		err = fresh ? 0 : ENOMEM;
	}
	for (i = 0; !err && (j = json_array_get(list, i)); i++) {
		err = parse_version(&fresh->v[i], j, i ? fresh->v[i - 1].number : 0);
		if (!err)
			fresh->n++;
	}
	if (!err) {
		clear(d);
		*d = *fresh;
		fresh->n = 0;
	}
	document_free(fresh);
	json_decref(all);
	return err;
}

/* ---- history ---- */

json_t *document_history(const struct document *d)
{
	json_t *list = json_array();

	for (unsigned i = d->n; list && i-- > 0;)
		if (d->v[i].number && json_array_append_new(list, version_json(&d->v[i], false))) {
			json_decref(list);
			return NULL;
		}
	return list;
}

static const struct version *version_of(const struct document *d, uint64_t number)
{
	for (unsigned i = 0; i < d->n; i++)
		if (d->v[i].number == number)
			return &d->v[i];
	return NULL;
}

/* Members of a that b has not, or has with another value; `both`: also b's value. */
static void add_differences(json_t *list, const char *prefix, const json_t *a, const json_t *b,
			    bool forward)
{
	const char *name;
	const json_t *v;

	json_object_foreach((json_t *)a, name, v)
	{
		const json_t *other = json_object_get(b, name);
		char key[160];

		snprintf(key, sizeof key, "%s%.64s", prefix, name);
		if (strcmp(name, "guilds") == 0 || (*prefix && !strchr(prefix + 7, '/'))) {
			char inner[170];

			snprintf(inner, sizeof inner, "%s/", key);
			add_differences(list, inner, v, other, forward);
		} else if (forward ? !json_equal(v, other) : !other) {
			json_array_append_new(list,
					      forward ? json_pack("{s:s,s:O,s:O?}", "key", key,
								  "after", v, "before", other)
						      : json_pack("{s:s,s:O,s:n}", "key", key,
								  "before", v, "after"));
		}
	}
}

json_t *document_diff(const struct document *d, uint64_t from, uint64_t to)
{
	const struct version *a = from || to ? version_of(d, from)
				  : d->n > 1 ? &d->v[d->n - 2]
					     : current(d);
	const struct version *b = from || to ? version_of(d, to) : current(d);
	json_t *list = a && b ? json_array() : NULL;

	if (list) {
		add_differences(list, "", b->intent, a->intent, true);
		add_differences(list, "", a->intent, b->intent, false);
	}
	return list;
}

/* ---- changing ---- */

static enum document_result compare(const struct document *d, const struct document_change *c)
{
	const struct version *v = current(d);

	if (!c->version && !c->updated_at)
		return DOCUMENT_VERSION_REQUIRED;
	if ((c->version && c->version != v->number) ||
	    (c->updated_at && strcmp(c->updated_at, v->updated_at) != 0))
		return DOCUMENT_CONFLICT;
	return DOCUMENT_SAVED;
}

static void drop_oldest(struct document *d)
{
	json_decref(d->v[0].intent);
	memmove(&d->v[0], &d->v[1], (d->n - 1) * sizeof d->v[0]);
	d->n--;
}

static size_t intent_bytes(const json_t *intent)
{
	return json_dumpb(intent, NULL, 0, JSON_COMPACT);
}

/* The history is as long as fits. */
static void shed(struct document *d, size_t more)
{
	size_t total = more;

	for (unsigned i = 0; i < d->n; i++)
		total += intent_bytes(d->v[i].intent) + 256;
	while (d->n > 1 && (d->n == DOCUMENT_HISTORY_MAX + 1 || total > DOCUMENT_MAX)) {
		total -= intent_bytes(d->v[0].intent) + 256;
		drop_oldest(d);
	}
}

/* Whoever names a version by its time means one version, also when several were made in the same
 * millisecond: the later ones count nanoseconds. False: they are counted out. */
static bool write_time(char out[DOCUMENT_TIME_MAX], const char *now, const char *last)
{
	size_t n = strcspn(now, "Z");
	unsigned more = 0;

	if (!*last || strncmp(last, now, n) != 0) {
		snprintf(out, DOCUMENT_TIME_MAX, "%s", now);
		return true;
	}
	sscanf(last + n, "%6u", &more);
	return more < 999999 && snprintf(out, DOCUMENT_TIME_MAX, "%.*s%06uZ", (int)n, now,
					 more + 1) < DOCUMENT_TIME_MAX;
}

/* Takes its own copy: the caller's object may change. */
static enum document_result add_version(struct document *d, const json_t *intent,
					const struct document_change *c)
{
	char at[DOCUMENT_TIME_MAX];
	json_t *copy;
	struct version *v;
	uint64_t number = document_version(d) + 1;

	if (!write_time(at, c->now, current(d)->updated_at))
		return DOCUMENT_CONFLICT;
	copy = json_deep_copy(intent);
	if (!copy)
		return DOCUMENT_NO_MEMORY;
	shed(d, intent_bytes(copy) + 256);
	v = &d->v[d->n++];
	memset(v, 0, sizeof *v);
	v->number = number;
	memcpy(v->updated_at, at, sizeof at);
	snprintf(v->author, sizeof v->author, "%s", c->author);
	v->intent = copy;
	return DOCUMENT_SAVED;
}

enum document_result document_try(const struct document *d, const struct settings *base,
				  const json_t *intent, document_fault_h *h, void *arg)
{
	int err = document_check(base, intent, h, arg);

	(void)d;
	return err == ENOMEM ? DOCUMENT_NO_MEMORY : err ? DOCUMENT_INVALID : DOCUMENT_SAVED;
}

enum document_result document_put(struct document *d, const struct settings *base,
				  const json_t *intent, const struct document_change *change,
				  document_fault_h *h, void *arg)
{
	enum document_result r = compare(d, change);

	if (r == DOCUMENT_SAVED)
		r = document_try(d, base, intent, h, arg);
	return r == DOCUMENT_SAVED ? add_version(d, intent, change) : r;
}

enum document_result document_undo(struct document *d, const struct settings *base,
				   const struct document_change *change)
{
	enum document_result r = compare(d, change);

	if (r != DOCUMENT_SAVED)
		return r;
	if (d->n < 2)
		return DOCUMENT_NOTHING_TO_UNDO;
	/* An older document may name a provider that the settings file no longer has. */
	r = document_try(d, base, d->v[d->n - 2].intent, NULL, NULL);
	return r == DOCUMENT_SAVED ? add_version(d, d->v[d->n - 2].intent, change) : r;
}

unsigned document_of_guild(const struct document *d, const struct settings *base,
			   const struct settings *common, uint64_t guild, struct settings *out,
			   document_fault_h *h, void *arg)
{
	char id[24];

	snprintf(id, sizeof id, "%llu", (unsigned long long)guild);
	if (out != common)
		*out = *common;
	return document_apply_guild(out, base, current(d)->intent, id, h, arg);
}

unsigned document_effective(const struct document *d, const struct settings *base, uint64_t guild,
			    struct settings *out, document_fault_h *h, void *arg)
{
	unsigned faults;

	*out = *base;
	faults = document_apply(out, base, current(d)->intent, h, arg);
	return guild ? faults + document_of_guild(d, base, out, guild, out, h, arg) : faults;
}
