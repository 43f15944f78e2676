#include "control/settings/records.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/settings/listen.h"
#include "control/settings/nearest.h"
#include "control/settings/profile.h"
#include "control/settings/settings.h"
#include "proto/base/utf8.h"

/* One of the two objects that give lists of provider names. */
struct lists {
	const char *name;
	size_t offset; /* of the names, in struct settings_records */
	unsigned n;
	const char *(*entry)(unsigned i);
	enum role (*role_of)(enum purpose purpose); /* NULL: the entries are the roles */
};

static const char *role_entry(unsigned i)
{
	return role_name((enum role)i);
}

static const char *purpose_entry(unsigned i)
{
	return purpose_name((enum purpose)i);
}

static const struct lists lists[] = {
	{"roles", offsetof(struct settings_records, role), ROLE_COUNT, role_entry, NULL},
	{"purposes", offsetof(struct settings_records, purpose), PURPOSE_COUNT, purpose_entry,
	 purpose_role},
};
enum { LISTS = sizeof lists / sizeof lists[0] };

const char *records_member(unsigned i)
{
	if (i < RECORD_KINDS)
		return record_kinds[i].name;
	return i < RECORD_KINDS + LISTS ? lists[i - RECORD_KINDS].name : NULL;
}

static void *array_of(struct settings_records *r, unsigned kind)
{
	void *const arrays[] = {[RECORD_KIND_PROVIDER] = r->provider,
				[RECORD_KIND_MCP] = r->mcp,
				[RECORD_KIND_WORKER] = r->worker,
				[RECORD_KIND_PRICE] = r->price,
				[RECORD_KIND_PROFILE] = r->profile};

	return arrays[kind];
}

static struct provider_names *names_of(const struct settings_records *r, const struct lists *l)
{
	return (struct provider_names *)((char *)(uintptr_t)r + l->offset);
}

/* ---- taking ---- */

/* Taking tells of entries, checking does not. */
struct taking {
	unsigned *faults;
	record_fault_h *h;
	record_entry_h *entryh;
	unsigned entry;
	bool all; /* also faults that follow from one that was told before */
	void *arg;
};

__attribute__((format(printf, 2, 3))) static void fault(struct taking *t, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	utf8_plain(text);
	if (t->faults)
		(*t->faults)++;
	if (t->h)
		t->h(text, t->arg);
	if (t->entryh)
		t->entryh(t->entry, text, t->arg);
}

static void take_names(struct taking *t, const char *what, const char *entry,
		       struct provider_names *out, const json_t *v)
{
	size_t n = json_is_string(v) ? 1 : json_array_size(v);
	struct provider_names names = {0};

	if (!json_is_string(v) && !json_is_array(v)) {
		fault(t, "%s \"%s\" must be a list of provider names", what, entry);
		return;
	}
	if (n > ROLE_PROVIDERS_MAX) {
		fault(t, "%s \"%s\" may name at most %d providers, not %zu", what, entry,
		      ROLE_PROVIDERS_MAX, n);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const char *name = json_string_value(json_is_string(v) ? v : json_array_get(v, i));

		if (!name || !*name || strlen(name) >= RECORD_NAME_MAX) {
			fault(t, "%s \"%s\" must be a list of provider names", what, entry);
			return;
		}
		snprintf(names.name[names.n++], RECORD_NAME_MAX, "%s", name);
	}
	*out = names;
}

static void take_lists(struct settings *s, const struct lists *l, const json_t *value,
		       struct taking *t)
{
	struct provider_names *names = names_of(&s->records, l);
	const char *key;
	const json_t *v;

	if (!json_is_object(value)) {
		fault(t, "\"%s\" must be an object: { \"%s\": [\"provider\", ...], ... }", l->name,
		      l->entry(0));
		return;
	}
	if (json_object_size(value) > RECORD_FIELDS_MAX) {
		fault(t, "\"%s\" may have at most %d members, not %zu", l->name, RECORD_FIELDS_MAX,
		      json_object_size(value));
		return;
	}
	memset(names, 0, l->n * sizeof *names);
	json_object_foreach((json_t *)value, key, v)
	{
		t->entry++;
		struct nearest near = {.word = key, .word_len = strlen(key)};
		unsigned i = 0;

		while (i < l->n && strcmp(l->entry(i), key) != 0)
			i++;
		if (i < l->n) {
			take_names(t, l->name, key, &names[i], v);
			continue;
		}
		for (i = 0; i < l->n; i++)
			nearest_try(&near, l->entry(i), strlen(l->entry(i)));
		if (near.best)
			fault(t, "\"%s\" has no \"%.64s\"; did you mean \"%s\"?", l->name, key,
			      near.best);
		else
			fault(t, "\"%s\" has no \"%.64s\"", l->name, key);
	}
}

