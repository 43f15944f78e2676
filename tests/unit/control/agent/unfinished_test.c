/* What the bot left unfinished, by the last lines of a voice channel. */
#include "control/agent/unfinished.h"

#include <string.h>

#include "tests/test.h"

/* lines with single quotes for double ones. The text that is unfinished, with "cut: " before it if
 * it was cut. */
static const char *find(const char *lines)
{
	static char text[128];
	char plain[1024];
	const json_t *line;
	json_t *list;
	bool cut = false;

	snprintf(plain, sizeof plain, "[%s]", lines);
	for (char *p = plain; *p; p++)
		*p = *p == '\'' ? '"' : *p;
	list = json_loads(plain, 0, NULL);
	line = unfinished_find(list, &cut);
	snprintf(text, sizeof text, "%s%s", cut ? "cut: " : "",
		 line ? json_string_value(json_object_get(line, "text")) : "nothing");
	json_decref(list);
	return text;
}

#define BOT(id, user, text) "{'id':" #id ",'user':'" #user "','bot':true,'text':'" text "'}"
#define CUT(id, user, text)                                                                        \
	"{'id':" #id ",'user':'" #user "','bot':true,'cut':true,'text':'" text "'}"
#define SAID(id, user) "{'id':" #id ",'user':'" #user "','bot':false,'text':'so?'}"

TEST(the_last_answer_is_unfinished_if_it_was_cut_or_asks)
{
	CHECK_STR(find(""), "nothing");
	CHECK_STR(find(SAID(1, 5)), "nothing");
	CHECK_STR(find(BOT(2, 5, "It is late.")), "nothing");
	CHECK_STR(find(CUT(2, 5, "It is la")), "cut: It is la");
	CHECK_STR(find(BOT(2, 5, "Shall I go on? ")), "Shall I go on? ");
	CHECK_STR(find(BOT(2, 5, "続けますか？")), "続けますか？");
	CHECK_STR(find(CUT(2, 5, "The owl") "," BOT(3, 5, "Good night.")), "nothing");
}

TEST(a_word_of_its_person_finishes_it)
{
	CHECK_STR(find(BOT(2, 5, "Shall I go on?") "," SAID(3, 5)), "nothing");
	CHECK_STR(find(SAID(3, 5) "," BOT(2, 5, "Shall I go on?")), "nothing");
	CHECK_STR(find(SAID(1, 5) "," BOT(2, 5, "Shall I go on?") "," SAID(3, 6)),
		  "Shall I go on?");
}

TEST(malformed_lines_hold_nothing_unfinished)
{
	CHECK_STR(find("{},7,{'bot':true},{'id':2,'bot':true,'text':7}"), "nothing");
}
