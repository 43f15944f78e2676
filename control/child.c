#include "control/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event2/event.h>

#include "control/settings/settings.def"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/strv.h"

#define MS UINT64_C(1000000)
enum {
	BACKOFF_MIN_MS = 250,
	BACKOFF_MAX_MS = 10000,
	GOOD_LIFE_MS = 60000,
	END_MS = 3000,
	LINE_MAX_ = 1024
};
enum { IN_OUTPUT = 1, IN_DIED = 2 };
enum { FDS_MAX = 1024 }; /* closed one by one where the kernel knows no close_range */

const char *const child_secrets[] = {
#define NONE(...)
#define K(name, env, bytes, text) #env, #env "_FILE",
	SETTINGS(NONE, NONE, NONE, NONE, K)
#undef NONE
#undef K
		NULL};

struct child {
	struct env *env;
	char **argv;
	char **hide;
	child_line_h *lineh;
	child_state_h *stateh;
	void *arg;
	struct tmr *tmr;
	uint32_t source;
	pid_t pid;
	int pidfd, out;
	struct event *died, *readable;
	char line[LINE_MAX_];
	size_t line_len;
	unsigned backoff_ms;
	uint64_t started_at;
};

static void forget(struct child *c)
{
	if (c->died)
		event_free(c->died);
	if (c->readable)
		event_free(c->readable);
	if (c->pidfd >= 0)
		close(c->pidfd);
	if (c->out >= 0)
		close(c->out);
	c->died = c->readable = NULL;
	c->pidfd = c->out = -1;
	c->pid = 0;
	c->line_len = 0;
}

static void on_died_event(evutil_socket_t fd, short what, void *arg)
{
	struct child *c = arg;

	(void)fd;
	(void)what;
	env_deliver(c->env, c->source, IN_DIED, NULL, 0);
}

static void on_output_event(evutil_socket_t fd, short what, void *arg)
{
	struct child *c = arg;
	uint8_t buf[512];
	ssize_t n = read(fd, buf, sizeof buf);

	(void)what;
	if (n > 0)
		env_deliver(c->env, c->source, IN_OUTPUT, buf, (size_t)n);
	else if (n == 0 || errno != EAGAIN)
		event_del(c->readable);
}

/* In the new process: only calls that are safe after fork. */
static void become(struct child *c, int out)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGINT, SIG_IGN); /* ^C in a terminal is for us; we end it by SIGTERM */
	dup2(out, STDOUT_FILENO);
	/* Not every library opens its sockets close-on-exec: Discord's would live on in the child.
	 */
	if (close_range(3, ~0u, 0))
		for (int fd = 3; fd < FDS_MAX; fd++)
			close(fd);
	execvp(c->argv[0], c->argv);
	_exit(127);
}

static int watch(struct child *c, int out)
{
	struct event_base *base = env_base(c->env);

	c->out = out;
	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	if (c->pidfd < 0)
		return errno;
	fcntl(c->pidfd, F_SETFD, FD_CLOEXEC);
	c->died = event_new(base, c->pidfd, EV_READ, on_died_event, c);
	c->readable = event_new(base, c->out, EV_READ | EV_PERSIST, on_output_event, c);
	if (!c->died || !c->readable)
		return ENOMEM;
	event_add(c->died, NULL);
	event_add(c->readable, NULL);
	return 0;
}

static int spawn(struct child *c)
{
	int fds[2], err;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK))
		return errno;
	pid = fork();
	if (pid < 0) {
		err = errno;
		close(fds[0]);
		close(fds[1]);
		return err;
	}
	if (pid == 0) {
		for (size_t i = 0; c->hide && c->hide[i]; i++)
			unsetenv(c->hide[i]);
		fcntl(fds[1], F_SETFL, 0);
		become(c, fds[1]);
	}
	close(fds[1]);
	c->pid = pid;
	err = watch(c, fds[0]);
	if (err) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		forget(c);
	}
	return err;
}

static void start_later(struct child *c)
{
	tmr_start(c->tmr, c->backoff_ms * MS);
	c->backoff_ms = c->backoff_ms * 2 > BACKOFF_MAX_MS ? BACKOFF_MAX_MS : c->backoff_ms * 2;
}