/* A key belongs to the record that it was read for. */
static void keep_keys(const struct provider_record *was, unsigned n, struct provider_record *is,
		      unsigned m)
{
	for (unsigned i = 0; i < m; i++)
		for (unsigned j = 0; j < n; j++)
			if (strcmp(is[i].name, was[j].name) == 0 &&
			    strcmp(is[i].key_file, was[j].key_file) == 0 &&
			    provider_same_address(&is[i], &was[j]))
				memcpy(is[i].key, was[j].key, sizeof is[i].key);
}

/* Those of the list that are not among the n that were taken. */
static void remember_faulty(struct settings_records *r, const json_t *list)
{
	const json_t *object;
	size_t i;

	r->faulty.n = 0;
	json_array_foreach(list, i, object)
	{
		const char *name = json_string_value(json_object_get(object, "name"));
		unsigned k = 0;

		while (name && k < r->n[RECORD_KIND_PROVIDER] &&
		       strcmp(r->provider[k].name, name) != 0)
			k++;
		if (name && k == r->n[RECORD_KIND_PROVIDER] && strlen(name) < RECORD_NAME_MAX &&
		    r->faulty.n < PROVIDERS_MAX)
			strcpy(r->faulty.name[r->faulty.n++], name);
	}
}

static void take_providers(struct settings_records *r, const json_t *value, struct taking *t)
{
	struct provider_record was[PROVIDERS_MAX];
	unsigned n = r->n[RECORD_KIND_PROVIDER];

	memcpy(was, r->provider, sizeof was);
	r->n[RECORD_KIND_PROVIDER] = record_list_parse(&record_kinds[RECORD_KIND_PROVIDER], value,
						       r->provider, t->faults, t->entryh, t->arg);
	keep_keys(was, n, r->provider, r->n[RECORD_KIND_PROVIDER]);
	remember_faulty(r, value);
	explicit_bzero(was, sizeof was);
}

/* Records with secret values, which lie behind their fields. */
struct valued {
	char *records;
	const char *prefix;
	unsigned kind, at; /* at: of the values in a record */
};

static struct valued valued_of(const struct settings_records *r, unsigned i)
{
	struct settings_records *w = (struct settings_records *)(uintptr_t)r;
	const struct valued all[] = {{(char *)w->mcp, SETTINGS_VALUES_OF, RECORD_KIND_MCP,
				      offsetof(struct mcp_record, values)},
				     {(char *)w->worker, SETTINGS_VALUES_OF_WORKER,
				      RECORD_KIND_WORKER, offsetof(struct worker_record, values)}};

	return i < sizeof all / sizeof all[0] ? all[i] : (struct valued){0};
}

char *records_values(const struct settings_records *r, unsigned i, const char **prefix,
		     const char **name)
{
	struct valued v;

	for (unsigned k = 0; (v = valued_of(r, k)).prefix; i -= r->n[v.kind], k++) {
		char *record = v.records + i * record_kinds[v.kind].size;

		if (i >= r->n[v.kind])
			continue;
		*prefix = v.prefix;
		*name = record + record_kinds[v.kind].fields[0].offset;
		return record + v.at;
	}
	return NULL;
}

char *records_values_named(const struct settings_records *r, const char *name)
{
	const char *prefix, *own;
	char *values;

	for (unsigned i = 0; (values = records_values(r, i, &prefix, &own)); i++)
		if (strncmp(name, prefix, strlen(prefix)) == 0 &&
		    strcmp(name + strlen(prefix), own) == 0)
			return values;
	return NULL;
}

/* The same of secret values, while everything before them is the same. */
static void keep_values(const struct valued *v, const char *was, unsigned n, unsigned m)
{
	size_t size = record_kinds[v->kind].size;

	for (unsigned i = 0; i < m; i++)
		for (unsigned j = 0; j < n; j++)
			if (memcmp(v->records + i * size, was + j * size, v->at) == 0)
				memcpy(v->records + i * size + v->at, was + j * size + v->at,
				       RECORD_VALUES_MAX);
}

