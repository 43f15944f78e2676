#include "tests/test.h"

#include "control/tools/schema.h"
#include "proto/base/utf8.h"

static char why[SCHEMA_WHY_MAX];

static int load(struct schema **s, const char *text)
{
	json_t *root = json_loads(text, JSON_DECODE_ANY, NULL);
	int err = root ? schema_alloc(s, root, why, sizeof why) : EBADMSG;

	json_decref(root);
	return err;
}

static int judge(const char *schema, const char *value)
{
	json_t *v = json_loads(value, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	struct schema *s = NULL;
	int err = load(&s, schema);

	if (!err && v)
		err = schema_check(s, v, why, sizeof why);
	json_decref(v);
	schema_free(s);
	return v ? err : EBADMSG;
}

#define SEARCH                                                                                     \
	"{\"type\":\"object\",\"properties\":{\"query\":{\"type\":\"string\",\"minLength\":1},"    \
	"\"count\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":10},"                           \
	"\"safe\":{\"enum\":[\"off\",\"strict\"]},"                                                \
	"\"tags\":{\"type\":\"array\",\"items\":{\"type\":[\"string\",\"null\"]},"                 \
	"\"uniqueItems\":true,\"maxItems\":3},"                                                    \
	"\"when\":{\"anyOf\":[{\"type\":\"integer\",\"multipleOf\":5},{\"type\":\"null\"}]}},"     \
	"\"required\":[\"query\"],\"additionalProperties\":false}"

TEST(schema_says_where_and_what)
{
	static const struct {
		const char *value, *why;
	} rows[] = {
		{"[]", "The value must be of type object, but it is an array."},
		{"{}", "The value lacks the required property \"query\"."},
		{"{\"query\":\"\"}",
		 "The value at \"/query\" must have at least 1 characters, but it has 0."},
		{"{\"query\":7}",
		 "The value at \"/query\" must be of type string, but it is an integer."},
		{"{\"query\":\"x\",\"count\":11}",
		 "The value at \"/count\" must be at most 10, but it is 11."},
		{"{\"query\":\"x\",\"count\":1.5}",
		 "The value at \"/count\" must be of type integer, but it is a number."},
		{"{\"query\":\"x\",\"safe\":\"on\"}",
		 "The value at \"/safe\" must be one of [\"off\",\"strict\"]."},
		{"{\"query\":\"x\",\"tags\":[\"a\",1]}",
		 "The value at \"/tags/1\" must be of one of the types [\"string\",\"null\"], but "
		 "it is "
		 "an integer."},
		{"{\"query\":\"x\",\"tags\":[\"a\",\"b\",\"a\"]}",
		 "The value at \"/tags\" must not have equal items, but items 0 and 2 are equal."},
		{"{\"query\":\"x\",\"when\":7}",
		 "The value at \"/when\" must be a multiple of 5, but it is 7."},
		{"{\"query\":\"x\",\"quarry\":1}",
		 "The value must not have the property \"quarry\"; its properties are: query, "
		 "count, safe, tags, when."},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		CHECK_INT(judge(SEARCH, rows[i].value), EINVAL);
		CHECK_STR(why, rows[i].why);
	}
	CHECK_INT(judge(SEARCH, "{\"query\":\"x\",\"count\":5.0,\"tags\":[null],\"when\":null}"),
		  0);
	CHECK_STR(why, "");
}