static void on_tmr(void *arg)
{
	struct child *c = arg;
	int err = (int)env_answer(c->env, env_replaying(c->env) ? 0 : spawn(c));

	if (err) {
		log_warn("child_start", "program=%s error=\"%s\"", c->argv[0], strerror(err));
		start_later(c);
		return;
	}
	c->started_at = env_now(c->env);
	log_info("child_started", "program=%s pid=%d", c->argv[0], (int)c->pid);
	if (c->stateh)
		c->stateh(true, c->arg);
}

static void on_died(struct child *c)
{
	int status = 0;

	if (!env_replaying(c->env))
		waitpid(c->pid, &status, 0);
	status = (int)env_answer(c->env, status);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		log_warn("child_missing", "program=%s", c->argv[0]);
	else
		log_warn("child_died", "program=%s pid=%d status=%d signal=%d", c->argv[0],
			 (int)c->pid, WIFEXITED(status) ? WEXITSTATUS(status) : -1,
			 WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	forget(c);
	if (env_now(c->env) - c->started_at > GOOD_LIFE_MS * MS)
		c->backoff_ms = BACKOFF_MIN_MS;
	start_later(c);
	if (c->stateh)
		c->stateh(false, c->arg);
}

static void on_output(struct child *c, const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (data[i] != '\n') {
			if (c->line_len < sizeof c->line - 1)
				c->line[c->line_len++] = (char)data[i];
			continue;
		}
		c->line[c->line_len] = '\0';
		c->line_len = 0;
		if (c->lineh)
			c->lineh(c->line, c->arg);
	}
}

static void on_input(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct child *c = arg;

	if (kind == IN_OUTPUT)
		on_output(c, data, len);
	else if (kind == IN_DIED)
		on_died(c);
}

int child_alloc(struct child **out, struct env *env, const char *const *argv,
		const char *const *hide, child_line_h *lineh, child_state_h *stateh, void *arg)
{
	struct child *c;
	int err = ENOMEM;

	if (!out || !env || !argv || !argv[0])
		return EINVAL;
	c = calloc(1, sizeof *c);
	if (!c)
		return ENOMEM;
	c->env = env;
	c->lineh = lineh;
	c->stateh = stateh;
	c->arg = arg;
	c->pidfd = c->out = -1;
	c->backoff_ms = BACKOFF_MIN_MS;
	c->argv = strv_copy(argv);
	c->hide = strv_copy(hide);
	if (!c->argv || !c->hide)
		goto out;
	err = env_source_add(env, &c->source, on_input, c);
	if (!err)
		err = tmr_alloc(&c->tmr, env, on_tmr, c);
out:
	if (err) {
		child_free(c);
	} else {
		tmr_start(c->tmr, 0);
		*out = c;
	}
	return err;
}

static void end(struct child *c)
{
	struct pollfd p = {.fd = c->pidfd, .events = POLLIN};

	kill(c->pid, SIGTERM);
	if (poll(&p, 1, END_MS) < 1)
		kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
}

struct child *child_free(struct child *c)
{
	if (!c)
		return NULL;
	if (c->pid)
		end(c);
	forget(c);
	tmr_free(c->tmr);
	if (c->source)
		env_source_del(c->env, c->source);
	strv_free(c->argv);
	strv_free(c->hide);
	free(c);
	return NULL;
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
	return c->pid;
}

static bool runs(char *buf, size_t size, const char *dir, size_t n, const char *name)
{
	return (size_t)snprintf(buf, size, "%.*s%s%s", (int)n, dir, n ? "/" : "", name) < size &&
	       access(buf, X_OK) == 0;
}

int child_find(const char *name, char *buf, size_t size)
{
	char self[512];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	const char *path = getenv("PATH"), *slash;

	if (strchr(name, '/'))
		return runs(buf, size, "", 0, name) ? 0 : ENOENT;
	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (slash && runs(buf, size, self, (size_t)(slash - self), name))
		return 0;
	for (const char *p = path ? path : ""; *p; p += *p == ':') {
		size_t len = strcspn(p, ":");

		if (len && runs(buf, size, p, len, name))
			return 0;
		p += len;
	}
	return ENOENT;
}

int child_locate(struct env *env, const char *name, char *buf, size_t size)
{
	int err;

	if (env_replaying(env)) {
		snprintf(buf, size, "%s", name);
		return (int)env_answer(env, 0);
	}
	err = child_find(name, buf, size);
	return (int)env_answer(env, err);
}
