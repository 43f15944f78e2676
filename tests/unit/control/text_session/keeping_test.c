/* What the store, and with it the stream of events, learns of messages that are edited. */
#include <stdio.h>

#include "control/consent/consent.h"
#include "control/settings/settings.h"
#include "ipc/env.h"
#include "tests/test.h"
#include "tests/unit/control/text_session/text_stage.h"

/* Somebody writes with these settings of the text channel and edits it afterwards with those. */
static void write_and_edit(struct text_stage *s, const char *name, const char *value)
{
	uint64_t id = text_stage_id(s, 0);

	CHECK_INT(settings_set(s->settings, name, value), 0);
	text_session_settings(s->ts);
	text_stage_writes(s, STAGE_GUILD, STAGE_CHANNEL, id, STAGE_ANA, "secret one");
	snprintf(s->stored, sizeof s->stored, "nothing");
	s->author = 77;
	text_stage_event(s, "MESSAGE_UPDATE", STAGE_GUILD, STAGE_CHANNEL, id, STAGE_ANA,
			 "secret two");
}

static void check_untold(const struct text_stage *s)
{
	CHECK_STR(s->stored, "");
	CHECK_INT(s->author, 0);
	CHECK_STR(s->author_name, "");
}

TEST(text_session_tells_an_edit_only_of_what_it_may_read)
{
	struct text_stage s;

	CHECK(text_stage_open(&s));
	CHECK(text_stage_begin(&s));
	write_and_edit(&s, "text_chat", "all");
	CHECK_STR(s.stored, "secret two");
	CHECK_INT(s.author, STAGE_ANA);
	write_and_edit(&s, "text_blocked_channels", "1000");
	check_untold(&s);
	CHECK_INT(settings_set(s.settings, "text_blocked_channels", ""), 0);
	write_and_edit(&s, "text_chat", "mentions");
	check_untold(&s);
	write_and_edit(&s, "text_chat", "off");
	check_untold(&s);
	CHECK_INT(settings_set(s.settings, "text_chat", "all"), 0);
	write_and_edit(&s, "blocked_users", "501");
	check_untold(&s);
	CHECK_INT(settings_set(s.settings, "blocked_users", ""), 0);
	write_and_edit(&s, "text_chat", "all");
	CHECK_STR(s.stored, "secret two");
	text_stage_close(&s);
}

/* Nor of what was written before its author agreed, or of those who refuse. */
TEST(text_session_tells_an_edit_only_as_its_author_agreed)
{
	struct text_stage s;
	uint64_t before;

	CHECK(text_stage_open(&s));
	CHECK(text_stage_begin(&s));
	before = text_stage_id(&s, 60000);
	CHECK_INT(consent_set(s.consents, STAGE_GUILD, STAGE_ANA, CONSENT_REMEMBERED,
			      env_wall_ms(s.fake.env) - 1000),
		  0);
	text_stage_event(&s, "MESSAGE_UPDATE", STAGE_GUILD, STAGE_CHANNEL, before, STAGE_ANA,
			 "before I agreed");
	check_untold(&s);
	write_and_edit(&s, "text_chat", "all");
	CHECK_STR(s.stored, "secret two");
	CHECK_INT(consent_set(s.consents, STAGE_GUILD, STAGE_ANA, CONSENT_NEITHER,
			      env_wall_ms(s.fake.env)),
		  0);
	write_and_edit(&s, "text_chat", "all");
	check_untold(&s);
	text_stage_close(&s);
}
