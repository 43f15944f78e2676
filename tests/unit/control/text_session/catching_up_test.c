/* What a control looks at after a time away, and what it answers of that. */
#include "tests/unit/control/text_session/owed_scene.h"

#include "control/consent/consent.h"
#include "control/settings/settings.h"
#include "control/text/missed.h"
#include "control/text/taken.h"
#include "control/text/text_chat.h"
#include "ipc/env.h"
#include "tests/test.h"

/* Discord itself tells what was missed in a session that goes on. */
TEST(text_session_that_resumes_answers_what_is_owed_and_nothing_older)
{
	struct text_stage s;
	uint64_t old, owed;

	CHECK(text_stage_open(&s));
	old = text_stage_id(&s, 2 * HOUR);
	owed = owed_since(&s, 10000, "waits");
	text_stage_wrote(&s, STAGE_CHANNEL, old, STAGE_ANA, "<@9> old");
	text_stage_wrote(&s, STAGE_CHANNEL, owed, STAGE_BOB, "<@9> owed");
	CHECK(text_stage_begin(&s));
	text_session_online(s.ts, NULL);
	text_stage_run(&s);
	CHECK_INT(s.n_read, 1);
	CHECK(strncmp(text_stage_reason(&s, owed), "sent_", 5) == 0);
	CHECK_STR(text_stage_reason(&s, old), "");
	CHECK_INT(s.posted, 1);
	text_stage_close(&s);
}

/* The channel where an answer is owed is looked at for all that was missed. */
TEST(text_session_that_begins_after_one_that_resumed_reads_what_was_missed)
{
	struct text_stage s;
	uint64_t owed, missed;

	CHECK(text_stage_open(&s));
	owed = owed_since(&s, 10000, "waits");
	missed = text_stage_id(&s, 5000);
	text_stage_wrote(&s, STAGE_CHANNEL, owed, STAGE_BOB, "<@9> owed");
	text_stage_wrote(&s, STAGE_CHANNEL, missed, STAGE_ANA, "<@9> missed");
	CHECK(text_stage_begin(&s));
	/* Another channel is read first. */
	text_session_online(s.ts, NULL);
	owed_server_comes(&s, STAGE_GUILD, 1);
	owed_channel_comes(&s, missed);
	CHECK(strncmp(text_stage_reason(&s, missed), "sent_", 5) == 0);
	CHECK(strncmp(text_stage_reason(&s, owed), "sent_", 5) == 0);
	text_stage_close(&s);
}

TEST(text_session_reads_channels_of_small_servers_beside_a_large_one)
{
	struct text_stage s;
	uint64_t last;

	CHECK(text_stage_open(&s));
	CHECK(text_stage_begin(&s));
	last = text_stage_id(&s, 1000);
	owed_server_comes(&s, 100, 3);
	text_stage_guild(&s, 100, 1000, 200, last);
	text_stage_guild(&s, 101, 2000, 2, last);
	text_stage_guild(&s, 102, 3000, 1, last);
	CHECK_INT(s.ts->up.n, TEXT_PLACES_OF_GUILD + 3);
	text_stage_run(&s);
	CHECK(s.n_read > 5); /* Discord's rate limit holds the rest back */
	/* Each has its turn. */
	CHECK_INT(s.read[0], 1000);
	CHECK_INT(s.read[1], 2000);
	CHECK_INT(s.read[2], 3000);
	CHECK_INT(s.read[3], 1001);
	CHECK_INT(s.read[4], 2001);
	text_stage_close(&s);
}

TEST(text_session_gives_places_of_the_largest_servers_to_those_that_come_late)
{
	enum { FULL = TEXT_PLACES / TEXT_PLACES_OF_GUILD };
	struct text_stage s;
	uint64_t last;
	unsigned n[FULL + 2] = {0}, most = 0;

	CHECK(text_stage_open(&s));
	CHECK(text_stage_begin(&s));
	last = text_stage_id(&s, 1000);
	owed_server_comes(&s, 100, FULL + 2);
	for (uint64_t i = 0; i < FULL + 2; i++)
		text_stage_guild(&s, 100 + i, 1000 * (i + 1), 500, last);
	CHECK_INT(s.ts->up.n, TEXT_PLACES);
	for (unsigned i = 0; i < s.ts->up.n; i++)
		n[s.ts->up.place[i].guild - 100]++;
	for (unsigned i = 0; i < FULL + 2; i++)
		most = n[i] > most ? n[i] : most;
	CHECK(most < TEXT_PLACES_OF_GUILD);
	CHECK(n[FULL + 1] >= TEXT_PLACES_OF_GUILD - 3);
	text_stage_close(&s);
}

