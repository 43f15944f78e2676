#include "control/settings/settings.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/settings/inside.h"
#include "control/settings/nearest.h"
#include "proto/base/utf8.h"

const struct settings_row settings_rows[] = {
#define OFF(name) offsetof(struct settings, name)
#define U(n, e, d, lo, hi, u, t)                                                                   \
	{.kind = SETTINGS_NUMBER,                                                                  \
	 .name = #n,                                                                               \
	 .env = #e,                                                                                \
	 .offset = OFF(n),                                                                         \
	 .def = (d),                                                                               \
	 .min = (lo),                                                                              \
	 .max = (hi),                                                                              \
	 .unit = u,                                                                                \
	 .text = t},
#define B(n, e, d, t)                                                                              \
	{.kind = SETTINGS_SWITCH,                                                                  \
	 .name = #n,                                                                               \
	 .env = #e,                                                                                \
	 .offset = OFF(n),                                                                         \
	 .def = (d),                                                                               \
	 .max = 1,                                                                                 \
	 .text = t},
#define E(n, e, d, w, t)                                                                           \
	{.kind = SETTINGS_WORD,                                                                    \
	 .name = #n,                                                                               \
	 .env = #e,                                                                                \
	 .offset = OFF(n),                                                                         \
	 .def = (d),                                                                               \
	 .words = w,                                                                               \
	 .text = t},
#define S(n, e, b, d, t)                                                                           \
	{.kind = SETTINGS_TEXT,                                                                    \
	 .name = #n,                                                                               \
	 .env = #e,                                                                                \
	 .offset = OFF(n),                                                                         \
	 .bytes = (b),                                                                             \
	 .text_def = d,                                                                            \
	 .text = t},
#define K(n, e, b, t)                                                                              \
	{.kind = SETTINGS_SECRET,                                                                  \
	 .name = #n,                                                                               \
	 .env = #e,                                                                                \
	 .path_name = #n "_file",                                                                  \
	 .offset = OFF(n),                                                                         \
	 .bytes = (b),                                                                             \
	 .path_offset = OFF(n##_file),                                                             \
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

const size_t settings_n_rows = SETTINGS_COUNT;

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

		if (r->kind == SETTINGS_TEXT || r->kind == SETTINGS_SECRET)
			put_text(s, r, r->text_def);
		else
			settings_put_number(s, r, r->def);
	}
	*out = s;
	return 0;
}

struct settings *settings_free(struct settings *s)
{
	if (!s)
		return NULL;
	for (size_t i = 0; i < settings_n_rows; i++)
		if (settings_rows[i].kind == SETTINGS_SECRET)
			explicit_bzero(text_of(s, &settings_rows[i]), settings_rows[i].bytes);
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
	case SETTINGS_TEXT:
	case SETTINGS_SECRET:
		/* What is no UTF-8 could not be told to any service. */
		if (strlen(value) >= r->bytes || !utf8_valid(value))
			return EINVAL;
		put_text(s, r, value);
		return 0;
	}
	return EINVAL;
}

static void print_value(const struct settings *s, const struct settings_row *r, char *buf,
			size_t size)
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

		if (!value || !*value || parse_row(s, r, value) == 0 || !complainh)
			continue;
		print_value(s, r, used, sizeof used);
		complainh(r->env, r->kind == SETTINGS_SECRET ? "(secret)" : value, used, arg);
	}
}

int settings_set(struct settings *s, const char *name, const char *value)
{
	for (size_t i = 0; i < settings_n_rows; i++)
		if (strcmp(settings_rows[i].name, name) == 0 ||
		    strcmp(settings_rows[i].env, name) == 0)
			return parse_row(s, &settings_rows[i], value);
	return ENOENT;
}

void settings_each(const struct settings *s, settings_each_h *h, void *arg)
{
	char value[4096];

	for (size_t i = 0; i < settings_n_rows; i++) {
		bool secret = settings_rows[i].kind == SETTINGS_SECRET;

		if (!secret)
			print_value(s, &settings_rows[i], value, sizeof value);
		h(settings_rows[i].name, secret ? (const char *)s + settings_rows[i].offset : value,
		  secret, arg);
	}
}

static enum settings_when when(const struct settings_row *r)
{
#define N(name) {offsetof(struct settings, name), SETTINGS_NEXT_START},
#define C(name) {offsetof(struct settings, name), SETTINGS_NEXT_CALL},
	static const struct {
		size_t offset;
		enum settings_when when;
	} later[] = {SETTINGS_LATER(N, C)};
#undef N
#undef C

