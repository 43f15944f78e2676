#include "mediad/decoder/tag_list.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/jail/jail.h"
#include "mediad/decoder/child.h"
#include "mediad/decoder/root_file.h"
#include "mediad/music/track_ring.h"

enum { PATIENCE_MS = 10000, FRAMES_PER_MS = TRACK_RING_RATE / 1000 };

/* Waits for what the process tells of its track; false if it ends before, or takes too long. */
static bool await_opened(int status, struct decoder_msg *msg)
{
	struct pollfd p = {.fd = status, .events = POLLIN};
	uint8_t buf[DECODER_MSG_MAX];
	ssize_t n = poll(&p, 1, PATIENCE_MS) == 1 ? recv(status, buf, sizeof buf, 0) : 0;

	return n > 0 && !decoder_wire_decode(msg, buf, (size_t)n) && msg->type == DECODER_OPENED;
}

static bool open_track(void *ring, int source, struct decoder_msg *msg)
{
	struct child_start start = {
		.source = source, .rings = ring, .n_rings = 1, .kind = DECODER_FILE};
	struct track_ring *r = NULL;
	bool ok = false;
	int fds[2];
	pid_t pid;

	/* Begins anew what the process before it has left. */
	if (track_ring_alloc(&r, ring) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds)) {
		track_ring_free(r);
		return false;
	}
	track_ring_reset(r);
	start.status = fds[1];
	if (child_fork(&pid, &start) == 0) {
		close(fds[1]);
		fds[1] = -1;
		ok = await_opened(fds[0], msg);
		kill(pid, SIGKILL);
		(void)child_wait(pid);
	}
	if (fds[1] >= 0)
		close(fds[1]);
	close(fds[0]);
	track_ring_free(r);
	return ok;
}

/* The texts are plain lines, without tabs, since they were read (decoder_wire.c). */
static void print_tags(const struct decoder_opened *o, FILE *out)
{
	fprintf(out, "%s\t%s\t%s\t%llu", o->title, o->artist, o->album,
		o->guessed ? 0ULL : (unsigned long long)(o->duration / FRAMES_PER_MS));
}

/* The line without its newline. */
static void answer(const int *roots, unsigned n, void *ring, const char *line, FILE *out)
{
	struct decoder_msg msg;
	char *path;
	unsigned long root = strtoul(line, &path, 10);
	int fd;

	if (path == line || *path != ' ' || root >= n ||
	    root_file_open(roots[root], path + 1, &fd) != DECODER_REASON_UNKNOWN)
		return;
	if (open_track(ring, fd, &msg))
		print_tags(&msg.opened, out);
	close(fd);
}

int tag_list_run(const int *roots, unsigned n, FILE *in, FILE *out)
{
	void *ring = mmap(NULL, TRACK_RING_MEMORY, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char *line = NULL;
	size_t size = 0;
	ssize_t len;
	int err = 0;

	if (ring == MAP_FAILED)
		return errno;
	jail_give_way(0);
	fputs("ready\n", out);
	if (fflush(out))
		err = errno;
	while (!err && (len = getline(&line, &size, in)) > 0) {
		line[len - (line[len - 1] == '\n')] = '\0';
		answer(roots, n, ring, line, out);
		putc('\n', out);
		if (fflush(out))
			err = errno;
	}
	free(line);
	munmap(ring, TRACK_RING_MEMORY);
	return err;
}
