/* Hostile code in the place of the decoders: tries to leave the jails of decoderd, imaged and
 * framed.
 *
 *   escape           every attempt must fail in each jail, and at least 80 % must succeed without
 *                    one; the fence of a fetcher must hold, too, and what forks the decoders
 *                    must leave them nothing of other tracks
 *   escape --rows    the rows decoder_escapes, decoder_escapes_off and jail_escapes
 *
 * The jailed attempts run in processes that mediad/decoder/child.c and
 * control/vision/imaged/picture.c have forked; this program brings the track_decode and the
 * decode_and_exit that they call. It has libav loaded and prepared as framed has. It starts itself
 * again with an empty environment, as mediad starts decoderd. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mediad/decoder/child.h"
#include "control/vision/imaged/decode.h"
#include "control/vision/imaged/picture.h"
#include "control/vision/imaged/program.h"
#include "ipc/jail/jail.h"
#include "mediad/decoder/film.h"
#include "mediad/decoder/track.h"
#include "mediad/decoder/visualizer.h"
#include "mediad/music/track_ring.h"
#include "mediad/sandbox/sandbox.h"
#include "tests/escape/attempts.h"

enum { RINGS = 2, SUCCESS = 1, FAILURE = 2, PERCENT_OFF = 80 };

static char parent_text[] = SECRET_TEXT;

struct stage {
	struct surroundings around;
	char dir[64], socket[96];
	uint8_t *rings;
	int source, listener, udp;
};

static struct stage stage;

/* ---- the hostile decoder ---- */

enum decoder_reason track_decode(const struct track_conf *conf)
{
	bool done = conf->start == n_attempts ? escape_finds_token()
					      : attempts[conf->start].run(&stage.around);

	return done ? DECODER_REASON_END : DECODER_REASON_DAMAGED;
}

/* Videos are read in the same jail. */
enum decoder_reason film_run(const struct film_conf *conf)
{
	(void)conf;
	return DECODER_REASON_DAMAGED;
}

/* And drawn. */
enum decoder_reason visualizer_run(const struct visualizer_conf *conf)
{
	(void)conf;
	return DECODER_REASON_DAMAGED;
}

void decode_fail(enum image_reason reason)
{
	_exit((int)reason);
}

void *decode_alloc(size_t n)
{
	return malloc(n);
}

/* The quality is the number of the attempt. */
void decode_and_exit(struct slice in, const struct image_limits *limits, int fd)
{
	(void)in, (void)fd;
	decode_fail(attempts[limits->quality].run(&stage.around) ? IMAGE_TOO_LARGE : IMAGE_DAMAGED);
}

/* ---- what it could reach ---- */

static bool plant_file(const char *name)
{
	char path[128];
	int fd;

	snprintf(path, sizeof path, "%s/%s", stage.dir, name);
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0666);
	return fd >= 0 && write(fd, SECRET_TEXT, sizeof SECRET_TEXT) > 0 && close(fd) == 0;
}

static bool plant_sockets(void)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t n = sizeof in;

	snprintf(stage.socket, sizeof stage.socket, "%s/socket", stage.dir);
	snprintf(un.sun_path, sizeof un.sun_path, "%s", stage.socket);
	stage.listener = socket(AF_UNIX, SOCK_STREAM, 0);
	stage.udp = socket(AF_INET, SOCK_DGRAM, 0);
	if (bind(stage.listener, (struct sockaddr *)&un, sizeof un) || listen(stage.listener, 64) ||
	    bind(stage.udp, (struct sockaddr *)&in, sizeof in) ||
	    getsockname(stage.udp, (struct sockaddr *)&in, &n))
		return false;
	stage.around.udp_port = ntohs(in.sin_port);
	return true;
}

