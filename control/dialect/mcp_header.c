/* Arguments that a server wants mirrored in HTTP headers, and values that headers can hold (MCP
 * 2026-07-28, Streamable HTTP, "Custom Headers from Tool Parameters"). A property with
 * "x-mcp-header": "NAME" is sent as "Mcp-Param-NAME". */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "control/dialect/base64.h"
#include "control/dialect/mcp_inside.h"

enum { HEADERS_MAX = 32, DEPTH_MAX = 16 };
#define SAFE_INTEGER (INT64_C(1) << 53) /* a double holds every smaller one */

static const char annotation[] = "x-mcp-header";

struct found {
	const char *name[HEADERS_MAX];
	unsigned n;
};

/* A token of RFC 9110 section 5.6.2. */
static bool is_token(const char *s)
{
	static const char others[] = "!#$%&'*+-.^_`|~";

	for (const char *p = s; *p; p++)
		if (!(*p >= '0' && *p <= '9') && !((*p | 32) >= 'a' && (*p | 32) <= 'z') &&
		    !strchr(others, *p))
			return false;
	return *s;
}

static bool is_primitive(const json_t *schema)
{
	static const char *const types[] = {"string", "integer", "boolean", "number"};
	const char *type = json_string_value(json_object_get(schema, "type"));

	for (unsigned i = 0; type && i < sizeof types / sizeof types[0]; i++)
		if (strcmp(type, types[i]) == 0)
			return true;
	return false;
}

static bool add_name(struct found *f, const json_t *property)
{
	const char *name = json_string_value(json_object_get(property, annotation));

	if (!name || !is_token(name) || !is_primitive(property) || f->n == HEADERS_MAX)
		return false;
	for (unsigned i = 0; i < f->n; i++)
		if (strcasecmp(f->name[i], name) == 0)
			return false;
	f->name[f->n++] = name;
	return true;
}

/* reached: by properties alone, from the root on. */
static bool scan(struct found *f, const json_t *v, bool reached, unsigned depth)
{
	const char *key;
	json_t *item;
	size_t i;

	if (depth > DEPTH_MAX)
		return false;
	if (json_is_array(v))
		json_array_foreach(v, i, item) if (!scan(f, item, false, depth + 1)) return false;
	if (!json_is_object(v))
		return true;
	if (json_object_get(v, annotation) && (!reached || depth == 0 || !add_name(f, v)))
		return false;
	json_object_foreach((json_t *)v, key, item)
	{
		const char *name;
		json_t *property;

		if (!reached || strcmp(key, "properties") != 0 || !json_is_object(item)) {
			if (!scan(f, item, false, depth + 1))
				return false;
			continue;
		}
		json_object_foreach(item, name,
				    property) if (!scan(f, property, true, depth + 1)) return false;
	}
	return true;
}

bool mcp_header_valid(const json_t *schema)
{
	struct found f = {0};

	return scan(&f, schema, true, 0);
}

char *mcp_header_value(const char *text)
{
	static const char head[] = "=?base64?", tail[] = "?=";
	size_t n = strlen(text), at = sizeof head - 1;
	bool plain = !n || (text[0] != ' ' && text[0] != '\t' && text[n - 1] != ' ' &&
			    text[n - 1] != '\t');
	char *out;

	for (const char *p = text; *p; p++)
		plain = plain && ((*p >= 0x20 && *p <= 0x7e) || *p == '\t');
	if (plain &&
	    !(strncmp(text, head, at) == 0 && n > at + 1 && strcmp(text + n - 2, tail) == 0))
		return strdup(text);
	out = malloc(at + base64_encoded(n) + sizeof tail);
	if (!out)
		return NULL;
	memcpy(out, head, at);
	base64_encode((const uint8_t *)text, n, out + at);
	memcpy(out + at + base64_encoded(n), tail, sizeof tail);
	return out;
}

/* NULL without memory; "" for what no header can hold: it is left out. */
static char *value_of(const json_t *v)
{
	char buf[32];

	if (json_is_string(v))
		return strlen(json_string_value(v)) == json_string_length(v)
			       ? mcp_header_value(json_string_value(v))
			       : strdup("");
	if (json_is_boolean(v))
		return strdup(json_is_true(v) ? "true" : "false");
	if (json_is_integer(v) && json_integer_value(v) < SAFE_INTEGER &&
	    json_integer_value(v) > -SAFE_INTEGER) {
		snprintf(buf, sizeof buf, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
		return strdup(buf);
	}
	return json_is_real(v) ? json_dumps(v, JSON_ENCODE_ANY) : strdup("");
}

/* ENOMEM. */
static int add_line(char **lines, unsigned *n, const char *name, const json_t *v)
{
	char *value = value_of(v);
	bool empty = json_is_string(v) && !json_string_length(v), sent;
	size_t size;

	if (!value)
		return ENOMEM;
	size = strlen(name) + strlen(value) + sizeof "Mcp-Param-: ";
	sent = *value || empty;
	if (sent && *n < HEADERS_MAX && (lines[*n] = malloc(size)))
		snprintf(lines[(*n)++], size, "Mcp-Param-%s: %s", name, value);
	else if (sent) {
		free(value);
		return ENOMEM;
	}
	free(value);
	return 0;
}

static int add_lines(char **lines, unsigned *n, const json_t *schema, const json_t *arguments,
		     unsigned depth)
{
	const json_t *properties = json_object_get(schema, "properties");
	const char *key;
	json_t *property;
	int err = 0;

	if (depth > DEPTH_MAX)
		return 0;
	json_object_foreach((json_t *)properties, key, property)
	{
		const char *name = json_string_value(json_object_get(property, annotation));
		const json_t *v = json_object_get(arguments, key);

		if (name && v && !json_is_null(v))
			err = err ? err : add_line(lines, n, name, v);
		else if (json_is_object(v))
			err = err ? err : add_lines(lines, n, property, v, depth + 1);
	}
	return err;
}

char **mcp_header_lines(const json_t *schema, const json_t *arguments)
{
	char **lines = calloc(HEADERS_MAX + 1, sizeof *lines);
	unsigned n = 0;

	return lines && add_lines(lines, &n, schema, arguments, 0) ? mcp_header_free(lines) : lines;
}

char **mcp_header_free(char **lines)
{
	for (unsigned i = 0; lines && lines[i]; i++)
		free(lines[i]);
	free(lines);
	return NULL;
}
