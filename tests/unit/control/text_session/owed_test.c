/* Answers that are owed from before a restart. */
#include "tests/unit/control/text_session/owed_scene.h"

#include "control/settings/settings.h"
#include "control/text/missed.h"
#include "control/text/taken.h"
#include "ipc/env.h"
#include "tests/test.h"

/* A request for a history that failed is repeated. */
TEST(text_session_goes_on_asking_for_a_history_where_an_answer_is_owed)
{
	struct text_stage s;
	uint64_t owed;

	CHECK(text_stage_open(&s));
	owed = owed_since(&s, 10000, "waits");
	s.broken = true;
	text_stage_wrote(&s, STAGE_CHANNEL, owed, STAGE_BOB, "<@9> owed");
	CHECK(text_stage_begin(&s));
	text_session_online(s.ts, NULL);
	s.ts->up.fresh_at = 1;
	CHECK_INT(s.ts->up.n, 1);
	CHECK(text_session_catches_up(s.ts));
	/* This is the last try of the first ones. */
	s.ts->up.place[0].tries = 4;
	text_stage_run(&s);
	CHECK_STR(text_stage_reason(&s, owed), "");
	CHECK_INT(s.n_read, 1);
	CHECK_INT(s.ts->up.n, 1);
	CHECK(s.ts->up.place[0].at > env_now(s.fake.env));
	CHECK(!text_session_catches_up(s.ts));
	s.broken = false;
	text_session_online(s.ts, NULL);
	text_stage_run(&s);
	CHECK(strncmp(text_stage_reason(&s, owed), "sent_", 5) == 0);
	CHECK_INT(s.ts->up.n, 0);
	text_stage_close(&s);
}

static void many_write(struct text_stage *s, unsigned n)
{
	static uint64_t more = 1;

	for (unsigned i = 0; i < n; i++, more++)
		text_stage_writes(s, STAGE_GUILD, STAGE_CHANNEL, text_stage_id(s, 0), 9000 + more,
				  "good evening");
}

/* Who writes again is known for longer, and whoever waits for an answer until it is over. */
TEST(text_session_knows_the_rank_of_who_asks_among_many)
{
	struct text_stage s;
	struct text_guild *g;

	CHECK(text_stage_open(&s));
	CHECK(text_stage_begin(&s));
	s.rank = TOOL_RANK_MODERATOR;
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, text_stage_id(&s, MINUTE), STAGE_BOB,
			  "hello all");
	g = text_session_open(s.ts, STAGE_GUILD);
	CHECK(g != NULL);
	many_write(&s, TEXT_MEMBERS - 1);
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, text_stage_id(&s, 0), STAGE_BOB,
			  "here again");
	many_write(&s, TEXT_MEMBERS - 1);
	CHECK_INT(text_member_rank(g, STAGE_BOB, "dice"), TOOL_RANK_MODERATOR);
	many_write(&s, 1);
	CHECK_INT(text_member_rank(g, STAGE_BOB, "dice"), TOOL_RANK_EVERYONE);
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, text_stage_id(&s, 0), STAGE_ANA,
			  "<@9> roll a dice");
	many_write(&s, 3 * TEXT_MEMBERS);
	CHECK_INT(text_member_rank(g, STAGE_ANA, "dice"), TOOL_RANK_MODERATOR);
	text_stage_close(&s);
}

/* Discord allows 250 of them. */
TEST(text_session_knows_all_roles_of_who_asks)
{
	json_t *m = text_stage_message(STAGE_GUILD, STAGE_CHANNEL, 70, STAGE_BOB, "hello all");
	json_t *roles = json_array();
	struct text_stage s;
	struct text_guild *g;

	CHECK(text_stage_open(&s));
	CHECK(!settings_set(s.settings, "tools_roles", "roll:1240"));
	CHECK(text_stage_begin(&s));
	for (unsigned i = 0; i < 250; i++)
		json_array_append_new(roles, json_sprintf("%u", 1000 + i));
	json_object_set_new(m, "member", json_pack("{s:o}", "roles", roles));
	text_session_event(s.ts, "MESSAGE_CREATE", m);
	json_decref(m);
	g = text_session_open(s.ts, STAGE_GUILD);
	CHECK(g != NULL);
	CHECK_INT(text_member_rank(g, STAGE_BOB, "roll"), TOOL_RANK_EVERYONE);
	CHECK_INT(text_member_rank(g, STAGE_ANA, "roll"), TOOL_RANK_BARRED);
	text_stage_close(&s);
}

