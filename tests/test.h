/* The unit-test runner's side of a test file.
 *
 *   TEST(ring_keeps_order) { …; CHECK(ring_count(r) == 3); CHECK_MEM(buf, n, "abc", 3); }
 *
 * The command line selects tests by name; without names all run. CHECK leaves the test on failure.
 * TEST_OOM tests are run again and again with the n-th allocation of our own code failing (n = 0,
 * 1, 2, …) until one run sees no failure; they must survive each (CHECK_OOM) and leak
 * nothing (ASan). */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void(test_fn)(void);

void test_register(const char *file, const char *name, test_fn *fn, bool oom);
/* Marks the running test failed and prints where and why. */
void test_fail(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Marks the running test skipped; the reason must be listed in tests/skips. */
void test_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* True while an allocation failure was injected in this run. */
bool test_oom_hit(void);
/* From now on every allocation of our own code fails, until the next call or the test's end. */
void test_no_memory(bool none);
/* After n more allocations of our own code the next one fails. */
void test_fail_allocation(int n);
/* Path of a file under the source tree's tests/, or under ../shared; NULL when it is not there.
 * Static buffer. */
const char *test_data(const char *rel);
const char *test_shared(const char *rel);

#define TEST_REG_(fn, is_oom)                                                                      \
	static void fn(void);                                                                      \
	__attribute__((constructor)) static void fn##_reg(void)                                    \
	{                                                                                          \
		test_register(__FILE__, #fn, fn, is_oom);                                          \
	}                                                                                          \
	static void fn(void)
#define TEST(fn)     TEST_REG_(fn, false)
#define TEST_OOM(fn) TEST_REG_(fn, true)

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			test_fail(__FILE__, __LINE__, "%s", #cond);                                \
			return;                                                                    \
		}                                                                                  \
	} while (0)
#define CHECK_INT(got, want)                                                                       \
	do {                                                                                       \
		long long g_ = (long long)(got), w_ = (long long)(want);                           \
		if (g_ != w_) {                                                                    \
			test_fail(__FILE__, __LINE__, "%s is %lld, want %lld", #got, g_, w_);      \
			return;                                                                    \
		}                                                                                  \
	} while (0)
#define CHECK_STR(got, want)                                                                       \
	do {                                                                                       \
		const char *g_ = (got), *w_ = (want);                                              \
		if (!g_ || strcmp(g_, w_) != 0) {                                                  \
			test_fail(__FILE__, __LINE__, "%s is \"%s\", want \"%s\"", #got,           \
				  g_ ? g_ : "(null)", w_);                                         \
			return;                                                                    \
		}                                                                                  \
	} while (0)
#define CHECK_MEM(got, gn, want, wn)                                                               \
	do {                                                                                       \
		if ((size_t)(gn) != (size_t)(wn) || memcmp((got), (want), (wn)) != 0) {            \
			test_fail(__FILE__, __LINE__, "%s differs from %s", #got, #want);          \
			return;                                                                    \
		}                                                                                  \
	} while (0)
/* In a TEST_OOM: err must be 0, or ENOMEM while a failure was injected (then `cleanup` runs and the
 * test ends). */
#define CHECK_OOM(err, cleanup)                                                                    \
	do {                                                                                       \
		int e_ = (err);                                                                    \
		if (e_ == ENOMEM && test_oom_hit()) {                                              \
			cleanup;                                                                   \
			return;                                                                    \
		}                                                                                  \
		if (e_) {                                                                          \
			test_fail(__FILE__, __LINE__, "%s gave %d", #err, e_);                     \
			cleanup;                                                                   \
			return;                                                                    \
		}                                                                                  \
	} while (0)

#endif
