/* The cancellation contract: statements 116 to 139. */
#include "tests/test.h"

#include "control/room/turn/cancel.h"

static char trail[256];

static int note(struct room_token *t, enum room_abort reason, void *arg)
{
	size_t n = strlen(trail);

	snprintf(trail + n, sizeof trail - n, "%s:%s%s ", (const char *)arg,
		 room_abort_name(reason), room_token_signalled(t) ? "!" : "");
	return 0;
}

static int note_and_fail(struct room_token *t, enum room_abort reason, void *arg)
{
	note(t, reason, arg);
	return EIO;
}

TEST(rule_116_a_new_token_is_live)
{
	struct room_token t;

	room_token_init(&t, 7, 3);
	CHECK(!room_token_aborted(&t) && t.reason == ROOM_ABORT_NONE);
	CHECK(!room_token_signalled(&t));
	CHECK_INT(t.run, 7);
	CHECK_INT(t.slot, 3);
	room_token_init(&t, 7, INT64_C(1) << 53);
	CHECK(t.slot == ROOM_NO_SLOT);
	room_token_init(&t, 7, (INT64_C(1) << 53) - 1);
	CHECK(t.slot != ROOM_NO_SLOT);
	room_token_init_aborted(&t, ROOM_ABORT_NONE);
	CHECK(room_token_aborted(&t) && room_token_signalled(&t));
	CHECK_INT(t.run, 0);
	CHECK_INT(t.reason, ROOM_ABORT_EXTERNAL);
	room_token_init_aborted(&t, ROOM_ABORT_TIMEOUT);
	CHECK_INT(t.reason, ROOM_ABORT_TIMEOUT);
}

TEST(rule_117_118_the_first_reason_stays)
{
	struct room_token t;
	uint32_t id;

	trail[0] = '\0';
	room_token_init(&t, 1, ROOM_NO_SLOT);
	CHECK_INT(room_token_on(&t, note, "a", &id), 0);
	CHECK(room_token_abort(&t, ROOM_ABORT_BARGE_IN));
	CHECK(room_token_signalled(&t));
	CHECK_INT(t.reason, ROOM_ABORT_BARGE_IN);
	CHECK(!room_token_abort(&t, ROOM_ABORT_TIMEOUT));
	CHECK_INT(t.reason, ROOM_ABORT_BARGE_IN);
	CHECK_STR(trail, "a:barge-in ");
}

TEST(rule_119_120_listeners_in_their_order_before_the_signal_whoever_fails)
{
	struct room_token t;
	uint32_t id;

	trail[0] = '\0';
	room_token_init(&t, 1, ROOM_NO_SLOT);
	CHECK_INT(room_token_on(&t, note, "a", &id), 0);
	CHECK_INT(room_token_on(&t, note_and_fail, "b", &id), 0);
	CHECK_INT(room_token_on(&t, note, "c", &id), 0);
	room_token_abort(&t, ROOM_ABORT_TIMEOUT);
	CHECK_STR(trail, "a:timeout b:timeout c:timeout "); /* a ! would be after the signal */
	CHECK_INT(t.failed, 1);
	CHECK(room_token_signalled(&t));
}

TEST(rule_121_122_coming_late_and_going)
{
	struct room_token t;
	uint32_t a, b;

	trail[0] = '\0';
	room_token_init(&t, 1, ROOM_NO_SLOT);
	CHECK_INT(room_token_on(&t, note, "a", &a), 0);
	CHECK_INT(room_token_on(&t, note, "b", &b), 0);
	room_token_off(&t, a);
	room_token_off(&t, a);
	room_token_abort(&t, ROOM_ABORT_USER_CANCEL);
	CHECK_STR(trail, "b:user-cancel ");
	CHECK_INT(room_token_on(&t, note, "late", &a), 0);
	CHECK_STR(trail, "b:user-cancel late:user-cancel! ");
	CHECK_INT(a, 0);
	room_token_off(&t, b);
}

TEST(listeners_are_bounded)
{
	struct room_token t;
	uint32_t id;

	room_token_init(&t, 1, ROOM_NO_SLOT);
	for (unsigned i = 0; i < ROOM_LISTENERS; i++)
		CHECK_INT(room_token_on(&t, note, "x", &id), 0);
	CHECK_INT(room_token_on(&t, note, "x", &id), ENOSPC);
}