/* Their records are too large for the stack. Without memory the values are read again at the next
 * start. */
static void take_valued(struct settings_records *r, const struct valued *v, const json_t *value,
			struct taking *t)
{
	const struct record_kind *kind = &record_kinds[v->kind];
	unsigned n = r->n[v->kind];
	char *was = malloc(kind->most * kind->size);

	if (was)
		memcpy(was, v->records, kind->most * kind->size);
	r->n[v->kind] = record_list_parse(kind, value, v->records, t->faults, t->entryh, t->arg);
	if (!was)
		return;
	keep_values(v, was, n, r->n[v->kind]);
	explicit_bzero(was, kind->most * kind->size);
	free(was);
}

static void take_records(struct settings *s, unsigned kind, const json_t *value, struct taking *t)
{
	struct settings_records *r = &s->records;
	struct valued v;
	unsigned i = 0;

	while ((v = valued_of(r, i)).prefix && v.kind != kind)
		i++;
	if (kind == RECORD_KIND_PROVIDER)
		take_providers(r, value, t);
	else if (v.prefix)
		take_valued(r, &v, value, t);
	else
		r->n[kind] = record_list_parse(&record_kinds[kind], value, array_of(r, kind),
					       t->faults, t->entryh, t->arg);
}

int records_take(struct settings *s, const char *name, const json_t *value, unsigned *faults,
		 record_entry_h *h, void *arg)
{
	struct taking t = {.faults = faults, .entryh = h, .entry = RECORD_WHOLE, .arg = arg};

	for (unsigned i = 0; i < RECORD_KINDS; i++)
		if (strcmp(record_kinds[i].name, name) == 0) {
			take_records(s, i, value, &t);
			settings_resolve(s);
			return 0;
		}
	for (unsigned i = 0; i < LISTS; i++)
		if (strcmp(lists[i].name, name) == 0) {
			take_lists(s, &lists[i], value, &t);
			settings_resolve(s);
			return 0;
		}
	return ENOENT;
}

/* ---- telling ---- */

static json_t *lists_json(const struct settings *s, const struct lists *l)
{
	const struct provider_names *names = names_of(&s->records, l);
	json_t *object = json_object();

	for (unsigned i = 0; object && i < l->n; i++) {
		json_t *list = names[i].n ? json_array() : NULL;

		for (unsigned k = 0; list && k < names[i].n; k++)
			json_array_append_new(list, json_string(names[i].name[k]));
		if (list)
			json_object_set_new(object, l->entry(i), list);
	}
	return object;
}

json_t *records_json(const struct settings *s, const char *name)
{
	struct settings_records *r = (struct settings_records *)(uintptr_t)&s->records;

	for (unsigned i = 0; i < RECORD_KINDS; i++)
		if (strcmp(record_kinds[i].name, name) == 0)
			return record_list_json(&record_kinds[i], array_of(r, i), r->n[i]);
	for (unsigned i = 0; i < LISTS; i++)
		if (strcmp(lists[i].name, name) == 0)
			return lists_json(s, &lists[i]);
	return NULL;
}

/* ---- checking ---- */

static void check_profile(const struct settings *s, struct taking *t)
{
	uint64_t guild, channel;

	if (*s->profile && !settings_profile(s))
		fault(t, "\"profile\" is \"%s\", but there is no profile of that name", s->profile);
	if (settings_start_channel(s, &guild, &channel) == EINVAL)
		fault(t, "\"auto_join\" needs \"guild\" and \"channel\", each an id of Discord");
}

static enum role role_of(const struct lists *l, unsigned i)
{
	return l->role_of ? l->role_of((enum purpose)i) : (enum role)i;
}

static bool is_faulty(const struct settings *s, const char *name)
{
	for (unsigned i = 0; i < s->records.faulty.n; i++)
		if (strcmp(s->records.faulty.name[i], name) == 0)
			return true;
	return false;
}

