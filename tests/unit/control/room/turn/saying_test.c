/* Words that turn to somebody else in the room. The numbers are those of the statements. */
#include "tests/test.h"

#include "control/room/floor/address.h"
#include "control/room/floor/phrase.h"
#include "tests/unit/control/room/scene.h"

enum { ALICE = 1, BOB, CAROL };

static const char story[] = "once upon a time there was a king who lived in a castle by the sea";

TEST(rule_155_terms_of_address_call_somebody_else)
{
	static const char *const calls[] = {"get out of the kitchen, mum",
					    "Grandpa, did you lock the car?",
					    "who's got the blue die, anybody?",
					    "Mr Wang, Kinder, kommt ihr",
					    "Opa, gib mir mal die Karten",
					    "Leute, gib mir mal die Karten",
					    "maman, tu peux fermer la porte ?",
					    "奶奶，您坐这儿",
					    "大家，看这儿吧"};
	static const char *const none[] = {"no, Wednesday",
					   "Hamburg, mit einem a",
					   "Hamburg, how far is that?",
					   "What's the capital of Australia, Sydney?",
					   "who wrote that, Shakespeare?",
					   "Berlin, wie weit ist das?",
					   "京都、どのくらいかかりますか",
					   "汉堡，那有多远",
					   "서울이야, 여기서 얼마나 멀어",
					   "yes, of course",
					   "Parley, did you lock the car, mum?",
					   "今天，明天"};
	struct room_names names = {0};

	room_names_add(&names, "Parley");
	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
		if (!room_phrase_to_other(&(struct room_saying){.text = calls[i], .names = &names}))
			test_fail(__FILE__, __LINE__, "\"%s\" is to somebody else", calls[i]);
	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
		if (room_phrase_to_other(&(struct room_saying){.text = none[i], .names = &names}))
			test_fail(__FILE__, __LINE__, "\"%s\" is not", none[i]);
}

/* The bot tells Alice a story; Carol has this display name. */
static struct scene *told_beside(const char *name)
{
	struct scene *s = scene_open("");

	scene_join(s, ALICE, "Alice");
	scene_join(s, BOB, "Bob");
	scene_join(s, CAROL, name);
	scene_say(s, ALICE, "parley tell me a story");
	scene_answer(s, story, 6000);
	scene_wait(s, 2500);
	scene_mark(s);
	return s;
}

/* True if the user's words, said in so short a time that no voice stops the bot, stop it. */
static bool stops(const char *name, uint64_t user, const char *words)
{
	struct scene *s = told_beside(name);
	bool stopped;

	scene_speak(s, user, 500);
	scene_stop(s, user);
	scene_wait(s, 60);
	scene_words(s, user, words);
	scene_wait(s, 500);
	stopped = scene_count(s, ROOM_DO_SAY_STOP) > 0;
	scene_close(s);
	return stopped;
}

TEST(rule_155_the_names_of_those_who_are_there_call_them)
{
	static const struct {
		const char *name, *words;
	} rows[] = {{"Vexley", "put down that knife, Vexley"},
		    {"Nyxie", "Nyxie, did you lock the car?"},
		    {"Kestrel", "one moment, Kestrel, I am on the phone"},
		    {"Tamsin", "hang on Tamsin, I'm asking it about the boat"},
		    {"준호", "준호야, 문 좀 닫아"},
		    {"May", "May, can you close the door?"},
		    {"Can You Stop", "Can You Stop, did you lock the car, mum?"}};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (stops(rows[i].name, ALICE, rows[i].words))
			test_fail(__FILE__, __LINE__, "%s stopped it", rows[i].words);
		if (i < 5 && !stops("Zoltan", ALICE, rows[i].words))
			test_fail(__FILE__, __LINE__, "%s did not stop it", rows[i].words);
	}
}

