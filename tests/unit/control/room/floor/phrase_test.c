/* The judges of phrases: stop words, demands for the floor, backchannels, questions. */
#include "control/room/floor/phrase.h"

#include "control/room/floor/address.h"
#include "tests/test.h"

struct row {
	const char *language, *text, *over;
	bool asked;
};

static struct room_names parley(void)
{
	struct room_names names = {0};

	room_names_add(&names, "Parley");
	return names;
}

static struct room_saying said(const struct row *r, const struct room_names *names)
{
	return (struct room_saying){.text = r->text,
				    .over = r->over ? r->over : "",
				    .names = names,
				    .told = room_language_by_code(r->language),
				    .asked = r->asked};
}

/* Every row is this phrase, or none is. */
static void check_phrases(const struct row *rows, size_t n, enum room_phrase phrase, bool is)
{
	struct room_names names = parley();

	for (size_t i = 0; i < n; i++) {
		struct room_saying s = said(&rows[i], &names);

		if ((room_phrase_of(&s) == phrase) != is)
			test_fail(__FILE__, __LINE__, "%s \"%s\" is %d", rows[i].language,
				  rows[i].text, room_phrase_of(&s));
	}
}

#define CHECK_PHRASES(rows, phrase, is) check_phrases(rows, sizeof rows / sizeof *rows, phrase, is)

TEST(rule_152_stop_requests_of_several_words)
{
	static const struct row stops[] = {{"de", "hör auf zu reden", 0, false},
					   {"de", "hör bitte auf", 0, false},
					   {"de", "sei bitte still", 0, false},
					   {"es", "deja de hablar", 0, false},
					   {"ja", "喋るのやめて", 0, false},
					   {"zh", "停止說話", 0, false},
					   {"zh", "請停止", 0, false},
					   {"zh", "好了好了", 0, false},
					   {"zh", "别再说了", 0, false},
					   {"zh", "別再說了", 0, false},
					   {"ko", "그만 말해", 0, false},
					   {"ru", "всё, спасибо", 0, false},
					   {"en", "that will do", 0, false},
					   {"en", "all right, that will do", 0, false},
					   {"en", "can you please stop?", 0, false},
					   {"de", "jetzt hör doch bitte mal auf", 0, false},
					   {"en", "I said stop", 0, false}};

	CHECK_PHRASES(stops, ROOM_PHRASE_STOP, true);
}

/* Parts of the name are no part of the stop word behind it, nor the other way round. */
TEST(rule_152_157_the_name_leaves_the_stop_word_whole)
{
	static const struct row stops[] = {
		{"ja", "パーリー、やめて", 0, false}, {"ja", "パーリーやめて", 0, false},
		{"ja", "パーリー止めて", 0, false},   {"ja", "やめて、パーリー", 0, false},
		{"zh", "Parley别说了", 0, false},     {"ru", "Парли хватит", 0, false}};

	CHECK_PHRASES(stops, ROOM_PHRASE_STOP, true);
}

TEST(rule_152_negations_questions_and_answers_are_no_stop_requests)
{
	static const struct row none[] = {
		{"zh", "别停", 0, false},
		{"zh", "不要停下来", 0, false},
		{"zh", "行了吗", 0, false},
		{"zh", "够了吗", 0, false},
		{"zh", "别安静", 0, false},
		{"es", "no para", 0, false},
		{"es", "no es suficiente", 0, false},
		{"pt", "não para", 0, false},
		{"pl", "nie wystarczy", 0, false},
		{"en", "don't stop", 0, false},
		{"en", "stop?", 0, false},
		{"de", "ja, das reicht dann schon", 0, false},
		{"de", "also halt", 0, false},
		{"es", "para mañana", 0, false},
		{"es", "para ahora", "¿Para cuándo la", false},
		{"de", "ja ruhig", 0, false},
		{"fr", "oui c'est bon", 0, false},
		{"es", "para ahora", "¿Para cuándo la quieres? Puedo mirar.", false},
		{"fr", "c'est bon", "Vous voulez autre chose ?", true},
		{"ru", "не надо", "Рассказать ещё?", true},
		{"zh", "不用了", "还要别的吗？", true}};
	static const struct row stops[] = {{"es", "para ahora", "Había una vez un rey.", false},
					   {"es", "no, para", 0, false},
					   {"es", "para", "¿Para cuándo la quieres?", false},
					   {"de", "halt mal", 0, false},
					   {"zh", "停下好吗", 0, false},
					   {"zh", "可以停了吗", 0, false},
					   {"fr", "c'est bon", "Il était une fois un roi.", false},
					   {"ru", "не надо", "Жил-был король.", false},
					   {"en", "stop", "Shall I go on?", true}};

	struct room_saying s = {
		.text = "para", .over = stops[2].over, .told = ROOM_LANGUAGE_ES, .interim = true};

	CHECK_PHRASES(none, ROOM_PHRASE_STOP, false);
	CHECK_PHRASES(stops, ROOM_PHRASE_STOP, true);
	CHECK(room_phrase_of(&s) != ROOM_PHRASE_STOP);
}

