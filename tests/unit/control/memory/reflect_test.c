/* Decisions of a model about two facts: only what can be true is taken. */
#include "control/memory/reflect.h"

#include <jansson.h>

#include "tests/test.h"

#define DAY UINT64_C(86400000)

static const struct reflect_pair pairs[] = {
	{.older = 1,
	 .newer = 4,
	 .older_ms = 20000 * DAY,
	 .newer_ms = 20001 * DAY - 1,
	 .was = "I can't swim",
	 .is = "I never learned how to stay afloat"},
	{.older = 2,
	 .newer = 5,
	 .older_ms = 20000 * DAY,
	 .newer_ms = 20003 * DAY,
	 .was = "we meet at four",
	 .is = "our meeting moved to five o'clock"},
};
enum { PAIRS = sizeof pairs / sizeof pairs[0] };

/* The relation of the pair after this answer about it. */
static const char *decide(unsigned pair, const char *decision, unsigned *refused)
{
	struct reflect_result r;
	char answer[512];

	snprintf(answer, sizeof answer, "{\"pairs\":[{\"pair\":%u,%s}]}", pair, decision);
	if (!reflect_read(answer, pairs, PAIRS, &r))
		return "no result";
	*refused = r.refused;
	return reflect_relation_name(r.relation[pair - 1]);
}

/* As the schema has it: a duplicate quotes nothing. */
TEST(the_schema_names_the_relations_that_are_read)
{
	json_t *root = json_loads(reflect_schema, 0, NULL), *relation;
	const json_t *pairs_of = json_object_get(json_object_get(root, "properties"), "pairs");
	const json_t *pair = json_object_get(pairs_of, "items");
	const json_t *members = json_object_get(pair, "properties");
	const json_t *relations = json_object_get(json_object_get(members, "relation"), "enum");
	char text[128];
	unsigned refused;
	size_t i;

	CHECK_INT(json_array_size(json_object_get(pair, "required")), json_object_size(members));
	CHECK_INT(json_array_size(relations), 4);
	json_array_foreach(relations, i, relation)
	{
		bool update = strcmp(json_string_value(relation), "update") == 0;

		snprintf(text, sizeof text,
			 "\"relation\":\"%s\",\"was\":\"%s\",\"is\":\"%s\",\"conf\":0.9",
			 json_string_value(relation), update ? "four" : "", update ? "five" : "");
		decide(update ? 2 : 1, text, &refused);
		CHECK_INT(refused, 0);
	}
	json_decref(root);
}

TEST(pairs_are_sent_as_numbers_with_their_days)
{
	char *text = reflect_request(pairs, 1, 3600);

	CHECK(text);
	CHECK_STR(text, "{\"pairs\":[{\"pair\":1,\"older\":{\"said\":\"2024-10-04\",\"text\":"
			"\"I can't swim\"},\"newer\":{\"said\":\"2024-10-05\",\"text\":\"I never "
			"learned how to stay afloat\"}}]}");
	free(text);
}

TEST(a_decision_is_taken_if_it_can_be_true)
{
	unsigned refused = 9;

	CHECK_STR(decide(1, "\"relation\":\"duplicate\",\"conf\":0.9", &refused), "duplicate");
	CHECK_STR(decide(2, "\"relation\":\"update\",\"was\":\"four\",\"is\":\"five\"", &refused),
		  "update");
	CHECK_STR(decide(2, "\"relation\":\"unsure\"", &refused), "conflict");
	CHECK_STR(decide(2, "\"relation\":\"other\"", &refused), "other");
	CHECK_INT(refused, 0);
}

TEST(a_changed_number_is_no_duplicate)
{
	unsigned refused = 0;

	CHECK_STR(decide(2, "\"relation\":\"duplicate\",\"conf\":1", &refused), "other");
	CHECK_INT(refused, 1);
}

TEST(an_update_quotes_both_values)
{
	static const char *const bad[] = {
		"\"relation\":\"update\"",
		"\"relation\":\"update\",\"was\":\"four\",\"is\":\"six\"",
		"\"relation\":\"update\",\"was\":\"three\",\"is\":\"five\"",
		"\"relation\":\"update\",\"was\":\"meet\",\"is\":\"meet\"",
		"\"relation\":\"update\",\"was\":\"four\",\"is\":\"\""};
	unsigned refused = 0;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		CHECK_STR(decide(2, bad[i], &refused), "other");
		CHECK_INT(refused, 1);
	}
}

TEST(a_doubtful_decision_changes_no_fact)
{
	unsigned refused = 9;

	CHECK_STR(decide(1, "\"relation\":\"duplicate\",\"conf\":0.5", &refused), "other");
	CHECK_STR(decide(2, "\"relation\":\"update\",\"was\":\"four\",\"is\":\"five\",\"conf\":0.4",
			 &refused),
		  "conflict");
	CHECK_INT(refused, 0);
}

TEST(a_pair_is_decided_once_and_unknown_pairs_are_refused)
{
	struct reflect_result r;

	CHECK(reflect_read("{\"pairs\":[{\"pair\":1,\"relation\":\"duplicate\"},{\"pair\":1,"
			   "\"relation\":\"conflict\"},{\"pair\":3,\"relation\":\"duplicate\"},"
			   "{\"pair\":0},{\"pair\":\"2\"},7]}",
			   pairs, PAIRS, &r));
	CHECK_INT(r.relation[0], REFLECT_DUPLICATE);
	CHECK_INT(r.relation[1], REFLECT_OTHER);
	CHECK_INT(r.refused, 5);
}

TEST(what_is_no_result_decides_nothing)
{
	static const char *const bad[] = {"", "no", "[]", "{}", "{\"pairs\":{}}"};
	struct reflect_result r;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		CHECK(!reflect_read(bad[i], pairs, PAIRS, &r));
	CHECK(reflect_read("{\"pairs\":[]}", pairs, PAIRS, &r));
	CHECK_INT(r.relation[0], REFLECT_OTHER);
}
