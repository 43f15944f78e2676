#include "tests/bench/recall_corpus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "control/events/events.h"
#include "control/memory/time_cue.h"
#include "control/memory/vectors.h"
#include "control/store/db.h"
#include "control/store/job.h"
#include "control/store/rows.h"
#include "control/store/said.h"
#include "tests/bench/bench.h"

static json_t *read_file(const char *path, bool need)
{
	json_t *all = json_array(), *one;
	char line[8192];
	FILE *f = fopen(path, "r");

	if (!f && need)
		bench_die("%s cannot be read", path);
	while (f && fgets(line, sizeof line, f)) {
		one = json_loads(line, 0, NULL);
		if (!one)
			bench_die("%s: a line is no JSON", path);
		json_array_append_new(all, one);
	}
	if (f)
		fclose(f);
	return all;
}

static json_t *read_lines(const char *half, const char *name, const char *file, bool need)
{
	char path[256];

	snprintf(path, sizeof path, "tests/memory/%s/%s/%s.jsonl", half, name, file);
	return read_file(path, need);
}

json_t *corpus_pairs(const char *path)
{
	return read_file(path, true);
}

uint64_t corpus_time(const json_t *at)
{
	struct tm tm = {0};

	if (!strptime(json_string_value(at) ? json_string_value(at) : "", "%Y-%m-%d %H:%M:%S", &tm))
		bench_die("a time is malformed");
	return (uint64_t)timegm(&tm) * 1000;
}

uint64_t corpus_user(const char *name)
{
	return 1000 + vector_name(name);
}

static void capitalise(json_t *line)
{
	char *text = strdup(json_string_value(json_object_get(line, "text")));
	unsigned char *p = (unsigned char *)text;

	if (*p >= 'a' && *p <= 'z')
		*p -= 'a' - 'A';
	else if (*p == 0xd0 && p[1] >= 0xb0 && p[1] <= 0xbf)
		p[1] -= 0x20;
	else if (*p == 0xd1 && p[1] >= 0x80 && p[1] <= 0x8f)
		*p = 0xd0, p[1] += 0x20;
	json_object_set_new(line, "text", json_string(text));
	free(text);
}

static void add_room(struct corpus *c, struct db *db)
{
	uint64_t guild = c->guild;
	json_t *line;
	size_t i;

	BENCH_OK(db_begin(db));
	json_array_foreach(c->room, i, line)
	{
		const char *by = json_string_value(json_object_get(line, "by"));
		uint64_t at = corpus_time(json_object_get(line, "at"));
		struct bus_event ev = {.type = EVENT_UTTERANCE,
				       .at_ms = at,
				       .guild = guild,
				       .user = corpus_user(by)};

		ev.utterance = (struct event_utterance){
			.session = 1,
			.channel = CORPUS_CHANNEL,
			.utterance = i + 1,
			.name = by,
			.text = json_string_value(json_object_get(line, "text")),
			.started_ms = at,
			.ended_ms = at + 2000,
			.source = "transcription",
			.confidence = -1,
			.consent = true};
		BENCH_OK(rows_add(db, &ev, true));
		if (!i)
			c->first = db_last_row(db) - 1;
	}
	BENCH_OK(db_commit(db));
}

static void read_corpus(struct corpus *c, const char *half, const char *name, uint64_t guild)
{
	*c = (struct corpus){.guild = guild,
			     .room = read_lines(half, name, "room", true),
			     .questions = read_lines(half, name, "questions", true),
			     .pairs = read_lines(half, name, "pairs", false)};
}

void corpus_open(struct corpus *c, const char *half, const char *name, struct db *db,
		 uint64_t guild)
{
	read_corpus(c, half, name, guild);
	add_room(c, db);
}

void corpus_open_capitals(struct corpus *c, const char *half, const char *name, struct db *db,
			  uint64_t guild)
{
	json_t *line;
	size_t i;

	read_corpus(c, half, name, guild);
	json_array_foreach(c->room, i, line)
	{
		capitalise(line);
	}
	add_room(c, db);
}

void corpus_free(struct corpus *c)
{
	json_decref(c->room);
	json_decref(c->questions);
	json_decref(c->pairs);
}

struct corpus_window corpus_window(const json_t *question)
{
	const json_t *asked = json_object_get(question, "at");
	uint64_t at = asked ? corpus_time(asked) : UINT64_C(4000000000000);
	struct time_window w;

	if (!asked ||
	    !time_cue_find(json_string_value(json_object_get(question, "q")), at, NULL, &w))
		return (struct corpus_window){.until_ms = at};
	/* A loose one limits no search. */
	if (w.loose)
		w.since_ms = 0;
	return (struct corpus_window){w.since_ms, w.loose || w.until_ms > at ? at : w.until_ms};
}

size_t corpus_search(const struct corpus *c, struct db *db, struct embedding *e,
		     const json_t *question, uint64_t u[CORPUS_FOUND], json_t **found)
{
	const json_t *asked = json_object_get(question, "at");
	uint64_t at = asked ? corpus_time(asked) : UINT64_C(4000000000000);
	const char *words = json_string_value(json_object_get(question, "q"));
	struct job j = {.kind = JOB_FIND_SAID,
			.guild = c->guild,
			.channel = CORPUS_CHANNEL,
			.until_ms = at,
			.version = CORPUS_FOUND,
			.author = (char *)"",
			.text = strdup(words)};
	char *text = NULL;
	json_t *lines, *line;
	size_t i, n = 0;

	if (asked)
		time_cue_find(words, at, NULL, &j.when);
	BENCH_OK(said_find(db, e, &j, &text));
	lines = json_loads(text, 0, NULL);
	json_array_foreach(lines, i, line)
	{
		u[n++] = (uint64_t)json_integer_value(json_object_get(line, "id")) - c->first;
	}
	free(text);
	free(j.text);
	if (found)
		*found = lines;
	else
		json_decref(lines);
	return n;
}

bool corpus_lists(const json_t *array, uint64_t u)
{
	json_t *one;
	size_t i;

	json_array_foreach(array, i, one)
	{
		if ((uint64_t)json_integer_value(one) == u)
			return true;
	}
	return false;
}

void corpus_add(struct corpus_count *c, bool right)
{
	c->right += right;
	c->n++;
}

void corpus_print(const char *name, struct corpus_count c)
{
	double n = c.n ? c.n : 1, p = c.right / n, z = 1.96, d = 1 + z * z / n;
	double mid = (p + z * z / (2 * n)) / d;
	double half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / d;

	bench_row_more(name, p, "share", "\"n\": %u, \"low\": %.3f, \"high\": %.3f", c.n,
		       mid - half, mid + half);
}
