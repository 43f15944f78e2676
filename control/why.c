#include "control/why.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- one turn as text ---- */

static const char *read_text(const json_t *j, const char *key)
{
	const char *text = json_string_value(json_object_get(j, key));

	return text ? text : "";
}

static long long read_number(const json_t *j, const char *key)
{
	return (long long)json_integer_value(json_object_get(j, key));
}

static void print_decision(FILE *f, const json_t *d)
{
	char values[96];
	long long value = read_number(d, "value"), limit = read_number(d, "limit");
	const char *unit = read_text(d, "unit");

	values[0] = '\0';
	if (value || limit)
		snprintf(values, sizeof values, "%lld%s%s, limit %lld", value, *unit ? " " : "",
			 unit, limit);
	fprintf(f, "  %-22s %-3s  %-28s %s\n", read_text(d, "rule"),
		json_is_true(json_object_get(d, "yes")) ? "yes" : "no", values,
		read_text(d, "text"));
}

static void print_turn(FILE *f, const json_t *turn, const json_t *why)
{
	const json_t *ms = json_object_get(turn, "first_audio_ms"), *d;
	size_t i;

	fprintf(f, "turn %lld of %s: ", read_number(turn, "turn"), read_text(turn, "name"));
	if (strcmp(read_text(turn, "stage"), "ended") == 0)
		fprintf(f, "%s (%s)\n", read_text(turn, "reason"), read_text(turn, "text"));
	else
		fprintf(f, "%s, and not over\n", read_text(turn, "stage"));
	if (*read_text(turn, "heard"))
		fprintf(f, "  heard: %s\n", read_text(turn, "heard"));
	if (*read_text(turn, "said"))
		fprintf(f, "  said:  %s\n", read_text(turn, "said"));
	if (json_is_integer(ms))
		fprintf(f, "  first sound %lld ms after the speaker's last\n",
			(long long)json_integer_value(ms));
	json_array_foreach(why, i, d) print_decision(f, d);
}

int why_text(char **out, const json_t *turn)
{
	const json_t *why = json_object_get(turn, "why");
	char *text = NULL;
	size_t n = 0;
	FILE *f;
	bool failed;

	if (!json_is_integer(json_object_get(turn, "turn")) || !json_is_array(why))
		return EBADMSG;
	f = open_memstream(&text, &n);
	if (!f)
		return ENOMEM;
	print_turn(f, turn, why);
	failed = ferror(f);
	if (fclose(f) || failed) {
		free(text);
		return ENOMEM;
	}
	*out = text;
	return 0;
}

/* ---- finding it ---- */

static int find_in_file(json_t **out, const char *file, uint32_t turn)
{
	FILE *f = fopen(file, "re");
	char *line = malloc(WHY_LINE_MAX);
	json_t *found = NULL;
	int err = f ? (line ? 0 : ENOMEM) : errno;

	while (!err && fgets(line, WHY_LINE_MAX, f)) {
		json_t *j = json_loads(line, JSON_REJECT_DUPLICATES, NULL);

		if (j && json_is_integer(json_object_get(j, "turn")) &&
		    (!turn || read_number(j, "turn") == turn)) {
			json_decref(found);
			found = json_incref(j);
		}
		json_decref(j);
	}
	if (f)
		fclose(f);
	free(line);
	if (!err && !found)
		err = ENOENT;
	if (!err)
		*out = found;
	return err;
}

int why_find(json_t **out, const char *file, uint32_t turn)
{
	char old[1024];
	int err = find_in_file(out, file, turn);

	if (err != ENOENT || (size_t)snprintf(old, sizeof old, "%s.old", file) >= sizeof old)
		return err;
	return find_in_file(out, old, turn);
}

void why_default(const char *state_dir, char *buf, size_t size)
{
	snprintf(buf, size, "%s/turns.jsonl", state_dir);
}

int why_run(const char *file, const char *turn)
{
	char *end, *text = NULL;
	unsigned long id = strtoul(turn, &end, 10);
	json_t *j = NULL;
	int err;

	if (strcmp(turn, "last") == 0) {
		id = 0;
	} else if (!*turn || *end || !id || id > UINT32_MAX) {
		fprintf(stderr, "control: --why wants the number of a turn, or last: %s\n", turn);
		return 2;
	}
	err = why_find(&j, file, (uint32_t)id);
	if (!err)
		err = why_text(&text, j);
	json_decref(j);
	if (err) {
		fprintf(stderr, "control: no turn %s in %s: %s\n", turn, file, strerror(err));
		return 1;
	}
	fputs(text, stdout);
	free(text);
	return 0;
}