TEST(text_session_gives_no_place_to_channels_that_it_may_not_read)
{
	struct text_stage s;
	uint64_t last;

	CHECK(text_stage_open(&s));
	CHECK(!settings_set(s.settings, "text_blocked_channels", "1001"));
	CHECK(text_stage_begin(&s));
	last = text_stage_id(&s, 1000);
	owed_server_comes(&s, 100, 2);
	text_stage_guild(&s, 100, 1000, 3, last);
	CHECK_INT(s.ts->up.n, 2);
	s.barred = true;
	text_stage_guild(&s, 101, 2000, 3, last);
	CHECK_INT(s.ts->up.n, 2);
	text_stage_close(&s);
}

/* text rules 34: what is older than the setting stays unanswered. */
TEST(text_session_catches_up_so_many_hours)
{
	for (unsigned hours = 6; hours <= 8; hours += 2) {
		struct text_stage s;
		uint64_t old, late;
		char text[8];

		snprintf(text, sizeof text, "%u", hours);
		CHECK(text_stage_open(&s));
		CHECK(!settings_set(s.settings, "text_catchup_hours", text));
		CHECK(text_stage_begin(&s));
		old = text_stage_id(&s, 7 * HOUR);
		late = text_stage_id(&s, 5 * HOUR);
		text_stage_wrote(&s, STAGE_CHANNEL, old, STAGE_ANA, "<@9> old");
		text_stage_wrote(&s, STAGE_CHANNEL, late, STAGE_BOB, "<@9> late");
		owed_server_comes(&s, STAGE_GUILD, 1);
		owed_channel_comes(&s, late);
		CHECK(strncmp(text_stage_reason(&s, late), "sent_", 5) == 0);
		CHECK_INT(hours == 8, *text_stage_reason(&s, old) != 0);
		text_stage_close(&s);
	}
}

/* Another session begins before the server has come: what was missed there is still missed. */
TEST(text_session_that_begins_twice_reads_what_was_missed_before_the_first)
{
	struct text_stage s;
	uint64_t missed;

	CHECK(text_stage_open(&s));
	CHECK(text_stage_begin(&s));
	missed = text_stage_id(&s, 10 * MINUTE);
	text_stage_wrote(&s, STAGE_CHANNEL, missed, STAGE_ANA, "<@9> missed");
	owed_server_comes(&s, STAGE_GUILD, 2);
	text_stage_writes(&s, STAGE_GUILD + 1, 7, text_stage_id(&s, 0), STAGE_BOB, "hello all");
	owed_server_comes(&s, STAGE_GUILD, 2);
	owed_channel_comes(&s, missed);
	CHECK(text_stage_has_read(&s, STAGE_CHANNEL));
	CHECK(strncmp(text_stage_reason(&s, missed), "sent_", 5) == 0);
	/* It has come: what was written before another session was seen. */
	s.n_read = 0;
	owed_server_comes(&s, STAGE_GUILD, 2);
	owed_channel_comes(&s, missed);
	CHECK_INT(s.n_read, 0);
	text_stage_close(&s);
}

/* The control before this one had read all up to some message. */
TEST(text_session_reads_what_was_written_since_the_control_before)
{
	for (unsigned known = 0; known <= 2; known++) {
		struct text_stage s;
		uint64_t old, missed;

		CHECK(text_stage_open(&s));
		old = text_stage_id(&s, 2 * HOUR);
		missed = text_stage_id(&s, 10 * MINUTE);
		/* The last time is one of a clock that was ahead. */
		s.conf.newest = known == 0   ? 0
				: known == 1 ? text_stage_id(&s, HOUR)
					     : missed_id_of(env_wall_ms(s.fake.env) + HOUR);
		text_stage_wrote(&s, STAGE_CHANNEL, old, STAGE_ANA, "<@9> old");
		text_stage_wrote(&s, STAGE_CHANNEL, missed, STAGE_BOB, "<@9> missed");
		CHECK(text_stage_begin(&s));
		owed_server_comes(&s, STAGE_GUILD, 1);
		owed_channel_comes(&s, missed);
		CHECK(strncmp(text_stage_reason(&s, missed), "sent_", 5) == 0);
		CHECK_INT(*text_stage_reason(&s, old) != '\0', known != 1);
		text_stage_close(&s);
	}
}

