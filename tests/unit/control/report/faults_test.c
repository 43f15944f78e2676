/* Which faults are reported to people, and when. */
#include "control/report/faults.h"

#include "proto/base/time.h"
#include "tests/test.h"

/* What is said at this moment, "" for nothing. */
static const char *at(struct faults *f, uint64_t now)
{
	static struct words w;

	w = (struct words){0};
	faults_say(f, now, &w);
	return w.text;
}

/* What is said at the deadline; "" when nothing is due before `until`. */
static const char *next(struct faults *f, uint64_t until)
{
	uint64_t when = faults_deadline(f);

	return when <= until ? at(f, when) : "";
}

static void deaf(struct faults *f, enum fault_is is, uint64_t now)
{
	faults_set(f, FAULT_DEAF, is, now);
}

TEST(faults_short_spells_are_not_told)
{
	struct faults f = {0};

	deaf(&f, FAULT_IS_OVER, 100 * NS_PER_S);
	CHECK(faults_deadline(&f) == UINT64_MAX);
	deaf(&f, FAULT_IS_THERE, 101 * NS_PER_S);
	CHECK_STR(at(&f, 103 * NS_PER_S), "");
	deaf(&f, FAULT_IS_OVER, 103 * NS_PER_S);
	CHECK_STR(next(&f, 1000 * NS_PER_S), "");
	CHECK_INT(f.v[FAULT_DEAF].count, 0);
}

TEST(faults_are_told_once_and_that_they_are_over)
{
	struct faults f = {0};

	deaf(&f, FAULT_IS_THERE, 100 * NS_PER_S);
	CHECK(faults_deadline(&f) == 103 * NS_PER_S);
	CHECK(strstr(at(&f, 103 * NS_PER_S), "cannot hear"));
	CHECK_STR(at(&f, 103 * NS_PER_S), "");
	deaf(&f, FAULT_IS_THERE, 104 * NS_PER_S);
	CHECK_STR(next(&f, 1000 * NS_PER_S), "");
	/* Joining anew takes a while; that is not being well. */
	deaf(&f, FAULT_IS_UNKNOWN, 110 * NS_PER_S);
	CHECK_STR(next(&f, 1000 * NS_PER_S), "");
	CHECK_STR(at(&f, 1000 * NS_PER_S), "");
	deaf(&f, FAULT_IS_OVER, 111 * NS_PER_S);
	CHECK_STR(at(&f, 112 * NS_PER_S), "");
	CHECK_STR(at(&f, 113 * NS_PER_S), "I can hear all of you again.");
	CHECK_STR(next(&f, 1000 * NS_PER_S), "");
	/* The same again: not at once, but it is told. */
	deaf(&f, FAULT_IS_THERE, 120 * NS_PER_S);
	CHECK_STR(at(&f, 124 * NS_PER_S), "");
	CHECK(faults_deadline(&f) == 163 * NS_PER_S);
	CHECK(strstr(at(&f, 163 * NS_PER_S), "cannot hear"));
	CHECK_INT(f.v[FAULT_DEAF].count, 2);
	CHECK(f.v[FAULT_DEAF].last == 120 * NS_PER_S);
}

/* Whoever asked hears it now, and everybody that it is over. */
TEST(faults_that_somebody_notices_are_told_at_once)
{
	struct faults f = {0};

	faults_set(&f, FAULT_BRAIN, FAULT_IS_NOTICED, 100 * NS_PER_S);
	CHECK(strstr(at(&f, 100 * NS_PER_S), "cannot reach"));
	faults_set(&f, FAULT_BRAIN, FAULT_IS_NOTICED, 101 * NS_PER_S);
	CHECK_STR(next(&f, 1000 * NS_PER_S), "");
	faults_set(&f, FAULT_BRAIN, FAULT_IS_OVER, 110 * NS_PER_S);
	CHECK_STR(at(&f, 113 * NS_PER_S), "I can answer again.");
	/* One that is there already, and is noticed before it has lasted. */
	faults_set(&f, FAULT_BRAIN, FAULT_IS_THERE, 900 * NS_PER_S);
	CHECK_STR(at(&f, 901 * NS_PER_S), "");
	faults_set(&f, FAULT_BRAIN, FAULT_IS_NOTICED, 902 * NS_PER_S);
	CHECK(strstr(at(&f, 902 * NS_PER_S), "cannot reach"));
	CHECK_INT(f.v[FAULT_BRAIN].count, 2);
}

