#include "tests/talk/wire.h"

#include "tests/test.h"

static int order(const char *text, struct wire_order *out)
{
	return wire_order((const uint8_t *)text, strlen(text), out);
}

TEST(wire_reads_the_orders_of_a_page)
{
	struct wire_order o;

	CHECK_INT(order("{\"do\":\"join\",\"name\":\"  Ann \\u0007B "
			"\",\"rate\":44100,\"muted\":true}",
			&o),
		  0);
	CHECK_INT(o.what, WIRE_JOIN);
	CHECK_STR(o.name, "Ann  B");
	CHECK_INT(o.rate, 44100);
	CHECK(o.on);
	CHECK_INT(order("{\"do\":\"mute\",\"on\":false}", &o), 0);
	CHECK(o.what == WIRE_MUTE && !o.on);
	CHECK_INT(order("{\"do\":\"leave\"}", &o), 0);
	CHECK_INT(o.what, WIRE_LEAVE);
}

TEST(wire_refuses_what_is_no_order)
{
	static const char *const bad[] = {"",
					  "[]",
					  "{}",
					  "{\"do\":1}",
					  "{\"do\":\"sing\"}",
					  "{\"do\":\"mute\"}",
					  "{\"do\":\"join\",\"rate\":48000}",
					  "{\"do\":\"join\",\"name\":\"a\"}",
					  "{\"do\":\"join\",\"name\":\"a\",\"rate\":-1}",
					  "{\"do\":\"leave\"} x"};
	struct wire_order o;
	char big[WIRE_ORDER_MAX + 64];

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		CHECK_INT(order(bad[i], &o), EBADMSG);
	snprintf(big, sizeof big, "{\"do\":\"leave\",\"x\":\"%0*d\"}", WIRE_ORDER_MAX, 0);
	CHECK_INT(order(big, &o), EBADMSG);
}

TEST(wire_keeps_names_whole_and_short)
{
	char text[400] = "{\"do\":\"join\",\"rate\":48000,\"name\":\"";
	struct wire_order o;

	for (unsigned i = 0; i < 60; i++)
		strcat(text, "\xc3\xa9");
	strcat(text, "\"}");
	CHECK_INT(order(text, &o), 0);
	CHECK_INT(strlen(o.name), 62);
}

TEST(wire_passes_on_turns_of_its_own_channel)
{
	static const char line[] = "{\"turn\":3,\"channel\":\"77\",\"heard\":\"hello\"}";
	json_t *o = wire_turn(line, strlen(line), 77);

	CHECK(o);
	CHECK_STR(json_string_value(json_object_get(o, "is")), "turn");
	CHECK_STR(json_string_value(json_object_get(o, "heard")), "hello");
	json_decref(o);
	CHECK(!wire_turn(line, strlen(line), 78));
	CHECK(!wire_turn(line, strlen(line) - 1, 77));
	CHECK(!wire_turn("{\"channel\":\"77\"}", 16, 77));
	CHECK(!wire_turn("[1]", 3, 77));
}

TEST(wire_knows_its_own_page_from_others)
{
	CHECK(wire_host("127.0.0.1:7373", 7373) && wire_host("localhost:7373", 7373));
	CHECK(!wire_host("", 7373) && !wire_host("127.0.0.1", 7373));
	CHECK(!wire_host("127.0.0.1:7374", 7373) && !wire_host("evil.example:7373", 7373));
	CHECK(wire_origin("http://127.0.0.1:7373", 7373));
	CHECK(wire_origin("http://localhost:7373", 7373));
	CHECK(!wire_origin("", 7373) && !wire_origin("null", 7373));
	CHECK(!wire_origin("http://127.0.0.1:73733", 7373));
	CHECK(!wire_origin("https://127.0.0.1:7373", 7373));
	CHECK(!wire_origin("http://evil.example:7373", 7373));
}
