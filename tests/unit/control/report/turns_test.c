/* What the bus tells about a voice session. */
#include "tests/unit/control/report/turns_scene.h"

#include "control/events/events.h"

TEST(a_turn_is_told_with_its_reason_and_why)
{
	struct scene s;
	json_t *why;

	CHECK_INT(turns_scene_open(&s), 0);
	turns_tell(s.turns, &turns_scene_turn, TURNS_ENDED);
	CHECK_INT(s.n_told, 2);
	CHECK_STR(turns_scene_told(&s, 0, "event"), "session_started");
	CHECK_STR(turns_scene_told(&s, 1, "stage"), "ended");
	CHECK_STR(turns_scene_told(&s, 1, "channel"), "2");
	CHECK_STR(turns_scene_told(&s, 1, "reason"), "answered");
	CHECK_STR(turns_scene_told(&s, 1, "heard"), "what \"time\" is it");
	CHECK_INT(json_integer_value(json_object_get(s.told[1], "first_audio_ms")), 1550);
	why = json_array_get(json_object_get(s.told[1], "why"), 0);
	CHECK_STR(json_string_value(json_object_get(why, "rule")), "direct_address");
	CHECK(json_is_true(json_object_get(why, "yes")));
	turns_scene_close(&s);
}

/* Nobody said the prompt of a turn of the bot's own; of a question in writing its writer's words
 * are told. */
TEST(prompts_are_not_told_as_words_of_people)
{
	struct room_turn own = turns_scene_turn;
	const json_t *segment;
	struct scene s;

	own.prompted = true;
	snprintf(own.transcript, sizeof own.transcript, "(Alice wrote to you: why? Answer it.)");
	CHECK_INT(turns_scene_open(&s), 0);
	turns_tell(s.turns, &own, TURNS_ENDED);
	CHECK_STR(turns_scene_told(&s, 1, "heard"), "");
	own.quoted_at = 21;
	own.quoted_n = 4;
	own.quoted_user = 502;
	snprintf(own.quoted_name, sizeof own.quoted_name, "Bob");
	turns_tell(s.turns, &own, TURNS_ENDED);
	CHECK_STR(turns_scene_told(&s, 2, "heard"), "why?");
	CHECK_STR(turns_scene_told(&s, 2, "user"), "502");
	CHECK_STR(turns_scene_told(&s, 2, "name"), "Bob");
	segment = json_array_get(json_object_get(s.told[2], "segments"), 0);
	CHECK_STR(json_string_value(json_object_get(segment, "user")), "502");
	CHECK_STR(json_string_value(json_object_get(segment, "text")), "why?");
	s.refuses = 502;
	turns_tell(s.turns, &own, TURNS_ENDED);
	s.refuses = 0;
	CHECK_STR(turns_scene_told(&s, 3, "heard"), "");
	CHECK_INT(json_array_size(json_object_get(s.told[3], "segments")), 0);
	turns_scene_close(&s);
}

TEST(words_without_consent_are_not_told)
{
	struct room_event transcript = {.type = ROOM_TRANSCRIPT,
					.user = 501,
					.utterance = 9,
					.text = {(const uint8_t *)"secret", 6}};
	struct scene s;

	CHECK_INT(turns_scene_open(&s), 0);
	s.refuses = 501;
	turns_tell(s.turns, &turns_scene_turn, TURNS_ENDED);
	turns_event(s.turns, &transcript);
	s.refuses = 0;
	turns_event(s.turns, &transcript);
	CHECK_INT(s.n_told, 4);
	CHECK_STR(turns_scene_told(&s, 1, "heard"), "");
	CHECK_STR(turns_scene_told(&s, 1, "said"), "");
	CHECK_STR(turns_scene_told(&s, 2, "text"), "");
	CHECK_STR(turns_scene_told(&s, 3, "text"), "secret");
	turns_scene_close(&s);
}

TEST(an_utterance_is_told_with_its_speaker)
{
	struct room_event transcript = {.type = ROOM_TRANSCRIPT,
					.user = 501,
					.utterance = 9,
					.text = {(const uint8_t *)"hello there", 11}};
	struct room_effect start = {.type = ROOM_DO_ASR_START, .user = 501, .utterance = 9},
			   commit = {.type = ROOM_DO_ASR_COMMIT, .user = 501, .utterance = 9};
	struct scene s;

	CHECK_INT(turns_scene_open(&s), 0);
	turns_scene_come(&s, 501, "alice");
	turns_scene_forget(&s);
	turns_effect(s.turns, &start);
	turns_effect(s.turns, &commit);
	turns_event(s.turns, &transcript);
	CHECK_INT(s.n_told, 1);
	CHECK_STR(turns_scene_told(&s, 0, "event"), "utterance");
	CHECK_STR(turns_scene_told(&s, 0, "name"), "alice");
	CHECK_STR(turns_scene_told(&s, 0, "text"), "hello there");
	CHECK_STR(turns_scene_told(&s, 0, "source"), "realtime-transcription");
	CHECK_STR(turns_scene_told(&s, 0, "language"), "");
	transcript.language = (struct slice){(const uint8_t *)"de", 2};
	turns_event(s.turns, &transcript);
	CHECK_STR(turns_scene_told(&s, 1, "language"), "de");
	turns_scene_close(&s);
}

