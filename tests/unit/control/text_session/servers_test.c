/* Many servers at a time: each keeps its conversation, its limits and the reasons of its messages.
 */
#include "control/text/text_chat.h"

#include <stdio.h>

#include "control/settings/settings.h"
#include "ipc/env.h"
#include "proto/base/time.h"
#include "tests/test.h"
#include "tests/unit/control/text_session/text_stage.h"

static unsigned lines_of(struct text_stage *s, uint64_t guild, uint64_t channel)
{
	const struct text_line *lines;
	struct text_guild *g =
		text_session_uses(s->ts, guild) ? text_session_open(s->ts, guild) : NULL;

	return g ? (unsigned)text_chat_lines(g->core, channel, env_now(s->fake.env), &lines) : 0;
}

static void talk_in(struct text_stage *s, uint64_t first, unsigned servers)
{
	for (uint64_t i = 0; i < servers; i++)
		text_stage_writes(s, first + i, 10 * (first + i), text_stage_id(s, 0), STAGE_BOB,
				  "hello all");
}

TEST(text_session_keeps_the_conversation_of_a_hundred_servers)
{
	struct text_stage s;
	uint64_t one, two;

	CHECK(text_stage_open(&s));
	CHECK(!settings_set(s.settings, "text_per_hour", "1"));
	CHECK(text_stage_begin(&s));
	one = text_stage_id(&s, 0);
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, one, STAGE_ANA, "<@9> who is Rex");
	text_stage_run(&s);
	CHECK(strncmp(text_stage_reason(&s, one), "sent_", 5) == 0);
	talk_in(&s, 200, 100);
	CHECK_INT(s.ts->n_guilds, 101);
	CHECK(lines_of(&s, STAGE_GUILD, STAGE_CHANNEL) >= 1);
	/* The limit of the hour still holds. */
	two = text_stage_id(&s, 0);
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, two, STAGE_ANA, "<@9> and now");
	text_stage_run(&s);
	CHECK_STR(text_stage_reason(&s, two), "rate_limited");
	text_stage_close(&s);
}

static void age(struct text_stage *s, unsigned i, uint64_t seconds)
{
	uint64_t now = env_now(s->fake.env);

	s->ts->guild[i]->used_at = now - seconds * NS_PER_S;
}

TEST(text_session_gives_up_a_server_that_is_idle_for_an_hour_alone)
{
	struct text_stage s;
	uint64_t unplaced;

	CHECK(text_stage_open(&s));
	CHECK(text_stage_begin(&s));
	talk_in(&s, 200, TEXT_GUILDS);
	CHECK_INT(s.ts->n_guilds, TEXT_GUILDS);
	/* All of them are in use: talk finds no place. */
	talk_in(&s, 9000, 1);
	CHECK(!text_session_uses(s.ts, 9000));
	CHECK(text_session_uses(s.ts, 200));
	/* One that nobody has asked anything gives way to somebody who asks. */
	age(&s, 3, 100);
	text_stage_writes(&s, 9001, 7, text_stage_id(&s, 0), STAGE_ANA, "<@9> hello");
	CHECK(text_session_uses(s.ts, 9001));
	CHECK(!text_session_uses(s.ts, 203));
	/* Where all have been asked within the hour, none does. */
	for (unsigned i = 0; i < TEXT_GUILDS; i++)
		s.ts->guild[i]->asked_at = env_now(s.fake.env);
	unplaced = text_stage_id(&s, 0);
	text_stage_writes(&s, 9002, 7, unplaced, STAGE_ANA, "<@9> hello");
	CHECK(!text_session_uses(s.ts, 9002));
	CHECK_STR(text_stage_reason(&s, unplaced), "queue_full");
	age(&s, 5, TEXT_IDLE_S);
	s.ts->guild[5]->asked_at = 1;
	talk_in(&s, 9003, 1);
	CHECK(text_session_uses(s.ts, 9003));
	CHECK(!text_session_uses(s.ts, 205));
	text_stage_close(&s);
}

static void why(struct text_stage *s, uint64_t guild, uint64_t message, struct text_why *out)
{
	text_session_why(s->ts, s->settings, guild, message, out);
}

