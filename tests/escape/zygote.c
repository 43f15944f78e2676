/* What the process that forks the decoders leaves to them of the messages that it has read: a web
 * address, with its token, belongs to one server, and no decoder needs it. */
#include "mediad/decoder/zygote.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/jail/jail.h"
#include "mediad/decoder/fetcher.h"
#include "mediad/music/decoder_wire.h"
#include "tests/escape/attempts.h"

enum { PATIENCE_MS = 10000, DEPTH = 128 << 10, FOUND = 1, CLEAN = 2 };
#define TOKEN "token-of-another-server"

/* Where the stack begins; glibc's. */
extern void *__libc_stack_end; /* NOLINT(bugprone-reserved-identifier) */

bool escape_finds_token(void)
{
	const char *from = (const char *)__builtin_frame_address(0) - DEPTH,
		   *end = __libc_stack_end;

	return memmem(from, (size_t)(end - from), TOKEN, sizeof TOKEN - 1) != NULL;
}

static void run_fetcher(const void *start, pid_t parent)
{
	(void)start, (void)parent;
	_exit(EXIT_SUCCESS);
}

/* In the place of that of decoderd: nothing is fetched. */
int fetcher_fork(pid_t *out, const struct fetcher_start *start)
{
	return jail_fork(out, run_fetcher, start);
}

/* ---- the search finds what is there ---- */

static __attribute__((noinline)) void leave_token(void)
{
	char text[4096];
	volatile char *p = text;

	for (size_t i = 0; i < sizeof text; i++)
		p[i] = TOKEN[i % sizeof TOKEN];
}

static bool search_works(void)
{
	pid_t pid = fork();
	int status = 0;

	if (!pid) {
		leave_token();
		_exit(escape_finds_token() ? FOUND : CLEAN);
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == FOUND;
}

/* ---- tracks ---- */

static bool await_end(int link, struct decoder_msg *msg)
{
	struct pollfd p = {.fd = link, .events = POLLIN};
	uint8_t buf[DECODER_MSG_MAX];
	ssize_t n;

	while (poll(&p, 1, PATIENCE_MS) == 1) {
		n = recv(link, buf, sizeof buf, 0);
		if (n <= 0)
			return false;
		if (decoder_wire_decode(msg, buf, (size_t)n) == 0 && msg->type == DECODER_ENDED)
			return true;
	}
	return false;
}

/* Opens a track whose decoder looks for the token, and returns whether that is what it finds. */
static bool is_clean(int link, const char *path, enum decoder_source_kind kind, uint64_t track)
{
	struct decoder_msg msg = {.type = DECODER_OPEN, .track = track, .open.start = n_attempts};
	uint8_t buf[DECODER_MSG_MAX];
	size_t n;

	msg.open.source.kind = kind;
	snprintf(msg.open.source.path, sizeof msg.open.source.path, "%s", path);
	if (kind == DECODER_HTTP)
		snprintf(msg.open.source.headers, sizeof msg.open.source.headers,
			 "Referer: https://" TOKEN ".example/\n");
	if (decoder_wire_encode(&msg, buf, &n) || send(link, buf, n, MSG_NOSIGNAL) != (ssize_t)n)
		return false;
	return await_end(link, &msg) && msg.reason == DECODER_REASON_DAMAGED;
}

static unsigned count_faults(int link)
{
	unsigned faults = 0;

	if (!is_clean(link, "https://radio.example/" TOKEN, DECODER_HTTP, 1)) {
		fprintf(stderr, "a decoder finds the address of its own track\n");
		faults++;
	}
	/* A shorter message leaves the rest of the one before it. */
	if (!is_clean(link, "planted", DECODER_FILE, 2)) {
		fprintf(stderr, "a decoder finds the address of another track\n");
		faults++;
	}
	return faults;
}

unsigned zygote_faults(void *rings, size_t n_rings, int root)
{
	struct zygote_conf conf = {
		.rings = rings, .n_rings = n_rings, .roots = &root, .n_roots = 1, .jailed = true};
	unsigned faults = 1;
	int fds[2], status;
	pid_t pid;

	if (!search_works()) {
		fprintf(stderr, "the search for the address of another track finds nothing\n");
		return faults;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		abort();
	pid = fork();
	if (!pid) {
		close(fds[0]);
		conf.link = fds[1];
		_exit(zygote_run(&conf) ? EXIT_FAILURE : EXIT_SUCCESS);
	}
	close(fds[1]);
	faults = count_faults(fds[0]);
	close(fds[0]);
	if (waitpid(pid, &status, 0) != pid)
		abort();
	return faults;
}
