#include "tests/decoder/deck.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mediad/music/track_ring.h"
#include "tests/decoder/web.h"

enum { PATIENCE_MS = 60000, LOOK_MS = 5, MEMORY = DECK_SLOTS * TRACK_RING_MEMORY };

static _Noreturn void run_program(const struct deck *d, int link, int rings)
{
	char path[512], *slash;
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 16);
	char *const envp[] = {NULL};
	char addresses[64];

	path[n > 0 ? n : 0] = '\0';
	slash = strrchr(path, '/');
	strcpy(slash ? slash : path, "/../decoderd");
	snprintf(addresses, sizeof addresses, "127.0.0.1:%u, 127.0.0.2:%u", web_server_port(d->web),
		 web_server_port(d->web));
	link = fcntl(link, F_DUPFD, 10);
	rings = fcntl(rings, F_DUPFD, 10);
	dup2(link, 3);
	dup2(rings, 4);
	close_range(5, ~0u, 0);
	execve(path,
	       (char *[]){"decoderd", "--root", (char *)d->dir, "--log", "warn", "--address",
			  addresses, NULL},
	       envp);
	_exit(127);
}

bool deck_open(struct deck *d)
{
	struct decoder_msg msg;
	int fds[2], memory;

	*d = (struct deck){.link = -1};
	snprintf(d->dir, sizeof d->dir, "/tmp/parley-decoder-XXXXXX");
	memory = memfd_create("rings", MFD_CLOEXEC);
	if (!mkdtemp(d->dir) || !web_open(&d->web, d->dir) || memory < 0 ||
	    ftruncate(memory, MEMORY) || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return false;
	snprintf(d->origin, sizeof d->origin, "http://127.0.0.1:%u", web_server_port(d->web));
	d->rings = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	for (int i = 0; i < DECK_SLOTS; i++)
		if (track_ring_alloc(&d->ring[i], d->rings + (size_t)i * TRACK_RING_MEMORY))
			return false;
	d->pid = fork();
	if (!d->pid)
		run_program(d, fds[1], memory);
	close(fds[1]);
	close(memory);
	d->link = fds[0];
	if (!deck_receive(d, &msg, PATIENCE_MS) || msg.type != DECODER_READY)
		return false;
	d->jailed = msg.jailed;
	return true;
}

void deck_close(struct deck *d)
{
	char command[96];

	if (d->link >= 0)
		close(d->link);
	if (d->pid > 0)
		waitpid(d->pid, NULL, 0);
	web_close(d->web);
	for (int i = 0; i < DECK_SLOTS; i++)
		track_ring_free(d->ring[i]);
	if (d->rings)
		munmap(d->rings, MEMORY);
	snprintf(command, sizeof command, "rm -rf %s", d->dir);
	if (system(command))
		perror(command);
}

const char *deck_path(const struct deck *d, const char *name)
{
	static char path[256];

	snprintf(path, sizeof path, "%s/%s", d->dir, name);
	return path;
}

bool deck_send(struct deck *d, const struct decoder_msg *msg)
{
	uint8_t buf[DECODER_MSG_MAX];
	size_t n;

	return decoder_wire_encode(msg, buf, &n) == 0 &&
	       send(d->link, buf, n, MSG_NOSIGNAL) == (ssize_t)n;
}

bool deck_start(struct deck *d, uint16_t slot, const char *name, uint64_t start)
{
	struct decoder_msg msg = {.type = DECODER_OPEN, .slot = slot, .track = ++d->tracks};

	d->track[slot] = msg.track;
	track_ring_reset(d->ring[slot]);
	msg.open.source.kind = *name == '/' ? DECODER_HTTP : DECODER_FILE;
	msg.open.start = start;
	msg.open.measure = d->measure;
	snprintf(msg.open.source.path, sizeof msg.open.source.path, "%s%s",
		 *name == '/' ? d->origin : "", name);
	snprintf(msg.open.source.headers, sizeof msg.open.source.headers, "%s",
		 d->headers ? d->headers : "");
	return deck_send(d, &msg);
}

bool deck_receive(struct deck *d, struct decoder_msg *msg, int ms)
{
	struct pollfd p = {.fd = d->link, .events = POLLIN};
	uint8_t buf[DECODER_MSG_MAX];
	ssize_t n;

	if (poll(&p, 1, ms) != 1)
		return false;
	n = recv(d->link, buf, sizeof buf, 0);
	return n > 0 && decoder_wire_decode(msg, buf, (size_t)n) == 0;
}

/* Takes what waits in the ring; false if nothing did. */
static bool take_sound(struct deck *d, uint16_t slot, struct played *out, size_t max_frames)
{
	size_t want = max_frames - out->frames < 4800 ? max_frames - out->frames : 4800, got = 0;

	out->pcm = realloc(out->pcm, (out->frames + want + 1) * 2 * sizeof *out->pcm);
	if (track_ring_read(d->ring[slot], out->pcm + 2 * out->frames, want, &got))
		out->broken = true;
	out->frames += got;
	return got > 0;
}

static void take_message(const struct deck *d, uint16_t slot, const struct decoder_msg *msg,
			 struct played *out)
{
	if (msg->slot != slot || msg->track != d->track[slot])
		return;
	if (msg->type == DECODER_OPENED) {
		out->has_opened = true;
		out->opened = msg->opened;
	} else if (msg->type == DECODER_LEVELS) {
		out->levels = msg->levels;
		out->n_levels++;
	} else if (msg->type == DECODER_TITLE) {
		snprintf(out->titles + strlen(out->titles),
			 sizeof out->titles - strlen(out->titles), "%s|", msg->title);
	} else if (msg->type == DECODER_ENDED) {
		out->has_ended = true;
		out->reason = msg->reason;
	}
}

void deck_play(struct deck *d, uint16_t slot, struct played *out, size_t max_frames)
{
	struct decoder_msg msg;

	*out = (struct played){0};
	for (int waited = 0;
	     waited < PATIENCE_MS && (out->frames < max_frames || !out->has_opened);) {
		if (deck_receive(d, &msg, 0)) {
			take_message(d, slot, &msg, out);
			continue;
		}
		if (take_sound(d, slot, out, max_frames))
			continue;
		if (out->has_ended || out->broken)
			break;
		poll(&(struct pollfd){.fd = d->link, .events = POLLIN}, 1, LOOK_MS);
		waited += LOOK_MS;
	}
}

void deck_wait_titles(struct deck *d, uint16_t slot, struct played *out, unsigned n)
{
	struct decoder_msg msg;
	unsigned told = 0;

	for (const char *at = out->titles; (at = strchr(at, '|')); at++)
		told++;
	while (told < n && deck_receive(d, &msg, PATIENCE_MS)) {
		take_message(d, slot, &msg, out);
		told += msg.type == DECODER_TITLE;
	}
}

void deck_play_file(struct deck *d, const char *name, uint64_t start, struct played *out)
{
	*out = (struct played){0};
	if (deck_start(d, 0, name, start))
		deck_play(d, 0, out, SIZE_MAX / 8);
}