/* Display names are seldom what people call each other. */
TEST(rule_155_common_given_names_call_people_with_other_display_names)
{
	static const char *const calls[] = {
		"Priya, did you lock the car?",	   "Tom, you're on mute",
		"Jonas did you write that one",	   "Stefan, du bist stumm",
		"Серёж, у тебя микрофон выключен", "Chiara, ti si sente male",
		"Emma, could you pass me that",	   "Emma will you pass me the salt"};
	static const char *const none[] = {"Emma, why did she marry him",
					   "Hamburg, are you sure",
					   "Emily, I said",
					   "Emily",
					   "Asia, are you sure",
					   "Роман, ты знаешь кто его написал",
					   "no, Emily, not Anne",
					   "Will you stop"};
	struct room_names damara = {0};

	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
		if (!room_phrase_to_other(&(struct room_saying){.text = calls[i], .over = ""}))
			test_fail(__FILE__, __LINE__, "\"%s\" is for the bot", calls[i]);
	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
		if (room_phrase_to_other(&(struct room_saying){.text = none[i], .over = ""}))
			test_fail(__FILE__, __LINE__, "\"%s\" is to somebody else", none[i]);
	CHECK(!room_phrase_to_other(&(struct room_saying){.text = "Priya, are you alone",
							  .over = "Priya walks into the castle."}));
	CHECK(!room_phrase_to_other(
		&(struct room_saying){.text = "Elizabeth, do you know when she was born",
				      .over = "She was crowned in nineteen fifty-three."}));
	CHECK(room_phrase_to_other(
		&(struct room_saying){.text = "Elizabeth, do you know when she is coming",
				      .over = "Once upon a time there was a king."}));
	room_names_add(&damara, "Damara");
	CHECK(!room_phrase_to_other(&(struct room_saying){
		.text = "Tamara, can you hear me", .over = "", .names = &damara}));
}

TEST(rule_155_thanks_and_calls_turn_to_the_person_they_name)
{
	static const char *const calls[] = {"thanks sweetheart",
					    "yes mum, coming",
					    "danke Schatz",
					    "merci mon cœur",
					    "спасибо, солнышко",
					    "hey Sarah are you coming tonight",
					    "oye Sara vienes esta noche",
					    "hey Sarah kommst du heute Abend"};
	static const char *const none[] = {"thanks", "hey Sarah", "great story",
					   "mum",    "Lisa",	  "hey, are you coming tonight"};
	static const char *const begun[] = {"Mama", "Mama, ich", "お母さん", "Lisa", "hey Sarah"};
	static const char *const open[] = {"Hamburg", "hey", "thanks", "London, in"};

	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
		if (!room_phrase_to_other(&(struct room_saying){.text = calls[i], .over = ""}))
			test_fail(__FILE__, __LINE__, "\"%s\" is for the bot", calls[i]);
	for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
		if (room_phrase_to_other(&(struct room_saying){.text = none[i], .over = ""}))
			test_fail(__FILE__, __LINE__, "\"%s\" is to somebody else", none[i]);
	for (size_t i = 0; i < sizeof begun / sizeof begun[0]; i++)
		if (!room_phrase_to_other(
			    &(struct room_saying){.text = begun[i], .over = "", .interim = true}))
			test_fail(__FILE__, __LINE__, "\"%s\" calls nobody yet", begun[i]);
	for (size_t i = 0; i < sizeof open / sizeof open[0]; i++)
		if (room_phrase_to_other(
			    &(struct room_saying){.text = open[i], .over = "", .interim = true}))
			test_fail(__FILE__, __LINE__, "\"%s\" calls somebody", open[i]);
}

TEST(rule_155_the_answer_to_a_question_may_name_somebody)
{
	static const char *const answers[] = {"Anna, my wife", "my wife, Anna",
					      "Tom, he is my brother", "to my mum, at home"};

	for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
		if (room_phrase_to_other(
			    &(struct room_saying){.text = answers[i],
						  .over = "Whom shall I send the message to?",
						  .asked = true}))
			test_fail(__FILE__, __LINE__, "\"%s\" is for the bot", answers[i]);
}

TEST(rule_155_152_display_names_of_listed_words_call_nobody)
{
	static const struct {
		const char *name;
		uint64_t user;
		const char *words;
	} rows[] = {{"Stop", ALICE, "stop"},
		    {"Stop", BOB, "Parley, stop"},
		    {"Stahp", ALICE, "stop"},
		    {"Shut Up", ALICE, "shut up"},
		    {"What", ALICE, "What, really?"},
		    {"what is", ALICE, "what is the name of it"},
		    {"how do,what is", ALICE, "what is the name of it"},
		    {"Can You", ALICE, "can you tell another one"},
		    {"Bob Stop", ALICE, "stop it now"}};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (!stops(rows[i].name, rows[i].user, rows[i].words))
			test_fail(__FILE__, __LINE__, "%s: %s", rows[i].name, rows[i].words);
}

/* After the answer, too: the asker goes on. */
TEST(rule_155_a_noun_by_a_comma_is_asked_about)
{
	struct scene *s = told_beside("Carol");

	scene_drained(s);
	scene_wait(s, 2000);
	scene_mark(s);
	scene_say(s, ALICE, "Hamburg, how far is that?");
	scene_wait(s, 1500);
	CHECK_INT(scene_count(s, ROOM_DO_ASK), 1);
	scene_close(s);
}
