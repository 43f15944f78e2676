#include "control/engine/core/hide_key.h"

#include "tests/test.h"

TEST(a_key_is_hidden_wherever_it_stands)
{
	char text[] = "sk-abcdef-123456 is wrong: sk-abcdef-123456sk-abcdef-123456";

	hide_key("sk-abcdef-123456", text);
	CHECK_STR(text, "**************** is wrong: ********************************");
}

TEST(a_key_that_was_cut_is_hidden_as_well)
{
	char text[] = "wrong: sk-abcdef-12", less[] = "wrong: sk-abcdef-1";

	hide_key("sk-abcdef-123456", text);
	CHECK_STR(text, "wrong: ************");
	hide_key("sk-abcdef-123456", less);
	CHECK_STR(less, "wrong: sk-abcdef-1");
}

TEST(a_short_key_is_an_ordinary_word)
{
	char text[] = "none of none";

	hide_key("none", text);
	hide_key("", text);
	CHECK_STR(text, "none of none");
}
