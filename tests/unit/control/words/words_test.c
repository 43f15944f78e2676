/* Every sentence: how it reads, and what is made of what comes from outside. */
#include "control/words/words.h"

#include "control/room/base/reasons.def"
#include "control/room/language/language.h"
#include "control/text/event.h"
#include "control/words/translations.def"
#include "control/words/translations_commands.def"
#include "control/words/translations_faults.def"
#include "control/words/translations_jukebox.def"
#include "control/words/translations_music.def"
#include "control/words/translations_privacy.def"
#include "control/words/translations_screens.def"
#include "control/words/translations_reasons.def"
#include "control/words/translations_status.def"
#include "control/words/translations_surface.def"
#include "control/words/translations_text.def"
#include "mediad/music/decoder_wire.h"
#include "proto/media.h"
#include "tests/test.h"

static const struct {
	const char *name, *text;
	bool terminal;
} all[] = {
#define W0(n, text)		      {#n, text, 0},
#define W1(n, A, a, text)	      {#n, text, #A[0] == 'T'},
#define W2(n, A, a, B, b, text)	      {#n, text, #A[0] == 'T'},
#define W3(n, A, a, B, b, C, c, text) {#n, text, #A[0] == 'T'},
	WORDS(W0, W1, W2, W3)
#undef W0
#undef W1
#undef W2
#undef W3
#define X(NAME, text) {"voice " #NAME, text, 0},
		VOICE_REASONS(X) WORDS_MEDIA(X) WORDS_ENDS(X)
#undef X
#define X(NAME, name, wait, again, begins, over)                                                   \
	{#NAME, begins, 0}, {#NAME " over", over, 0}, {#NAME " name", name, 0},
			WORDS_FAULTS(X)
#undef X
#define X(NAME, text) {"part " #NAME, text, 0},
				VOICE_STATES(X) WORDS_PHASES(X) WORDS_HEALS(X) WORDS_LINKS(X)
					WORDS_UNHEARD(X)
#undef X
};
enum { N_ALL = sizeof all / sizeof all[0] };

/* What only its makers understand. UDP is named where somebody has to open it. */
static const char *const jargon[] = {"gateway", "opcode",   "packet",  "socket",     "DAVE",
				     "MLS",	"RTP",	    "epoch",   "playback",   "mediad",
				     "invalid", "rejected", "please,", "!",	     "  ",
				     "sorry",	"oops",	    "simply",  "just now be"};

TEST(words_read_well)
{
	for (unsigned i = 0; i < N_ALL; i++) {
		const char *t = all[i].text;
		size_t n = strlen(t);

		for (size_t k = 0; k < sizeof jargon / sizeof jargon[0]; k++)
			if (strstr(t, jargon[k]) && !strstr(t, "--spawn-mediad")) {
				test_fail(__FILE__, __LINE__, "%s says \"%s\"", all[i].name,
					  jargon[k]);
				return;
			}
		if (n > 300 || (n && strchr(" \n", t[n - 1]))) {
			test_fail(__FILE__, __LINE__, "%s is too long or ends in a blank",
				  all[i].name);
			return;
		}
	}
}

TEST(words_reasons_and_faults_are_sentences)
{
	struct words w;

	for (int r = VOICE_REASON_NONE + 1; r <= VOICE_REASON_SERVER_DEAFENED; r++) {
		w = (struct words){0};
		words_voice(&w, (enum voice_reason)r, 0);
		CHECK(w.n > 10 && w.text[w.n - 1] == '.');
	}
	for (int f = 0; f < FAULT_COUNT; f++) {
		w = (struct words){0};
		words_fault(&w, (enum fault)f, false);
		CHECK(!w.n || (w.n > 10 && w.text[w.n - 1] == '.'));
		CHECK(*words_fault_name((enum fault)f));
	}
	w = (struct words){0};
	words_voice(&w, VOICE_REASON_NONE, MEDIA_REASON_UDP_BLOCKED);
	CHECK_STR(w.text, "");
	words_voice(&w, VOICE_REASON_MEDIA, MEDIA_REASON_UDP_BLOCKED);
	CHECK(strstr(w.text, "UDP is blocked"));
	w = (struct words){0};
	words_voice(&w, VOICE_REASON_SERVER_MUTED, MEDIA_REASON_UDP_BLOCKED);
	CHECK(strstr(w.text, "muted") && !strstr(w.text, "UDP"));
	w = (struct words){0};
	words_voice(&w, VOICE_REASON_REFUSED, 9999);
	CHECK(strstr(w.text, "did not let me in"));
}

TEST(words_of_ends_are_for_ends_there_are)
{
	static const char *const ends[] = {
#define X(NAME, name, text) #name,
		ROOM_ENDS(X)
#undef X
	};
	unsigned told = 0;

	for (unsigned i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		struct words w = {0};

		words_end(&w, ends[i]);
		told += w.n > 0;
		CHECK(!w.n || strstr(w.text, "so I leave") || strstr(w.text, "I was disconnected"));
	}
#define X(name, text) +1
	CHECK_INT(told, 0 WORDS_ENDS(X));
#undef X
}

TEST(words_states_have_texts)
{
	CHECK_STR(words_voice_state(VOICE_IN), "joined");
	CHECK_STR(words_voice_state((enum voice_state)99), "?");
	CHECK_STR(words_link(WORDS_LINK_UP), "connected");
	CHECK_STR(words_link(WORDS_LINK_SILENT), "not answering");
	CHECK_STR(words_unheard(UNHEARD_BOT), "a bot");
#define X(NAME, name, number, text)                                                                \
	CHECK(words_phase(MEDIA_PHASE_##NAME) && *words_phase(MEDIA_PHASE_##NAME) != '?');
	MEDIA_PHASES(X)
#undef X
#define X(NAME, name, number, text)                                                                \
	CHECK(words_heal(MEDIA_HEAL_##NAME) && *words_heal(MEDIA_HEAL_##NAME) != '?');
	MEDIA_HEALS(X)
#undef X
}

TEST(words_follow_one_another)
{
	struct words w = {0}, list = {0};

	words_line(&w);
	words_joined(&w, 7);
	words_joined_alone(&w);
	words_line(&w);
	words_left(&w);
	CHECK_STR(w.text, "I am in <#7>. Nobody else is here yet.\nI left.");
	words_comma(&list);
	words_status_name(&list, "Alice");
	words_comma(&list);
	words_status_more(&list, 3);
	CHECK_STR(list.text, "Alice, 3 more");
}

TEST(words_from_outside_are_no_markup)
{
	struct words w = {0};
	char name[600];

	words_status_name(&w, "[gift](http://evil) **x** <@1> @everyone\n# `a`\\");
	CHECK(!strchr(w.text, '\n'));
	for (const char *p = w.text; *p; p++)
		if (*p != '\\' && strchr("[](<>@#*`)", *p))
			CHECK(p > w.text && p[-1] == '\\');
	/* A terminal shows it as it is, but for what would move its cursor. */
	w = (struct words){0};
	words_discord_refused(&w, "a_b\033[2J", 4004);
	CHECK_STR(w.text, "Discord refused the connection: a_b [2J (close code 4004).");
	/* Cut, and at a character. */
	memset(name, 0, sizeof name);
	for (unsigned i = 0; i + 2 < sizeof name; i += 2)
		memcpy(name + i, "é", 2);
	w = (struct words){0};
	words_status_name(&w, name);
	CHECK(w.n > 20 && w.n < 200 && w.n % 2 == 0);
}

TEST(words_that_do_not_fit_are_left_out_whole)
{
	struct words w = {0};
	size_t n = 0;

	for (unsigned i = 0; i < 100; i++) {
		n = w.full ? n : w.n;
		words_which_channel(&w);
	}
	CHECK(w.full && w.n <= WORDS_MAX && strlen(w.text) == w.n);
	CHECK(w.n > WORDS_MAX - 100);
	CHECK(w.text[w.n - 1] == '.');
	words_left(&w); /* a short one would fit, but out of its order */
	words_line(&w);
	CHECK(strlen(w.text) == w.n && w.text[w.n - 1] == '.');
	CHECK(!strstr(w.text, "I left"));
}

#define ROW(...) {__VA_ARGS__},
static const char *const translations[][ROOM_LANGUAGE_COUNT - 1] = {
	WORDS_TRANSLATIONS(ROW) WORDS_TRANSLATIONS_COMMANDS(ROW) WORDS_TRANSLATIONS_FAULTS(ROW)
		WORDS_TRANSLATIONS_STATUS(ROW) WORDS_TRANSLATIONS_PRIVACY(ROW)
			WORDS_TRANSLATIONS_SCREENS(ROW) WORDS_TRANSLATIONS_MUSIC(ROW)
				WORDS_TRANSLATIONS_JUKEBOX(ROW) WORDS_TRANSLATIONS_SURFACE(ROW)
					WORDS_TRANSLATIONS_REASONS(ROW)
						WORDS_TRANSLATIONS_TEXT(ROW)};
#undef ROW
#define ROW(...) +1
enum {
	TRANSLATIONS = sizeof translations / sizeof translations[0],
	/* Those are clauses of others, which tests/check/words.sh compares. */
	SENTENCES = TRANSLATIONS - (0 WORDS_TRANSLATIONS_REASONS(ROW) WORDS_TRANSLATIONS_TEXT(ROW))
};
#undef ROW

static const char *const *find_translation(const char *text)
{
	for (unsigned i = 0; i < TRANSLATIONS; i++)
		if (strcmp(translations[i][0], text) == 0)
			return translations[i];
	return NULL;
}

/* The conversions of a text, in their order. */
static void list_conversions(const char *text, char *to, size_t size)
{
	size_t n = 0;

	for (const char *p = strchr(text, '%'); p && n + 8 < size; p = strchr(p + 1, '%')) {
		size_t k = strspn(p + 1, "0123456789.l") + 2;

		memcpy(to + n, p, k);
		n += k;
	}
	to[n] = '\0';
}

TEST(translations_are_in_the_languages_of_the_lists)
{
#define X(code) #code,
	static const char *const codes[] = {WORDS_LANGUAGES(X)};
#undef X

	CHECK_INT(sizeof codes / sizeof codes[0], ROOM_LANGUAGE_COUNT - 1);
	for (int i = ROOM_LANGUAGE_EN; i < ROOM_LANGUAGE_COUNT; i++)
		CHECK_STR(codes[i - ROOM_LANGUAGE_EN], room_language_code((enum room_language)i));
}

TEST(translations_have_every_language_and_the_same_conversions)
{
	char english[64], other[64];

	for (unsigned i = 0; i < TRANSLATIONS; i++) {
		bool known = i >= SENTENCES;

		for (unsigned k = 0; k < N_ALL; k++)
			known = known || strcmp(all[k].text, translations[i][0]) == 0;
		if (!known)
			test_fail(__FILE__, __LINE__, "no such sentence: %s", translations[i][0]);
		list_conversions(translations[i][0], english, sizeof english);
		for (unsigned l = 1; l < ROOM_LANGUAGE_COUNT - 1; l++) {
			const char *text = translations[i][l];

			if (!text || !*text || strcmp(text, translations[i][0]) == 0) {
				test_fail(__FILE__, __LINE__, "%s: no text in language %u",
					  translations[i][0], l);
				return;
			}
			list_conversions(text, other, sizeof other);
			CHECK_STR(other, english);
		}
	}
}

/* Whether every group of forms has as many as the language has, and stands behind a number. */
static bool forms_fit(const char *text, unsigned language)
{
	static const char *const three[] = {"pl", "ru"}, *const none[] = {"ja", "ko", "zh"};
	const char *code = room_language_code((enum room_language)(ROOM_LANGUAGE_EN + language));
	unsigned forms = 2;

	for (unsigned i = 0; i < 3; i++) {
		if (i < 2 && strcmp(code, three[i]) == 0)
			forms = 3;
		if (strcmp(code, none[i]) == 0)
			forms = 0;
	}
	for (const char *p = strchr(text, '{'); p; p = strchr(p + 1, '{')) {
		unsigned n = 1;

		for (const char *q = p; *q && *q != '}'; q++)
			n += *q == '|';
		if (n != forms || !strchr(p, '}') || !memchr(text, '%', (size_t)(p - text)))
			return false;
	}
	return true;
}

TEST(nouns_beside_numbers_have_the_forms_of_their_language)
{
	struct words w = {0};

	for (unsigned i = 0; i < N_ALL; i++) {
		CHECK(forms_fit(all[i].text, 0));
		/* Their forms are chosen by the language of the reader. */
		if (strchr(all[i].text, '{') && !find_translation(all[i].text))
			test_fail(__FILE__, __LINE__, "no translation of %s", all[i].text);
	}
	for (unsigned i = 0; i < TRANSLATIONS; i++)
		for (unsigned l = 0; l < ROOM_LANGUAGE_COUNT - 1; l++)
			if (!forms_fit(translations[i][l], l))
				test_fail(__FILE__, __LINE__, "forms of %s", translations[i][l]);
	words_erased_with_traces(&w, 1, 2);
	CHECK_STR(w.text, "1 row erased, but a search of the files found 2 traces: please report "
			  "this to whoever runs me.");
	w = (struct words){0};
	words_speak(&w, "ru");
	words_erased(&w, 5);
	CHECK_STR(w.text, "Удалено: 5 строк; поиск по файлам не нашёл следов.");
}

TEST(a_number_has_its_noun_in_every_language)
{
	static const struct {
		const char *language;
		unsigned hours;
		const char *text;
	} rows[] = {
		{"en", 1, "The sound of their voices, too, for 1 hour."},
		{"en", 24, "The sound of their voices, too, for 24 hours."},
		{"de", 1, "Auch den Klang ihrer Stimmen, 1 Stunde lang."},
		{"de", 2, "Auch den Klang ihrer Stimmen, 2 Stunden lang."},
		{"pl", 1, "Także dźwięk ich głosów, przez 1 godzinę."},
		{"pl", 2, "Także dźwięk ich głosów, przez 2 godziny."},
		{"pl", 12, "Także dźwięk ich głosów, przez 12 godzin."},
		{"pl", 21, "Także dźwięk ich głosów, przez 21 godzin."},
		{"ja", 1, "声の音も1時間保存します。"},
	};
	struct words w;

	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		w = (struct words){0};
		words_speak(&w, rows[i].language);
		words_privacy_sound(&w, rows[i].hours);
		CHECK_STR(w.text, rows[i].text);
	}
	w = (struct words){0};
	words_speak(&w, "ru");
	words_privacy_always(&w, 21);
	CHECK(strstr(w.text, "21 день;"));
	w = (struct words){0};
	words_speak(&w, "ru");
	words_privacy_always(&w, 11);
	CHECK(strstr(w.text, "11 дней;"));
	w = (struct words){0};
	words_speak(&w, "fr");
	words_status_answers(&w, 0, 0);
	CHECK_STR(w.text, "**Réponses :** 0 sur 0 tour de parole.");
}

static void check_translated(const char *text)
{
	if (*text && !find_translation(text))
		test_fail(__FILE__, __LINE__, "no translation: %s", text);
}

TEST(states_reasons_faults_and_ends_are_translated)
{
#define X(name, text) check_translated(text);
	WORDS_ENDS(X)
	VOICE_REASONS(X)
	VOICE_STATES(X)
	WORDS_PHASES(X)
	WORDS_HEALS(X)
	WORDS_LINKS(X)
	WORDS_UNHEARD(X)
#undef X
#define X(NAME, name, wait, again, begins, over)                                                   \
	check_translated(name);                                                                    \
	check_translated(begins);                                                                  \
	check_translated(over);
	WORDS_FAULTS(X)
#undef X
}

TEST(reasons_of_music_that_cannot_be_played_are_translated)
{
	struct words w = {0};

#define R(code, name, text)                                                                        \
	if (DECODER_REASON_##code != DECODER_REASON_END &&                                         \
	    DECODER_REASON_##code != DECODER_REASON_CLOSED)                                        \
		check_translated(text);
	DECODER_REASONS(R)
#undef R
	words_speak(&w, "de");
	words_music_failed(&w, "Africa", "there is no such file");
	CHECK_STR(w.text, "Ich kann Africa nicht abspielen: es gibt keine solche Datei.");
	w = (struct words){0};
	words_speak(&w, "fr");
	words_music_not_found(&w, "it is private");
	CHECK(strstr(w.text, "c'est privé"));
}

TEST(reasons_of_messages_that_are_not_answered_are_translated)
{
	for (int r = TEXT_REASON_SKIPPED; r < TEXT_REASON_COUNT; r++)
		check_translated(text_reason_text((enum text_reason)r));
	for (int a = 0; a < TEXT_ADMISSION_COUNT; a++)
		if (!text_admission_admits((enum text_admission)a))
			check_translated(text_admission_text((enum text_admission)a));
#define TEXT_(NAME, ...) check_translated(text_signal_text(TEXT_SIGNAL_##NAME));
	TEXT_SIGNALS(TEXT_)
#undef TEXT_
#define TEXT_(NAME, ...) check_translated(text_attention_text(TEXT_ATTENTION_##NAME));
	TEXT_ATTENTIONS(TEXT_)
#undef TEXT_
#define TEXT_(NAME, ...) check_translated(text_reason_help(TEXT_REASON_##NAME));
	TEXT_HELPS(TEXT_)
#undef TEXT_
#define TEXT_(NAME, ...) check_translated(text_hold_text(TEXT_HOLD_##NAME));
	TEXT_HOLDS(TEXT_)
#undef TEXT_
}

TEST(a_part_of_a_sentence_speaks_the_language_of_the_sentence)
{
	struct words w = {0};

	words_speak(&w, "de");
	words_status_not_up(&w, 7, words_voice_state(VOICE_RETRYING));
	CHECK_STR(w.text, "**Anruf:** steht nicht in <#7>; versucht es erneut.");
	w = (struct words){0};
	words_speak(&w, "pt-BR");
	words_voice(&w, VOICE_REASON_CHANNEL_FULL, 0);
	CHECK_STR(w.text, "Esse canal está cheio. Peça de novo quando alguém sair.");
}

TEST(sentences_follow_the_language_of_the_room)
{
	struct words w = {0};

	words_speak(&w, "de-AT");
	words_leaves_soon(&w, 30);
	CHECK_STR(w.text, "Meine Zeit hier ist gleich um: Ich gehe in 30 Sekunden.");
	w = (struct words){0};
	words_speak(&w, "fr");
	words_end(&w, "bot_disconnected");
	CHECK_STR(w.text, "J'ai été déconnecté de l'appel. /join me fait revenir.");
	/* A language that is not there, and a sentence that is in none. */
	w = (struct words){0};
	words_speak(&w, "sv");
	words_leaves_soon(&w, 30);
	CHECK_STR(w.text, "I have been here as long as I may: I leave in 30 seconds.");
	w = (struct words){0};
	words_speak(&w, "ja");
	words_costs_none(&w);
	CHECK_STR(w.text, "Nothing was spent in that time.");
}
