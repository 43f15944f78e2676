#include "control/settings/file.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "control/settings/inside.h"
#include "control/settings/members.h"
#include "control/settings/nearest.h"
#include "control/settings/records.h"
#include "proto/base/utf8.h"

enum { SHOWN = 40 };

struct reading {
	struct settings *s;
	settings_fault_h *h;
	void *arg;
	unsigned faults;
	unsigned record_lines[8];	   /* where each member that holds records was given */
	const struct member *member;	   /* that is read */
	unsigned lines[2][SETTINGS_COUNT]; /* where each row, and each secret's path, was given; 0:
					      not yet */
};

__attribute__((format(printf, 3, 4))) static void fault(struct reading *r, unsigned line,
							const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	utf8_plain(text);
	r->faults++;
	if (r->h)
		r->h(line, text, r->arg);
}

/* The value as it was written, cut to be shown. */
static const char *shown(const struct member *m, char buf[SHOWN + 4])
{
	size_t n = m->value_len > SHOWN ? utf8_whole(m->value, SHOWN) : m->value_len;

	snprintf(buf, SHOWN + 4, "%.*s%s", (int)n, m->value, n < m->value_len ? "..." : "");
	return buf;
}

static void take_number(struct reading *r, const struct settings_row *row, const struct member *m,
			const json_t *v)
{
	json_int_t n = json_integer_value(v);
	char buf[SHOWN + 4], values[SETTINGS_VALUES_TEXT];

	if (json_is_integer(v) && n >= (json_int_t)row->min && n <= (json_int_t)row->max) {
		settings_put_number(r->s, row, (uint32_t)n);
	} else {
		settings_row_say(row, true, values, sizeof values);
		fault(r, m->line, "\"%s\" must be %s, not %s", row->name, values, shown(m, buf));
	}
}

static void take_switch(struct reading *r, const struct settings_row *row, const struct member *m,
			const json_t *v)
{
	char buf[SHOWN + 4];

	if (json_is_boolean(v))
		settings_put_number(r->s, row, json_is_true(v));
	else
		fault(r, m->line, "\"%s\" must be true or false, not %s", row->name, shown(m, buf));
}

static void take_word(struct reading *r, const struct settings_row *row, const struct member *m,
		      const json_t *v)
{
	const char *text = json_string_value(v);
	struct nearest near = {.word = text, .word_len = json_string_length(v)};
	int i = text ? settings_word(row->words, text, near.word_len) : -1;
	char words[SETTINGS_VALUES_TEXT], buf[SHOWN + 4];

	if (i >= 0) {
		settings_put_number(r->s, row, (uint32_t)i);
		return;
	}
	for (const char *p = row->words; text && *p; p += *p == '|') {
		nearest_try(&near, p, strcspn(p, "|"));
		p += strcspn(p, "|");
	}
	settings_row_say(row, true, words, sizeof words);
	if (near.best)
		fault(r, m->line, "\"%s\" must be %s, not %s; did you mean \"%.*s\"?", row->name,
		      words, shown(m, buf), (int)near.best_len, near.best);
	else
		fault(r, m->line, "\"%s\" must be %s, not %s", row->name, words, shown(m, buf));
}

/* A text, or a secret's path: then name is not the row's. */
static void take_text(struct reading *r, const char *name, char *field, size_t size,
		      const struct member *m, const json_t *v)
{
	char buf[SHOWN + 4];

	if (!json_is_string(v))
		fault(r, m->line, "\"%s\" must be a text in quotes, not %s", name, shown(m, buf));
	else if (json_string_length(v) >= size)
		fault(r, m->line, "\"%s\" may have at most %zu bytes, not %zu", name, size - 1,
		      json_string_length(v));
	else
		snprintf(field, size, "%s", json_string_value(v));
}

static void take_text_row(struct reading *r, const struct settings_row *row, const struct member *m,
			  const json_t *v)
{
	char why[SETTINGS_FAULT_TEXT];

	if (json_is_string(v) && settings_text_fault(row, json_string_value(v), why, sizeof why))
		fault(r, m->line, "\"%s\" %s", row->name, why);
	else
		take_text(r, row->name, (char *)r->s + row->offset, row->bytes, m, v);
}

/* Nobody knows whom or what a list keeps out that cannot be read. */
static void take_ids(struct reading *r, const struct settings_row *row, const struct member *m,
		     const json_t *v)
{
	unsigned before = r->faults;

	take_text_row(r, row, m, v);
	r->s->unread = r->s->unread || r->faults > before;
}

