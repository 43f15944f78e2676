/* The message about what plays: its text, its buttons, and that strangers' titles do no harm. */
#include "control/discord/music_message.h"

#include <errno.h>

#include "control/music/queue.h"
#include "control/words/words.h"
#include "tests/test.h"

static struct music_queue *q;

static bool begin(unsigned n)
{
	size_t first;

	if (music_queue_alloc(&q, 100, 301))
		return false;
	for (unsigned i = 0; i < n; i++) {
		struct track t = {.source = TRACK_LOCAL,
				  .reference = "x",
				  .duration_ms = 240000,
				  .requester = i ? 0 : 501};

		snprintf(t.title, sizeof t.title, "Song %u", i + 1);
		if (music_queue_add(q, &t, 1, MUSIC_QUEUE_END, &first))
			return false;
	}
	return true;
}

static struct words write(const struct music_view *v)
{
	struct words w = {0};

	music_message_write(&w, v);
	return w;
}

static void play_until(unsigned s)
{
	music_queue_set_position(q, (uint64_t)s * MUSIC_FRAMES_PER_S);
}

TEST(the_message_tells_what_plays_and_what_follows)
{
	struct music_view v;
	struct words w;

	CHECK(begin(3));
	v = (struct music_view){.queue = q};
	play_until(61);
	w = write(&v);
	CHECK_STR(w.text, "**Now playing:** Song 1\nRequested by <@501>.\n"
			  "`▬▬▬▬🔘▬▬▬▬▬▬▬▬▬▬▬` 1:00 / 4:00\n"
			  "**Next:** Song 2\nFurther tracks in the queue: 1.");
	music_queue_set_loop(q, MUSIC_LOOP_QUEUE);
	music_queue_set_volume(q, 300);
	v.paused = true;
	v.votes = (struct music_tally){.votes = 1, .needed = 2};
	w = write(&v);
	CHECK(strstr(w.text, "**Paused:** Song 1\n/music resume plays on.\n"));
	CHECK(strstr(w.text, "The queue repeats. The volume is 30 of 100. Votes to skip: 1 of 2."));
	music_queue_free(q);
}

TEST(nothing_changes_within_a_step_of_the_bar)
{
	struct music_view v;
	struct words a, b;
	unsigned changes = 0;

	CHECK(begin(1));
	v = (struct music_view){.queue = q};
	a = write(&v);
	for (unsigned s = 1; s < 240; s++) {
		play_until(s);
		b = write(&v);
		changes += strcmp(a.text, b.text) != 0;
		a = b;
	}
	CHECK_INT(changes, MUSIC_BAR_CELLS - 1);
	play_until(500); /* longer than the file said */
	CHECK(strstr(write(&v).text, "🔘`"));
	music_queue_free(q);
}

TEST(radio_and_files_of_unknown_length_have_no_bar)
{
	struct track t = {.source = TRACK_RADIO, .title = "Station", .reference = "http://x"};
	struct music_view v;
	struct words w;
	size_t first;

	CHECK(begin(0));
	v = (struct music_view){.queue = q, .title = "A *song*"};
	CHECK_INT(music_queue_play(q, &t, 1), 0);
	play_until(100);
	w = write(&v);
	CHECK_STR(w.text, "**Now playing:** Station\\: A \\*song\\*\n`▶` live stream");
	w = (struct words){0};
	CHECK_INT(music_queue_add(q, &t, 1, MUSIC_QUEUE_END, &first), 0);
	music_message_queue(&w, &v, 0);
	CHECK(strstr(w.text, "\n2\\. Station (live stream)"));
	music_queue_clear(q, 0);
	t.source = TRACK_URL;
	CHECK_INT(music_queue_play(q, &t, 1), 0);
	play_until(95);
	v.title = NULL;
	w = write(&v);
	CHECK_STR(w.text, "**Now playing:** Station\n`▶` 1:30");
	music_queue_free(q);
}

TEST(titles_become_no_markup_and_mention_nobody)
{
	struct track t = {.source = TRACK_URL,
			  .title = "[x](http://evil) @everyone <@501> `code` **b**",
			  .reference = "http://x"};
	struct music_view v;
	struct words w;

	CHECK(begin(0));
	v = (struct music_view){.queue = q};
	CHECK_INT(music_queue_play(q, &t, 1), 0);
	w = write(&v);
	CHECK(!strstr(w.text, "[x]("));
	CHECK(!strstr(w.text, " @everyone"));
	CHECK(!strstr(w.text, "<@501>"));
	CHECK(!strstr(w.text, " `code`"));
	music_queue_free(q);
}

