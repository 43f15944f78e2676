#include "control/settings/settings.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { KIND_U, KIND_B, KIND_E, KIND_S, KIND_K };

struct row {
	enum kind kind;
	const char *name, *env;
	size_t offset, bytes;	/* of the field; bytes of a text */
	uint32_t def, min, max; /* numbers */
	const char *text_def, *unit, *words, *text;
};

static const struct row rows[] = {
#define OFF(name) offsetof(struct settings, name)
#define U(n, e, d, lo, hi, u, t)                                                                   \
	{.kind = KIND_U,                                                                           \
	 .name = #n,                                                                               \
	 .env = #e,                                                                                \
	 .offset = OFF(n),                                                                         \
	 .def = (d),                                                                               \
	 .min = (lo),                                                                              \
	 .max = (hi),                                                                              \
	 .unit = u,                                                                                \
	 .text = t},
#define B(n, e, d, t)                                                                              \
	{.kind = KIND_B, .name = #n, .env = #e, .offset = OFF(n), .def = (d), .max = 1, .text = t},
#define E(n, e, d, w, t)                                                                           \
	{.kind = KIND_E,                                                                           \
	 .name = #n,                                                                               \
	 .env = #e,                                                                                \
	 .offset = OFF(n),                                                                         \
	 .def = (d),                                                                               \
	 .words = w,                                                                               \
	 .text = t},
#define S(n, e, b, d, t)                                                                           \
	{.kind = KIND_S,                                                                           \
	 .name = #n,                                                                               \
	 .env = #e,                                                                                \
	 .offset = OFF(n),                                                                         \
	 .bytes = (b),                                                                             \
	 .text_def = d,                                                                            \
	 .text = t},
#define K(n, e, b, t)                                                                              \
	{.kind = KIND_K,                                                                           \
	 .name = #n,                                                                               \
	 .env = #e,                                                                                \
	 .offset = OFF(n),                                                                         \
	 .bytes = (b),                                                                             \
	 .text_def = "",                                                                           \
	 .text = t},
	SETTINGS(U, B, E, S, K)
#undef U
#undef B
#undef E
#undef S
#undef K
#undef OFF
};

enum { N_ROWS = sizeof rows / sizeof rows[0] };

static char *text_of(struct settings *s, const struct row *r)
{
	return (char *)s + r->offset;
}

static void number_set(struct settings *s, const struct row *r, uint32_t v)
{
	if (r->kind == KIND_B)
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
	for (size_t i = 0; i < N_ROWS; i++) {
		const struct row *r = &rows[i];

		if (r->kind == KIND_S || r->kind == KIND_K)
			snprintf(text_of(s, r), r->bytes, "%s", r->text_def);
		else
			number_set(s, r, r->def);
	}
	*out = s;
	return 0;
}

struct settings *settings_free(struct settings *s)
{
	if (!s)
		return NULL;
	for (size_t i = 0; i < N_ROWS; i++)
		if (rows[i].kind == KIND_K)
			explicit_bzero(text_of(s, &rows[i]), rows[i].bytes);
	free(s);
	return NULL;
}

/* Index of a word in "a|b|c", or -1. */
static int word_index(const char *words, const char *value)
{
	size_t n = strlen(value);
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

static int parse_number(struct settings *s, const struct row *r, const char *value)
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
		number_set(s, r, r->max);
		return ERANGE;
	}
	if (v < r->min) {
		number_set(s, r, r->min);
		return ERANGE;
	}
	number_set(s, r, (uint32_t)v);
	return 0;
}

static int parse_row(struct settings *s, const struct row *r, const char *value)
{
	int i;

	switch (r->kind) {
	case KIND_U:
		return parse_number(s, r, value);
	case KIND_B:
		if ((i = word_index("0|1|no|yes|off|on|false|true", value)) < 0)
			return EINVAL;
		number_set(s, r, (uint32_t)i & 1);
		return 0;
	case KIND_E:
		if ((i = word_index(r->words, value)) < 0)
			return EINVAL;
		number_set(s, r, (uint32_t)i);
		return 0;
	case KIND_S:
	case KIND_K:
		if (strlen(value) >= r->bytes)
			return EINVAL;
		snprintf(text_of(s, r), r->bytes, "%s", value);
		return 0;
	}
	return EINVAL;
}

static void print_value(const struct settings *s, const struct row *r, char *buf, size_t size)
{
	const char *field = (const char *)s + r->offset;
	uint32_t v = 0;

	switch (r->kind) {
	case KIND_U:
		memcpy(&v, field, sizeof v);
		snprintf(buf, size, "%u", v);
		break;
	case KIND_B:
		snprintf(buf, size, "%s", *(const bool *)field ? "yes" : "no");
		break;
	case KIND_E: {
		const char *p = r->words;

		memcpy(&v, field, sizeof v);
		while (v--)
			p += strcspn(p, "|") + 1;
		snprintf(buf, size, "%.*s", (int)strcspn(p, "|"), p);
		break;
	}
	case KIND_S:
		snprintf(buf, size, "%s", field);
		break;
	case KIND_K:
		snprintf(buf, size, "(secret)");
		break;
	}
}

