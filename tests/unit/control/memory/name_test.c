#include "control/memory/name.h"

#include <string.h>

#include "tests/test.h"

static enum name_use read_name(const char *question, const char *name)
{
	const char *at = strstr(question, name);

	return at ? name_read(question, at, strlen(name)) : NAME_NONE;
}

TEST(a_name_in_its_place_is_sure)
{
	CHECK_INT(read_name("what did Ana say", "Ana"), NAME_SURE);
	CHECK_INT(read_name("what did ana say", "ana"), NAME_SURE);
	CHECK_INT(read_name("where is Ana\u2019s bike", "Ana"), NAME_SURE);
	CHECK_INT(read_name("what's Ana allergic to", "Ana"), NAME_SURE);
	CHECK_INT(read_name("what did Will say", "Will"), NAME_SURE);
}

TEST(a_capital_alone_makes_a_name_likely)
{
	CHECK_INT(read_name("who goes to Japan", "Japan"), NAME_LIKELY);
	CHECK_INT(read_name("was hat \u00c9va gesagt", "\u00c9va"), NAME_LIKELY);
	CHECK_INT(read_name("where does ana live", "ana"), NAME_LIKELY);
	CHECK_INT(read_name("Ana's plan", "Ana"), NAME_LIKELY);
	CHECK_INT(read_name("\ubbfc\uc218 \ubb50\ub77c\uace0", "\ubbfc\uc218"), NAME_LIKELY);
}

TEST(an_everyday_word_is_no_name)
{
	CHECK_INT(read_name("when does the release go out", "release"), NAME_NONE);
	CHECK_INT(read_name("when is the Release", "Release"), NAME_NONE);
	CHECK_INT(read_name("it is late. When is it", "When"), NAME_NONE);
	CHECK_INT(read_name("When is it", "When"), NAME_NONE);
	CHECK_INT(read_name("what will the band play", "will"), NAME_NONE);
	CHECK_INT(read_name("are we free on Friday", "Friday"), NAME_NONE);
	CHECK_INT(read_name("Release dates of the game", "Release"), NAME_NONE);
	CHECK_INT(read_name("who ate \u00e9clairs", "\u00e9clairs"), NAME_NONE);
}

TEST(a_fact_tells_of_people_by_their_names)
{
	CHECK_INT(name_told("Ana likes tea", "Ana"), NAME_LIKELY);
	CHECK_INT(name_told("tea is what Ana likes", "ana"), NAME_LIKELY);
	CHECK_INT(name_told("the bike of Ana Maria", "Ana Maria"), NAME_LIKELY);
	CHECK_INT(name_told("ana said that tea is out", "Ana"), NAME_SURE);
	CHECK_INT(name_told("this is Ana's bike", "Ana"), NAME_SURE);
	CHECK_INT(name_told("today Will said goodbye", "Will"), NAME_SURE);
	CHECK_INT(name_told("the banana is ripe", "Ana"), NAME_NONE);
	CHECK_INT(name_told("Bob has a rose", "Rose"), NAME_NONE);
	CHECK_INT(name_told("The trip is in May", "May"), NAME_NONE);
	CHECK_INT(name_told("The cake", "the"), NAME_NONE);
	CHECK_INT(name_told("Ana likes tea", ""), NAME_NONE);
}

/* Anybody may call themselves so. */
TEST(a_fact_with_an_everyday_word_tells_of_nobody)
{
	CHECK_INT(name_told("my release party is blue", "release"), NAME_NONE);
	CHECK_INT(name_told("My Release party is blue", "Release"), NAME_NONE);
	CHECK_INT(name_told("we plan a release", "Release"), NAME_NONE);
	CHECK_INT(name_told("plan B it is", "b"), NAME_NONE);
	CHECK_INT(name_told("\u79c1\u306e\u72ac\u306f\u767d\u3044", "\u306e"), NAME_NONE);
	CHECK_INT(name_told("\u4eca\u65e5\u306f\u5bd2\u3044", "\u65e5"), NAME_NONE);
}

TEST(a_name_without_blanks_stands_beside_a_boundary)
{
	CHECK_INT(name_told("\ubbfc\uc218\ub294 \ucc28\ub97c", "\ubbfc\uc218"), NAME_LIKELY);
	CHECK_INT(name_told("\u7530\u4e2d\u3055\u3093\u306f\u8336", "\u7530\u4e2d"), NAME_LIKELY);
	CHECK_INT(name_told("\u6211\u559c\u6b22\u738b\u82b3\u7684\u8336", "\u738b\u82b3"),
		  NAME_LIKELY);
	CHECK_INT(name_told("\u6771\u4eac\u90fd\u5e81\u306b\u884c\u304f", "\u4eac\u90fd"),
		  NAME_NONE);
	CHECK_INT(name_told("\uace0\uc591\uc774\ubc25", "\uc591\uc774"), NAME_NONE);
}

TEST(a_name_in_small_letters_is_no_everyday_word)
{
	CHECK(name_in_small("ana likes tea", "Ana"));
	CHECK(name_in_small("the bike of ana maria", "Ana Maria"));
	CHECK(name_in_small("tea for xX_zorg_Xx", "xx_zorg_xx"));
	CHECK(!name_in_small("release is on friday", "release"));
	CHECK(!name_in_small("hope is all we have", "Hope"));
	CHECK(!name_in_small("rose likes tea", "Rose"));
	CHECK(!name_in_small("we meet at nine", "nine"));
	CHECK(!name_in_small("the ana is full", "Ana"));
	CHECK(!name_in_small("the banana is ripe", "Ana"));
	CHECK(!name_in_small("he is in al ain", "Al"));
	CHECK(!name_in_small("Ana likes tea", "Ana"));
	CHECK(!name_in_small("今日は寒い", "今日"));
}