	for (size_t i = 0; i < sizeof later / sizeof later[0]; i++)
		if (later[i].offset == r->offset)
			return later[i].when;
	return r->kind == SETTINGS_SECRET ? SETTINGS_NEXT_START : SETTINGS_AT_ONCE;
}

enum settings_when settings_when(const char *name)
{
	for (size_t i = 0; i < settings_n_rows; i++)
		if (strcmp(settings_rows[i].name, name) == 0)
			return when(&settings_rows[i]);
	return SETTINGS_NEXT_START;
}

static size_t number_bytes(const struct settings_row *r)
{
	return r->kind == SETTINGS_SWITCH ? sizeof(bool) : sizeof(uint32_t);
}

void settings_changes(const struct settings *was, const struct settings *is, settings_each_h *h,
		      void *arg)
{
	char value[4096];

	for (size_t i = 0; i < settings_n_rows; i++) {
		const struct settings_row *r = &settings_rows[i];
		const char *a = (const char *)was + r->offset, *b = (const char *)is + r->offset;
		bool secret = r->kind == SETTINGS_SECRET;
		bool text = secret || r->kind == SETTINGS_TEXT;

		if (text ? strcmp(a, b) == 0 : memcmp(a, b, number_bytes(r)) == 0)
			continue;
		print_value(is, r, value, sizeof value);
		h(r->name, secret ? "" : value, secret, arg);
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
	address_secrets(s->asr_url, h, arg);
	address_secrets(s->text_url, h, arg);
	address_secrets(s->speech_url, h, arg);
	for (size_t i = 0; i < settings_n_rows; i++) {
		const char *field = (const char *)s + settings_rows[i].offset;

		if (settings_rows[i].kind == SETTINGS_SECRET && *field)
			h(field, arg);
	}
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
	return n.best;
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

static void doc_row(struct page *p, const struct settings *defaults, const struct settings_row *r)
{
	char def[4096];

	print_value(defaults, r, def, sizeof def);
	if (r->kind == SETTINGS_SECRET) {
		page_add(p,
			 "### `%s`\n\n%s A secret: this names a file that holds it. The variable "
			 "`%s` "
			 "holds it itself, `%s_FILE` names a file.\n\n",
			 r->path_name, r->text, r->env, r->env);
		return;
	}
	page_add(p, "### `%s`\n\n%s\n\n", r->name, r->text);
	page_add(p, "Default: %s%s%s", *def ? "`" : "", *def ? def : "empty", *def ? "`" : "");
	if (r->kind == SETTINGS_NUMBER)
		page_add(p, "%s%s, from %u to %u", *r->unit ? " " : "", r->unit, r->min, r->max);
	if (r->kind == SETTINGS_WORD)
		page_add(p, ", one of `%s`", r->words);
	if (r->kind == SETTINGS_TEXT)
		page_add(p, ", at most %zu bytes", r->bytes - 1);
	page_add(p, ". Variable `%s`.%s\n\n", r->env,
		 when(r) == SETTINGS_NEXT_START	 ? " A change is heeded at the next start."
		 : when(r) == SETTINGS_NEXT_CALL ? " A change is heeded by the next call."
						 : "");
}

int settings_doc(char **out)
{
	struct settings *defaults = NULL;
	struct page page = {0};
	int err = settings_alloc(&defaults);

	if (err)
		return err;
	page_add(&page,
		 "# Settings of control\n\n"
		 "They are read when control starts: from the settings file, a JSON object "
		 "(`/etc/parley/parley.json` "
		 "when it is there, or\n`--config FILE`), and from the environment, which counts "
		 "more. The file is read again on SIGHUP; where a change is not\nheeded at once, it "
		 "says so here.\n\n"
		 "```\n{\n  \"bot_name\": \"Charlie\",\n  \"silence_ms\": 600,\n  \"log_words\": "
		 "false,\n"
		 "  \"discord_token_file\": \"/etc/parley/discord-token\"\n}\n```\n\n"
		 "In the file numbers are plain, switches `true` or `false`, all else in quotes. "
		 "What is wrong in it is told with its\n"
		 "line, all at once, and control does not start (status 2). A number in the "
		 "environment that is out of its range is moved into\n"
		 "it, what else cannot be used is as if not given, each with a line in the log.\n\n"
		 "This page is made from `control/settings/settings.def`; `control --settings` "
		 "prints it.\n\n");
	for (size_t i = 0; i < settings_n_rows; i++)
		doc_row(&page, defaults, &settings_rows[i]);
	settings_free(defaults);
	if (page.err) {
		free(page.text);
		return page.err;
	}
	*out = page.text;
	return 0;
}