TEST(rule_152_stop_requests_in_another_language_than_the_one_told)
{
	static const struct row stops[] = {{"ja", "stop", 0, false},
					   {"ko", "stop", 0, false},
					   {"ru", "stop", 0, false},
					   {"de", "shut up", 0, false},
					   {"pl", "Parley, shut up", 0, false},
					   {"en", "basta", 0, false},
					   {"nl", "hör auf", 0, false}};
	static const struct row none[] = {{"ja", "stop", "どれにしますか。", true},
					  {"de", "para", "Möchtest du noch etwas?", true},
					  {"en", "stop?", 0, false},
					  {"de", "stop sign", 0, false}};

	struct room_saying s = {.text = "para", .over = "", .told = ROOM_LANGUAGE_EN};

	CHECK_PHRASES(stops, ROOM_PHRASE_STOP, true);
	CHECK_PHRASES(none, ROOM_PHRASE_STOP, false);
	CHECK_INT(room_phrase_of(&s), ROOM_PHRASE_STOP);
	CHECK(!room_phrase_is_slight(&s));
}

TEST(rule_152_negated_stop_words_stop_no_work)
{
	static const struct row none[] = {{"zh", "别停", 0, false},
					  {"es", "no para la música", 0, false},
					  {"ru", "не останови поиск", 0, false},
					  {"en", "don't stop the search", 0, false},
					  {"en", "should I stop the search", 0, false},
					  {"es", "para ahora", "¿Para cuándo?", false},
					  {"de", "ich meine halt die Suche", 0, false},
					  {"zh", "行了吗", 0, false},
					  {"zh", "停车", 0, false},
					  {"ko", "안 됐어", 0, false},
					  {"ko", "잘 됐어", 0, false},
					  {"ru", "не хватит", 0, false},
					  {"es", "para dos", 0, false}};
	static const struct row work[] = {{"en", "please stop the search", 0, false},
					  {"de", "brich die Suche bitte ab, stopp", 0, false},
					  {"es", "para la búsqueda", 0, false}};
	struct room_names names = parley();

	for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
		struct room_saying s = said(&none[i], &names);

		if (room_phrase_stops_work(&s))
			test_fail(__FILE__, __LINE__, "\"%s\" stops work", none[i].text);
	}
	for (size_t i = 0; i < sizeof work / sizeof *work; i++) {
		struct room_saying s = said(&work[i], &names);

		if (!room_phrase_stops_work(&s))
			test_fail(__FILE__, __LINE__, "\"%s\" stops no work", work[i].text);
	}
}

TEST(rule_080_nouns_and_negations_ask_for_no_floor)
{
	static const struct row none[] = {{"ru", "хороший вопрос", 0, false},
					  {"en", "don't stop talking", 0, false},
					  {"ru", "не вопрос", 0, false},
					  {"pl", "dobre pytanie", 0, false},
					  {"es", "es una pregunta difícil", 0, false},
					  {"fr", "c'est une question de goût", 0, false},
					  {"it", "bella domanda", 0, false}};
	static const struct row takes[] = {{"ru", "у меня вопрос", 0, false},
					   {"pl", "mam pytanie", 0, false},
					   {"es", "tengo una pregunta", 0, false},
					   {"en", "no, stop talking about that", 0, false},
					   {"fr", "j'ai une question", 0, false}};

	CHECK_PHRASES(none, ROOM_PHRASE_TAKEOVER, false);
	CHECK_PHRASES(takes, ROOM_PHRASE_TAKEOVER, true);
}