TEST(rule_123_a_token_goes_with_its_parent)
{
	struct room_token parent, child;

	room_token_init(&parent, 1, ROOM_NO_SLOT);
	room_token_init(&child, 2, ROOM_NO_SLOT);
	CHECK_INT(room_token_link(&child, &parent), 0);
	CHECK_INT(room_token_link(&child, &parent), EALREADY);
	room_token_abort(&parent, ROOM_ABORT_BARGE_IN);
	CHECK_INT(child.reason, ROOM_ABORT_EXTERNAL);

	room_token_init(&child, 3, ROOM_NO_SLOT);
	CHECK_INT(room_token_link(&child, &parent), 0); /* it is aborted already */
	CHECK_INT(child.reason, ROOM_ABORT_EXTERNAL);

	room_token_init(&parent, 4, ROOM_NO_SLOT);
	room_token_init(&child, 5, ROOM_NO_SLOT);
	CHECK_INT(room_token_link(&child, &parent), 0);
	room_token_abort(&child, ROOM_ABORT_TIMEOUT);
	CHECK_INT(parent.n, 0); /* the link is gone */
	room_token_abort(&parent, ROOM_ABORT_BARGE_IN);
	CHECK_INT(child.reason, ROOM_ABORT_TIMEOUT);
}

TEST(rule_124_the_reasons_are_these_five)
{
	static const char *const names[] = {"barge-in", "eot-revoked", "user-cancel", "timeout",
					    "external"};

	CHECK_INT(ROOM_ABORT_COUNT, 6); /* and none */
	for (unsigned i = 0; i < 5; i++) {
		CHECK_STR(room_abort_name((enum room_abort)(i + 1)), names[i]);
		CHECK_INT(room_abort_of(names[i]), i + 1);
	}
}

/* ---- registry and coordinator ---- */

static char calls[512];
static bool broken;

static int runtime(uint32_t run, enum room_abort reason, void *arg)
{
	struct room_cancel *c = arg;
	size_t n = strlen(calls);

	/* An aborted token has left its floor already. */
	snprintf(calls + n, sizeof calls - n, "runtime %u %s%s, ", run, room_abort_name(reason),
		 room_cancel_current(c, 1) && room_cancel_current(c, 1)->run == run ? " there"
										    : "");
	return broken ? EIO : 0;
}

static int slot(int64_t s, void *arg)
{
	(void)arg;
	snprintf(calls + strlen(calls), sizeof calls - strlen(calls), "slot %d, ", (int)s);
	return broken ? EIO : 0;
}

static int speech(uint32_t run, void *arg)
{
	(void)arg;
	snprintf(calls + strlen(calls), sizeof calls - strlen(calls), "speech %u, ", run);
	return broken ? EIO : 0;
}

static void begin(struct room_cancel *c)
{
	const struct room_sinks sinks = {runtime, slot, speech, c};

	calls[0] = '\0';
	broken = false;
	room_cancel_init(c, &sinks);
}

TEST(rule_125_126_127_one_live_token_a_floor)
{
	struct room_cancel c;
	struct room_token a, b;

	begin(&c);
	room_token_init(&a, 1, ROOM_NO_SLOT);
	room_token_init(&b, 2, ROOM_NO_SLOT);
	CHECK(!room_cancel_current(&c, 1));
	CHECK_INT(room_cancel_arm(&c, 1, &a), 0);
	CHECK(room_cancel_current(&c, 1) == &a);
	CHECK_INT(room_cancel_arm(&c, 1, &b), 0);
	CHECK_INT(a.reason, ROOM_ABORT_EXTERNAL);
	CHECK(room_cancel_current(&c, 1) == &b && !room_token_aborted(&b));
	CHECK(room_cancel_abort(&c, 1, ROOM_ABORT_TIMEOUT));
	CHECK(!room_cancel_abort(&c, 1, ROOM_ABORT_TIMEOUT));
	CHECK(!room_cancel_abort(&c, 9, ROOM_ABORT_TIMEOUT));
	CHECK(!room_cancel_current(&c, 1));
}

