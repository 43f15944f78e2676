#include "tests/bench/listening.h"

#include "proto/base/time.h"
#include "tests/bench/bench.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { UP_MS = 60000, THREADS = 32 };

struct listening {
	struct plane *plane;
	pid_t pid;
	clockid_t clock;
	int to, from;
	char line[64];
	size_t n;
};

/* Reads what there is; true when a line is whole. */
static bool has_line(void *arg)
{
	struct listening *l = arg;
	ssize_t n = read(l->from, l->line + l->n, sizeof l->line - 1 - l->n);

	if (n == 0)
		bench_die("the listener ended");
	if (n > 0)
		l->n += (size_t)n;
	l->line[l->n] = '\0';
	return strchr(l->line, '\n') != NULL;
}

static uint64_t ask(struct listening *l, const char *command)
{
	l->n = 0;
	if (command && write(l->to, command, strlen(command)) < 0)
		bench_die("the listener does not read");
	plane_until(l->plane, has_line, l, UP_MS, "the listener answers");
	return strtoull(l->line, NULL, 10);
}

static void start(struct listening *l, char *const argv[])
{
	int in[2], out[2];
	pid_t parent = getpid();

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		bench_die("pipe: %s", strerror(errno));
	l->pid = fork();
	if (l->pid < 0)
		bench_die("fork: %s", strerror(errno));
	if (!l->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		if (getppid() == parent)
			execv(argv[0], argv);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	l->to = in[1];
	l->from = out[0];
	fcntl(l->from, F_SETFL, O_NONBLOCK);
	if (clock_getcpuclockid(l->pid, &l->clock))
		bench_die("the listener has no clock");
}

void listening_alloc(struct listening **out, struct plane *p, unsigned first, unsigned calls,
		     unsigned speakers)
{
	struct listening *l = calloc(1, sizeof *l);
	char program[PATH_MAX], socket[128], endpoint[64], numbers[3][16];
	char *argv[] = {program, socket, endpoint, numbers[0], numbers[1], numbers[2], NULL};

	if (!l)
		bench_die("out of memory");
	l->plane = p;
	plane_program(program, sizeof program, "bench/listener");
	snprintf(socket, sizeof socket, "%s", plane_socket(p));
	snprintf(endpoint, sizeof endpoint, "%s", far_end_endpoint(plane_far(p)));
	snprintf(numbers[0], sizeof numbers[0], "%u", first);
	snprintf(numbers[1], sizeof numbers[1], "%u", calls);
	snprintf(numbers[2], sizeof numbers[2], "%u", speakers);
	start(l, argv);
	ask(l, NULL);
	for (unsigned c = first; c < first + calls; c++)
		for (unsigned s = 0; s < speakers; s++)
			far_end_speaking(plane_far(p), c, s, 0);
	plane_run(p, 500);
	*out = l;
}

struct listening *listening_free(struct listening *l)
{
	int status;

	close(l->to);
	for (unsigned n = 0; waitpid(l->pid, &status, WNOHANG) == 0; n++) {
		if (n > 1000)
			bench_die("the listener does not end");
		plane_run(l->plane, 5);
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		bench_die("the listener ended badly: status %x", (unsigned)status);
	close(l->from);
	free(l);
	return NULL;
}

pid_t listening_pid(const struct listening *l)
{
	return l->pid;
}

uint64_t listening_cpu(const struct listening *l)
{
	struct timespec ts;

	if (clock_gettime(l->clock, &ts))
		bench_die("the listener is gone");
	return ns_of_timespec(&ts);
}

uint64_t listening_heard(struct listening *l)
{
	return ask(l, "count\n");
}

void listening_say(struct listening *l, bool on)
{
	ask(l, on ? "say\n" : "hush\n");
}

/* ---- system calls ---- */

struct syscalls {
	int fd[THREADS];
	unsigned n;
};

/* The number of the tracepoint raw_syscalls:sys_enter; 0: not readable. */
static uint64_t tracepoint(void)
{
	static const char *const paths[] = {
		"/sys/kernel/tracing/events/raw_syscalls/sys_enter/id",
		"/sys/kernel/debug/tracing/events/raw_syscalls/sys_enter/id"};
	unsigned id = 0;

	for (unsigned i = 0; i < 2 && !id; i++) {
		FILE *f = fopen(paths[i], "r");

		if (f && fscanf(f, "%u", &id) != 1)
			id = 0;
		if (f)
			fclose(f);
	}
	return id;
}

static int count_thread(struct syscalls *s, int tid, uint64_t id)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof attr, .config = id};
	long fd = syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno;
	s->fd[s->n++] = (int)fd;
	return 0;
}

int syscalls_alloc(struct syscalls **out, pid_t pid)
{
	struct syscalls *s = calloc(1, sizeof *s);
	uint64_t id = tracepoint();
	char path[64];
	struct dirent *e;
	int err = id ? 0 : ENOENT;
	DIR *d;

	if (!s)
		bench_die("out of memory");
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	d = opendir(path);
	if (!d)
		bench_die("%s: %s", path, strerror(errno));
	while (!err && (e = readdir(d)) && s->n < THREADS)
		if (e->d_name[0] != '.')
			err = count_thread(s, atoi(e->d_name), id);
	closedir(d);
	if (err)
		syscalls_free(s);
	else
		*out = s;
	return err;
}

struct syscalls *syscalls_free(struct syscalls *s)
{
	if (s) {
		while (s->n)
			close(s->fd[--s->n]);
		free(s);
	}
	return NULL;
}

uint64_t syscalls_count(const struct syscalls *s)
{
	uint64_t sum = 0, n;

	for (unsigned i = 0; i < s->n; i++)
		if (read(s->fd[i], &n, sizeof n) == (ssize_t)sizeof n)
			sum += n;
	return sum;
}
