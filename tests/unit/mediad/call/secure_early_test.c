/* Transitions that a voice server announces before op 4, or while op 4 waits behind a key job; and
 * op 4 that repeats a transport key. */
#include "mediad/engine/call_stream_internal.h"
#include "tests/unit/mediad/call/secure_rig.h"

#define PREPARE_CLEAR "{\"op\":21,\"d\":{\"transition_id\":8,\"protocol_version\":0}}"
#define EXECUTE_CLEAR "{\"op\":22,\"d\":{\"transition_id\":8}}"
#define PREPARE_EPOCH "{\"op\":24,\"d\":{\"epoch\":1,\"protocol_version\":1}}"

/* Greets a session and starts a key job, behind which the next messages wait. */
static void start_busy(void)
{
	CHECK_INT(rig_start(false), 0);
	rig_greeted("s1");
	rig_binary(25, "sender", 6);
}

static void set_always(void)
{
	struct media_call_set m = {.channel = 5, .bitrate = 64000, .e2ee = MEDIA_E2EE_ALWAYS};

	call_set(rig.c, &m);
}

static void check_closed(void)
{
	struct sender_packet pkt = {.opus = (const uint8_t *)"said in private", .len = 15};
	uint8_t buf[100];
	struct slice out;

	rig_audio();
	CHECK(!rig.c->stream->clear && rig.c->stream->clear_until <= rig.now);
	CHECK(!call_stream_encrypt(rig.c->stream, &pkt, buf, sizeof buf, &out));
}

/* A server that executes version 0 first and then describes the call as encrypted opens nothing. */
TEST(secure_ignores_transitions_before_op_4)
{
	start_busy();
	set_always();
	rig_text(PREPARE_EPOCH);
	rig_text(PREPARE_CLEAR);
	rig_text(EXECUTE_CLEAR);
	for (unsigned i = 0; i < 3; i++)
		rig_text(PREPARE_EPOCH);
	rig_described(1);
	check_closed();
	for (unsigned i = 0; i < 5; i++) {
		rig_work();
		check_closed();
		CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	}
	CHECK(rig.secure.known && rig.secure.version == 1);
	rig_finish();
}

/* The policy of encryption becomes stricter while op 4 with version 0 waits. */
TEST(secure_judges_op_4_when_its_turn_comes)
{
	start_busy();
	rig_described(0);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	set_always();
	check_closed();
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	rig_work();
	check_closed();
	CHECK_INT(rig.state.phase, MEDIA_PHASE_FAILED);
	CHECK_INT(rig.state.reason, MEDIA_REASON_NOT_ENCRYPTED);
	rig_finish();
}

/* More messages than wait behind a key job end the session, and op 4 is lost with them. Until the
 * cool-down of healing is over the call stays up, and control knows that it is not described. */
TEST(secure_a_call_without_op_4_is_reported_as_unknown)
{
	start_busy();
	rig_described(1);
	rig.c->secure.heal.not_before = rig.now + 3600 * NS_PER_S;
	for (unsigned i = 0; i <= DAVE_WAITING_MAX; i++)
		rig_text(PREPARE_EPOCH);
	rig_work();
	check_closed();
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	secure_send_state(rig.c);
	CHECK(!rig.secure.known);
	rig_finish();
}

/* A key that returns would make all that was recorded under it new. The same op 4 again changes
 * nothing. */
TEST(secure_a_transport_key_that_returns_ends_the_session)
{
	CHECK_INT(rig_start(false), 0);
	rig_join("s1", 1);
	rig_described(1);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	rig.key += 100;
	rig_described(1);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	rig.key -= 100;
	rig_described(1);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_COOLING);
	CHECK_INT(rig.state.reason, MEDIA_REASON_SESSION_INVALID);
	rig_wait_ms(1000);
	vgw_timer(rig.c->gw, rig.now);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_WAITING);
	CHECK(rig.state.wants_credentials);
	/* In the next session, too. */
	rig_greeted("s2");
	rig.key--;
	rig_described(1);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_COOLING);
	CHECK_INT(rig.state.reason, MEDIA_REASON_SESSION_INVALID);
	rig_finish();
}

static void key_used(uint32_t number)
{
	call_engine_event(&(struct ev){.type = EV_KEY_USED, .key_number = number}, rig.c);
}

/* Without a packet nothing could be recorded: the voice server may repeat its key after a
 * connection that broke at once. */
TEST(secure_a_transport_key_under_which_nothing_was_opened_may_return)
{
	CHECK_INT(rig_start(false), 0);
	rig_join("s1", 1);
	rig_described(1);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	rig_greeted("s2");
	rig.key--;
	rig_described(1);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	/* Now they could be. */
	key_used(rig.c->keys.number);
	rig_greeted("s3");
	rig.key--;
	rig_described(1);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_COOLING);
	CHECK_INT(rig.state.reason, MEDIA_REASON_SESSION_INVALID);
	rig_finish();
}

/* What is told late counts for the key of which it tells. */
TEST(secure_late_news_of_a_transport_key_count_for_that_key)
{
	CHECK_INT(rig_start(false), 0);
	rig_join("s1", 1);
	rig_described(1);
	rig_greeted("s2");
	rig_described(1);
	key_used(rig.c->keys.number - 1);
	rig_greeted("s3");
	rig.key--;
	rig_described(1); /* nothing was opened under this one */
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	rig_greeted("s4");
	rig.key -= 2;
	rig_described(1);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_COOLING);
	CHECK_INT(rig.state.reason, MEDIA_REASON_SESSION_INVALID);
	rig_finish();
}

/* The server may be faster with it than the audio thread. */
TEST(secure_a_transport_key_that_is_in_use_again_ends_the_session)
{
	CHECK_INT(rig_start(false), 0);
	rig_join("s1", 1);
	rig_described(1);
	rig_greeted("s2");
	rig.key--;
	rig_described(1);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	key_used(rig.c->keys.number - 1);
	CHECK(rig.state.phase != MEDIA_PHASE_UP);
	rig_finish();
}

/* A server that knows no other key is given up, and control says why. */
TEST(secure_a_server_with_one_transport_key_is_given_up)
{
	CHECK_INT(rig_start(false), 0);
	rig_join("s1", 1);
	rig_described(1);
	key_used(rig.c->keys.number);
	for (unsigned i = 0; i < 20 && rig.state.phase != MEDIA_PHASE_FAILED; i++) {
		rig_greeted("s2");
		rig.key--;
		rig_described(1);
		for (unsigned k = 0; k < 11 && rig.state.phase == MEDIA_PHASE_COOLING; k++) {
			rig_wait_ms(1000);
			vgw_timer(rig.c->gw, rig.now);
		}
	}
	CHECK_INT(rig.state.phase, MEDIA_PHASE_FAILED);
	CHECK_INT(rig.state.reason, MEDIA_REASON_SESSION_INVALID);
	rig_finish();
}
