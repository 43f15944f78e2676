/* The room's floor: who is answered, when, and together with whom. The numbers in the names are
 * those of the regression statements. */
#include "tests/test.h"

#include "control/room/turn/deferred.h"
#include "proto/base/time.h"
#include "tests/unit/control/room/scene.h"

enum { ALICE = 1, BOB, CAROL };

static struct scene *three(const char *sets)
{
	struct scene *s = scene_open(sets);

	scene_join(s, ALICE, "Alice");
	scene_join(s, BOB, "Bob");
	scene_join(s, CAROL, "Carol");
	scene_mark(s);
	return s;
}

/* Alice has asked, and hears an answer of 4 s. */
static struct scene *told(const char *sets)
{
	struct scene *s = three(sets);

	scene_say(s, ALICE, "parley tell me a story");
	scene_answer(s, "once upon a time there was a king", 4000);
	scene_wait(s, 1600);
	scene_mark(s);
	return s;
}

/* ... and nobody can interrupt it. */
static struct scene *speaking(const char *sets)
{
	char all[256];

	snprintf(all, sizeof all, "interruptions none%s%s", *sets ? " " : "", sets);
	return told(all);
}

TEST(rule_011_a_turn_that_comes_while_the_bot_speaks_is_deferred)
{
	struct scene *s = speaking("");

	scene_say(s, BOB, "parley what time is it");
	CHECK_INT(scene_count(s, ROOM_DO_RECORD), 0);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	scene_close(s);
}

TEST(rule_012_deferred_turns_are_taken_up_when_the_floor_is_free)
{
	struct scene *s = speaking("");
	uint64_t at;

	scene_say(s, BOB, "parley what time is it");
	scene_wait(s, 2000);
	at = s->ms;
	scene_drained(s);
	CHECK(scene_find(s, ROOM_DO_ASK));
	CHECK_INT(scene_find(s, ROOM_DO_ASK)->ms, at);
	CHECK_STR(scene_find(s, ROOM_DO_ASK)->text, "[Bob]: parley what time is it");
	scene_close(s);
}

TEST(rule_013_live_speech_blocks_the_flush)
{
	struct scene *s = speaking("");

	scene_say(s, BOB, "parley what time is it");
	scene_speak(s, CAROL, 600);
	scene_drained(s);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	scene_speak(s, CAROL, 600);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	scene_wait(s, 900);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_close(s);
}

TEST(rule_013_but_not_for_ever)
{
	struct scene *s = speaking("hold_ms 2000");

	scene_say(s, BOB, "parley what time is it");
	scene_speak(s, CAROL, 600);
	scene_drained(s);
	scene_speak(s, CAROL, 1960);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	scene_speak(s, CAROL, 60);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_close(s);
}

TEST(rule_014_silence_does_not)
{
	struct scene *s = speaking("");
	static const uint8_t hum[960];

	scene_say(s, BOB, "parley what time is it");
	for (unsigned i = 0; i < 30; i++) {
		scene_event(s, (struct room_event){.type = ROOM_HEARD,
						   .user = CAROL,
						   .at = s->ms * NS_PER_MS,
						   .pcm = {hum, sizeof hum}});
		scene_wait(s, 20);
	}
	scene_drained(s);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_close(s);
}

TEST(rule_015_what_was_deferred_is_judged_anew)
{
	struct scene *s = speaking("");
	uint32_t turn;

	/* Neither names the bot; who holds the floor is answered and who does not is not. */
	scene_say(s, BOB, "did you see the match yesterday");
	scene_wait(s, 200);
	scene_drained(s);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	CHECK_INT(scene_ended(s, ROOM_REASON_NOT_ADDRESSED), 1);
	turn = scene_last(s, ROOM_DO_RECORD)->turn;
	CHECK(scene_decided(s, turn, "bot_turn_open", true));
	CHECK(scene_decided(s, turn, "bot_turn_open", false));
	CHECK(scene_decided(s, turn, "not_addressed", true));
	scene_close(s);
}

