/* A session's timers and ends, what happens besides speech, words of the bot's own. The numbers are
 * those of the regression statements. */
#include "tests/test.h"

#include "control/room/turn/moments.h"
#include "control/room/session.h"
#include "proto/base/time.h"
#include "tests/unit/control/room/scene.h"

enum { ALICE = 1, BOB };

static void call(struct scene *s, bool up, const char *why)
{
	scene_event(s, (struct room_event){.type = ROOM_CALL,
					   .yes = up,
					   .text = {(const uint8_t *)why, strlen(why)}});
}

static const char *left(const struct scene *s)
{
	const struct scene_did *d = scene_find(s, ROOM_DO_LEAVE);

	return d ? d->text : "";
}

TEST(rule_110_a_room_that_is_not_allowed_any_more_is_left)
{
	struct scene *s = scene_open("");

	scene_join(s, ALICE, "Alice");
	scene_say(s, ALICE, "what time is it");
	scene_mark(s);
	/* What may change in a living room does. */
	CHECK_INT(settings_set(s->settings, "aliases", "polly"), 0);
	CHECK_INT(settings_set(s->settings, "instructions", "Be brief."), 0);
	scene_event(s, (struct room_event){.type = ROOM_SETTINGS, .yes = true});
	scene_event(s, (struct room_event){.type = ROOM_INSTRUCTED});
	scene_wait(s, 6000);
	CHECK(scene_find(s, ROOM_DO_INSTRUCT));
	CHECK(strstr(scene_last(s, ROOM_DO_INSTRUCT)->text, "Be brief."));
	CHECK_STR(left(s), "");
	scene_event(s, (struct room_event){.type = ROOM_SETTINGS});
	CHECK_STR(left(s), "channel_blocked");
	CHECK_INT(scene_ended(s, ROOM_REASON_SHUTDOWN), 1);
	/* Once, and nothing after it. */
	scene_mark(s);
	scene_event(s, (struct room_event){.type = ROOM_SETTINGS});
	scene_say(s, ALICE, "parley are you there");
	CHECK_INT(s->n - s->mark, 0);
	scene_close(s);
}

TEST(rule_110_a_new_alias_counts_at_once)
{
	struct scene *s = scene_open("");

	scene_join(s, ALICE, "Alice");
	scene_join(s, BOB, "Bob");
	scene_say(s, ALICE, "charlie what time is it");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	CHECK_INT(settings_set(s->settings, "aliases", "charlie"), 0);
	scene_event(s, (struct room_event){.type = ROOM_SETTINGS, .yes = true});
	scene_say(s, ALICE, "charlie what time is it");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_close(s);
}

TEST(rule_111_who_comes_twice_in_no_time_came_once)
{
	struct room_moments h = {0};
	char text[2048];

	CHECK(room_moment_add(&h, ROOM_MOMENT_JOIN, 1, "Alice", NULL, 10 * NS_PER_S));
	CHECK(!room_moment_add(&h, ROOM_MOMENT_JOIN, 1, "Alice", NULL,
			       10 * NS_PER_S + 2499 * NS_PER_MS));
	CHECK(room_moment_add(&h, ROOM_MOMENT_JOIN, 2, "Bob", NULL, 11 * NS_PER_S));
	CHECK(room_moment_add(&h, ROOM_MOMENT_JOIN, 1, "Alice", NULL,
			      10 * NS_PER_S + 2500 * NS_PER_MS));
	CHECK_INT(h.n, 3);
	CHECK(room_moment_add(&h, ROOM_MOMENT_SOUNDBOARD, 2, "Bob", "quack", 13 * NS_PER_S));
	CHECK(room_moment_add(&h, ROOM_MOMENT_SOUNDBOARD, 2, "Bob", "quack", 13 * NS_PER_S));
	room_moments_text(&h, 13 * NS_PER_S, text, sizeof text);
	CHECK_STR(text, "\nroom moment: Alice came in\nroom moment: Bob came in"
			"\nroom moment: Alice came in\nroom moment: Bob played the sound quack"
			"\nroom moment: Bob played the sound quack");
	/* Only what is fresh is told, and of that the newest six. */
	room_moments_text(&h, 73 * NS_PER_S, text, sizeof text);
	CHECK_STR(text, "");
	for (unsigned i = 0; i < 40; i++)
		room_moment_add(&h, ROOM_MOMENT_LEAVE, 100 + i, "x", NULL, 80 * NS_PER_S);
	room_moments_text(&h, 80 * NS_PER_S, text, sizeof text);
	CHECK_INT(strlen(text), 6 * strlen("\nroom moment: x left"));
	/* A small place is not left. */
	CHECK_INT(room_moments_text(&h, 80 * NS_PER_S, text, 8), 7);
	CHECK_INT(strlen(text), 7);
}

