/* The cancellation contract inside the room: statements 147, 150, 151. */
#include "tests/test.h"

#include "proto/base/time.h"
#include "tests/unit/control/room/world.h"

TEST(rule_147_a_voice_over_the_bot_ends_all_of_the_turn_at_once)
{
	struct world w;
	uint32_t first;

	world_begin(&w, "", 1);
	world_says(&w, 1, "parley tell me a story");
	first = w.asked;
	world_brain_audio(&w, first, 8000);
	world_step(&w, (struct room_event){
			       .type = ROOM_SAY_STARTED, .turn = first, .at = w.ms * NS_PER_MS});
	world_until(&w, w.ms + 2000);
	world_forget(&w);
	world_sound(&w, 1, 1080, 6000);
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 0);
	world_sound(&w, 1, 20, 6000);
	/* In the step that confirms it, and within the fade. */
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 1);
	CHECK(w.last[ROOM_DO_SAY_STOP].ms <= 100);
	CHECK_INT(w.last[ROOM_DO_SAY_STOP].turn, first);
	CHECK_INT(w.did[ROOM_DO_BRAIN_CANCEL], 1);
	CHECK_INT(w.last[ROOM_DO_BRAIN_CANCEL].turn, first);
	world_until(&w, w.ms + 60);
	world_step(&w,
		   (struct room_event){.type = ROOM_SAY_STOPPED, .turn = first, .samples = 24000});
	CHECK_INT(w.ended_as.token.reason, ROOM_ABORT_BARGE_IN);
	world_sound(&w, 1, 400, 6000);
	world_sound_end(&w, 1);
	world_until(&w, w.ms + 150);
	world_words(&w, 1, "no the other story");
	CHECK(w.asked > first);
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 1); /* the newer turn lives */
	CHECK_INT(w.did[ROOM_DO_BRAIN_CANCEL], 1);
	world_end(&w);
}

TEST(rule_150_two_rooms_know_nothing_of_one_another)
{
	struct world a, b;
	uint32_t turn;

	world_begin(&a, "", 1);
	world_begin(&b, "", 1);
	world_answering(&a, 8000);
	turn = world_answering(&b, 8000);
	world_until(&a, a.ms + 2000);
	world_sound(&a, 1, 1120, 6000);
	CHECK_INT(a.did[ROOM_DO_SAY_STOP], 1);
	CHECK_INT(b.did[ROOM_DO_SAY_STOP], 0);
	CHECK(room_active(b.room) && room_active(b.room)->id == turn);
	CHECK(!room_token_aborted(&room_active(b.room)->token));
	world_end(&a);
	world_end(&b);
}

TEST(rule_151_what_takes_too_long_is_aborted_by_timeout)
{
	struct world w;

	world_begin(&w, "", 1);
	world_says(&w, 1, "parley tell me a story");
	world_brain_audio(&w, w.asked, 400);
	world_step(&w, (struct room_event){
			       .type = ROOM_SAY_STARTED, .turn = w.asked, .at = w.ms * NS_PER_MS});
	world_until(&w, w.ms + w.settings->stall_ms);
	CHECK_INT(w.did[ROOM_DO_BRAIN_CANCEL], 1);
	CHECK_INT(w.did[ROOM_DO_SAY_STOP], 1);
	CHECK_INT(room_active(w.room)->token.reason, ROOM_ABORT_TIMEOUT);
	world_end(&w);
}
