/* room-replay: runs a room's journal again (control writes one for each voice session when the
 * setting room_journals names a folder).
 *
 *   room-replay FILE                     the same settings: the effects must be the same
 *   room-replay --set NAME=VALUE… FILE   other settings: which decisions change
 *
 * Exit status: 0 the same effects, or with --set it ran; 1 other effects; 2 usage, or no journal.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/again/rerun.h"
#include "control/settings/settings.h"

enum { SETS = 32 };

struct sets {
	unsigned n;
	char *set[SETS];
};

static int usage(void)
{
	fprintf(stderr, "usage: room-replay [--set NAME=VALUE]… FILE\n");
	return 2;
}

static int change(struct settings *s, void *arg)
{
	struct sets *sets = arg;

	for (unsigned i = 0; i < sets->n; i++) {
		char *value = strchr(sets->set[i], '=');
		int err;

		*value = '\0';
		err = settings_set(s, sets->set[i], value + 1);
		*value = '=';
		if (err == ERANGE)
			fprintf(stderr, "room-replay: %s: out of its range, clamped\n",
				sets->set[i]);
		else if (err) {
			fprintf(stderr, "room-replay: %s: %s\n", sets->set[i],
				err == ENOENT ? "no such setting" : "not a value of it");
			return err;
		}
	}
	return 0;
}

static void *read_file(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	char *data = NULL;
	long size;

	if (f && fseek(f, 0, SEEK_END) == 0 && (size = ftell(f)) >= 0 &&
	    fseek(f, 0, SEEK_SET) == 0 && (data = malloc((size_t)size + 1)) &&
	    fread(data, 1, (size_t)size, f) == (size_t)size)
		*n = (size_t)size;
	else
		fprintf(stderr, "room-replay: %s: %s\n", path, strerror(errno ? errno : EIO));
	if (f)
		fclose(f);
	return data;
}

/* ---- what is different ---- */

static void print_decision(const struct room_decision *d)
{
	if (d)
		printf("%s (%lld, limit %lld)", d->yes ? "yes" : "no", (long long)d->value,
		       (long long)d->limit);
	else
		printf("not asked");
}

static unsigned compare(const struct rerun *base, const struct room_turn *was,
			const struct room_turn *is)
{
	if (rerun_is_same(was, is))
		return 0;
	printf("turn %u of %s at %.3f s, \"%s\": %s", was->id, was->name,
	       (double)(was->born_at - base->began_at) / 1e9, was->transcript,
	       room_reason_name(was->reason));
	printf(is->reason == was->reason ? ", as before\n" : " > %s\n",
	       room_reason_name(is->reason));
	for (unsigned k = 0; k < ROOM_RULE_COUNT; k++) {
		const struct room_decision *a = rerun_decision(was, (enum room_rule)k),
					   *b = rerun_decision(is, (enum room_rule)k);

		if ((!a && !b) || (a && b && a->yes == b->yes))
			continue;
		printf("  %s: ", room_rule_name(k));
		print_decision(a);
		printf(" > ");
		print_decision(b);
		printf("\n");
	}
	return 1;
}

static void print_changes(const struct rerun *base, const struct rerun *other)
{
	unsigned changed = 0, gone = 0, new = 0;

	for (size_t i = 0; i < base->n_turns; i++) {
		const struct room_turn *is = rerun_same(other, &base->turn[i]);

		if (is)
			changed += compare(base, &base->turn[i], is);
		else
			gone++;
	}
	for (size_t i = 0; i < other->n_turns; i++)
		new += !rerun_same(base, &other->turn[i]);
	printf("%zu turns, %u decided otherwise, %u no more, %u new\n", base->n_turns, changed,
	       gone, new);
}

static int run(const char *path, struct sets *sets)
{
	struct rerun base = {0}, other = {0};
	size_t n = 0;
	void *data = read_file(path, &n);
	int rc = 2;

	if (!data)
		return 2;
	if (rerun_bytes(&base, &(struct rerun_conf){.data = data, .n = n})) {
		fprintf(stderr, "room-replay: %s is no journal of a room, or damaged\n", path);
		goto out;
	}
	if (!base.whole)
		fprintf(stderr, "room-replay: %s ends before its end; what is there is run\n",
			path);
	rc = base.whole && (base.steps != base.said_steps || base.sum != base.said_sum);
	printf("%llu steps, %zu turns, effects %016llx%s\n", (unsigned long long)base.steps,
	       base.n_turns, (unsigned long long)base.sum,
	       rc	    ? ": NOT what was recorded"
	       : base.whole ? ", as recorded"
			    : "");
	if (sets->n && !rc) {
		rc = rerun_bytes(&other, &(struct rerun_conf){.data = data,
							      .n = n,
							      .change = change,
							      .arg = sets,
							      .base = &base})
			     ? 2
			     : 0;
		if (!rc)
			print_changes(&base, &other);
	}
out:
	rerun_clear(&base);
	rerun_clear(&other);
	free(data);
	return rc;
}

int main(int argc, char **argv)
{
	struct sets sets = {0};
	const char *path = NULL;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--set") == 0 && i + 1 < argc && sets.n < SETS &&
		    strchr(argv[i + 1], '='))
			sets.set[sets.n++] = argv[++i];
		else if (argv[i][0] == '-' || path)
			return usage();
		else
			path = argv[i];
	}
	return path ? run(path, &sets) : usage();
}