/* Whatever is not read yet is left to the next control. */
TEST(text_session_tells_the_next_control_only_of_what_was_read)
{
	struct text_stage s;
	uint64_t before, now;

	CHECK_INT(text_session_newest(NULL, 7), 7);
	CHECK(text_stage_open(&s));
	before = text_stage_id(&s, HOUR);
	s.conf.newest = before;
	CHECK(text_stage_begin(&s));
	CHECK(text_session_newest(s.ts, before) == before);
	owed_server_comes(&s, STAGE_GUILD, 1);
	now = text_stage_id(&s, 0);
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, now, STAGE_BOB, "hum");
	CHECK(text_session_newest(s.ts, before) == before);
	text_stage_guild(&s, STAGE_GUILD, STAGE_CHANNEL + 1, 1, now);
	CHECK(text_session_newest(s.ts, before) == before);
	text_stage_run(&s);
	/* As after the time that a new session has for its servers. */
	s.ts->up.fresh_at = 1;
	CHECK(text_session_newest(s.ts, before) == now);
	/* A server in an outage. */
	owed_server_comes(&s, STAGE_GUILD + 1, 1);
	s.ts->up.fresh_at = 1;
	CHECK(text_session_newest(s.ts, before) == before);
	text_stage_close(&s);
}

/* Discord does not list it. After a short time away nothing can be missed there. */
TEST(text_session_reads_threads_that_were_archived_while_it_was_away)
{
	for (unsigned hours = 0; hours <= 2; hours += 2) {
		struct text_stage s;
		uint64_t missed;

		CHECK(text_stage_open(&s));
		s.archived = STAGE_POST;
		s.conf.newest = text_stage_id(&s, hours * HOUR + 30 * MINUTE);
		missed = text_stage_id(&s, 20 * MINUTE);
		text_stage_wrote(&s, STAGE_POST, missed, STAGE_BOB, "<@9> missed");
		CHECK(text_stage_begin(&s));
		owed_server_comes(&s, STAGE_GUILD, 1);
		owed_channel_comes(&s, 1);
		CHECK_INT(s.n_read, hours ? 1 : 0);
		CHECK_INT(strncmp(text_stage_reason(&s, missed), "sent_", 5) == 0, hours != 0);
		text_stage_close(&s);
	}
}

/* A control that was killed before it had said so to all of them. */
TEST(text_session_answers_no_more_of_what_was_missed_after_another_restart)
{
	json_t *rows = json_array();
	uint64_t missed[4], owed;
	struct text_stage s;
	unsigned sent = 0;

	CHECK(text_stage_open(&s));
	CHECK(!settings_set(s.settings, "text_catchup_replies", "1"));
	for (unsigned i = 0; i < 4; i++) {
		json_t *one;

		missed[i] = text_stage_id(&s, (10 - i) * MINUTE);
		one = owed_row(missed[i], STAGE_GUILD, STAGE_CHANNEL, "late");
		json_array_extend(rows, one);
		json_decref(one);
		text_stage_wrote(&s, STAGE_CHANNEL, missed[i], STAGE_ANA + i, "<@9> missed");
	}
	owed = text_stage_id(&s, MINUTE);
	json_array_append_new(rows, json_pack("[I,I,I,I,s,I]", (json_int_t)owed,
					      (json_int_t)STAGE_GUILD, (json_int_t)STAGE_CHANNEL,
					      (json_int_t)STAGE_BOB, "waits", (json_int_t)0));
	text_stage_wrote(&s, STAGE_CHANNEL, owed, STAGE_BOB, "<@9> owed");
	s.conf.taken = rows;
	CHECK(text_stage_begin(&s));
	text_session_online(s.ts, NULL);
	text_stage_run(&s);
	for (unsigned i = 0; i < 4; i++) {
		const char *reason = text_stage_reason(&s, missed[i]);

		sent += strncmp(reason, "sent_", 5) == 0;
		CHECK(strncmp(reason, "sent_", 5) == 0 || strcmp(reason, "missed_enough") == 0);
	}
	CHECK(strncmp(text_stage_reason(&s, owed), "sent_", 5) == 0);
	/* Bob's is told with what he is owed. */
	CHECK(sent >= 1 && sent <= 2);
	json_decref(rows);
	text_stage_close(&s);
}

