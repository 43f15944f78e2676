/* What mediad tells of its machine: real time that is lost, and its decoders. */
#include "tests/unit/mediad/mediad_scene.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ipc/tmr.h"

/* True if this thread is an audio thread that waits for events. */
static bool is_waiting_audio_thread(const char *tid)
{
	char path[64], line[64] = "";
	FILE *f;

	snprintf(path, sizeof path, "/proc/self/task/%.16s/stat", tid);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(line, sizeof line, f))
		line[0] = '\0';
	fclose(f);
	return strstr(line, "(audio) S");
}

/* Returns 0 when there is none. */
static pid_t find_waiting_audio_thread(void)
{
	DIR *d = opendir("/proc/self/task");
	const struct dirent *e;
	pid_t tid = 0;

	while (d && !tid && (e = readdir(d)))
		if (is_waiting_audio_thread(e->d_name))
			tid = atoi(e->d_name);
	if (d)
		closedir(d);
	return tid;
}

/* The kernel's limit of computing without waiting is exceeded. */
TEST(mediad_tells_each_control_that_real_time_is_lost)
{
	struct sigaction act;
	struct scene s;
	const struct media_msg *m;
	pid_t tid;

	CHECK_INT(mediad_scene_with_call(&s), 0);
	while (!(tid = find_waiting_audio_thread()))
		sched_yield();
	sigaction(SIGXCPU, NULL, &act);
	if (act.sa_handler == SIG_DFL) {
		mediad_scene_end(&s);
		test_skip("the limit of real time is too low here for real-time priority");
		return;
	}
	CHECK_INT(syscall(SYS_tgkill, getpid(), tid, SIGXCPU), 0);
	m = mediad_scene_await(&s.a, MEDIA_FAULT);
	CHECK(m && m->fault.code == MEDIA_FAULT_NO_REAL_TIME);
	CHECK_INT(mediad_scene_hello(&s.b, MEDIA_MAJOR, 99, 2, 8), 0);
	CHECK(mediad_scene_await(&s.b, MEDIA_SYNCED));
	CHECK_INT(mediad_scene_count(&s.b, MEDIA_FAULT), 1);
	CHECK_INT(s.b.seen[1].type, MEDIA_FAULT);
	CHECK_INT(s.b.seen[1].fault.code, MEDIA_FAULT_NO_REAL_TIME);
	mediad_scene_end(&s);
}

/* It cannot be started again behind the sandbox (tests/scenarios/music_killed.sh has the rest). */
TEST(mediad_tells_that_decoderd_ended)
{
	struct scene s;
	int err;

	mediad_scene_decoderd = "/bin/true";
	err = mediad_scene_with_call(&s);
	mediad_scene_decoderd = NULL;
	CHECK_INT(err, 0);
	CHECK(mediad_scene_count(&s.a, MEDIA_FAULT) || mediad_scene_await(&s.a, MEDIA_FAULT));
	CHECK(!s.stopped); /* it has a call */
	CHECK_INT(mediad_scene_hello(&s.b, MEDIA_MAJOR, 99, 2, 8), 0);
	CHECK(mediad_scene_await(&s.b, MEDIA_SYNCED));
	CHECK_INT(s.b.seen[1].fault.code, MEDIA_FAULT_NO_DECODERS);
	mediad_scene_end(&s);
}

static const struct media_msg *find_decoders(const struct control *c)
{
	for (unsigned i = 0; i < c->n; i++)
		if (c->seen[i].type == MEDIA_DECODERS)
			return &c->seen[i];
	return NULL;
}

/* control refuses what it cannot play before anybody reads that it plays. */
TEST(mediad_tells_what_music_it_plays)
{
	static const char *const two[] = {"/tmp", "/nonexistent"};
	const struct media_msg *m;
	struct scene s;
	struct stat st;
	int err;

	CHECK_INT(mediad_scene_with_call(&s), 0);
	m = find_decoders(&s.a);
	CHECK(m && !m->decoders.running && m->decoders.folders.n == 0);
	CHECK(m && m->decoders.tells_addresses && m->decoders.addresses.n == 0);
	mediad_scene_end(&s);
	mediad_scene_decoderd = "/bin/cat"; /* waits for its input */
	mediad_scene_roots = two;
	mediad_scene_n_roots = 2;
	mediad_scene_addresses = "10.0.0.5:8000, [fd00::1]:80";
	err = mediad_scene_with_call(&s);
	mediad_scene_decoderd = NULL;
	mediad_scene_roots = NULL;
	mediad_scene_n_roots = 0;
	mediad_scene_addresses = NULL;
	CHECK_INT(err, 0);
	m = find_decoders(&s.a);
	CHECK(m && m->decoders.folders.n == 2 * MEDIA_FOLDER_BYTES);
	CHECK_INT(stat("/tmp", &st), 0);
	CHECK(s.a.folders[0].device == st.st_dev && s.a.folders[0].number == st.st_ino);
	CHECK_INT(s.a.folders[1].number, 0);
	CHECK(m && m->decoders.tells_addresses);
	CHECK_STR(s.a.addresses, "10.0.0.5:8000, [fd00::1]:80");
	mediad_scene_end(&s);
	mediad_scene_decoderd = "/nonexistent/decoderd";
	err = mediad_scene_with_call(&s);
	mediad_scene_decoderd = NULL;
	CHECK_INT(err, 0);
	m = find_decoders(&s.a);
	CHECK(m && !m->decoders.running);
	mediad_scene_end(&s);
}

/* Threads of this process. */
static unsigned count_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	unsigned n = 0;

	while (tasks && readdir(tasks))
		n++;
	if (tasks)
		closedir(tasks);
	return n;
}

static unsigned threads_at_fork;

static void note_threads(void)
{
	threads_at_fork = count_threads();
}

/* After a fork the next write to each page is a fault, so audio threads must not be there yet. */
TEST(mediad_forks_before_it_makes_its_threads)
{
	unsigned before = count_threads();
	struct scene s;
	int err;

	CHECK(before > 0);
	CHECK_INT(pthread_atfork(note_threads, NULL, NULL), 0);
	threads_at_fork = 0;
	mediad_scene_decoderd = "/bin/true";
	err = mediad_scene_start(&s);
	mediad_scene_decoderd = NULL;
	CHECK_INT(err, 0);
	CHECK_INT(threads_at_fork, before);
	CHECK(count_threads() > before);
	mediad_scene_end(&s);
}
