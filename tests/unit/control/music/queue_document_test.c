/* Queues as documents: what is written is read again, and nothing else. */
#include "control/music/queue_document.h"

#include "tests/test.h"
#include "tests/unit/control/music/tracks.h"

/* All of its tracks. */
static bool reads_again(const struct music_queue *q)
{
	char *text = music_queue_write(q);
	struct music_queue *again = NULL;
	bool read = text && !music_queue_read(&again, text) &&
		    music_queue_count(again) == music_queue_count(q);

	music_queue_free(again);
	free(text);
	return read;
}

TEST(a_queue_survives_being_written_and_read)
{
	struct music_queue *q = NULL, *again = NULL;
	struct track t = {
		.source = TRACK_RADIO, .requester = UINT64_MAX, .root = 4, .may_be_live = true};
	char *text, *second;
	size_t first;

	CHECK_INT(music_queue_alloc(&q, GUILD, CHANNEL), 0);
	CHECK_INT(add_letters(q, "abc", ALICE), 0);
	snprintf(t.title, sizeof t.title, "\"quoted\" é");
	snprintf(t.artist, sizeof t.artist, "artist");
	snprintf(t.album, sizeof t.album, "album");
	snprintf(t.reference, sizeof t.reference, "https://x.example/");
	CHECK_INT(music_queue_add(q, &t, 1, MUSIC_QUEUE_END, &first), 0);
	music_queue_advance(q, MUSIC_ENDED);
	music_queue_set_position(q, 123456);
	music_queue_set_paused(q, true);
	music_queue_set_volume(q, 250);
	music_queue_set_loop(q, MUSIC_LOOP_TRACK);
	music_queue_set_playing(q, 40, 41);
	text = music_queue_write(q);
	CHECK_INT(music_queue_read(&again, text), 0);
	CHECK_STR(spell_queue(again), "a|bc\"");
	CHECK(music_queue_guild(again) == GUILD && music_queue_channel(again) == CHANNEL);
	CHECK_INT(music_queue_position(again), 123456);
	CHECK(music_queue_is_paused(again));
	CHECK_INT(music_queue_volume(again), 250);
	CHECK_INT(music_queue_loop(again), MUSIC_LOOP_TRACK);
	CHECK_INT(music_queue_playing(again), 40);
	CHECK_INT(music_queue_prepared(again), 41);
	CHECK(music_queue_at(again, 2)->requester == UINT64_MAX);
	CHECK_INT(music_queue_at(again, 2)->root, 4);
	CHECK_INT(music_queue_at(again, 2)->source, TRACK_RADIO);
	CHECK(music_queue_at(again, 2)->may_be_live && !music_queue_at(again, 1)->may_be_live);
	CHECK_INT(music_queue_present(again)->duration_ms, 60000);
	second = music_queue_write(again);
	CHECK_STR(second, text);
	/* An id that was given is not given again. */
	CHECK_INT(add_letters(again, "z", ALICE), 0);
	CHECK_INT(music_queue_at(again, 3)->id, 5);
	free(text);
	free(second);
	music_queue_free(q);
	music_queue_free(again);
}

TEST(the_largest_queue_fits)
{
	struct music_queue *q = NULL, *again = NULL;
	struct track t = {.requester = UINT64_MAX};
	char *text;
	size_t first;

	CHECK_INT(music_queue_alloc(&q, GUILD, CHANNEL), 0);
	memset(t.title, '"', sizeof t.title - 1); /* two bytes each */
	memset(t.artist, '"', sizeof t.artist - 1);
	memset(t.album, '"', sizeof t.album - 1);
	memset(t.reference, '"', sizeof t.reference - 1);
	for (unsigned i = 0; i < MUSIC_QUEUE_HISTORY + MUSIC_QUEUE_WAITING; i++) {
		CHECK_INT(music_queue_add(q, &t, 1, MUSIC_QUEUE_END, &first), 0);
		if (i < MUSIC_QUEUE_HISTORY)
			music_queue_advance(q, MUSIC_ENDED);
	}
	text = music_queue_write(q);
	CHECK(strlen(text) <= MUSIC_DOCUMENT_MAX);
	CHECK_INT(music_queue_read(&again, text), 0);
	CHECK_INT(music_queue_count(again), MUSIC_QUEUE_WAITING);
	free(text);
	music_queue_free(q);
	music_queue_free(again);
}