TEST(rule_015_a_second_denial_that_passes_keeps_it)
{
	struct scene *s = speaking("admission native");

	scene_say(s, BOB, "and what time is it");
	scene_event(s, (struct room_event){.type = ROOM_TOOL, .user = ALICE, .yes = true});
	scene_event(s, (struct room_event){.type = ROOM_TOOL, .user = ALICE});
	scene_drained(s);
	scene_wait(s, 5000);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	CHECK_INT(scene_ended(s, ROOM_REASON_EXPIRED), 0);
	scene_wait(s, 6500);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_close(s);
}

TEST(rule_017_the_interrupter_is_told_where_the_bot_was)
{
	struct scene *s = told("");

	scene_speak(s, ALICE, 1200);
	CHECK(scene_find(s, ROOM_DO_SAY_STOP));
	scene_event(s, (struct room_event){.type = ROOM_SAY_STOPPED,
					   .turn = scene_find(s, ROOM_DO_SAY_STOP)->turn,
					   .samples = 24000});
	CHECK_INT(scene_ended(s, ROOM_REASON_INTERRUPTED), 1);
	scene_stop(s, ALICE);
	scene_words(s, ALICE, "wait who is that king");
	CHECK_STR(scene_admitted(s), "interrupted_reply_followup");
	CHECK(strstr(scene_find(s, ROOM_DO_ASK)->text, "\"once"));
	CHECK(strstr(scene_find(s, ROOM_DO_ASK)->text, "[Alice]: wait who is that king"));
	/* After an answer that was heard it is over. */
	scene_answer(s, "a king of old", 600);
	scene_drained(s);
	scene_mark(s);
	scene_say(s, ALICE, "parley who was it");
	CHECK(scene_find(s, ROOM_DO_ASK));
	CHECK_STR(scene_find(s, ROOM_DO_ASK)->text, "[Alice]: parley who was it");
	scene_close(s);
}

static struct scene *cut_by_alice(const char *sets)
{
	struct scene *s = told(sets);

	scene_speak(s, ALICE, 1200);
	scene_event(s, (struct room_event){.type = ROOM_SAY_STOPPED,
					   .turn = scene_find(s, ROOM_DO_SAY_STOP)->turn,
					   .samples = 24000});
	scene_stop(s, ALICE);
	scene_words(s, ALICE, "<|nothing|>");
	scene_mark(s);
	return s;
}

TEST(rule_017_nobody_else_and_not_for_ever)
{
	struct scene *s = cut_by_alice("");

	scene_say(s, BOB, "parley what king");
	CHECK_STR(scene_find(s, ROOM_DO_ASK)->text, "[Bob]: parley what king");
	scene_close(s);
	s = cut_by_alice("");
	scene_wait(s, 36000);
	scene_say(s, ALICE, "parley what king");
	CHECK_STR(scene_find(s, ROOM_DO_ASK)->text, "[Alice]: parley what king");
	scene_close(s);
}

TEST(rule_084_the_interrupter_alone_goes_on_without_the_name)
{
	struct scene *s = cut_by_alice("");

	scene_say(s, BOB, "what king was that again");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	scene_say(s, ALICE, "what king was that again");
	CHECK_STR(scene_admitted(s), "interrupted_reply_followup");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_close(s);
}

TEST(rule_018_what_stopped_the_bot_and_was_not_understood_is_told)
{
	struct scene *s = told("");

	scene_speak(s, ALICE, 1200);
	scene_event(s, (struct room_event){.type = ROOM_SAY_STOPPED,
					   .turn = scene_find(s, ROOM_DO_SAY_STOP)->turn,
					   .samples = 24000});
	scene_stop(s, ALICE);
	scene_mark(s);
	scene_words(s, ALICE, "");
	CHECK_STR(scene_admitted(s), "unclear_handoff");
	CHECK(scene_find(s, ROOM_DO_ASK));
	CHECK(strstr(scene_find(s, ROOM_DO_ASK)->text, "[Alice]: (could not be understood)"));
	CHECK(strstr(scene_find(s, ROOM_DO_ASK)->text, "Alice spoke over you"));
	scene_answer(s, "sorry", 600);
	scene_drained(s);
	/* Without a cut, of another utterance, or of another speaker: nothing. */
	scene_mark(s);
	scene_say(s, ALICE, "");
	scene_say(s, BOB, "");
	CHECK_INT(scene_ended(s, ROOM_REASON_EMPTY_TRANSCRIPT), 2);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	scene_close(s);
}

