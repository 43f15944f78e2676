#include "ipc/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event2/event.h>

#include "ipc/backoff.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/spawn.h"
#include "ipc/tmr.h"
#include "proto/base/cursor.h"
#include "proto/base/lines.h"
#include "proto/base/strv.h"

enum { GOOD_LIFE_S = 60, END_MS = 3000, WAIT_STEP_MS = 50 };
enum { IN_OUTPUT = 1, IN_ENDED = 2, IN_ERRORS = 3 };
enum { READ_SIZE = 16384, DRAIN_READS = 64, QUEUE_KEPT = 65536 };
enum { ERROR_LINE_MAX = 1000, ERROR_LINES = 50, ERROR_WINDOW_S = 10 };

static const struct backoff_conf restart = {.first_ms = 250, .max_ms = 10000, .at_once = 1};

/* Bytes that wait for the child to read. */
struct queue {
	uint8_t *p;
	size_t n, cap;
	bool ending; /* closed when empty */
};

struct child {
	struct env *env;
	struct child_conf conf;
	char **argv, **hide, **environment;
	char *dir;
	struct tmr *tmr; /* the next start, or SIGKILL */
	uint32_t source;
	struct backoff backoff;
	bool up, stopping, muted;
	uint64_t started_at;

	struct spawned proc; /* nothing on replay */
	struct event *ended, *readable, *errors, *writable;
	struct queue queue;

	struct lines lines, error_lines;
	uint64_t dropped;
	uint64_t errors_since; /* beginning of the window that is counted */
	unsigned errors_told, errors_kept;
};

/* ---- the process ---- */

static void free_event(struct event **ev)
{
	if (*ev)
		event_free(*ev);
	*ev = NULL;
}

/* What was written may be a picture or words of people. */
static void wipe_queue(struct queue *q)
{
	if (q->p)
		explicit_bzero(q->p, q->cap);
	free(q->p);
	*q = (struct queue){0};
}

static void close_input(struct child *c)
{
	free_event(&c->writable);
	if (c->proc.in >= 0)
		close(c->proc.in);
	c->proc.in = -1;
	c->queue.n = 0;
}

static void forget_process(struct child *c)
{
	free_event(&c->ended);
	free_event(&c->readable);
	free_event(&c->errors);
	close_input(c);
	spawn_close(&c->proc);
	c->proc.pid = 0;
	wipe_queue(&c->queue);
}

static void signal_group(struct child *c, int sig)
{
	if (c->proc.pid)
		kill(-c->proc.pid, sig);
}

/* True when there may be more. A closed end is watched no more. */
static bool read_pipe(struct child *c, int fd, struct event *ev, uint8_t kind)
{
	uint8_t buf[READ_SIZE];
	ssize_t n = read(fd, buf, sizeof buf);

	if (n > 0) {
		env_deliver(c->env, c->source, kind, buf, (size_t)n);
		explicit_bzero(buf, (size_t)n);
	} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		event_del(ev);
	}
	return n > 0;
}

static void on_output_event(evutil_socket_t fd, short what, void *arg)
{
	struct child *c = arg;

	(void)what;
	read_pipe(c, (int)fd, c->readable, IN_OUTPUT);
}

static void on_errors_event(evutil_socket_t fd, short what, void *arg)
{
	struct child *c = arg;

	(void)what;
	read_pipe(c, (int)fd, c->errors, IN_ERRORS);
}

/* Its last words come before its end. It is not reaped yet, so the group's number is still its own.
 */
static void on_ended_event(evutil_socket_t fd, short what, void *arg)
{
	struct child *c = arg;
	unsigned left = c->muted ? 0 : DRAIN_READS;

	(void)fd, (void)what;
	signal_group(c, SIGKILL);
	while (left && read_pipe(c, c->proc.out, c->readable, IN_OUTPUT))
		left--;
	while (left && c->errors && read_pipe(c, c->proc.err, c->errors, IN_ERRORS))
		left--;
	env_deliver(c->env, c->source, IN_ENDED, NULL, 0);
}

