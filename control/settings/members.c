#include "control/settings/members.h"

#include <string.h>

static void skip_blanks(struct members *m)
{
	for (; m->at < m->end && memchr(" \t\r\n", *m->at, 4); m->at++)
		m->line += *m->at == '\n';
}

/* Past the string that begins here. JSON has no line ends in strings. */
static void skip_string(struct members *m)
{
	m->at++;
	while (m->at < m->end && *m->at != '"')
		m->at += *m->at == '\\' && m->end - m->at > 1 ? 2 : 1;
	if (m->at < m->end)
		m->at++;
}

/* To the comma or bracket that ends the value, of an object or of an array. */
static void skip_value(struct members *m)
{
	unsigned depth = 0;

	while (m->at < m->end) {
		char c = *m->at;

		if (c == '"') {
			skip_string(m);
			continue;
		}
		if (!depth && (c == ',' || c == '}' || c == ']'))
			return;
		if (c == '{' || c == '[')
			depth++;
		else if (depth && (c == '}' || c == ']'))
			depth--;
		m->line += c == '\n';
		m->at++;
	}
}

static bool skip_sign(struct members *m, char sign)
{
	skip_blanks(m);
	if (m->at == m->end || *m->at != sign)
		return false;
	m->at++;
	return true;
}

void members_begin(struct members *m, const char *text, size_t len)
{
	*m = (struct members){.at = text, .end = text + len, .line = 1};
	if (!skip_sign(m, '{'))
		m->at = m->end;
}

bool members_next(struct members *m, struct member *out)
{
	skip_blanks(m);
	if (m->at == m->end || *m->at != '"')
		return false;
	out->line = m->line;
	out->key = m->at;
	skip_string(m);
	out->key_len = (size_t)(m->at - out->key);
	if (!skip_sign(m, ':'))
		return false;
	skip_blanks(m);
	out->value = m->at;
	out->value_line = m->line;
	skip_value(m);
	out->value_len = (size_t)(m->at - out->value);
	while (out->value_len && memchr(" \t\r\n", out->value[out->value_len - 1], 4))
		out->value_len--;
	if (m->at < m->end && *m->at == ',')
		m->at++;
	return true;
}

unsigned members_entry_line(const struct member *of, unsigned entry)
{
	struct members m = {
		.at = of->value, .end = of->value + of->value_len, .line = of->value_line};

	if (!skip_sign(&m, '[') && !skip_sign(&m, '{'))
		return of->line;
	while (entry--) {
		skip_blanks(&m);
		/* Past the key of an object's entry, so that what follows is one value. */
		skip_value(&m);
		if (!skip_sign(&m, ','))
			return of->line;
	}
	skip_blanks(&m);
	return m.line;
}