/* Another session begins while the channels of the first wait for their turn, and after somebody
 * wrote. */
TEST(text_session_that_begins_anew_reads_the_channels_that_had_no_turn)
{
	struct text_stage s;
	uint64_t missed[3];

	CHECK(text_stage_open(&s));
	CHECK(text_stage_begin(&s));
	for (unsigned i = 0; i < 3; i++) {
		missed[i] = text_stage_id(&s, (10 + i) * MINUTE);
		text_stage_wrote(&s, STAGE_CHANNEL + i, missed[i], STAGE_ANA + i, "<@9> missed");
	}
	owed_server_comes(&s, STAGE_GUILD, 1);
	text_stage_guild(&s, STAGE_GUILD, STAGE_CHANNEL, 3, missed[0]);
	CHECK_INT(s.ts->up.n, 3);
	text_stage_writes(&s, STAGE_GUILD, 7, text_stage_id(&s, 0), STAGE_BOB, "hello all");
	s.unknown = true;
	owed_server_comes(&s, STAGE_GUILD, 1);
	s.unknown = false;
	text_stage_guild(&s, STAGE_GUILD, STAGE_CHANNEL, 3, missed[0]);
	text_stage_run(&s);
	for (unsigned i = 0; i < 3; i++)
		CHECK(strncmp(text_stage_reason(&s, missed[i]), "sent_", 5) == 0);
	CHECK_INT(s.posted, 3);
	text_stage_close(&s);
}

/* It was in an outage when the session began that this control resumed. */
TEST(text_session_that_resumes_reads_a_server_that_comes_late)
{
	struct text_stage s;
	uint64_t missed;

	CHECK(text_stage_open(&s));
	CHECK(text_stage_begin(&s));
	missed = text_stage_id(&s, 10 * MINUTE);
	text_stage_wrote(&s, STAGE_CHANNEL, missed, STAGE_ANA, "<@9> missed");
	text_session_online(s.ts, NULL);
	owed_channel_comes(&s, missed);
	CHECK(strncmp(text_stage_reason(&s, missed), "sent_", 5) == 0);
	text_stage_close(&s);
}

static void miss(struct text_stage *s, uint32_t before)
{
	s->reading = before;
	s->changed = env_wall_ms(s->fake.env) - 5 * MINUTE;
}

/* What people wrote while only mentions were read is not read after the change, and what they wrote
 * while nothing was is left alone. */
TEST(text_session_answers_nothing_that_was_not_read_when_it_was_written)
{
	struct text_stage s;
	uint64_t named, mention, later;

	for (uint32_t before = SETTINGS_TEXT_OFF; before <= SETTINGS_TEXT_MENTIONS; before++) {
		CHECK(text_stage_open(&s));
		CHECK(text_stage_begin(&s));
		miss(&s, before);
		named = text_stage_id(&s, 10 * MINUTE);
		mention = text_stage_id(&s, 9 * MINUTE);
		later = text_stage_id(&s, 1 * MINUTE);
		text_stage_wrote(&s, STAGE_CHANNEL, named, STAGE_ANA, "Parley, wordnamed");
		text_stage_wrote(&s, STAGE_CHANNEL, mention, STAGE_BOB, "<@9> wordmention");
		text_stage_wrote(&s, STAGE_CHANNEL, later, STAGE_BOB, "Parley, wordlater");
		owed_server_comes(&s, STAGE_GUILD, 1);
		owed_channel_comes(&s, later);
		CHECK_STR(text_stage_reason(&s, named), "");
		CHECK_STR(text_stage_reason(&s, mention),
			  before == SETTINGS_TEXT_OFF ? "" : "sent_reply");
		CHECK(strncmp(text_stage_reason(&s, later), "sent_", 5) == 0);
		CHECK(strstr(s.prompt, "wordlater") && !strstr(s.prompt, "wordnamed"));
		text_stage_close(&s);
	}
}