static void write_queued(struct child *c)
{
	size_t done = 0;

	while (done < c->queue.n) {
		ssize_t n = write(c->proc.in, c->queue.p + done, c->queue.n - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0) {
			close_input(c);
			return;
		}
		done += (size_t)n;
	}
	c->queue.n -= done;
	if (c->queue.n && done)
		memmove(c->queue.p, c->queue.p + done, c->queue.n);
	if (done)
		explicit_bzero(c->queue.p + c->queue.n, done);
	if (!c->queue.n && c->queue.cap > QUEUE_KEPT) {
		bool ending = c->queue.ending;

		wipe_queue(&c->queue);
		c->queue.ending = ending;
	}
	if (c->queue.n)
		event_add(c->writable, NULL);
	else if (c->queue.ending)
		close_input(c);
}

static void on_writable_event(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	write_queued(arg);
}

static int watch_process(struct child *c)
{
	struct event_base *base = env_base(c->env);

	c->ended = event_new(base, c->proc.pidfd, EV_READ, on_ended_event, c);
	c->readable = event_new(base, c->proc.out, EV_READ | EV_PERSIST, on_output_event, c);
	if (!c->ended || !c->readable || event_add(c->ended, NULL) || event_add(c->readable, NULL))
		return ENOMEM;
	if (c->proc.err >= 0) {
		c->errors = event_new(base, c->proc.err, EV_READ | EV_PERSIST, on_errors_event, c);
		if (!c->errors || event_add(c->errors, NULL))
			return ENOMEM;
	}
	if (c->proc.in >= 0) {
		c->writable = event_new(base, c->proc.in, EV_WRITE, on_writable_event, c);
		if (!c->writable)
			return ENOMEM;
	}
	return 0;
}

static int start_process(struct child *c)
{
	const struct spawn_conf conf = {
		.argv = (const char *const *)c->argv,
		.hide = (const char *const *)c->hide,
		.environment = (const char *const *)c->environment,
		.dir = c->dir,
		.input = c->conf.input,
		.errors = c->conf.log_errors || c->conf.errorh,
	};
	int err = spawn_program(&c->proc, &conf);

	if (err)
		return err;
	err = watch_process(c);
	if (err) {
		signal_group(c, SIGKILL);
		waitpid(c->proc.pid, NULL, 0);
		forget_process(c);
	}
	return err;
}

/* ---- steps ---- */

static void tell_state(struct child *c, bool up, int status)
{
	if (c->conf.stateh)
		c->conf.stateh(up, status, c->conf.arg);
}

static void try_start(struct child *c)
{
	int err = (int)env_answer(c->env, env_replaying(c->env) ? 0 : start_process(c));

	if (err) {
		log_warn("child_start", "program=%s error=\"%s\"", c->argv[0], strerror(err));
		if (c->conf.once)
			tell_state(c, false, SPAWN_CANNOT_RUN);
		else
			backoff_wait(&c->backoff, c->env, c->tmr);
		return;
	}
	c->up = true;
	c->started_at = env_now(c->env);
	log_info("child_started", "program=%s pid=%d", c->argv[0], (int)c->proc.pid);
	tell_state(c, true, 0);
}

static void on_tmr(void *arg)
{
	struct child *c = arg;

	if (c->up)
		signal_group(c, SIGKILL);
	else
		try_start(c);
}

static void on_line(const char *line, size_t len, void *arg)
{
	struct child *c = arg;

	if (c->conf.lineh)
		c->conf.lineh(line, len, c->conf.arg);
}

static void count_dropped(struct child *c)
{
	if (c->lines.dropped && !c->dropped)
		log_warn("child_line_too_long",
			 "program=%s max=%zu hint=\"such lines are dropped; told once\"",
			 c->argv[0], c->lines.max);
	c->dropped += c->lines.dropped;
	c->lines.dropped = 0;
}

static void tell_kept_errors(struct child *c)
{
	if (c->errors_kept)
		log_warn("child_stderr", "program=%s kept_back=%u", c->argv[0], c->errors_kept);
	c->errors_told = c->errors_kept = 0;
}

