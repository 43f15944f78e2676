/* What the table of a restart has of a message whose answer was sent. */
#include "control/text/taken.h"
#include "tests/unit/control/text_session/session_fixture.h"

enum { CHANNEL = 5, SERVER = 7, MARK = 4711 };

/* Those that shared the answer may not have ended yet, and are known by it (control/text/missed.h).
 */
TEST(a_message_that_ended_keeps_the_mark_of_its_answer)
{
	const struct text_trigger t = {.guild = SERVER,
				       .channel = CHANNEL,
				       .message = 100,
				       .user = ALICE,
				       .reply = 1,
				       .signal = TEXT_SIGNAL_DIRECT,
				       .reason = TEXT_REASON_SENT_REPLY};
	const struct taken *row;
	struct text_fixture f;
	struct text_guild *g;

	CHECK_INT(text_fixture_open(&f, "[]"), 0);
	g = text_session_open(f.ts, SERVER);
	CHECK(g != NULL);
	taken_put(f.ts->taken, &(struct taken){.message = 100,
					       .guild = SERVER,
					       .channel = CHANNEL,
					       .user = ALICE,
					       .state = TAKEN_SENDING,
					       .mark = MARK});
	text_taking_ended(g, &t);
	row = taken_find(f.ts->taken, 100);
	CHECK(row && row->state == TAKEN_ENDED);
	CHECK_INT(row->mark, MARK);
	text_fixture_close(&f);
}
