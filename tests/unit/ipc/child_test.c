#include "ipc/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include "ipc/spawn.h"
#include "proto/base/time.h"
#include "tests/unit/ipc/loop.h"

enum { KEPT = 64 };

static struct watch {
	struct loop loop;
	struct child *child;
	unsigned ups, downs, lines;
	unsigned stop_lines, stop_ups, stop_downs; /* how many end the loop; 0: none do */
	int status;
	char line[KEPT]; /* the newest, cut */
	size_t line_len;
	char said[256];	    /* all of them, a comma after each */
	const char *answer; /* written at the first line */
	bool cut_at_line, stop_at_line;
} watch;

static void on_line(const char *line, size_t len, void *arg)
{
	struct watch *w = arg;
	size_t n = strlen(w->said);

	snprintf(w->line, sizeof w->line, "%s", line);
	snprintf(w->said + n, sizeof w->said - n, "%s,", w->line);
	w->line_len = len;
	if (w->answer && !w->lines)
		child_write(w->child, w->answer, strlen(w->answer));
	if (w->cut_at_line)
		child_cut(w->child);
	else if (w->stop_at_line)
		child_stop(w->child);
	if (++w->lines == w->stop_lines)
		env_stop(w->loop.env);
}

static void on_state(bool up, int status, void *arg)
{
	struct watch *w = arg;

	w->status = status;
	if (up ? ++w->ups == w->stop_ups : ++w->downs == w->stop_downs)
		env_stop(w->loop.env);
}

static int start_child(struct child_conf conf, const char *script)
{
	const char *argv[] = {"/bin/sh", "-c", script, NULL};

	signal(SIGPIPE, SIG_IGN); /* as our programs do */
	conf.argv = conf.argv ? conf.argv : argv;
	conf.lineh = on_line;
	conf.stateh = on_state;
	conf.arg = &watch;
	return child_alloc(&watch.child, watch.loop.env, &conf);
}

static int begin(struct child_conf conf, const char *script)
{
	int err;

	memset(&watch, 0, sizeof watch);
	err = loop_open(&watch.loop, NULL);
	return err ? err : start_child(conf, script);
}

static bool run_for_lines(unsigned n)
{
	watch.stop_lines = n;
	return loop_run(&watch.loop);
}

static bool run_for_downs(unsigned n)
{
	watch.stop_downs = n;
	return loop_run(&watch.loop);
}

static void finish(void)
{
	watch.child = child_free(watch.child);
	loop_close(&watch.loop);
}

TEST(child_is_started_again_and_ended)
{
	pid_t first, second;

	CHECK_INT(begin((struct child_conf){0}, "echo \"up $$\"; exec sleep 100"), 0);
	CHECK(run_for_lines(1));
	first = child_pid(watch.child);
	CHECK(first > 0);
	CHECK(strncmp(watch.line, "up ", 3) == 0 && atoi(watch.line + 3) == first);
	CHECK_INT(kill(first, SIGKILL), 0);
	CHECK(run_for_lines(2));
	second = child_pid(watch.child);
	CHECK(second > 0 && second != first);
	CHECK_INT(watch.ups, 2);
	CHECK_INT(watch.downs, 1);
	finish();
	CHECK(kill(second, 0) != 0); /* gone, and no zombie of ours */
}

TEST(child_that_fails_is_tried_again)
{
	CHECK_INT(begin((struct child_conf){0}, "exit 3"), 0);
	CHECK(run_for_downs(2));
	CHECK_INT(watch.status, 3);
	CHECK_INT(watch.ups, 2);
	finish();
}

TEST(child_runs_once_with_a_status)
{
	CHECK_INT(begin((struct child_conf){.once = true}, "echo a; echo b; printf c; exit 7"), 0);
	CHECK(run_for_downs(1));
	CHECK_INT(watch.status, 7);
	CHECK_STR(watch.said, "a,b,c,"); /* all of it before its end, also without a newline */
	CHECK_INT(child_pid(watch.child), 0);
	CHECK_INT(child_write(watch.child, "x", 1), ENOTCONN);
	finish();
	CHECK_INT(begin((struct child_conf){.once = true}, "kill -KILL $$"), 0);
	CHECK(run_for_downs(1));
	CHECK_INT(watch.status, 128 + SIGKILL);
	finish();
}

