#include "control/dialect/build.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/base64.h"

char *build_text(json_t *root)
{
	char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;

	json_decref(root);
	return text;
}

char *build_socket_url(const char *base, const char *path)
{
	const char *scheme = "", *rest = base;
	size_t size;
	char *url;

	if (strncmp(base, "https://", 8) == 0) {
		scheme = "wss://";
		rest = base + 8;
	} else if (strncmp(base, "http://", 7) == 0) {
		scheme = "ws://";
		rest = base + 7;
	}
	size = strlen(scheme) + strlen(rest) + strlen(path) + 1;
	url = malloc(size);
	if (url)
		snprintf(url, size, "%s%s%s", scheme, rest, path);
	return url;
}

static bool plain_p(char ch)
{
	return (ch >= '0' && ch <= '9') || (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
	       (ch && strchr("-._~", ch));
}

void build_query(char **url, const char *name, const char *value)
{
	size_t size, n;
	char *grown;

	if (!*url)
		return;
	size = strlen(*url) + strlen(name) + 3 * strlen(value) + 3;
	grown = malloc(size);
	if (grown) {
		n = (size_t)snprintf(grown, size, "%s%c%s=", *url, strchr(*url, '?') ? '&' : '?',
				     name);
		for (; *value; value++)
			n += (size_t)snprintf(grown + n, size - n,
					      plain_p(*value) ? "%c" : "%%%02X",
					      (unsigned char)*value);
	}
	free(*url);
	*url = grown;
}

char *build_audio(const char *head, const uint8_t *pcm, size_t n, const char *tail)
{
	size_t before = strlen(head), chars = base64_encoded(n), after = strlen(tail);
	char *text = malloc(before + chars + after + 1);

	if (!text)
		return NULL;
	memcpy(text, head, before);
	base64_encode(pcm, n, text + before);
	memcpy(text + before + chars, tail, after + 1);
	return text;
}

char *build_header(const char *name, const char *value)
{
	size_t size = value ? strlen(name) + strlen(value) + 3 : 0;
	char *line = value && *value ? malloc(size) : NULL;

	if (line)
		snprintf(line, size, "%s: %s", name, value);
	return line;
}
