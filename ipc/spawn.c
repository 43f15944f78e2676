#include "ipc/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/env.h"

enum { FIRST_PASSED = 3 };
enum { FDS_MAX = 1024 }; /* closed one by one where the kernel knows no close_range */

/* The child's ends: -1 where it keeps ours. */
struct ends {
	int in, out, err;
};

/* ---- in the new process: only calls that are safe after fork ---- */

static void replace_std(int fd, int std)
{
	if (fd < 0)
		return;
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	dup2(fd, std);
}

/* Gives the passed descriptors their new numbers, from copies above those, since each may have the
 * new number of another. Returns the first number that must be closed. */
static int replace_passed(const struct spawn_conf *conf)
{
	const int end = FIRST_PASSED + (int)conf->n_pass;
	int copies[SPAWN_PASSED];

	for (unsigned i = 0; i < conf->n_pass; i++) {
		copies[i] = fcntl(conf->pass[i], F_DUPFD, end);
		if (copies[i] < 0)
			_exit(SPAWN_CANNOT_RUN);
	}
	for (unsigned i = 0; i < conf->n_pass; i++)
		dup2(copies[i], FIRST_PASSED + (int)i);
	return end;
}

/* Our handlers tell our loop, by descriptors that are shared until the program runs. What we ignore
 * stays ignored. */
static void drop_handlers(void)
{
	struct sigaction sa;

	for (int sig = 1; sig < NSIG; sig++)
		if (sigaction(sig, NULL, &sa) == 0 && sa.sa_handler != SIG_IGN)
			signal(sig, SIG_DFL);
}

/* Signals are blocked until our handlers are gone. */
static void become(const struct spawn_conf *conf, const struct ends *ends, char *const *envp,
		   pid_t parent)
{
	sigset_t none;
	int from;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent) /* it died before the kernel was told */
		_exit(SPAWN_CANNOT_RUN);
	drop_handlers();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	replace_std(ends->in, STDIN_FILENO);
	replace_std(ends->out, STDOUT_FILENO);
	replace_std(ends->err, STDERR_FILENO);
	/* Not every library opens its sockets close-on-exec: Discord's would live on in the child.
	 */
	from = replace_passed(conf);
	if (close_range((unsigned)from, ~0u, 0))
		for (int fd = from; fd < FDS_MAX; fd++)
			close(fd);
	if (!conf->dir || chdir(conf->dir) == 0)
		execvpe(conf->argv[0], (char *const *)conf->argv, envp);
	_exit(SPAWN_CANNOT_RUN);
}

/* ---- in ours ---- */

static bool is_hidden(const char *const *hide, const char *entry)
{
	size_t n = strcspn(entry, "=");

	for (; hide && *hide; hide++)
		if (strlen(*hide) == n && memcmp(*hide, entry, n) == 0)
			return true;
	return false;
}

/* The child's environment: borrowed strings in an array of the caller's. NULL without memory. */
static char **choose_environment(const struct spawn_conf *conf)
{
	const char *const *from =
		conf->environment ? conf->environment : (const char *const *)environ;
	size_t n = 0, kept = 0;
	const char **envp;

	while (from[n])
		n++;
	envp = calloc(n + 1, sizeof *envp);
	for (size_t i = 0; envp && i < n; i++)
		if (conf->environment || !is_hidden(conf->hide, from[i]))
			envp[kept++] = from[i];
	return (char **)envp;
}

static int open_pipe(int *ours, int *theirs, bool input)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK))
		return errno;
	*ours = fds[input];
	*theirs = fds[!input];
	return 0;
}

static int open_ends(struct spawned *s, struct ends *ends, const struct spawn_conf *conf)
{
	int err = open_pipe(&s->out, &ends->out, false);

	if (!err && conf->errors)
		err = open_pipe(&s->err, &ends->err, false);
	if (!err && conf->input)
		err = open_pipe(&s->in, &ends->in, true);
	if (!err && !conf->input) {
		ends->in = open("/dev/null", O_RDONLY | O_CLOEXEC);
		err = ends->in < 0 ? errno : 0;
	}
	return err;
}

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void spawn_init(struct spawned *s)
{
	*s = (struct spawned){.pidfd = -1, .in = -1, .out = -1, .err = -1};
}

void spawn_close(struct spawned *s)
{
	close_end(&s->pidfd);
	close_end(&s->in);
	close_end(&s->out);
	close_end(&s->err);
}

static int watch_process(struct spawned *s)
{
	setpgid(s->pid, s->pid); /* whoever of the two comes first */
	s->pidfd = (int)syscall(SYS_pidfd_open, s->pid, 0);
	if (s->pidfd >= 0) {
		fcntl(s->pidfd, F_SETFD, FD_CLOEXEC);
		return 0;
	}
	return errno;
}

int spawn_program(struct spawned *out, const struct spawn_conf *conf)
{
	struct ends ends = {-1, -1, -1};
	struct spawned s;
	pid_t parent = getpid();
	char **envp = choose_environment(conf);
	sigset_t all, before;
	int err;

	spawn_init(&s);
	err = envp ? open_ends(&s, &ends, conf) : ENOMEM;
	if (!err) {
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		s.pid = fork();
		err = s.pid < 0 ? errno : 0;
		if (!s.pid)
			become(conf, &ends, envp, parent);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	if (!err) {
		err = watch_process(&s);
		if (err) {
			kill(s.pid, SIGKILL);
			waitpid(s.pid, NULL, 0);
		}
	}
	close_end(&ends.in);
	close_end(&ends.out);
	close_end(&ends.err);
	free(envp);
	if (err)
		spawn_close(&s);
	else
		*out = s;
	return err;
}

/* ---- finding programs ---- */

static bool can_run(char *buf, size_t size, const char *dir, size_t n, const char *name)
{
	return (size_t)snprintf(buf, size, "%.*s%s%s", (int)n, dir, n ? "/" : "", name) < size &&
	       access(buf, X_OK) == 0;
}

int spawn_find(const char *name, char *buf, size_t size)
{
	char self[512];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	const char *path = getenv("PATH"), *slash;

	if (strchr(name, '/'))
		return can_run(buf, size, "", 0, name) ? 0 : ENOENT;
	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (slash && can_run(buf, size, self, (size_t)(slash - self), name))
		return 0;
	for (const char *p = path ? path : ""; *p; p += *p == ':') {
		size_t len = strcspn(p, ":");

		if (len && can_run(buf, size, p, len, name))
			return 0;
		p += len;
	}
	return ENOENT;
}

int spawn_locate(struct env *env, const char *name, char *buf, size_t size)
{
	int err;

	if (env_replaying(env)) {
		snprintf(buf, size, "%s", name);
		return (int)env_answer(env, 0);
	}
	err = spawn_find(name, buf, size);
	return (int)env_answer(env, err);
}
