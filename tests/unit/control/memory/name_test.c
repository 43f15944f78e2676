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
	CHECK(name_is_told("Ana likes tea", "Ana"));
	CHECK(name_is_told("tea is what Ana likes", "ana"));
	CHECK(name_is_told("ana likes tea", "Ana"));
	CHECK(name_is_told("the bike of Ana Maria", "Ana Maria"));
	CHECK(name_is_told("\ubbfc\uc218\ub294 \ucc28\ub97c", "\ubbfc\uc218"));
	CHECK(!name_is_told("the banana is ripe", "Ana"));
	CHECK(!name_is_told("Bob has a rose", "Rose"));
	CHECK(!name_is_told("The trip is in May", "May"));
	CHECK(!name_is_told("The cake", "the"));
	CHECK(!name_is_told("Ana likes tea", ""));
}