TEST(rule_019_more_from_the_same_speaker_saves_the_first_question)
{
	struct scene *s = three("");
	uint32_t first;

	/* Held, because Bob speaks; meanwhile Alice says more, and its words are not there yet. */
	scene_speak_all(s, (const uint64_t[]){ALICE, BOB, 0}, 600);
	scene_stop(s, ALICE);
	scene_words(s, ALICE, "parley what time is it");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1); /* named: at once */
	scene_close(s);
	s = three("");
	scene_speak(s, ALICE, 600);
	scene_stop(s, ALICE);
	first = s->utterance[ALICE];
	scene_speak(s, ALICE, 600);
	scene_stop(s, ALICE);
	scene_event(s, (struct room_event){.type = ROOM_TRANSCRIPT,
					   .user = ALICE,
					   .utterance = first,
					   .text = {(const uint8_t *)"parley what time", 16}});
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	scene_wait(s, 100);
	scene_words(s, ALICE, "is it in tokyo");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	CHECK_STR(scene_find(s, ROOM_DO_ASK)->text, "[Alice]: parley what time is it in tokyo");
	CHECK_INT(scene_ended(s, ROOM_REASON_MERGED), 1);
	scene_close(s);
}

TEST(rule_021_after_an_abort_the_next_turn_runs)
{
	struct scene *s = three("");

	scene_say(s, ALICE, "parley what time is it");
	scene_say(s, ALICE, "in tokyo");
	CHECK_INT(scene_ended(s, ROOM_REASON_SUPERSEDED), 1);
	CHECK_INT(scene_count(s, ROOM_DO_BRAIN_CANCEL), 1);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 2);
	CHECK_STR(scene_last(s, ROOM_DO_ASK)->text, "[Alice]: parley what time is it in tokyo");
	scene_answer(s, "eleven", 600);
	scene_drained(s);
	CHECK_INT(scene_ended(s, ROOM_REASON_ANSWERED), 1);
	scene_say(s, BOB, "parley thanks a lot");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 3);
	scene_close(s);
}

TEST(rule_022_an_answer_nobody_has_heard_yet_is_dropped_for_a_newer_turn)
{
	struct scene *s = three("");
	uint32_t turn;

	scene_say(s, ALICE, "parley what time is it");
	turn = scene_asked(s);
	scene_event(s, (struct room_event){.type = ROOM_BRAIN_AUDIO,
					   .turn = turn,
					   .pcm = {(const uint8_t *)"\0\0\0\0", 4}});
	CHECK(scene_find(s, ROOM_DO_SAY_OPEN));
	/* Another's words do not take its place, the speaker's own do. */
	scene_say(s, BOB, "parley me too");
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 0);
	scene_say(s, ALICE, "in tokyo i mean");
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 1);
	scene_event(s, (struct room_event){.type = ROOM_SAY_STOPPED, .turn = turn});
	CHECK_INT(scene_ended(s, ROOM_REASON_SUPERSEDED), 1);
	scene_close(s);
}

TEST(rule_022_not_with_a_lease_or_when_it_is_for_everybody)
{
	static const char *const leads[] = {"[[LEASE: ATOMIC]] well now", "[[TO: ALL]] well now"};

	for (size_t i = 0; i < 2; i++) {
		struct scene *s = three("");

		scene_say(s, ALICE, "parley what time is it");
		scene_event(s, (struct room_event){
				       .type = ROOM_BRAIN_TEXT,
				       .turn = scene_asked(s),
				       .text = {(const uint8_t *)leads[i], strlen(leads[i])}});
		scene_say(s, ALICE, "in tokyo i mean");
		CHECK_INT(scene_count(s, ROOM_DO_BRAIN_CANCEL), 0);
		CHECK_INT(scene_count(s, ROOM_DO_DEFER), 1);
		scene_close(s);
	}
}

