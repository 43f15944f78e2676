#include "control/settings/record.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/settings/inside.h"
#include "control/settings/nearest.h"
#include "control/settings/provider_record.h"
#include "proto/base/utf8.h"

enum { LIST_ITEMS_MAX = 64, SHOWN = 40 };
#define DOLLARS_MAX 1e6

#define N(f, t) {.kind = RECORD_NAME, .name = #f, .text = t, .offset = OFF(f), .needed = true},
#define T(f, b, must, t)                                                                           \
	{.kind = RECORD_TEXT, .name = #f, .text = t, .offset = OFF(f), .bytes = b, .needed = must},
#define A(f, b, t) {.kind = RECORD_ADDRESS, .name = #f, .text = t, .offset = OFF(f), .bytes = b},
#define P(f, t)                                                                                    \
	{.kind = RECORD_PATH, .name = #f, .text = t, .offset = OFF(f), .bytes = RECORD_PATH_MAX},
#define W(f, w, d, t)                                                                              \
	{.kind = RECORD_WORD, .name = #f, .words = w, .def = d, .text = t, .offset = OFF(f)},
#define O(f, b, t) {.kind = RECORD_OBJECT, .name = #f, .text = t, .offset = OFF(f), .bytes = b},
#define L(f, b, t) {.kind = RECORD_LIST, .name = #f, .text = t, .offset = OFF(f), .bytes = b},
#define D(f, must, t)                                                                              \
	{.kind = RECORD_DOLLARS, .name = #f, .text = t, .offset = OFF(f), .needed = must},
#define U(f, m, d, t)                                                                              \
	{.kind = RECORD_NUMBER, .name = #f, .max = m, .def = d, .text = t, .offset = OFF(f)},

#define OFF(f) offsetof(struct provider_record, f)
static const struct record_field provider_fields[] = {PROVIDER_RECORD(N, T, A, P, W, O, L, D, U)};
#undef OFF
#define OFF(f) offsetof(struct mcp_record, f)
static const struct record_field mcp_fields[] = {MCP_RECORD(N, T, A, P, W, O, L, D, U)};
#undef OFF
#define OFF(f) offsetof(struct worker_record, f)
static const struct record_field worker_fields[] = {WORKER_RECORD(N, T, A, P, W, O, L, D, U)};
#undef OFF
#define OFF(f) offsetof(struct profile_record, f)
static const struct record_field profile_fields[] = {PROFILE_RECORD(N, T, A, P, W, O, L, D, U)};
#undef OFF
#define OFF(f) offsetof(struct price_record, f)
static const struct record_field price_fields[] = {PRICE_RECORD(N, T, A, P, W, O, L, D, U)};
#undef OFF

const struct record_kind record_kinds[RECORD_KINDS] = {
#define KIND(NAME, n, plural, max, TABLE, t)                                                       \
	[RECORD_KIND_##NAME] = {.name = #plural,                                                   \
				.text = t,                                                         \
				.fields = n##_fields,                                              \
				.n_fields = sizeof n##_fields / sizeof n##_fields[0],              \
				.size = sizeof(struct n##_record),                                 \
				.most = max},
	SETTINGS_RECORDS(KIND)
#undef KIND
};

struct parsing {
	const struct record_kind *kind;
	unsigned entry; /* of the record in its list; RECORD_WHOLE */
	const char *record;
	unsigned faults;
	record_entry_h *h;
	void *arg;
};

__attribute__((format(printf, 2, 3))) static void fault(struct parsing *p, const char *fmt, ...)
{
	char text[640];
	va_list ap;
	int n;

	if (p->entry == RECORD_WHOLE)
		n = snprintf(text, sizeof text, "%s: ", p->kind->name);
	else
		n = snprintf(text, sizeof text, "%s[%u]%s%.32s%s: ", p->kind->name, p->entry,
			     *p->record ? " \"" : "", p->record, *p->record ? "\"" : "");
	va_start(ap, fmt);
	vsnprintf(text + n, sizeof text - (size_t)n, fmt, ap);
	va_end(ap);
	utf8_plain(text);
	p->faults++;
	if (p->h)
		p->h(p->entry, text, p->arg);
}

/* ---- values ---- */

static bool name_valid(const char *name)
{
	size_t n = strlen(name);

	return n && n < RECORD_NAME_MAX &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") ==
		       n;
}

static bool address_valid(const char *url)
{
	static const char *const schemes[] = {"http://", "https://", "ws://", "wss://"};

	for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
		size_t n = strlen(schemes[i]), host;

		if (strncmp(url, schemes[i], n) != 0)
			continue;
		host = strcspn(url + n, "/?#");
		return host && !memchr(url + n, '@', host) && !strpbrk(url, " \t\r\n\"\\");
	}
	return false;
}

static bool list_valid(const json_t *v)
{
	const json_t *item;
	size_t i;

	if (!json_is_array(v) || json_array_size(v) > LIST_ITEMS_MAX)
		return false;
	json_array_foreach(v, i, item) if (!json_is_string(item)) return false;
	return true;
}

static bool object_valid(const json_t *v)
{
	const char *key;
	const json_t *item;

	if (!json_is_object(v) || json_object_size(v) > LIST_ITEMS_MAX)
		return false;
	json_object_foreach((json_t *)v, key, item) if (!*key || json_is_object(item) ||
							json_is_array(item)) return false;
	return true;
}

/* Where the path of a file belongs: long, without a folder or an ending, and of letters and digits
 * mixed. Nobody may read it in a log or on a screen. */
static bool looks_like_key(const char *text)
{
	size_t n = strlen(text);

	return n >= 20 && !strpbrk(text, "/. ") && strpbrk(text, "0123456789");
}

static void take_text(struct parsing *p, const struct record_field *f, char *out, const json_t *v)
{
	const char *text = json_string_value(v);

	if (!text || json_string_length(v) != strlen(text))
		fault(p, "\"%s\" must be a text in quotes", f->name);
	else if (strlen(text) >= f->bytes)
		fault(p, "\"%s\" may have at most %zu bytes, not %zu", f->name, f->bytes - 1,
		      strlen(text));
	else if (f->kind == RECORD_PATH && looks_like_key(text))
		fault(p,
		      "\"%s\" holds what looks like a key, not the path of a file: put the key "
		      "into a "
		      "file that nobody else may read, and name that file here",
		      f->name);
	else if (f->kind == RECORD_ADDRESS && *text && !address_valid(text))
		fault(p,
		      "\"%s\" must begin with http://, https://, ws:// or wss://, and hold neither "
		      "user nor password",
		      f->name);
	else
		memcpy(out, text, strlen(text) + 1);
}

/* Kept as text, so that a record needs no memory of its own. */
static void take_json(struct parsing *p, const struct record_field *f, char *out, const json_t *v)
{
	bool list = f->kind == RECORD_LIST;
	size_t n;

	if (list ? !list_valid(v) : !object_valid(v)) {
		fault(p, "\"%s\" must be %s of at most %d %s", f->name,
		      list ? "a list" : "an object", LIST_ITEMS_MAX,
		      list ? "texts" : "plain values");
		return;
	}
	n = json_dumpb(v, out, f->bytes, JSON_COMPACT);
	if (!n || n >= f->bytes) {
		fault(p, "\"%s\" may have at most %zu bytes", f->name, f->bytes - 1);
		n = 0;
	}
	out[n] = '\0';
}

static void take_word(struct parsing *p, const struct record_field *f, uint32_t *out,
		      const json_t *v)
{
	const char *text = json_string_value(v);
	int i = text ? settings_word(f->words, text, strlen(text)) : -1;
	struct nearest near = {.word = text ? text : "", .word_len = text ? strlen(text) : 0};

	if (i >= 0) {
		*out = (uint32_t)i;
		return;
	}
	for (const char *w = f->words; *w; w += strcspn(w, "|"), w += *w == '|')
		nearest_try(&near, w, strcspn(w, "|"));
	if (near.best)
		fault(p, "\"%s\" must be one of %s; did you mean \"%.*s\"?", f->name, f->words,
		      (int)near.best_len, near.best);
	else
		fault(p, "\"%s\" must be one of %s", f->name, f->words);
}

static void take_name(struct parsing *p, const struct record_field *f, char *out, const json_t *v)
{
	const char *text = json_string_value(v);

	if (!text || !name_valid(text))
		fault(p,
		      "\"%s\" must have 1 to %d letters, digits, hyphens or underscores, and no "
		      "others",
		      f->name, RECORD_NAME_MAX - 1);
	else
		memcpy(out, text, strlen(text) + 1);
}

static void take_dollars(struct parsing *p, const struct record_field *f, uint64_t *out,
			 const json_t *v)
{
	double usd = json_number_value(v);

	if (!json_is_number(v) || !(usd >= 0 && usd <= DOLLARS_MAX))
		fault(p, "\"%s\" must be a number from 0 to %.0f", f->name, DOLLARS_MAX);
	else
		*out = (uint64_t)(usd * 1e6 + 0.5);
}

static void take_number(struct parsing *p, const struct record_field *f, uint32_t *out,
			const json_t *v)
{
	json_int_t n = json_integer_value(v);

	if (!json_is_integer(v) || n < 0 || n > f->max)
		fault(p, "\"%s\" must be a whole number from 0 to %u", f->name, f->max);
	else
		*out = (uint32_t)n;
}

static void take_field(struct parsing *p, const struct record_field *f, char *record,
		       const json_t *v)
{
	void *out = record + f->offset;

	switch (f->kind) {
	case RECORD_NAME:
		take_name(p, f, out, v);
		break;
	case RECORD_TEXT:
	case RECORD_ADDRESS:
	case RECORD_PATH:
		take_text(p, f, out, v);
		break;
	case RECORD_WORD:
		take_word(p, f, out, v);
		break;
	case RECORD_OBJECT:
	case RECORD_LIST:
		take_json(p, f, out, v);
		break;
	case RECORD_DOLLARS:
		take_dollars(p, f, out, v);
		break;
	case RECORD_NUMBER:
		take_number(p, f, out, v);
		break;
	}
}

/* ---- records ---- */

static const struct record_field *field_named(const struct record_kind *k, const char *name)
{
	for (size_t i = 0; i < k->n_fields; i++)
		if (strcmp(k->fields[i].name, name) == 0)
			return &k->fields[i];
	return NULL;
}

static void unknown(struct parsing *p, const char *name)
{
	struct nearest n = {.word = name, .word_len = strlen(name)};

	for (size_t i = 0; i < p->kind->n_fields; i++)
		nearest_try(&n, p->kind->fields[i].name, strlen(p->kind->fields[i].name));
	if (strcmp(name, "key") == 0)
		fault(p,
		      "a key does not belong here: put it into a file that nobody else may read, "
		      "and name that file as \"key_file\"");
	else if (n.best)
		fault(p, "unknown field \"%.64s\"; did you mean \"%s\"?", name, n.best);
	else
		fault(p, "unknown field \"%.64s\"", name);
}

static bool take_record(struct parsing *p, char *record, const json_t *object)
{
	const struct record_kind *k = p->kind;
	unsigned before = p->faults;
	const char *key;
	const json_t *v;

	memset(record, 0, k->size);
	v = json_object_get(object, "name");
	p->record = json_is_string(v) ? json_string_value(v) : "";
	if (!json_is_object(object)) {
		fault(p, "a record is an object: { \"name\": value, ... }");
		return false;
	}
	if (json_object_size(object) > RECORD_FIELDS_MAX) {
		fault(p, "a record may have at most %d fields, not %zu", RECORD_FIELDS_MAX,
		      json_object_size(object));
		return false;
	}
	for (size_t i = 0; i < k->n_fields; i++) {
		const struct record_field *f = &k->fields[i];

		if (f->kind == RECORD_WORD || f->kind == RECORD_NUMBER)
			memcpy(record + f->offset, &f->def, sizeof f->def);
		if (f->needed && !json_object_get(object, f->name))
			fault(p, "\"%s\" is missing", f->name);
	}
	json_object_foreach((json_t *)object, key, v)
	{
		const struct record_field *f = field_named(k, key);

		if (f)
			take_field(p, f, record, v);
		else
			unknown(p, key);
	}
	return p->faults == before;
}

/* Records with a name are known by it. */
static bool name_taken(struct parsing *p, const char *records, unsigned n, const char *record)
{
	const struct record_field *f = &p->kind->fields[0];

	for (unsigned i = 0; f->kind == RECORD_NAME && i < n; i++)
		if (strcmp(records + i * p->kind->size + f->offset, record + f->offset) == 0) {
			fault(p, "another record has this name");
			return true;
		}
	return false;
}

unsigned record_list_parse(const struct record_kind *kind, const json_t *list, void *out,
			   unsigned *faults, record_entry_h *h, void *arg)
{
	struct parsing p = {.kind = kind, .entry = RECORD_WHOLE, .record = "", .h = h, .arg = arg};
	const json_t *object;
	unsigned n = 0;
	size_t i;

	if (!json_is_array(list)) {
		fault(&p, "this must be a list of objects: [ { ... }, ... ]");
	} else if (json_array_size(list) > kind->most) {
		fault(&p, "there are %zu records, and at most %u are kept", json_array_size(list),
		      kind->most);
	} else {
		json_array_foreach(list, i, object)
		{
			char *record = (char *)out + n * kind->size;

			p.entry = (unsigned)i;
			if (take_record(&p, record, object) && !name_taken(&p, out, n, record))
				n++;
		}
	}
	if (faults)
		*faults += p.faults;
	return n;
}

/* ---- printing ---- */

static json_t *field_json(const struct record_field *f, const char *at)
{
	uint64_t amount;
	uint32_t word, number;
	const char *p = f->words;

	switch (f->kind) {
	case RECORD_WORD:
		memcpy(&word, at, sizeof word);
		if (word == f->def)
			return NULL;
		while (word--)
			p += strcspn(p, "|") + 1;
		return json_stringn(p, strcspn(p, "|"));
	case RECORD_DOLLARS:
		memcpy(&amount, at, sizeof amount);
		return json_real((double)amount / 1e6);
	case RECORD_NUMBER:
		memcpy(&number, at, sizeof number);
		return number == f->def ? NULL : json_integer(number);
	case RECORD_OBJECT:
	case RECORD_LIST:
		return *at ? json_loads(at, 0, NULL) : NULL;
	default:
		return *at ? json_string(at) : NULL;
	}
}

json_t *record_list_json(const struct record_kind *kind, const void *records, unsigned n)
{
	json_t *list = json_array();

	for (unsigned r = 0; list && r < n; r++) {
		const char *record = (const char *)records + r * kind->size;
		json_t *object = json_object();

		for (size_t i = 0; object && i < kind->n_fields; i++) {
			json_t *v = field_json(&kind->fields[i], record + kind->fields[i].offset);

			if (v)
				json_object_set_new(object, kind->fields[i].name, v);
		}
		json_array_append_new(list, object);
	}
	return list;
}
