#include "proto/base/time.h"
#include "tests/test.h"
#include "tests/unit/control/room/scene.h"

enum { ALICE = 1 };

/* What the pages show of it: nothing is decided by these figures. */
TEST(the_room_tells_what_it_attends_to_and_thinks)
{
	struct scene *s = scene_open("volition chatty thought_eagerness 100 floor_decay_s 20");
	struct room_attention at;

	scene_join(s, ALICE, "Alice");
	scene_wait(s, 2000);
	room_attention(s->room, s->ms * NS_PER_MS, &at);
	CHECK(!at.engaged && !at.holder && !at.ends_at && !at.thinks && !at.tried_at);
	CHECK(at.due_at > s->ms * NS_PER_MS && at.due_at < (s->ms + 45000) * NS_PER_MS);
	scene_say(s, ALICE, "parley what time is it");
	scene_wait(s, 1500);
	room_attention(s->room, s->ms * NS_PER_MS, &at);
	CHECK(at.engaged);
	CHECK_INT(at.holder, ALICE);
	CHECK_INT(at.ends_at - at.relevant_at, 20 * NS_PER_S);
	scene_answer(s, "ten past four", 400);
	scene_drained(s);
	scene_wait(s, 30000);
	room_attention(s->room, s->ms * NS_PER_MS, &at);
	CHECK(!at.engaged && !at.holder && !at.heard_at);
	scene_mark(s);
	while (!scene_count(s, ROOM_DO_ASK))
		scene_wait(s, 1000);
	room_attention(s->room, s->ms * NS_PER_MS, &at);
	CHECK(at.thinks && at.tried_at && !at.heard_at);
	scene_answer(s, "did you know that honey never spoils", 400);
	scene_drained(s);
	scene_wait(s, 1000);
	room_attention(s->room, s->ms * NS_PER_MS, &at);
	CHECK(!at.thinks && at.heard_at > at.tried_at);
	scene_close(s);
}

TEST(the_room_tells_that_a_turn_is_held_for_more_words)
{
	struct scene *s = scene_open("transcript_batch_ms 2000");
	struct room_attention at;

	scene_join(s, ALICE, "Alice");
	scene_say(s, ALICE, "parley what time is it");
	room_attention(s->room, s->ms * NS_PER_MS, &at);
	CHECK(at.holds && !at.asr_shared && !at.asr_files);
	scene_wait(s, 2500);
	room_attention(s->room, s->ms * NS_PER_MS, &at);
	CHECK(!at.holds);
	scene_close(s);
	s = scene_open("asr_sessions file");
	scene_join(s, ALICE, "Alice");
	scene_speak(s, ALICE, 600);
	scene_stop(s, ALICE);
	room_attention(s->room, s->ms * NS_PER_MS, &at);
	CHECK(at.asr_files);
	CHECK_INT(at.recordings, 1);
	scene_close(s);
}

/* The rule says what its name says: yes where the bot can be heard. */
TEST(a_muted_bot_is_told_as_not_audible)
{
	struct scene *s = scene_open("");

	scene_join(s, ALICE, "Alice");
	scene_event(s, (struct room_event){.type = ROOM_MUTE, .yes = true});
	scene_say(s, ALICE, "Parley, what time is it?");
	scene_wait(s, 1500);
	CHECK_INT(scene_ended(s, ROOM_REASON_MUTED), 1);
	CHECK(scene_decided(s, scene_last(s, ROOM_DO_RECORD)->turn, "audible", false));
	scene_event(s, (struct room_event){.type = ROOM_MUTE});
	scene_mark(s);
	scene_say(s, ALICE, "Parley, what time is it?");
	scene_wait(s, 1500);
	CHECK(scene_decided(s, scene_asked(s), "audible", true));
	scene_close(s);
}
