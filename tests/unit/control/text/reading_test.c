/* What people were promised about the reading of their messages when they wrote them. */
#include "control/text/reading.h"

#include <stdio.h>

#include "control/settings/settings.h"
#include "tests/test.h"

enum { OFF = SETTINGS_TEXT_OFF, MENTIONS = SETTINGS_TEXT_MENTIONS, ALL = SETTINGS_TEXT_ALL };
enum { CHANNEL = 7, THREAD = 70, SERVER = 100, OTHER = 200 };

static void note(struct reading *r, uint64_t guild, uint32_t chat, const char *channels,
		 const char *blocked, uint64_t at)
{
	reading_note(r, guild, &(struct reading_rules){chat, channels, blocked}, at);
}

/* As the state of control keeps it. */
static struct reading *reload(struct reading *r)
{
	json_t *kept = reading_json(r);
	struct reading *again = NULL;

	reading_free(r);
	if (reading_alloc(&again, kept))
		return NULL;
	json_decref(kept);
	return again;
}

TEST(reading_that_begins_counts_as_if_it_had_always_held)
{
	struct reading *r;
	json_t *none;

	CHECK_INT(reading_alloc(&r, NULL), 0);
	CHECK_INT(reading_at(r, SERVER, CHANNEL, 0, 0, 5), OFF);
	note(r, 0, OFF, "", "", 1000);
	none = reading_json(r);
	CHECK(!none);
	reading_free(r);
	CHECK_INT(reading_alloc(&r, NULL), 0);
	note(r, SERVER, MENTIONS, "", "", 1000);
	note(r, 0, ALL, "", "", 1000);
	CHECK_INT(reading_at(r, OTHER, CHANNEL, 0, 0, 5), ALL);
	CHECK_INT(reading_at(r, SERVER, CHANNEL, 0, 0, 5), MENTIONS);
	reading_free(r);
}

TEST(reading_knows_what_held_before_a_change)
{
	struct reading *r;

	CHECK_INT(reading_alloc(&r, NULL), 0);
	note(r, 0, MENTIONS, "", "", 1000);
	r = reload(r);
	note(r, 0, ALL, "", "", 2000);
	note(r, 0, ALL, "", "", 2500);
	CHECK_INT(reading_at(r, SERVER, CHANNEL, 0, 0, 1999), MENTIONS);
	CHECK_INT(reading_at(r, SERVER, CHANNEL, 0, 0, 2000), ALL);
	r = reload(r);
	note(r, 0, OFF, "", "", 3000);
	note(r, 0, ALL, "", "", 4000);
	r = reload(r);
	CHECK_INT(reading_at(r, 0, CHANNEL, 0, 0, 1500), MENTIONS);
	CHECK_INT(reading_at(r, 0, CHANNEL, 0, 0, 2700), ALL);
	CHECK_INT(reading_at(r, 0, CHANNEL, 0, 0, 3500), OFF);
	CHECK_INT(reading_at(r, 0, CHANNEL, 0, 0, 4500), ALL);
	reading_free(r);
}

TEST(reading_knows_channels_that_were_blocked_or_not_named)
{
	struct reading *r;

	CHECK_INT(reading_alloc(&r, NULL), 0);
	note(r, 0, ALL, "", "7", 1000);
	note(r, 0, ALL, "8", "", 2000);
	note(r, 0, ALL, "", "", 3000);
	r = reload(r);
	CHECK_INT(reading_at(r, SERVER, CHANNEL, 0, 0, 1500), OFF);
	CHECK_INT(reading_at(r, SERVER, THREAD, CHANNEL, 0, 1500), OFF);
	CHECK_INT(reading_at(r, SERVER, 9, 0, 0, 1500), ALL);
	CHECK_INT(reading_at(r, SERVER, CHANNEL, 0, 0, 2500), OFF);
	CHECK_INT(reading_at(r, SERVER, 8, 0, 0, 2500), ALL);
	CHECK_INT(reading_at(r, SERVER, 9, 0, CHANNEL, 1500), OFF);
	CHECK_INT(reading_at(r, SERVER, 9, 0, 8, 2500), ALL);
	/* Direct messages are in none of these channels. */
	CHECK_INT(reading_at(r, 0, CHANNEL, 0, 0, 2500), ALL);
	CHECK_INT(reading_at(r, SERVER, CHANNEL, 0, 0, 3500), ALL);
	reading_free(r);
}

