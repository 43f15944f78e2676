#include "control/agent/room_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/room/journal.h"
#include "control/settings/settings.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/worker.h"

enum {
	RECORD = ROOM_JOURNAL_RECORD_MAX,
	CHUNK = 64 << 10,	   /* so much goes to the worker at a time */
	CAPACITY = CHUNK + RECORD, /* memory that is not touched costs nothing */
	CHUNKS_MAX = 256,	   /* that wait for a disk; 16 MiB */
	PATH_SIZE = 1024,
	SETTLE_MS = 2000,
	FD_NOT_OPENED = -1,
	FD_BROKEN = -2,
};

struct chunk {
	size_t n;
	uint8_t bytes[];
};

struct room_log {
	struct worker *worker;
	struct chunk *chunk; /* NULL once the journal is broken, and on replay */
	uint64_t guild, session, steps, sum;
	char path[PATH_SIZE];
	int fd; /* the worker's */
};

static struct slice slice_of_text(const char *text)
{
	return (struct slice){(const uint8_t *)text, strlen(text)};
}

/* ---- on the worker ---- */

static int open_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		log_warn("room_journal_failed", "file=\"%s\" error=\"%s\"", path, strerror(errno));
	return fd;
}

static void end_log(void *arg)
{
	struct room_log *l = arg;

	if (l->fd >= 0 && close(l->fd))
		log_warn("room_journal_broken", "error=\"%s\"", strerror(errno));
	free(l);
}

static void run_chunk(void *job, struct worker_answer *answer, void *arg)
{
	const struct chunk *c = job;
	struct room_log *l = arg;

	(void)answer;
	if (l->fd == FD_NOT_OPENED)
		l->fd = open_file(l->path);
	for (size_t at = 0; l->fd >= 0 && at < c->n;) {
		ssize_t w = write(l->fd, c->bytes + at, c->n - at);

		if (w >= 0) {
			at += (size_t)w;
			continue;
		}
		log_warn("room_journal_broken", "error=\"%s\"", strerror(errno));
		close(l->fd);
		l->fd = FD_BROKEN;
	}
}

/* ---- on the loop ---- */

static void give_up(struct room_log *l, const char *why)
{
	log_warn("room_journal_broken", "error=\"%s\"", why);
	free(l->chunk);
	l->chunk = NULL;
}

static void post_chunk(struct room_log *l)
{
	struct chunk *full = l->chunk;
	int err = worker_post(l->worker, full);

	if (err) {
		give_up(l, strerror(err));
		return;
	}
	l->chunk = malloc(sizeof *l->chunk + CAPACITY);
	if (l->chunk)
		l->chunk->n = 0;
	else
		give_up(l, strerror(ENOMEM));
}

static void write_record(struct room_log *l, const struct room_journal_record *r)
{
	struct wr w;

	if (!l->chunk)
		return;
	w = wr_of(l->chunk->bytes + l->chunk->n, CAPACITY - l->chunk->n);
	room_journal_write(&w, r);
	if (!w.ok) {
		give_up(l, "a record too large");
		return;
	}
	l->chunk->n += w.pos;
	if (l->chunk->n >= CHUNK)
		post_chunk(l);
}

static void write_setting(const char *name, const char *value, bool secret, void *arg)
{
	if (!secret)
		write_record(arg, &(struct room_journal_record){.what = ROOM_JOURNAL_SETTING,
								.text = slice_of_text(name),
								.value = slice_of_text(value)});
}

static void write_text(struct room_log *l, const char *text)
{
	size_t n = strlen(text);

	if (l->chunk) {
		memcpy(l->chunk->bytes + l->chunk->n, text, n);
		l->chunk->n += n;
	}
}

/* On replay nothing is written, but the worker is a source of the env as it was in the recording.
 */
static int open_log(struct room_log *l, struct env *env, const char *folder)
{
	const struct worker_conf conf = {.name = "room journal",
					 .max = CHUNKS_MAX,
					 .outside = true,
					 .finish = true,
					 .runh = run_chunk,
					 .endh = end_log,
					 .freeh = free,
					 .arg = l};

	snprintf(l->path, sizeof l->path, "%s/%llu-%llu.parley-room", folder,
		 (unsigned long long)l->guild, (unsigned long long)l->session);
	l->fd = FD_NOT_OPENED;
	if (!env_replaying(env)) {
		l->chunk = malloc(sizeof *l->chunk + CAPACITY);
		if (!l->chunk)
			return ENOMEM;
		l->chunk->n = 0;
	}
	return worker_alloc(&l->worker, env, &conf);
}

struct room_log *room_log_new(struct env *env, const struct settings *settings,
			      const char *bot_name, uint64_t guild, uint64_t session)
{
	struct room_log *l;

	if (!*settings->room_journals)
		return NULL;
	l = calloc(1, sizeof *l);
	if (!l)
		return NULL;
	l->guild = guild;
	l->session = session;
	if (open_log(l, env, settings->room_journals)) {
		free(l->chunk);
		free(l);
		return NULL;
	}
	write_text(l, ROOM_JOURNAL_FIRST);
	write_record(l, &(struct room_journal_record){
				.what = ROOM_JOURNAL_NAME,
				.text = slice_of_text(bot_name ? bot_name : settings->bot_name)});
	settings_each(settings, write_setting, l);
	return l;
}

void room_log_step(struct room_log *l, const struct room_event *ev, uint64_t now,
		   const struct room_effects *fx)
{
	if (!l)
		return;
	l->steps++;
	l->sum = room_journal_sum(l->sum, fx);
	write_record(l, &(struct room_journal_record){
				.what = ROOM_JOURNAL_EVENT, .event = *ev, .now = now});
	/* Audio is gathered; everything else is in the file soon, whatever becomes of the program.
	 */
	if (l->chunk && !ev->pcm.n && ev->type != ROOM_TIMER)
		post_chunk(l);
}

void room_log_settings(struct room_log *l, const struct settings *settings)
{
	if (!l)
		return;
	settings_each(settings, write_setting, l);
	if (l->chunk)
		post_chunk(l);
}

struct room_log *room_log_free(struct room_log *l)
{
	if (!l)
		return NULL;
	write_record(l, &(struct room_journal_record){
				.what = ROOM_JOURNAL_SUM, .steps = l->steps, .sum = l->sum});
	if (l->chunk)
		post_chunk(l);
	free(l->chunk);
	worker_release(l->worker);
	return NULL;
}

void room_log_settle(void)
{
	if (!worker_await_released(SETTLE_MS))
		log_warn("room_journal_broken", "error=\"the disk is too slow\"");
}