static void on_error_line(const char *line, size_t len, void *arg)
{
	struct child *c = arg;
	uint64_t now = env_now(c->env);

	if (c->conf.errorh)
		c->conf.errorh(line, len, c->conf.arg);
	if (!c->conf.log_errors)
		return;
	if (now - c->errors_since >= ERROR_WINDOW_S * NS_PER_S) {
		tell_kept_errors(c);
		c->errors_since = now;
	}
	if (c->errors_told == ERROR_LINES) {
		c->errors_kept++;
		return;
	}
	c->errors_told++;
	log_info("child_stderr", "program=%s text=\"%s\"", c->argv[0], line);
}

static void log_end(struct child *c, int status)
{
	if (c->stopping || (c->conf.once && !status))
		log_info("child_ended", "program=%s pid=%d status=%d", c->argv[0], (int)c->proc.pid,
			 status);
	else if (status == SPAWN_CANNOT_RUN)
		log_warn("child_missing", "program=%s", c->argv[0]);
	else
		log_warn("child_died", "program=%s pid=%d status=%d signal=%d", c->argv[0],
			 (int)c->proc.pid, status < 128 ? status : -1,
			 status < 128 ? 0 : status - 128);
}

static void on_ended(struct child *c)
{
	int status = 0;

	if (!env_replaying(c->env))
		waitpid(c->proc.pid, &status, 0);
	status = (int)env_answer(c->env, status);
	status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	lines_end(&c->lines, on_line, c);
	count_dropped(c);
	lines_end(&c->error_lines, on_error_line, c);
	tell_kept_errors(c);
	log_end(c, status);
	forget_process(c);
	c->up = false;
	tmr_stop(c->tmr); /* of a SIGKILL */
	if (!c->stopping && !c->conf.once) {
		if (env_now(c->env) - c->started_at > GOOD_LIFE_S * NS_PER_S)
			backoff_reset(&c->backoff);
		backoff_wait(&c->backoff, c->env, c->tmr);
	}
	tell_state(c, false, status);
}

static void on_input(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct child *c = arg;

	if (kind == IN_OUTPUT) {
		if (c->conf.readh)
			c->conf.readh(len, c->conf.arg);
		lines_feed(&c->lines, data, len, on_line, c);
		count_dropped(c);
	} else if (kind == IN_ERRORS) {
		lines_feed(&c->error_lines, data, len, on_error_line, c);
	} else if (kind == IN_ENDED) {
		on_ended(c);
	}
}

/* ---- its stdin ---- */

static int queue_add(struct queue *q, const void *data, size_t len)
{
	if (q->cap - q->n < len) {
		size_t cap = q->n + len > 2 * q->cap ? q->n + len : 2 * q->cap;
		uint8_t *p = malloc(cap);
		struct queue old = *q;

		if (!p)
			return ENOMEM;
		if (q->n)
			memcpy(p, q->p, q->n);
		q->p = p;
		q->cap = cap;
		wipe_queue(&old);
	}
	if (len)
		memcpy(q->p + q->n, data, len);
	q->n += len;
	return 0;
}

static int write_live(struct child *c, struct slice data, struct slice more)
{
	size_t before = c->queue.n;
	int err;

	if (!c->proc.pid)
		return ENOTCONN;
	if (c->proc.in < 0 || c->queue.ending)
		return EPIPE;
	if (data.n + more.n > c->conf.input_max - before)
		return ENOBUFS;
	err = queue_add(&c->queue, data.p, data.n);
	if (!err)
		err = queue_add(&c->queue, more.p, more.n);
	if (err)
		c->queue.n = before;
	else
		write_queued(c);
	return err;
}

static int write_both(struct child *c, struct slice data, struct slice more)
{
	int err = (int)env_answer(c->env, env_replaying(c->env) ? 0 : write_live(c, data, more));

	if (err)
		return err;
	env_output(c->env, ENV_OUT_PIPE, c->source, data.p, data.n);
	if (more.n)
		env_output(c->env, ENV_OUT_PIPE, c->source, more.p, more.n);
	return 0;
}

int child_write(struct child *c, const void *data, size_t len)
{
	return write_both(c, (struct slice){data, len}, (struct slice){0});
}

int child_write_line(struct child *c, const void *data, size_t len)
{
	static const uint8_t newline = '\n';

	return write_both(c, (struct slice){data, len}, (struct slice){&newline, 1});
}

void child_end_input(struct child *c)
{
	if (c->proc.in < 0)
		return;
	c->queue.ending = true;
	write_queued(c);
}