TEST(coming_and_going_of_people_who_may_be_remembered_is_told)
{
	struct room_event other = {.type = ROOM_MEMBER,
				   .user = 502,
				   .yes = true,
				   .text = {(const uint8_t *)"alice", 5}};
	struct scene s;

	CHECK_INT(turns_scene_open(&s), 0);
	turns_scene_forget(&s);
	s.refuses = 502;
	turns_scene_come(&s, 501, "alice");
	turns_scene_come(&s, 501, "alice"); /* a new name */
	turns_event(s.turns, &other);
	other.user = 503;
	other.is_bot = true;
	turns_event(s.turns, &other);
	turns_scene_leave(&s, 501);
	CHECK_INT(s.n_told, 2);
	CHECK_STR(turns_scene_told(&s, 0, "event"), "member");
	CHECK_STR(turns_scene_told(&s, 0, "user"), "501");
	CHECK_STR(turns_scene_told(&s, 0, "name"), "alice");
	CHECK(json_is_true(json_object_get(s.told[0], "there")));
	CHECK(json_is_false(json_object_get(s.told[1], "there")));
	turns_scene_close(&s);
}

TEST(a_member_who_withdraws_consent_is_told_as_gone)
{
	struct scene s;

	CHECK_INT(turns_scene_open(&s), 0);
	turns_scene_forget(&s);
	turns_scene_come(&s, 501, "alice");
	s.refuses = 501;
	turns_consent(s.turns, 501);
	turns_consent(s.turns, 502); /* nobody here */
	CHECK_INT(s.n_told, 2);
	CHECK(json_is_false(json_object_get(s.told[1], "there")));
	turns_scene_leave(&s, 501);
	CHECK_INT(s.n_told, 2);
	turns_scene_close(&s);
}

TEST(sound_that_never_became_a_turn_is_told_unless_a_turn_held_it)
{
	struct room_effect start = {.type = ROOM_DO_ASR_START, .user = 501, .utterance = 4},
			   cancel = {.type = ROOM_DO_ASR_CANCEL, .user = 501, .utterance = 4};
	struct room_turn held = turns_scene_turn;
	struct room_effect record = {.type = ROOM_DO_RECORD, .record = &held};
	struct scene s;

	held.chunks = 1;
	held.chunk[0].utterance = 5;
	CHECK_INT(turns_scene_open(&s), 0);
	turns_effect(s.turns, &start);
	turns_effect(s.turns, &cancel);
	start.utterance = cancel.utterance = 5;
	turns_effect(s.turns, &start);
	turns_effect(s.turns, &cancel);
	turns_effect(s.turns, &record);
	s.turns = turns_free(s.turns, "shutdown");
	CHECK_INT(s.n_told, 4); /* session, turn, dropped, session over */
	CHECK_STR(turns_scene_told(&s, 2, "event"), "speech_dropped");
	CHECK_INT(json_integer_value(json_object_get(s.told[2], "utterance")), 4);
	CHECK_STR(turns_scene_told(&s, 3, "event"), "session_over");
	CHECK_STR(turns_scene_told(&s, 3, "why"), "shutdown");
	turns_scene_close(&s);
}

TEST(a_session_of_speech_to_text_is_told_when_it_opens_and_why_it_closes)
{
	struct room_effect start = {.type = ROOM_DO_ASR_START,
				    .user = 501,
				    .utterance = 4,
				    .opens = true},
			   close = {.type = ROOM_DO_ASR_CLOSE, .user = 501, .text = "idle_ttl"};
	struct scene s;

	CHECK_INT(turns_scene_open(&s), 0);
	turns_effect(s.turns, &start);
	start.opens = false;
	start.utterance = 5;
	turns_effect(s.turns, &start);
	turns_effect(s.turns, &close);
	CHECK_INT(s.n_told, 3); /* session, opened, closed */
	CHECK_STR(turns_scene_told(&s, 1, "event"), "asr_session");
	CHECK_STR(turns_scene_told(&s, 1, "state"), "opened");
	CHECK_STR(turns_scene_told(&s, 2, "state"), "closed");
	CHECK_STR(turns_scene_told(&s, 2, "why"), "idle_ttl");
	turns_scene_close(&s);
}
