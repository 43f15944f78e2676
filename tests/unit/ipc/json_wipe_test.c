#include "ipc/json_wipe.h"

#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/test.h"
#include "tests/unit/ipc/own_memory.h"

TEST(json_wipe_leaves_nothing_of_a_block)
{
	char *p = malloc(40);
	bool clean = p != NULL;

	CHECK(p);
	strcpy(p, "a secret key in a message");
	json_wipe_block(p);
	for (unsigned i = 0; p && i < 40; i++)
		clean = clean && p[i] == 0;
	CHECK(clean);
	free(p);
	json_wipe_block(NULL);
}

/* A message with the mark in a string; it is not searched. */
static const char *compose(struct own_memory *m, char *text, size_t size)
{
	const uint8_t *p = own_memory_message(m, 600);

	snprintf(text, size, "{\"token\":\"%.*s\"}", 600, (const char *)p);
	return text;
}

TEST(json_wipe_leaves_nothing_of_a_parsed_message)
{
	struct own_memory *m = NULL;
	json_malloc_t before_malloc;
	json_free_t before_free;
	char text[700];
	json_t *o;

	CHECK(own_memory_begin(&m));
	json_get_alloc_funcs(&before_malloc, &before_free);
	json_wipe_on_free();
	o = json_loads(compose(m, text, sizeof text), 0, NULL);
	explicit_bzero(text, sizeof text);
	CHECK(o && own_memory_count(m) == 1);
	json_decref(o);
	CHECK_INT(own_memory_count(m), 0);
	json_set_alloc_funcs(before_malloc, before_free);
	own_memory_end(m);
}

/* A text of this length at the moment at which its buffer does not grow made jansson run past its
 * blocks. */
static void read_without_memory(int out)
{
	const struct rlimit no_core = {0};

	setrlimit(RLIMIT_CORE, &no_core);
	signal(SIGABRT, SIG_DFL);
	dup2(out, STDERR_FILENO);
	json_wipe_on_free();
	test_fail_allocation(3);
	_exit(json_loads("[\"fourteen bytes\"]", 0, NULL) ? 1 : 0);
}

TEST(json_without_memory_ends_the_process)
{
	char told[256] = "";
	int status = 0, fds[2];
	ssize_t n;
	pid_t pid;

	CHECK_INT(pipe(fds), 0);
	pid = fork();
	if (pid == 0)
		read_without_memory(fds[1]);
	close(fds[1]);
	n = read(fds[0], told, sizeof told - 1);
	close(fds[0]);
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK(n > 0 && strstr(told, " json_out_of_memory bytes=32"));
	CHECK(WIFSIGNALED(status));
	CHECK_INT(WTERMSIG(status), SIGABRT);
}
