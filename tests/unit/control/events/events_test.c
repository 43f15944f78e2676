#include "control/events/events.h"

#include "tests/test.h"

static const struct bus_event turn = {
	.type = EVENT_TURN,
	.at_ms = 7,
	.guild = 41771983423143937,
	.user = 501,
	.turn = {.session = 5,
		 .channel = 2,
		 .turn = 3,
		 .stage = "ended",
		 .name = "alice",
		 .heard = "what \"time\" is it",
		 .reason = "answered",
		 .said = "ten past four",
		 .text = "it was answered",
		 .first_audio_ms = 1550,
		 .lasted_ms = -1,
		 .segments = "[{\"text\":\"what\"}]",
		 .why = "[{\"rule\":\"direct_address\",\"yes\":true}]",
		 .told = "[\"77\"]"},
};

static const char *text_in(const json_t *j, const char *key)
{
	return json_string_value(json_object_get(j, key));
}

TEST(an_event_has_a_json_form)
{
	json_t *j = bus_event_json(&turn, true);

	CHECK(j);
	CHECK_STR(text_in(j, "event"), "turn");
	CHECK_INT(json_integer_value(json_object_get(j, "version")), 2);
	CHECK_INT(json_integer_value(json_object_get(j, "at")), 7);
	CHECK_STR(text_in(j, "guild"), "41771983423143937");
	CHECK_STR(text_in(j, "channel"), "2");
	CHECK_STR(text_in(j, "heard"), "what \"time\" is it");
	CHECK_INT(json_integer_value(json_object_get(j, "first_audio_ms")), 1550);
	CHECK(json_is_null(json_object_get(j, "lasted_ms")));
	CHECK_INT(json_array_size(json_object_get(j, "why")), 1);
	CHECK_INT(json_array_size(json_object_get(j, "segments")), 1);
	CHECK_INT(json_array_size(json_object_get(j, "told")), 1);
	json_decref(j);
}

/* What a server said, cut at a number of bytes. No JSON could hold it. */
TEST(an_event_with_half_a_letter_has_a_json_form)
{
	struct bus_event ev = {.type = EVENT_ENGINE_DOWN, .engine = {.why = "sch\xc3\xb6n, s\xc3"}};
	json_t *j = bus_event_json(&ev, true);

	CHECK(j);
	CHECK_STR(text_in(j, "why"), "sch\xc3\xb6n, s");
	json_decref(j);
}

TEST(an_event_without_words_holds_none)
{
	json_t *j = bus_event_json(&turn, false);
	char line[1024];

	CHECK(j);
	CHECK_STR(text_in(j, "heard"), "");
	CHECK_STR(text_in(j, "said"), "");
	CHECK(json_is_null(json_object_get(j, "segments")));
	CHECK(json_is_null(json_object_get(j, "told"))); /* whose words the model was given */
	CHECK_INT(json_array_size(json_object_get(j, "why")), 1);
	json_decref(j);
	bus_event_line(&turn, false, line, sizeof line);
	CHECK_STR(line, "guild=41771983423143937 user=501 session=5 channel=2 turn=3 stage=ended "
			"heard=\"(17 characters)\" reason=answered said=\"(13 characters)\" "
			"text=\"it was answered\" first_audio_ms=1550 prompts=0 transient=0");
}

TEST(nobodys_words_look_like_a_field_of_a_log_line)
{
	struct bus_event ev = turn;
	char line[1024], small[20];

	ev.turn.heard = "x\" reason=answered\n";
	ev.turn.reason = "a b";
	bus_event_line(&ev, true, line, sizeof line);
	CHECK(strstr(line, "heard=\"x\\\" reason=answered\\x0a\" reason=\"a b\" "));
	bus_event_line(&ev, true, small, sizeof small);
	CHECK_STR(small, "guild=4177198342314");
}

TEST_OOM(a_copy_owns_its_texts)
{
	char heard[] = "hello";
	struct bus_event ev = turn, *copy;

	ev.turn.heard = heard;
	ev.turn.said = NULL;
	copy = bus_event_copy(&ev, NULL);
	CHECK_OOM(copy ? 0 : ENOMEM, );
	heard[0] = 'j';
	CHECK_STR(copy->turn.heard, "hello");
	CHECK_STR(copy->turn.why, turn.turn.why);
	CHECK(!copy->turn.said);
	CHECK_INT(copy->turn.first_audio_ms, 1550);
	free(copy);
}

TEST(control_characters_of_two_bytes_are_escaped_in_a_log_line)
{
	struct bus_event ev = {.type = EVENT_TURN};
	char line[1024];

	ev.turn.heard = "a\xc2\x9b"
			"2J Z\xc3\xbcrich\xc2";
	bus_event_line(&ev, true, line, sizeof line);
	CHECK(strstr(line, "heard=\"a\\xc2\\x9b2J Z\xc3\xbcrich\xc2\""));
}

TEST(every_event_is_described_and_can_be_told_when_it_is_empty)
{
	for (unsigned i = 0; i < EVENT_COUNT; i++) {
		const struct bus_event_info *info = bus_event_info((enum event_type)i);
		struct bus_event ev = {.type = (enum event_type)i},
				 *copy = bus_event_copy(&ev, NULL);
		json_t *j = bus_event_json(&ev, true);
		char line[256];

		bus_event_line(&ev, true, line, sizeof line);
		CHECK(info->name && *info->text && info->version && info->n_fields);
		CHECK(copy && j);
		CHECK_INT(json_object_size(j), 5 + info->n_fields);
		json_decref(j);
		free(copy);
	}
}

static unsigned seen[2];

static void count(const struct bus_event *ev, void *arg)
{
	(void)ev;
	++*(unsigned *)arg;
}

TEST(the_bus_calls_those_who_asked_for_the_type)
{
	struct bus *bus = NULL;
	struct bus_event other = {.type = EVENT_READY};

	memset(seen, 0, sizeof seen);
	CHECK_INT(bus_alloc(&bus), 0);
	CHECK_INT(bus_subscribe(bus, BUS_MASK(EVENT_TURN), count, &seen[0]), 0);
	CHECK_INT(bus_subscribe(bus, BUS_ALL, count, &seen[1]), 0);
	bus_publish(bus, &turn);
	bus_publish(bus, &other);
	bus_publish(NULL, &turn);
	CHECK_INT(seen[0], 1);
	CHECK_INT(seen[1], 2);
	bus_drop_subscribers(bus);
	bus_publish(bus, &turn);
	CHECK_INT(seen[1], 2);
	for (unsigned i = 0; i < BUS_SUBSCRIBERS; i++)
		CHECK_INT(bus_subscribe(bus, BUS_ALL, count, &seen[1]), 0);
	CHECK_INT(bus_subscribe(bus, BUS_ALL, count, &seen[1]), ENOSPC);
	bus_free(bus);
}
