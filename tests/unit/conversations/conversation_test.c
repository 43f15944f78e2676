#include "tests/conversations/conversation.h"

#include "tests/test.h"

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
