#include "tests/standins/record.h"

#include "proto/base/wav.h"
#include "proto/http/head.h"
#include "tests/standins/standin.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_SIZE = 1024, STRING_MAX = 4096, STRING_KEPT = 64 };

struct si_record {
	char *folder;
	FILE *events;
	unsigned sounds;
};

int si_record_open(struct si_record **out, const char *folder)
{
	struct si_record *r;
	char path[PATH_SIZE];
	FILE *f;

	if (mkdir(folder, 0777) && errno != EEXIST)
		return errno;
	snprintf(path, sizeof path, "%s/events.jsonl", folder);
	f = fopen(path, "w");
	if (!f)
		return errno;
	setvbuf(f, NULL, _IOLBF, 0);
	r = si_alloc(sizeof *r);
	r->folder = si_copy(folder, strlen(folder));
	r->events = f;
	*out = r;
	return 0;
}

struct si_record *si_record_close(struct si_record *r)
{
	if (!r)
		return NULL;
	fclose(r->events);
	free(r->folder);
	free(r);
	return NULL;
}

/* Steals line. */
static void line_write(struct si_record *r, uint32_t link, const char *what, json_t *line)
{
	char *text;

	json_object_set_new(line, "at", json_integer((json_int_t)si_now()));
	json_object_set_new(line, "link", json_integer(link));
	json_object_set_new(line, "what", json_string(what));
	text = json_dumps(line, JSON_COMPACT);
	if (text)
		fprintf(r->events, "%s\n", text);
	free(text);
	json_decref(line);
}

/* Cuts long strings, in place. */
static void strings_cut(json_t *v)
{
	const char *name;
	size_t i;
	json_t *member;
	void *next;

	json_object_foreach_safe(v, next, name, member)
	{
		if (json_string_length(member) > STRING_MAX)
			json_object_set_new(v, name,
					    json_stringn(json_string_value(member), STRING_KEPT));
		else
			strings_cut(member);
	}
	json_array_foreach(v, i, member)
	{
		strings_cut(member);
	}
}

static json_t *event_of(const char *data, size_t n)
{
	json_t *event = json_loadb(data, n, JSON_DECODE_ANY, NULL);

	if (!event)
		event = json_stringn(data, n < STRING_MAX ? n : STRING_MAX);
	if (!event)
		return json_pack("{s:i}", "bytes", (int)n);
	strings_cut(event);
	return event;
}

void si_record_message(struct si_record *r, uint32_t link, const char *what, bool text,
		       const char *data, size_t n)
{
	if (!r)
		return;
	line_write(r, link, what,
		   json_pack("{s:o, s:b}", "event", event_of(data, n), "text", text));
}

/* Of a secret only that it was there. */
static json_t *field_value(const char *name, const struct http_text *value)
{
	if (strcmp(name, "authorization") == 0 || strstr(name, "api-key"))
		return json_string("***");
	return json_stringn(value->p, value->n);
}

void si_record_request(struct si_record *r, uint32_t link, const struct http_head *head,
		       const char *body, size_t n)
{
	json_t *headers, *line;
	size_t shown;

	if (!r)
		return;
	shown = strncmp(head->query.p ? head->query.p : "", "key=", 4) == 0 ? 0 : head->query.n;
	headers = json_object();
	for (unsigned i = 0; i < head->n_fields; i++) {
		char name[64];
		struct http_text field = head->fields[i].name;
		size_t k = field.n < sizeof name - 1 ? field.n : sizeof name - 1;

		for (size_t j = 0; j < k; j++)
			name[j] = field.p[j] >= 'A' && field.p[j] <= 'Z' ? (char)(field.p[j] + 32)
									 : field.p[j];
		name[k] = '\0';
		json_object_set_new(headers, name, field_value(name, &head->fields[i].value));
	}
	line = json_pack("{s:s, s:s, s:s%, s:o}", "method", http_method_name(head->method), "path",
			 head->path, "query", shown ? head->query.p : "", shown, "headers",
			 headers);
	if (line && n)
		json_object_set_new(line, "event", event_of(body, n));
	if (line)
		line_write(r, link, "request", line);
}

void si_record_note(struct si_record *r, uint32_t link, const char *what, const char *text)
{
	if (r)
		line_write(r, link, what, json_pack("{s:s}", "text", text));
}

static void bytes_write(struct si_record *r, const char *name, const char *mode, const void *data,
			size_t n)
{
	char path[PATH_SIZE];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", r->folder, name);
	f = fopen(path, mode);
	if (!f)
		return;
	fwrite(data, 1, n, f);
	fclose(f);
}

void si_record_pcm(struct si_record *r, uint32_t link, const void *pcm, size_t n)
{
	char name[32];

	if (!r || !n)
		return;
	snprintf(name, sizeof name, "%u.pcm", link);
	bytes_write(r, name, "a", pcm, n);
}

void si_record_sound(struct si_record *r, const char *kind, const char *text, const int16_t *pcm,
		     size_t n, uint32_t rate)
{
	char name[32] = "", *line;
	uint8_t head[WAV_HEADER];
	json_t *root;

	if (!r)
		return;
	root = json_pack("{s:I, s:s, s:s}", "at", (json_int_t)si_now(), "kind", kind, "text", text);
	if (n) {
		snprintf(name, sizeof name, "%s-%u.wav", kind, ++r->sounds);
		wav_header(head, rate, 1, n);
		bytes_write(r, name, "w", head, sizeof head);
		bytes_write(r, name, "a", pcm, n * 2);
		json_object_set_new(root, "wav", json_string(name));
	}
	line = json_dumps(root, JSON_COMPACT);
	if (line)
		fprintf(r->events, "%s\n", line);
	free(line);
	json_decref(root);
}

void si_record_file(struct si_record *r, const char *name, const void *data, size_t n)
{
	if (r)
		bytes_write(r, name, "w", data, n);
}