/* What strangers' files and stations tell must not make a document that cannot be read again. */
TEST(what_tracks_claim_of_themselves_leaves_the_queue_readable)
{
	static const uint64_t durations[] = {UINT64_MAX, INT64_MAX,
					     (uint64_t)TRACK_DURATION_MAX_S * 1000 + 1};
	static const uint64_t positions[] = {
		UINT64_MAX, (uint64_t)TRACK_DURATION_MAX_S * MUSIC_FRAMES_PER_S + 1};
	struct music_queue *q = NULL;
	struct track tags = {0};

	CHECK_INT(music_queue_alloc(&q, GUILD, CHANNEL), 0);
	CHECK_INT(add_letters(q, "a", ALICE), 0);
	music_queue_advance(q, MUSIC_SKIPPED);
	for (size_t i = 0; i < sizeof durations / sizeof durations[0]; i++) {
		struct track t = local_track("b", ALICE);
		size_t first;

		t.duration_ms = 0;
		CHECK_INT(music_queue_add(q, &t, 1, MUSIC_QUEUE_END, &first), 0);
		tags.duration_ms = durations[i];
		music_queue_describe(q, music_queue_at(q, first)->id, &tags);
		CHECK(reads_again(q));
		CHECK(music_queue_at(q, first)->duration_ms == 0);
		/* The source itself claims it, as a list of segments does. */
		t.duration_ms = durations[i];
		CHECK_INT(music_queue_add(q, &t, 1, MUSIC_QUEUE_END, &first), 0);
		CHECK(reads_again(q));
		CHECK(music_queue_at(q, first)->duration_ms == 0);
	}
	/* A radio station plays for longer than any track. */
	for (size_t i = 0; i < sizeof positions / sizeof positions[0]; i++) {
		music_queue_set_position(q, positions[i]);
		CHECK(reads_again(q));
	}
	music_queue_free(q);
}

#define HEAD "{\"guild\":\"1\",\"channel\":\"2\",\"next_id\":3,\"loop\":\"off\",\"volume\":9,"
#define ONE  "{\"id\":1,\"source\":\"url\",\"reference\":\"x\",\"requester\":\"5\"}"

TEST(documents_that_break_a_rule_are_refused)
{
	static const char *const refused[] = {
		"",
		"[]",
		"{}",
		HEAD "\"now\":null,\"tracks\":{}}",
		HEAD "\"now\":0,\"tracks\":[]}",
		HEAD "\"now\":1,\"tracks\":[" ONE "]}",
		HEAD "\"now\":-1,\"tracks\":[" ONE "]}",
		HEAD "\"now\":\"0\",\"tracks\":[" ONE "]}",
		HEAD "\"tracks\":[" ONE "]}",
		HEAD "\"now\":0,\"position\":-1,\"tracks\":[" ONE "]}",
		"{\"guild\":\"1\",\"channel\":\"2\",\"next_id\":3,\"loop\":\"x\",\"now\":null,"
		"\"tracks\":[]}",
		"{\"guild\":\"1\",\"channel\":\"2\",\"next_id\":3,\"loop\":\"off\",\"volume\":1001,"
		"\"now\":null,\"tracks\":[]}",
		"{\"guild\":1,\"channel\":\"2\",\"next_id\":3,\"loop\":\"off\",\"now\":null,"
		"\"tracks\":[]}",
	};
	struct music_queue *q = NULL;

	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
		CHECK_INT(music_queue_read(&q, refused[i]), EBADMSG);
	CHECK(!q);
	CHECK_INT(music_queue_read(&q, HEAD "\"now\":0,\"paused\":true,\"tracks\":[" ONE "]}"), 0);
	CHECK(music_queue_is_paused(q));
	music_queue_free(q);
	/* Nothing is present, so nothing is paused. */
	CHECK_INT(music_queue_read(&q, HEAD "\"now\":null,\"position\":8,\"paused\":true,"
					    "\"tracks\":[" ONE "]}"),
		  0);
	CHECK(!music_queue_is_paused(q) && !music_queue_position(q));
	CHECK_INT(music_queue_played_count(q), 1);
	music_queue_free(q);
}

#define TRACK(id, more) "{\"id\":" id ",\"source\":\"url\",\"reference\":\"x\"," more "}"
#define GOOD(id, title) TRACK(id, "\"title\":\"" title "\",\"requester\":\"5\"")

