#include "control/library/tagger.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/child.h"
#include "ipc/spawn.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

enum { PROGRAM_SIZE = 512, LINE_SIZE = 16 + TRACK_REFERENCE_MAX };

struct tagger {
	struct env *env;
	struct child *child; /* decoderd; NULL: it was never started */
	struct tmr *patience;
	char program[PROGRAM_SIZE];
	char *folders[WALK_FOLDERS];
	unsigned n_folders;
	bool ready;
	tagger_h *h;
	void *arg;
	struct library_file files[TAGGER_FILES];
	struct library_tags tags[TAGGER_FILES];
	size_t n, answered; /* n: files under way */
};

/* ---- answers ---- */

static void finish(struct tagger *t, bool works)
{
	size_t n = t->answered;

	tmr_stop(t->patience);
	t->n = t->answered = 0;
	t->h(t->tags, n, works, t->arg);
}

/* Copies the field that begins there; returns the begin of the next one. */
static const char *take_field(char *to, size_t size, const char *from)
{
	size_t n = strcspn(from, "\t");

	track_set_text(to, size, from, n);
	return from[n] ? from + n + 1 : from + n;
}

static struct library_tags *begin_answer(struct tagger *t)
{
	const struct library_file *f = &t->files[t->answered];
	struct library_tags *tags = &t->tags[t->answered++];

	*tags = (struct library_tags){.id = f->id, .changed_ns = f->changed_ns};
	return tags;
}

static void take_answer(struct tagger *t, const char *line)
{
	struct library_tags *tags = begin_answer(t);

	line = take_field(tags->title, sizeof tags->title, line);
	line = take_field(tags->artist, sizeof tags->artist, line);
	line = take_field(tags->album, sizeof tags->album, line);
	tags->duration_ms = strtoull(line, NULL, 10);
	if (tags->duration_ms > (uint64_t)TRACK_DURATION_MAX_S * 1000)
		tags->duration_ms = 0;
	tmr_start(t->patience, TAGGER_PATIENCE_S * NS_PER_S);
	if (t->answered == t->n)
		finish(t, true);
}

/* ---- the program ---- */

static void write_requests(struct tagger *t)
{
	char line[LINE_SIZE];

	tmr_start(t->patience, TAGGER_PATIENCE_S * NS_PER_S);
	for (size_t i = 0; i < t->n; i++) {
		int n = snprintf(line, sizeof line, "%u %s", t->files[i].root, t->files[i].path);

		/* One that cannot be written ends with the program. */
		(void)child_write_line(t->child, line, (size_t)n);
	}
}

static void on_line(const char *line, size_t len, void *arg)
{
	struct tagger *t = arg;

	(void)len;
	if (t->ready && t->n) {
		take_answer(t, line);
	} else if (!t->ready && strcmp(line, "ready") == 0) {
		t->ready = true;
		if (t->n)
			write_requests(t);
	}
}

static void on_state(bool up, int status, void *arg)
{
	struct tagger *t = arg;
	bool worked = t->ready;

	(void)status;
	if (up)
		return;
	t->ready = false;
	if (!t->n)
		return;
	/* The next file would otherwise be asked for again and again. */
	if (worked)
		begin_answer(t);
	finish(t, worked);
}

static void on_silence(void *arg)
{
	struct tagger *t = arg;

	child_cut(t->child);
}

/* decoderd forks its jailed processes, and all of them can read what it was started with. */
static int start_program(struct tagger *t)
{
	static const char *const nothing[] = {NULL};
	char path[PROGRAM_SIZE];
	const char *argv[2 * WALK_FOLDERS + 3] = {path, "--tags"};
	int err = spawn_locate(t->env, t->program, path, sizeof path);

	for (unsigned i = 0; i < t->n_folders; i++) {
		argv[2 * i + 2] = "--root";
		argv[2 * i + 3] = t->folders[i];
	}
	if (err)
		return err;
	t->child = child_free(t->child);
	t->ready = false;
	tmr_start(t->patience, TAGGER_PATIENCE_S * NS_PER_S);
	return child_alloc(&t->child, t->env,
			   &(struct child_conf){.argv = argv,
						.environment = nothing,
						.input = true,
						.log_errors = true,
						.once = true,
						.lineh = on_line,
						.stateh = on_state,
						.arg = t});
}

int tagger_ask(struct tagger *t, const struct library_file *files, size_t n)
{
	int err = 0;

	if (!n || n > TAGGER_FILES || t->n)
		return EINVAL;
	memcpy(t->files, files, n * sizeof *files);
	t->n = n;
	t->answered = 0;
	if (t->ready)
		write_requests(t);
	else
		err = start_program(t);
	if (err) {
		t->n = 0;
		tmr_stop(t->patience);
	}
	return err;
}

void tagger_rest(struct tagger *t)
{
	t->ready = false;
	if (t->child)
		child_end_input(t->child);
}

/* ---- making and freeing ---- */

int tagger_alloc(struct tagger **out, struct env *env, const char *program,
		 const char *const *folders, unsigned n, tagger_h *h, void *arg)
{
	struct tagger *t;
	int err = 0;

	if (n > WALK_FOLDERS || strlen(program) >= PROGRAM_SIZE)
		return EINVAL;
	t = calloc(1, sizeof *t);
	if (!t)
		return ENOMEM;
	t->env = env;
	t->h = h;
	t->arg = arg;
	strcpy(t->program, program);
	while (!err && t->n_folders < n) {
		t->folders[t->n_folders] = strdup(folders[t->n_folders]);
		if (t->folders[t->n_folders])
			t->n_folders++;
		else
			err = ENOMEM;
	}
	if (!err)
		err = tmr_alloc(&t->patience, env, on_silence, t);
	if (err)
		tagger_free(t);
	else
		*out = t;
	return err;
}

struct tagger *tagger_free(struct tagger *t)
{
	if (!t)
		return NULL;
	child_free(t->child);
	tmr_free(t->patience);
	for (unsigned i = 0; i < t->n_folders; i++)
		free(t->folders[i]);
	free(t);
	return NULL;
}