/* ---- life ---- */

static int copy_conf(struct child *c, const struct child_conf *conf)
{
	c->conf = *conf;
	if (!c->conf.input_max)
		c->conf.input_max = CHILD_INPUT_MAX;
	lines_init(&c->lines, conf->line_max ? conf->line_max : CHILD_LINE_MAX, false);
	lines_init(&c->error_lines, ERROR_LINE_MAX, true);
	c->argv = strv_copy(conf->argv);
	c->hide = strv_copy(conf->hide);
	if (conf->environment)
		c->environment = strv_copy(conf->environment);
	if (conf->dir)
		c->dir = strdup(conf->dir);
	return c->argv && c->hide && !c->environment == !conf->environment && !c->dir == !conf->dir
		       ? 0
		       : ENOMEM;
}

int child_alloc(struct child **out, struct env *env, const struct child_conf *conf)
{
	struct child *c;
	int err;

	if (!out || !env || !conf->argv || !conf->argv[0])
		return EINVAL;
	c = calloc(1, sizeof *c);
	if (!c)
		return ENOMEM;
	c->env = env;
	c->backoff = backoff_of(&restart);
	spawn_init(&c->proc);
	err = copy_conf(c, conf);
	if (!err)
		err = env_source_add(env, &c->source, on_input, c);
	if (!err)
		err = tmr_alloc(&c->tmr, env, on_tmr, c);
	if (err) {
		child_free(c);
	} else {
		tmr_start(c->tmr, 0);
		*out = c;
	}
	return err;
}

/* Its pipes are closed first: who waits to write ends at once. */
static void end_now(struct child *c, unsigned *left_ms)
{
	struct pollfd p = {.fd = c->proc.pidfd, .events = POLLIN};
	pid_t pid = c->proc.pid;

	signal_group(c, SIGTERM);
	close_input(c);
	close(c->proc.out);
	c->proc.out = -1;
	while (!poll(&p, 1, 0) && *left_ms) {
		unsigned ms = *left_ms < WAIT_STEP_MS ? *left_ms : WAIT_STEP_MS;

		if (!poll(&p, 1, (int)ms))
			*left_ms -= ms;
	}
	if (poll(&p, 1, 0) < 1) {
		kill(-pid, SIGKILL);
		poll(&p, 1, -1);
	}
	kill(-pid, SIGKILL); /* the rest of its group */
	waitpid(pid, NULL, 0);
}

struct child *child_free(struct child *c)
{
	return child_free_within(c, &(unsigned){END_MS});
}

struct child *child_free_within(struct child *c, unsigned *left_ms)
{
	if (!c)
		return NULL;
	free_event(&c->readable);
	if (c->proc.pid)
		end_now(c, left_ms);
	forget_process(c);
	tmr_free(c->tmr);
	env_source_del(c->env, c->source);
	strv_free(c->argv);
	strv_free(c->hide);
	strv_free(c->environment);
	free(c->dir);
	lines_clear(&c->lines);
	lines_clear(&c->error_lines);
	free(c);
	return NULL;
}

void child_cut(struct child *c)
{
	c->muted = true;
	if (c->readable)
		event_del(c->readable);
	child_stop(c);
}

void child_stop(struct child *c)
{
	if (c->stopping)
		return;
	c->stopping = true;
	if (!c->up) {
		tmr_stop(c->tmr);
		return;
	}
	signal_group(c, SIGTERM);
	tmr_start(c->tmr, END_MS * NS_PER_MS);
}

void child_hand_over(struct child *c, child_state_h *stateh, void *arg)
{
	c->conf.lineh = NULL;
	c->conf.errorh = NULL;
	c->conf.stateh = stateh;
	c->conf.arg = arg;
}

bool child_runs(const struct child *c)
{
	return c->up;
}

int child_set_argv(struct child *c, const char *const *argv)
{
	char **copy = strv_copy(argv);

	if (!copy)
		return ENOMEM;
	strv_free(c->argv);
	c->argv = copy;
	return 0;
}

pid_t child_pid(const struct child *c)
{
	return c->proc.pid;
}

uint64_t child_dropped(const struct child *c)
{
	return c->dropped;
}