TEST(rule_023_a_sound_of_listening_supersedes_nothing)
{
	struct scene *s = three("");

	scene_say(s, ALICE, "parley what time is it");
	scene_say(s, ALICE, "mhm");
	CHECK_INT(scene_count(s, ROOM_DO_BRAIN_CANCEL), 0);
	CHECK_INT(scene_ended(s, ROOM_REASON_BACKCHANNEL), 1);
	scene_close(s);
}

TEST(rule_025_what_waited_too_long_expires)
{
	struct scene *s = speaking("defer_expire_ms 20000 stall_ms 60000");

	scene_say(s, BOB, "parley what time is it");
	scene_wait(s, 4500);
	scene_event(s, (struct room_event){.type = ROOM_TOOL, .user = ALICE, .yes = true});
	scene_drained(s);
	scene_wait(s, 15000);
	CHECK_INT(scene_ended(s, ROOM_REASON_EXPIRED), 0);
	scene_wait(s, 600);
	CHECK_INT(scene_ended(s, ROOM_REASON_EXPIRED), 1);
	scene_close(s);
}

/* However often it was judged while it waited, the record says at its end why it ended. */
TEST(rule_025_the_record_of_a_long_wait_has_its_end)
{
	struct scene *s = speaking("retry_ms 200 tool_follow_ms 600000");
	const struct scene_did *end;
	char why[8192];

	scene_event(s, (struct room_event){.type = ROOM_TOOL, .user = ALICE, .yes = true});
	scene_event(s, (struct room_event){.type = ROOM_TOOL, .user = ALICE});
	scene_say(s, BOB, "what time is it");
	scene_drained(s);
	scene_wait(s, 30000);
	end = scene_last(s, ROOM_DO_RECORD);
	CHECK_INT(end->reason, ROOM_REASON_EXPIRED);
	CHECK_INT(room_why(s->room, end->turn, why, sizeof why), 0);
	CHECK(strstr(why, "bot_turn_open        yes"));
	CHECK(strstr(why, "owned_tool_followup_other_speaker_blocked yes"));
	CHECK(strstr(why, "defer_wait           no "));
	scene_close(s);
}

TEST(rule_025_zero_is_never)
{
	struct scene *s = speaking("defer_expire_ms 0");

	scene_say(s, BOB, "parley what time is it");
	scene_event(s, (struct room_event){.type = ROOM_CALL});
	scene_drained(s);
	scene_wait(s, 3600000);
	CHECK_INT(scene_ended(s, ROOM_REASON_EXPIRED), 0);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	scene_event(s, (struct room_event){.type = ROOM_CALL, .yes = true});
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_close(s);
}

TEST(a_tool_that_never_ends_does_not_block_for_ever)
{
	struct scene *s = speaking("defer_expire_ms 0");

	scene_say(s, BOB, "parley what time is it");
	scene_event(s, (struct room_event){.type = ROOM_TOOL, .user = ALICE, .yes = true});
	scene_drained(s);
	scene_wait(s, 119000);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	scene_wait(s, 2000);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_close(s);
}

TEST(rule_026_what_blocks_is_named_in_order)
{
	struct room_blocker_input f = {true, true, true, true, true, true};

	CHECK_STR(room_blocker_name(room_blocker(&f)), "session_inactive");
	f.inactive = false;
	CHECK_STR(room_blocker_name(room_blocker(&f)), "active_captures");
	f.captures = false;
	CHECK_STR(room_blocker_name(room_blocker(&f)), "pending_response");
	f.pending = false;
	CHECK_STR(room_blocker_name(room_blocker(&f)), "active_response");
	f.responding = false;
	CHECK_STR(room_blocker_name(room_blocker(&f)), "awaiting_tool_outputs");
	f.tools_awaited = false;
	CHECK_STR(room_blocker_name(room_blocker(&f)), "tool_calls_running");
	f.tools_run = false;
	CHECK_STR(room_blocker_name(room_blocker(&f)), "none");
}

