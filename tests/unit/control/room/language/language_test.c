#include "control/room/language/language.h"

#include "control/room/floor/address.h"
#include "control/room/floor/choice.h"
#include "control/room/floor/music.h"
#include "control/room/floor/phrase.h"
#include "control/room/turn/eot.h"
#include "tests/test.h"

TEST(the_language_of_an_utterance_is_guessed)
{
	static const struct {
		const char *text, *over;
		enum room_language is;
	} rows[] = {
		{"I would like to know that", "", ROOM_LANGUAGE_EN},
		{"das habe ich nicht gefragt", "", ROOM_LANGUAGE_DE},
		{"¿y eso cuándo fue?", "", ROOM_LANGUAGE_ES},
		{"je n'ai pas compris", "", ROOM_LANGUAGE_FR},
		{"non ho capito niente", "", ROOM_LANGUAGE_IT},
		{"dat heb ik niet gevraagd", "", ROOM_LANGUAGE_NL},
		{"nie o to pytałem", "", ROOM_LANGUAGE_PL},
		{"não foi isso que eu perguntei", "", ROOM_LANGUAGE_PT},
		{"я спрашивал не про это", "", ROOM_LANGUAGE_RU},
		{"それは違います", "", ROOM_LANGUAGE_JA},
		{"그게 아니에요", "", ROOM_LANGUAGE_KO},
		{"我问的不是这个", "", ROOM_LANGUAGE_ZH},
		/* One word is of the language of the conversation. */
		{"no", "El tren sale a las nueve de la estación.", ROOM_LANGUAGE_ES},
		{"ok", "列車は九時に出ます。", ROOM_LANGUAGE_JA},
		{"大阪", "列車は九時に出ます。", ROOM_LANGUAGE_JA},
		/* None of ours. */
		{"tamam anladım şimdi", "", ROOM_LANGUAGE_UNKNOWN},
		{"मुझे समझ नहीं आया", "", ROOM_LANGUAGE_UNKNOWN},
		{"я не знаю, що це є", "", ROOM_LANGUAGE_UNKNOWN},
		{"xyzzy", "", ROOM_LANGUAGE_UNKNOWN},
		{"", "", ROOM_LANGUAGE_UNKNOWN},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		enum room_language got =
			room_language_guess(rows[i].text, rows[i].over, ROOM_LANGUAGE_UNKNOWN);

		if (got != rows[i].is)
			test_fail(__FILE__, __LINE__, "\"%s\": \"%s\", want \"%s\"", rows[i].text,
				  room_language_code(got), room_language_code(rows[i].is));
	}
}

TEST(a_language_has_several_codes)
{
	CHECK_INT(room_language_by_code("en-GB"), ROOM_LANGUAGE_EN);
	CHECK_INT(room_language_by_code("por"), ROOM_LANGUAGE_PT);
	CHECK_INT(room_language_by_code("zh"), ROOM_LANGUAGE_ZH);
	CHECK_INT(room_language_by_code("fil"), ROOM_LANGUAGE_UNKNOWN);
	CHECK_INT(room_language_by_code(""), ROOM_LANGUAGE_UNKNOWN);
}

/* Every list is there, and what it holds is found in a text. */
TEST(each_language_has_each_list)
{
	for (int l = ROOM_LANGUAGE_EN; l < ROOM_LANGUAGE_COUNT; l++) {
		static const char *const stops[] = {"",		"stop", "stopp", "basta", "stop",
						    "basta",	"stop", "dość",	 "para",  "стоп",
						    "ストップ", "그만", "停"};
		static struct room_words w;

		room_words_split(&w, stops[l], (enum room_language)l);
		CHECK(w.n > 0);
		CHECK_INT(room_words_match(&w, 0, ROOM_WORD_STOP), w.n);
	}
}

TEST(words_are_found_where_no_blanks_part_them)
{
	static struct room_words w;

	room_words_split(&w, "ちょっと待ってください、長いよ", ROOM_LANGUAGE_JA);
	CHECK(room_words_match(&w, 0, ROOM_WORD_COUNTER) >= 7);
	CHECK(w.paused);
	room_words_split(&w, "Ça, C'EST l'été", ROOM_LANGUAGE_FR);
	CHECK_STR(w.text, "ça cest lété");
	room_words_split(&w, "ЁЛКА", ROOM_LANGUAGE_RU);
	CHECK_STR(w.text, "елка");
}

