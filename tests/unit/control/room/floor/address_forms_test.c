/* Calls without punctuation, and in languages of which there are no lists. */
#include "control/room/floor/address.h"
#include "tests/test.h"

static enum room_address judged(const char *text)
{
	struct room_names n = {0};

	room_names_add(&n, "Parley");
	return room_address(&n, text);
}

static void expect(const char *const *texts, enum room_address want)
{
	for (; *texts; texts++)
		if (judged(*texts) != want)
			test_fail(__FILE__, __LINE__, "\"%s\" gave %d", *texts, judged(*texts));
}

TEST(openers_of_several_words_lead_to_a_name)
{
	static const char *const texts[] = {"Sag mal Parley, wie viel Uhr ist es",
					    "Sag mal Parley wie viel Uhr ist es",
					    "danke dir parley",
					    "vielen dank parley",
					    "muchas gracias parley",
					    "grazie mille parley",
					    "dank je wel parley",
					    NULL};

	expect(texts, ROOM_ADDRESS_ADDRESSED);
}

TEST(a_request_may_end_with_the_name)
{
	static const char *const texts[] = {"Kannst du mir helfen Parley",
					    "Weißt du das Parley",
					    "tu peux m'aider parley",
					    "você sabe disso parley",
					    "kun je me helpen parley",
					    "weet je dat parley",
					    NULL};
	/* What stands right behind its beginning is what is asked about. */
	static const char *const about[] = {
		"kennst du Parley",  "kannst du Parley fragen", "hast du von Parley gehört",
		"tu connais parley", "ich mag Parley",		NULL};

	expect(texts, ROOM_ADDRESS_ADDRESSED);
	expect(about, ROOM_ADDRESS_MENTIONED);
}

TEST(a_sentence_to_it_may_end_with_a_word_that_leads_to_a_name)
{
	static const char *const texts[] = {"nice try parley",
					    "how was the test parley",
					    "when is the next test parley",
					    "is it fixed parley",
					    "is the server restarted parley",
					    "what have you built parley",
					    NULL};
	static const char *const about[] = {"let us test parley", "they fixed parley",
					    "has anybody tried parley", "who made parley", NULL};

	expect(texts, ROOM_ADDRESS_ADDRESSED);
	expect(about, ROOM_ADDRESS_MENTIONED);
}

TEST(nobody_is_spoken_to_by_a_question_what_that_is)
{
	static const char *const texts[] = {"ist das der neue bot parley", "Ist das ein Bot Parley",
					    NULL};

	expect(texts, ROOM_ADDRESS_MENTIONED);
	CHECK_INT(judged("Ist das der neue Bot, Parley?"), ROOM_ADDRESS_ADDRESSED);
}

TEST(greetings_call_in_each_language)
{
	static const char *const texts[] = {
		"salut parley ça va",		"ola parley tudo bem",
		"Hej Parley, vad är klockan?",	"Hej Parley vad är klockan",
		"merhaba parley nasılsın",	"merhaba Parley, saat kaç?",
		"Ahoj Parley, kolik je hodin?", "Szia Parley, mennyi az idő?",
		"привет parley как дела",	NULL};

	expect(texts, ROOM_ADDRESS_ADDRESSED);
}

TEST(a_question_without_known_words_is_put_to_the_name_that_it_begins_with)
{
	CHECK_INT(judged("parley saat kaç?"), ROOM_ADDRESS_ADDRESSED);
	CHECK_INT(judged("parley saat kaç"), ROOM_ADDRESS_MENTIONED);
	CHECK_INT(judged("Parley ist kaputt?"), ROOM_ADDRESS_MENTIONED);
}

TEST(people_ask_each_other_about_it)
{
	static const char *const texts[] = {"who made parley?",
					    "who built Parley",
					    "try parley",
					    "just try parley",
					    "have you tried parley",
					    "did parley answer you?",
					    "did parley answer you",
					    NULL};
	static const char *const calls[] = {
		"what did you do parley", "hey parley did you hear that",
		"can you parley roll dice", "did it answer you parley", NULL};

	expect(texts, ROOM_ADDRESS_MENTIONED);
	expect(calls, ROOM_ADDRESS_ADDRESSED);
}
