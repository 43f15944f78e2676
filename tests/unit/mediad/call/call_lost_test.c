/* Commands to a stream and to the slots of its speakers that are lost: the ring to the audio thread
 * is full, and there is no memory for a queue. */
#include "tests/unit/mediad/call/secure_rig.h"

#define BEN_LEAVES "{\"op\":13,\"d\":{\"user_id\":\"8\"}}"

static void begin_shortage(void)
{
	struct cmd cmd = {.type = CMD_SET, .set = {.bitrate = 64000}};

	test_no_memory(true);
	while (call_command(rig.c, &cmd))
		;
}

static void run_audio(void)
{
	for (unsigned i = 0; i < 200; i++)
		rig_audio();
}

/* Stream statistics arrive at regular intervals while the audio thread runs. */
static void end_shortage(void)
{
	struct ev ev = {.type = EV_CALL_STATS, .stream = rig.c->stream};

	test_no_memory(false);
	run_audio();
	call_engine_event(&ev, rig.c);
	run_audio();
}

TEST(hear_a_lost_refusal_replaces_the_slot)
{
	struct media_consent no = {.user = ANNA, .yes = false};
	struct media_listen m = {.listen = 3, .user = ANNA, .rate = 24000, .silence_ms = 700};
	const struct person *anna;

	CHECK_INT(rig_start(false), 0);
	rig_settled();
	call_listen(rig.c, &m);
	anna = hear_find(rig.c, ANNA);
	CHECK(anna && anna->slot && anna->slot->consent);
	begin_shortage();
	call_consent(rig.c, &no);
	end_shortage();
	CHECK_INT(rig.state.phase, MEDIA_PHASE_UP);
	CHECK(anna->slot && !anna->slot->consent && !anna->stale && !anna->returning);
	CHECK(anna->slot && anna->slot->ssrc == 700);
	CHECK_INT(rig.c->n_slots, 1);
	rig_finish();
}

TEST(hear_a_lost_removal_is_repeated)
{
	CHECK_INT(rig_start(false), 0);
	rig_settled();
	rig_speaks(BEN, 701);
	run_audio();
	CHECK_INT(rig.c->stream->n_slots, 2);
	begin_shortage();
	rig_text(BEN_LEAVES);
	end_shortage();
	CHECK_INT(rig.c->stream->n_slots, 1);
	CHECK_INT(rig.c->n_slots, 1);
	CHECK(!hear_find(rig.c, BEN));
	rig_finish();
}

/* One of the allocations for a slot fails: its three parts, or the queued command that lends it and
 * then frees it. */
static void lend_slot_without(int allocation)
{
	struct person *ben;

	CHECK_INT(rig_start(false), 0);
	rig_settled();
	begin_shortage();
	test_no_memory(false);
	test_fail_allocation(allocation);
	hear_ssrc(rig.c, BEN, 701);
	test_fail_allocation(-1);
	ben = hear_find(rig.c, BEN);
	CHECK(ben && !ben->slot);
	CHECK_INT(rig.c->n_slots, 1);
	end_shortage();
	CHECK(hear_unmapped_ssrc(rig.c, 701));
	run_audio();
	CHECK(ben->slot && ben->slot->ssrc == 701 && ben->slot->consent && !ben->stale);
	CHECK_INT(rig.c->n_slots, 2);
	rig_finish();
}

TEST(hear_a_lost_slot_is_lent_again)
{
	for (int i = 0; i < 4; i++)
		lend_slot_without(i);
}

/* Otherwise the stream would go on to send and to hear in a session that is over. */
TEST(call_repeats_the_lost_end_of_a_session)
{
	CHECK_INT(rig_start(false), 0);
	rig_settled();
	begin_shortage();
	rig.c->secure.leave = true;
	call_finish_step(rig.c);
	CHECK_INT(rig.state.phase, MEDIA_PHASE_FAILED);
	end_shortage();
	CHECK(!rig.c->stream->linked);
	rig_finish();
}
