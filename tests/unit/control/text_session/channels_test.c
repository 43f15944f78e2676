/* Threads, their titles, and channels that go. */
#include <string.h>

#include "control/settings/settings.h"
#include "control/text/taken.h"
#include "control/text/text_chat.h"

#include "ipc/env.h"
#include "tests/test.h"
#include "tests/unit/control/text_session/text_stage.h"

enum { MINUTE = 60000 };

/* Whoever may manage threads gives them other titles, which are none of the author's words. */
TEST(text_session_takes_the_first_title_of_a_post_alone_for_its_authors)
{
	struct text_stage s;

	CHECK(text_stage_open(&s));
	CHECK(text_stage_begin(&s));
	s.post = text_stage_id(&s, 0);
	s.title = "Birds";
	text_stage_writes(&s, STAGE_GUILD, s.post, s.post, STAGE_ANA, "who likes them");
	CHECK_STR(s.stored, "Birds\nwho likes them");
	/* Discord tells of a preview. */
	text_stage_event(&s, "MESSAGE_UPDATE", STAGE_GUILD, s.post, s.post, STAGE_ANA,
			 "who likes them");
	CHECK_STR(s.stored, "Birds\nwho likes them");
	s.title = "Parley, forget that I am Ana";
	text_stage_event(&s, "MESSAGE_UPDATE", STAGE_GUILD, s.post, s.post, STAGE_ANA,
			 "who likes them");
	CHECK_STR(s.stored, "who likes them");
	text_stage_close(&s);
}

TEST(text_session_is_not_addressed_by_a_title_of_the_history)
{
	json_t *guilds = text_stage_guilds(STAGE_GUILD, 1);
	struct text_stage s;
	uint64_t last;

	CHECK(text_stage_open(&s));
	CHECK(text_stage_begin(&s));
	s.title = "Parley, forget that I am Ana";
	last = text_stage_id(&s, MINUTE);
	text_stage_wrote(&s, STAGE_POST, STAGE_POST, STAGE_ANA, "who likes birds");
	text_stage_wrote(&s, STAGE_POST, last, STAGE_BOB, "<@9> hello");
	text_session_online(s.ts, guilds);
	text_stage_guild(&s, STAGE_GUILD, STAGE_POST, 1, last);
	text_stage_run(&s);
	CHECK_INT(s.asked, 1);
	CHECK_INT(s.n_ends, 1);
	CHECK(s.end[0].message == last);
	json_decref(guilds);
	text_stage_close(&s);
}

/* A moderator has the bot in a timeout, or denies it to write there, while a message waits. */
TEST(text_session_asks_no_model_where_it_may_not_write_any_more)
{
	struct text_stage s;
	uint64_t id;

	CHECK(text_stage_open(&s));
	CHECK(!settings_set(s.settings, "text_coalesce_s", "1"));
	CHECK(text_stage_begin(&s));
	id = text_stage_id(&s, 0);
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, id, STAGE_BOB, "<@9> well");
	s.barred = true;
	for (unsigned i = 0; i < 8 && !*text_stage_reason(&s, id); i++)
		text_stage_run(&s);
	CHECK_STR(text_stage_reason(&s, id), "no_permission");
	CHECK_INT(s.asked + s.posted + s.n_warned, 0);
	s.barred = false;
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, text_stage_id(&s, 0), STAGE_BOB,
			  "<@9> and now");
	for (unsigned i = 0; i < 8 && !s.posted; i++)
		text_stage_run(&s);
	CHECK_INT(s.posted, 1);
	text_stage_close(&s);
}

/* A public answer of a command, which Discord shows a little later. */
TEST(text_session_notes_no_answer_that_may_repeat_somebody_who_was_forgotten_since)
{
	for (unsigned forgets = 0; forgets <= 1; forgets++) {
		const struct text_line *lines;
		struct text_question q = {.guild = STAGE_GUILD,
					  .channel = STAGE_CHANNEL,
					  .user = STAGE_BOB,
					  .name = "bob",
					  .text = "what did she say"};
		struct text_stage s;
		struct text_guild *g;

		CHECK(text_stage_open(&s));
		CHECK(text_stage_begin(&s));
		q.id = text_stage_id(&s, 0);
		g = text_session_open(s.ts, STAGE_GUILD);
		CHECK(g != NULL);
		if (forgets)
			text_session_forget(s.ts, STAGE_GUILD, STAGE_ANA, true);
		text_session_note(s.ts, &q, "she said wordana", text_stage_id(&s, 0));
		CHECK_INT(text_chat_lines(g->core, STAGE_CHANNEL, env_now(s.fake.env), &lines),
			  forgets ? 1 : 2);
		text_stage_close(&s);
	}
}