TEST(rule_152_stop_words_in_every_language)
{
	static const char *const stops[] = {
		"Parley, stop",	    "never mind, Parley", "stopp bitte",
		"ach, vergiss es",  "basta ya, gracias",  "arrête, s'il te plaît",
		"lascia perdere",   "laat maar, bedankt", "dobra, wystarczy",
		"tá bom, chega",    "ладно, хватит",	  "もういいです",
		"Parley、ストップ", "그만 좀 해",	  "好了，停",
		"别说了谢谢"};
	struct room_names names = {0};

	room_names_add(&names, "Parley");
	for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++) {
		struct room_saying s = {.text = stops[i], .names = &names};

		if (room_phrase_of(&s) != ROOM_PHRASE_STOP)
			test_fail(__FILE__, __LINE__, "\"%s\" is %d", stops[i], room_phrase_of(&s));
	}
}

TEST(rule_153_154_shortness_alone_makes_no_backchannel)
{
	static const struct {
		const char *text, *over;
		enum room_phrase is;
	} rows[] = {
		{"red", "The wine is white.", ROOM_PHRASE_FEW},
		{"rot", "Der Wein ist weiß.", ROOM_PHRASE_FEW},
		{"木曜", "集まりは火曜日です。", ROOM_PHRASE_FEW},
		{"五十六", "七かける八は五十四です。", ROOM_PHRASE_FEW},
		{"no", "The train leaves at nine.", ROOM_PHRASE_WORDS},
		{"at nine, yeah", "The train leaves at nine.", ROOM_PHRASE_BACKCHANNEL},
		{"um neun, ja", "Der Zug fährt um neun.", ROOM_PHRASE_BACKCHANNEL},
		{"九時ね", "列車は九時に出ます。", ROOM_PHRASE_BACKCHANNEL},
		{"yeah but not on Sundays", "The train leaves at nine.", ROOM_PHRASE_WORDS},
		/* Voice alone decides in a language without lists. */
		{"tamam anladım şimdi", "", ROOM_PHRASE_FEW},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct room_saying s = {.text = rows[i].text, .over = rows[i].over};

		if (room_phrase_of(&s) != rows[i].is)
			test_fail(__FILE__, __LINE__, "\"%s\" is %d, want %d", rows[i].text,
				  room_phrase_of(&s), rows[i].is);
	}
}

TEST(rule_155_157_names_are_told_from_mentions_in_other_languages)
{
	static const struct {
		const char *text;
		enum room_address want;
	} rows[] = {
		{"und Parley, wie spät ist es?", ROOM_ADDRESS_ADDRESSED},
		{"wie spät ist es, Parley?", ROOM_ADDRESS_ADDRESSED},
		{"ich hab Parley gestern gefragt", ROOM_ADDRESS_MENTIONED},
		{"Parley sagt das auch", ROOM_ADDRESS_MENTIONED},
		{"merci Parley, et demain ?", ROOM_ADDRESS_ADDRESSED},
		{"je l'ai demandé à Parley hier", ROOM_ADDRESS_MENTIONED},
		{"ねえParley明日は雨？", ROOM_ADDRESS_ADDRESSED},
		{"Parleyは速いね", ROOM_ADDRESS_MENTIONED},
		{"パーリー、何時ですか", ROOM_ADDRESS_ADDRESSED},
		{"팔리야 지금 몇 시야?", ROOM_ADDRESS_ADDRESSED},
		{"어제 팔리한테 물어봤어", ROOM_ADDRESS_MENTIONED},
		{"파리, 정말 좋아", ROOM_ADDRESS_NONE},
		{"Парли, который час?", ROOM_ADDRESS_ADDRESSED},
		{"я спросил у Парли", ROOM_ADDRESS_MENTIONED},
		{"Parley，几点了", ROOM_ADDRESS_ADDRESSED},
		{"Parley，幾點了", ROOM_ADDRESS_ADDRESSED},
		{"パーリー今何時", ROOM_ADDRESS_ADDRESSED},
		{"Parleyは何時に来るの", ROOM_ADDRESS_MENTIONED},
		{"Parley现在几点", ROOM_ADDRESS_ADDRESSED},
		{"Parley il est quelle heure", ROOM_ADDRESS_ADDRESSED},
		{"Parley il a dit que oui", ROOM_ADDRESS_MENTIONED},
		{"我问过Parley了", ROOM_ADDRESS_MENTIONED},
	};
	struct room_names names = {0};

	room_names_add(&names, "Parley");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (room_address(&names, rows[i].text) != rows[i].want)
			test_fail(__FILE__, __LINE__, "\"%s\" gave %d", rows[i].text,
				  room_address(&names, rows[i].text));
}