/* Begin and end within 2.5 s are two moments; the same one again is none. */
TEST(rule_111_a_video_of_ours_is_a_moment)
{
	struct room_moments h = {0};
	char text[2048];

	CHECK(room_moment_add(&h, ROOM_MOMENT_VIDEO_START, 1, "Alice", NULL, 10 * NS_PER_S));
	CHECK(!room_moment_add(&h, ROOM_MOMENT_VIDEO_START, 1, "Alice", NULL, 11 * NS_PER_S));
	CHECK(room_moment_add(&h, ROOM_MOMENT_VIDEO_STOP, 1, "Alice", NULL, 11 * NS_PER_S));
	CHECK(room_moment_add(&h, ROOM_MOMENT_VIDEO_START, 1, "Alice", NULL, 12 * NS_PER_S));
	CHECK(room_moment_add(&h, ROOM_MOMENT_SHARE_START, 1, "Alice", NULL, 12 * NS_PER_S));
	room_moments_text(&h, 13 * NS_PER_S, text, sizeof text);
	CHECK_STR(text, "\nroom moment: Alice had you show a video"
			"\nroom moment: Alice has no video shown by you any more"
			"\nroom moment: Alice had you show a video"
			"\nroom moment: Alice began to show a screen");
}

TEST(rule_111_who_comes_is_told_to_the_brain)
{
	struct scene *s = scene_open("");

	scene_join(s, ALICE, "Alice");
	scene_event(s, (struct room_event){.type = ROOM_INSTRUCTED});
	scene_mark(s);
	scene_join(s, BOB, "Bob");
	scene_wait(s, 6000);
	CHECK_INT(scene_count(s, ROOM_DO_INSTRUCT), 1);
	CHECK(strstr(scene_find(s, ROOM_DO_INSTRUCT)->text, "Alice, Bob"));
	scene_close(s);
}

static void member(struct scene *s, uint64_t user, const char *name, bool is_bot)
{
	scene_event(s, (struct room_event){.type = ROOM_MEMBER,
					   .user = user,
					   .yes = true,
					   .is_bot = is_bot,
					   .text = {(const uint8_t *)name, strlen(name)}});
}

/* Another agent, a music bot, one that reads text out: neither is heard, so that two agents do not
 * answer each other. */
TEST(bots_are_not_people)
{
	struct scene *s = scene_open("volition chatty");

	scene_join(s, ALICE, "Alice");
	member(s, BOB, "Robo", true);
	scene_mark(s);
	CHECK_INT(room_people(s->room), 1);
	scene_event(s, (struct room_event){.type = ROOM_SPEAKING, .user = BOB, .yes = true});
	scene_speak(s, BOB, 1000);
	scene_stop(s, BOB);
	scene_event(s, (struct room_event){.type = ROOM_TRANSCRIPT,
					   .user = BOB,
					   .utterance = 1,
					   .text = {(const uint8_t *)"parley hello", 12}});
	CHECK_INT(scene_count(s, ROOM_DO_LISTEN) + scene_count(s, ROOM_DO_ASR_START), 0);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	/* Nor does its sound interrupt an answer. */
	scene_say(s, ALICE, "parley tell me a story");
	scene_answer(s, "once upon a time", 9000);
	scene_speak(s, BOB, 4000);
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP) + scene_count(s, ROOM_DO_SAY_GAIN), 0);
	scene_close(s);
}

