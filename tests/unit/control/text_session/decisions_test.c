/* Whether a message that only has the bot's name in it is put before a model. */
#include <stdio.h>

#include "control/settings/settings.h"
#include "tests/test.h"
#include "tests/unit/control/text_session/text_stage.h"

/* How often models were asked about a message that has the name in it. Fails with 99. */
static unsigned asked_about(const char *purposes)
{
	struct text_stage s;
	unsigned asked = 99;
	uint64_t id;

	if (!text_stage_open(&s))
		return asked;
	if (!settings_set(s.settings, "bot_name", "Parley") &&
	    !settings_set(s.settings, "purposes", purposes) && text_stage_begin(&s)) {
		id = text_stage_id(&s, 0);
		text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, id, STAGE_ANA,
				  "I think that Parley is asleep again");
		text_stage_run(&s);
		asked = s.asked;
	}
	text_stage_close(&s);
	return asked;
}

/* Its brain answers what it takes for a question, and never with a yes: the request is wasted. */
TEST(text_session_asks_the_embedded_brain_for_no_decision)
{
	CHECK_INT(asked_about("{}"), 1);
	CHECK_INT(asked_about("{\"reply_decision\":[\"embedded\"]}"), 0);
}
