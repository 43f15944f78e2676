/* The answer of a control that ended can be interrupted, and the words before it are known. */
#include "tests/test.h"

#include "proto/media.h"
#include "tests/unit/control/room/scene.h"

enum { ALICE = 1, BOB };

static struct scene *inherit(const char *settings)
{
	struct scene *s = scene_open(settings);

	scene_join(s, ALICE, "Alice");
	scene_join(s, BOB, "Bob");
	scene_event(s, (struct room_event){.type = ROOM_INHERITED, .yes = true});
	scene_mark(s);
	return s;
}

static unsigned stops_after(const char *settings, unsigned ms)
{
	struct scene *s = inherit(settings);
	unsigned n;

	scene_speak(s, BOB, ms);
	n = scene_count(s, ROOM_DO_SAY_STOP);
	if (n && scene_last(s, ROOM_DO_SAY_STOP)->turn)
		n = 100;
	scene_close(s);
	return n;
}

TEST(an_inherited_answer_is_stopped_by_speech_over_it)
{
	CHECK_INT(stops_after("barge_in_ms 700", 2500), 1); /* once */
	CHECK_INT(stops_after("barge_in_ms 700", 400), 0);
	CHECK_INT(stops_after("barge_in_ms 700 interruptions anyone", 2500), 1);
	CHECK_INT(stops_after("barge_in_ms 700 interruptions none", 2500), 0);
	CHECK_INT(stops_after("barge_in_ms 700 interruptions name", 2500), 0);
}

/* Backchannels of several seconds in all, each shorter than barge_in_ms. */
TEST(an_inherited_answer_goes_on_over_backchannels)
{
	struct scene *s = inherit("barge_in_ms 900");

	for (unsigned i = 0; i < 6; i++) {
		scene_speak(s, BOB, 500);
		scene_stop(s, BOB);
		scene_words(s, BOB, "mhm");
		scene_wait(s, 1500);
	}
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 0);
	scene_close(s);
}

TEST(speech_after_an_inherited_answer_stops_nothing)
{
	struct scene *s = inherit("barge_in_ms 700");

	scene_event(s, (struct room_event){.type = ROOM_INHERITED});
	scene_speak(s, BOB, 2500);
	CHECK_INT(scene_count(s, ROOM_DO_SAY_STOP), 0);
	scene_close(s);
}

static void recall(struct scene *s, bool bot, bool cut, const char *text)
{
	scene_event(s, (struct room_event){.type = ROOM_RECALLED,
					   .is_bot = bot,
					   .yes = cut,
					   .at = 1,
					   .text = slice_str(text)});
}

/* What the room asks the brain with, as lines. */
static void put_history(const struct room_effect *e, char *buf, size_t size)
{
	buf[0] = '\0';
	for (size_t i = 0; i < e->history_n; i++) {
		size_t n = strlen(buf);

		snprintf(buf + n, size - n, "%s: %s\n",
			 e->history[i].bot ? "bot" : e->history[i].speaker, e->history[i].text);
	}
}

TEST(words_from_before_this_control_are_told_to_the_brain)
{
	struct scene *s = scene_open("");
	char told[1000] = "";

	recall(s, false, false, "Alice\nparley my name is Zoe");
	recall(s, true, true, "\nNice to meet");
	recall(s, false, false, "no line end");
	scene_join(s, ALICE, "Alice");
	scene_say(s, ALICE, "parley what is my name");
	for (unsigned i = 0; i < 500 && !*told; i++) {
		for (size_t k = 0; k < s->fx->n; k++)
			if (s->fx->v[k].type == ROOM_DO_ASK)
				put_history(&s->fx->v[k], told, sizeof told);
		if (!*told)
			scene_wait(s, 10);
	}
	CHECK_STR(told, "Alice: parley my name is Zoe\nbot: [interrupted] Nice to meet\n");
	scene_close(s);
}