TEST(rule_153_news_beside_an_assent_is_no_backchannel)
{
	static const struct row none[] = {
		{"en", "yeah my wallet got stolen yesterday", 0, false},
		{"de", "gut zwei Karten für morgen", 0, false},
		{"es", "vale dos entradas para mañana", 0, false},
		{"en", "okay Munich", "The train to Berlin leaves at seven.", false},
		{"en", "oh Munich", 0, false},
		{"en", "okay in the kitchen", 0, false},
		{"en", "yeah tomorrow evening", 0, false},
		{"fr", "d'accord réserve deux places", 0, false},
		{"es", "vale, para mañana", 0, false},
		{"en", "okay then salmon", 0, false},
		{"de", "gut, die Karten", 0, false},
		{"en", "good, and tomorrow", 0, false},
		{"de", "genau, und der Preis", 0, false},
		{"es", "genial, ahora Francia", 0, false},
		{"it", "più forte", 0, false},
		{"pl", "za drogo", 0, false},
		{"zh", "别停下来啊", 0, false}};
	static const struct row assent[] = {
		{"en", "yeah I know", 0, false},
		{"en", "oh wow at nine", "The train leaves at nine.", false},
		{"en", "oh flabbergasting", 0, false},
		{"en", "oh wow flabbergasting", 0, false},
		{"en", "you learn something new every day", 0, false},
		{"ko", "독특하군요", 0, false},
		{"en", "quite early", 0, false},
		{"en", "cheaper than I thought", 0, false},
		{"it", "buffissimo", 0, false},
		{"de", "ah okay, das erklärt so manches", 0, false},
		{"en", "what a contraption", 0, false},
		{"de", "ja genau", 0, false},
		{"ru", "хороший вопрос", 0, false},
		{"de", "ach was, nicht dein Ernst", 0, false},
		{"fr", "mais non", 0, false},
		{"es", "qué va", 0, false},
		{"es", "no manches", 0, false},
		{"ru", "прикольно", 0, false},
		{"ja", "嘘でしょ", 0, false},
		{"ja", "間違いない", 0, false},
		{"zh", "怎么可能", 0, false},
		{"zh", "沒關係", 0, false}};

	CHECK_PHRASES(none, ROOM_PHRASE_BACKCHANNEL, false);
	CHECK_PHRASES(assent, ROOM_PHRASE_BACKCHANNEL, true);
}

TEST(rule_152_closings_and_rude_words_are_stop_requests)
{
	static const struct row stops[] = {
		{"en", "that's all thanks", 0, false},
		{"en", "okay that's all, bye", 0, false},
		{"de", "okay danke, das war's", 0, false},
		{"es", "gracias eso es todo", 0, false},
		{"fr", "merci c'est tout", 0, false},
		{"it", "grazie è tutto", 0, false},
		{"nl", "dank je dat was het", 0, false},
		{"pl", "dzięki to wszystko", 0, false},
		{"pt", "obrigado é só isso", 0, false},
		{"ru", "спасибо, это всё", 0, false},
		{"zh", "谢谢，就这样吧", 0, false},
		{"ja", "以上です、ありがとう", 0, false},
		{"ko", "이상입니다 감사합니다", 0, false},
		{"de", "halt die Fresse", 0, false},
		{"de", "sei doch mal leise", 0, false},
		{"fr", "ta gueule", 0, false},
		{"nl", "houd je mond", 0, false},
		{"es", "párale", 0, false},
		{"pl", "cicho bądź", 0, false},
		{"pt", "fica quieto", 0, false},
		{"ru", "ну хорош", 0, false},
		{"ko", "시끄러워", 0, false},
		{"zh", "吵死了", 0, false},
		{"en", "shut the fuck up", 0, false},
	};
	static const struct row declines[] = {{"en", "that's all thanks", 0, true},
					      {"de", "danke, das war's", 0, true}};

	CHECK_PHRASES(stops, ROOM_PHRASE_STOP, true);
	CHECK_PHRASES(declines, ROOM_PHRASE_STOP, false);
}

TEST(rule_153_orders_and_alarms_behind_an_assent_are_no_backchannels)
{
	static const struct row none[] = {
		{"en", "sure book it", 0, false},
		{"en", "yeah send it", 0, false},
		{"de", "ja bestell das", 0, false},
		{"es", "vale resérvalo", 0, false},
		{"fr", "d'accord envoie-le", 0, false},
		{"it", "ok prenotalo", 0, false},
		{"nl", "ja boek maar", 0, false},
		{"pl", "tak wyślij", 0, false},
		{"pt", "tá envia", 0, false},
		{"ru", "да отправь", 0, false},
		{"ja", "うん送って", 0, false},
		{"ko", "응 보내 줘", 0, false},
		{"zh", "好订吧", 0, false},
		{"en", "oh my god the kitchen is burning", 0, false},
		{"de", "oh Gott es brennt", 0, false},
		{"ru", "ой пожар", 0, false},
		{"zh", "天哪着火了", 0, false},
		{"pl", "o Boże pali się", 0, false},
		{"en", "oh fire", 0, false},
		{"en", "oh twelve", 0, false},
		{"en", "ah blue", 0, false},
		{"en", "oh louder", 0, false},
	};
	static const struct row praise[] = {{"en", "oh marvellous", 0, false}};

	CHECK_PHRASES(none, ROOM_PHRASE_BACKCHANNEL, false);
	CHECK_PHRASES(praise, ROOM_PHRASE_BACKCHANNEL, true);
}

