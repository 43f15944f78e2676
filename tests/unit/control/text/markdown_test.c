/* Text that Discord shows as it is. */
#include "tests/test.h"

#include "control/text/markdown.h"
#include "control/tools/read_back.h"

static const char *escape(const char *text)
{
	static char buf[256];

	return text_markdown_escape(text, buf, sizeof buf) ? buf : "too long";
}

TEST(marks_of_markdown_are_shown_as_they_are)
{
	CHECK_STR(escape("Shall I do this: pay, 5?"), "Shall I do this: pay, 5?");
	CHECK_STR(escape("[pay 5](http://x/500)"), "\\[pay 5\\]\\(http\\://x/500\\)");
	CHECK_STR(escape("||all of it||"), "\\|\\|all of it\\|\\|");
	CHECK_STR(escape("```a_b*c~~d~~"), "\\`\\`\\`a\\_b\\*c\\~\\~d\\~\\~");
	CHECK_STR(escape("<@5> <t:0:R> @everyone #x"),
		  "\\<\\@5\\> \\<t\\:0\\:R\\> \\@everyone \\#x");
	CHECK_STR(escape("back\\slash :smile: -1.5"), "back\\\\slash \\:smile: \\-1\\.5");
	CHECK_STR(escape("\xc3\xa9t\xc3\xa9"), "\xc3\xa9t\xc3\xa9");
	CHECK_STR(escape(""), "");
}

TEST(text_that_does_not_fit_is_cut_before_a_mark)
{
	char buf[5];

	CHECK(!text_markdown_escape("abc*d", buf, sizeof buf));
	CHECK_STR(buf, "abc");
	CHECK(text_markdown_escape("ab*", buf, sizeof buf));
	CHECK_STR(buf, "ab\\*");
}

/* What is shown is still the question, and another value is not. */
TEST(an_escaped_question_is_the_question)
{
	char question[TOOL_QUESTION_MAX], other[TOOL_QUESTION_MAX], shown[2 * TOOL_QUESTION_MAX];

	CHECK(tool_question("pay", "{\"to\":\"[bob](http://x/a_b)\",\"sum\":-5.5}", "", question));
	CHECK(tool_question("pay", "{\"to\":\"[bob](http://x/a_b)\",\"sum\":5.5}", "", other));
	CHECK(text_markdown_escape(question, shown, sizeof shown));
	CHECK(tool_is_question(question, shown, 0));
	CHECK(!tool_is_question(other, shown, 0));
}
