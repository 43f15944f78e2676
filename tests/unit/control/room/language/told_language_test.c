/* The language of a transcript that the provider tells. */
#include "tests/test.h"

#include "proto/media.h"

#include "tests/unit/control/room/scene.h"

/* The bot tells an English story; how often it stops for these words of the asker. */
static unsigned stopped_for(const char *words, const char *language)
{
	struct scene *s = scene_open("");
	unsigned stops;

	scene_join(s, 1, "Alice");
	scene_say(s, 1, "parley tell me a story");
	scene_answer(s, "once upon a time there was a king", 12000);
	scene_wait(s, 2000);
	scene_mark(s);
	scene_speak(s, 1, 480);
	scene_stop(s, 1);
	scene_wait(s, 60);
	scene_event(s, (struct room_event){.type = ROOM_TRANSCRIPT,
					   .user = 1,
					   .utterance = s->utterance[1],
					   .text = slice_str(words),
					   .language = slice_str(language)});
	stops = scene_count(s, ROOM_DO_SAY_STOP);
	scene_close(s);
	return stops;
}

TEST(the_language_that_the_provider_tells_is_the_one_of_the_words)
{
	CHECK_INT(stopped_for("no jasne", ""), 1);
	CHECK_INT(stopped_for("no jasne", "pol"), 0);
	CHECK_INT(stopped_for("no jasne", "pl-PL"), 0);
	/* No code, or none of a language: it is guessed. */
	CHECK_INT(stopped_for("no jasne", "und"), 1);
	CHECK_INT(stopped_for("no jasne", "a code that is too long"), 1);
}

/* No list of another language is taken for it, unless that has every word. */
TEST(rule_154_a_told_language_without_lists_is_left_to_the_voice)
{
	CHECK_INT(stopped_for("no jasne", "xx"), 0);
	CHECK_INT(stopped_for("no wait", "xx"), 1);
	CHECK_INT(stopped_for("stop", "sv"), 1);
}