/* Discord may tell later that a member is a bot, and settings may block a user at any time. */
TEST(a_member_who_turns_out_to_be_a_bot_is_heard_no_more)
{
	struct scene *s = scene_open("");

	scene_join(s, ALICE, "Alice");
	scene_join(s, BOB, "Robo");
	scene_speak(s, BOB, 600);
	scene_mark(s);
	member(s, BOB, "Robo", true);
	CHECK_INT(scene_count(s, ROOM_DO_UNLISTEN), 1);
	CHECK_INT(scene_ended(s, ROOM_REASON_LEFT), 1);
	CHECK_INT(room_people(s->room), 1);
	scene_speak(s, BOB, 600);
	CHECK_INT(scene_count(s, ROOM_DO_ASR_START), 0);
	member(s, BOB, "Robo", false);
	CHECK_INT(scene_count(s, ROOM_DO_LISTEN), 1);
	scene_say(s, BOB, "parley what time is it");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_close(s);
}

TEST(limits_of_the_session_are_those_of_the_settings_now)
{
	struct scene *s = scene_open("");

	scene_join(s, ALICE, "Alice");
	scene_wait(s, 600000);
	settings_set(s->settings, "session_max_min", "11");
	scene_event(s, (struct room_event){.type = ROOM_SETTINGS, .yes = true});
	scene_wait(s, 59000);
	CHECK_STR(left(s), "");
	scene_wait(s, 2000);
	CHECK_STR(left(s), "max_duration");
	scene_close(s);
	s = scene_open("inactivity_s 30");
	scene_join(s, ALICE, "Alice");
	settings_set(s->settings, "inactivity_s", "60");
	scene_wait(s, 59000);
	CHECK_STR(left(s), "");
	settings_set(s->settings, "inactivity_s", "0");
	scene_wait(s, 600000);
	CHECK_STR(left(s), "");
	scene_close(s);
}

TEST(rule_112_who_is_disconnected_has_a_moment_to_come_back)
{
	struct scene *s = scene_open("");

	scene_join(s, ALICE, "Alice");
	call(s, false, "disconnected");
	scene_wait(s, 2400);
	call(s, true, "");
	scene_wait(s, 60000);
	CHECK_STR(left(s), "");
	call(s, false, "disconnected");
	scene_wait(s, 2400);
	CHECK_STR(left(s), "");
	scene_wait(s, 200);
	CHECK_STR(left(s), "bot_disconnected");
	scene_close(s);
}

TEST(rule_112_after_a_crash_the_session_waits_for_mediad_and_ends_by_its_name)
{
	struct scene *s = scene_open("media_recover_s 30");

	scene_join(s, ALICE, "Alice");
	call(s, false, "crashed");
	call(s, false, "");
	scene_wait(s, 29000);
	CHECK_STR(left(s), "");
	call(s, true, "");
	scene_say(s, ALICE, "are you there again");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	call(s, false, "crashed");
	scene_wait(s, 31000);
	CHECK_STR(left(s), "subprocess_crashed");
	scene_close(s);
}

TEST(a_session_has_a_length)
{
	struct scene *s = scene_open("session_max_min 10");

	scene_join(s, ALICE, "Alice");
	scene_mark(s);
	scene_wait(s, 479000);
	CHECK_INT(scene_count(s, ROOM_DO_TELL), 0);
	scene_wait(s, 2000);
	CHECK_INT(scene_count(s, ROOM_DO_TELL), 1);
	CHECK(strstr(scene_last(s, ROOM_DO_TELL)->text, "120 seconds"));
	scene_wait(s, 75000);
	CHECK_INT(scene_count(s, ROOM_DO_TELL), 2);
	CHECK(strstr(scene_last(s, ROOM_DO_TELL)->text, "45 seconds"));
	scene_wait(s, 45000);
	CHECK_STR(left(s), "max_duration");
	scene_close(s);
}

