#include "tests/room/script.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct form {
	const char *form;
	unsigned options;
} forms[] = {
#define X(NAME, form, options) {form, options},
	SCRIPT_ACTIONS(X)
#undef X
};

enum { FORMS = sizeof forms / sizeof forms[0] };

struct parser {
	struct script *s;
	unsigned number; /* of the line */
	uint64_t ms;
	bool timed; /* a time was read */
	char *err;
	size_t size;
};

const char *script_form(unsigned what)
{
	return what < FORMS ? forms[what].form : NULL;
}

__attribute__((format(printf, 2, 3))) static int wrong(struct parser *p, const char *fmt, ...)
{
	va_list ap;
	int n = snprintf(p->err, p->size, "%u: ", p->number);

	va_start(ap, fmt);
	if (n >= 0 && (size_t)n < p->size)
		vsnprintf(p->err + n, p->size - (size_t)n, fmt, ap);
	va_end(ap);
	return EBADMSG;
}

/* ---- tokens ---- */

/* "quoted words", with \", \\ and \n inside, written back as what they stand for. The end, or NULL
 * when the quote stays open. */
static char *unquote(char *at, struct script_token *t)
{
	char *to = ++at;

	*t = (struct script_token){.text = to, .quoted = true};
	for (; *at && *at != '"'; at++) {
		bool line = at[0] == '\\' && at[1] == 'n';

		if (*at == '\\' && (line || at[1] == '"' || at[1] == '\\'))
			at++;
		*to++ = line ? '\n' : *at;
	}
	if (!*at)
		return NULL;
	*to = '\0';
	return at + 1;
}

/* Splits a line in place; -1 when it cannot be. A word with = keeps a quoted value: text="a b". */
static int split(struct parser *p, char *line, struct script_token *v)
{
	int n = 0;

	for (char *at = line;;) {
		at += strspn(at, " \t\r");
		if (!*at || *at == '#')
			return n;
		if (n == SCRIPT_TOKENS) {
			wrong(p, "more than %d words", SCRIPT_TOKENS);
			return -1;
		}
		if (*at == '"') {
			at = unquote(at, &v[n++]);
		} else {
			char *end = at + strcspn(at, " \t\r\"");

			v[n++] = (struct script_token){.text = at};
			if (*end == '"' && end > at && end[-1] == '=') {
				struct script_token value;
				char *start = end;

				at = unquote(end, &value);
				if (at)
					memmove(start, value.text, strlen(value.text) + 1);
				end = NULL;
			} else if (*end == '"') {
				wrong(p, "a quote in the middle of a word");
				return -1;
			}
			if (end) {
				at = *end ? end + 1 : end;
				*end = '\0';
			}
		}
		if (!at) {
			wrong(p, "a quote that is not closed");
			return -1;
		}
	}
}

static bool number(const struct script_token *t, uint64_t max, uint64_t *out)
{
	uint64_t v = 0;

	if (t->quoted || !*t->text)
		return false;
	for (const char *c = t->text; *c; c++) {
		if (*c < '0' || *c > '9')
			return false;
		v = v * 10 + (uint64_t)(*c - '0');
		if (v > max)
			return false;
	}
	*out = v;
	return true;
}

static bool is(const struct script_token *t, const char *word)
{
	return !t->quoted && strcmp(t->text, word) == 0;
}

/* ---- actions ---- */

/* How many tokens the row takes; 0 when it is another action. */
static int fits(const struct form *f, struct script_line *l, const struct script_token *v, int n)
{
	int k = 0;

	for (const char *at = f->form; *at; k++) {
		size_t len = strcspn(at, " ");

		if (k == n)
			return 0;
		if (len == 4 && memcmp(at, "NAME", 4) == 0) {
			if (v[k].quoted || strlen(v[k].text) >= SCRIPT_NAME)
				return 0;
			l->name = v[k].text;
		} else if (len == 4 && memcmp(at, "WORD", 4) == 0) {
			l->word = v[k].text;
		} else if (len == 4 && memcmp(at, "TEXT", 4) == 0) {
			if (!v[k].quoted && l->what != SCRIPT_SETTING)
				return 0;
			l->text = v[k].text;
		} else if (len == 1 && *at == 'N') {
			if (!number(&v[k], SCRIPT_MS, &l->n))
				return 0;
		} else if (v[k].quoted || strlen(v[k].text) != len ||
			   memcmp(v[k].text, at, len) != 0) {
			return 0;
		}
		at += len;
		at += *at == ' ';
	}
	return k;
}

static int option(struct parser *p, struct script_line *l, unsigned options,
		  const struct script_token *v, int n)
{
	static const struct {
		const char *word;
		unsigned option;
		size_t field;
	} rows[] = {{"for", SCRIPT_FOR, offsetof(struct script_line, lasts)},
		    {"level", SCRIPT_LEVEL, offsetof(struct script_line, level)},
		    {"after", SCRIPT_AFTER, offsetof(struct script_line, after)},
		    {"quietly", SCRIPT_QUIETLY, 0}};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		uint64_t value = 0;

		if (!is(&v[0], rows[i].word) || !(options & rows[i].option))
			continue;
		if (l->given & rows[i].option)
			return wrong(p, "%s stands there twice", rows[i].word), -1;
		l->given |= rows[i].option;
		if (!rows[i].field)
			return 1;
		if (n < 2 ||
		    !number(&v[1], rows[i].option == SCRIPT_LEVEL ? 32767 : SCRIPT_MS, &value))
			return wrong(p, "%s wants a number", rows[i].word), -1;
		memcpy((char *)l + rows[i].field, &value, sizeof value);
		return 2;
	}
	return wrong(p, "not a part of this action: %s", v[0].text), -1;
}