TEST(rule_153_requests_to_repeat_are_no_backchannels)
{
	static const struct row none[] = {
		{"pl", "słucham?", 0, false}, {"ja", "はい？", 0, false}, {"ko", "네?", 0, false},
		{"ko", "뭐?", 0, false},      {"zh", "等等", 0, false},
	};
	static const struct row surprise[] = {{"en", "really?", 0, false},
					      {"ja", "本当？", 0, false},
					      {"ja", "はい", 0, false},
					      {"ko", "네", 0, false},
					      {"pl", "słucham", 0, false}};

	CHECK_PHRASES(none, ROOM_PHRASE_BACKCHANNEL, false);
	CHECK_PHRASES(surprise, ROOM_PHRASE_BACKCHANNEL, true);
}

TEST(rule_153_words_of_kana_in_no_list_are_no_sounds)
{
	static const struct row words[] = {
		{"ja", "ラーメン", 0, false}, {"ja", "タイマー", 0, false},
		{"ja", "ピザ", 0, false},     {"ja", "りんご", 0, false},
		{"ja", "みかん", 0, false},   {"ja", "ロンドン", 0, false},
		{"ja", "遅い", 0, false},     {"ja", "声が小さい", 0, false},
		{"ja", "まちがい", 0, false}, {"zh", "是上海啊", 0, false},
		{"zh", "声音小啊", 0, false},
	};
	static const struct row sounds[] = {
		{"ja", "あっ", 0, false},	{"ja", "ふふ", 0, false},
		{"ja", "うーん", 0, false},	{"ja", "えっと", 0, false},
		{"ja", "ゴホッ", 0, false},	{"ja", "ハクション", 0, false},
		{"ja", "ええと、あ", 0, false}, {"zh", "嗯啊", 0, false},
	};

	CHECK_PHRASES(words, ROOM_PHRASE_BACKCHANNEL, false);
	CHECK_PHRASES(sounds, ROOM_PHRASE_BACKCHANNEL, true);
}

TEST(rule_153_short_questions_that_begin_as_exclamations)
{
	static const struct row asks[] = {
		{"fr", "quelle ville", "la tour est au milieu de la ville", false},
		{"fr", "quel pays", 0, false},
		{"fr", "quelle heure", 0, false},
		{"fr", "c'est pas vrai du tout", 0, false},
		{"de", "was für ein Tier", 0, false},
		{"de", "was für eine Sprache", 0, false},
		{"ru", "чего", 0, false},
		{"ru", "ты меня не понял", 0, false},
		{"ru", "не об этом", 0, false},
	};
	static const struct row praise[] = {
		{"fr", "quelle horreur", 0, false},
		{"fr", "c'est pas vrai", 0, false},
		{"de", "was für ein Zufall", 0, false},
	};

	CHECK_PHRASES(asks, ROOM_PHRASE_WORDS, true);
	CHECK_PHRASES(praise, ROOM_PHRASE_BACKCHANNEL, true);
}

TEST(rule_153_questions_of_soft_words_are_no_backchannels)
{
	static const struct row asks[] = {{"en", "are you sure", 0, false},
					  {"en", "is it good", 0, false},
					  {"en", "was it true", 0, false},
					  {"pt", "tem certeza", 0, false}};
	static const struct row soft[] = {{"en", "is that right", 0, false},
					  {"en", "really, is it", 0, false},
					  {"en", "how funny", 0, false},
					  {"pl", "słucham", 0, false},
					  {"fr", "si vieille que ça", 0, false}};
	static const struct row whom[] = {{"fr", "par qui", 0, false},
					  {"es", "por quién", 0, false},
					  {"pt", "por quem", 0, false}};
	struct room_names names = parley();

	CHECK_PHRASES(asks, ROOM_PHRASE_WORDS, true);
	CHECK_PHRASES(soft, ROOM_PHRASE_BACKCHANNEL, true);
	for (size_t i = 0; i < sizeof whom / sizeof *whom; i++) {
		struct room_saying s = said(&whom[i], &names);

		if (room_phrase_is_slight(&s))
			test_fail(__FILE__, __LINE__, "\"%s\" is slight", whom[i].text);
	}
}

