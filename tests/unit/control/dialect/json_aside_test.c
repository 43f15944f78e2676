#include "tests/test.h"

#include "control/dialect/json_aside.h"
#include "control/dialect/json_read.h"

static json_t *load(struct json_aside *aside, const char *msg)
{
	return json_aside_load(aside, (const uint8_t *)msg, strlen(msg), "delta", 16);
}

static void text_is(const struct json_aside *aside, const json_t *obj, const char *want)
{
	struct slice s = json_aside_value(aside, json_read_text(obj, "delta"));

	CHECK_INT(s.n, strlen(want));
	CHECK(memcmp(s.p, want, s.n) == 0);
}

TEST(json_aside_long_values_of_the_key_stay_in_the_message)
{
	static const char msg[] = "{\"delta\" : \"0123456789abcdef\", \"x\":\"0123456789abcdefg\","
				  "\"in\":[{\"delta\":\"fedcba9876543210+/==\"}],\"n\":1}";
	struct json_aside aside;
	json_t *root = load(&aside, msg);

	CHECK(root);
	CHECK_INT(aside.n, 2);
	CHECK(aside.v[0].p > (const uint8_t *)msg && aside.v[0].p < (const uint8_t *)msg + 20);
	text_is(&aside, root, "0123456789abcdef");
	text_is(&aside, json_array_get(json_object_get(root, "in"), 0), "fedcba9876543210+/==");
	CHECK_STR(json_string_value(json_object_get(root, "x")), "0123456789abcdefg");
	CHECK_INT(json_integer_value(json_object_get(root, "n")), 1);
	json_decref(root);
}

TEST(json_aside_what_needs_a_parser_gets_one)
{
	/* Escapes, control characters, other characters, other keys, short ones, values that only
	 * look like keys. */
	static const char *const kept[] = {
		"{\"delta\":\"0123456789abcde\\n\"}",
		"{\"delta\":\"0123456789abcd\\\"ef\"}",
		"{\"delta\":\"0123456789abcdef\xc3\xa9\"}",
		"{\"delta\":\"0123456789abcde\"}",
		"{\"d\\u0065lta\":\"0123456789abcdef\"}",
		"[\"delta\",\"0123456789abcdef\"]",
		"{\"a\":\"delta\",\"b\":\"0123456789abcdef\"}",
		"{\"\\\"delta\":\"0123456789abcdef\"}",
	};
	static const char *const broken[] = {
		"{\"delta\":\"0123456789abcdef",
		"{\"delta\":\"0123456789abcdef\"",
		"{\"delta\":\"0123456789abcdef\x01\"}",
		"{\"delta\":\"0123456789abcdef\"\"}",
		"{\"delta\":\"0123456789abcdef\x7f\xff\"}",
		"\"delta\":\"0123456789abcdef\"",
	};
	struct json_aside aside;

	for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
		json_t *root = load(&aside, kept[i]), *all = json_loads(kept[i], 0, NULL);

		CHECK_INT(aside.n, 0);
		CHECK(root && json_equal(root, all));
		json_decref(root);
		json_decref(all);
	}
	for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
		CHECK(!load(&aside, broken[i]));
}

TEST(json_aside_a_provider_that_sends_marks_gets_its_own_values)
{
	struct json_aside aside;
	json_t *root =
		load(&aside, "{\"delta\":\"0123456789abcdef\",\"a\":{\"delta\":\"\\u00010\"},"
			     "\"b\":{\"delta\":\"\\u00011\"}}");

	text_is(&aside, json_object_get(root, "a"), "0123456789abcdef");
	text_is(&aside, json_object_get(root, "b"),
		"\x01"
		"1");
	json_decref(root);
}
