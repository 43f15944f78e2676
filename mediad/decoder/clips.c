#include "mediad/decoder/clips.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/jail/jail.h"
#include "ipc/log.h"
#include "mediad/decoder/child.h"
#include "mediad/music/loudness.h"
#include "mediad/music/track_ring.h"

enum { POLL_MS = 10, POLLS_MAX = 1000, BLOCK = 1024 };

#define TARGET_LUFS  (-18.0)
#define BOOST_MAX_DB 9.0
#define PEAK_MAX_DB  (-1.0)

struct clip {
	void *memory; /* of the ring */
	struct track_ring *ring;
	size_t frames;
	int16_t pcm[CLIP_FRAMES_MAX * TRACK_RING_CHANNELS];
};

/* ---- names ---- */

static size_t name_length(const char *file)
{
	const char *dot = strrchr(file, '.');

	return dot && dot > file ? (size_t)(dot - file) : strlen(file);
}

static int is_candidate(const struct dirent *e)
{
	size_t n = name_length(e->d_name);

	if (e->d_name[0] == '.' || n > CLIP_NAME_MAX)
		return 0;
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)e->d_name[i] < ' ')
			return 0;
	return 1;
}

/* Returns a descriptor, or -1. */
static int open_file(int dir, const char *file)
{
	int fd = openat(dir, file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > CLIP_BYTES_MAX)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* ---- sound ---- */

/* Returns false when the sound is too long or the decoder breaks the rules of the ring. */
static bool take_frames(struct clip *c)
{
	size_t room = CLIP_FRAMES_MAX - c->frames, got = 0;
	int16_t more[TRACK_RING_CHANNELS];

	if (track_ring_read(c->ring, c->pcm + c->frames * TRACK_RING_CHANNELS, room, &got))
		return false;
	c->frames += got;
	return c->frames < CLIP_FRAMES_MAX || (!track_ring_read(c->ring, more, 1, &got) && !got);
}

/* Reads the sound until the decoder has closed its end of the socket. */
static bool collect(struct clip *c, int status)
{
	uint8_t ignored[DECODER_MSG_MAX];
	struct pollfd p = {.fd = status, .events = POLLIN};
	ssize_t n = 1;

	for (unsigned i = 0; n && i < POLLS_MAX; i++) {
		if (poll(&p, 1, POLL_MS) > 0)
			n = recv(status, ignored, sizeof ignored, MSG_DONTWAIT);
		if (!take_frames(c))
			return false;
	}
	return n == 0 && take_frames(c);
}

static enum decoder_reason decode(struct clip *c, int source)
{
	struct child_start start = {
		.source = source, .rings = c->memory, .n_rings = 1, .kind = DECODER_FILE};
	enum decoder_reason reason;
	int fds[2];
	pid_t pid;
	bool whole;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return DECODER_REASON_NO_PROCESS;
	start.status = fds[1];
	c->frames = 0;
	track_ring_reset(c->ring);
	if (child_fork(&pid, &start)) {
		close(fds[0]);
		close(fds[1]);
		return DECODER_REASON_NO_PROCESS;
	}
	jail_give_way(pid);
	close(fds[1]);
	whole = collect(c, fds[0]);
	if (!whole)
		kill(pid, SIGKILL);
	reason = child_wait(pid);
	close(fds[0]);
	return whole ? reason : DECODER_REASON_LIMIT;
}

/* The gain that brings the sound to the target. One without a block above the gate has none. */
static double find_gain(const struct loudness *l)
{
	double lufs, db = 0, peak = loudness_peak(l);

	if (loudness_integrated(l, &lufs))
		db = TARGET_LUFS - lufs < BOOST_MAX_DB ? TARGET_LUFS - lufs : BOOST_MAX_DB;
	if (isfinite(peak) && db > PEAK_MAX_DB - peak)
		db = PEAK_MAX_DB - peak;
	return pow(10, db / 20);
}

static int print_sound(const struct clip *c, const char *file, FILE *out)
{
	static const char digits[] = "0123456789abcdef";
	struct loudness *l = NULL;
	double gain;
	int err = loudness_alloc(&l);

	if (err)
		return err;
	loudness_add(l, c->pcm, c->frames);
	gain = find_gain(l);
	loudness_free(l);
	fprintf(out, "%.*s\t", (int)name_length(file), file);
	for (size_t i = 0; i < c->frames; i++) {
		double mono = (c->pcm[2 * i] + c->pcm[2 * i + 1]) / 2.0 * gain;
		long v = lrint(mono > INT16_MAX ? INT16_MAX : mono < INT16_MIN ? INT16_MIN : mono);
		const uint8_t bytes[] = {(uint8_t)(v & 0xff), (uint8_t)(v >> 8 & 0xff)};

		for (unsigned k = 0; k < 2; k++) {
			putc(digits[bytes[k] >> 4], out);
			putc(digits[bytes[k] & 15], out);
		}
	}
	putc('\n', out);
	return fflush(out) ? errno : 0;
}

static int print_file(struct clip *c, int dir, const char *file, FILE *out)
{
	enum decoder_reason reason = DECODER_REASON_NOT_READABLE;
	int fd = open_file(dir, file);

	if (fd >= 0) {
		reason = decode(c, fd);
		close(fd);
	}
	if (reason == DECODER_REASON_END && c->frames)
		return print_sound(c, file, out);
	log_warn("sound_file", "file=\"%s\" reason=%s text=\"%s\"", file,
		 decoder_reason_name(reason),
		 reason == DECODER_REASON_LIMIT ? "it is longer than 5.2 s, or took too long"
						: decoder_reason_text(reason));
	return 0;
}

static int clip_alloc(struct clip **out)
{
	struct clip *c = calloc(1, sizeof *c);
	int err = ENOMEM;

	if (!c)
		return err;
	c->memory = mmap(NULL, TRACK_RING_MEMORY, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	err = c->memory == MAP_FAILED ? errno : track_ring_alloc(&c->ring, c->memory);
	if (err)
		free(c);
	else
		*out = c;
	return err;
}

static void clip_free(struct clip *c)
{
	track_ring_free(c->ring);
	munmap(c->memory, TRACK_RING_MEMORY);
	free(c);
}

int clips_print(const char *path, FILE *out)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), n = -1, err = 0;
	struct dirent **entries = NULL;
	struct clip *c = NULL;

	if (dir >= 0)
		n = scandirat(dir, ".", &entries, is_candidate, alphasort);
	if (n < 0)
		err = errno;
	else
		err = clip_alloc(&c);
	if (n > CLIPS_MAX)
		log_warn("sound_folder", "path=\"%s\" files=%d used=%d", path, n, CLIPS_MAX);
	for (int i = 0; i < n && i < CLIPS_MAX && !err; i++)
		err = print_file(c, dir, entries[i]->d_name, out);
	for (int i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
	if (c)
		clip_free(c);
	if (dir >= 0)
		close(dir);
	return err;
}
