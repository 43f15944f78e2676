#include "control/vision/imaged/picture.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "control/vision/imaged/decode.h"
#include "ipc/jail/jail.h"
#include "proto/base/time.h"

enum { RESULT_FD = 1, FIRST_CLOSED = 2 };

/* ---- in the child ---- */

struct job {
	struct slice in;
	const struct image_limits *limits;
	int out;
};

/* One descriptor is left, for the result: not even stderr, where it could forge log lines. */
static int keep_descriptor(int fd)
{
	if (dup2(fd, RESULT_FD) < 0 || close(STDIN_FILENO))
		return errno;
	return close_range(FIRST_CLOSED, ~0u, 0) ? errno : 0;
}

static void run_child(const void *start, pid_t parent)
{
	const struct job *job = start;

	if (jail_limit(parent) || keep_descriptor(job->out))
		decode_fail(IMAGE_NO_PROCESS);
	jail_give_way(0);
	if (jail_enter(PICTURE_CPU_S))
		decode_fail(IMAGE_NO_JAIL);
	decode_and_exit(job->in, job->limits, RESULT_FD);
}

/* ---- in the parent ---- */

static uint64_t read_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ns_of_timespec(&ts);
}

/* Reads until the child has closed its end. Returns false when there is more than a result can
 * have, or it took too long. */
static bool collect(int fd, uint8_t *memory, size_t *n)
{
	uint64_t end = read_clock() + PICTURE_WALL_MS * NS_PER_MS;
	struct pollfd p = {.fd = fd, .events = POLLIN};

	*n = 0;
	while (*n < PICTURE_MEMORY) {
		uint64_t now = read_clock();
		ssize_t got;

		if (now >= end || poll(&p, 1, (int)((end - now) / NS_PER_MS) + 1) < 0)
			return false;
		if (!p.revents)
			continue;
		got = read(fd, memory + *n, PICTURE_MEMORY - *n);
		if (got == 0)
			return true;
		if (got < 0)
			return false;
		*n += (size_t)got;
	}
	return false;
}

static enum image_reason explain_status(int status)
{
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGSYS    ? IMAGE_FORBIDDEN_CALL
		       : WTERMSIG(status) == SIGXCPU ? IMAGE_LIMIT
						     : IMAGE_CRASHED;
	return WEXITSTATUS(status) < IMAGE_REASON_COUNT ? (enum image_reason)WEXITSTATUS(status)
							: IMAGE_CRASHED;
}

/* The header of the picture is read here, too: what the child says of it is not needed. */
static enum image_reason read_result(struct image_result *r, const uint8_t *memory, size_t n,
				     const struct image_limits *limits)
{
	struct rd in = rd_of(memory, n);
	const uint8_t *bytes = rd_bytes(&in, sizeof(struct decoded_head));
	struct decoded_head head;

	if (!bytes)
		return IMAGE_CRASHED;
	memcpy(&head, bytes, sizeof head);
	if (head.width > limits->side || head.height > limits->side ||
	    head.grey_width > IMAGE_GREY_SIDE || head.grey_height > IMAGE_GREY_SIDE)
		return IMAGE_CRASHED;
	r->width = head.width;
	r->height = head.height;
	r->grey_width = head.grey_width;
	r->grey_height = head.grey_height;
	r->n = head.jpeg;
	r->grey = rd_bytes(&in, (size_t)head.grey_width * head.grey_height);
	r->jpeg = rd_bytes(&in, head.jpeg);
	return in.ok && !rd_left(&in) && image_result_valid(r) ? IMAGE_OK : IMAGE_CRASHED;
}

void picture_decode(struct image_result *out, uint8_t *memory, struct slice in,
		    const struct image_limits *limits)
{
	struct image_result r = {.reason =
					 frame_header_read(&r.picture, limits->codec, in.p, in.n)};
	struct job job = {.in = in, .limits = limits};
	int fds[2], status = 0;
	bool whole;
	pid_t pid;
	size_t n;

	*out = (struct image_result){.reason = r.reason};
	if (r.reason != IMAGE_OK)
		return;
	out->reason = IMAGE_NO_PROCESS;
	if (pipe2(fds, O_CLOEXEC))
		return;
	job.out = fds[1];
	if (jail_fork(&pid, run_child, &job)) {
		close(fds[0]);
		close(fds[1]);
		return;
	}
	close(fds[1]);
	whole = collect(fds[0], memory, &n);
	close(fds[0]);
	if (!whole)
		kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) != pid)
		return;
	out->reason = whole ? explain_status(status) : IMAGE_LIMIT;
	if (out->reason == IMAGE_OK)
		out->reason = read_result(&r, memory, n, limits);
	if (out->reason == IMAGE_OK)
		*out = r;
}
