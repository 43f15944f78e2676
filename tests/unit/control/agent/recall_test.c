/* What a restarted control may tell its models again. */
#include "control/agent/recall.h"

#include <stdio.h>
#include <string.h>

#include "tests/test.h"

enum { BLOCKED = 502 };

static bool allows(uint64_t user, void *arg)
{
	(void)arg;
	return user != BLOCKED;
}

/* The texts that remain, one after the other. */
static const char *select_lines(const char *words, uint64_t oldest_ms)
{
	const struct recall_rules rules = {.oldest_ms = oldest_ms, .allowsh = allows};
	static char texts[256];
	json_t *all = json_loads(words, 0, NULL), *lines = recall_select(all, &rules), *x;
	size_t i;

	texts[0] = '\0';
	json_array_foreach(lines, i, x)
	{
		snprintf(texts + strlen(texts), sizeof texts - strlen(texts), "%s ",
			 json_string_value(json_object_get(x, "text")));
	}
	json_decref(lines);
	json_decref(all);
	return texts;
}

TEST(words_older_than_the_database_may_keep_them_are_not_recalled)
{
	static const char words[] =
		"[{\"at_ms\":7200000,\"user\":\"501\",\"name\":\"a\",\"text\":\"old\"},"
		"{\"at_ms\":7200000,\"bot\":true,\"cut\":false,\"text\":\"yes\"},"
		"{\"at_ms\":9000000,\"user\":\"501\",\"name\":\"a\",\"text\":\"new\"},"
		"{\"at_ms\":9000000,\"bot\":true,\"cut\":false,\"text\":\"no\"}]";

	CHECK_STR(select_lines(words, recall_oldest_ms(1, 10800000)), "old yes new no ");
	CHECK_STR(select_lines(words, recall_oldest_ms(1, 10800001)), "new no ");
	CHECK_STR(select_lines(words, recall_oldest_ms(24, 10800001)), "old yes new no ");
	CHECK_STR(select_lines(words, recall_oldest_ms(0, 9000000)), "");
}

/* An answer may quote the question. */
TEST(words_of_blocked_members_and_the_answers_to_them_are_not_recalled)
{
	CHECK_STR(select_lines("[{\"at_ms\":1,\"user\":\"501\",\"name\":\"a\",\"text\":\"hello\"},"
			       "{\"at_ms\":1,\"user\":\"502\",\"name\":\"b\",\"text\":\"secret\"},"
			       "{\"at_ms\":1,\"user\":\"503\",\"name\":\"c\",\"text\":\"you\"},"
			       "{\"at_ms\":1,\"bot\":true,\"cut\":false,\"text\":\"a-secret\"},"
			       "{\"at_ms\":2,\"user\":\"501\",\"name\":\"a\",\"text\":\"thanks\"},"
			       "{\"at_ms\":2,\"bot\":true,\"cut\":false,\"text\":\"welcome\"}]",
			       0),
		  "hello you thanks welcome ");
}

TEST(lines_that_nobody_can_read_are_not_recalled)
{
	CHECK_STR(select_lines("[1,{\"at_ms\":1,\"user\":\"501\"},"
			       "{\"at_ms\":-1,\"user\":\"501\",\"text\":\"early\"},"
			       "{\"at_ms\":1,\"user\":\"x\",\"text\":\"whose\"},"
			       "{\"at_ms\":1,\"user\":\"501\",\"name\":\"a\\nb\",\"text\":\"two\"},"
			       "{\"at_ms\":1,\"user\":\"501\",\"text\":\"fine\"}]",
			       0),
		  "fine ");
}

TEST(an_answer_to_a_blocked_member_among_others_is_not_told)
{
	const struct recall_rules rules = {.allowsh = allows};
	json_t *both = json_loads("{\"askers\":[\"501\",\"502\"]}", 0, NULL);
	json_t *one = json_loads("{\"askers\":[\"501\"]}", 0, NULL);
	json_t *quoted = json_loads("{\"askers\":[\"501\"],\"quoted\":[\"502\"]}", 0, NULL);
	json_t *none = json_object(), *odd = json_loads("{\"askers\":[7]}", 0, NULL);

	CHECK(!recall_allows_askers(both, &rules));
	CHECK(recall_allows_askers(one, &rules));
	CHECK(!recall_allows_askers(quoted, &rules));
	CHECK(recall_allows_askers(none, &rules));
	CHECK(!recall_allows_askers(odd, &rules));
	json_decref(both);
	json_decref(one);
	json_decref(quoted);
	json_decref(none);
	json_decref(odd);
}
