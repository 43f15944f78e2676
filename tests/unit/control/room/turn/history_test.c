/* The history of a room. */
#include "proto/media.h"
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "control/room/room.h"
#include "control/room/turn/history.h"
#include "proto/base/utf8.h"

TEST(rule_156_history_is_revised_by_whole_words)
{
	static struct room_history h;

	h = (struct room_history){0};
	room_history_add(&h, &(struct room_history_words){
				     .at = 1, .user = 1, .name = "alice", .text = "i know, no"});
	CHECK(room_history_revise(&h, 1, "no", "nine"));
	CHECK_STR(room_history_at(&h, 0)->text, "i know, nine");
	CHECK(!room_history_revise(&h, 1, "kno", "x"));
	room_history_add(&h, &(struct room_history_words){
				     .at = 2, .user = 1, .name = "alice", .text = "нет, не то"});
	CHECK(room_history_revise(&h, 1, "не", "но"));
	CHECK_STR(room_history_at(&h, 1)->text, "нет, но то");
}

/* The words of one Ana are not those of another. */
TEST(history_is_revised_in_the_speakers_own_lines)
{
	static struct room_history h;

	h = (struct room_history){0};
	room_history_add(&h, &(struct room_history_words){
				     .at = 1, .user = 1, .name = "Ana", .text = "at four"});
	room_history_add(&h, &(struct room_history_words){
				     .at = 2, .user = 2, .name = "Ana", .text = "at four"});
	CHECK(room_history_revise(&h, 1, "four", "five"));
	CHECK_STR(room_history_at(&h, 0)->text, "at five");
	CHECK_STR(room_history_at(&h, 1)->text, "at four");
}

/* No JSON could hold half a character, and so no question after it would reach a model. */
TEST(a_recalled_line_is_cut_after_a_whole_character)
{
	static struct room_history h;
	char line[ROOM_NAME_MAX + 2 * ROOM_HISTORY_TEXT];
	size_t n = 0;

	h = (struct room_history){0};
	line[n++] = 'x';
	while (n < ROOM_NAME_MAX + 20)
		n += (size_t)sprintf(line + n, "é");
	line[n++] = '\n';
	line[n++] = 'x';
	while (n < ROOM_NAME_MAX + ROOM_HISTORY_TEXT + 100)
		n += (size_t)sprintf(line + n, "é");
	room_history_on_event(&h, NULL,
			      &(struct room_event){.type = ROOM_RECALLED,
						   .at = 1,
						   .text = {.p = (const uint8_t *)line, .n = n}});
	CHECK_INT(room_history_count(&h), 1);
	CHECK(utf8_valid(room_history_at(&h, 0)->name));
	CHECK(utf8_valid(room_history_at(&h, 0)->text));
	CHECK(strlen(room_history_at(&h, 0)->text) >= ROOM_HISTORY_TEXT - 1);
}

TEST(what_is_typed_is_a_line_of_no_turn)
{
	static struct room_history h;

	h = (struct room_history){0};
	room_history_on_event(&h, NULL,
			      &(struct room_event){.type = ROOM_TYPED,
						   .is_bot = true,
						   .at = 5,
						   .user = 1,
						   .text = slice_str("Parley\nas I wrote")});
	CHECK_INT(room_history_count(&h), 1);
	CHECK(room_history_at(&h, 0)->bot);
	CHECK_STR(room_history_at(&h, 0)->text, "as I wrote");
	CHECK_INT(room_history_count_recalled(&h), 1);
}
