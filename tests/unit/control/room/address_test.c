#include "tests/test.h"

#include "control/room/address.h"

static enum room_address judged(const char *names, const char *text)
{
	struct room_names n = {0};

	room_names_add(&n, names);
	return room_address(&n, text);
}

static bool same_sound(const char *a, const char *b)
{
	char ka[ROOM_KEY_MAX], kb[ROOM_KEY_MAX];

	room_sound_key(a, strlen(a), ka);
	room_sound_key(b, strlen(b), kb);
	return strcmp(ka, kb) == 0;
}

TEST(names_are_compared_by_sound)
{
	CHECK(same_sound("clanky", "klankie"));
	CHECK(same_sound("clanky", "clankee"));
	CHECK(same_sound("clanky", "Clanki"));
	CHECK(!same_sound("clanky", "blankie"));
	CHECK(!same_sound("clanky", "clankiest"));
	CHECK(same_sound("Parley", "parlay"));
	CHECK(same_sound("Parley", "parly"));
	CHECK(!same_sound("Parley", "barley"));
	CHECK(!same_sound("Parley", "pearl"));
	CHECK(!same_sound("Parley", "poorly"));
	CHECK(!same_sound("Parley", "charlie"));
	CHECK(same_sound("phil", "fil"));
	CHECK(same_sound("Zoe", "soe"));
	CHECK(same_sound("Женя", "Женя"));
}

TEST(spoken_to_is_not_spoken_of)
{
	static const struct {
		const char *text;
		enum room_address want;
	} rows[] = {
		{"Parley, what time is it?", ROOM_ADDRESS_ADDRESSED},
		{"hey parley what time is it", ROOM_ADDRESS_ADDRESSED},
		{"what time is it parlay", ROOM_ADDRESS_ADDRESSED},
		{"tell me, Parley, what time it is", ROOM_ADDRESS_ADDRESSED},
		{"par lay what time is it", ROOM_ADDRESS_ADDRESSED},
		{"and parley you should listen too", ROOM_ADDRESS_ADDRESSED},
		{"parley", ROOM_ADDRESS_ADDRESSED},
		{"parley is broken again", ROOM_ADDRESS_MENTIONED},
		{"can you parley roll dice", ROOM_ADDRESS_MENTIONED},
		{"i asked parley", ROOM_ADDRESS_NONE},
		{"parley's answers are odd", ROOM_ADDRESS_NONE},
		{"what time is it", ROOM_ADDRESS_NONE},
		{"", ROOM_ADDRESS_NONE},
		{"!!! ... 's", ROOM_ADDRESS_NONE},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (judged("Parley", rows[i].text) != rows[i].want)
			test_fail(__FILE__, __LINE__, "\"%s\" gave %d", rows[i].text,
				  judged("Parley", rows[i].text));
}

TEST(aliases_and_names_of_several_words)
{
	CHECK_INT(judged("Parley, charlie , carly", "charlie what time is it"),
		  ROOM_ADDRESS_ADDRESSED);
	CHECK_INT(judged("Parley", "charlie what time is it"), ROOM_ADDRESS_NONE);
	CHECK_INT(judged("Miss Moneypenny", "hello miss moneypenny"), ROOM_ADDRESS_ADDRESSED);
	CHECK_INT(judged("Miss Moneypenny", "i miss my money"), ROOM_ADDRESS_NONE);
	CHECK_INT(judged(",, ,", "anything"), ROOM_ADDRESS_NONE);
}

TEST(long_text_stays_in_its_bounds)
{
	char text[8192], name[2048];

	memset(text, 'a', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	CHECK_INT(judged("Parley", text), ROOM_ADDRESS_NONE);
	for (size_t i = 0; i + 1 < sizeof text; i += 2)
		memcpy(text + i, "x ", 2);
	CHECK_INT(judged("Parley", text), ROOM_ADDRESS_NONE);
	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	CHECK_INT(judged(name, text), ROOM_ADDRESS_NONE);
	for (size_t i = 0; i + 1 < sizeof name; i += 2)
		memcpy(name + i, "x,", 2);
	CHECK_INT(judged(name, "x"), ROOM_ADDRESS_ADDRESSED);
}