static const char *custom_id(const json_t *rows, size_t row, size_t i)
{
	const json_t *of = json_object_get(json_array_get(rows, row), "components");

	return json_string_value(json_object_get(json_array_get(of, i), "custom_id"));
}

TEST(buttons_name_the_channel_and_the_entry)
{
	struct music_view v;
	enum music_button button;
	uint64_t channel = 0;
	uint32_t entry = 0;
	json_t *rows;

	CHECK(begin(2));
	v = (struct music_view){.queue = q};
	rows = music_message_buttons(&v, "de");
	CHECK_INT(json_array_size(rows), 2);
	CHECK_STR(custom_id(rows, 0, 1), "parley:music_pause:*:301.1");
	CHECK_STR(custom_id(rows, 0, 2), "parley:music_skip:*:301.1");
	CHECK_STR(custom_id(rows, 1, 1), "parley:music_shuffle:*:301.1");
	json_decref(rows);
	v.paused = true;
	rows = music_message_buttons(&v, "en");
	CHECK_STR(custom_id(rows, 0, 1), "parley:music_resume:*:301.1");
	json_decref(rows);
	CHECK(music_button_parse(&button, "music_skip"));
	CHECK_INT(button, MUSIC_BUTTON_SKIP);
	CHECK(!music_button_parse(&button, "forget"));
	CHECK_INT(music_subject_parse("301.7", &channel, &entry), 0);
	CHECK_INT(channel, 301);
	CHECK_INT(entry, 7);
	CHECK_INT(music_subject_parse("301", &channel, &entry), EBADMSG);
	CHECK_INT(music_subject_parse("301.0", &channel, &entry), EBADMSG);
	CHECK_INT(music_subject_parse("301.4294967296", &channel, &entry), EBADMSG);
	CHECK_INT(music_subject_parse("x.7", &channel, &entry), EBADMSG);
	CHECK_INT(music_subject_parse("99999999999999999999999999999.7", &channel, &entry),
		  EBADMSG);
	music_queue_free(q);
}

TEST(the_end_has_no_buttons)
{
	struct music_view v;
	struct words w;
	json_t *rows;

	CHECK(begin(0));
	v = (struct music_view){.queue = q};
	w = write(&v);
	CHECK_STR(w.text, "**The music is over.**");
	rows = music_message_buttons(&v, "en");
	CHECK_INT(json_array_size(rows), 0);
	json_decref(rows);
	v.halted = true;
	CHECK(strstr(write(&v).text, "/music resume"));
	music_queue_free(q);
}

TEST(the_message_tells_that_the_source_sends_nothing)
{
	struct music_view v;
	struct words w;

	CHECK(begin(1));
	v = (struct music_view){.queue = q, .waits = true};
	w = write(&v);
	CHECK(strstr(w.text, "Song 1\nIts source sends nothing at the moment. I keep trying.\n"));
	v.waits = false;
	w = write(&v);
	CHECK(!strstr(w.text, "source"));
	music_queue_free(q);
}

TEST(the_queue_is_shown_in_pages)
{
	struct music_view v;
	struct words w = {0};

	CHECK(begin(23));
	v = (struct music_view){.queue = q};
	music_message_queue(&w, &v, 0);
	CHECK(strstr(w.text, "**Now playing:** Song 1\n"));
	CHECK(strstr(w.text, "\n2\\. Song 2 (4:00)\n"));
	CHECK(strstr(w.text, "\n11\\. Song 11 (4:00)\nPage 1 of 3."));
	CHECK(!strstr(w.text, "Song 12"));
	w = (struct words){0};
	music_message_queue(&w, &v, 99);
	CHECK(strstr(w.text, "\n22\\. Song 22 (4:00)\n23\\. Song 23 (4:00)\nPage 3 of 3."));
	music_queue_advance(q, MUSIC_ENDED);
	w = (struct words){0};
	music_message_history(&w, q);
	CHECK_STR(w.text, "**Played before:**\n1\\. Song 1 (4:00)");
	music_queue_free(q);
	CHECK(begin(0));
	v.queue = q;
	w = (struct words){0};
	music_message_queue(&w, &v, 0);
	CHECK_STR(w.text, "Nothing plays at the moment.");
	w = (struct words){0};
	music_message_history(&w, q);
	CHECK_STR(w.text, "Nothing was played before.");
	music_queue_free(q);
}