TEST(nobody_is_warned_of_more_time_than_there_is)
{
	struct scene *s = scene_open("session_max_min 1");

	scene_join(s, ALICE, "Alice");
	scene_wait(s, 14000);
	CHECK_INT(scene_count(s, ROOM_DO_TELL), 0);
	scene_wait(s, 2000);
	CHECK_INT(scene_count(s, ROOM_DO_TELL), 1);
	CHECK(strstr(scene_last(s, ROOM_DO_TELL)->text, "45 seconds"));
	scene_wait(s, 45000);
	CHECK_INT(scene_count(s, ROOM_DO_TELL), 1);
	CHECK_STR(left(s), "max_duration");
	scene_close(s);
	/* Nor of every pause in a room that is left after a short one. */
	s = scene_open("inactivity_s 60");
	scene_join(s, ALICE, "Alice");
	scene_join(s, 2, "Bob");
	for (unsigned i = 0; i < 3; i++) {
		scene_say(s, ALICE, "did you see the match");
		scene_wait(s, 20000);
	}
	CHECK_INT(scene_count(s, ROOM_DO_TELL), 0);
	scene_wait(s, 41000);
	CHECK_STR(left(s), "inactivity_timeout");
	scene_close(s);
}

TEST(an_idle_room_is_left_unless_music_plays)
{
	struct scene *s = scene_open("inactivity_s 300");

	scene_join(s, ALICE, "Alice");
	scene_mark(s);
	scene_wait(s, 250000);
	scene_speak(s, ALICE, 600);
	scene_wait(s, 290000);
	CHECK_STR(left(s), "");
	scene_event(s, (struct room_event){.type = ROOM_MUSIC,
					   .yes = true,
					   .text = {(const uint8_t *)"playing", 7}});
	scene_wait(s, 1000000);
	CHECK_STR(left(s), "");
	scene_event(s,
		    (struct room_event){.type = ROOM_MUSIC, .text = {(const uint8_t *)"idle", 4}});
	scene_wait(s, 299000);
	CHECK_STR(left(s), "");
	scene_wait(s, 2000);
	CHECK_STR(left(s), "inactivity_timeout");
	scene_close(s);
}

/* The warning before an idle room is left, after Alice has said these words. */
static void warn_after(const char *sets, const char *words, char *text, size_t size)
{
	struct scene *s = scene_open(sets);

	scene_join(s, ALICE, "Alice");
	scene_join(s, BOB, "Bob");
	scene_say(s, ALICE, words);
	scene_mark(s);
	scene_wait(s, 400000);
	snprintf(text, size, "%s",
		 scene_find(s, ROOM_DO_TELL) ? scene_find(s, ROOM_DO_TELL)->text : "");
	scene_close(s);
}

TEST(a_room_is_told_in_its_language)
{
	char text[SCENE_TEXT];

	warn_after("inactivity_s 300", "what shall we eat today", text, sizeof text);
	CHECK(strstr(text, "Nobody has spoken"));
	warn_after("inactivity_s 300", "was sollen wir denn heute kochen", text, sizeof text);
	CHECK(strstr(text, "Seit einer Weile hat niemand gesprochen"));
	/* The setting decides before the speaker does. */
	warn_after("inactivity_s 300 language fr", "was sollen wir denn heute kochen", text,
		   sizeof text);
	CHECK(strstr(text, "Personne n'a parl"));
}

