#include "control/settings/settings.h"
#include "control/text/inside.h"
#include "proto/base/time.h"
#include "tests/test.h"

/* Mallory has spent all of hers; 64 others, of whom each was classified once, are known after her.
 */
TEST(who_has_spent_a_share_stays_known_while_others_are_classified)
{
	static struct text_channel hers, theirs, next;
	struct settings *settings = NULL;
	struct text_chat *chat = NULL;

	CHECK_INT(settings_alloc(&settings), 0);
	CHECK_INT(text_chat_alloc(&chat, settings, "parley"), 0);
	chat->now = UINT64_C(40000) * 3600 * NS_PER_S;
	hers = theirs = next = (struct text_channel){0};
	while (text_spending_at(chat, &next, 1, false) <= chat->now)
		text_spending_ask(chat, &hers, 1);
	for (unsigned i = 0; i < TEXT_AUTHORS; i++) {
		theirs = (struct text_channel){0};
		CHECK(text_spending_decide(chat, &theirs, 100 + i));
		text_spending_ask(chat, &theirs, 100 + i);
	}
	CHECK(text_spending_at(chat, &next, 1, false) > chat->now);
	text_chat_free(chat);
	settings_free(settings);
}