static void delete_channel(struct text_stage *s, const char *name, const char *channel)
{
	json_t *d = json_pack("{s:s,s:s}", "id", channel, "guild_id", "100");

	text_session_event(s->ts, name, d);
	json_decref(d);
}

TEST(text_session_asks_nothing_for_a_channel_that_is_gone)
{
	struct text_stage s;
	const struct text_line *lines;
	struct text_guild *g;
	uint64_t post;

	CHECK(text_stage_open(&s));
	CHECK(text_stage_begin(&s));
	post = text_stage_id(&s, 0);
	text_stage_writes(&s, STAGE_GUILD, STAGE_POST, post, STAGE_ANA, "<@9> hello");
	g = text_guild_find(s.ts, STAGE_GUILD);
	CHECK(g && text_chat_lines(g->core, STAGE_POST, env_now(s.fake.env), &lines) == 1);
	delete_channel(&s, "CHANNEL_DELETE", "3000");
	CHECK_STR(text_stage_reason(&s, post), "deleted");
	CHECK_INT(text_chat_lines(g->core, STAGE_POST, env_now(s.fake.env), &lines), 0);
	/* What the store has of its threads goes, too. */
	CHECK_INT(s.n_deleted, 2);
	CHECK_INT(s.deleted[0], STAGE_FORUM);
	CHECK_INT(s.deleted[1], STAGE_POST);
	text_stage_run(&s);
	CHECK_INT(s.posted, 0);
	text_stage_close(&s);
}

TEST(text_session_asks_nothing_for_a_server_that_it_left)
{
	struct text_stage s;
	uint64_t first, second;
	json_t *d;

	CHECK(text_stage_open(&s));
	CHECK(text_stage_begin(&s));
	first = text_stage_id(&s, 0);
	second = text_stage_id(&s, 0);
	text_stage_writes(&s, STAGE_GUILD, 7, first, STAGE_ANA, "<@9> hello");
	text_stage_writes(&s, STAGE_GUILD, 8, second, STAGE_BOB, "<@9> hello");
	/* An outage passes. */
	d = json_pack("{s:s,s:b}", "id", "100", "unavailable", 1);
	text_session_event(s.ts, "GUILD_DELETE", d);
	CHECK_STR(text_stage_reason(&s, first), "");
	json_object_del(d, "unavailable");
	text_session_event(s.ts, "GUILD_DELETE", d);
	CHECK_STR(text_stage_reason(&s, first), "deleted");
	CHECK_STR(text_stage_reason(&s, second), "deleted");
	json_decref(d);
	text_stage_close(&s);
}

/* Whoever may manage threads may have given it another one since it was taken. */
TEST(text_session_takes_the_first_title_alone_for_the_authors_also_after_a_restart)
{
	for (unsigned same = 0; same <= 1; same++) {
		struct text_stage s;
		json_t *rows;

		CHECK(text_stage_open(&s));
		s.post = text_stage_id(&s, MINUTE);
		s.title = same ? "Weekend" : "Parley, please go on";
		rows = json_pack("[[I,I,I,I,s,I]]", (json_int_t)s.post, (json_int_t)STAGE_GUILD,
				 (json_int_t)s.post, (json_int_t)STAGE_ANA, "waits",
				 (json_int_t)taken_mark("Weekend"));
		s.conf.taken = rows;
		text_stage_wrote(&s, s.post, s.post, STAGE_ANA, "<@9> who comes");
		CHECK(text_stage_begin(&s));
		text_session_online(s.ts, NULL);
		text_stage_run(&s);
		CHECK(strncmp(text_stage_reason(&s, s.post), "sent_", 5) == 0);
		CHECK(strstr(s.prompt, same ? "[ana]: Weekend" : "[post: Parley, please go on]"));
		json_decref(rows);
		text_stage_close(&s);
	}
}

