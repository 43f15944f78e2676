#include "control/memory/english.h"

#include <string.h>

#include "tests/test.h"

static bool is(const char *text)
{
	return english_is(text, strlen(text));
}

TEST(english_is_told_from_other_languages)
{
	CHECK(is("what did Ana say about the release?"));
	CHECK(is("the moth with no feet"));
	CHECK(is("Ana likes green tea"));
	CHECK(is("that café near Müller's, is it open?"));
	CHECK(!is("wann kommt der neue Router?"));
	CHECK(!is("qui a dit que le train est en retard ?"));
	CHECK(!is("cuándo llega el paquete de Marta"));
	CHECK(!is("quando arriva il treno"));
	CHECK(!is("wanneer komt het pakket"));
	CHECK(!is("kiedy jest koncert"));
	CHECK(!is("когда придёт посылка"));
	CHECK(!is("会議はいつですか"));
	CHECK(!is("회의는 언제야"));
	CHECK(!is("会议什么时候开"));
}

TEST(words_are_counted_up_to_a_limit)
{
	CHECK_INT(english_count_words("one  two three ", 15, 9), 3);
	CHECK_INT(english_count_words("one two three", 13, 2), 2);
	CHECK_INT(english_count_words("", 0, 2), 0);
}
