/* What a restart knows of written messages, and what the history of a channel says. */
#include "control/text/taken.h"

#include <string.h>

#include "control/text/incoming.h"
#include "control/text/missed.h"
#include "tests/test.h"

enum { BOT = 900, ALICE = 501, CHANNEL = 5, GUILD = 7 };

static struct missed_page page;

static void put(struct taken_table *t, uint64_t message, enum taken_state state, uint64_t mark)
{
	taken_put(t, &(struct taken){.message = message,
				     .guild = GUILD,
				     .channel = CHANNEL,
				     .user = ALICE,
				     .state = state,
				     .mark = mark});
}

/* The table of the next control. NULL without memory. */
static struct taken_table *restart(struct taken_table *t)
{
	struct taken_table *next = NULL;
	json_t *rows = json_array();
	const struct taken *row;

	for (size_t i = 0; (row = taken_at(t, i)); i++)
		if (row->message)
			json_array_append_new(rows, taken_row(row));
	taken_free(t);
	if (!taken_alloc(&next))
		taken_read(next, rows);
	json_decref(rows);
	return next;
}

static void read_page(const char *list)
{
	json_t *j = json_loads(list, 0, NULL);

	missed_read(&page, j, BOT);
	json_decref(j);
}

static enum missed_what judge(struct taken_table *t, uint64_t message, uint64_t since, bool *reply)
{
	const struct incoming in = {.message = message, .user = ALICE};

	return missed_judge(&page, t, &in, since, reply);
}

TEST(taken_rows_survive_a_restart)
{
	struct taken_table *t;
	const struct taken *row;

	CHECK_INT(taken_alloc(&t), 0);
	put(t, 10, TAKEN_WAITS, 0);
	put(t, 11, TAKEN_SENDING, 0x7fffffffffffffff);
	put(t, 12, TAKEN_ENDED, 0);
	put(t, 10, TAKEN_SENDING, 4);
	CHECK(!taken_find(t, 10)->before);
	t = restart(t);
	CHECK(t);
	row = taken_find(t, 10);
	CHECK(row && row->before && row->state == TAKEN_SENDING && row->mark == 4);
	CHECK(row->guild == GUILD && row->channel == CHANNEL && row->user == ALICE);
	CHECK(taken_find(t, 11)->mark == 0x7fffffffffffffff);
	CHECK_INT(taken_find(t, 12)->state, TAKEN_ENDED);
	CHECK(!taken_find(t, 13) && !taken_find(t, 0));
	/* What an erasure leaves keeps messages from being answered again, and tells of nobody. */
	taken_forget(t, ALICE);
	row = taken_find(t, 11);
	CHECK(row && row->state == TAKEN_ENDED && !row->user && !row->mark);
	CHECK(!taken_find(t, 12)->user);
	taken_free(t);
}

TEST(rows_of_the_disk_that_are_none_are_skipped)
{
	static const char *const none[] = {"{}",
					   "[1,[],[10],[\"10\",7,5,1,\"waits\",0]]",
					   "[[10,7,0,1,\"waits\",0]]",
					   "[[-1,7,5,1,\"waits\",0]]",
					   "[[10,7,5,1,\"gone\",0]]",
					   "[[10,7,5,1,null,0]]"};
	struct taken_table *t;

	CHECK_INT(taken_alloc(&t), 0);
	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
		json_t *j = json_loads(none[i], 0, NULL);

		taken_read(t, j);
		json_decref(j);
	}
	CHECK(!taken_at(t, 0));
	taken_free(t);
}

TEST(what_is_owed_outlasts_what_ended)
{
	struct taken_table *t;

	CHECK_INT(taken_alloc(&t), 0);
	put(t, 1, TAKEN_WAITS, 0);
	taken_put(t, &(struct taken){.message = 2, .guild = GUILD, .state = TAKEN_POSTED});
	for (uint64_t i = 0; i < TAKEN_ROWS + 100; i++)
		taken_put(t, &(struct taken){.message = 1000 + i,
					     .guild = 1 + i % 8,
					     .user = 1000 + i % 64,
					     .state = TAKEN_ENDED});
	CHECK(taken_find(t, 1) && taken_find(t, 2));
	CHECK(!taken_find(t, 1000) && !taken_find(t, 1100));
	CHECK(taken_find(t, 1102) && taken_find(t, 1000 + TAKEN_ROWS + 99));
	taken_free(t);
}

