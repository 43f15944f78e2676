/* Who is heard and remembered, by server. */
#include "control/consent/consent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/store/subject.h"
#include "tests/test.h"

TEST(an_answer_counts_in_its_server_alone)
{
	struct consent_table *t = NULL;

	CHECK_INT(consent_table_alloc(&t, NULL), 0);
	CHECK_INT(consent_of(t, 1, 501, CONSENT_HEARD), CONSENT_HEARD);
	CHECK_INT(consent_set(t, 1, 501, CONSENT_NEITHER, 0), 0);
	CHECK_INT(consent_of(t, 1, 501, CONSENT_HEARD), CONSENT_NEITHER);
	CHECK_INT(consent_of(t, 2, 501, CONSENT_HEARD), CONSENT_HEARD);
	CHECK_INT(consent_of(t, 1, 502, CONSENT_REMEMBERED), CONSENT_REMEMBERED);
	CHECK_INT(consent_answer(t, 1, 502), CONSENT_DEFAULT);
	CHECK_INT(consent_set(t, 1, 501, CONSENT_DEFAULT, 0), 0);
	CHECK_INT(consent_answer(t, 1, 501), CONSENT_DEFAULT);
	CHECK_INT(consent_set(t, 1, 501, CONSENT_COUNT, 0), EINVAL);
	CHECK_INT(consent_of(NULL, 1, 501, CONSENT_REMEMBERED), CONSENT_REMEMBERED);
	consent_table_free(t);
}

TEST(an_erased_person_is_not_remembered_and_stays_unheard)
{
	struct consent_table *t = NULL;

	CHECK_INT(consent_table_alloc(&t, NULL), 0);
	CHECK_INT(consent_set(t, 1, 501, CONSENT_REMEMBERED, 0), 0);
	CHECK_INT(consent_set(t, 2, 501, CONSENT_NEITHER, 0), 0);
	CHECK_INT(consent_set(t, 3, 501, CONSENT_HEARD, 0), 0);
	CHECK_INT(consent_set(t, 1, 502, CONSENT_REMEMBERED, 0), 0);
	consent_end(t, 501, 0);
	/* Not the default of the server, which may be "remembered". */
	CHECK_INT(consent_answer(t, 1, 501), CONSENT_HEARD);
	CHECK_INT(consent_answer(t, 2, 501), CONSENT_NEITHER);
	CHECK_INT(consent_answer(t, 3, 501), CONSENT_HEARD);
	CHECK_INT(consent_answer(t, 1, 502), CONSENT_REMEMBERED);
	consent_table_free(t);
}

TEST(a_withdrawal_is_known_by_its_server)
{
	struct consent_table *t = NULL;
	json_t *kept;

	CHECK_INT(consent_withdrawn(NULL, 1), 0);
	CHECK_INT(consent_table_alloc(&t, NULL), 0);
	CHECK_INT(consent_withdrawn(t, 1), 0);
	CHECK_INT(consent_withdraw(t, 1, 1000), 0);
	CHECK_INT(consent_withdraw(t, 1, 2000), 0);
	CHECK_INT(consent_withdrawn(t, 1), 2000);
	CHECK_INT(consent_withdrawn(t, 2), 0);
	/* In which servers the bot told of somebody who is erased is not known any more. */
	consent_end(t, 501, 3000);
	CHECK_INT(consent_withdrawn(t, 1), 3000);
	CHECK_INT(consent_withdrawn(t, 2), 3000);
	consent_table_free(t);
	kept = json_pack("{s:s}", "key", "no key");
	CHECK_INT(consent_table_alloc(&t, kept), 0);
	json_decref(kept);
	CHECK(consent_withdrawn(t, 1) == UINT64_MAX);
	consent_table_free(t);
}

TEST(an_answer_has_its_time)
{
	struct consent_table *t = NULL;

	CHECK_INT(consent_table_alloc(&t, NULL), 0);
	CHECK_INT(consent_since(t, 1, 501), 0);
	CHECK_INT(consent_unread_before(t, 1, 501, CONSENT_HEARD), 0);
	CHECK_INT(consent_set(t, 1, 501, CONSENT_NEITHER, 1000), 0);
	CHECK_INT(consent_set(t, 1, 501, CONSENT_HEARD, 2000), 0);
	CHECK_INT(consent_since(t, 1, 501), 2000);
	CHECK_INT(consent_unread_before(t, 1, 501, CONSENT_HEARD), 2000);
	CHECK_INT(consent_set(t, 1, 501, CONSENT_REMEMBERED, 3000), 0);
	CHECK_INT(consent_since(t, 1, 501), 3000);
	CHECK_INT(consent_unread_before(t, 1, 501, CONSENT_HEARD), 2000);
	/* Where nobody is read unasked, they were not before they answered. */
	CHECK_INT(consent_unread_before(t, 1, 501, CONSENT_NEITHER), 3000);
	CHECK_INT(consent_unread_before(t, 2, 501, CONSENT_HEARD), 0);
	CHECK_INT(consent_unread_before(t, 1, 502, CONSENT_HEARD), 0);
	CHECK_INT(consent_since(NULL, 1, 501), 0);
	/* An erasure counts in all servers. */
	consent_end(t, 501, 4000);
	CHECK_INT(consent_since(t, 1, 501), 4000);
	CHECK_INT(consent_unread_before(t, 2, 501, CONSENT_HEARD), 4000);
	CHECK_INT(consent_set(t, 1, 501, CONSENT_DEFAULT, 5000), 0);
	CHECK_INT(consent_since(t, 1, 501), 0);
	consent_table_free(t);
}

