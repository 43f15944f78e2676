#include "control/offline/record.h"

#include "control/offline/wavfile.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct record {
	char dir[512];
	FILE *events;
	uint64_t start_ms;
	unsigned n[2]; /* heard, said */
};

int record_open(struct record **out, const char *dir, uint64_t start_ms)
{
	struct record *r;
	char path[600];

	if (strlen(dir) >= sizeof r->dir)
		return ENAMETOOLONG;
	if (mkdir(dir, 0700) && errno != EEXIST)
		return errno;
	r = calloc(1, sizeof *r);
	if (!r)
		return ENOMEM;
	snprintf(r->dir, sizeof r->dir, "%s", dir);
	snprintf(path, sizeof path, "%s/events.jsonl", dir);
	r->start_ms = start_ms;
	r->events = fopen(path, "w");
	if (!r->events) {
		int err = errno;

		record_close(r);
		return err;
	}
	*out = r;
	return 0;
}

struct record *record_close(struct record *r)
{
	if (!r)
		return NULL;
	if (r->events)
		fclose(r->events);
	free(r);
	return NULL;
}

int record_add(struct record *r, uint64_t now_ms, const char *kind, const char *text, int inside,
	       const int16_t *pcm, size_t n)
{
	unsigned *count = &r->n[strcmp(kind, "said") == 0];
	char name[64], path[600];
	json_t *line;
	int err;

	snprintf(name, sizeof name, "%s-%u.wav", kind, ++*count);
	snprintf(path, sizeof path, "%s/%s", r->dir, name);
	err = wavfile_write(path, 24000, pcm, n);
	if (err)
		return err;
	line = json_pack("{s:I,s:s,s:s,s:s}", "ms", (json_int_t)(now_ms - r->start_ms), "kind",
			 kind, "text", text, "wav", name);
	if (line && inside >= 0)
		json_object_set_new(line, "inside", json_boolean(inside));
	if (!line || json_dumpf(line, r->events, JSON_COMPACT) || fputc('\n', r->events) == EOF ||
	    fflush(r->events))
		err = line ? EIO : ENOMEM;
	json_decref(line);
	return err;
}
