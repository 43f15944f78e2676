#include "tests/test.h"

#include "control/room/floor/address.h"
#include "tests/conversations/calls.def"
#include "tests/conversations/conversation.h"

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

static unsigned alike(const char *a, const char *b)
{
	char ka[ROOM_KEY_MAX], kb[ROOM_KEY_MAX];

	room_sound_key(a, strlen(a), ka);
	room_sound_key(b, strlen(b), kb);
	return room_sound_alike(ka, kb);
}

TEST(words_are_alike_by_their_consonants)
{
	CHECK_INT(alike("parley", "parlay"), 100);
	CHECK(alike("parley", "barley") >= 88);
	CHECK(alike("parley", "pearly") >= 88);
	CHECK(alike("parley", "party") < 88);
	CHECK(alike("parley", "partly") < 88);
	CHECK(alike("parley", "charlie") < 88);
	/* The same first three letters mean nothing. */
	CHECK(alike("clanker", "click") < 70);
	CHECK(alike("clanker", "climb") < 70);
	CHECK(alike("clanker", "clean") < 60);
	CHECK(alike("clanker", "clinic") < 70);
	/* A breath is easily missed, a stop is not. */
	CHECK(alike("hanna", "anna") > alike("tanna", "anna"));
	CHECK_INT(alike("", ""), 0);
	CHECK(alike("parley", "") < 50);
	CHECK_INT(alike("parley", "xyzzy"), alike("xyzzy", "parley"));
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
		{"can you parley roll dice", ROOM_ADDRESS_ADDRESSED},
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

/* Sentences for a bot called Parley. The first table was used while the rules were made, the second
 * was written with it and not looked at before they were done. */
struct sentence {
	const char *text;
	bool to_it;
};

static const struct sentence tuned[] = {
	{"parley what's the weather like", true},
	{"hey parlay can you hear me", true},
	{"can you turn it down parley", true},
	{"so parley who won the game", true},
	{"ok parley stop", true},
	{"barley can you tell me the time", true},
	{"hey barley what time is it", true},
	{"parly, play something slow", true},
	{"wait, parley, what was that", true},
	{"par lee how tall is that tower", true},
	{"parley is it going to rain", true},
	{"what do you think, parley?", true},
	{"alright parley tell us a story", true},
	{"oh parley you are funny", true},
	{"how far is the moon, barley?", true},
	{"parley did you hear that", true},
	{"so pirlay how far away is the moon", true},
	{"porloy explain the rules to me", true},
	{"perley i want to ask something else", true},
	{"we should have a party on friday", false},
	{"party at my place tonight", false},
	{"i partly agree with you", false},
	{"barley is a kind of grain", false},
	{"barley, oats and rye go in there", false},
	{"barley can be brewed into beer", false},
	{"they called for a parley at dawn", false},
	{"the parley went badly", false},
	{"i was talking to parley yesterday", false},
	{"did you ask parley about it", false},
	{"i like parley", false},
	{"parley keeps interrupting me", false},
	{"parley's voice is odd", false},
	{"we barely made it", false},
	{"charlie can you pass me the salt", false},
	{"harley what time is it", false},
	{"i clicked on it and it was clean", false},
	{"my parents were in paris", false},
	{"it is partially done", false},
	{"you can parlay that into a bigger win", false},
	{"poorly made if you ask me", false},
	{"purely by accident", false},
	{"so barley is what they use", false},
};

static const struct sentence held_out[] = {
	{"parley how do you spell necessary", true},
	{"hi parlay are you there", true},
	{"what's twelve times nine parley", true},
	{"and parley remind me later", true},
	{"okay parlee thanks", true},
	{"barley what is the capital of peru", true},
	{"hello barley", true},
	{"parlay: next song please", true},
	{"no, parley, the other one", true},
	{"par lay do you know this song", true},
	{"parley was that a joke", true},
	{"is that right, parley?", true},
	{"please parley be quiet", true},
	{"well parley we are waiting", true},
	{"where were we, barley?", true},
	{"parley has anyone called", true},
	{"the party starts at nine", false},
	{"party people where are you", false},
	{"that is partly my fault", false},
	{"barley soup is my favourite", false},
	{"barley, hops, water, that is all", false},
	{"a parley is a talk between enemies", false},
	{"their parley failed", false},
	{"she said something about parley", false},
	{"he told parley to be quiet", false},
	{"nobody wants to listen to parley", false},
	{"parley never gets my jokes", false},
	{"parley's answer was wrong", false},
	{"i could barely see him", false},
	{"carly can you come over here", false},
	{"marley was dead to begin with", false},
	{"we had to climb the cliff", false},
	{"the palace in prague is pretty", false},
	{"in particular the purple one", false},
	{"a three team parlay paid nine to one", false},
	{"the pearly gates", false},
};

static unsigned wrong(const struct sentence *rows, size_t n, bool show)
{
	unsigned bad = 0;

	for (size_t i = 0; i < n; i++) {
		bool got = judged("Parley", rows[i].text) == ROOM_ADDRESS_ADDRESSED;

		if (got == rows[i].to_it)
			continue;
		bad++;
		if (show)
			printf("%s: \"%s\"\n", got ? "taken" : "missed", rows[i].text);
	}
	return bad;
}

TEST(rule_083_spoken_to_by_name_and_by_what_was_heard_for_it)
{
	CHECK_INT(wrong(tuned, sizeof tuned / sizeof tuned[0], true), 0);
}

TEST(rule_083_and_so_with_sentences_that_were_held_out)
{
	CHECK_INT(wrong(held_out, sizeof held_out / sizeof held_out[0], true), 0);
}

TEST(rule_083_a_report_of_its_words_is_no_question)
{
	static const struct sentence rows[] = {
		{"parley said it was in paris", false},
		{"parley told you that yesterday", false},
		{"well parley says it's full, so that's that", false},
		{"parley knows you", false},
		{"parley is it raining", true},
		{"parley did you say paris", true},
	};

	CHECK_INT(wrong(rows, sizeof rows / sizeof rows[0], true), 0);
}

TEST(rule_083_a_greeting_may_precede_the_name)
{
	static const struct sentence tuned_calls[] = {
#define TUNED(calls, text) {text, calls},
#define HELD_OUT(calls, text)
#define S(set, calls, text) set(calls, text)
		CONVERSATION_CALLS(S)
#undef TUNED
#undef HELD_OUT
#undef S
	};
	struct conversation_share heard, left;

	CHECK_INT(wrong(tuned_calls, sizeof tuned_calls / sizeof tuned_calls[0], true), 0);
	conversation_calls(&heard, &left);
	CHECK(heard.of >= 20 && conversation_rate(&heard) >= 0.9);
	CHECK(left.of >= 20 && conversation_rate(&left) >= 0.9);
}

TEST(rule_083_exact_merged_and_alias_names_count)
{
	CHECK_INT(judged("Clanker Conk", "hey clanker conk what is up"), ROOM_ADDRESS_ADDRESSED);
	CHECK_INT(judged("Clanker Conk", "clankerconk what is up"), ROOM_ADDRESS_ADDRESSED);
	CHECK_INT(judged("Clanker Conk", "clanker what is up"), ROOM_ADDRESS_ADDRESSED);
	CHECK_INT(judged("Clanker Conk, conky", "yo conky what is up"), ROOM_ADDRESS_ADDRESSED);
	CHECK_INT(judged("Clanker Conk", "clinker what is up"), ROOM_ADDRESS_NONE);
	CHECK_INT(judged("Captain Bolt", "captain what do we do"), ROOM_ADDRESS_NONE);
	CHECK_INT(judged("Clanker", "click on it, climb up and clean the clinic"),
		  ROOM_ADDRESS_NONE);
}

TEST(rule_083_the_name_is_found_in_chinese_characters)
{
	struct room_names n = {0};
	struct room_words w;

	room_names_add(&n, "Parley");
	CHECK_INT(room_address_in(&n, "帕利，停一下", ROOM_LANGUAGE_ZH), ROOM_ADDRESS_ADDRESSED);
	CHECK_INT(room_address_in(&n, "帕利今天话真多", ROOM_LANGUAGE_ZH), ROOM_ADDRESS_MENTIONED);
	CHECK_INT(room_address_in(&n, "那帕利，几点了", ROOM_LANGUAGE_ZH), ROOM_ADDRESS_ADDRESSED);
	CHECK_INT(room_address_in(&n, "帕里，几点了", ROOM_LANGUAGE_ZH), ROOM_ADDRESS_ADDRESSED);
	CHECK_INT(room_address_in(&n, "佩利，停一下", ROOM_LANGUAGE_ZH), ROOM_ADDRESS_ADDRESSED);
	CHECK_INT(room_address_in(&n, "巴黎今天很冷", ROOM_LANGUAGE_ZH), ROOM_ADDRESS_NONE);
	room_words_split(&w, "帕利停", ROOM_LANGUAGE_ZH);
	CHECK_INT(room_name_at(&n, &w, 0), 2);
	CHECK_INT(room_name_at(&n, &w, 1), 0);
	n = (struct room_names){0};
	room_names_add(&n, "Clanker");
	CHECK_INT(n.n, 1);
	CHECK_INT(room_address_in(&n, "帕利，停一下", ROOM_LANGUAGE_ZH), ROOM_ADDRESS_NONE);
}

/* Korean writes the p of a foreign name without tension, and its last vowel as it is spoken. */
TEST(rule_083_common_korean_words_are_no_name)
{
	static const char *const words[] = {"빨래 했어?",   "빨리 가자",  "빨라?",
					    "팔려?",	    "팔로 했어?", "팔레트 어디 있어?",
					    "팔리면 좋겠다"};
	static const char *const calls[] = {"팔리야 지금 몇 시야?", "팔리, 지금 몇 시야?"};
	struct room_names n = {0};
	struct room_words w;

	room_names_add(&n, "Parley");
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		room_words_split(&w, words[i], ROOM_LANGUAGE_KO);
		if (room_address_in(&n, words[i], ROOM_LANGUAGE_KO) || room_name_at(&n, &w, 0))
			test_fail(__FILE__, __LINE__, "\"%s\" has the name", words[i]);
	}
	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
		room_words_split(&w, calls[i], ROOM_LANGUAGE_KO);
		if (room_address_in(&n, calls[i], ROOM_LANGUAGE_KO) != ROOM_ADDRESS_ADDRESSED ||
		    !room_name_at(&n, &w, 0))
			test_fail(__FILE__, __LINE__, "\"%s\" calls", calls[i]);
	}
}

TEST(rule_083_a_cue_is_enough_while_only_commands_count)
{
	struct room_names n = {0};

	room_names_add(&n, "Parley");
	CHECK(room_name_cue(&n, "skip this one parley"));
	CHECK(room_name_cue(&n, "i told parley to stop"));
	CHECK(room_name_cue(&n, "barley skip"));
	CHECK(!room_name_cue(&n, "skip the barley song"));
	CHECK(!room_name_cue(&n, "let's party all night"));
	CHECK(!room_name_cue(&n, ""));
}

TEST(long_text_stays_in_its_bounds)
{
	char text[8192], name[2048];

	memset(text, 'a', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	CHECK_INT(judged("Parley", text), ROOM_ADDRESS_NONE);
	for (size_t i = 0; i + 2 < sizeof text; i += 2)
		memcpy(text + i, "x ", 2);
	CHECK_INT(judged("Parley", text), ROOM_ADDRESS_NONE);
	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	CHECK_INT(judged(name, text), ROOM_ADDRESS_NONE);
	for (size_t i = 0; i + 2 < sizeof name; i += 2)
		memcpy(name + i, "x,", 2);
	CHECK_INT(judged(name, "x"), ROOM_ADDRESS_ADDRESSED);
}