static int action(struct parser *p, struct script_line *l, const struct script_token *v, int n)
{
	int k = 0, took;

	for (unsigned i = 0; i < FORMS && !k; i++) {
		*l = (struct script_line){
			.number = p->number, .ms = p->ms, .what = (enum script_what)i, .text = ""};
		k = fits(&forms[i], l, v, n);
	}
	if (!k)
		return wrong(p, "not an action: %s%s%s", v[0].text, n > 1 ? " " : "",
			     n > 1 ? v[1].text : "");
	if (forms[l->what].options & SCRIPT_FIELDS) {
		for (; k < n; k++) {
			if (v[k].quoted || !strchr(v[k].text, '='))
				return wrong(p, "not a field=value: %s", v[k].text);
			l->token[l->tokens++] = v[k];
		}
		return 0;
	}
	for (; k < n; k += took)
		if ((took = option(p, l, forms[l->what].options, v + k, n - k)) < 0)
			return EBADMSG;
	return 0;
}

/* ---- expectations, rules ---- */

static int expectation(struct parser *p, struct script_line *l, const struct script_token *v, int n)
{
	*l = (struct script_line){.number = p->number,
				  .ms = p->ms,
				  .what = SCRIPT_EXPECT,
				  .text = "",
				  .within = SCRIPT_WITHIN_MS};
	if (n && is(v, "no")) {
		l->no = true;
		v++, n--;
	}
	while (n >= 3 && (is(&v[n - 2], "within") || is(&v[n - 2], "times"))) {
		bool within = is(&v[n - 2], "within");

		if (!number(&v[n - 1], SCRIPT_MS, within ? &l->within : &l->times))
			return wrong(p, "%s wants a number", v[n - 2].text);
		n -= 2;
	}
	/* `expect nothing within 500` and the like have two words before the number. */
	if (!n || (n == 2 && is(&v[0], "within")))
		return wrong(p, "nothing is expected");
	if (l->no && l->times)
		return wrong(p, "no and times do not go together");
	memcpy(l->token, v, (size_t)n * sizeof *v);
	l->tokens = (unsigned)n;
	return 0;
}

static int rules(struct parser *p, const struct script_token *v, int n)
{
	struct script *s = p->s;

	if (!n)
		return wrong(p, "rules wants numbers");
	for (int i = 0; i < n; i++) {
		uint64_t rule;

		if (!number(&v[i], SCRIPT_RULE_MAX, &rule) || !rule)
			return wrong(p, "not a rule's number: %s", v[i].text);
		if (s->rules == SCRIPT_RULES)
			return wrong(p, "more than %d rules", SCRIPT_RULES);
		s->rule[s->rules++] = (unsigned)rule;
	}
	return 0;
}

/* TIME or +TIME, which is later than the action before. */
static int moment(struct parser *p, const struct script_token *t)
{
	struct script_token plain = *t;
	uint64_t ms;

	if (*t->text == '+')
		plain.text++;
	if (!number(&plain, SCRIPT_MS, &ms))
		return wrong(p, "neither a time nor a word of the language: %s", t->text);
	if (*t->text == '+')
		ms += p->ms;
	if (ms > SCRIPT_MS)
		return wrong(p, "too late: %s", t->text);
	if (ms < p->ms)
		return wrong(p, "the time goes back: %s", t->text);
	p->ms = ms;
	p->timed = true;
	return 0;
}

static int one_line(struct parser *p, char *text)
{
	struct script_token v[SCRIPT_TOKENS];
	struct script *s = p->s;
	struct script_line *l = &s->line[s->n];
	int n = split(p, text, v), err;

	if (n <= 0)
		return n ? EBADMSG : 0;
	if (is(v, "rules"))
		return rules(p, v + 1, n - 1);
	if (is(v, "expect")) {
		err = expectation(p, l, v + 1, n - 1);
	} else if (is(v, "setting")) {
		if (n != 3)
			return wrong(p, "setting wants a name and a value");
		if (p->timed)
			return wrong(p, "after the first time a setting needs a time, too");
		err = action(p, l, v, n);
	} else {
		err = moment(p, v);
		if (!err && n == 1)
			err = wrong(p, "a time without an action");
		if (!err)
			err = action(p, l, v + 1, n - 1);
	}
	if (!err)
		s->n++;
	return err;
}

static unsigned lines_of(const char *text)
{
	unsigned n = 1;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

int script_parse(struct script **out, const char *text, size_t n, char *err, size_t size)
{
	struct parser p = {.err = err, .size = size};
	struct script *s = NULL;
	int rc = 0;

	if (n > SCRIPT_BYTES || memchr(text, '\0', n)) {
		rc = wrong(&p, n > SCRIPT_BYTES ? "longer than 64 KB" : "not a text");
		goto out;
	}
	s = calloc(1, sizeof *s);
	if (!s || !(s->text = strndup(text, n))) {
		rc = ENOMEM;
		goto out;
	}
	if (lines_of(s->text) > SCRIPT_LINES) {
		rc = wrong(&p, "more than %d lines", SCRIPT_LINES);
		goto out;
	}
	s->line = calloc(lines_of(s->text), sizeof *s->line);
	if (!s->line) {
		rc = ENOMEM;
		goto out;
	}
	p.s = s;
	for (char *at = s->text; at && !rc;) {
		char *line = strsep(&at, "\n");

		p.number++;
		rc = one_line(&p, line);
	}
out:
	if (rc)
		script_free(s);
	else
		*out = s;
	return rc;
}

struct script *script_free(struct script *s)
{
	if (s) {
		free(s->line);
		free(s->text);
		free(s);
	}
	return NULL;
}
