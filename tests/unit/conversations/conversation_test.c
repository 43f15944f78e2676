#include "tests/conversations/conversation.h"

#include "tests/test.h"

/* What is uttered could be learnt by heart: so half of it must be unknown to the room, in each set.
 */
TEST(half_of_what_people_say_is_in_no_table)
{
	static const enum conversation_kind kinds[] = {CONVERSATION_BACKCHANNEL, CONVERSATION_TIC,
						       CONVERSATION_ASIDE, CONVERSATION_TAKEOVER};

	for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
		for (int set = CONVERSATION_A; set < CONVERSATION_SETS; set++) {
			const struct conversation_words *w;
			unsigned n = 0, known = 0;

			for (size_t i = 0; (w = conversation_words(i)); i++) {
				if (w->kind != kinds[k] || (int)w->set != set)
					continue;
				n++;
				known += conversation_known(w->words);
			}
			CHECK(n >= 4);
			if (2 * known > n)
				test_fail(__FILE__, __LINE__, "kind %d, set %d: %u of %u are known",
					  (int)kinds[k], set, known, n);
		}
}

TEST(control_s_tables_are_known_when_seen)
{
	CHECK(conversation_known("mhm"));
	CHECK(conversation_known("oh that makes sense"));
	CHECK(conversation_known("please shut up"));
	CHECK(!conversation_known("fancy that"));
}

TEST(the_same_seed_is_the_same_conversation)
{
	static struct conversation_score a[CONVERSATION_BOTS], b[CONVERSATION_BOTS];
	const struct conversation_conf conf = {
		.seed = 5, .people = 3, .episodes = 12, .misheard = 100};

	memset(a, 0, sizeof a);
	memset(b, 0, sizeof b);
	CHECK_INT(conversation_run(&conf, a), 0);
	CHECK_INT(conversation_run(&conf, b), 0);
	CHECK_MEM(a, sizeof a, b, sizeof b);
	CHECK(a[0].asked.of > 0);
	for (unsigned i = 0; i < CONVERSATION_ROWS; i++) {
		const struct conversation_share *o = &a[CONVERSATION_ORACLE].row[i];

		CHECK_INT(o->right, o->of);
		CHECK_INT(a[CONVERSATION_BASELINE].row[i].of, o->of);
	}
}