TEST(schema_numbers_compare_exactly)
{
	CHECK_INT(judge("{\"const\":1}", "1.0"), 0);
	CHECK_INT(judge("{\"const\":1}", "true"), EINVAL);
	CHECK_INT(judge("{\"type\":\"integer\"}", "5.0"), 0);
	CHECK_INT(judge("{\"type\":\"integer\"}", "1e300"), 0);
	CHECK_INT(judge("{\"const\":9007199254740993}", "9007199254740992.0"), EINVAL);
	CHECK_INT(judge("{\"maximum\":9223372036854775807}", "9223372036854775808.0"), EINVAL);
	CHECK_INT(judge("{\"minimum\":-9223372036854775808}", "-1e19"), EINVAL);
	CHECK_INT(judge("{\"exclusiveMinimum\":3}", "3.5"), 0);
	CHECK_INT(judge("{\"exclusiveMinimum\":-3}", "-3.5"), EINVAL);
	CHECK_INT(judge("{\"multipleOf\":0.1}", "0.30000000000000004"), 0);
	CHECK_INT(judge("{\"multipleOf\":0.1}", "10000000000.05"), EINVAL);
	CHECK_INT(judge("{\"multipleOf\":1}", "-9223372036854775808"), 0);
}

TEST(schema_lengths_count_code_points)
{
	CHECK_INT(judge("{\"maxLength\":2}", "\"\\ud83d\\ude00\\u00e9\""), 0);
	CHECK_INT(judge("{\"minLength\":3}", "\"\\ud83d\\ude00\\u00e9\""), EINVAL);
	CHECK_INT(judge("{\"maxLength\":1}", "\"a\\u0000\""), EINVAL);
}

TEST(schema_says_what_is_wrong_with_a_schema)
{
	static const struct {
		const char *schema, *why;
	} rows[] = {
		{"{\"properties\":{\"a\":{\"pattern\":\"x\"}}}",
		 "The schema at \"/properties/a/pattern\" is a keyword that is not supported."},
		{"{\"type\":\"text\"}",
		 "The schema at \"/type\" must be the name of a type or a list of such names."},
		{"{\"minItems\":-1}",
		 "The schema at \"/minItems\" must be an integer that is not negative."},
		{"{\"anyOf\":[]}",
		 "The schema at \"/anyOf\" must be a list of schemas that is not empty."},
		{"{\"items\":[{}]}", "The schema at \"/items\" must be an object, true or false."},
		{"{\"$ref\":\"http://127.0.0.1/x\"}",
		 "The schema at \"/$ref\" refers to \"http://127.0.0.1/x\", which is no schema in "
		 "this document."},
		{"{\"enum\":[{}],\"$ref\":\"#/enum/0\"}",
		 "The schema at \"/$ref\" refers to \"#/enum/0\", which is no schema in this "
		 "document."},
		{"{\"$ref\":\"#\"}", "The schema at \"/$ref\" refers to itself without end."},
		{"{\"$defs\":{\"a\":{\"anyOf\":[{\"$ref\":\"#/$defs/b\"}]},"
		 "\"b\":{\"not\":{\"$ref\":\"#/$defs/a\"}}}}",
		 "The schema at \"/$defs/a/anyOf/0/$ref\" refers to itself without end."},
		{"{\"properties\":{\"a\":{\"$id\":\"x\"}}}",
		 "The schema at \"/properties/a/$id\" is supported only in the outermost schema."},
		{"7", "The schema must be an object, true or false."},
	};
	struct schema *s = NULL;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		CHECK_INT(load(&s, rows[i].schema), EINVAL);
		CHECK_STR(why, rows[i].why);
		CHECK(!s);
	}
	CHECK_INT(load(&s, "{\"x-order\":1,\"format\":\"date\",\"title\":\"T\"}"), 0);
	schema_free(s);
}

static void nest(char *to, unsigned n, const char *open, const char *mid, const char *close)
{
	*to = '\0';
	for (unsigned i = 0; i < n; i++)
		strcat(to, open);
	strcat(to, mid);
	for (unsigned i = 0; i < n; i++)
		strcat(to, close);
}