TEST(bytes_that_are_no_text_harm_nothing)
{
	static struct room_words w;
	char long_text[4 * ROOM_WORDS_TEXT + 1];

	memset(long_text, 'a', sizeof long_text - 1);
	long_text[sizeof long_text - 1] = '\0';
	room_words_split(&w, long_text, ROOM_LANGUAGE_EN);
	CHECK(w.cut && w.n == 1);
	for (size_t i = 0; i + 1 < sizeof long_text; i += 2)
		long_text[i] = ' ';
	room_words_split(&w, long_text, ROOM_LANGUAGE_ZH);
	CHECK(w.cut && w.n == ROOM_WORDS_MAX);
	room_words_split(&w, "\xff\xc3 \xe3\x81 \xf0\x9f", ROOM_LANGUAGE_JA);
	CHECK(w.n <= ROOM_WORDS_MAX);
}

TEST(rule_157_names_that_are_words_call_only_as_vocatives)
{
	struct room_names names = {0};

	room_names_add(&names, "Will, May, Mark, Can");
	CHECK_INT(room_address(&names, "will it rain tomorrow"), ROOM_ADDRESS_NONE);
	CHECK_INT(room_address(&names, "can you tell me more"), ROOM_ADDRESS_NONE);
	CHECK_INT(room_address(&names, "may I ask something"), ROOM_ADDRESS_NONE);
	CHECK_INT(room_address(&names, "Will, can you close the door?"), ROOM_ADDRESS_ADDRESSED);
	CHECK_INT(room_address(&names, "close the door, May"), ROOM_ADDRESS_ADDRESSED);
	CHECK_INT(room_address(&names, "hey Will what is up"), ROOM_ADDRESS_ADDRESSED);
}

TEST(choices_are_known_in_other_languages)
{
	struct room_choice c = {0};
	const char *options = "song\nalpha\nbeta\ngamma";

	room_choice_offer(&c, 1, options, strlen(options), 0);
	CHECK_INT(room_choice_match(&c, "das zweite bitte"), 1);
	CHECK_INT(room_choice_match(&c, "третий"), 2);
	CHECK_INT(room_choice_match(&c, "последний"), 2);
	CHECK_INT(room_choice_match(&c, "第三个"), 2);
	CHECK_INT(room_choice_match(&c, "zwei Äpfel"), -1);
}

TEST(the_end_of_a_turn_is_predicted_in_other_languages)
{
	struct room_names names = {0};

	room_names_add(&names, "Parley");
	CHECK_INT(room_eot_words("Parley wie spät ist es denn jetzt", &names), ROOM_EOT_WHOLE);
	CHECK_INT(room_eot_words("ich möchte wissen, ob", &names), ROOM_EOT_OPEN);
	CHECK_INT(room_eot_words("je voudrais savoir si", &names), ROOM_EOT_OPEN);
	CHECK_INT(room_eot_words("сколько сейчас времени в москве", &names), ROOM_EOT_WHOLE);
	CHECK_INT(room_eot_words("明日の天気を教えてください", &names), ROOM_EOT_WHOLE);
}

/* What was heard for the name, where only an address makes sense. */
TEST(rule_083_157_similar_words_call_in_every_language)
{
	struct room_names names = {0};

	room_names_add(&names, "Parley");
	CHECK_INT(room_address(&names, "Barley, was kostet die Fahrt nach Hause?"),
		  ROOM_ADDRESS_ADDRESSED);
	CHECK_INT(room_address(&names, "was kostet die Fahrt nach Hause, Barley?"),
		  ROOM_ADDRESS_ADDRESSED);
	CHECK_INT(room_address(&names, "hallo Barley wie geht es dir"), ROOM_ADDRESS_ADDRESSED);
	CHECK_INT(room_address(&names, "ich habe heute Barley gekauft"), ROOM_ADDRESS_NONE);
	CHECK_INT(room_address(&names, "Barley ist ein Getreide und wächst hier"),
		  ROOM_ADDRESS_NONE);
	CHECK_INT(room_address(&names, "Barley, comment tu ferais la sauce ?"),
		  ROOM_ADDRESS_ADDRESSED);
	CHECK_INT(room_address(&names, "on parle de la pluie, Barley"), ROOM_ADDRESS_NONE);
}

