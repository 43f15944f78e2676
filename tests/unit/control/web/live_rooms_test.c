/* Recordings, turns and rooms, and the room that is asked again. */
#include "tests/unit/control/web/live_scene.h"

#include <errno.h>
#include <string.h>

#include <jansson.h>

static void on_done(int err, void *arg)
{
	(void)err;
	(void)arg;
	env_stop(live_scene.l.env);
}

static void add_turn(void)
{
	static const uint8_t sound[] = {1, 2, 3, 4};
	struct bus_event ev = {.type = EVENT_TURN, .guild = 42, .user = 501};
	struct store_recording r = {.guild = 42,
				    .session = 5,
				    .user = 501,
				    .utterance = 9,
				    .ms = 1,
				    .sound = sound,
				    .n = sizeof sound};

	r.at_ms = ev.at_ms = env_wall_ms(live_scene.l.env);
	ev.turn = (struct event_turn){.session = 5,
				      .channel = 7,
				      .turn = 3,
				      .name = "alice",
				      .reason = "answered",
				      .first_audio_ms = -1,
				      .segments = "[{\"user\":\"501\",\"name\":\"alice\","
						  "\"utterance\":9,\"text\":\"hello\"}]",
				      .why = "[]"};
	bus_publish(live_scene.bus, &ev);
	CHECK_INT(store_keep_recording(live_scene.store, &r), 0);
	CHECK_INT(store_sync(live_scene.store, on_done, NULL), 0);
	loop_run(&live_scene.l);
}

TEST(a_recording_is_served_as_a_wav_file_while_its_speaker_agrees)
{
	CHECK(live_scene_open());
	add_turn();
	CHECK_INT(live_scene_ask("GET", "/api/turns/1", NULL), 200);
	CHECK(strstr(live_scene.text, "\"recordings\":[{\"utterance\":9,\"user\":\"501\""));
	CHECK(strstr(live_scene.text, "\"sessionId\":\"42-5\""));
	live_scene.remembers = true;
	CHECK_INT(live_scene_ask("GET", "/api/turns/1/audio?utterance=9", NULL), 200);
	CHECK_INT(live_scene.n, 58 + 4);
	CHECK(memcmp(live_scene.text, "RIFF", 4) == 0 &&
	      memcmp(live_scene.text + 58, "\1\2\3\4", 4) == 0);
	CHECK_INT(live_scene.text[20], 7);
	CHECK_STR(live_scene.audit, "listen /api/turns/1/audio utterance 9: carried out");
	/* Withdrawn: what the store still has is served to nobody. */
	live_scene.remembers = false;
	CHECK_INT(live_scene_ask("GET", "/api/turns/1/audio?utterance=9", NULL), 404);
	CHECK_STR(live_scene.audit, "listen /api/turns/1/audio utterance 9: refused");
	live_scene.remembers = true;
	CHECK_INT(live_scene_ask("GET", "/api/turns/1/audio?utterance=8", NULL), 404);
	CHECK_INT(live_scene_ask("GET", "/api/turns/2/audio?utterance=9", NULL), 404);
	CHECK_INT(live_scene_ask("GET", "/api/turns/1/audio", NULL), 400);
	CHECK_INT(live_scene_ask("GET", "/api/turns/1/audio?utterance=x", NULL), 400);
	live_scene_close();
}

TEST(a_list_of_turns_may_have_timelines)
{
	CHECK(live_scene_open());
	add_turn();
	CHECK_INT(live_scene_ask("GET", "/api/turns?timeline=1", NULL), 200);
	CHECK(strstr(live_scene.text, "\"timeline\":[") && strstr(live_scene.text, "\"stages\":["));
	CHECK_INT(live_scene_ask("GET", "/api/turns", NULL), 200);
	CHECK(!strstr(live_scene.text, "\"timeline\""));
	CHECK_INT(live_scene_ask("GET", "/api/turns?timeline=2", NULL), 400);
	live_scene_close();
}

