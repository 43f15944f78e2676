#include "tests/guildd/form.h"

#include "tests/guildd/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BOUNDARY_MAX = 70, HEAD_MAX = 1024 };

struct part {
	char head[HEAD_MAX];
	const char *p;
	size_t n;
};

/* The next part between two delimiters; *at moves behind it. */
static int next_part(const char **at, const char *end, const char *delimiter, struct part *out)
{
	size_t len = strlen(delimiter), head;
	const char *begin = memmem(*at, (size_t)(end - *at), delimiter, len), *body, *stop;

	if (!begin || end - begin < (ptrdiff_t)len + 2 || memcmp(begin + len, "\r\n", 2) != 0)
		return 0;
	begin += len + 2;
	body = memmem(begin, (size_t)(end - begin), "\r\n\r\n", 4);
	if (!body)
		return 0;
	head = (size_t)(body - begin);
	body += 4;
	stop = memmem(body, (size_t)(end - body), delimiter, len);
	if (!stop || stop - body < 2 || head >= sizeof out->head)
		return 0;
	memcpy(out->head, begin, head);
	out->head[head] = '\0';
	out->p = body;
	out->n = (size_t)(stop - body) - 2; /* the line end belongs to the delimiter */
	*at = stop;
	return 1;
}

static int name_of(const struct part *part, const char *key, char *buf, size_t size)
{
	char pattern[32];
	const char *at, *end;

	snprintf(pattern, sizeof(pattern), " %s=\"", key);
	at = strstr(part->head, pattern);
	if (!at)
		return 0;
	at += strlen(pattern);
	end = strchr(at, '"');
	if (!end || (size_t)(end - at) >= size)
		return 0;
	memcpy(buf, at, (size_t)(end - at));
	buf[end - at] = '\0';
	return 1;
}

static void add_file(json_t *files, const struct part *part)
{
	char name[256] = "";

	name_of(part, "filename", name, sizeof(name));
	json_array_append_new(files,
			      json_pack("{s:s, s:I, s:o?, s:o?}", "filename", name, "size",
					(json_int_t)part->n, "text", json_stringn(part->p, part->n),
					"data", gd_files_data(part->p, part->n)));
}

json_t *form_parse(const char *type, const char *body, size_t n)
{
	const char *mark = type ? strstr(type, "boundary=") : NULL, *at = body;
	char delimiter[BOUNDARY_MAX + 3], name[64];
	json_t *payload = NULL, *files;
	struct part part;

	if (!mark || strncmp(type, "multipart/form-data", 19) != 0 ||
	    strlen(mark + 9) > BOUNDARY_MAX)
		return NULL;
	snprintf(delimiter, sizeof(delimiter), "--%s", mark + 9);
	files = json_array();
	while (next_part(&at, body + n, delimiter, &part)) {
		if (!name_of(&part, "name", name, sizeof(name)))
			continue;
		if (strcmp(name, "payload_json") == 0 && !payload)
			payload = json_loadb(part.p, part.n, 0, NULL);
		else if (strncmp(name, "files[", 6) == 0)
			add_file(files, &part);
	}
	if (json_is_object(payload)) {
		json_object_set_new(payload, "attachments", files);
		return payload;
	}
	json_decref(files);
	json_decref(payload);
	return NULL;
}

static int digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
				      : -1;
}

/* In place. */
static void decode(char *text)
{
	char *out = text;

	for (; *text; text++) {
		if (*text == '%' && digit(text[1]) >= 0 && digit(text[2]) >= 0) {
			*out++ = (char)(digit(text[1]) << 4 | digit(text[2]));
			text += 2;
		} else {
			*out++ = (char)(*text == '+' ? ' ' : *text);
		}
	}
	*out = '\0';
}

json_t *form_parse_fields(const char *type, const char *body, size_t n)
{
	json_t *fields;
	char *copy, *save = NULL;

	if (!type || strcmp(type, "application/x-www-form-urlencoded") != 0)
		return NULL;
	fields = json_object();
	copy = strndup(body, n);
	for (char *p = strtok_r(copy, "&", &save); p && fields; p = strtok_r(NULL, "&", &save)) {
		char *value = strchr(p, '=');

		if (value)
			*value++ = '\0';
		decode(p);
		decode(value ? value : p + strlen(p));
		if (json_object_get(fields, p)) {
			json_decref(fields);
			fields = NULL;
		} else {
			json_object_set_new(fields, p, json_string(value ? value : ""));
		}
	}
	free(copy);
	return fields;
}