/* It may be a thread of a channel that is blocked. */
TEST(reading_holds_a_channel_of_which_nothing_is_known_for_blocked_where_some_are)
{
	CHECK(reading_is_blocked("", "7", SERVER, THREAD, READING_UNKNOWN, 0));
	CHECK(reading_is_blocked("70", "7", SERVER, THREAD, READING_UNKNOWN, 0));
	CHECK(reading_is_blocked("8", "", SERVER, THREAD, READING_UNKNOWN, 0));
	CHECK(!reading_is_blocked("", "", SERVER, THREAD, READING_UNKNOWN, 0));
	CHECK(!reading_is_blocked("", "7", SERVER, THREAD, 8, 0));
	CHECK(!reading_is_blocked("", "7", 0, THREAD, READING_UNKNOWN, 0));
}

TEST(reading_knows_what_held_in_a_server_of_its_own)
{
	struct reading *r;

	CHECK_INT(reading_alloc(&r, NULL), 0);
	note(r, 0, ALL, "", "", 1000);
	note(r, SERVER, MENTIONS, "", "", 2000);
	CHECK_INT(reading_server(r, 0), SERVER);
	CHECK_INT(reading_server(r, 1), 0);
	r = reload(r);
	/* What holds for everybody is nothing to it any more. */
	note(r, 0, OFF, "", "", 3000);
	CHECK_INT(reading_at(r, SERVER, CHANNEL, 0, 0, 3500), MENTIONS);
	CHECK_INT(reading_at(r, OTHER, CHANNEL, 0, 0, 3500), OFF);
	CHECK_INT(reading_at(r, SERVER, CHANNEL, 0, 0, 1500), ALL);
	note(r, 0, ALL, "", "", 4000);
	reading_drop(r, SERVER, 5000);
	r = reload(r);
	CHECK_INT(reading_server(r, 0), 0);
	CHECK_INT(reading_at(r, SERVER, CHANNEL, 0, 0, 4500), MENTIONS);
	CHECK_INT(reading_at(r, SERVER, CHANNEL, 0, 0, 5500), ALL);
	reading_free(r);
}

TEST(reading_of_more_changes_than_it_keeps_reads_nothing_before)
{
	struct reading *r;
	json_t *kept;

	CHECK_INT(reading_alloc(&r, NULL), 0);
	for (uint64_t i = 0; i < 200; i++)
		note(r, 0, i % 2 ? ALL : MENTIONS, "", "", 1000 * (i + 1));
	r = reload(r);
	CHECK_INT(reading_at(r, SERVER, CHANNEL, 0, 0, 2500), OFF);
	CHECK_INT(reading_at(r, SERVER, CHANNEL, 0, 0, 198500), ALL);
	CHECK_INT(reading_at(r, SERVER, CHANNEL, 0, 0, 199500), MENTIONS);
	/* Those that no look at the history reaches go. */
	note(r, 0, OFF, "", "", UINT64_C(86400000) * 30);
	kept = reading_json(r);
	CHECK_INT(json_array_size(json_object_get(kept, "former")), 1);
	json_decref(kept);
	reading_free(r);
}

TEST(reading_takes_no_harm_from_what_is_damaged)
{
	json_t *bad = json_loads("{\"now\":[[0,0,0,9,\"\",\"\"],[1],7,{}],\"former\":\"x\","
				 "\"floor\":\"y\"}",
				 0, NULL);
	struct reading *r;

	CHECK_INT(reading_alloc(&r, bad), 0);
	CHECK_INT(reading_at(r, SERVER, CHANNEL, 0, 0, 5), OFF);
	json_decref(bad);
	reading_free(r);
}

TEST_OOM(reading_survives_without_memory)
{
	struct reading *r = NULL;
	int err = reading_alloc(&r, NULL);

	CHECK_OOM(err, (void)0);
	note(r, 0, MENTIONS, "", "", 1000);
	note(r, 0, ALL, "", "", 2000);
	/* Rather nothing is read than what was not to be. */
	CHECK(reading_at(r, SERVER, CHANNEL, 0, 0, 1500) != ALL);
	reading_free(r);
}
