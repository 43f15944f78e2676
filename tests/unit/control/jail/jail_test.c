/* The sandbox of programs: the command line of bubblewrap, and what a program sees inside. */
#include "control/jail/jail.h"

#include <sys/resource.h>
#include <errno.h>
#include <string.h>

#include "control/jail/program.h"
#include "control/jail/sandbox.h"
#include "tests/test.h"
#include "tests/unit/ipc/loop.h"

TEST(jail_shows_a_program_what_it_was_granted_and_no_more)
{
	static const char *const command[] = {"/usr/bin/node", "server.js", NULL};
	static const char *const read[] = {"/opt/modules", NULL};
	const char *argv[JAIL_ARGS_MAX];
	struct jail jail = {.bwrap = "bwrap", .command = command, .read = read};
	bool network = false, folder = false, bound = false, none = false;
	unsigned n = 0;

	CHECK_INT(jail_command(&jail, argv), 0);
	for (; argv[n]; n++) {
		network = network || strcmp(argv[n], "--share-net") == 0;
		folder = folder || strcmp(argv[n], "--bind") == 0;
		bound = bound || (n && strcmp(argv[n], "/opt/modules") == 0 &&
				  strcmp(argv[n - 1], "--ro-bind") == 0);
		none = none || strcmp(argv[n], "--unshare-all") == 0;
	}
	CHECK(none && bound && !network && !folder);
	CHECK(n > 3 && strcmp(argv[n - 3], "--") == 0 && strcmp(argv[n - 1], "server.js") == 0);
	jail.network = true;
	jail.folder = "/srv/notes";
	CHECK_INT(jail_command(&jail, argv), 0);
	for (n = 0; argv[n]; n++) {
		network = network || strcmp(argv[n], "--share-net") == 0;
		folder = folder || strcmp(argv[n], "--bind") == 0;
	}
	CHECK(network && folder);
	jail.command = NULL;
	CHECK_INT(jail_command(&jail, argv), EINVAL);
}

static struct seen {
	struct loop loop;
	unsigned tries;
	char line[200];
	bool ended;
} seen;

static void on_tried(void *arg)
{
	(void)arg;
	seen.tries++;
	env_stop(seen.loop.env);
}

static void on_line(const char *line, size_t len, void *arg)
{
	(void)arg;
	snprintf(seen.line, sizeof seen.line, "%.*s", (int)len, line);
	env_stop(seen.loop.env);
}

static void on_state(bool up, int status, void *arg)
{
	(void)up;
	(void)status;
	(void)arg;
}

/* Runs a jailed shell until its first line; without bubblewrap none runs, and the try fails and
 * tells so. */
static void run_shell(struct program *p)
{
	struct sandbox *sandbox;
	struct child *child = NULL;

	memset(&seen, 0, sizeof seen);
	p->line_max = 1000;
	p->lineh = on_line;
	p->stateh = on_state;
	CHECK_INT(loop_open(&seen.loop, NULL), 0);
	CHECK_INT(sandbox_alloc(&sandbox, seen.loop.env, on_tried, NULL), 0);
	CHECK(!sandbox_tried(sandbox) && !sandbox_bwrap(sandbox));
	sandbox_try(sandbox);
	sandbox_try(sandbox);
	if (!seen.tries)
		CHECK(loop_run(&seen.loop));
	CHECK_INT(seen.tries, 1);
	CHECK(sandbox_tried(sandbox));
	p->bwrap = sandbox_bwrap(sandbox);
	if (p->bwrap) {
		CHECK_INT(program_start(&child, seen.loop.env, p), 0);
		CHECK(loop_run(&seen.loop));
	}
	child_free(child);
	sandbox_free(sandbox);
	loop_close(&seen.loop);
}

TEST(a_jailed_program_gets_the_variables_of_its_record_alone)
{
	struct program p = {.command = "[\"/bin/sh\",\"-c\",\"echo $NAME $KEY ${OTHER-none} "
				       "$HOME\"]",
			    .read = "",
			    .folder = "",
			    .environment = "{\"NAME\":\"Ann\"}",
			    .secrets = "{\"KEY\":\"/a/file\"}",
			    .values = "{\"KEY\":\"hush\",\"OTHER\":\"of headers\"}"};

	run_shell(&p);
	if (p.bwrap)
		CHECK_STR(seen.line, "Ann hush none /home");
}

/* Memory of a process, processes, nice, KiB of the three folders, and the rest. */
TEST(a_jailed_program_has_limits)
{
	struct program p = {
		.command = "[\"/bin/sh\",\"-c\",\"echo $(ulimit -d) $(sed -n 's/^Max processes "
			   "*\\\\([0-9]*\\\\).*/\\\\1/p' /proc/self/limits) $(nice) $(df -k /tmp "
			   "/home /dev/shm | sed -n 's/^tmpfs *\\\\([0-9]*\\\\).*/\\\\1/p') "
			   "$(touch /x /dev/x 2>&1 | grep -c Read-only)\"]",
		.read = "",
		.folder = "",
		.environment = "",
		.secrets = "",
		.values = "",
		.memory_mib = 64};

	char want[64];
	int nice_now = getpriority(PRIO_PROCESS, 0) + 10;

	snprintf(want, sizeof want, "65536 512 %d 262144 262144 262144 2",
		 nice_now < 19 ? nice_now : 19);
	run_shell(&p);
	if (p.bwrap)
		CHECK_STR(seen.line, want);
}