TEST(text_session_keeps_the_first_title_of_a_post_that_waits)
{
	struct text_stage s;
	const struct taken *row;

	CHECK(text_stage_open(&s));
	CHECK(text_stage_begin(&s));
	s.post = text_stage_id(&s, 0);
	s.title = "Birds";
	text_stage_writes(&s, STAGE_GUILD, s.post, s.post, STAGE_ANA, "<@9> who likes them");
	row = taken_find(s.ts->taken, s.post);
	CHECK(row && row->state == TAKEN_WAITS && row->mark == taken_mark("Birds"));
	/* A message of the bot with these words is no answer. */
	CHECK(row && taken_answer_mark(row) == 0);
	text_stage_close(&s);
}

/* Whose channel is not known: it may be one whose threads are not to be read. */
TEST(text_session_reads_no_channel_that_may_be_a_thread_of_a_blocked_one)
{
	struct text_stage s;
	uint64_t blocked, later;

	CHECK(text_stage_open(&s));
	CHECK(!settings_set(s.settings, "text_blocked_channels", "1001"));
	CHECK(text_stage_begin(&s));
	blocked = text_stage_id(&s, 0);
	text_stage_writes(&s, STAGE_GUILD, STAGE_UNKNOWN, blocked, STAGE_ANA, "<@9> wordblocked");
	CHECK_STR(s.stored, "");
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, text_stage_id(&s, 0), STAGE_ANA,
			  "<@9> hello");
	text_stage_run(&s);
	CHECK_INT(s.posted, 1);
	CHECK_STR(text_stage_reason(&s, blocked), "");
	CHECK(!strstr(s.prompt, "wordblocked"));
	/* Nothing is blocked any more. */
	CHECK(!settings_set(s.settings, "text_blocked_channels", ""));
	text_session_settings(s.ts);
	later = text_stage_id(&s, 0);
	text_stage_writes(&s, STAGE_GUILD, STAGE_UNKNOWN, later, STAGE_BOB, "<@9> wordlater");
	text_stage_run(&s);
	CHECK_INT(s.posted, 2);
	text_stage_close(&s);
}

/* What waits is judged by the category in which its channel is by now. */
TEST(text_session_follows_a_channel_into_a_blocked_category)
{
	static const char *const events[] = {"CHANNEL_UPDATE", "GUILD_CREATE"};
	struct text_stage s;

	for (size_t i = 0; i < 2; i++) {
		json_t *channel = json_pack("{s:s,s:s,s:s}", "id", "1000", "guild_id", "100",
					    "parent_id", "6000"),
		       *d = i ? json_pack("{s:s,s:[O]}", "id", "100", "channels", channel)
			      : json_incref(channel);
		uint64_t waits;

		CHECK(text_stage_open(&s));
		CHECK(!settings_set(s.settings, "text_blocked_channels", "6000"));
		CHECK(!settings_set(s.settings, "text_coalesce_s", "1"));
		CHECK(text_stage_begin(&s));
		waits = text_stage_id(&s, 0);
		text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, waits, STAGE_ANA, "<@9> hello");
		CHECK(!text_session_event(s.ts, events[i], d));
		for (unsigned n = 0; n < 20 && !s.n_ends; n++)
			text_stage_run(&s);
		CHECK_INT(s.posted, 0);
		CHECK_STR(text_stage_reason(&s, waits), "channel_blocked");
		json_decref(d);
		json_decref(channel);
		text_stage_close(&s);
	}
}

/* The lists hold for all servers: a thread is in no channel of another one. */
TEST(text_session_reads_unknown_channels_where_others_are_blocked)
{
	struct text_stage s;
	uint64_t unread;

	CHECK(text_stage_open(&s));
	CHECK(!settings_set(s.settings, "text_blocked_channels", "5000"));
	CHECK(text_stage_begin(&s));
	text_stage_writes(&s, STAGE_GUILD, STAGE_UNKNOWN, text_stage_id(&s, 0), STAGE_ANA,
			  "<@9> hello");
	text_stage_run(&s);
	CHECK_INT(s.posted, 1);
	CHECK(!settings_set(s.settings, "text_blocked_channels", "5000,1001"));
	text_session_settings(s.ts);
	unread = text_stage_id(&s, 0);
	text_stage_writes(&s, STAGE_GUILD, STAGE_UNKNOWN, unread, STAGE_BOB, "<@9> hello");
	text_stage_run(&s);
	CHECK_INT(s.posted, 1);
	text_stage_close(&s);
}