TEST(one_author_and_one_server_drive_out_only_their_own)
{
	struct taken_table *t;

	CHECK_INT(taken_alloc(&t), 0);
	put(t, 1, TAKEN_ENDED, 0);
	for (uint64_t i = 0; i < 3 * TAKEN_ROWS; i++)
		taken_put(t, &(struct taken){.message = 1000 + i,
					     .guild = GUILD + 1,
					     .user = 666,
					     .state = TAKEN_ENDED});
	CHECK(taken_find(t, 1));
	CHECK(taken_find(t, 1000 + 3 * TAKEN_ROWS - TAKEN_OF_AUTHOR));
	CHECK(!taken_find(t, 1000 + 3 * TAKEN_ROWS - TAKEN_OF_AUTHOR - 1));
	for (uint64_t i = 0; i < TAKEN_OF_SERVER; i++)
		taken_put(t, &(struct taken){.message = 50000 + i,
					     .guild = GUILD + 1,
					     .user = 5000 + i,
					     .state = TAKEN_ENDED});
	CHECK(taken_find(t, 1) && taken_find(t, 50000));
	CHECK(!taken_find(t, 1000 + 3 * TAKEN_ROWS - 1));
	taken_free(t);
}

TEST(a_post_of_the_bot_gives_way_to_no_message_that_ended)
{
	struct taken_table *t;

	CHECK_INT(taken_alloc(&t), 0);
	for (uint64_t i = 0; i < TAKEN_ROWS; i++)
		taken_put(t, &(struct taken){
				     .message = 1000 + i, .guild = GUILD, .state = TAKEN_POSTED});
	put(t, 90000, TAKEN_ENDED, 0);
	CHECK(taken_find(t, 1000) && !taken_find(t, 90000));
	put(t, 90001, TAKEN_WAITS, 0);
	CHECK(!taken_find(t, 1000) && taken_find(t, 90001));
	taken_free(t);
}

TEST(a_mark_knows_words_as_discord_gives_them_back)
{
	CHECK(taken_mark(" ten past four\n") == taken_mark("ten past four"));
	CHECK(taken_mark("\xe3\x80\x80\xe5\x8d\x81\xe2\x80\xa8\xc2\xa0") ==
	      taken_mark("\xe5\x8d\x81"));
	CHECK(taken_mark("ten past four") != taken_mark("ten past five"));
	CHECK(taken_mark("ten past four") != taken_mark("tenpastfour"));
	CHECK(taken_mark("") && taken_mark(" ") == taken_mark(""));
	CHECK(taken_mark("x") < UINT64_C(1) << 63);
}

#define OWN(id, words, more)                                                                       \
	"{\"id\":\"" id "\",\"author\":{\"id\":\"900\"},\"content\":\"" words "\"" more "}"
#define TO(id) ",\"message_reference\":{\"message_id\":\"" id "\"}"

/* text rules 36 */
TEST(an_answer_is_known_by_its_reference_or_by_its_words)
{
	struct taken_table *t;
	bool reply;

	CHECK_INT(taken_alloc(&t), 0);
	put(t, 10, TAKEN_WAITS, 0);
	put(t, 11, TAKEN_SENDING, taken_mark("ten past four"));
	put(t, 12, TAKEN_SENDING, taken_mark("ten past four"));
	put(t, 13, TAKEN_SENDING, taken_mark("never arrived"));
	put(t, 14, TAKEN_ENDED, 0);
	put(t, 15, TAKEN_ENDED, taken_mark("ten past four"));
	t = restart(t);
	CHECK(t);
	read_page("[" OWN("24", "ten past four", "") "," OWN("23", "hello", TO("10")) "]");
	CHECK_INT(judge(t, 10, 0, &reply), MISSED_ANSWERED);
	CHECK(reply);
	CHECK_INT(judge(t, 11, 0, &reply), MISSED_ANSWERED);
	CHECK(!reply);
	CHECK_INT(judge(t, 13, 0, &reply), MISSED_OWED);
	CHECK_INT(judge(t, 14, 0, &reply), MISSED_DONE);
	/* The same words to another message are its answer, unless both shared it. */
	read_page("[" OWN("24", "ten past four", TO("12")) "]");
	CHECK_INT(judge(t, 11, 0, &reply), MISSED_ANSWERED);
	read_page("[" OWN("24", "ten past four", TO("15")) "]");
	CHECK_INT(judge(t, 11, 0, &reply), MISSED_ANSWERED);
	read_page("[" OWN("24", "ten past four", TO("13")) "]");
	CHECK_INT(judge(t, 11, 0, &reply), MISSED_OWED);
	/* Words from before the message are none, nor is what tells of a tool at work. */
	read_page("[" OWN("9", "ten past four", "") "]");
	CHECK_INT(judge(t, 11, 0, &reply), MISSED_OWED);
	read_page("[" OWN("24", "-# \\u23f3 I look it up", TO("10")) "]");
	CHECK_INT(judge(t, 10, 0, &reply), MISSED_OWED);
	CHECK(page.n == 1 && page.own[0].works && page.own[0].replies_to == 10);
	/* Once it is taken up, nothing is to be done. */
	taken_find(t, 10)->before = false;
	CHECK_INT(judge(t, 10, 0, &reply), MISSED_DONE);
	taken_free(t);
}