TEST(child_that_is_not_there)
{
	const char *argv[] = {"/no/such/program", NULL};

	CHECK_INT(begin((struct child_conf){.once = true, .argv = argv}, NULL), 0);
	CHECK(run_for_downs(1));
	CHECK_INT(watch.status, SPAWN_CANNOT_RUN);
	finish();
	CHECK_INT(begin((struct child_conf){.once = true, .dir = "/no/such/folder"}, "exit 0"), 0);
	CHECK(run_for_downs(1));
	CHECK_INT(watch.status, SPAWN_CANNOT_RUN);
	finish();
}

TEST(child_is_written_to)
{
	CHECK_INT(begin((struct child_conf){.once = true, .input = true}, "cat; echo over"), 0);
	watch.stop_ups = 1;
	CHECK(loop_run(&watch.loop));
	CHECK_INT(child_write(watch.child, "one\ntw", 6), 0);
	CHECK_INT(child_write_line(watch.child, "o", 1), 0);
	CHECK(run_for_lines(2));
	CHECK_STR(watch.said, "one,two,");
	child_end_input(watch.child);
	CHECK_INT(child_write(watch.child, "x", 1), EPIPE);
	CHECK(run_for_downs(1));
	CHECK_STR(watch.said, "one,two,over,");
	finish();
}

/* More than a pipe holds waits for the child to read; more than the cap is refused, and nothing of
 * it is queued. */
/* The child reads nothing before the gate opens, however slow this process is. */
TEST(child_input_is_bounded)
{
	static char megabyte[CHILD_INPUT_MAX];
	char dir[32], path[64], script[128];
	int gate;

	memset(megabyte, 'x', sizeof megabyte);
	CHECK(folder_make(dir));
	snprintf(path, sizeof path, "%s/gate", dir);
	snprintf(script, sizeof script, "echo ready; read go <%s; wc -c", path);
	CHECK_INT(mkfifo(path, 0600), 0);
	gate = open(path, O_RDWR | O_CLOEXEC);
	CHECK(gate >= 0);
	CHECK_INT(begin((struct child_conf){.once = true, .input = true, .input_max = 300000},
			script),
		  0);
	CHECK(run_for_lines(1));
	CHECK_INT(child_write(watch.child, megabyte, 300001), ENOBUFS);
	CHECK_INT(child_write_line(watch.child, megabyte, 300000), ENOBUFS); /* no half line */
	CHECK_INT(child_write(watch.child, megabyte, 300000), 0);
	CHECK_INT(child_write(watch.child, megabyte, 300000), ENOBUFS);
	child_end_input(watch.child);
	CHECK_INT(write(gate, "go\n", 3), 3);
	CHECK(run_for_downs(1));
	CHECK_STR(watch.line, "300000");
	finish();
	close(gate);
	folder_remove(dir);
}

TEST(child_that_closed_its_input)
{
	CHECK_INT(
		begin((struct child_conf){.input = true}, "exec <&-; echo closed; exec sleep 100"),
		0);
	CHECK(run_for_lines(1));
	CHECK_INT(child_write(watch.child, "x", 1), 0); /* the kernel says so at this write */
	CHECK_INT(child_write(watch.child, "x", 1), EPIPE);
	finish();
}

TEST(child_line_too_long_is_dropped)
{
	CHECK_INT(begin((struct child_conf){.once = true, .line_max = 10},
			"echo 0123456789; echo 0123456789a; echo b; printf 0123456789c"),
		  0);
	CHECK(run_for_downs(1));
	CHECK_STR(watch.said, "0123456789,b,");
	CHECK_INT(child_dropped(watch.child), 2);
	finish();
}

TEST(child_long_lines_come_whole)
{
	CHECK_INT(begin((struct child_conf){.once = true},
			"head -c 1048576 /dev/zero | tr '\\0' x; echo; echo b"),
		  0);
	CHECK(run_for_downs(1));
	CHECK_INT(watch.lines, 2);
	CHECK_STR(watch.line, "b");
	CHECK_INT(child_dropped(watch.child), 0);
	finish();
}

TEST(child_environment_and_folder)
{
	static const char *const hide[] = {"PARLEY_TEST_SECRET", NULL};
	static const char *const exact[] = {"ONLY=this", "PATH=/usr/bin:/bin", NULL};

	setenv("PARLEY_TEST_SECRET", "hunter2", 1);
	setenv("PARLEY_TEST_SECRET_NOT", "seen", 1);
	CHECK_INT(begin((struct child_conf){.once = true, .hide = hide, .dir = "/usr"},
			"echo \"[$PARLEY_TEST_SECRET][$PARLEY_TEST_SECRET_NOT]\"; pwd"),
		  0);
	CHECK(run_for_downs(1));
	CHECK_STR(watch.said, "[][seen],/usr,");
	finish();
	CHECK_INT(begin((struct child_conf){.once = true, .environment = exact},
			"echo \"[$PARLEY_TEST_SECRET_NOT][$ONLY]\""),
		  0);
	CHECK(run_for_downs(1));
	CHECK_STR(watch.said, "[][this],");
	finish();
	unsetenv("PARLEY_TEST_SECRET");
	unsetenv("PARLEY_TEST_SECRET_NOT");
}