static void take_row(struct reading *r, const struct settings_row *row, const struct member *m,
		     const json_t *v)
{
	switch (row->kind) {
	case SETTINGS_NUMBER:
		take_number(r, row, m, v);
		break;
	case SETTINGS_SWITCH:
		take_switch(r, row, m, v);
		break;
	case SETTINGS_WORD:
		take_word(r, row, m, v);
		break;
	case SETTINGS_TEXT:
		take_text_row(r, row, m, v);
		break;
	case SETTINGS_IDS:
		take_ids(r, row, m, v);
		break;
	case SETTINGS_SECRET:
		fault(r, m->line,
		      "\"%s\" is a secret and does not belong here: put it into a file that nobody "
		      "else may read, and "
		      "name that file as \"%s_file\"",
		      row->name, row->name);
		break;
	}
}

static bool given_before(struct reading *r, unsigned *line, const char *name,
			 const struct member *m)
{
	if (*line) {
		fault(r, m->line, "\"%s\" is given a second time; the first is on line %u", name,
		      *line);
		return true;
	}
	*line = m->line;
	return false;
}

static void unknown(struct reading *r, const char *name, const struct member *m)
{
	const char *likely;

	for (size_t i = 0; i < settings_n_rows; i++)
		if (strcmp(settings_rows[i].env, name) == 0) {
			fault(r, m->line,
			      "\"%s\" is the name of the variable; here it is called \"%s\"", name,
			      settings_rows[i].path_name ? settings_rows[i].path_name
							 : settings_rows[i].name);
			return;
		}
	likely = settings_nearest(name, false);
	if (likely)
		fault(r, m->line, "there is no setting \"%.64s\"; did you mean \"%s\"?", name,
		      likely);
	else
		fault(r, m->line, "there is no setting \"%.64s\"; control --settings lists all",
		      name);
}

static void record_fault(unsigned entry, const char *text, void *arg)
{
	struct reading *r = arg;
	unsigned line =
		entry == RECORD_WHOLE ? r->member->line : members_entry_line(r->member, entry);

	fault(r, line, "%s", text);
}

/* False: it is none that holds records. */
static bool take_records(struct reading *r, const char *name, const struct member *m,
			 const json_t *v)
{
	unsigned i = 0;

	while (records_member(i) && strcmp(records_member(i), name) != 0)
		i++;
	if (!records_member(i))
		return false;
	r->member = m;
	if (!given_before(r, &r->record_lines[i], name, m))
		records_take(r->s, name, v, NULL, record_fault, r);
	return true;
}

static void take_member(struct reading *r, const char *name, const struct member *m,
			const json_t *v)
{
	for (size_t i = 0; i < settings_n_rows; i++) {
		const struct settings_row *row = &settings_rows[i];

		if (strcmp(row->name, name) == 0) {
			if (!given_before(r, &r->lines[0][i], name, m))
				take_row(r, row, m, v);
			return;
		}
		if (row->path_name && strcmp(row->path_name, name) == 0) {
			if (!given_before(r, &r->lines[1][i], name, m))
				take_text(r, name, (char *)r->s + row->path_offset,
					  SETTINGS_PATH_MAX, m, v);
			return;
		}
	}
	if (!take_records(r, name, m, v))
		unknown(r, name, m);
}

/* The message does not quote the text nearby: it may be a secret in the wrong place. */
static void not_json(struct reading *r, const json_error_t *error)
{
	const char *near = strstr(error->text, " near ");
	int n = (int)(near ? (size_t)(near - error->text) : strlen(error->text));

	fault(r, error->line > 0 ? (unsigned)error->line : 1,
	      "this is not JSON: %.*s (JSON knows no comments, no single quotes, and no comma "
	      "behind the last member)",
	      n, error->text);
}

static bool only_blanks(const char *text, size_t len)
{
	while (len && memchr(" \t\r\n", text[len - 1], 4))
		len--;
	return len == 0;
}

unsigned settings_file(struct settings *s, const char *text, size_t len, settings_fault_h *h,
		       void *arg)
{
	struct reading r = {.s = s, .h = h, .arg = arg};
	json_error_t error;
	struct members walk;
	struct member m;
	json_t *all;

	if (len > SETTINGS_FILE_MAX) {
		fault(&r, 1, "a settings file has at most %d bytes", SETTINGS_FILE_MAX);
		return r.faults;
	}
	if (only_blanks(text, len)) {
		fault(&r, 1, "the file is empty: a settings file without settings is {}");
		return r.faults;
	}
	all = json_loadb(text, len, 0, &error);
	if (!all)
		not_json(&r, &error);
	else if (!json_is_object(all))
		fault(&r, 1, "a settings file is one object: { \"name\": value, ... }");
	members_begin(&walk, text, json_is_object(all) ? len : 0);
	while (members_next(&walk, &m)) {
		json_t *key = json_loadb(m.key, m.key_len, JSON_DECODE_ANY, NULL);
		json_t *value = json_loadb(m.value, m.value_len, JSON_DECODE_ANY, NULL);

		if (json_is_string(key) && value)
			take_member(&r, json_string_value(key), &m, value);
		else
			fault(&r, m.line, "this cannot be read");
		json_decref(key);
		json_decref(value);
	}
	json_decref(all);
	settings_resolve(s);
	return r.faults;
}