#define PUT(id, me, emoji)                                                                         \
	"{\"id\":\"" id "\",\"author\":{\"id\":\"501\"},\"reactions\":[{\"me\":false,\"emoji\":{"  \
	"\"name\":\"\\u2764\"}},{\"me\":" me ",\"emoji\":{\"id\":null,\"name\":\"" emoji "\"}}]}"

/* text rules 78 */
TEST(an_answer_that_was_a_reaction_is_known_by_it)
{
	struct taken_table *t;
	bool reply;

	CHECK_INT(taken_alloc(&t), 0);
	put(t, 10, TAKEN_SENDING, taken_reaction_mark(11, "\xe2\x9d\xa4\xef\xb8\x8f"));
	put(t, 11, TAKEN_SENDING, taken_reaction_mark(11, "\xe2\x9d\xa4\xef\xb8\x8f"));
	put(t, 12, TAKEN_WAITS, 0);
	t = restart(t);
	CHECK(t);
	/* Discord may show it without U+FE0F. */
	read_page("[" PUT("11", "true", "\\u2764") "]");
	CHECK_INT(judge(t, 10, 0, &reply), MISSED_REACTED);
	CHECK_INT(judge(t, 11, 0, &reply), MISSED_REACTED);
	/* The signs of the bot answer nothing. */
	read_page("[" PUT("12", "true", "\\u26a0") "]");
	CHECK_INT(judge(t, 12, 0, &reply), MISSED_OWED);
	/* Another emoji, that of somebody else, and one on another message are not the answer. */
	read_page("[" PUT("11", "true", "\\u2728") "]");
	CHECK_INT(judge(t, 11, 0, &reply), MISSED_OWED);
	read_page("[" PUT("11", "false", "\\u2764") "]");
	CHECK_INT(judge(t, 11, 0, &reply), MISSED_OWED);
	read_page("[" PUT("10", "true", "\\u2764") "]");
	CHECK_INT(judge(t, 11, 0, &reply), MISSED_OWED);
	read_page("[{\"id\":\"11\",\"reactions\":[1,{\"me\":true},{\"me\":true,\"emoji\":7}]},{"
		  "\"id\":"
		  "\"12\",\"reactions\":{}}]");
	CHECK_INT(page.n_put, 0);
	taken_free(t);
}

/* text rules 34 */
TEST(what_nobody_took_is_missed)
{
	struct taken_table *t;
	bool reply;

	CHECK_INT(taken_alloc(&t), 0);
	read_page("[" OWN("24", "hello", TO("10")) "]");
	CHECK_INT(judge(t, 11, 11, &reply), MISSED_LATE);
	CHECK_INT(judge(t, 11, 12, &reply), MISSED_DONE);
	CHECK_INT(judge(t, 10, 1, &reply), MISSED_DONE);
	page.n = 0;
	CHECK_INT(missed_judge(&page, t,
			       &(struct incoming){.message = 11, .user = BOT, .self = true}, 0,
			       &reply),
		  MISSED_DONE);
	CHECK_INT(missed_judge(&page, t, &(struct incoming){.message = 11, .user = 5, .bot = true},
			       0, &reply),
		  MISSED_DONE);
	taken_free(t);
}

