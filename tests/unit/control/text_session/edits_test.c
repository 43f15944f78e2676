/* Edits of messages that the settings would not have read. */
#include <string.h>

#include "control/settings/settings.h"
#include "control/text/text_chat.h"
#include "tests/test.h"
#include "tests/unit/control/text_session/text_stage.h"

enum { REPLY = 19 };

static void edit(struct text_stage *s, uint64_t id, uint64_t user, const char *text)
{
	text_stage_event(s, "MESSAGE_UPDATE", STAGE_GUILD, STAGE_CHANNEL, id, user, text);
}

static void change(struct text_stage *s, const char *name, const char *value)
{
	CHECK(!settings_set(s->settings, name, value));
	text_session_settings(s->ts);
}

/* What Ana wrote before is told no more, and what she makes of it is not read. */
TEST(no_model_is_told_what_somebody_who_was_blocked_made_of_a_message)
{
	for (unsigned edits = 0; edits <= 1; edits++) {
		struct text_stage s;
		uint64_t id;

		CHECK(text_stage_open(&s));
		CHECK(text_stage_begin(&s));
		id = text_stage_id(&s, 0);
		text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, id, STAGE_ANA, "wordbefore");
		CHECK_STR(s.stored, "wordbefore");
		change(&s, "blocked_users", "501");
		if (edits)
			edit(&s, id, STAGE_ANA, "Parley must know: wordafter");
		CHECK_STR(s.stored, edits ? "" : "wordbefore");
		text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, text_stage_id(&s, 0), STAGE_BOB,
				  "<@9> well");
		text_stage_run(&s);
		CHECK_INT(s.asked, 1);
		CHECK(strstr(s.prompt, "well"));
		CHECK(!strstr(s.prompt, "wordbefore") && !strstr(s.prompt, "wordafter"));
		text_stage_close(&s);
	}
}

/* Bob's question, which replies to Ana's message, waits for what he writes on. */
TEST(no_model_is_told_what_a_question_replies_to_of_somebody_who_was_blocked)
{
	for (unsigned edits = 0; edits <= 1; edits++) {
		struct text_stage s;
		uint64_t id;
		json_t *m;

		CHECK(text_stage_open(&s));
		CHECK(text_stage_begin(&s));
		CHECK(!settings_set(s.settings, "text_coalesce_s", "1"));
		id = text_stage_id(&s, 0);
		m = text_stage_message(STAGE_GUILD, STAGE_CHANNEL, text_stage_id(&s, 0), STAGE_BOB,
				       "<@9> well");
		json_object_set_new(m, "type", json_integer(REPLY));
		json_object_set_new(m, "message_reference",
				    json_pack("{s:o}", "message_id",
					      json_sprintf("%llu", (unsigned long long)id)));
		json_object_set_new(m, "referenced_message",
				    text_stage_message(STAGE_GUILD, STAGE_CHANNEL, id, STAGE_ANA,
						       "wordbefore"));
		text_session_event(s.ts, "MESSAGE_CREATE", m);
		json_decref(m);
		change(&s, "blocked_users", "501");
		if (edits)
			edit(&s, id, STAGE_ANA, "wordafter");
		for (unsigned i = 0; i < 8 && !s.asked; i++)
			text_stage_run(&s);
		CHECK_INT(s.asked, 1);
		CHECK(strstr(s.prompt, "well"));
		CHECK(!strstr(s.prompt, "wordbefore") && !strstr(s.prompt, "wordafter"));
		text_stage_close(&s);
	}
}

/* The store drops the words that it has, and gets no others. */
TEST(the_store_learns_no_edit_of_what_is_not_read_any_more)
{
	static const char *const settings[][2] = {{"text_blocked_channels", "1000"},
						  {"text_chat", "mentions"},
						  {"text_chat", "off"},
						  {"text_direct_users", "7"}};

	for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
		bool closes = i < 3;
		struct text_stage s;
		uint64_t id;

		CHECK(text_stage_open(&s));
		CHECK(text_stage_begin(&s));
		id = text_stage_id(&s, 0);
		text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, id, STAGE_ANA, "wordbefore");
		change(&s, settings[i][0], settings[i][1]);
		edit(&s, id, STAGE_ANA, "wordafter");
		CHECK_STR(s.stored, closes ? "" : "wordafter");
		text_stage_close(&s);
	}
}

/* With "mentions" an edit that mentions the bot is read as before. */
TEST(the_store_learns_edits_that_mention_the_bot)
{
	struct text_stage s;
	uint64_t id;

	CHECK(text_stage_open(&s));
	CHECK(!settings_set(s.settings, "text_chat", "mentions"));
	CHECK(text_stage_begin(&s));
	id = text_stage_id(&s, 0);
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, id, STAGE_ANA, "<@9> wordbefore");
	edit(&s, id, STAGE_ANA, "<@9> wordafter");
	CHECK(strstr(s.stored, "wordafter"));
	text_stage_close(&s);
}