TEST(an_end_is_named_by_who_asked_for_it)
{
	struct scene *s = scene_open("");
	const struct scene_did *leave;

	scene_join(s, ALICE, "Alice");
	scene_event(s, (struct room_event){.type = ROOM_MUSIC,
					   .yes = true,
					   .text = {(const uint8_t *)"playing", 7}});
	scene_event(s, (struct room_event){.type = ROOM_END,
					   .text = {(const uint8_t *)"no such reason", 14}});
	CHECK_STR(left(s), "");
	scene_event(
		s, (struct room_event){.type = ROOM_END, .text = {(const uint8_t *)"nl_leave", 8}});
	CHECK_STR(left(s), "nl_leave");
	/* Music stops first, LEAVE comes last. */
	leave = scene_find(s, ROOM_DO_LEAVE);
	CHECK(leave == &s->did[s->n - 1]);
	CHECK(scene_find(s, ROOM_DO_MUSIC) < leave);
	CHECK(scene_find(s, ROOM_DO_UNLISTEN) > scene_find(s, ROOM_DO_MUSIC));
	scene_close(s);
}

/* ---- words of its own ---- */

TEST(it_says_hello_where_nobody_is_speaking)
{
	struct scene *s = scene_open("greet yes");

	scene_join(s, ALICE, "Alice");
	scene_mark(s);
	scene_wait(s, 900);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	scene_wait(s, 200);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	CHECK(strstr(scene_find(s, ROOM_DO_ASK)->text, "just come into the room"));
	scene_answer(s, "hello alice", 600);
	scene_drained(s);
	CHECK_INT(scene_ended(s, ROOM_REASON_ANSWERED), 1);
	scene_wait(s, 600000);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_close(s);
	/* Not into what somebody says, not later, and not as a guest. */
	s = scene_open("greet yes");
	scene_join(s, ALICE, "Alice");
	scene_join(s, BOB, "Bob");
	scene_say(s, ALICE, "did you see the match");
	scene_wait(s, 60000);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	scene_close(s);
	s = scene_open("greet yes guest on");
	scene_join(s, ALICE, "Alice");
	scene_wait(s, 60000);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	scene_close(s);
}

TEST(a_greeting_that_nobody_heard_is_asked_for_again)
{
	struct scene *s = scene_open("greet yes");

	scene_join(s, ALICE, "Alice");
	scene_mark(s);
	scene_wait(s, 1100);
	CHECK_STR(scene_admitted(s), "greeting");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_event(s, (struct room_event){.type = ROOM_BRAIN_FAILED, .turn = scene_asked(s)});
	CHECK_INT(scene_ended(s, ROOM_REASON_BRAIN_FAILED), 1);
	scene_wait(s, 2000);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 2);
	scene_event(s, (struct room_event){.type = ROOM_BRAIN_FAILED, .turn = scene_asked(s)});
	scene_wait(s, 60000);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 2);
	scene_close(s);
	/* Not when somebody has spoken in between. */
	s = scene_open("greet yes");
	scene_join(s, ALICE, "Alice");
	scene_join(s, BOB, "Bob");
	scene_mark(s);
	scene_wait(s, 1100);
	scene_event(s, (struct room_event){.type = ROOM_BRAIN_FAILED, .turn = scene_asked(s)});
	scene_say(s, ALICE, "did you see the match");
	scene_wait(s, 60000);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_close(s);
}

TEST(a_moderator_sums_up_after_a_long_silence)
{
	struct scene *s = scene_open("summary_silence_s 60 overhear always");

	scene_join(s, ALICE, "Alice");
	scene_join(s, BOB, "Bob");
	for (unsigned i = 0; i < 3; i++) {
		scene_say(s, i % 2 ? BOB : ALICE, "we should take the early train to the coast");
		scene_wait(s, 1000);
	}
	scene_mark(s);
	scene_wait(s, 120000);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0); /* three lines are not much */
	scene_say(s, BOB, "and somebody has to buy the tickets");
	scene_wait(s, 58000);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	scene_wait(s, 4000);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	CHECK(strstr(scene_find(s, ROOM_DO_ASK)->text, "Sum up for everybody"));
	scene_answer(s, "you take the early train", 600);
	scene_drained(s);
	scene_wait(s, 600000);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_close(s);
}