/* Bob chooses not to be read, and changes his mind, before the server comes. */
TEST(text_session_ends_what_it_owes_to_somebody_who_refuses)
{
	for (unsigned refuses = 0; refuses <= 1; refuses++) {
		struct text_stage s;
		uint64_t owed;

		CHECK(text_stage_open(&s));
		owed = owed_since(&s, 10 * MINUTE, "waits");
		s.unknown = true;
		text_stage_wrote(&s, STAGE_CHANNEL, owed, STAGE_BOB, "<@9> owed");
		CHECK(text_stage_begin(&s));
		owed_server_comes(&s, STAGE_GUILD, 1);
		text_session_forget(s.ts, STAGE_GUILD + 1, STAGE_BOB, true);
		text_session_forget(s.ts, STAGE_GUILD, STAGE_BOB, refuses);
		owed_channel_comes(&s, 1);
		if (refuses)
			CHECK_STR(text_stage_reason(&s, owed), "no_consent");
		CHECK_INT(s.posted, !refuses);
		text_stage_close(&s);
	}
}

/* READY comes before the servers: until one has come, nothing says in which channel a thread is,
 * nor which category a channel is in. */
TEST(text_session_leaves_what_is_owed_in_a_server_that_has_not_come)
{
	struct text_stage s;
	uint64_t owed;

	CHECK(text_stage_open(&s));
	CHECK(!settings_set(s.settings, "text_blocked_channels", "7"));
	owed = owed_since(&s, 10 * MINUTE, "waits");
	s.unknown = true;
	text_stage_wrote(&s, STAGE_CHANNEL, owed, STAGE_BOB, "<@9> owed");
	CHECK(text_stage_begin(&s));
	owed_server_comes(&s, STAGE_GUILD, 1);
	text_stage_run(&s);
	CHECK_INT(s.n_read, 0);
	CHECK_STR(text_stage_reason(&s, owed), "");
	/* Nothing else is missed in the channel. */
	owed_channel_comes(&s, 1);
	CHECK(strncmp(text_stage_reason(&s, owed), "sent_", 5) == 0);
	CHECK_INT(s.n_warned, 0);
	text_stage_close(&s);
}

/* It may never come. */
TEST(text_session_ends_what_is_owed_for_too_long_in_a_server_that_does_not_come)
{
	struct text_stage s;
	uint64_t owed;

	CHECK(text_stage_open(&s));
	owed = owed_since(&s, 7 * HOUR, "waits");
	s.unknown = true;
	CHECK(text_stage_begin(&s));
	owed_server_comes(&s, STAGE_GUILD, 1);
	text_stage_run(&s);
	CHECK_STR(text_stage_reason(&s, owed), "expired");
	/* Nobody knows whether the settings let the bot into the channel. */
	CHECK_INT(s.n_warned, 0);
	CHECK_INT(s.ts->up.n, 0);
	text_stage_close(&s);
}

/* Other talk, at so many ms before now and after it. */
static void talk(struct text_stage *s, unsigned n, uint64_t ago_ms)
{
	for (unsigned i = 0; i < n; i++)
		text_stage_wrote(s, STAGE_CHANNEL, text_stage_id(s, ago_ms - i), STAGE_ANA, "hum");
}