/* Jansson's own: those of this program fail in other tests. */
static json_malloc_t allocate;
static json_free_t release;

static void *find_no_memory(size_t n)
{
	(void)n;
	return NULL;
}

TEST(an_erased_person_is_not_remembered_when_memory_runs_out)
{
	struct consent_table *t = NULL;

	CHECK_INT(consent_table_alloc(&t, NULL), 0);
	CHECK_INT(consent_set(t, 1, 501, CONSENT_REMEMBERED, 0), 0);
	CHECK_INT(consent_set(t, 2, 501, CONSENT_REMEMBERED, 0), 0);
	json_get_alloc_funcs(&allocate, &release);
	json_set_alloc_funcs(find_no_memory, release);
	consent_end(t, 501, 0);
	json_set_alloc_funcs(allocate, release);
	CHECK_INT(consent_answer(t, 1, 501), CONSENT_HEARD);
	CHECK_INT(consent_answer(t, 2, 501), CONSENT_HEARD);
	consent_table_free(t);
}

static int left;

static void *run_out(size_t n)
{
	return left-- > 0 ? allocate(n) : NULL;
}

/* A table that lacks a row would take a refusal for no answer. */
TEST(a_table_without_memory_for_an_answer_is_none)
{
	struct subject_key key = {.bytes = {1, 2, 3}};
	char text[SUBJECT_KEY_TEXT], mac[SUBJECT_MAC], row[64];
	json_t *kept;
	int err = ENOMEM;

	subject_key_text(&key, text);
	subject_mac(&key, 501, mac);
	snprintf(row, sizeof row, "1:%s", mac);
	kept = json_pack("{s:s,s:{s:s}}", "key", text, "rows", row, "neither");
	for (int n = 0; n < 100 && err; n++) {
		struct consent_table *t = NULL;

		left = n;
		json_get_alloc_funcs(&allocate, &release);
		json_set_alloc_funcs(run_out, release);
		err = consent_table_alloc(&t, kept);
		json_set_alloc_funcs(allocate, release);
		CHECK(err ? err == ENOMEM && !t : consent_answer(t, 1, 501) == CONSENT_NEITHER);
		consent_table_free(t);
	}
	CHECK_INT(err, 0);
	json_decref(kept);
}

TEST(a_restart_reads_the_answers)
{
	struct subject_key key = {.bytes = {1, 2, 3}};
	char text[SUBJECT_KEY_TEXT], mac[SUBJECT_MAC], row[64];
	struct consent_table *t = NULL;
	json_t *kept;

	subject_key_text(&key, text);
	subject_mac(&key, 501, mac);
	snprintf(row, sizeof row, "1:%s", mac);
	kept = json_pack("{s:s,s:{s:s,s:s},s:{s:i},s:{s:i,s:s}}", "key", text, "rows", row,
			 "neither", "2:zz", "dance", "since", row, 1000, "unread_before", row, 900,
			 "2:zz", "dance");
	CHECK_INT(consent_table_alloc(&t, kept), 0);
	CHECK_INT(consent_since(t, 1, 501), 1000);
	CHECK_INT(consent_unread_before(t, 1, 501, CONSENT_HEARD), 900);
	CHECK_INT(consent_answer(t, 1, 501), CONSENT_NEITHER);
	CHECK_INT(consent_answer(t, 2, 501), CONSENT_DEFAULT);
	consent_table_free(t);
	json_decref(kept);
}

/* Somebody may have refused. */
TEST(without_the_saved_answers_nobody_is_heard_who_does_not_answer_anew)
{
	json_t *kept = json_pack("{s:b}", "unread", 1);
	struct consent_table *t = NULL;

	CHECK_INT(consent_table_alloc(&t, kept), 0);
	CHECK(consent_table_unread(t) && !consent_table_unread(NULL));
	CHECK_INT(consent_of(t, 1, 501, CONSENT_REMEMBERED), CONSENT_NEITHER);
	CHECK_INT(consent_default(t, CONSENT_HEARD), CONSENT_NEITHER);
	CHECK_INT(consent_set(t, 1, 501, CONSENT_HEARD, 0), 0);
	CHECK_INT(consent_of(t, 1, 501, CONSENT_REMEMBERED), CONSENT_HEARD);
	consent_table_free(t);
	json_decref(kept);
}

TEST(consents_have_names)
{
	enum consent c = CONSENT_DEFAULT;

	CHECK(consent_parse("remembered", &c) && c == CONSENT_REMEMBERED);
	CHECK(!consent_parse("maybe", &c) && !consent_parse(NULL, &c));
	CHECK_STR(consent_name(CONSENT_NEITHER), "neither");
}
