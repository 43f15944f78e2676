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

struct heard {
	const struct text_fixture *f;
	unsigned told;
};

static void take_event(const struct bus_event *ev, void *arg)
{
	struct heard *h = arg;
	const struct taken *row = taken_find(h->f->ts->taken, ev->text.message);

	h->told += row && row->state == TAKEN_WAITS;
}

/* A kill between the two leaves a message that the next control ends once more, and none whose end
 * nobody was told. */
TEST(a_message_is_told_to_have_ended_before_its_row_ends)
{
	const struct text_trigger t = {.guild = SERVER,
				       .channel = CHANNEL,
				       .message = 100,
				       .user = ALICE,
				       .reply = 1,
				       .signal = TEXT_SIGNAL_DIRECT,
				       .reason = TEXT_REASON_MODEL_FAILED};
	struct text_fixture f;
	struct heard heard = {.f = &f};
	struct text_guild *g;

	CHECK_INT(text_fixture_open(&f, "[]"), 0);
	CHECK_INT(bus_subscribe(f.bus, BUS_MASK(EVENT_TEXT_MESSAGE), take_event, &heard), 0);
	g = text_session_open(f.ts, SERVER);
	CHECK(g != NULL);
	taken_put(f.ts->taken, &(struct taken){.message = 100,
					       .guild = SERVER,
					       .channel = CHANNEL,
					       .user = ALICE,
					       .state = TAKEN_WAITS});
	text_session_record(g, &t);
	CHECK_INT(heard.told, 1);
	CHECK(taken_find(f.ts->taken, 100)->state == TAKEN_ENDED);
	text_fixture_close(&f);
}