static enum missed_what judge_of(struct taken_table *t, uint64_t message, uint64_t user,
				 uint64_t guild)
{
	const struct incoming in = {.message = message, .user = user, .guild = guild};
	bool reply;

	page.n = 0;
	return missed_judge(&page, t, &in, 0, &reply);
}

/* A message without a row may have been answered: its row may have given way. */
TEST(what_gave_way_is_not_missed)
{
	struct taken_table *t;

	CHECK_INT(taken_alloc(&t), 0);
	for (uint64_t i = 0; i < TAKEN_OF_AUTHOR - 1; i++)
		put(t, 1000 + i, TAKEN_ENDED, 0);
	CHECK_INT(judge_of(t, 999, ALICE, GUILD), MISSED_LATE);
	put(t, 5000, TAKEN_ENDED, 0);
	CHECK_INT(judge_of(t, 999, ALICE, GUILD), MISSED_DONE);
	CHECK_INT(judge_of(t, 5001, ALICE, GUILD), MISSED_LATE);
	CHECK_INT(judge_of(t, 999, BOT, GUILD), MISSED_LATE);
	for (uint64_t i = 0; i < TAKEN_OF_SERVER - 1; i++)
		taken_put(t, &(struct taken){.message = 10000 + i,
					     .guild = GUILD + 1,
					     .user = 10000 + i,
					     .state = TAKEN_ENDED});
	CHECK_INT(judge_of(t, 999, BOT, GUILD + 1), MISSED_LATE);
	taken_put(t,
		  &(struct taken){
			  .message = 20000, .guild = GUILD + 1, .user = 3, .state = TAKEN_ENDED});
	CHECK_INT(judge_of(t, 999, BOT, GUILD + 1), MISSED_DONE);
	CHECK_INT(judge_of(t, 999, BOT, GUILD), MISSED_LATE);
	/* All servers together, also where no author and no server has many; and after a restart.
	 */
	for (uint64_t i = 0; i < TAKEN_ROWS; i++)
		taken_put(t, &(struct taken){.message = 30000 + i,
					     .guild = 1000 + i,
					     .channel = CHANNEL,
					     .user = 30000 + i,
					     .state = TAKEN_ENDED});
	CHECK_INT(judge_of(t, 20000, BOT, GUILD), MISSED_DONE);
	CHECK_INT(judge_of(t, 30000 + TAKEN_ROWS, BOT, GUILD), MISSED_LATE);
	t = restart(t);
	CHECK(t);
	CHECK_INT(judge_of(t, 20000, BOT, GUILD), MISSED_DONE);
	CHECK_INT(judge_of(t, 30000 + TAKEN_ROWS, BOT, GUILD), MISSED_LATE);
	taken_free(t);
}

TEST(a_page_of_history_is_bounded)
{
	json_t *list = json_array();

	for (int i = 0; i < 2 * MISSED_MOST; i++)
		json_array_append_new(list, json_pack("{s:s,s:{s:s},s:s}", "id", "77", "author",
						      "id", "900", "content", "x"));
	missed_read(&page, list, BOT);
	CHECK_INT(page.n, MISSED_MOST);
	CHECK_INT(page.messages, MISSED_MOST);
	CHECK(page.oldest == 77);
	json_decref(list);
	list = json_array();
	for (int i = 0; i < 2 * MISSED_REACTIONS; i++)
		json_array_append_new(list,
				      json_pack("{s:b,s:{s:s}}", "me", 1, "emoji", "name", "x"));
	list = json_pack("[{s:s,s:o}]", "id", "77", "reactions", list);
	missed_read(&page, list, BOT);
	CHECK_INT(page.n_put, MISSED_REACTIONS);
	json_decref(list);
	read_page("[1,{},{\"id\":\"x\"},{\"id\":\"5\",\"author\":7}]");
	CHECK_INT(page.n, 0);
	CHECK(page.oldest == 5);
	missed_read(&page, NULL, BOT);
	CHECK_INT(page.messages, 0);
}

TEST(ids_hold_their_time)
{
	CHECK(missed_ms_of(missed_id_of(1700000000123)) == 1700000000123);
	CHECK(missed_id_of(0) == 0);
}