static void fault_unknown_provider(const struct settings *s, const struct lists *l, unsigned i,
				   const char *name, struct taking *t)
{
	struct nearest near = {.word = name, .word_len = strlen(name)};

	for (unsigned k = 0; k < s->records.n_known; k++)
		nearest_try(&near, s->records.known[k].name, strlen(s->records.known[k].name));
	if (near.best)
		fault(t,
		      "%s \"%s\" names \"%s\", but there is no provider of that name; did you mean "
		      "\"%s\"?",
		      l->name, l->entry(i), name, near.best);
	else
		fault(t, "%s \"%s\" names \"%s\", but there is no provider of that name", l->name,
		      l->entry(i), name);
}

static void check_names(const struct settings *s, const struct lists *l, unsigned i,
			struct taking *t)
{
	const struct provider_names *names = &names_of(&s->records, l)[i];
	enum role role = role_of(l, i);

	for (unsigned k = 0; k < names->n; k++) {
		const char *name = names->name[k];
		const struct provider_record *p = settings_provider_named(s, name);
		bool twice = false;

		for (unsigned e = 0; e < k; e++)
			twice = twice || strcmp(names->name[e], name) == 0;
		if (twice)
			fault(t, "%s \"%s\" names \"%s\" twice", l->name, l->entry(i), name);
		else if (!p && !t->all && is_faulty(s, name))
			continue;
		else if (!p)
			fault_unknown_provider(s, l, i, name, t);
		else if (!dialect_serves((enum dialect)p->dialect, role))
			fault(t,
			      "%s \"%s\" names \"%s\", whose dialect %s cannot serve the role %s",
			      l->name, l->entry(i), name, dialect_name((enum dialect)p->dialect),
			      role_name(role));
	}
}

static void check_listen(const struct settings *s, struct taking *t)
{
	struct listen_address at;

	if (*s->web_listen && listen_parse(&at, s->web_listen))
		fault(t,
		      "\"web_listen\" must be a numeric address and a port, such as "
		      "127.0.0.1:8787, not \"%s\"",
		      s->web_listen);
}

/* The transport of an MCP server says which of its fields is needed. */
static void check_mcp_servers(const struct settings *s, struct taking *t)
{
	for (unsigned i = 0; i < s->records.n[RECORD_KIND_MCP]; i++) {
		const struct mcp_record *m = &s->records.mcp[i];
		bool http = m->transport;

		if (http ? !*m->url : !*m->command)
			fault(t, "mcp_servers \"%s\": transport %s needs a %s", m->name,
			      http ? "http" : "stdio", http ? "url" : "command");
		else if ((!*m->issuer || !*m->client_id) &&
			 (*m->client_secret_file || *m->refresh_token_file))
			fault(t,
			      "mcp_servers \"%s\": a client_secret_file or a refresh_token_file "
			      "needs a client_id, and an issuer, the authorization server that may "
			      "get it",
			      m->name);
	}
}

static void check_workers(const struct settings *s, struct taking *t)
{
	for (unsigned i = 0; i < s->records.n[RECORD_KIND_WORKER]; i++)
		if (s->records.worker[i].kind != WORKER_MODEL && !*s->records.worker[i].command)
			fault(t, "workers \"%s\": a worker needs a command",
			      s->records.worker[i].name);
}

unsigned settings_check(const struct settings *s, record_fault_h *h, void *arg)
{
	unsigned faults = 0;
	struct taking t = {.faults = &faults, .h = h, .arg = arg};

	for (unsigned l = 0; l < LISTS; l++)
		for (unsigned i = 0; i < lists[l].n; i++)
			check_names(s, &lists[l], i, &t);
	check_profile(s, &t);
	check_listen(s, &t);
	check_mcp_servers(s, &t);
	check_workers(s, &t);
	return faults;
}

static bool is_sound(const struct settings *s, const struct lists *l, unsigned i)
{
	unsigned faults = 0;

	check_names(s, l, i, &(struct taking){.faults = &faults, .all = true});
	return !faults;
}

void records_mend(struct settings *s, const struct settings *base)
{
	for (unsigned l = 0; l < LISTS; l++)
		for (unsigned i = 0; i < lists[l].n; i++) {
			struct provider_names *names = &names_of(&s->records, &lists[l])[i];

			if (is_sound(s, &lists[l], i))
				continue;
			*names = names_of(&base->records, &lists[l])[i];
			if (!is_sound(s, &lists[l], i))
				names->n = 0;
		}
	settings_resolve(s);
}