TEST(one_debounce_can_hold_for_the_whole_room)
{
	struct scene *s = scene_open("debounce_ms 1500 speculative off");

	scene_join(s, ALICE, "Alice");
	scene_join(s, BOB, "Bob");
	scene_mark(s);
	scene_say(s, ALICE, "parley what time is it");
	scene_speak(s, BOB, 600); /* whoever speaks */
	scene_stop(s, BOB);
	scene_wait(s, 60);
	scene_words(s, BOB, "we should leave");
	scene_wait(s, 1300);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	scene_wait(s, 300);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_close(s);
}

static struct scene *thinking(const char *sets)
{
	char all[256];
	struct scene *s;

	snprintf(all, sizeof all, "volition chatty thought_eagerness 100%s%s", *sets ? " " : "",
		 sets);
	s = scene_open(all);
	scene_join(s, ALICE, "Alice");
	scene_mark(s);
	return s;
}

TEST(rule_046_a_thought_is_taken_back_when_somebody_speaks)
{
	struct scene *s = thinking("");

	scene_wait(s, 44000);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	scene_wait(s, 2000);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_speak(s, ALICE, 400);
	CHECK_INT(scene_count(s, ROOM_DO_BRAIN_CANCEL), 0);
	scene_speak(s, ALICE, 40); /* it counts as speech */
	CHECK_INT(scene_count(s, ROOM_DO_BRAIN_CANCEL), 1);
	CHECK_INT(scene_ended(s, ROOM_REASON_THOUGHT_WITHDRAWN), 1);
	scene_close(s);
	/* Once it is heard it is an answer like others. */
	s = thinking("");
	scene_wait(s, 46000);
	scene_answer(s, "did you know that honey never spoils", 3000);
	scene_speak(s, ALICE, 440);
	CHECK_INT(scene_ended(s, ROOM_REASON_THOUGHT_WITHDRAWN), 0);
	scene_close(s);
}

/* A voice model may say the word of the mark, or write it. */
TEST(a_thought_can_be_declined_on_every_path)
{
	static const char *const paths[] = {"reply_path native", "reply_path bridge"};
	static const char *const words[] = {"[SKIP]", "Skip.", "skip"};
	struct scene *s;

	for (size_t i = 0; i < 6; i++) {
		s = thinking(paths[i / 3]);
		scene_wait(s, 46000);
		CHECK(strstr(scene_find(s, ROOM_DO_ASK)->text, "[SKIP]"));
		scene_answer(s, words[i % 3], 400);
		CHECK_INT(scene_count(s, ROOM_DO_SAY_OPEN), 0);
		CHECK_INT(scene_ended(s, ROOM_REASON_NO_ANSWER), 1);
		scene_close(s);
	}
	/* Other words are said, also those that begin like it. */
	s = thinking("");
	scene_wait(s, 46000);
	scene_answer(s, "Skipping stones is fun.", 1000);
	CHECK_INT(scene_count(s, ROOM_DO_SAY_OPEN), 1);
	scene_close(s);
}

/* With interruptions none that is so of its own words, too. */
TEST(rule_073_a_thought_is_spoken_to_its_end_where_nobody_may_interrupt)
{
	static const char *const may[] = {"", "interruptions none"};

	for (size_t i = 0; i < 2; i++) {
		struct scene *s = thinking(may[i]);

		scene_wait(s, 46000);
		scene_answer(s, "did you know that honey never spoils", 6000);
		scene_wait(s, 2000);
		scene_speak(s, ALICE, 1200);
		CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), i == 0);
		scene_close(s);
	}
}

