#include "tests/chaos/progress.h"

#include "tests/chaos/play.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HASH = 16, FIRST_LINE = 2 * HASH + 16 };

struct progress {
	char path[PATH_MAX];
	int fd;
	struct progress_seed *v;
	unsigned n, cap;
};

static int hash_programs(const char *bin, char *text)
{
	static const char *const programs[] = {"guildd", "mediad", "control", "chaos"};
	crypto_generichash_state h;
	unsigned char buf[65536], hash[HASH];
	char path[PATH_MAX];

	crypto_generichash_init(&h, NULL, 0, sizeof hash);
	for (unsigned i = 0; i < sizeof programs / sizeof programs[0]; i++) {
		FILE *f;
		size_t k;

		snprintf(path, sizeof path, "%s/%s", bin, programs[i]);
		f = fopen(path, "r");
		if (!f)
			return errno;
		while ((k = fread(buf, 1, sizeof buf, f)))
			crypto_generichash_update(&h, buf, k);
		fclose(f);
	}
	crypto_generichash_final(&h, hash, sizeof hash);
	sodium_bin2hex(text, 2 * HASH + 1, hash, sizeof hash);
	return 0;
}

static int insert(struct progress *p, const struct progress_seed *s)
{
	if (p->n == p->cap) {
		unsigned cap = p->cap ? 2 * p->cap : 256;
		struct progress_seed *more = realloc(p->v, cap * sizeof *more);

		if (!more)
			return ENOMEM;
		p->v = more;
		p->cap = cap;
	}
	p->v[p->n++] = *s;
	return 0;
}

static bool parse_seed(struct progress_seed *s, const char *line)
{
	char name[32];

	if (sscanf(line, "%" SCNu64 " %31s %u", &s->seed, name, &s->settle_ms) != 3)
		return false;
	for (s->broken = 0; s->broken < CHAOS_INVARIANTS_N; s->broken++)
		if (!strcmp(name, chaos_invariant_name((enum chaos_invariant)s->broken)))
			return true;
	return false;
}

/* A line that was cut off ends the reading: its seed is played again. */
static int read_seeds(struct progress *p, const char *first)
{
	FILE *f = fopen(p->path, "r");
	char line[128];
	struct progress_seed s;
	bool same = f && fgets(line, sizeof line, f) && !strcmp(line, first);
	int err = 0;

	while (same && !err && fgets(line, sizeof line, f) && strchr(line, '\n') &&
	       parse_seed(&s, line))
		err = insert(p, &s);
	if (f)
		fclose(f);
	return err;
}

/* Writes what was read, so that the file has whole lines of these programs alone. */
static int write_seeds(struct progress *p, const char *first)
{
	char fresh[PATH_MAX + 8];
	unsigned n = p->n;

	snprintf(fresh, sizeof fresh, "%s.new", p->path);
	p->fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
	if (p->fd < 0 || write(p->fd, first, strlen(first)) != (ssize_t)strlen(first))
		return errno ? errno : EIO;
	p->n = 0;
	for (unsigned i = 0; i < n; i++) {
		struct progress_seed s = p->v[i];

		progress_add(p, &s);
	}
	return rename(fresh, p->path) ? errno : 0;
}

int progress_alloc(struct progress **out, const char *path, const char *bin)
{
	struct progress *p = calloc(1, sizeof *p);
	char hash[2 * HASH + 1], first[FIRST_LINE];
	int err;

	if (!p)
		return ENOMEM;
	p->fd = -1;
	snprintf(p->path, sizeof p->path, "%s", path);
	err = hash_programs(bin, hash);
	if (err)
		goto out;
	snprintf(first, sizeof first, "programs %s\n", hash);
	err = read_seeds(p, first);
	if (!err)
		err = write_seeds(p, first);
out:
	if (err)
		progress_free(p);
	else
		*out = p;
	return err;
}

void progress_free(struct progress *p)
{
	if (!p)
		return;
	if (p->fd >= 0)
		close(p->fd);
	free(p->v);
	free(p);
}

const struct progress_seed *progress_find(const struct progress *p, uint64_t seed)
{
	for (unsigned i = 0; p && i < p->n; i++)
		if (p->v[i].seed == seed)
			return &p->v[i];
	return NULL;
}

void progress_add(struct progress *p, const struct progress_seed *s)
{
	char line[128];
	int n;

	if (!p)
		return;
	n = snprintf(line, sizeof line, "%" PRIu64 " %s %u\n", s->seed,
		     chaos_invariant_name((enum chaos_invariant)s->broken), s->settle_ms);
	if (insert(p, s) || write(p->fd, line, (size_t)n) != n)
		fprintf(stderr, "chaos: %s: %s\n", p->path, strerror(errno));
}

void progress_complete(struct progress *p)
{
	if (p)
		unlink(p->path);
}