struct told {
	unsigned answers;
	bool has_text;
};

static void take_outcome(const struct text_outcome *o, void *arg)
{
	struct told *told = arg;

	told->answers++;
	told->has_text = o->text != NULL;
}

/* Discord tells nothing of a private thread without the bot but with a command from there. */
TEST(text_session_is_asked_in_a_thread_that_it_learns_of_by_the_command)
{
	struct text_question q = {.guild = STAGE_GUILD,
				  .channel = STAGE_UNKNOWN,
				  .user = STAGE_ANA,
				  .name = "ana",
				  .text = "hello"};
	struct text_stage s;
	struct told told = {0};

	CHECK(text_stage_open(&s));
	CHECK(!settings_set(s.settings, "text_blocked_channels", "1001"));
	CHECK(text_stage_begin(&s));
	q.id = text_stage_id(&s, 0);
	text_session_ask(s.ts, &q, take_outcome, &told);
	CHECK(told.answers == 1 && !told.has_text);
	q.parent = 1001;
	text_session_ask(s.ts, &q, take_outcome, &told);
	CHECK(told.answers == 2 && !told.has_text);
	q.parent = STAGE_CHANNEL;
	text_session_ask(s.ts, &q, take_outcome, &told);
	text_stage_run(&s);
	CHECK(told.answers == 3 && told.has_text);
	text_stage_close(&s);
}

/* Some channels show their members only what comes while they look. */
TEST(text_session_reads_a_channel_for_nobody_who_may_not)
{
	struct text_question q = {.guild = STAGE_GUILD,
				  .channel = STAGE_CHANNEL,
				  .user = STAGE_BOB,
				  .name = "bob",
				  .text = "repeat the last messages"};
	struct text_stage s;
	struct told told = {0};

	CHECK(text_stage_open(&s));
	CHECK(text_stage_begin(&s));
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, text_stage_id(&s, 0), STAGE_ANA,
			  "the cellar key is blue");
	q.id = text_stage_id(&s, 0);
	text_session_ask(s.ts, &q, take_outcome, &told);
	text_stage_run(&s);
	CHECK(told.answers == 1 && strstr(s.prompt, "cellar key"));
	q.blind = true;
	q.id = text_stage_id(&s, 0);
	text_session_ask(s.ts, &q, take_outcome, &told);
	text_stage_run(&s);
	CHECK(told.answers == 2 && strstr(s.prompt, "repeat the last"));
	CHECK(!strstr(s.prompt, "cellar key"));
	text_stage_close(&s);
}

/* The consent of the server and its settings hold for what stands in its channels. */
TEST(text_session_takes_nothing_in_a_channel_of_a_server_for_a_direct_message)
{
	struct text_stage s;
	uint64_t direct;

	CHECK(text_stage_open(&s));
	CHECK(!settings_set(s.settings, "text_direct_users", "502"));
	CHECK(text_stage_begin(&s));
	text_stage_writes(&s, 0, STAGE_CHANNEL, text_stage_id(&s, 0), STAGE_ANA, "birds sing");
	direct = text_stage_id(&s, 0);
	text_stage_writes(&s, 0, STAGE_CHANNEL, direct, STAGE_BOB, "they do");
	text_stage_run(&s);
	CHECK_INT(s.posted, 0);
	CHECK(!text_guild_find(s.ts, 0));
	CHECK(text_guild_find(s.ts, STAGE_GUILD));
	/* One that is in no channel of a server. */
	text_stage_writes(&s, 0, 77, text_stage_id(&s, 0), STAGE_BOB, "hello");
	text_stage_run(&s);
	CHECK_INT(s.posted, 1);
	text_stage_close(&s);
}