/* A session that goes on tells what was written before this control began, and was not read. */
TEST(text_session_that_resumes_takes_nothing_that_was_not_read_when_it_was_written)
{
	struct text_stage s;
	uint64_t named, mention;

	CHECK(text_stage_open(&s));
	CHECK(text_stage_begin(&s));
	miss(&s, SETTINGS_TEXT_MENTIONS);
	text_session_online(s.ts, NULL);
	named = text_stage_id(&s, 7 * MINUTE);
	mention = text_stage_id(&s, 6 * MINUTE);
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, named, STAGE_ANA, "Parley, wordnamed");
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, mention, STAGE_BOB, "<@9> wordmention");
	text_stage_run(&s);
	CHECK_STR(text_stage_reason(&s, named), "");
	CHECK(strncmp(text_stage_reason(&s, mention), "sent_", 5) == 0);
	text_stage_close(&s);
}

/* The same of what was written before the settings changed while Discord was away. */
TEST(text_session_takes_nothing_that_was_not_read_before_a_change_of_settings)
{
	struct text_stage s;
	uint64_t blocked, later;

	CHECK(text_stage_open(&s));
	CHECK(text_stage_begin(&s));
	s.ts->began_ms -= HOUR;
	miss(&s, SETTINGS_TEXT_OFF);
	text_session_online(s.ts, NULL);
	text_session_offline(s.ts);
	text_session_settings(s.ts);
	blocked = text_stage_id(&s, 7 * MINUTE);
	later = text_stage_id(&s, MINUTE);
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, blocked, STAGE_ANA, "<@9> wordblocked");
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, later, STAGE_BOB, "<@9> wordlater");
	text_session_online(s.ts, NULL);
	text_stage_run(&s);
	CHECK_STR(text_stage_reason(&s, blocked), "");
	CHECK(strncmp(text_stage_reason(&s, later), "sent_", 5) == 0);
	CHECK(strstr(s.prompt, "wordlater") && !strstr(s.prompt, "wordblocked"));
	text_stage_close(&s);
}

/* Discord's time of a message is behind a clock that is fast. */
TEST(text_session_reads_what_follows_a_change_by_a_fast_clock)
{
	struct text_stage s;
	uint64_t tried;

	CHECK(text_stage_open(&s));
	CHECK(text_stage_begin(&s));
	s.ts->began_ms -= HOUR;
	text_session_offline(s.ts);
	text_session_online(s.ts, NULL);
	s.reading = SETTINGS_TEXT_OFF;
	s.changed = env_wall_ms(s.fake.env);
	text_session_settings(s.ts);
	tried = text_stage_id(&s, 25000); /* the clock is 30 s fast, and 5 s have passed */
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, tried, STAGE_ANA, "<@9> hello");
	text_stage_run(&s);
	CHECK(strncmp(text_stage_reason(&s, tried), "sent_", 5) == 0);
	text_stage_close(&s);
}

/* How long the burst of a mention lasts (ms) with text_chat all, where this is read. */
static uint64_t burst_ms(uint32_t reading)
{
	struct text_stage s;
	uint64_t began, until = 0;

	if (text_stage_open(&s) && !settings_set(s.settings, "text_coalesce_s", "6") &&
	    text_stage_begin(&s)) {
		s.reading = reading;
		s.changed = UINT64_MAX;
		began = env_now(s.fake.env);
		text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, text_stage_id(&s, 0), STAGE_ANA,
				  "<@9> hello");
		until = text_deadline(text_guild_find(s.ts, STAGE_GUILD)->core) - began;
	}
	text_stage_close(&s);
	return until / 1000000;
}