TEST(text_session_tells_why_a_message_ended_whatever_else_is_said)
{
	struct text_stage s;
	struct text_why w;
	uint64_t asked, talk;

	CHECK(text_stage_open(&s));
	CHECK(text_stage_begin(&s));
	asked = text_stage_id(&s, 0);
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, asked, STAGE_ANA, "<@9> hello");
	text_stage_run(&s);
	/* Other talk there, and more messages for the bot in another server. */
	for (unsigned i = 0; i < 4000; i++)
		text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, text_stage_id(&s, 0), STAGE_BOB,
				  "hello all");
	talk = text_stage_id(&s, 0);
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, talk, STAGE_BOB, "hello all");
	s.barred = true;
	for (unsigned i = 0; i < 4000; i++)
		text_stage_writes(&s, STAGE_GUILD + 1, 7, text_stage_id(&s, 0), STAGE_BOB,
				  "<@9> hello");
	why(&s, STAGE_GUILD, asked, &w);
	CHECK_INT(w.kind, TEXT_WHY_ANSWERED);
	CHECK(w.channel == STAGE_CHANNEL);
	CHECK(strstr(w.signal, "a mention of the bot") != NULL);
	CHECK_STR(w.attention, "addressed");
	CHECK(text_session_last(s.ts, STAGE_GUILD, STAGE_ANA) == asked);
	CHECK(!text_session_last(s.ts, STAGE_GUILD + 5, STAGE_ANA));
	why(&s, STAGE_GUILD, talk, &w);
	CHECK_INT(w.kind, TEXT_WHY_ENDED);
	CHECK_STR(w.reason, "it does not address the bot, and the setting text_unsolicited is off");
	CHECK_STR(w.help, "a mention of the bot, or a reply to it");
	CHECK_STR(w.signal, "nothing shows that it is meant for the bot");
	text_session_forget(s.ts, STAGE_GUILD, STAGE_ANA, false);
	why(&s, STAGE_GUILD, asked, &w);
	CHECK_INT(w.kind, TEXT_WHY_UNKNOWN);
	CHECK(!text_session_last(s.ts, STAGE_GUILD, STAGE_ANA));
	text_stage_close(&s);
}

TEST(text_session_tells_that_a_message_waits_and_for_what)
{
	struct text_stage s;
	struct text_why w;
	uint64_t first, second, third;

	CHECK(text_stage_open(&s));
	CHECK(!settings_set(s.settings, "text_chat", "mentions"));
	CHECK(!settings_set(s.settings, "text_coalesce_s", "0"));
	CHECK(!settings_set(s.settings, "text_spacing_s", "120"));
	CHECK(text_stage_begin(&s));
	first = text_stage_id(&s, 0);
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, first, STAGE_ANA, "<@9> hello");
	why(&s, STAGE_GUILD, first, &w);
	CHECK_INT(w.kind, TEXT_WHY_WAITS);
	CHECK_STR(w.hold, "the bot works on it");
	text_stage_run(&s);
	second = text_stage_id(&s, 0) + 1;
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, second, STAGE_ANA, "<@9> and now?");
	text_stage_run(&s);
	why(&s, STAGE_GUILD, second, &w);
	CHECK_INT(w.kind, TEXT_WHY_WAITS);
	CHECK(w.channel == STAGE_CHANNEL && w.user == STAGE_ANA);
	CHECK(strstr(w.hold, "text_spacing_s") != NULL);
	CHECK(strstr(w.signal, "a mention of the bot") != NULL);
	CHECK(text_session_last(s.ts, STAGE_GUILD, STAGE_ANA) == second);
	CHECK(!text_session_last(s.ts, STAGE_GUILD, STAGE_BOB));
	/* The limit that takes the longest is told. */
	third = second + 1;
	CHECK(!settings_set(s.settings, "text_coalesce_s", "20"));
	text_stage_writes(&s, STAGE_GUILD + 1, 7, third, STAGE_BOB, "<@9> hello");
	why(&s, STAGE_GUILD + 1, third, &w);
	CHECK(strstr(w.hold, "text_coalesce_s") != NULL);
	CHECK(!settings_set(s.settings, "text_per_hour", "1"));
	why(&s, STAGE_GUILD, second, &w);
	CHECK(strstr(w.hold, "text_per_hour") != NULL);
	/* What nobody wrote is not told to wait. */
	why(&s, STAGE_GUILD, third + 5, &w);
	CHECK_INT(w.kind, TEXT_WHY_NOT_READ);
	text_stage_close(&s);
}

static unsigned long resident(void)
{
	unsigned long pages = 0, all;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f && fscanf(f, "%lu %lu", &all, &pages) != 2)
		pages = 0;
	if (f)
		fclose(f);
	return pages * 4096;
}

/* docs/text.md tells the figure; each server's settings are counted in
 * live_settings_of_many_servers_take_little_memory. */
TEST(text_session_core_of_an_idle_server_takes_little_memory)
{
	struct text_stage s;
	unsigned long before;

	CHECK(text_stage_open(&s));
	CHECK(text_stage_begin(&s));
	talk_in(&s, 200, 200);
	before = resident();
	talk_in(&s, 1000, 400);
	before = (resident() - before) / 400;
	printf("# %lu bytes for an idle server\n", before);
	CHECK(before < 200000);
	text_stage_close(&s);
}