TEST(thoughts_have_their_limits)
{
	static const char *const never[] = {"volition off", "thought_eagerness 0",
					    "command_only yes", "guest on"};
	struct scene *s;
	unsigned n;

	for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
		s = thinking(never[i]);
		scene_wait(s, 600000);
		CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
		scene_close(s);
	}
	/* Nobody there, music, muted. */
	s = thinking("");
	scene_leave(s, ALICE);
	scene_wait(s, 600000);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	scene_join(s, ALICE, "Alice");
	scene_event(s, (struct room_event){.type = ROOM_MUTE, .yes = true});
	scene_wait(s, 60000);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	scene_event(s, (struct room_event){.type = ROOM_MUTE});
	scene_wait(s, 1500);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_close(s);
	/* Volition's cap: 15 an hour, at most one in 90 s. */
	s = thinking("thought_interval_s 8 thought_silence_s 8");
	for (n = 0; n < 3600; n++) {
		if (room_active(s->room)) {
			scene_answer(s, "well", 200);
			scene_drained(s);
		}
		scene_wait(s, 960);
	}
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 15);
	scene_close(s);
}

TEST(eagerness_is_a_chance)
{
	struct scene *s = thinking("thought_eagerness 50 volition chatty");
	unsigned asked;

	for (unsigned n = 0; n < 4000; n++) {
		if (room_active(s->room)) {
			scene_answer(s, "well", 200);
			scene_drained(s);
		}
		scene_wait(s, 5000);
	}
	asked = scene_count(s, ROOM_DO_ASK);
	CHECK(asked > 40);
	CHECK(asked < 84); /* 20 000 s at 15 an hour */
	scene_close(s);
}

static void change_screen(struct scene *s)
{
	scene_event(s, (struct room_event){.type = ROOM_SCREEN_CHANGED, .user = BOB});
}

static struct scene *watching(const char *sets)
{
	char all[256];
	struct scene *s;

	snprintf(all, sizeof all,
		 "screen_commentary yes commentary_eagerness 100 commentary_interval_s 15%s%s",
		 *sets ? " " : "", sets);
	s = scene_open(all);
	scene_join(s, ALICE, "Alice");
	scene_join(s, BOB, "Bob");
	scene_wait(s, 5000);
	scene_mark(s);
	return s;
}

TEST(rule_164_a_remark_on_a_screen_is_withdrawn_when_somebody_speaks)
{
	struct scene *s = watching("");

	change_screen(s);
	scene_wait(s, 100);
	CHECK_INT(scene_count(s, ROOM_DO_ADMIT), 1);
	CHECK_STR(scene_find(s, ROOM_DO_ADMIT)->text, "screen_remark");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_speak(s, ALICE, 440);
	CHECK_INT(scene_ended(s, ROOM_REASON_THOUGHT_WITHDRAWN), 1);
	scene_close(s);
}

/* It waits for the instructions, which somebody's coming has changed. */
TEST(rule_164_a_remark_that_waits_is_withdrawn_as_well)
{
	for (unsigned i = 0; i < 2; i++) {
		struct scene *s = watching("");

		scene_join(s, BOB + 1, "Carol");
		scene_wait(s, 2500);
		scene_mark(s);
		change_screen(s);
		CHECK_INT(scene_count(s, ROOM_DO_ADMIT), 1);
		CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
		if (i)
			scene_event(s, (struct room_event){.type = ROOM_SCREEN_SHARE, .user = BOB});
		else
			scene_speak(s, ALICE, 440);
		CHECK_INT(scene_ended(s, ROOM_REASON_THOUGHT_WITHDRAWN), 1);
		scene_close(s);
	}
}

/* Asked, and heard: while another screen has changed since. */
TEST(rule_164_a_remark_ends_with_its_screen)
{
	for (unsigned i = 0; i < 2; i++) {
		struct scene *s = watching("");

		change_screen(s);
		scene_wait(s, 100);
		CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
		if (i)
			scene_answer(s, "your screen is full of numbers", 2000);
		scene_event(s, (struct room_event){.type = ROOM_SCREEN_CHANGED, .user = ALICE});
		scene_event(s, (struct room_event){.type = ROOM_SCREEN_SHARE, .user = ALICE});
		CHECK_INT(scene_count(s, ROOM_DO_BRAIN_CANCEL) + scene_count(s, ROOM_DO_SAY_STOP),
			  0);
		scene_event(s, (struct room_event){.type = ROOM_SCREEN_SHARE, .user = BOB});
		CHECK_INT(scene_count(s, i ? ROOM_DO_SAY_STOP : ROOM_DO_BRAIN_CANCEL), 1);
		if (i)
			scene_drained(s);
		CHECK_INT(scene_ended(s, ROOM_REASON_THOUGHT_WITHDRAWN), 1);
		CHECK(!room_active(s->room));
		scene_close(s);
	}
}