TEST(child_inherits_no_descriptor)
{
	int pair[2];

	CHECK_INT(pipe(pair), 0); /* as a library makes them: not close-on-exec */
	CHECK_INT(begin((struct child_conf){.once = true}, "echo $(ls /proc/self/fd | wc -l)"), 0);
	CHECK(run_for_downs(1));
	CHECK_STR(watch.line, "4"); /* stdin, stdout, stderr, and the folder that ls reads */
	finish();
	close(pair[0]);
	close(pair[1]);
}

/* True once the process is gone: its parent, the shell, has ended, so somebody else reaps it. */
static bool is_gone(pid_t pid)
{
	char path[64], state = 'Z';
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (f && fscanf(f, "%*d %*s %c", &state) != 1)
		state = 'Z';
	if (f)
		fclose(f);
	return state == 'Z' || state == 'X';
}

/* A grandchild that ignores SIGTERM delays nothing, and does not survive. */
TEST(child_group_ends_with_it)
{
	pid_t grandchild;

	CHECK_INT(begin((struct child_conf){0}, "(trap '' TERM; echo on; while :; do sleep 100; "
						"done) & echo $!; exec sleep 100"),
		  0);
	CHECK(run_for_lines(2));
	grandchild = atoi(watch.said) ? atoi(watch.said) : atoi(strchr(watch.said, ',') + 1);
	CHECK(grandchild > 1 && !is_gone(grandchild));
	finish();
	while (!is_gone(grandchild))
		; /* SIGKILL was sent; the kernel carries it out */
}

/* Also when the child itself ends. */
TEST(child_leaves_nobody_behind)
{
	pid_t grandchild;

	CHECK_INT(begin((struct child_conf){.once = true}, "sleep 100 & echo $!"), 0);
	CHECK(run_for_downs(1));
	grandchild = atoi(watch.line);
	CHECK(grandchild > 1);
	while (!is_gone(grandchild))
		;
	finish();
}

TEST(child_stops_in_its_own_time)
{
	CHECK_INT(begin((struct child_conf){0},
			"trap 'echo bye; exit 5' TERM; echo on; while :; do sleep 0.01; done"),
		  0);
	watch.stop_at_line = true;
	CHECK(run_for_downs(1));
	CHECK_STR(watch.said, "on,bye,");
	CHECK_INT(watch.status, 5);
	CHECK_INT(watch.ups, 1);
	finish();
}

TEST(child_that_is_cut_off_says_no_last_words)
{
	CHECK_INT(begin((struct child_conf){0},
			"trap 'echo bye; exit 5' TERM; echo on; while :; do sleep 0.01; done"),
		  0);
	watch.cut_at_line = true;
	CHECK(run_for_downs(1));
	CHECK_STR(watch.said, "on,");
	CHECK_INT(watch.status, 5);
	finish();
}

TEST(child_stopped_before_its_start)
{
	CHECK_INT(begin((struct child_conf){0}, "echo on"), 0);
	child_stop(watch.child);
	loop_run_for(&watch.loop, 1 * NS_PER_MS);
	CHECK_INT(watch.ups, 0);
	finish();
}

TEST(child_takes_other_arguments)
{
	const char *argv[] = {"/bin/sh", "-c", "echo second; exec sleep 100", NULL};

	CHECK_INT(begin((struct child_conf){0}, "echo first"), 0);
	CHECK(run_for_lines(1));
	CHECK_INT(child_set_argv(watch.child, argv), 0);
	CHECK(run_for_lines(2));
	CHECK_STR(watch.said, "first,second,");
	finish();
}

/* ---- its stderr ---- */

/* Runs the script with our stderr in a file; what the log holds of it. */
static size_t log_of(const char *script, char *text, size_t size)
{
	FILE *f = tmpfile();
	int saved = dup(STDERR_FILENO);
	size_t n;

	if (!f || saved < 0 || begin((struct child_conf){.once = true, .log_errors = true}, script))
		return 0;
	fflush(stderr);
	dup2(fileno(f), STDERR_FILENO);
	run_for_downs(1);
	dup2(saved, STDERR_FILENO);
	close(saved);
	finish();
	rewind(f);
	n = fread(text, 1, size - 1, f);
	text[n] = '\0';
	fclose(f);
	return n;
}