/* text rules 34 36 */
TEST(text_session_finds_what_is_owed_or_missed_under_hundreds_of_messages)
{
	struct text_stage s;
	uint64_t owed, missed, named, last;

	for (unsigned owes = 0; owes <= 1; owes++) {
		CHECK(text_stage_open(&s));
		owed = owed_since(&s, 30 * MINUTE, owes ? "waits" : "ended");
		missed = text_stage_id(&s, 29 * MINUTE);
		named = text_stage_id(&s, 28 * MINUTE);
		text_stage_wrote(&s, STAGE_CHANNEL, owed, STAGE_BOB, "<@9> owed");
		text_stage_wrote(&s, STAGE_CHANNEL, missed, STAGE_BOB, "<@9> missed");
		text_stage_wrote(&s, STAGE_CHANNEL, named, 503, "Parley, wordnamed?");
		talk(&s, 250, 20 * MINUTE);
		last = text_stage_id(&s, MINUTE);
		text_stage_wrote(&s, STAGE_CHANNEL, last, STAGE_ANA, "hum");
		CHECK(text_stage_begin(&s));
		s.unknown = true;
		owed_server_comes(&s, STAGE_GUILD, 1);
		owed_channel_comes(&s, last);
		CHECK_INT(s.n_read, owes ? 3 : 4);
		CHECK_INT(owes, strncmp(text_stage_reason(&s, owed), "sent_", 5) == 0);
		CHECK(strncmp(text_stage_reason(&s, missed), "sent_", 5) == 0);
		CHECK(strncmp(text_stage_reason(&s, named), "sent_", 5) == 0);
		CHECK_INT(s.n_warned, 0);
		text_stage_close(&s);
	}
}

/* An answer far above the message is found, too. */
TEST(text_session_answers_nothing_twice_that_was_answered_hundreds_of_messages_ago)
{
	struct text_stage s;
	uint64_t owed;
	json_t *answer;

	CHECK(text_stage_open(&s));
	owed = owed_since(&s, 30 * MINUTE, "sending");
	text_stage_wrote(&s, STAGE_CHANNEL, owed, STAGE_BOB, "<@9> owed");
	talk(&s, 150, 25 * MINUTE);
	text_stage_wrote(&s, STAGE_CHANNEL, text_stage_id(&s, 20 * MINUTE), STAGE_SELF, "It is.");
	answer = json_array_get(s.history[0].list, 0);
	json_object_set_new(
		answer, "message_reference",
		json_pack("{s:o}", "message_id", json_sprintf("%llu", (unsigned long long)owed)));
	talk(&s, 150, 15 * MINUTE);
	CHECK(text_stage_begin(&s));
	text_session_online(s.ts, NULL);
	text_stage_run(&s);
	CHECK_STR(text_stage_reason(&s, owed), "sent_reply");
	CHECK_INT(s.posted, 0);
	text_stage_close(&s);
}

/* What lies deeper than that is given up, and who asked sees it. */
TEST(text_session_shows_who_asked_that_an_owed_answer_expires)
{
	for (unsigned sending = 0; sending <= 1; sending++) {
		struct text_stage s;
		uint64_t owed;

		CHECK(text_stage_open(&s));
		owed = owed_since(&s, 30 * MINUTE, sending ? "sending" : "waits");
		text_stage_wrote(&s, STAGE_CHANNEL, owed, STAGE_BOB, "<@9> owed");
		talk(&s, MISSED_MOST, 20 * MINUTE);
		CHECK(text_stage_begin(&s));
		/* Discord limits how often a channel is read. */
		for (unsigned i = 0; i < 8 && !*text_stage_reason(&s, owed); i++) {
			if (!i)
				text_session_online(s.ts, NULL);
			text_stage_run(&s);
		}
		CHECK_STR(text_stage_reason(&s, owed), "expired");
		CHECK_INT(s.n_read, MISSED_MOST / MISSED_PAGE);
		/* One that was being sent may have come. */
		CHECK_INT(s.n_warned, !sending);
		CHECK(sending || s.warned[0] == owed);
		CHECK_INT(s.ts->up.n, 0);
		text_stage_close(&s);
	}
}