TEST(rule_030_people_who_talk_meanwhile_get_one_answer)
{
	struct scene *s = speaking("");

	scene_say(s, BOB, "parley what time is it");
	scene_say(s, CAROL, "parley what day");
	scene_say(s, BOB, "in tokyo i mean");
	scene_drained(s);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	CHECK_STR(scene_find(s, ROOM_DO_ASK)->text,
		  "[Carol]: parley what day\n[Bob]: parley what time is it in tokyo i mean");
	CHECK_INT(scene_ended(s, ROOM_REASON_MERGED), 2);
	scene_close(s);
}

TEST(rule_031_better_words_of_a_waiting_turn_take_their_place)
{
	struct scene *s = speaking("");

	scene_say(s, BOB, "parley what time is at");
	scene_say(s, BOB, "in tokyo");
	s->utterance[BOB]--;
	scene_words(s, BOB, "parley what time is it");
	scene_words(s, BOB, "parley what time is it");
	scene_drained(s);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	CHECK_STR(scene_find(s, ROOM_DO_ASK)->text, "[Bob]: parley what time is it in tokyo");
	scene_close(s);
}

TEST(rule_031_better_words_before_the_answer_ask_anew)
{
	struct scene *s = three("");
	const struct room_turn *a;
	uint32_t first;

	scene_say(s, ALICE, "parley what time is at");
	first = scene_asked(s);
	scene_words(s, ALICE, "parley what time is at");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_wait(s, 300);
	scene_words(s, ALICE, "parley what time is it");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 2);
	CHECK_INT(scene_find(s, ROOM_DO_BRAIN_CANCEL)->turn, first);
	CHECK_STR(scene_last(s, ROOM_DO_ASK)->text, "[Alice]: parley what time is it");
	a = room_active(s->room);
	CHECK(a);
	CHECK_INT(a->born_at / NS_PER_MS, s->ms);
	CHECK_INT(a->segment[0].revision, 1);
	/* Once something was heard they are too late. */
	scene_answer(s, "ten", 1000);
	scene_words(s, ALICE, "parley what dime is it");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 2);
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 0);
	scene_close(s);
}

TEST(rule_032_an_old_turn_is_not_answered_beside_a_newer_one)
{
	struct scene *s = three("");

	/* Alone: named by nobody; held by Bob's voice for more than 2.2 s. */
	scene_event(s, (struct room_event){.type = ROOM_CALL, .yes = false});
	scene_say(s, ALICE, "parley what time is it");
	scene_wait(s, 2300);
	scene_say(s, BOB, "parley what day is it");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	scene_event(s, (struct room_event){.type = ROOM_CALL, .yes = true});
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	CHECK_STR(scene_find(s, ROOM_DO_ASK)->text,
		  "[Alice]: parley what time is it\n[Bob]: parley what day is it");
	scene_close(s);
	/* What was deferred for as long is answered. */
	s = speaking("");
	scene_say(s, BOB, "parley what time is it");
	scene_wait(s, 2900);
	scene_drained(s);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_close(s);
}

TEST(rule_034_a_turn_is_held_while_others_speak)
{
	static const uint64_t both[] = {ALICE, BOB, 0};
	struct scene *s = three("admission native");

	scene_speak_all(s, both, 600);
	scene_stop(s, ALICE);
	scene_words(s, ALICE, "what time is it");
	scene_speak(s, BOB, 400);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	scene_stop(s, BOB);
	scene_words(s, BOB, "and what day");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	CHECK_STR(scene_find(s, ROOM_DO_ASK)->text,
		  "[Alice]: what time is it\n[Bob]: and what day");
	scene_close(s);
}