TEST(rule_128_129_all_at_once_and_none)
{
	struct room_cancel c;
	struct room_token a, b;
	uint64_t floors[4];

	begin(&c);
	room_token_init(&a, 1, ROOM_NO_SLOT);
	room_token_init(&b, 2, ROOM_NO_SLOT);
	CHECK_INT(room_cancel_arm(&c, 10, &a), 0);
	CHECK_INT(room_cancel_arm(&c, 20, &b), 0);
	CHECK_INT(room_cancel_floors(&c, floors, 4), 2);
	CHECK(floors[0] == 10 && floors[1] == 20);
	CHECK_INT(room_cancel_abort_all(&c, ROOM_ABORT_USER_CANCEL), 2);
	CHECK_INT(room_cancel_floors(&c, floors, 4), 0);

	room_token_init(&a, 3, ROOM_NO_SLOT);
	CHECK_INT(room_cancel_arm(&c, 10, &a), 0);
	room_cancel_clear(&c);
	CHECK(!room_token_aborted(&a));
	CHECK(!room_cancel_current(&c, 10));
}

TEST(rule_130_an_aborted_token_is_gone_before_its_sinks_and_one_a_run)
{
	struct room_cancel c;
	struct room_token a, b, again;

	begin(&c);
	room_token_init(&a, 1, ROOM_NO_SLOT);
	room_token_init(&b, 2, ROOM_NO_SLOT);
	room_token_init(&again, 1, ROOM_NO_SLOT);
	CHECK_INT(room_cancel_arm(&c, 1, &a), 0);
	CHECK_INT(room_cancel_arm(&c, 2, &again), EALREADY);
	CHECK_INT(room_cancel_arm(&c, 1, &a), EALREADY);
	room_token_abort(&a, ROOM_ABORT_BARGE_IN);
	CHECK_STR(calls, "runtime 1 barge-in, speech 1, "); /* not "there" */
	CHECK_INT(room_cancel_arm(&c, 1, &b), 0);
	room_cancel_release(&c, &a); /* late, of the older: not the newer's */
	CHECK(room_cancel_current(&c, 1) == &b);
	room_cancel_release(&c, &b);
	CHECK(!room_cancel_current(&c, 1));
	CHECK(!room_token_aborted(&b));
}

TEST(rule_131_runtime_slot_speech_signal_once_each)
{
	struct room_cancel c;
	struct room_token a, b;

	begin(&c);
	room_token_init(&a, 1, 42);
	CHECK_INT(room_cancel_arm(&c, 1, &a), 0);
	broken = true;
	CHECK(room_cancel_barge_in(&c, 1));
	CHECK_STR(calls, "runtime 1 barge-in, slot 42, speech 1, ");
	CHECK_INT(a.failed, 3);
	CHECK(room_token_signalled(&a));
	calls[0] = '\0';
	room_token_init(&b, 2, ROOM_NO_SLOT);
	CHECK_INT(room_cancel_arm(&c, 1, &b), 0);
	room_cancel_barge_in(&c, 1);
	CHECK_STR(calls, "runtime 2 barge-in, speech 2, ");
}

TEST(rule_132_133_134_every_way_has_its_reason_and_works_once)
{
	struct room_cancel c;
	struct room_token a;

	begin(&c);
	CHECK(!room_cancel_barge_in(&c, 1));
	CHECK_STR(calls, "");
	room_token_init(&a, 1, ROOM_NO_SLOT);
	CHECK_INT(room_cancel_arm(&c, 1, &a), 0);
	CHECK(room_cancel_revoke_eot(&c, 1));
	CHECK_INT(a.reason, ROOM_ABORT_EOT_REVOKED);
	room_token_init(&a, 2, ROOM_NO_SLOT);
	CHECK_INT(room_cancel_arm(&c, 1, &a), 0);
	CHECK(room_cancel_abort(&c, 1, ROOM_ABORT_USER_CANCEL));
	CHECK_INT(a.reason, ROOM_ABORT_USER_CANCEL);
	room_token_init(&a, 3, ROOM_NO_SLOT);
	CHECK_INT(room_cancel_arm(&c, 1, &a), 0);
	calls[0] = '\0';
	CHECK(room_cancel_barge_in(&c, 1));
	CHECK_INT(a.reason, ROOM_ABORT_BARGE_IN);
	CHECK(!room_cancel_barge_in(&c, 1));
	CHECK_STR(calls, "runtime 3 barge-in, speech 3, ");
}

