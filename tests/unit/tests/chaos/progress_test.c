#include "tests/chaos/play.h"
#include "tests/chaos/progress.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const names[] = {"guildd", "mediad", "control", "chaos", "progress"};
enum { PROGRAMS = 4, FILES };

struct place {
	char dir[64], file[FILES][96];
};

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	CHECK(f != NULL);
	if (!f)
		return;
	fputs(text, f);
	fclose(f);
}

static void make_place(struct place *p)
{
	snprintf(p->dir, sizeof p->dir, "/tmp/parley-unit.XXXXXX");
	CHECK(mkdtemp(p->dir) != NULL);
	for (unsigned i = 0; i < FILES; i++)
		snprintf(p->file[i], sizeof p->file[i], "%s/%s", p->dir, names[i]);
	for (unsigned i = 0; i < PROGRAMS; i++)
		write_file(p->file[i], names[i]);
}

static void remove_place(const struct place *p)
{
	for (unsigned i = 0; i < FILES; i++)
		unlink(p->file[i]);
	rmdir(p->dir);
}

static struct progress *open_progress(const struct place *at)
{
	struct progress *p = NULL;

	return progress_alloc(&p, at->file[PROGRAMS], at->dir) ? NULL : p;
}

/* Plays two seeds and is interrupted. */
static void play_two(const struct place *at)
{
	struct progress *p = open_progress(at);

	CHECK(p && !progress_find(p, 7));
	progress_add(p, &(struct progress_seed){7, CHAOS_NONE_, 1200});
	progress_add(p, &(struct progress_seed){UINT64_C(18446744073709000000), CHAOS_WELL_, 0});
	progress_free(p);
}

TEST(chaos_an_interrupted_run_continues)
{
	struct place at;
	struct progress *p;
	const struct progress_seed *s;
	FILE *f;

	make_place(&at);
	play_two(&at);
	p = open_progress(&at);
	s = progress_find(p, 7);
	CHECK(s && s->broken == CHAOS_NONE_ && s->settle_ms == 1200);
	s = progress_find(p, UINT64_C(18446744073709000000));
	CHECK(s && s->broken == CHAOS_WELL_);
	CHECK(progress_find(p, 8) == NULL);
	progress_free(p);
	/* It was interrupted within a line. */
	f = fopen(at.file[PROGRAMS], "a");
	CHECK(f != NULL);
	fputs("8 none 1", f);
	fclose(f);
	p = open_progress(&at);
	CHECK(progress_find(p, 7) != NULL);
	CHECK(progress_find(p, 8) == NULL);
	progress_complete(p);
	CHECK(access(at.file[PROGRAMS], F_OK) != 0);
	progress_free(p);
	remove_place(&at);
}

TEST(chaos_results_of_other_programs_do_not_count)
{
	struct place at;
	struct progress *p;

	make_place(&at);
	play_two(&at);
	write_file(at.file[1], "another mediad");
	p = open_progress(&at);
	CHECK(p && !progress_find(p, 7));
	progress_free(p);
	unlink(at.file[1]);
	CHECK(open_progress(&at) == NULL);
	remove_place(&at);
}