TEST(rule_034_the_name_is_not_held_and_long_speech_only_so_long)
{
	static const uint64_t both[] = {ALICE, BOB, 0};
	struct scene *s = three("admission native");

	scene_speak_all(s, both, 600);
	scene_stop(s, ALICE);
	scene_words(s, ALICE, "parley what time is it");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_close(s);
	/* A piece of long speech does not end the hold; its limit does. */
	s = three("admission native hold_ms 2500");
	scene_speak(s, BOB, 7000);
	scene_speak_all(s, both, 600);
	scene_stop(s, ALICE);
	scene_words(s, ALICE, "what time is it");
	scene_speak(s, BOB, 2400);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	scene_speak(s, BOB, 200);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_close(s);
}

TEST(rule_034_who_has_spoken_for_long_is_not_held)
{
	static const uint64_t both[] = {ALICE, BOB, 0};

	for (unsigned more = 0; more < 2; more++) {
		struct scene *s = three("admission native capture_max_ms 30000");

		scene_speak(s, ALICE, more ? 11400 : 11300);
		scene_speak_all(s, both, 600);
		scene_stop(s, ALICE);
		scene_words(s, ALICE, "so much about that and what do you think of it");
		CHECK_INT(scene_count(s, ROOM_DO_ASK), more);
		scene_close(s);
	}
}

TEST(nobodys_words_are_lost_when_many_wait)
{
	struct scene *s = scene_open("defer_max 2");
	static const char *const names[] = {"Ann", "Ben", "Cid", "Dot", "Eve"};

	for (unsigned i = 0; i < 5; i++)
		scene_join(s, i + 1, names[i]);
	scene_say(s, 1, "parley tell me a story");
	scene_answer(s, "once upon a time", 9000);
	scene_mark(s);
	scene_say(s, 2, "parley one please");
	scene_say(s, 3, "parley two please");
	scene_say(s, 4, "parley three please");
	scene_say(s, 5, "parley four please");
	scene_drained(s);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	CHECK(strstr(scene_find(s, ROOM_DO_ASK)->text, "[Ben]: parley one please"));
	CHECK(strstr(scene_find(s, ROOM_DO_ASK)->text, "[Cid]: parley two please"));
	CHECK(strstr(scene_find(s, ROOM_DO_ASK)->text, "[Dot]: parley three please"));
	CHECK(strstr(scene_find(s, ROOM_DO_ASK)->text, "[Eve]: parley four please"));
	scene_close(s);
}

TEST(who_leaves_takes_only_their_own_words_along)
{
	struct scene *s = speaking("");

	scene_say(s, BOB, "parley what time is it");
	scene_say(s, CAROL, "parley what day is it");
	scene_leave(s, BOB);
	CHECK_INT(scene_ended(s, ROOM_REASON_LEFT), 1);
	scene_drained(s);
	CHECK_STR(scene_find(s, ROOM_DO_ASK)->text, "[Carol]: parley what day is it");
	scene_close(s);
}

/* ---- engagement ---- */

TEST(the_bot_follows_a_conversation_and_stays_out_of_asides)
{
	struct scene *s = three("");

	scene_say(s, ALICE, "parley who was caesar");
	scene_answer(s, "a roman", 600);
	scene_drained(s);
	scene_mark(s);
	scene_say(s, ALICE, "and who killed him");
	CHECK_STR(scene_admitted(s), "floor_holder");
	scene_answer(s, "brutus and others", 600);
	scene_drained(s);
	scene_mark(s);
	/* Others are not meant, nor is a turn to them, nor what is said after they had the word. */
	scene_say(s, ALICE, "bob did you know that");
	scene_say(s, BOB, "i did not know that");
	scene_say(s, ALICE, "neither did i");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	CHECK_INT(scene_ended(s, ROOM_REASON_NOT_ADDRESSED), 3);
	CHECK_INT(scene_count(s, ROOM_DO_OVERHEARD), 3); /* but it listens */
	scene_say(s, ALICE, "parley when was it");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_close(s);
}

