#include "control/writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/events/events.h"
#include "control/settings/settings.h"
#include "control/store/turn_file.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/log_pairs.h"
#include "ipc/worker.h"

enum { WRITER_MAX = 4096, LINE_SIZE = 3072 };

enum job_kind { JOB_LOG, JOB_TURN, JOB_SYNC };
struct job {
	enum job_kind kind;
	bool words;
	struct bus_event *ev;
	writer_done_h *doneh; /* of a JOB_SYNC, as arg */
	void *arg;
	char file[]; /* of a JOB_TURN */
};

struct writer {
	struct env *env;
	const struct settings *settings;
	struct worker *worker;
	unsigned long shed;
};

/* ---- on the worker ---- */

static void log_event(const struct bus_event *ev, bool words)
{
	static const enum log_level levels[] = {[EVENT_LEVEL_DEBUG] = LOG_DEBUG_,
						[EVENT_LEVEL_INFO] = LOG_INFO_,
						[EVENT_LEVEL_WARN] = LOG_WARN_};
	const struct bus_event_info *info = bus_event_info(ev->type);
	char line[LINE_SIZE];

	bus_event_line(ev, words, line, sizeof line);
	log_write_pairs(levels[info->level], info->name, line);
}

static void run_job(void *arg, struct worker_answer *answer, void *writer)
{
	const struct job *j = arg;

	(void)answer, (void)writer;
	if (j->kind == JOB_LOG)
		log_event(j->ev, j->words);
	else if (j->kind == JOB_TURN)
		turn_file_append_event(j->file, j->ev, j->words);
}

static void free_job(void *arg)
{
	struct job *j = arg;

	free(j->ev);
	free(j);
}

/* ---- on the loop ---- */

static int try_post(struct writer *w, const struct bus_event *ev, enum job_kind kind, bool words)
{
	const char *file = kind == JOB_TURN ? w->settings->turns_file : "";
	size_t n = strlen(file) + 1;
	struct job *j = malloc(sizeof *j + n);
	int err;

	if (!j)
		return ENOMEM;
	*j = (struct job){.kind = kind, .words = words, .ev = bus_event_copy(ev, NULL)};
	memcpy(j->file, file, n);
	err = j->ev ? worker_post(w->worker, j) : ENOMEM;
	if (err)
		free_job(j);
	return err;
}

static void post_job(struct writer *w, const struct bus_event *ev, enum job_kind kind, bool words)
{
	int err = try_post(w, ev, kind, words);

	if (err && !w->shed++)
		log_warn("events_shed", "error=\"%s\"", strerror(err));
	if (err || !w->shed)
		return;
	log_warn("events_shed_until_now", "count=%lu", w->shed);
	w->shed = 0;
}

static void on_synced(void *job, uint64_t owner, const uint8_t *answer, size_t len, void *arg)
{
	const struct job j = *(const struct job *)job;

	(void)owner, (void)answer, (void)len, (void)arg;
	free_job(job);
	j.doneh(j.arg);
}

int writer_sync(struct writer *w, writer_done_h *h, void *arg)
{
	struct job *j = calloc(1, sizeof *j);
	int err;

	if (!j)
		return ENOMEM;
	j->kind = JOB_SYNC;
	j->doneh = h;
	j->arg = arg;
	err = worker_put(w->worker, j, 0);
	if (err)
		free_job(j);
	return err;
}

static void on_log_event(const struct bus_event *ev, void *arg)
{
	struct writer *w = arg;

	if (bus_event_info(ev->type)->level == EVENT_LEVEL_NONE)
		return;
	if (env_replaying(w->env))
		log_event(ev, w->settings->log_words);
	else
		post_job(w, ev, JOB_LOG, w->settings->log_words);
}

static void on_turn_event(const struct bus_event *ev, void *arg)
{
	struct writer *w = arg;

	if (*w->settings->turns_file && !env_replaying(w->env))
		post_job(w, ev, JOB_TURN, w->settings->turns_words && !ev->turn.transient);
}

int writer_alloc(struct writer **out, struct env *env, struct bus *bus,
		 const struct settings *settings)
{
	const struct worker_conf conf = {.name = "writer",
					 .max = WRITER_MAX,
					 .outside = true,
					 .finish = true,
					 .runh = run_job,
					 .doneh = on_synced,
					 .freeh = free_job};
	struct writer *w = calloc(1, sizeof *w);
	int err;

	if (!w)
		return ENOMEM;
	w->env = env;
	w->settings = settings;
	err = worker_alloc(&w->worker, env, &conf);
	if (!err)
		err = bus_subscribe(bus, BUS_ALL, on_log_event, w);
	if (!err)
		err = bus_subscribe(bus,
				    BUS_MASK(EVENT_TURN_ADMITTED) | BUS_MASK(EVENT_TURN_SPEAKING) |
					    BUS_MASK(EVENT_TURN),
				    on_turn_event, w);
	if (err)
		writer_free(w);
	else
		*out = w;
	return err;
}

struct writer *writer_free(struct writer *w)
{
	if (!w)
		return NULL;
	worker_free(w->worker);
	free(w);
	return NULL;
}