TEST(rule_164_remarks_keep_their_interval)
{
	struct scene *s = watching("");

	for (unsigned n = 0; n < 600; n++) {
		if (room_active(s->room)) {
			scene_answer(s, "well", 200);
			scene_drained(s);
		}
		change_screen(s);
		scene_wait(s, 1000);
	}
	/* In 600 s. */
	CHECK(scene_count(s, ROOM_DO_ASK) <= 41);
	CHECK(scene_count(s, ROOM_DO_ASK) >= 34);
	scene_close(s);
}

TEST(rule_164_eagerness_is_a_chance)
{
	struct scene *s = watching("commentary_eagerness 30");
	unsigned asked;

	for (unsigned n = 0; n < 300; n++) {
		if (room_active(s->room)) {
			scene_answer(s, "well", 200);
			scene_drained(s);
		}
		change_screen(s);
		scene_wait(s, 16000);
	}
	asked = scene_count(s, ROOM_DO_ADMIT);
	CHECK(asked > 66 && asked < 114);
	scene_close(s);
}

TEST(rule_164_remarks_have_their_limits)
{
	static const char *const never[] = {"screen_commentary no", "commentary_eagerness 0",
					    "command_only yes", "guest on"};
	struct scene *s;

	for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
		s = watching(never[i]);
		change_screen(s);
		scene_wait(s, 60000);
		CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
		scene_close(s);
	}
	/* Muted for a while: the change is remarked on while it is fresh, and not later. */
	for (unsigned i = 0; i < 2; i++) {
		s = watching("");
		scene_event(s, (struct room_event){.type = ROOM_MUTE, .yes = true});
		change_screen(s);
		scene_wait(s, i ? 25000 : 10000);
		CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
		scene_event(s, (struct room_event){.type = ROOM_MUTE});
		scene_wait(s, 3000);
		CHECK_INT(scene_count(s, ROOM_DO_ASK), !i);
		scene_close(s);
	}
	/* The screen is not shown any more. */
	s = watching("");
	scene_speak(s, ALICE, 440);
	change_screen(s);
	scene_event(s, (struct room_event){.type = ROOM_SCREEN_SHARE, .user = BOB});
	scene_wait(s, 60000);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 0);
	scene_close(s);
}

/* One answer is spoken, one question is transcribed, and somebody speaks. */
TEST(rule_136_a_suspension_aborts_everything_and_the_room_goes_on)
{
	static const enum room_effect_type aborts[] = {ROOM_DO_ASR_CANCEL, ROOM_DO_ASR_CLOSE,
						       ROOM_DO_BRAIN_CANCEL};
	struct scene *s = scene_open("");

	scene_join(s, ALICE, "Alice");
	scene_join(s, BOB, "Bob");
	scene_say(s, ALICE, "parley what time is it");
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_speak(s, BOB, 1000);
	scene_mark(s);
	scene_event(s, (struct room_event){.type = ROOM_SUSPEND});
	for (size_t i = 0; i < sizeof aborts / sizeof aborts[0]; i++)
		CHECK(scene_find(s, aborts[i]));
	CHECK_INT(scene_ended(s, ROOM_REASON_SUSPENDED), 2);
	CHECK_STR(left(s), "");
	scene_mark(s);
	scene_say(s, ALICE, "parley are you there");
	CHECK(scene_find(s, ROOM_DO_ASK));
	scene_close(s);
}