/* A page of a hundred rooms shows one of them. */
TEST(of_rooms_that_are_not_shown_a_list_is_told)
{
	CHECK(live_scene_open());
	CHECK_INT(live_scene_ask("GET", "/api/rooms", NULL), 200);
	CHECK(strstr(live_scene.text, "\"one\"") && strstr(live_scene.text, "\"two\""));
	CHECK_INT(live_scene_ask("GET", "/api/rooms?whole=43", NULL), 200);
	CHECK(!strstr(live_scene.text, "\"one\"") && strstr(live_scene.text, "\"two\""));
	CHECK(!strstr(live_scene.text, "1234") && strstr(live_scene.text, "5678") &&
	      strstr(live_scene.text, "\"42\""));
	CHECK_INT(live_scene_ask("GET", "/api/rooms?whole=42", NULL), 200);
	CHECK(strstr(live_scene.text, "\"one\"") && !strstr(live_scene.text, "\"two\""));
	CHECK_INT(live_scene_ask("GET", "/api/rooms?whole=", NULL), 400);
	CHECK_INT(live_scene_ask("GET", "/api/rooms?whole=x", NULL), 400);
	live_scene_close();
}

/* ---- the room, asked again ---- */

#define AGAIN "/api/voice/history/sessions/42-1790000000000/again"

static void answer_again(void *arg)
{
	(void)arg;
	live_scene.againh(json_pack("{s:[]}", "rules"), live_scene.again_arg);
}

TEST(the_room_is_asked_again_once_at_a_time)
{
	struct tmr *later = NULL;

	CHECK(live_scene_open());
	CHECK_INT(tmr_alloc(&later, live_scene.l.env, answer_again, NULL), 0);
	tmr_start(later, 50 * NS_PER_MS);
	CHECK_INT(live_scene_ask("POST", AGAIN, "{\"turn\": 3, \"settings\": {\"interim_ms\": 0}}"),
		  200);
	CHECK_STR(live_scene.text, "{\"rules\":[]}");
	CHECK_INT(json_integer_value(json_object_get(live_scene.asked, "session")), 1790000000000);
	CHECK_INT(json_integer_value(json_object_get(live_scene.asked, "turn")), 3);
	live_scene.again_err = EBUSY;
	CHECK_INT(live_scene_ask("POST", AGAIN, "{\"turn\": 3, \"settings\": {\"a\": 0}}"), 503);
	live_scene.again_err = ENOENT;
	CHECK_INT(live_scene_ask("POST", AGAIN, "{\"turn\": 3, \"settings\": {\"a\": 0}}"), 404);
	tmr_free(later);
	live_scene_close();
}

static void refuse_again(void *arg)
{
	live_scene.againh(arg ? json_pack("{s:s,s:s}", "error", "unknown_setting", "setting", "a")
			      : NULL,
			  live_scene.again_arg);
}

TEST(what_the_room_cannot_be_asked_is_told)
{
	static const char *const bad[] = {"{}", "{\"turn\": 3}", "{\"turn\": 3, \"settings\": {}}",
					  "{\"turn\": 0, \"settings\": {\"a\": 1}}",
					  "{\"turn\": 3, \"settings\": {\"a\": [1]}}"};
	struct tmr *later = NULL, *never = NULL;

	CHECK(live_scene_open());
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		CHECK_INT(live_scene_ask("POST", AGAIN, bad[i]), 400);
	CHECK(!live_scene.asked);
	CHECK_INT(tmr_alloc(&later, live_scene.l.env, refuse_again, &live_scene), 0);
	CHECK_INT(tmr_alloc(&never, live_scene.l.env, refuse_again, NULL), 0);
	tmr_start(later, 50 * NS_PER_MS);
	CHECK_INT(live_scene_ask("POST", AGAIN, "{\"turn\": 3, \"settings\": {\"a\": true}}"), 422);
	CHECK(strstr(live_scene.text, "/settings/a"));
	tmr_start(never, 50 * NS_PER_MS);
	CHECK_INT(live_scene_ask("POST", AGAIN, "{\"turn\": 3, \"settings\": {\"a\": true}}"), 503);
	tmr_free(later);
	tmr_free(never);
	live_scene_close();
}