TEST(rule_135_what_the_runtime_ended_is_not_told_to_it)
{
	static const struct {
		const char *why;
		enum room_abort reason;
	} rows[] = {{"barge-in", ROOM_ABORT_BARGE_IN},
		    {"voice-barge-in", ROOM_ABORT_BARGE_IN},
		    {"eot-revoked", ROOM_ABORT_EOT_REVOKED},
		    {"user-cancel", ROOM_ABORT_USER_CANCEL},
		    {"timeout", ROOM_ABORT_TIMEOUT},
		    {"went away", ROOM_ABORT_EXTERNAL},
		    {NULL, ROOM_ABORT_EXTERNAL}};
	struct room_cancel c;
	struct room_token a, other;

	begin(&c);
	room_token_init(&other, 99, ROOM_NO_SLOT);
	CHECK_INT(room_cancel_arm(&c, 2, &other), 0);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		room_token_init(&a, (uint32_t)i + 1, ROOM_NO_SLOT);
		CHECK_INT(room_cancel_arm(&c, 1, &a), 0);
		calls[0] = '\0';
		room_cancel_runtime_ended(&c, a.run, rows[i].why);
		CHECK_INT(a.reason, rows[i].reason);
		CHECK(strncmp(calls, "speech ", 7) == 0); /* and nothing before it */
		room_cancel_runtime_ended(&c, a.run, "timeout");
		CHECK_INT(a.reason, rows[i].reason);
	}
	CHECK(!room_token_aborted(&other));
}

TEST(rule_136_137_all_floors_and_the_newer_turn_survives)
{
	struct room_cancel c;
	struct room_token a, b, d;

	begin(&c);
	room_token_init(&a, 1, ROOM_NO_SLOT);
	room_token_init(&b, 2, ROOM_NO_SLOT);
	room_token_init(&d, 3, ROOM_NO_SLOT);
	CHECK_INT(room_cancel_arm(&c, 1, &a), 0);
	calls[0] = '\0';
	CHECK_INT(room_cancel_arm(&c, 1, &b), 0);
	CHECK_STR(calls, "runtime 1 external, speech 1, "); /* the older, by its run */
	CHECK(!room_token_aborted(&b));
	CHECK_INT(room_cancel_arm(&c, 2, &d), 0);
	CHECK_INT(room_cancel_abort_all(&c, ROOM_ABORT_EXTERNAL), 2);
	CHECK(room_token_aborted(&b) && room_token_aborted(&d));
}

TEST(rule_138_unbound_no_voice_cuts)
{
	struct room_cancel c;
	struct room_token a;

	begin(&c);
	room_token_init(&a, 1, ROOM_NO_SLOT);
	CHECK_INT(room_cancel_arm(&c, 1, &a), 0);
	room_cancel_bind(&c, false);
	CHECK(!room_cancel_barge_in(&c, 1));
	CHECK(!room_token_aborted(&a));
	room_cancel_bind(&c, true);
	room_cancel_bind(&c, true);
	CHECK(room_cancel_barge_in(&c, 1));
	CHECK_STR(calls, "runtime 1 barge-in, speech 1, ");
}

TEST(rule_139_after_dispose_nothing_is_armed)
{
	struct room_cancel c;
	struct room_token a, b;

	begin(&c);
	room_token_init(&a, 1, ROOM_NO_SLOT);
	room_token_init(&b, 2, ROOM_NO_SLOT);
	CHECK_INT(room_cancel_arm(&c, 1, &a), 0);
	room_cancel_dispose(&c);
	CHECK_INT(a.reason, ROOM_ABORT_EXTERNAL);
	calls[0] = '\0';
	room_cancel_dispose(&c);
	CHECK_STR(calls, "");
	CHECK_INT(room_cancel_arm(&c, 1, &b), EPIPE);
	CHECK(!room_token_aborted(&b));
}
