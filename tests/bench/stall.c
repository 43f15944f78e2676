/* A disk that stalls: every write, sync, rename and opening of a file of this process takes 200 ms
 * longer. Frames of sound leave the loop every 20 ms to a socket, while turns and utterances are
 * told, guilds and the session are saved and log lines are written; disk_stall_say_ms is how much
 * later they come there than without the stall, p99.9. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "control/events/events.h"
#include "control/settings/settings.h"
#include "control/store/store.h"
#include "control/writer.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "tests/bench/bench.h"

enum { FRAME_MS = 20, FRAMES = 750, STALL_MS = 200, FRAME = 1920, GUILD_EVERY = 5 };
#define FRAME_NS (FRAME_MS * UINT64_C(1000000))

static atomic_bool stalls;
static atomic_uint stalled;

/* ---- the disk ---- */

static void stall(void)
{
	const struct timespec ts = {.tv_nsec = STALL_MS * 1000000L};

	if (!stalls)
		return;
	stalled++;
	nanosleep(&ts, NULL);
}

static void stall_file(int fd)
{
	struct stat st;

	if (stalls && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		stall();
}

/* These stand in for the C library's, for SQLite too. */
#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *p, size_t n)
{
	stall_file(fd);
	return NEXT(write)(fd, p, n);
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
	stall_file(fd);
	return NEXT(pwrite)(fd, p, n, at);
}

ssize_t pwrite64(int fd, const void *p, size_t n, off_t at)
{
	stall_file(fd);
	return NEXT(pwrite64)(fd, p, n, at);
}

int fsync(int fd)
{
	stall();
	return NEXT(fsync)(fd);
}

int fdatasync(int fd)
{
	stall();
	return NEXT(fdatasync)(fd);
}

int rename(const char *from, const char *to)
{
	stall();
	return NEXT(rename)(from, to);
}

/* ---- the frames ---- */

static struct scene {
	struct env *env;
	struct bus *bus;
	struct store *store;
	struct tmr *tmr;
	int out, in;
	unsigned sent;
	uint64_t started;
	double late_ms[FRAMES];
} s;

static uint64_t due_at(unsigned i)
{
	return s.started + (i + 1) * FRAME_NS;
}

static void *receive(void *arg)
{
	uint8_t frame[FRAME];

	(void)arg;
	for (unsigned i = 0; i < FRAMES; i++) {
		if (recv(s.in, frame, sizeof frame, MSG_WAITALL) != sizeof frame)
			bench_die("no frame");
		s.late_ms[i] = ((double)bench_clock() - (double)due_at(i)) / 1e6;
	}
	return NULL;
}

static void tell_something(void)
{
	struct bus_event u = {.type = EVENT_UTTERANCE, .at_ms = 1, .guild = 1, .user = 501};
	struct bus_event t = {.type = EVENT_TURN, .at_ms = 1, .guild = 1, .user = 501};

	u.utterance = (struct event_utterance){.text = "what time is it", .name = "alice"};
	t.turn = (struct event_turn){.reason = "answered",
				     .stage = "ended",
				     .heard = "what time is it",
				     .said = "ten past four",
				     .segments = "[]",
				     .why = "[]"};
	bus_publish(s.bus, &u);
	bus_publish(s.bus, &t);
	log_info("frame", "n=%u", s.sent);
	if (s.sent % GUILD_EVERY == 0) {
		store_save_guild(s.store, 1 + s.sent, "{\"name\":\"somewhere\"}");
		store_save_session(s.store, "{}", "{}");
	}
}

static void on_frame(void *arg)
{
	static uint8_t frame[FRAME];

	(void)arg;
	if (send(s.out, frame, sizeof frame, MSG_DONTWAIT) != sizeof frame)
		bench_die("a frame was not taken");
	tell_something();
	if (++s.sent == FRAMES)
		env_stop(s.env);
	else
		tmr_start_at(s.tmr, due_at(s.sent));
}

static void run_frames(double *p999, double *longest)
{
	int fd[2], size = 1 << 20;
	pthread_t thread;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
		bench_die("no sockets");
	s.out = fd[0];
	s.in = fd[1];
	setsockopt(s.out, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
	s.sent = 0;
	s.started = bench_clock();
	BENCH_OK(pthread_create(&thread, NULL, receive, NULL));
	tmr_start_at(s.tmr, due_at(0));
	env_run(s.env);
	pthread_join(thread, NULL);
	close(s.out);
	close(s.in);
	*p999 = bench_quantile(s.late_ms, FRAMES, 0.999);
	*longest = s.late_ms[FRAMES - 1];
}

int main(void)
{
	const struct env_conf ec = {.loop = true};
	char dir[] = "/tmp/parley-bench-XXXXXX", file[64], command[64];
	double with, without, longest, longest_without;
	struct settings *settings = NULL;
	struct writer *writer = NULL;
	int log;

	if (!mkdtemp(dir))
		bench_die("no folder");
	snprintf(file, sizeof file, "%s/log", dir);
	log = open(file, O_WRONLY | O_CREAT | O_APPEND, 0600);
	dup2(log, STDERR_FILENO);
	log_init("bench", LOG_INFO_);
	BENCH_OK(log_start_writer(NULL));
	BENCH_OK(settings_alloc(&settings));
	snprintf(file, sizeof file, "%s/turns", dir);
	BENCH_OK(settings_set(settings, "turns_file", file));
	BENCH_OK(env_alloc(&s.env, &ec));
	BENCH_OK(bus_alloc(&s.bus));
	BENCH_OK(writer_alloc(&writer, s.env, s.bus, settings));
	BENCH_OK(store_alloc(&s.store, s.env, s.bus, settings, dir));
	BENCH_OK(tmr_alloc(&s.tmr, s.env, on_frame, NULL));
	run_frames(&without, &longest_without);
	stalls = true;
	run_frames(&with, &longest);
	stalls = false;
	bench_row_more("disk_stall_say_ms", with > without ? with - without : 0, "ms",
		       "\"with\": %.2f, \"without\": %.2f, \"longest\": %.2f, "
		       "\"longest_without\": %.2f, \"stalls\": %u",
		       with, without, longest, longest_without, stalled);
	tmr_free(s.tmr);
	writer_free(writer);
	store_free(s.store);
	bus_free(s.bus);
	env_free(s.env);
	settings_free(settings);
	log_stop_writer();
	snprintf(command, sizeof command, "rm -rf %s", dir);
	return system(command) ? 1 : 0;
}