TEST(faults_of_a_moment_are_told_then_or_not_at_all)
{
	struct faults f = {0};

	faults_set(&f, FAULT_ANSWER, FAULT_IS_ONCE, 10 * NS_PER_S);
	CHECK(faults_deadline(&f) == 0);
	CHECK(strstr(at(&f, 10 * NS_PER_S), "could not answer"));
	CHECK(faults_deadline(&f) == UINT64_MAX);
	faults_set(&f, FAULT_ANSWER, FAULT_IS_ONCE, 20 * NS_PER_S);
	CHECK_STR(next(&f, UINT64_MAX - 1), "");
	faults_set(&f, FAULT_ANSWER, FAULT_IS_ONCE, 310 * NS_PER_S);
	CHECK(strstr(at(&f, 310 * NS_PER_S), "could not answer"));
	CHECK_INT(f.v[FAULT_ANSWER].count, 3);
	/* What is only counted. */
	faults_set(&f, FAULT_LATE, FAULT_IS_ONCE, 311 * NS_PER_S);
	CHECK(faults_deadline(&f) == UINT64_MAX);
	CHECK_INT(f.v[FAULT_LATE].count, 1);
}

TEST(faults_without_words_are_not_told)
{
	struct faults f = {0};

	faults_set(&f, FAULT_DISCORD, FAULT_IS_THERE, NS_PER_S);
	CHECK(faults_deadline(&f) == NS_PER_S);
	CHECK_STR(next(&f, NS_PER_S), "");
	CHECK(faults_deadline(&f) == UINT64_MAX);
	faults_set(&f, FAULT_DISCORD, FAULT_IS_OVER, 9 * NS_PER_S);
	CHECK_STR(next(&f, UINT64_MAX - 1), "");
	CHECK_INT(f.v[FAULT_DISCORD].count, 1);
}

TEST(faults_known_from_elsewhere_are_only_told_to_be_over)
{
	struct faults f = {0};

	faults_set(&f, FAULT_MUTED, FAULT_IS_THERE, NS_PER_S);
	faults_known(&f, FAULT_MUTED, NS_PER_S);
	CHECK_STR(next(&f, UINT64_MAX - 1), "");
	CHECK(faults_deadline(&f) == UINT64_MAX);
	faults_set(&f, FAULT_MUTED, FAULT_IS_OVER, 5 * NS_PER_S);
	CHECK_STR(next(&f, 10 * NS_PER_S), "I am no longer muted.");
}

TEST(faults_end_with_the_call_and_stay_counted)
{
	struct faults f = {0};

	faults_set(&f, FAULT_CALL, FAULT_IS_THERE, NS_PER_S);
	CHECK_STR(next(&f, 60 * NS_PER_S), ""); /* it is only counted then */
	CHECK_INT(f.v[FAULT_CALL].count, 1);
	CHECK(strstr(next(&f, 60 * NS_PER_S), "lost the connection"));
	faults_set(&f, FAULT_ANSWER, FAULT_IS_ONCE, 12 * NS_PER_S);
	faults_end(&f);
	CHECK_STR(next(&f, UINT64_MAX - 1), "");
	CHECK_INT(f.v[FAULT_CALL].count, 1);
	/* Two at once are told in sequence. */
	faults_set(&f, FAULT_MUTED, FAULT_IS_THERE, 100 * NS_PER_S);
	faults_set(&f, FAULT_DEAF, FAULT_IS_THERE, 100 * NS_PER_S);
	CHECK(strstr(at(&f, 110 * NS_PER_S), "cannot hear"));
	CHECK(strstr(at(&f, 110 * NS_PER_S), "muted"));
	CHECK_STR(at(&f, 110 * NS_PER_S), "");
}
