#include "control/settings/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/settings/inside.h"
#include "control/settings/nearest.h"
#include "control/settings/records.h"
#include "proto/base/utf8.h"

const struct settings_row settings_rows[] = {
#define ROW(k, n, e, g, l, f, t)                                                                   \
	.kind = SETTINGS_##k, .name = #n, .env = #e, .offset = offsetof(struct settings, n),       \
	.group = SETTINGS_GROUP_##g, .level = SETTINGS_LEVEL_##l, .when = SETTINGS_##f, .text = t
#define U(n, e, d, lo, hi, u, g, l, f, t)                                                          \
	{ROW(NUMBER, n, e, g, l, f, t), .def = (d), .min = (lo), .max = (hi), .unit = u},
#define B(n, e, d, g, l, f, t)	  {ROW(SWITCH, n, e, g, l, f, t), .def = (d), .max = 1},
#define E(n, e, d, w, g, l, f, t) {ROW(WORD, n, e, g, l, f, t), .def = (d), .words = w},
#define S(n, e, b, d, g, l, f, t) {ROW(TEXT, n, e, g, l, f, t), .bytes = (b), .text_def = d},
#define I(n, e, b, g, l, f, t)	  {ROW(IDS, n, e, g, l, f, t), .bytes = (b), .text_def = ""},
#define K(n, e, b, g, l, f, t)                                                                     \
	{ROW(SECRET, n, e, g, l, f, t), .bytes = (b), .path_name = #n "_file",                     \
	 .path_offset = offsetof(struct settings, n##_file), .text_def = ""},
	SETTINGS(U, B, E, S, I, K)
#undef U
#undef B
#undef E
#undef S
#undef I
#undef K
#undef ROW
};

const size_t settings_n_rows = SETTINGS_COUNT;

bool settings_is_text(enum settings_kind kind)
{
	return kind == SETTINGS_TEXT || kind == SETTINGS_IDS || kind == SETTINGS_SECRET;
}

static char *text_of(struct settings *s, const struct settings_row *r)
{
	return (char *)s + r->offset;
}

static void put_text(struct settings *s, const struct settings_row *r, const char *value)
{
	snprintf(text_of(s, r), r->bytes, "%s", value);
}

void settings_put_number(struct settings *s, const struct settings_row *r, uint32_t v)
{
	if (r->kind == SETTINGS_SWITCH)
		*(bool *)((char *)s + r->offset) = v != 0;
	else
		memcpy((char *)s + r->offset, &v, sizeof v);
}

int settings_alloc(struct settings **out)
{
	struct settings *s;

	if (!out)
		return EINVAL;
	s = calloc(1, sizeof *s);
	if (!s)
		return ENOMEM;
	for (size_t i = 0; i < settings_n_rows; i++) {
		const struct settings_row *r = &settings_rows[i];

		if (settings_is_text(r->kind))
			put_text(s, r, r->text_def);
		else
			settings_put_number(s, r, r->def);
	}
	settings_resolve(s);
	*out = s;
	return 0;
}

struct settings *settings_free(struct settings *s)
{
	if (!s)
		return NULL;
	explicit_bzero(s, sizeof *s);
	free(s);
	return NULL;
}

int settings_word(const char *words, const char *value, size_t n)
{
	int i = 0;

	for (const char *p = words;; i++) {
		size_t len = strcspn(p, "|");

		if (len == n && memcmp(p, value, n) == 0)
			return i;
		if (!p[len])
			return -1;
		p += len + 1;
	}
}

static int parse_number(struct settings *s, const struct settings_row *r, const char *value)
{
	unsigned long long v;
	char *end;

	if (*value < '0' || *value > '9')
		return EINVAL;
	errno = 0;
	v = strtoull(value, &end, 10);
	if (*end)
		return EINVAL;
	if (errno == ERANGE || v > r->max) {
		settings_put_number(s, r, r->max);
		return ERANGE;
	}
	if (v < r->min) {
		settings_put_number(s, r, r->min);
		return ERANGE;
	}
	settings_put_number(s, r, (uint32_t)v);
	return 0;
}

static int parse_row(struct settings *s, const struct settings_row *r, const char *value)
{
	int i;

	switch (r->kind) {
	case SETTINGS_NUMBER:
		return parse_number(s, r, value);
	case SETTINGS_SWITCH:
		if ((i = settings_word("0|1|no|yes|off|on|false|true", value, strlen(value))) < 0)
			return EINVAL;
		settings_put_number(s, r, (uint32_t)i & 1);
		return 0;
	case SETTINGS_WORD:
		if ((i = settings_word(r->words, value, strlen(value))) < 0)
			return EINVAL;
		settings_put_number(s, r, (uint32_t)i);
		return 0;
	case SETTINGS_IDS:
	case SETTINGS_TEXT:
	case SETTINGS_SECRET:
		/* No service accepts invalid UTF-8. */
		if (strlen(value) >= r->bytes || !utf8_valid(value) ||
		    settings_text_fault(r, value, NULL, 0))
			return EINVAL;
		put_text(s, r, value);
		return 0;
	}
	return EINVAL;
}

void settings_print(const struct settings *s, const struct settings_row *r, char *buf, size_t size)
{
	const char *field = (const char *)s + r->offset;
	uint32_t v = 0;

	switch (r->kind) {
	case SETTINGS_NUMBER:
		memcpy(&v, field, sizeof v);
		snprintf(buf, size, "%u", v);
		break;
	case SETTINGS_SWITCH:
		snprintf(buf, size, "%s", *(const bool *)field ? "yes" : "no");
		break;
	case SETTINGS_WORD: {
		const char *p = r->words;

		memcpy(&v, field, sizeof v);
		while (v--)
			p += strcspn(p, "|") + 1;
		snprintf(buf, size, "%.*s", (int)strcspn(p, "|"), p);
		break;
	}
	case SETTINGS_TEXT:
	case SETTINGS_IDS:
		snprintf(buf, size, "%s", field);
		break;
	case SETTINGS_SECRET:
		snprintf(buf, size, "(secret)");
		break;
	}
}

void settings_load(struct settings *s, settings_lookup_h *lookuph, settings_complain_h *complainh,
		   void *arg)
{
	char used[128];

	for (size_t i = 0; i < settings_n_rows; i++) {
		const struct settings_row *r = &settings_rows[i];
		const char *value = lookuph(r->env, arg);
		bool secret = r->kind == SETTINGS_SECRET;
		int err = value && *value ? parse_row(s, r, value) : 0;

		if (!err)
			continue;
		s->unread = s->unread || r->kind == SETTINGS_IDS;
		if (!complainh)
			continue;
		settings_print(s, r, used, sizeof used);
		complainh(r->env, secret ? "(secret)" : value, used, secret ? EACCES : err, arg);
	}
	settings_resolve(s);
}

/* The key of a provider's record, by the name that settings_each gives it. */
static int set_key(struct settings *s, const char *provider, const char *value)
{
	struct settings_records *r = &s->records;

	for (unsigned i = 0; i < r->n[RECORD_KIND_PROVIDER]; i++)
		if (strcmp(r->provider[i].name, provider) == 0) {
			if (strlen(value) >= sizeof r->provider[i].key || !utf8_valid(value))
				return EINVAL;
			memcpy(r->provider[i].key, value, strlen(value) + 1);
			settings_resolve(s);
			return 0;
		}
	return ENOENT;
}

/* Sets the secret values of an MCP server or of a worker, from their files. */
static int set_values(char *values, const char *value)
{
	if (strlen(value) >= RECORD_VALUES_MAX || !utf8_valid(value))
		return EINVAL;
	memcpy(values, value, strlen(value) + 1);
	return 0;
}

static int set_records(struct settings *s, const char *name, const char *value)
{
	size_t len = strlen(value);
	json_t *v = len <= RECORD_JSON_MAX ? json_loadb(value, len, 0, NULL) : NULL;
	unsigned faults = v ? 0 : 1;
	int err = v ? records_take(s, name, v, &faults, NULL, NULL) : EINVAL;

	json_decref(v);
	return err ? err : faults ? EINVAL : 0;
}

int settings_set(struct settings *s, const char *name, const char *value)
{
	for (size_t i = 0; i < settings_n_rows; i++)
		if (strcmp(settings_rows[i].name, name) == 0 ||
		    strcmp(settings_rows[i].env, name) == 0) {
			int err = parse_row(s, &settings_rows[i], value);

			settings_resolve(s);
			return err;
		}
	if (strncmp(name, SETTINGS_KEY_OF, strlen(SETTINGS_KEY_OF)) == 0)
		return set_key(s, name + strlen(SETTINGS_KEY_OF), value);
	if (strncmp(name, SETTINGS_VALUES_OF, strlen(SETTINGS_VALUES_OF)) == 0 ||
	    strncmp(name, SETTINGS_VALUES_OF_WORKER, strlen(SETTINGS_VALUES_OF_WORKER)) == 0) {
		char *values = records_values_named(&s->records, name);

		return values ? set_values(values, value) : ENOENT;
	}
	for (unsigned i = 0; records_member(i); i++)
		if (strcmp(records_member(i), name) == 0)
			return set_records(s, name, value);
	return ENOENT;
}

/* NULL: there is none of that name. */
static const struct settings_row *row_named(const char *name)
{
	for (size_t i = 0; i < settings_n_rows; i++)
		if (strcmp(settings_rows[i].name, name) == 0 ||
		    strcmp(settings_rows[i].env, name) == 0)
			return &settings_rows[i];
	return NULL;
}

bool settings_has(const char *name)
{
	const struct settings_row *r = row_named(name);

	return r && strcmp(r->name, name) == 0;
}

bool settings_is_choice(const char *name)
{
	const struct settings_row *r = row_named(name);

	return r && (r->kind == SETTINGS_NUMBER || r->kind == SETTINGS_SWITCH ||
		     r->kind == SETTINGS_WORD);
}

bool settings_is_ids(const char *name)
{
	const struct settings_row *r = row_named(name);

	return r && r->kind == SETTINGS_IDS;
}

/* The text of a member that holds records, freed by the caller; NULL when there are none. */
static char *records_text(const struct settings *s, const char *member, bool empty_too)
{
	json_t *v = records_json(s, member);
	char *text = NULL;

	if (v && (empty_too || json_array_size(v) || json_object_size(v)))
		text = json_dumps(v, JSON_COMPACT);
	json_decref(v);
	return text;
}

static void tell_secret(const char *kind, const char *record, const char *value, settings_each_h *h,
			void *arg)
{
	char name[sizeof SETTINGS_KEY_OF + RECORD_NAME_MAX];

	snprintf(name, sizeof name, "%s%s", kind, record);
	h(name, value, true, arg);
}

static void tell_key(const struct provider_record *p, const char *value, settings_each_h *h,
		     void *arg)
{
	tell_secret(SETTINGS_KEY_OF, p->name, value, h, arg);
}

static void each_record(const struct settings *s, settings_each_h *h, void *arg)
{
	const char *prefix, *name, *values;

	for (unsigned i = 0; records_member(i); i++) {
		char *text = records_text(s, records_member(i), false);

		if (text)
			h(records_member(i), text, false, arg);
		free(text);
	}
	for (unsigned i = 0; i < s->records.n[RECORD_KIND_PROVIDER]; i++)
		if (*s->records.provider[i].key)
			tell_key(&s->records.provider[i], s->records.provider[i].key, h, arg);
	for (unsigned i = 0; (values = records_values(&s->records, i, &prefix, &name)); i++)
		if (*values)
			tell_secret(prefix, name, values, h, arg);
}

void settings_each(const struct settings *s, settings_each_h *h, void *arg)
{
	char value[4096];

	for (size_t i = 0; i < settings_n_rows; i++) {
		bool secret = settings_rows[i].kind == SETTINGS_SECRET;

		if (!secret)
			settings_print(s, &settings_rows[i], value, sizeof value);
		h(settings_rows[i].name, secret ? (const char *)s + settings_rows[i].offset : value,
		  secret, arg);
	}
	each_record(s, h, arg);
}

enum settings_when settings_when(const char *name)
{
	for (size_t i = 0; i < settings_n_rows; i++)
		if (strcmp(settings_rows[i].name, name) == 0)
			return settings_rows[i].when;
	if (strncmp(name, SETTINGS_KEY_OF, strlen(SETTINGS_KEY_OF)) == 0)
		return SETTINGS_NOW;
	/* A server is connected at once, and its tools join the calls that are up. */
	if (strcmp(name, record_kinds[RECORD_KIND_MCP].name) == 0)
		return SETTINGS_NOW;
	for (unsigned i = 0; records_member(i); i++)
		if (strcmp(records_member(i), name) == 0)
			return SETTINGS_NEXT;
	return SETTINGS_START;
}

enum settings_when settings_when_of(const char *name, const struct settings *is, uint32_t sent)
{
	enum settings_when when = settings_when(name);

	if (when != SETTINGS_SENT)
		return when;
	return is->text_chat > sent ? SETTINGS_START : SETTINGS_NOW;
}

static size_t number_bytes(const struct settings_row *r)
{
	return r->kind == SETTINGS_SWITCH ? sizeof(bool) : sizeof(uint32_t);
}

/* The key that a record has once `was` has taken the new records: records.c keeps it for one that
 * has not moved. */
static const char *kept_key(const struct settings *was, const struct provider_record *p)
{
	for (unsigned i = 0; i < was->records.n[RECORD_KIND_PROVIDER]; i++) {
		const struct provider_record *q = &was->records.provider[i];

		if (strcmp(q->name, p->name) == 0 && strcmp(q->key_file, p->key_file) == 0 &&
		    provider_same_address(q, p))
			return q->key;
	}
	return "";
}

static void record_changes(const struct settings *was, const struct settings *is,
			   settings_each_h *h, void *arg)
{
	for (unsigned i = 0; records_member(i); i++) {
		char *a = records_text(was, records_member(i), true);
		char *b = records_text(is, records_member(i), true);

		if (a && b && strcmp(a, b) != 0)
			h(records_member(i), b, false, arg);
		free(a);
		free(b);
	}
	for (unsigned i = 0; i < is->records.n[RECORD_KIND_PROVIDER]; i++) {
		const struct provider_record *p = &is->records.provider[i];

		if (strcmp(kept_key(was, p), p->key) != 0)
			tell_key(p, p->key, h, arg);
	}
}

void settings_changes(const struct settings *was, const struct settings *is, settings_each_h *h,
		      void *arg)
{
	char value[4096];

	for (size_t i = 0; i < settings_n_rows; i++) {
		const struct settings_row *r = &settings_rows[i];
		const char *a = (const char *)was + r->offset, *b = (const char *)is + r->offset;
		bool secret = r->kind == SETTINGS_SECRET;

		if (settings_is_text(r->kind) ? strcmp(a, b) == 0
					      : memcmp(a, b, number_bytes(r)) == 0)
			continue;
		settings_print(is, r, value, sizeof value);
		h(r->name, secret ? b : value, secret, arg);
	}
	record_changes(was, is, h, arg);
}

static bool is_address(const struct settings_row *r)
{
	size_t n = strlen(r->name);

	return r->kind == SETTINGS_TEXT && ((n > 4 && strcmp(r->name + n - 4, "_url") == 0) ||
					    strcmp(r->name, "otlp_endpoint") == 0);
}

static void address_secrets(const char *url, void (*h)(const char *value, void *arg), void *arg)
{
	char part[PROVIDER_URL_MAX];
	const char *host = strstr(url, "://"), *at, *query;

	host = host ? host + 3 : url;
	at = memrchr(host, '@', strcspn(host, "/?#"));
	if (at) {
		snprintf(part, sizeof part, "%.*s", (int)(at - host), host);
		h(part, arg);
	}
	query = strchr(host, '?');
	if (query && query[1]) {
		snprintf(part, sizeof part, "%.*s", (int)strcspn(query + 1, "#"), query + 1);
		h(part, arg);
	}
}

void settings_secrets(const struct settings *s, void (*h)(const char *value, void *arg), void *arg)
{
	for (unsigned i = 0; i < s->records.n[RECORD_KIND_MCP]; i++) {
		address_secrets(s->records.mcp[i].url, h, arg);
		address_secrets(s->records.mcp[i].issuer, h, arg);
	}
	for (unsigned i = 0; i < s->records.n[RECORD_KIND_PROVIDER]; i++) {
		address_secrets(s->records.provider[i].url, h, arg);
		if (*s->records.provider[i].key)
			h(s->records.provider[i].key, arg);
	}
	for (size_t i = 0; i < settings_n_rows; i++) {
		const char *field = (const char *)s + settings_rows[i].offset;

		if (settings_rows[i].kind == SETTINGS_SECRET && *field)
			h(field, arg);
		else if (is_address(&settings_rows[i]))
			address_secrets(field, h, arg);
	}
}

const char *settings_secret(const struct settings *s, const char *name)
{
	const struct provider_record *p;

	for (size_t i = 0; i < settings_n_rows; i++)
		if (settings_rows[i].kind == SETTINGS_SECRET &&
		    strcmp(settings_rows[i].name, name) == 0)
			return (const char *)s + settings_rows[i].offset;
	if (records_values_named(&s->records, name))
		return records_values_named(&s->records, name);
	if (strncmp(name, SETTINGS_KEY_OF, strlen(SETTINGS_KEY_OF)) != 0)
		return NULL;
	p = settings_provider_named(s, name + strlen(SETTINGS_KEY_OF));
	return p ? p->key : NULL;
}

static bool is_file_of(const char *name, const char *env)
{
	size_t n = strlen(env);

	return strncmp(name, env, n) == 0 && strcmp(name + n, "_FILE") == 0;
}

bool settings_variable(const char *env)
{
	for (size_t i = 0; i < settings_n_rows; i++)
		if (strcmp(settings_rows[i].env, env) == 0 ||
		    (settings_rows[i].kind == SETTINGS_SECRET &&
		     is_file_of(env, settings_rows[i].env)))
			return true;
	return false;
}

const char *settings_nearest(const char *name, bool variable)
{
	struct nearest n = {.word = name, .word_len = strlen(name)};

	for (size_t i = 0; i < settings_n_rows; i++) {
		const struct settings_row *r = &settings_rows[i];
		const char *candidate = variable ? r->env : r->path_name ? r->path_name : r->name;

		nearest_try(&n, candidate, strlen(candidate));
	}
	for (unsigned i = 0; !variable && records_member(i); i++)
		nearest_try(&n, records_member(i), strlen(records_member(i)));
	return n.best;
}

/* True if a provider that somebody configured, not the embedded engine, serves the role. */
static bool configured(const struct settings *s, enum role role)
{
	const struct provider_record *p;

	for (unsigned i = 0; (p = settings_role(s, role, i)); i++)
		if (p->dialect != DIALECT_EMBEDDED)
			return true;
	return false;
}

bool settings_guest(const struct settings *s)
{
	return s->guest == SETTINGS_GUEST_ON ||
	       (s->guest == SETTINGS_GUEST_AUTO && !configured(s, ROLE_VOICE) &&
		!configured(s, ROLE_TEXT));
}

const char *settings_own_instructions(const struct settings *s)
{
	const struct settings_row *r = settings_rows;

	while (r->offset != offsetof(struct settings, instructions))
		r++;
	return strcmp(s->instructions, r->text_def) ? s->instructions : "";
}

const char *settings_brain_url(const struct settings *s)
{
	return *s->records.voice_url ? s->records.voice_url : NULL;
}

void settings_brain_shown(const struct settings *s, char *buf, size_t size)
{
	const struct provider_record *p = settings_role(s, ROLE_VOICE, 0);

	if (p && *p->url)
		provider_shown(p, buf, size);
	else
		snprintf(buf, size, "none");
}
