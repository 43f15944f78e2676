#include "mediad/decoder/child.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ipc/jail/jail.h"
#include "mediad/decoder/film.h"
#include "mediad/decoder/track.h"
#include "mediad/decoder/visualizer.h"
#include "mediad/music/track_ring.h"
#include "mediad/music/video_ring.h"
#include "proto/base/time.h"

enum { SOURCE_FD = 0, STATUS_FD = 1, FIRST_CLOSED = 2 };
enum { EXIT_WAITS = 50, EXIT_WAIT_MS = 1 };
/* libav has 30 MB mapped when a track begins. The index of an mp4 file of twelve hours takes 45 MB,
 * and a second time where the file is measured; without room for that it is not measured. */
enum { MEMORY = 160 << 20 };
/* A decoder of video keeps up to 16 frames to predict others from, of 3 MB each in 1080p. */
enum { FILM_MEMORY = 320 << 20 };

/* ---- in the child ---- */

static void send_report(const struct child_start *s, struct decoder_msg *msg)
{
	uint8_t buf[DECODER_MSG_MAX];
	size_t n;

	msg->slot = s->slot;
	msg->track = s->track;
	if (decoder_wire_encode(msg, buf, &n) || write(STATUS_FD, buf, n) != (ssize_t)n)
		_exit(DECODER_REASON_CRASHED);
}

static void report_opened(const struct decoder_opened *opened, void *arg)
{
	struct decoder_msg msg = {.type = DECODER_OPENED};

	msg.opened = *opened;
	send_report(arg, &msg);
}

static void report_levels(const struct decoder_levels *levels, void *arg)
{
	struct decoder_msg msg = {.type = DECODER_LEVELS};

	msg.levels = *levels;
	send_report(arg, &msg);
}

static void report_title(const char *title, void *arg)
{
	struct decoder_msg msg = {.type = DECODER_TITLE};

	memcpy(msg.title, title, strlen(title) + 1);
	send_report(arg, &msg);
}

/* Leaves the child with two descriptors: not even stderr, where it could forge log lines. Both are
 * moved out of the way first, since either may have the other's new number. */
static int keep_descriptors(const struct child_start *s)
{
	int source = dup(s->source), status = dup(s->status);

	if (source < 0 || status < 0 || dup2(source, SOURCE_FD) < 0 || dup2(status, STATUS_FD) < 0)
		return errno;
	return close_range(FIRST_CLOSED, ~0u, 0) ? errno : 0;
}

static bool is_video(const struct child_start *s)
{
	return s->slot >= DECODER_SLOTS;
}

static int limit_memory(const struct child_start *s)
{
	return jail_limit_data(is_video(s) && !s->visualizer ? FILM_MEMORY : MEMORY);
}

/* Unmaps n rings of a size but that at own, which is NULL or one of them. */
static int unmap_others(uint8_t *rings, size_t n, size_t size, uint8_t *own)
{
	uint8_t *end = rings + n * size, *from = own ? own + size : rings;

	if (own && own > rings && munmap(rings, (size_t)(own - rings)))
		return errno;
	return from < end && munmap(from, (size_t)(end - from)) ? errno : 0;
}

/* The ring of the track. */
static uint8_t *find_ring(const struct child_start *s)
{
	return is_video(s) ? (uint8_t *)s->videos +
				     (size_t)(s->slot - DECODER_SLOTS) * VIDEO_RING_MEMORY
			   : (uint8_t *)s->rings + (size_t)s->slot * TRACK_RING_MEMORY;
}

/* Unmaps the rings of all other tracks, and leaves of its own one the writer's part. */
static int keep_ring(const struct child_start *s)
{
	uint8_t *own = find_ring(s);
	int err = is_video(s) ? video_ring_guard(own) : track_ring_guard(own);

	if (!err && s->n_rings)
		err = unmap_others(s->rings, s->n_rings, TRACK_RING_MEMORY,
				   is_video(s) ? NULL : own);
	if (!err && s->n_videos)
		err = unmap_others(s->videos, s->n_videos, VIDEO_RING_MEMORY,
				   is_video(s) ? own : NULL);
	return err;
}

static void enter_jail(void)
{
	if (jail_enter(JAIL_CPU_S))
		_exit(DECODER_REASON_NO_JAIL);
}

static enum decoder_reason run_visualizer(const struct child_start *s)
{
	struct visualizer_conf conf = {.mode = (enum picture_mode)(s->visualizer - 1),
				       .openedh = report_opened,
				       .arg = (void *)(uintptr_t)s};

	if (video_ring_alloc(&conf.ring, find_ring(s)))
		return DECODER_REASON_NO_PROCESS;
	enter_jail();
	return visualizer_run(&conf);
}

static enum decoder_reason run_film(const struct child_start *s)
{
	struct film_conf conf = {.fd = SOURCE_FD,
				 .kind = s->kind,
				 .start = s->start,
				 .openedh = report_opened,
				 .arg = (void *)(uintptr_t)s};
	enum decoder_reason reason;

	if (video_ring_alloc(&conf.ring, find_ring(s)))
		return DECODER_REASON_NO_PROCESS;
	enter_jail();
	reason = film_run(&conf);
	if (reason == DECODER_REASON_END)
		video_ring_end(conf.ring);
	return reason;
}

static enum decoder_reason run_track(const struct child_start *s)
{
	struct track_conf conf = {.fd = SOURCE_FD,
				  .kind = s->kind,
				  .start = s->start,
				  .measure = s->measure,
				  .openedh = report_opened,
				  .levelsh = report_levels,
				  .titleh = report_title,
				  .arg = (void *)(uintptr_t)s};
	enum decoder_reason reason;

	if (track_ring_alloc(&conf.ring, find_ring(s)))
		return DECODER_REASON_NO_PROCESS;
	enter_jail();
	reason = track_decode(&conf);
	if (reason == DECODER_REASON_END)
		track_ring_end(conf.ring);
	return reason;
}

static void run_child(const void *start, pid_t parent)
{
	const struct child_start *s = start;

	if (jail_limit(parent) || limit_memory(s) || keep_descriptors(s) || keep_ring(s))
		_exit(DECODER_REASON_NO_PROCESS);
	_exit((int)(!is_video(s) ? run_track(s) : s->visualizer ? run_visualizer(s) : run_film(s)));
}

/* ---- in the parent ---- */

int child_fork(pid_t *out, const struct child_start *start)
{
	return jail_fork(out, run_child, start);
}

static enum decoder_reason explain_status(int status)
{
	enum decoder_reason reason;

	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGSYS    ? DECODER_REASON_FORBIDDEN_CALL
		       : WTERMSIG(status) == SIGXCPU ? DECODER_REASON_LIMIT
						     : DECODER_REASON_CRASHED;
	reason = decoder_reason_of((unsigned)WEXITSTATUS(status));
	return reason == DECODER_REASON_UNKNOWN ? DECODER_REASON_CRASHED : reason;
}

enum decoder_reason child_wait(pid_t pid)
{
	const struct timespec pause = {0, EXIT_WAIT_MS * (long)NS_PER_MS};
	int status = 0;
	pid_t got = waitpid(pid, &status, WNOHANG);

	/* Descriptors are closed a moment before the process has ended. */
	for (int i = 0; got == 0 && i < EXIT_WAITS; i++) {
		nanosleep(&pause, NULL);
		got = waitpid(pid, &status, WNOHANG);
	}
	if (got == 0) {
		kill(pid, SIGKILL);
		got = waitpid(pid, &status, 0);
	}
	return got == pid ? explain_status(status) : DECODER_REASON_CRASHED;
}