TEST(text_session_waits_a_second_where_discord_keeps_what_follows)
{
	uint64_t blind = burst_ms(SETTINGS_TEXT_MENTIONS), all = burst_ms(SETTINGS_TEXT_ALL);

	CHECK(blind > 1000 && blind < 2000);
	CHECK(all > 5000 && all < 7000);
}

/* A message without a row may have been answered: its row may have given way. */
TEST(text_session_that_resumes_takes_nothing_whose_row_gave_way)
{
	struct text_stage s;
	uint64_t old, others;
	json_t *rows = json_array();

	CHECK(text_stage_open(&s));
	old = text_stage_id(&s, 3 * MINUTE);
	others = text_stage_id(&s, 4 * MINUTE);
	for (uint64_t i = 0; i < TAKEN_OF_AUTHOR; i++)
		json_array_append_new(
			rows, json_pack("[I,I,I,I,s,I]",
					(json_int_t)text_stage_id(&s, MINUTE) + (json_int_t)i,
					(json_int_t)STAGE_GUILD, (json_int_t)STAGE_CHANNEL,
					(json_int_t)STAGE_BOB, "ended", (json_int_t)0));
	s.conf.taken = rows;
	CHECK(text_stage_begin(&s));
	text_session_online(s.ts, NULL);
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, old, STAGE_BOB, "<@9> old");
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, others, STAGE_ANA, "<@9> hello");
	text_stage_run(&s);
	CHECK_STR(text_stage_reason(&s, old), "");
	CHECK(strncmp(text_stage_reason(&s, others), "sent_", 5) == 0);
	json_decref(rows);
	text_stage_close(&s);
}

/* So is what somebody wrote before they were erased, and after this control began, too. */
TEST(text_session_that_resumes_reads_nothing_from_before_an_erasure)
{
	struct text_stage s;

	CHECK(text_stage_open(&s));
	CHECK(text_stage_begin(&s));
	s.ts->began_ms -= HOUR;
	consent_end(s.consents, STAGE_ANA, env_wall_ms(s.fake.env) - MINUTE);
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, text_stage_id(&s, 3 * MINUTE), STAGE_ANA,
			  "<@9> wordsecret");
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, text_stage_id(&s, 2 * MINUTE), STAGE_ANA,
			  "wordalarm");
	CHECK_STR(s.stored, "");
	text_session_online(s.ts, NULL);
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, text_stage_id(&s, 2 * MINUTE), STAGE_BOB,
			  "wordbob");
	CHECK_STR(s.stored, "wordbob");
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, text_stage_id(&s, 0), STAGE_ANA,
			  "<@9> wordlater");
	text_stage_run(&s);
	CHECK_INT(s.asked, 1);
	CHECK(strstr(s.prompt, "wordlater") && strstr(s.prompt, "wordbob"));
	CHECK(!strstr(s.prompt, "wordsecret") && !strstr(s.prompt, "wordalarm"));
	text_stage_close(&s);
}

TEST(text_session_that_resumes_keeps_messages_with_the_time_at_which_they_were_written)
{
	struct text_stage s;
	uint64_t id;

	CHECK(text_stage_open(&s));
	CHECK(text_stage_begin(&s));
	id = text_stage_id(&s, 10 * MINUTE);
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, id, STAGE_ANA, "hello all");
	CHECK_STR(s.stored, "hello all");
	/* Between two looks at the clock. */
	CHECK(s.written_ms >= missed_ms_of(id) && s.written_ms < missed_ms_of(id) + MINUTE);
	/* The store would have dropped this one by now. */
	CHECK(!settings_set(s.settings, "store_words_hours", "1"));
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, text_stage_id(&s, 2 * HOUR), STAGE_ANA,
			  "older");
	CHECK_STR(s.stored, "hello all");
	text_stage_close(&s);
}

/* A wrong id hides nothing that is missed later. */
TEST(text_session_that_was_told_an_id_of_a_time_to_come_reads_what_was_missed)
{
	struct text_stage s;
	uint64_t missed;

	CHECK(text_stage_open(&s));
	CHECK(text_stage_begin(&s));
	text_stage_writes(&s, STAGE_GUILD, 7, text_stage_id(&s, 0) + (UINT64_C(1) << 60), STAGE_BOB,
			  "hello all");
	missed = text_stage_id(&s, 1 * MINUTE);
	text_stage_wrote(&s, STAGE_CHANNEL, missed, STAGE_ANA, "<@9> missed");
	owed_server_comes(&s, STAGE_GUILD, 1);
	owed_channel_comes(&s, missed);
	CHECK(strncmp(text_stage_reason(&s, missed), "sent_", 5) == 0);
	text_stage_close(&s);
}