TEST(schema_bounds_hold)
{
	char text[8192], *large = calloc(1, SCHEMA_SIZE_MAX + 64);
	struct schema *s = NULL;

	CHECK(large);
	nest(text, SCHEMA_DEPTH_MAX - 1, "{\"not\":", "{}", "}");
	CHECK_INT(load(&s, text), 0);
	schema_free(s);
	nest(text, SCHEMA_DEPTH_MAX, "{\"not\":", "{}", "}");
	CHECK_INT(load(&s, text), EINVAL);
	CHECK(strstr(why, "nested too deeply"));
	nest(text, 4 * SCHEMA_DEPTH_MAX, "[", "", "]");
	CHECK_INT(judge("{}", text), E2BIG);
	nest(text, SCHEMA_DEPTH_MAX, "[", "", "]");
	CHECK_INT(judge("{}", text), 0);
	strcat(large, "{\"description\":\"");
	memset(large + 16, 'x', SCHEMA_SIZE_MAX - 18);
	strcat(large, "\"}");
	CHECK_INT(load(&s, large), 0);
	schema_free(s);
	large[strlen(large) - 2] = '\0';
	strcat(large, "x\"}");
	CHECK_INT(load(&s, large), E2BIG);
	free(large);
}

/* Two references at each of 30 levels: 2^30 paths through a schema of 3 KB. */
TEST(schema_steps_bound_what_a_schema_can_cost)
{
	char text[4096] = "{\"items\":{\"$ref\":\"#/$defs/d0\"},\"$defs\":{", part[160];
	struct schema *s = NULL;

	for (unsigned i = 0; i < 30; i++) {
		snprintf(part, sizeof part,
			 "\"d%u\":{\"allOf\":[{\"$ref\":\"#/$defs/d%u\"},{\"$ref\":\"#/$defs/"
			 "d%u\"}]},",
			 i, i + 1, i + 1);
		strcat(text, part);
	}
	strcat(text, "\"d30\":{}}}");
	CHECK_INT(load(&s, text), EINVAL);
	/* Through properties the chain is not endless, and only the check can stop it. */
	snprintf(text, sizeof text,
		 "{\"anyOf\":[{\"items\":{\"$ref\":\"#\"},\"minItems\":9},{\"items\":{\"$ref\":\"#"
		 "\"},"
		 "\"minItems\":9},{\"items\":{\"$ref\":\"#\"},\"minItems\":9}]}");
	nest(part, 30, "[", "", "]");
	CHECK_INT(judge(text, part), EINVAL);
	snprintf(text, sizeof text,
		 "{\"allOf\":[{\"items\":{\"$ref\":\"#\"}},{\"items\":{\"$ref\":\"#\"}}]}");
	CHECK_INT(judge(text, part), E2BIG);
	CHECK_STR(why, "The value is too complex to be checked against its schema.");
}

TEST(schema_sentences_stay_whole_and_short)
{
	char value[8192], key[2600] = "";
	char small[20];
	json_t *v;
	struct schema *s = NULL;

	for (unsigned i = 0; i < 300; i++)
		strcat(key, "\xc3\xa9\\u202e");
	snprintf(value, sizeof value, "{\"%s\":{\"%s\":[{\"b\":\"c\"}]}}", key, key);
	CHECK_INT(judge("{\"additionalProperties\":{\"additionalProperties\":{\"items\":{"
			"\"additionalProperties\":{\"const\":[1,2,3]}}}}}",
			value),
		  EINVAL);
	CHECK(utf8_valid(why) && !strstr(why, "\xe2\x80\xae"));
	CHECK(strstr(why, "/0/b\" must be [1,2,3]."));
	CHECK_INT(judge("{\"required\":[\"a\"]}", "{}"), EINVAL);
	CHECK_INT(load(&s, "{\"required\":[\"a\"]}"), 0);
	v = json_object();
	CHECK_INT(schema_check(s, v, small, sizeof small), EINVAL);
	CHECK_STR(small, "The value lacks the");
	CHECK_INT(schema_check(s, v, NULL, 0), EINVAL);
	json_decref(v);
	schema_free(s);
}

static int judge_loosely(const char *schema, const char *value)
{
	json_t *root = json_loads(schema, JSON_DECODE_ANY, NULL);
	json_t *v = json_loads(value, JSON_DECODE_ANY, NULL);
	struct schema *s = NULL;
	int err = schema_alloc_loose(&s, root, why, sizeof why);

	if (!err)
		err = schema_check(s, v, why, sizeof why);
	schema_free(s);
	json_decref(v);
	json_decref(root);
	return err;
}