static unsigned count_of(const char *text, const char *what)
{
	unsigned n = 0;

	for (const char *p = text; (p = strstr(p, what)); p++)
		n++;
	return n;
}

TEST(child_errors_go_to_the_log)
{
	static char text[65536];

	CHECK(log_of("echo 'it \"is\" broken' >&2; printf 'no newline' >&2", text, sizeof text));
	CHECK_INT(count_of(text, "child_stderr"), 2);
	CHECK(strstr(text, "broken") && strstr(text, "text=\"no newline\""));
}

TEST(child_errors_are_rate_limited)
{
	static char text[65536];

	CHECK(log_of("i=0; while [ $i -lt 80 ]; do i=$((i+1)); echo \"line $i\" >&2; done", text,
		     sizeof text));
	CHECK_INT(count_of(text, "text="), 50);
	CHECK(strstr(text, "kept_back=30"));
}

/* ---- replay ---- */

static int record(const char *path)
{
	struct journal *j = NULL;
	int err;

	memset(&watch, 0, sizeof watch);
	watch.answer = "hello\n";
	err = journal_create(&j, path, 1, "{}");
	if (!err)
		err = loop_open(&watch.loop, j);
	if (!err)
		err = start_child((struct child_conf){.once = true, .input = true},
				  "echo ready; read x; echo \"$x to you\"; exit 9");
	if (!err && !run_for_downs(1))
		err = ETIMEDOUT;
	env_finish(watch.loop.env);
	finish();
	journal_free(j);
	return err;
}

/* No process is started, and all comes to the same end. */
TEST(child_replays)
{
	const struct env_conf conf = {.loop = true, .replaying = true};
	char path[] = "/tmp/parley-child-XXXXXX", recorded[1][65], hex[65];
	struct journal_reader *r = NULL;
	int fd = mkstemp(path);
	uint64_t at;

	CHECK(fd >= 0);
	close(fd);
	CHECK_INT(record(path), 0);
	CHECK_STR(watch.said, "ready,hello to you,");
	CHECK_INT(watch.status, 9);

	memset(&watch, 0, sizeof watch);
	watch.answer = "hello\n";
	CHECK_INT(journal_open(&r, path), 0);
	CHECK_INT(env_alloc(&watch.loop.env, &conf), 0);
	CHECK_INT(journal_attach(r, watch.loop.env, 0), 0);
	CHECK_INT(tmr_alloc(&watch.loop.deadline, watch.loop.env, loop_late, &watch.loop),
		  0); /* as loop_open does */
	CHECK_INT(
		start_child((struct child_conf){.once = true, .input = true}, "no program at all"),
		0);
	CHECK_INT(journal_replay(r, (struct env *[]){watch.loop.env}, 1, &at, recorded), 0);
	CHECK_STR(watch.said, "ready,hello to you,");
	CHECK_INT(watch.status, 9);
	CHECK_INT(child_pid(watch.child), 0);
	env_digest(watch.loop.env, hex);
	CHECK_STR(hex, recorded[0]);
	finish();
	journal_close(r);
	unlink(path);
}

TEST_OOM(child_allocates)
{
	static const char *const exact[] = {"A=b", NULL};
	int err;

	memset(&watch, 0, sizeof watch);
	err = loop_open(&watch.loop, NULL);
	CHECK_OOM(err, finish());
	err = start_child((struct child_conf){.environment = exact, .dir = "/"}, "exec sleep 100");
	CHECK_OOM(err, finish());
	finish();
	CHECK(!child_free(NULL));
}

TEST(spawn_finds_programs_or_not)
{
	char buf[64];

	CHECK_INT(spawn_find("sh", buf, sizeof buf), 0);
	CHECK(buf[0] == '/' && strcmp(buf + strlen(buf) - 3, "/sh") == 0);
	CHECK_INT(spawn_find("/bin/sh", buf, sizeof buf), 0);
	CHECK_STR(buf, "/bin/sh");
	CHECK_INT(spawn_find("no-such-program", buf, sizeof buf), ENOENT);
	CHECK_INT(spawn_find("/bin/no-such-program", buf, sizeof buf), ENOENT);
	CHECK_INT(spawn_find("/etc/passwd", buf, sizeof buf), ENOENT);
	CHECK_INT(spawn_find("sh", buf, 3), ENOENT);
}