/* The history tells no roles, and the author may have lost theirs. */
TEST(text_session_knows_no_rank_by_messages_of_the_history)
{
	struct text_stage s;
	struct text_guild *g;

	CHECK(text_stage_open(&s));
	CHECK(text_stage_begin(&s));
	s.rank = TOOL_RANK_MODERATOR;
	text_stage_writes(&s, STAGE_GUILD, STAGE_CHANNEL, text_stage_id(&s, 20 * MINUTE), STAGE_ANA,
			  "hello all");
	g = text_session_open(s.ts, STAGE_GUILD);
	CHECK(g != NULL);
	CHECK_INT(text_member_rank(g, STAGE_ANA, "dice"), TOOL_RANK_MODERATOR);
	/* What she wrote before that says nothing. */
	text_member_keep(g, STAGE_ANA, text_stage_id(&s, 30 * MINUTE), "Ana", NULL);
	CHECK_INT(text_member_rank(g, STAGE_ANA, "dice"), TOOL_RANK_MODERATOR);
	text_stage_wrote(&s, STAGE_CHANNEL, text_stage_id(&s, 10 * MINUTE), STAGE_ANA,
			 "<@9> missed");
	owed_server_comes(&s, STAGE_GUILD, 1);
	text_stage_guild(&s, STAGE_GUILD, STAGE_CHANNEL, 1, text_stage_id(&s, 10 * MINUTE));
	text_stage_run(&s);
	CHECK_INT(s.asked, 1);
	CHECK_INT(text_member_rank(g, STAGE_ANA, "dice"), TOOL_RANK_EVERYONE);
	text_stage_close(&s);
}

/* Discord gives an empty history to a bot that may not read it: nothing was deleted. */
TEST(text_session_takes_nothing_for_deleted_in_a_history_that_it_may_not_read)
{
	for (unsigned blind = 0; blind <= 1; blind++) {
		struct text_stage s;
		uint64_t owed;

		CHECK(text_stage_open(&s));
		owed = owed_since(&s, 10000, "waits");
		s.blind = blind;
		CHECK(text_stage_begin(&s));
		text_session_online(s.ts, NULL);
		text_stage_run(&s);
		CHECK_STR(text_stage_reason(&s, owed), blind ? "expired" : "deleted");
		text_stage_close(&s);
	}
}

/* Settings that are lent: once they are taken back they tell nothing that may be read. */
static const struct settings *lend(uint64_t guild, void *arg)
{
	const struct text_stage *s = arg;

	(void)guild;
	return settings_set(s->settings, "text_chat", "all") ? NULL : s->settings;
}

static void take_back(uint64_t guild, void *arg)
{
	const struct text_stage *s = arg;

	(void)guild;
	settings_set(s->settings, "text_chat", "off");
}

/* Whether a thread of which nothing is known is read is judged by the settings of its server, too,
 * while these are in use. */
TEST(text_session_returns_the_settings_of_a_server_once_it_has_read_them)
{
	struct text_stage s;
	uint64_t owed;
	json_t *rows;

	CHECK(text_stage_open(&s));
	CHECK(!settings_set(s.settings, "text_blocked_channels", "5000"));
	s.conf.settingsh = lend;
	s.conf.releaseh = take_back;
	owed = text_stage_id(&s, 10000);
	rows = owed_row(owed, STAGE_GUILD, STAGE_UNKNOWN, "waits");
	s.conf.taken = rows;
	text_stage_wrote(&s, STAGE_UNKNOWN, owed, STAGE_BOB, "<@9> owed");
	CHECK(text_stage_begin(&s));
	text_session_online(s.ts, NULL);
	text_stage_run(&s);
	CHECK_INT(s.n_read, 1);
	json_decref(rows);
	text_stage_close(&s);
}