static bool set_stage(void)
{
	char path[128];

	snprintf(stage.dir, sizeof stage.dir, "/tmp/parley-escape-XXXXXX");
	if (!mkdtemp(stage.dir) || !plant_file("planted") || !plant_file("mode") ||
	    !plant_sockets())
		return false;
	snprintf(path, sizeof path, "%s/mode", stage.dir);
	stage.source = open(path, O_RDONLY);
	stage.rings = mmap(NULL, (size_t)RINGS * TRACK_RING_MEMORY, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	stage.around.dir = stage.dir;
	stage.around.socket = stage.socket;
	stage.around.ring = stage.rings;
	stage.around.neighbour = stage.rings + TRACK_RING_MEMORY;
	stage.around.parent = getpid();
	stage.around.parent_text = parent_text;
	return stage.rings != MAP_FAILED && dup2(stage.source, SECRET_FD) == SECRET_FD;
}

/* Undoes the successes of an attempt. */
static void reset_stage(void)
{
	char path[128];

	plant_file("planted");
	snprintf(path, sizeof path, "%s/folder", stage.dir);
	rmdir(path);
	snprintf(path, sizeof path, "%s/link", stage.dir);
	unlink(path);
	lseek(stage.source, 0, SEEK_SET);
	memset(stage.rings, 0, TRACK_RING_MEMORY);
	stage.rings[TRACK_RING_MEMORY] = NEIGHBOUR_TEXT;
}

static void clear_stage(void)
{
	char command[96];

	snprintf(command, sizeof command, "rm -rf %s", stage.dir);
	if (system(command))
		perror(command);
}

/* ---- attempts ---- */

/* A false index is no success unless the reader follows it. */
static bool reader_follows(void)
{
	struct track_ring *r;
	int16_t pcm[2];
	size_t got = 0;
	bool followed;

	if (track_ring_alloc(&r, stage.rings))
		return true;
	followed = track_ring_read(r, pcm, 1, &got) == 0 && got;
	track_ring_free(r);
	return followed;
}

static bool is_success(unsigned i, bool done)
{
	return done && (strcmp(attempts[i].name, "set_false_index") != 0 || reader_follows());
}

static bool try_in_jail(unsigned i)
{
	struct child_start start = {.source = stage.source,
				    .rings = stage.rings,
				    .n_rings = RINGS,
				    .kind = DECODER_FILE,
				    .start = i};
	int fds[2];
	pid_t pid;
	enum decoder_reason reason;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		abort();
	start.status = fds[1];
	if (child_fork(&pid, &start))
		abort();
	close(fds[1]);
	/* A shell that this process has become exits with 1, which no reason is. */
	reason = child_wait(pid);
	close(fds[0]);
	if (reason == DECODER_REASON_NO_JAIL || reason == DECODER_REASON_NO_PROCESS)
		return true;
	return is_success(i, reason == DECODER_REASON_END);
}

/* imaged shares no memory with its children. */
static bool concerns_images(unsigned i)
{
	return !strstr(attempts[i].name, "_ring") && !strstr(attempts[i].name, "_index");
}

static bool try_in_image_jail(unsigned i, enum frame_codec codec)
{
	static const uint8_t png[] = {0x89, 'P', 'N', 'G', 13,	10, 26, 10, 0, 0, 0,
				      13,   'I', 'H', 'D', 'R', 0,  0,	0,  8, 0, 0,
				      0,    8,	 8,   2,   0,	0,  0,	0,  0, 0, 0};
	/* A key frame of 16 by 16. */
	static const uint8_t vp8[] = {0x50, 0x00, 0x00, 0x9d, 0x01, 0x2a, 16, 0, 16, 0, 0, 0};
	static uint8_t memory[PICTURE_MEMORY];
	struct image_result r;

	picture_decode(
		&r, memory,
		codec ? (struct slice){vp8, sizeof vp8} : (struct slice){png, sizeof png},
		&(struct image_limits){.side = IMAGE_SMALLEST, .quality = i, .codec = codec});
	/* A shell that the process has become exits with 1. */
	return r.reason != IMAGE_DAMAGED && r.reason != IMAGE_FORBIDDEN_CALL &&
	       r.reason != IMAGE_CRASHED && r.reason != IMAGE_LIMIT;
}

static bool try_freely(unsigned i)
{
	pid_t pid = fork();
	int status = 0;

	if (!pid) {
		dup2(stage.source, 0);
		setenv(SECRET_NAME, "x", 1);
		_exit(attempts[i].run(&stage.around) ? SUCCESS : FAILURE);
	}
	waitpid(pid, &status, 0);
	return is_success(i, WIFEXITED(status) && WEXITSTATUS(status) == SUCCESS);
}

static unsigned run_all(bool jailed)
{
	unsigned n = 0;

	for (unsigned i = 0; i < n_attempts; i++) {
		bool ok;

		reset_stage();
		ok = jailed ? try_in_jail(i) : try_freely(i);
		n += ok;
		if (ok == jailed)
			fprintf(stderr, "%s %s\n", attempts[i].name,
				jailed ? "succeeds in the jail" : "fails without the jail");
	}
	return n;
}

/* Adds to *tried how many there are. codec: in framed's jail; NONE: in imaged's. */
static unsigned run_all_images(enum frame_codec codec, unsigned *tried)
{
	unsigned n = 0;

	for (unsigned i = 0; i < n_attempts; i++) {
		bool ok;

		if (!concerns_images(i))
			continue;
		reset_stage();
		ok = try_in_image_jail(i, codec);
		n += ok;
		++*tried;
		if (ok)
			fprintf(stderr, "%s succeeds in the jail of %s\n", attempts[i].name,
				codec ? "framed" : "imaged");
	}
	return n;
}

static int report(unsigned jailed, unsigned freely, unsigned faults, bool rows)
{
	unsigned percent = freely * 100 / n_attempts, images, tried = 0;
	unsigned failed = (jailed > 0) + (percent < PERCENT_OFF) + (faults > 0);

	images = run_all_images(FRAME_NONE, &tried);
	images += run_all_images(FRAME_VP8, &tried);
	failed += images > 0;

	if (rows)
		printf("{\"name\": \"decoder_escapes\", \"value\": %u, \"unit\": \"\", \"n\": %u}\n"
		       "{\"name\": \"decoder_escapes_off\", \"value\": %u, \"unit\": \"%%\", "
		       "\"n\": "
		       "%u}\n"
		       "{\"name\": \"jail_escapes\", \"value\": %u, \"unit\": \"\", \"n\": %u}\n",
		       jailed, n_attempts, percent, n_attempts, images, tried);
	else
		printf("%u attempts: %u succeed in the jail, %u without it; of %u, %u in those of "
		       "imaged and framed\n"
		       "%u passed, %u failed, 0 skipped\n",
		       n_attempts, jailed, freely, tried, images, 4 - failed, failed);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	bool rows = argc > 1 && strcmp(argv[1], "--rows") == 0;
	char *none[] = {NULL};
	unsigned jailed, freely, faults;
	int status;

	if (environ && *environ) {
		execve("/proc/self/exe", argv, none);
		return EXIT_FAILURE;
	}
	/* An attempt may trace or signal this process, as one of the same user. */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	image_program.prepare();
	if (!set_stage()) {
		perror("escape");
		return EXIT_FAILURE;
	}
	freely = run_all(false);
	jailed = run_all(true);
	faults = fence_faults(&stage.around);
	faults += zygote_faults(stage.rings, RINGS, open(stage.dir, O_PATH | O_DIRECTORY));
	status = report(jailed, freely, faults, rows);
	clear_stage();
	return status;
}