void settings_load(struct settings *s, settings_lookup_h *lookuph, settings_complain_h *complainh,
		   void *arg)
{
	char used[128];

	for (size_t i = 0; i < N_ROWS; i++) {
		const struct row *r = &rows[i];
		const char *value = lookuph(r->env, arg);

		if (!value || !*value || parse_row(s, r, value) == 0 || !complainh)
			continue;
		print_value(s, r, used, sizeof used);
		complainh(r->env, r->kind == KIND_K ? "(secret)" : value, used, arg);
	}
}

int settings_set(struct settings *s, const char *name, const char *value)
{
	for (size_t i = 0; i < N_ROWS; i++)
		if (strcmp(rows[i].name, name) == 0 || strcmp(rows[i].env, name) == 0)
			return parse_row(s, &rows[i], value);
	return ENOENT;
}

void settings_each(const struct settings *s, settings_each_h *h, void *arg)
{
	char value[4096];

	for (size_t i = 0; i < N_ROWS; i++) {
		bool secret = rows[i].kind == KIND_K;

		if (!secret)
			print_value(s, &rows[i], value, sizeof value);
		h(rows[i].name, secret ? (const char *)s + rows[i].offset : value, secret, arg);
	}
}

static void address_secrets(const char *url, void (*h)(const char *value, void *arg), void *arg)
{
	char part[sizeof((struct settings *)0)->brain_url];
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
	address_secrets(s->brain_url, h, arg);
	for (size_t i = 0; i < N_ROWS; i++) {
		const char *field = (const char *)s + rows[i].offset;

		if (rows[i].kind == KIND_K && *field)
			h(field, arg);
	}
}

bool settings_guest(const struct settings *s)
{
	return s->guest == SETTINGS_GUEST_ON ||
	       (s->guest == SETTINGS_GUEST_AUTO && !*s->openai_api_key);
}

const char *settings_brain_url(const struct settings *s)
{
	if (*s->brain_url)
		return s->brain_url;
	return *s->openai_api_key ? "wss://api.openai.com/v1/realtime" : NULL;
}

void settings_brain_shown(const struct settings *s, char *buf, size_t size)
{
	const char *url = settings_brain_url(s), *host, *at;
	size_t scheme = 0, n;

	if (!url) {
		snprintf(buf, size, "none");
		return;
	}
	host = strstr(url, "://");
	host = host ? host + 3 : url;
	scheme = (size_t)(host - url);
	for (n = strcspn(host, "/?#"); (at = memchr(host, '@', n)); host = at + 1)
		n -= (size_t)(at + 1 - host);
	snprintf(buf, size, "%.*s%.*s", (int)scheme, url, (int)strcspn(host, "?#"), host);
}

/* A text that grows; after a failure it stays as it is and err is set. */
struct page {
	char *text;
	size_t n, cap;
	int err;
};

__attribute__((format(printf, 2, 3))) static void page_add(struct page *p, const char *fmt, ...)
{
	va_list ap;
	int need;

	va_start(ap, fmt);
	need = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (p->err || need < 0)
		return;
	if (p->n + (size_t)need + 1 > p->cap) {
		size_t cap = 2 * p->cap + (size_t)need + 1;
		char *grown = realloc(p->text, cap);

		if (!grown) {
			p->err = ENOMEM;
			return;
		}
		p->text = grown;
		p->cap = cap;
	}
	va_start(ap, fmt);
	vsnprintf(p->text + p->n, p->cap - p->n, fmt, ap);
	va_end(ap);
	p->n += (size_t)need;
}

static void doc_row(struct page *p, const struct settings *defaults, const struct row *r)
{
	char def[4096];

	print_value(defaults, r, def, sizeof def);
	page_add(p, "### `%s`\n\n%s\n\n", r->env, r->text);
	if (r->kind == KIND_K) {
		page_add(p, "A secret. `%s_FILE` may name a file that holds it.\n\n", r->env);
		return;
	}
	page_add(p, "Default: %s%s%s", *def ? "`" : "", *def ? def : "empty", *def ? "`" : "");
	if (r->kind == KIND_U)
		page_add(p, "%s%s, from %u to %u", *r->unit ? " " : "", r->unit, r->min, r->max);
	if (r->kind == KIND_E)
		page_add(p, ", one of `%s`", r->words);
	page_add(p, ". Field `%s`.\n\n", r->name);
}

int settings_doc(char **out)
{
	struct settings *defaults = NULL;
	struct page page = {0};
	int err = settings_alloc(&defaults);

	if (err)
		return err;
	page_add(&page,
		 "# Settings of control\n\nThey are read from the environment when control "
		 "starts. Values outside a range are moved into it, with a line in the log.\n"
		 "This page is made from `control/settings/settings.def`.\n\n");
	for (size_t i = 0; i < N_ROWS; i++)
		doc_row(&page, defaults, &rows[i]);
	settings_free(defaults);
	if (page.err) {
		free(page.text);
		return page.err;
	}
	*out = page.text;
	return 0;
}