TEST(a_track_that_cannot_be_read_takes_no_other_with_it)
{
	static const char *const bad[] = {
		"7",
		TRACK("1", "\"requester\":\"5\""), /* the id of another */
		TRACK("9", "\"requester\":\"5\""), /* one that was never given */
		TRACK("0", "\"requester\":\"5\""),
		TRACK("4", "\"title\":\"x\""),
		TRACK("4", "\"requester\":\"5\",\"title\":7"),
		TRACK("4", "\"requester\":\"5\",\"durationMs\":604800001"),
		"{\"id\":4,\"source\":\"tape\",\"reference\":\"x\",\"requester\":\"5\"}",
		"{\"id\":4,\"source\":\"url\",\"requester\":\"5\"}",
	};
	/* Where the bad one stands: before the present track, in its place, after it. */
	static const struct {
		const char *tracks, *spelt;
		unsigned position;
	} cases[] = {
		{GOOD("1", "a") ",%s," GOOD("2", "b") "," GOOD("3", "c"), "a|bc", 960},
		{GOOD("1", "a") "," GOOD("2", "b") ",%s," GOOD("3", "c"), "ab|c", 0},
		{GOOD("1", "a") "," GOOD("2", "b") "," GOOD("3", "c") ",%s", "ab|c", 960},
		{GOOD("1", "a") "," GOOD("2", "b") ",%s", "ab|", 0},
	};
	char tracks[600], text[1000];
	struct music_queue *q = NULL;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0] * (sizeof bad / sizeof bad[0]); i++) {
		size_t c = i % (sizeof cases / sizeof cases[0]);

		snprintf(tracks, sizeof tracks, cases[c].tracks, bad[i / 4]);
		snprintf(text, sizeof text,
			 "{\"guild\":\"1\",\"channel\":\"2\",\"next_id\":5,\"loop\":\"off\","
			 "\"volume\":9,\"now\":2,\"position\":960,\"paused\":true,"
			 "\"playing\":7,\"prepared\":8,\"tracks\":[%s]}",
			 tracks);
		CHECK_INT(music_queue_read(&q, text), 0);
		CHECK_STR(spell_queue(q), cases[c].spelt);
		CHECK_INT(music_queue_position(q), cases[c].position);
		CHECK(music_queue_is_paused(q) == (music_queue_present(q) != NULL));
		/* mediad's numbers may be of another track: they are not given again. */
		CHECK_INT(music_queue_playing(q), 0);
		CHECK_INT(music_queue_prepared(q), 0);
		CHECK_INT(music_queue_last_number(q), 8);
		music_queue_free(q);
	}
}

TEST(a_history_that_is_too_long_is_refused)
{
	char text[(MUSIC_QUEUE_HISTORY + 2) * 80], *at;
	struct music_queue *q = NULL;

	for (unsigned n = MUSIC_QUEUE_HISTORY; n < MUSIC_QUEUE_HISTORY + 2; n++) {
		at = text + sprintf(text, "{\"guild\":\"1\",\"channel\":\"2\",\"next_id\":999,"
					  "\"loop\":\"off\",\"now\":null,\"tracks\":[");
		for (unsigned i = 1; i <= n; i++)
			at += sprintf(at,
				      "%s{\"id\":%u,\"source\":\"url\",\"reference\":\"x\","
				      "\"requester\":\"5\"}",
				      i > 1 ? "," : "", i);
		sprintf(at, "]}");
		CHECK_INT(music_queue_read(&q, text), n == MUSIC_QUEUE_HISTORY ? 0 : EBADMSG);
	}
	music_queue_free(q);
}

TEST(a_forgotten_requester_leaves_the_tracks)
{
	struct music_queue *q = NULL;
	uint64_t before;

	CHECK_INT(music_queue_alloc(&q, GUILD, CHANNEL), 0);
	CHECK_INT(add_letters(q, "a", ALICE), 0);
	CHECK_INT(add_letters(q, "b", BOB), 0);
	before = music_queue_revision(q);
	music_queue_forget(q, 4711);
	CHECK_INT(music_queue_revision(q), before);
	music_queue_forget(q, BOB);
	CHECK(music_queue_revision(q) > before);
	CHECK_INT(music_queue_at(q, 0)->requester, ALICE);
	CHECK_INT(music_queue_at(q, 1)->requester, 0);
	music_queue_free(q);
}

TEST_OOM(a_document_without_memory_makes_no_queue)
{
	struct music_queue *q = NULL;
	int err = music_queue_read(&q, HEAD "\"now\":0,\"tracks\":[" ONE "]}");

	CHECK_OOM(err, (void)0);
	music_queue_free(q);
}
