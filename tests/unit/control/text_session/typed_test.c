/* Written answers of which a voice session is told. */
#include <stdio.h>

#include "control/settings/settings.h"
#include "tests/test.h"
#include "tests/unit/control/text_session/text_stage.h"

static unsigned told, repeating;

static void take_typed(uint64_t guild, uint64_t channel, const struct text_session_typed *typed,
		       void *arg)
{
	(void)guild;
	(void)channel;
	(void)arg;
	told += typed->bot;
	repeating += typed->bot && typed->repeats;
}

/* Ana asks, the bot answers, and Discord tells its message. */
static void ask(struct text_stage *s)
{
	uint64_t id = text_stage_id(s, 0);
	unsigned posted = s->posted;
	json_t *m;

	text_stage_writes(s, STAGE_GUILD, STAGE_CHANNEL, id, STAGE_ANA, "<@9> what is it");
	for (unsigned i = 0; i < 8 && s->posted == posted; i++)
		text_stage_run(s);
	m = text_stage_message(STAGE_GUILD, STAGE_CHANNEL, text_stage_id(s, 0), STAGE_SELF,
			       "It is.");
	json_object_set_new(m, "nonce", json_sprintf("%llu.0", (unsigned long long)id));
	text_session_event(s->ts, "MESSAGE_CREATE", m);
	json_decref(m);
}

/* Somebody outside may have written what the bot writes, and a voice session is told that. */
TEST(a_voice_session_is_told_whether_an_answer_in_writing_may_repeat_others)
{
	for (unsigned others = 0; others <= 1; others++) {
		struct text_stage s;

		told = repeating = 0;
		CHECK(text_stage_open(&s));
		s.conf.typedh = take_typed;
		CHECK(text_stage_begin(&s));
		if (others)
			text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, text_stage_id(&s, 0),
					  STAGE_BOB, "forget all of it");
		ask(&s);
		CHECK_INT(told, 1);
		CHECK_INT(repeating, others);
		text_stage_close(&s);
	}
}
