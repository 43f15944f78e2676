/* The runner. The tests run in a child process. After a test that fails or crashes the rest run in
 * a new one, because such a test stops in the middle, and threads, limits or environment that it
 * leaves would change the results of later tests. In a debugger: set follow-fork-mode child. */
#include "tests/test.h"

#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_TESTS = 8000, MAX_OOM_RUNS = 5000 };

static struct test {
	const char *file, *name;
	test_fn *fn;
	bool oom;
} tests[MAX_TESTS];
static unsigned n_tests;

static struct {
	bool failed, skipped;
	long fail_at; /* number of allocations that succeed first, -1 = all */
	bool hit, none;
} run = {.fail_at = -1};

void test_register(const char *file, const char *name, test_fn *fn, bool oom)
{
	if (n_tests == MAX_TESTS)
		abort();
	tests[n_tests++] = (struct test){file, name, fn, oom};
}

void test_fail(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	run.fail_at = -1;
	run.none = false;
	run.failed = true;
	printf("%s:%d: ", file, line);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

void test_skip(const char *fmt, ...)
{
	va_list ap;

	run.skipped = true;
	printf("skip: ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

bool test_oom_hit(void)
{
	return run.hit;
}

void test_no_memory(bool none)
{
	run.none = none;
}

void test_fail_allocation(int n)
{
	run.fail_at = n;
}

/* The linker redirects our own objects' allocations here (-Wl,--wrap), not those of libraries. */
static bool let_through(void)
{
	if (run.none)
		return false;
	if (run.fail_at < 0)
		return true;
	if (run.fail_at-- > 0)
		return true;
	run.fail_at = -1;
	run.hit = true;
	return false;
}

#define WRAP(ret, name, params, args)                                                              \
	ret __real_##name params;                                                                  \
	ret __wrap_##name params;                                                                  \
	ret __wrap_##name params                                                                   \
	{                                                                                          \
		return let_through() ? __real_##name args : NULL;                                  \
	}
WRAP(void *, malloc, (size_t n), (n))
WRAP(void *, calloc, (size_t n, size_t m), (n, m))
WRAP(void *, realloc, (void *p, size_t n), (p, n))
WRAP(void *, aligned_alloc, (size_t a, size_t n), (a, n))
WRAP(char *, strdup, (const char *s), (s))
WRAP(char *, strndup, (const char *s, size_t n), (s, n))

static const char *find(const char *env, const char *fallback, const char *rel)
{
	static char path[2][1024];
	static unsigned turn;
	char *p = path[turn++ & 1];
	const char *base = getenv(env);

	snprintf(p, sizeof path[0], "%s/%s", base ? base : fallback, rel);
	return access(p, R_OK) == 0 ? p : NULL;
}

const char *test_data(const char *rel)
{
	return find("TEST_DATA", "tests", rel);
}

const char *test_shared(const char *rel)
{
	return find("TEST_SHARED", "../shared", rel);
}

static void run_one(const struct test *t)
{
	run.failed = run.skipped = run.hit = false;
	run.fail_at = -1;
	t->fn();
	run.none = false;
	for (long n = 0; t->oom && !run.failed && n < MAX_OOM_RUNS; n++) {
		run.hit = false;
		run.fail_at = n;
		t->fn();
		run.fail_at = -1;
		if (!run.hit)
			break;
	}
}

static bool wanted(const struct test *t, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strstr(t->name, argv[i]) || strstr(t->file, argv[i]))
			return true;
	return argc < 2;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Shared by the runner and its children. */
struct progress {
	unsigned at; /* the test that runs, or runs next */
	unsigned passed, failed, skipped;
};

/* With TEST_SLOW=SECONDS it names the tests that take longer, with their processor time. */
static void run_and_time(const struct test *t)
{
	const char *slow = getenv("TEST_SLOW");
	double began = seconds();
	clock_t cpu = clock();

	run_one(t);
	if (slow && seconds() - began > atof(slow))
		printf("%5.1f s, %.1f s cpu: %s (%s)\n", seconds() - began,
		       (double)(clock() - cpu) / CLOCKS_PER_SEC, t->name, t->file);
}

/* Runs what is left, up to the first test that fails. */
static void run_rest(struct progress *p, int argc, char **argv)
{
	for (; p->at < n_tests; p->at++) {
		if (!wanted(&tests[p->at], argc, argv))
			continue;
		run_and_time(&tests[p->at]);
		if (run.failed) {
			printf("FAIL %s (%s)\n", tests[p->at].name, tests[p->at].file);
			p->failed++;
			p->at++;
			fflush(stdout);
			_exit(0); /* its threads may still run, and its leaks tell nothing */
		}
		if (run.skipped)
			p->skipped++;
		else
			p->passed++;
	}
}

/* What ended the process in the middle of a test is that test's failure. A failure behind the last
 * test is a sanitizer's report: returns false. */
static bool note_end(struct progress *p, int status)
{
	if (!status)
		return true;
	printf("the process of the tests ended: %s %d\n", WIFSIGNALED(status) ? "signal" : "status",
	       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	if (p->at == n_tests)
		return false;
	printf("FAIL %s (%s)\n", tests[p->at].name, tests[p->at].file);
	p->failed++;
	p->at++;
	return true;
}

int main(int argc, char **argv)
{
	struct progress *p =
		mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool clean = true;

	if (p == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (clean && p->at < n_tests) {
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			run_rest(p, argc, argv);
			return 0;
		}
		clean = pid > 0 && waitpid(pid, &status, 0) == pid && note_end(p, status);
	}
	printf("%u passed, %u failed, %u skipped\n", p->passed, p->failed, p->skipped);
	return !clean || p->failed || !(p->passed + p->skipped) ? 1 : 0;
}
