#include "ipc/shape.h"
#include "tests/test.h"

static char text[400];

static const char *json(const char *in)
{
	size_t n = shape_json(in, strlen(in), text, sizeof text - 1);

	text[n] = '\0';
	return text;
}

static const char *msgpack(const void *p, size_t len)
{
	size_t n = shape_msgpack(p, len, text, sizeof text - 1);

	text[n] = '\0';
	return text;
}

TEST(of_json_names_and_numbers_stay)
{
	CHECK_STR(json("{\"op\":2,\"d\":{\"ssrc\":17,\"x\":-1.5e3,\"ok\":true,\"n\":null}}"),
		  "{\"op\":2,\"d\":{\"ssrc\":17,\"x\":-1.5e3,\"ok\":true,\"n\":null}}");
	CHECK_STR(json(" { \"op\" : 1 , \"d\" : 2 } "), "{\"op\":1,\"d\":2}");
	CHECK_STR(json("{}"), "{}");
	CHECK_STR(json("7"), "7");
}

TEST(keys_and_words_are_their_length)
{
	CHECK_STR(json("{\"op\":4,\"d\":{\"mode\":\"aead\",\"secret_key\":[1,2,251,4]}}"),
		  "{\"op\":4,\"d\":{\"mode\":*4,\"secret_key\":[11 bytes]}}");
	CHECK_STR(json("{\"delta\":\"QUJD\\\"RA==\",\"l\":[\"a]b\",[1],{\"k\":[]}],\"z\":1}"),
		  "{\"delta\":*10,\"l\":[20 bytes],\"z\":1}");
	CHECK_STR(json("\"what I said\""), "*11");
}

TEST(names_of_events_stay_when_they_are_such)
{
	CHECK_STR(json("{\"t\":\"VOICE_STATE_UPDATE\",\"type\":\"response.output_audio.delta\"}"),
		  "{\"t\":\"VOICE_STATE_UPDATE\",\"type\":\"response.output_audio.delta\"}");
	CHECK_STR(json("{\"t\":\"two words\"}"), "{\"t\":*9}");
	CHECK_STR(json("{\"type\":\"abcdefghijabcdefghijabcdefghijabcdefghijabcdefghij\"}"),
		  "{\"type\":*50}");
	CHECK_STR(json("{\"what I said\":1}"), "{\"\":1}");
}

TEST(what_is_no_json_shows_nothing_of_itself)
{
	CHECK_STR(json("token hunter22"), "");
	CHECK_STR(json("{\"a\":hunter22}"), "{\"a\":}");
	CHECK_STR(json("{\"a\" 1}"), "{\"a\":");
	CHECK_STR(json("{\"a\":\"cut"), "{\"a\":*3}");
	CHECK_STR(json("{\"a\":\"cut\\"), "{\"a\":*4}");
	CHECK_STR(json("{\"a\":[1,2"), "{\"a\":[4 bytes]}");
	CHECK_STR(json("{\"a\":{"), "{\"a\":{}}");
	CHECK_STR(json(""), "");
	CHECK_STR(json("00000000000000000000000000000000000000000000000000000000001"), "");
}

TEST(json_of_any_depth_ends)
{
	char deep[300];
	size_t n = 0;

	for (; n < 295; n += 5)
		memcpy(deep + n, "{\"a\":", 5);
	n = shape_json(deep, n, text, sizeof text);
	CHECK(n > 10 && n < 200);
}

TEST(of_msgpack_numbers_stay)
{
	static const uint8_t msg[] = {0x9b, 0x07, 0xff, 0xcc, 200,  0xcd, 1,	2,   0xce,
				      0,    0,	  1,	0,    0xcf, 0,	  0,	0,   1,
				      0,    0,	  0,	0,    0xc2, 0xc3, 0xa3, 'a', 'b',
				      'c',  0xc4, 2,	1,    2,    0xd9, 1,	'x', 0x01};

	CHECK_STR(msgpack(msg, sizeof msg), "[7 -1 200 258 256 4294967296 no yes *3 *2 *1]");
	CHECK_STR(msgpack("\xdc\x00\x02\x01\x02", 5), "[1 2]");
	CHECK_STR(msgpack("\x92\x01", 2), "[1 ]");
	CHECK_STR(msgpack("\x92\xc4\x7f"
			  "abc",
			  6),
		  "[*127]");
	CHECK_STR(msgpack("\x91\x91\x01", 3), "[]");
	CHECK_STR(msgpack("", 0), "[]");
	CHECK_STR(msgpack("secret", 6), "[]");
}

TEST(a_shape_stays_in_its_room)
{
	char small[9];

	memset(small, '!', sizeof small);
	CHECK(shape_json("{\"aaaa\":1,\"bbbb\":2}", 19, small, 8) <= 8);
	CHECK(small[8] == '!');
	CHECK(shape_msgpack((const uint8_t *)"\x93\xcd\x7f\xff\xcd\x7f\xff\xcd\x7f\xff", 10, small,
			    8) <= 8);
	CHECK(small[8] == '!');
	CHECK_INT(shape_json("{}", 2, small, 0), 0);
}