TEST(rule_153_an_interim_transcript_may_become_an_assent)
{
	static const struct row may[] = {{"es", "anda, no me", 0, false},
					 {"es", "no me dig", 0, false},
					 {"ru", "кто бы", 0, false},
					 {"en", "oh who would", 0, false},
					 {"zh", "这我还真不", 0, false}};
	static const struct row not [] = {{"es", "quiero no me", 0, false},
					  {"en", "who won", 0, false},
					  {"en", "no, wait, who would", 0, false},
					  {"ru", "кто бы мне", 0, false}};

	for (size_t i = 0; i < sizeof may / sizeof *may; i++) {
		struct room_saying s = said(&may[i], NULL);

		CHECK(room_phrase_of(&s) != ROOM_PHRASE_BACKCHANNEL);
		s.interim = true;
		CHECK_INT(room_phrase_of(&s), ROOM_PHRASE_BACKCHANNEL);
	}
	for (size_t i = 0; i < sizeof not / sizeof *not ; i++) {
		struct room_saying s = said(&not [i], NULL);

		s.interim = true;
		if (room_phrase_of(&s) == ROOM_PHRASE_BACKCHANNEL)
			test_fail(__FILE__, __LINE__, "%s", not [i].text);
	}
}

TEST(rule_154_a_language_without_lists_borrows_none)
{
	struct room_saying s = {.text = "ja det er rigtigt", .told = room_language_told("da")};

	CHECK_INT(room_phrase_language(&s), ROOM_LANGUAGE_UNKNOWN);
	CHECK_INT(room_phrase_of(&s), ROOM_PHRASE_FEW);
	s.told = ROOM_LANGUAGE_UNKNOWN;
	s.language = room_language_told("da");
	CHECK_INT(room_phrase_language(&s), ROOM_LANGUAGE_UNKNOWN);
	s.text = "mhm";
	CHECK_INT(room_phrase_of(&s), ROOM_PHRASE_BACKCHANNEL);
	CHECK_INT(room_language_told("en-GB"), ROOM_LANGUAGE_EN);
	CHECK_INT(room_language_told("yue"), ROOM_LANGUAGE_ZH);
	CHECK_INT(room_language_told(""), ROOM_LANGUAGE_UNKNOWN);
}

/* Letters that are in no list can be an answer, and are a sound otherwise. */
TEST(rule_153_short_words_answer_a_question)
{
	static const char *const words[] = {"ox", "pi", "uk", "css"};
	static const char *const sounds[] = {"mm", "uh huh", "hmm"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		CHECK(room_phrase_is_nonverbal(
			&(struct room_saying){.text = words[i], .told = ROOM_LANGUAGE_EN}));
		CHECK(!room_phrase_is_nonverbal(&(struct room_saying){
			.text = words[i], .told = ROOM_LANGUAGE_EN, .asked = true}));
	}
	for (size_t i = 0; i < sizeof sounds / sizeof *sounds; i++)
		CHECK(room_phrase_is_nonverbal(&(struct room_saying){
			.text = sounds[i], .told = ROOM_LANGUAGE_EN, .asked = true}));
}

TEST(rule_153_the_last_sentence_tells_that_the_bot_asks)
{
	static const char *const asks[] = {"That is a long story. Do you want to hear it?",
					   "¿Para cuándo la quieres?",
					   "もっと聞きますか。",
					   "还要听吗？",
					   "Really? \"Shall I go on?\"",
					   "Soll ich weitererzählen? "};
	static const char *const tells[] = {
		"Once upon a time there was a king, who lived in a castle.",
		"What a day that was. It rained.",
		"Do you know him? He lives here.",
		"Él tenía un castillo, que era grande.",
		"他有什么就给大家什么，住在森林里。",
		"когда он пришёл, все спали.",
		""};

	for (size_t i = 0; i < sizeof asks / sizeof *asks; i++)
		if (!room_phrase_asks(asks[i]))
			test_fail(__FILE__, __LINE__, "\"%s\" asks", asks[i]);
	for (size_t i = 0; i < sizeof tells / sizeof *tells; i++)
		if (room_phrase_asks(tells[i]))
			test_fail(__FILE__, __LINE__, "\"%s\" does not ask", tells[i]);
}