TEST(schema_loose_accepts_what_its_unsupported_words_would_judge)
{
	static const struct {
		const char *schema, *value;
		int err;
	} cases[] = {
		{"{\"properties\":{\"a\":{\"type\":\"string\",\"pattern\":\"^x\"}}}",
		 "{\"a\":\"y\"}", 0},
		{"{\"properties\":{\"a\":{\"type\":\"string\",\"pattern\":\"^x\"}}}", "{\"a\":1}",
		 EINVAL},
		{"{\"not\":{\"pattern\":\"^x\"}}", "\"y\"", 0},
		{"{\"not\":{\"type\":\"string\"}}", "\"y\"", EINVAL},
		{"{\"oneOf\":[{\"type\":\"string\",\"pattern\":\"a\"},{\"type\":\"string\"}]}",
		 "\"b\"", 0},
		{"{\"oneOf\":[{\"type\":\"string\",\"pattern\":\"a\"},{\"type\":\"null\"}]}", "1",
		 EINVAL},
		{"{\"oneOf\":[{\"type\":\"string\"},{\"minLength\":1}]}", "\"b\"", EINVAL},
		{"{\"patternProperties\":{\"^x\":{}},\"additionalProperties\":false}", "{\"xy\":1}",
		 0},
		{"{\"prefixItems\":[{\"type\":\"null\"}],\"items\":{\"type\":\"string\"}}",
		 "[null]", 0},
		{"{\"items\":[{\"type\":\"null\"}]}", "[1]", 0},
		{"{\"if\":{\"type\":\"null\"},\"then\":false,\"else\":false}", "1", 0},
		{"{\"$defs\":{\"a\":{\"pattern\":\"x\"}},\"not\":{\"$ref\":\"#/$defs/a\"}}",
		 "\"y\"", 0},
		/* A place elsewhere stays refused, and words of a wrong form. */
		{"{\"$ref\":\"https://example.org/schema\"}", "1", EINVAL},
		{"{\"pattern\":\"x\",\"type\":\"text\"}", "1", EINVAL},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		CHECK_INT(judge_loosely(cases[i].schema, cases[i].value), cases[i].err);
}

/* Each definition applies the next one twice, so that a reference to the first costs 8,191 links:
 * hundreds of them took seconds. */
TEST(schema_bounds_the_links_of_all_its_references_together)
{
	struct schema *s = NULL;
	char text[2000];
	size_t n = (size_t)snprintf(text, sizeof text, "{\"$defs\":{");

	for (unsigned i = 0; i < 12; i++)
		n += (size_t)snprintf(text + n, sizeof text - n,
				      "\"d%u\":{\"allOf\":[{\"$ref\":\"#/$defs/d%u\"},{\"$ref\":"
				      "\"#/$defs/d%u\"}]},",
				      i, i + 1, i + 1);
	n += (size_t)snprintf(text + n, sizeof text - n, "\"d12\":{}}");
	snprintf(text + n, sizeof text - n, "}");
	CHECK_INT(load(&s, text), EINVAL);
	CHECK(strstr(why, "has too many references"));
	CHECK(!s);
}

TEST_OOM(schema_loose_survives_without_memory)
{
	json_t *root = json_loads("{\"oneOf\":[{\"pattern\":\"a\"},{}]}", 0, NULL);
	struct schema *s = NULL;
	int err = schema_alloc_loose(&s, root, why, sizeof why);

	json_decref(root);
	CHECK_OOM(err, );
	schema_free(s);
}

TEST_OOM(schema_survives_without_memory)
{
	json_t *root = json_loads(SEARCH, 0, NULL);
	struct schema *s = NULL;
	int err = schema_alloc(&s, root, why, sizeof why);

	json_decref(root);
	CHECK_OOM(err, );
	schema_free(s);
}
