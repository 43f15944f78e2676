/* Faults of encryption, from mediad's reports. */
#include "control/report/secure_faults.h"

#include "control/report/faults.h"
#include "proto/base/time.h"
#include "proto/media.h"
#include "tests/test.h"

static const char *report_due(struct faults *f, uint64_t now)
{
	static struct words w;

	w = (struct words){0};
	faults_say(f, now, &w);
	return w.text;
}

/* Op 4 of a session that is up did not count: nothing is sent or heard, and members learn of it
 * within two seconds. */
TEST(secure_tells_of_a_call_whose_encryption_is_unknown)
{
	struct media_call_secure m = {0};
	struct faults f = {0};

	secure_see_faults(&f, NULL, true, true, 98 * NS_PER_S);
	secure_see_faults(&f, &m, false, true, 99 * NS_PER_S);
	CHECK(faults_deadline(&f) == UINT64_MAX);
	secure_see_faults(&f, &m, true, true, 100 * NS_PER_S);
	CHECK_STR(report_due(&f, 101 * NS_PER_S), "");
	CHECK(faults_deadline(&f) == 102 * NS_PER_S);
	CHECK(strstr(report_due(&f, 102 * NS_PER_S), "how this call is encrypted"));
	/* The next session is not up yet. */
	secure_see_faults(&f, &m, false, true, 110 * NS_PER_S);
	CHECK_STR(report_due(&f, 200 * NS_PER_S), "");
	m.known = m.ready = true;
	m.version = 1;
	secure_see_faults(&f, &m, true, true, 200 * NS_PER_S);
	CHECK_STR(report_due(&f, 202 * NS_PER_S),
		  "Discord has told me how this call is encrypted.");
}

/* In an ordinary call op 4 is reported with the phase, or soon after it. */
TEST(secure_tells_nothing_of_a_call_that_is_described_in_time)
{
	struct media_call_secure m = {0};
	struct faults f = {0};

	secure_see_faults(&f, &m, true, true, 100 * NS_PER_S);
	m.known = m.ready = true;
	m.version = 1;
	secure_see_faults(&f, &m, true, true, 101 * NS_PER_S);
	CHECK(faults_deadline(&f) == UINT64_MAX);
	CHECK_INT(f.v[FAULT_UNDESCRIBED].count, 0);
}

static bool tells_of_clear(struct faults *f, uint16_t version, uint64_t now)
{
	struct media_call_secure m = {.known = true, .ready = true, .version = version};

	secure_see_faults(f, &m, true, true, now);
	return strstr(report_due(f, now), "not end-to-end encrypted") != NULL;
}

/* Otherwise the room would go on to read that its call is encrypted. */
TEST(secure_tells_of_each_clear_spell_at_once)
{
	struct faults f = {0};

	CHECK(tells_of_clear(&f, 0, 100 * NS_PER_S));
	CHECK(!tells_of_clear(&f, 1, 101 * NS_PER_S));
	CHECK_STR(report_due(&f, 103 * NS_PER_S), "This call is end-to-end encrypted now.");
	CHECK(tells_of_clear(&f, 0, 104 * NS_PER_S));
}
