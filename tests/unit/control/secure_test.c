/* What people are told about a call's encryption. */
#include "control/secure.h"

#include "proto/media.h"
#include "tests/test.h"

#define SECOND UINT64_C(1000000000)

static const struct media_call_secure well = {
	.version = 1, .known = true, .ready = true, .members = 2};
static const struct media_call_secure deaf = {
	.version = 1, .known = true, .ready = true, .deaf = 1};
static const struct media_call_secure keyless = {.version = 1, .known = true};
static const struct media_call_secure between = {0};

/* What is said at the deadline; NULL when nothing is due before `until`. */
static const char *next(struct secure *s, uint64_t until)
{
	uint64_t at = secure_deadline(s);

	return at <= until ? secure_say(s, at) : NULL;
}

TEST(secure_short_spells_are_not_told)
{
	struct secure s = {0};

	secure_update(&s, &well, true, 100 * SECOND);
	CHECK(secure_deadline(&s) == UINT64_MAX);
	secure_update(&s, &deaf, true, 101 * SECOND);
	CHECK(!secure_say(&s, 103 * SECOND));
	secure_update(&s, &well, true, 103 * SECOND);
	CHECK(!next(&s, 1000 * SECOND));
}

TEST(secure_deaf_is_told_once_and_that_it_is_over)
{
	struct secure s = {0};

	secure_update(&s, &deaf, true, 100 * SECOND);
	CHECK(secure_deadline(&s) == 103 * SECOND);
	CHECK(strstr(secure_say(&s, 103 * SECOND), "cannot hear"));
	CHECK(!secure_say(&s, 103 * SECOND));
	secure_update(&s, &deaf, true, 104 * SECOND);
	CHECK(!next(&s, 1000 * SECOND));
	/* Joining anew takes a while; that is not being well. */
	secure_update(&s, &between, true, 110 * SECOND);
	CHECK(!next(&s, 1000 * SECOND));
	CHECK(!secure_say(&s, 1000 * SECOND));
	secure_update(&s, &well, true, 111 * SECOND);
	CHECK(!secure_say(&s, 112 * SECOND));
	CHECK_STR(secure_say(&s, 113 * SECOND), "I can hear all of you again.");
	CHECK(!next(&s, 1000 * SECOND));
	/* The same trouble again: not at once, but it is told. */
	secure_update(&s, &deaf, true, 120 * SECOND);
	CHECK(!secure_say(&s, 124 * SECOND));
	CHECK(secure_deadline(&s) == 163 * SECOND);
	CHECK(strstr(secure_say(&s, 163 * SECOND), "cannot hear"));
}

TEST(secure_keyless_counts_only_with_others)
{
	struct secure s = {0};

	secure_update(&s, &keyless, false, 100 * SECOND);
	CHECK(!next(&s, 1000 * SECOND));
	secure_update(&s, &keyless, true, 100 * SECOND);
	CHECK(!secure_say(&s, 109 * SECOND));
	CHECK(strstr(secure_say(&s, 110 * SECOND), "cannot speak"));
	secure_update(&s, &well, true, 111 * SECOND);
	CHECK_STR(next(&s, 120 * SECOND), "I can speak again.");
	secure_forget(&s);
	CHECK(secure_deadline(&s) == UINT64_MAX);
}

TEST(secure_status_lines)
{
	struct media_call_secure m = well;
	char buf[200];

	m.privacy_code = slice_str("992563144762369703352153434510");
	secure_status(&m, buf, sizeof buf);
	CHECK_STR(buf, "End-to-end encryption: on, 2 members, privacy code 99256 31447 62369 70335 "
		       "21534 34510.");
	secure_code(&m, buf, 8);
	CHECK_STR(buf, "99256 3"); /* cut */
	secure_status(&between, buf, sizeof buf);
	CHECK_STR(buf, "End-to-end encryption: not agreed on yet.");
	m = deaf;
	m.heal = MEDIA_HEAL_RECOVER;
	secure_status(&m, buf, sizeof buf);
	CHECK_STR(buf,
		  "End-to-end encryption: 1 speaker cannot be decrypted; new keys were asked for.");
	secure_status(&keyless, buf, sizeof buf);
	CHECK(strstr(buf, "without a key"));
	m = (struct media_call_secure){.known = true, .ready = true};
	secure_status(&m, buf, sizeof buf);
	CHECK(strstr(buf, "none, as in stages"));
}