/* As one character or as a letter with its marks, in any order of these, and in any case. */
TEST(names_look_the_same_in_whatever_way_their_letters_are_written)
{
	static const char *const same[][2] = {
		{"José", "Jose\xcc\x81"},
		{"Ångström", "A\xcc\x8angstro\xcc\x88m"},
		{"Nguyễn Thế", "Nguye\xcc\x82\xcc\x83n The\xcc\x82\xcc\x81"},
		{"Søren Ǿ", "S\xc3\xb8ren \xc3\x98\xcc\x81"},
		{"Ζωή Άννα",
		 "\xce\x96\xcf\x89\xce\xb7\xcc\x81 \xce\x91\xcc\x81\xce\xbd\xce\xbd\xce\xb1"},
		{"Андрей Ёлкин", "\xd0\x90\xd0\xbd\xd0\xb4\xd1\x80\xd0\xb5\xd0\xb8\xcc\x86 "
				 "\xd0\x95\xcc\x88\xd0\xbb\xd0\xba\xd0\xb8\xd0\xbd"},
		{"Їжак", "\xd0\x86\xcc\x88\xd0\xb6\xd0\xb0\xd0\xba"},
		{"がぎぐぱぽゔ",
		 "\xe3\x81\x8b\xe3\x82\x99\xe3\x81\x8d\xe3\x82\x99\xe3\x81\x8f\xe3\x82\x99\xe3\x81"
		 "\xaf\xe3\x82\x9a\xe3\x81\xbb\xe3\x82\x9a\xe3\x81\x86\xe3\x82\x99"},
		{"ガギヴパヷ", "\xe3\x82\xab\xe3\x82\x99\xe3\x82\xad\xe3\x82\x99\xe3\x82\xa6\xe3"
			       "\x82\x99\xe3\x83\x8f\xe3\x82\x9a\xe3\x83\xaf\xe3\x82\x99"},
		{"한글 값", "\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab\xe1\x84\x80\xe1\x85\xb3\xe1\x86"
			    "\xaf \xe1\x84\x80\xe1\x85\xa1\xe1\x86\xb9"},
		{"Tệ", "Te\xcc\x82\xcc\xa3"},
		{"Ế", "ế"},
		{"ΆΝΝΑ", "άννα"},
		{"ΟΔΟΣ", "οδος"},
		{"Ғани", "ғани"},
		{"ԱՆԻ", "անի"},
		{"Ɔɛ", "ɔƐ"},
		{"ẞ", "ß"},
	};
	static const char *const other[][2] = {{"かな", "がな"}, {"はな", "ぱな"},
					       {"한", "핝"},	 {"Soren", "Søren"},
					       {"Ана", "Ива"},	 {"Αννα", "Ηννα"}};

	for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
		CHECK(room_script_same(same[i][0], same[i][1]));
		CHECK(room_script_same(same[i][1], same[i][0]));
	}
	for (size_t i = 0; i < sizeof other / sizeof other[0]; i++)
		CHECK(!room_script_same(other[i][0], other[i][1]));
}

TEST(names_that_look_the_same_are_the_same)
{
	static const char *const same[][2] = {
		{"Ana", " aNA"},
		{"\xc3\x84NNE", "\xc3\xa4nne"}, /* umlauts */
		{"Ana", "A\xe2\x80\x8bna"},	/* zero width space */
		{"Ana", "Ana\xe3\x85\xa4"},	/* hangul filler */
		{"Ana", "\xef\xbb\xbf"
			"Ana\xc2\xad"},		/* byte order mark, soft hyphen */
		{"Ana", "Ana\xf3\xa0\x80\xa0"}, /* tag space */
	};

	for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
		CHECK(room_script_same(same[i][0], same[i][1]));
	CHECK(!room_script_same("Ana", "Anna"));
	CHECK(!room_script_same("Ana", "Ana (2)"));
	CHECK(!room_script_same("", "a"));
}