/* True if a model receives an aside, by the setting and by whether the bot takes part. */
TEST(one_setting_decides_what_models_overhear)
{
	static const struct {
		const char *sets;
		unsigned engaged, apart;
	} table[] = {{"", 1, 0}, {"overhear always", 1, 1}, {"overhear never", 0, 0}};

	for (size_t i = 0; i < 3; i++) {
		struct scene *s = three(table[i].sets);

		scene_say(s, ALICE, "parley who was caesar");
		scene_answer(s, "a roman", 600);
		scene_drained(s);
		scene_mark(s);
		scene_say(s, ALICE, "bob did you know that");
		CHECK_INT(scene_count(s, ROOM_DO_OVERHEARD), table[i].engaged);
		scene_wait(s, 61000);
		scene_mark(s);
		scene_say(s, ALICE, "and who killed him");
		CHECK_INT(scene_ended(s, ROOM_REASON_NOT_ADDRESSED), 1);
		CHECK_INT(scene_count(s, ROOM_DO_OVERHEARD), table[i].apart);
		scene_close(s);
	}
}

TEST(a_word_of_listening_is_an_answer_only_to_a_question)
{
	static const char *const words[] = {"quite so", "oh wow", "la di da"};
	struct scene *s = told("");

	/* While the bot speaks it does not even wait; nor in the silence after it. */
	scene_say(s, ALICE, "how funny");
	CHECK_INT(scene_ended(s, ROOM_REASON_BACKCHANNEL), 1);
	scene_drained(s);
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		scene_say(s, ALICE, words[i]);
	CHECK_INT(scene_ended(s, ROOM_REASON_BACKCHANNEL), 4);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	scene_say(s, ALICE, "why");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_answer(s, "that is a long story. Do you want to hear it?", 600);
	scene_drained(s);
	scene_mark(s);
	scene_say(s, ALICE, "yeah");
	CHECK_STR(scene_admitted(s), "floor_holder");
	scene_close(s);
}

TEST(a_japanese_noun_alone_is_asked)
{
	struct scene *s = told("");

	scene_drained(s);
	scene_say(s, ALICE, "ラーメン");
	CHECK_INT(scene_ended(s, ROOM_REASON_BACKCHANNEL), 0);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_close(s);
}

TEST(after_a_minute_a_conversation_is_over)
{
	struct scene *s = three("");

	scene_say(s, ALICE, "parley who was caesar");
	scene_answer(s, "a roman", 600);
	scene_drained(s);
	scene_wait(s, 61000);
	scene_mark(s);
	scene_say(s, ALICE, "and who killed him");
	CHECK_INT(scene_ended(s, ROOM_REASON_NOT_ADDRESSED), 1);
	CHECK_INT(scene_count(s, ROOM_DO_OVERHEARD), 0);
	scene_close(s);
}

TEST(a_guest_answers_only_its_name)
{
	struct scene *s = three("guest on");

	scene_say(s, ALICE, "parley who was caesar");
	scene_answer(s, "a roman", 600);
	scene_drained(s);
	scene_mark(s);
	scene_say(s, ALICE, "and who killed him");
	CHECK_INT(scene_ended(s, ROOM_REASON_NOT_ADDRESSED), 1);
	CHECK(scene_decided(s, scene_last(s, ROOM_DO_RECORD)->turn, "guest_named_only", true));
	scene_close(s);
}

TEST(rule_152_a_stop_word_is_no_question)
{
	static const char *const stops[] = {"parley stop", "never mind parley", "parley, hör auf",
					    "basta, parley", "stop"};

	for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++) {
		struct scene *s = three("");

		scene_say(s, ALICE, "parley what time is it");
		scene_answer(s, "nine", 600);
		scene_drained(s);
		scene_mark(s);
		scene_say(s, ALICE, stops[i]);
		CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
		CHECK_INT(scene_ended(s, ROOM_REASON_CANCELLED), 1);
		scene_close(s);
	}
}

TEST(rule_153_a_short_word_over_an_answer_is_asked)
{
	struct scene *s = three("");

	scene_say(s, ALICE, "parley which wine");
	scene_answer(s, "white wine", 6000);
	scene_mark(s);
	scene_say(s, ALICE, "red");
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 1);
	scene_drained(s);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_close(s);
}
