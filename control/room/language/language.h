/* Knowledge of languages for the rules: one file of word lists for each (en.def and its
 * neighbours), a guess of the language of an utterance, and utterances cut into known entries.
 *
 * A list holds entries of one or more words, parted by semicolons. Texts and entries are compared
 * in the same form: lower case, without punctuation and apostrophes, ё as е. Where a script has no
 * blanks (Japanese, Chinese) every character is a word, so that an entry is found inside. An entry
 * that begins with ~ is the end of words that are in no list ("~네요", "~issimo"), and
 * "{so|very} {early|late}" is four entries.
 *
 * Classes of entries (ROOM_WORD_CLASSES), by what the rules use them for:
 *   STOP, STOP_AROUND   alone, with what may stand around them, they ask the bot to be quiet
 *   ENOUGH              STOP entries that decline an offer if the bot has asked ("that's enough")
 *   TAKEOVER            asks for the floor anywhere in an utterance
 *   ASSENT, FILLER,     backchannels with praise and continuers; sounds and hesitation; words that
 *   GLUE                may stand beside these without a weight of their own; an ASSENT that is a
 *                       LINK too takes the word behind it along ("what a story")
 *   COUNTER             negation, contrast, apology, "I meant", alarm: not a backchannel
 *   QUESTION, REQUEST,  beginnings of questions and requests; MODAL before SUBJECT is one; WISH
 *   MODAL, SUBJECT,     begins with "I want"
 *   WISH
 *   CALL, LEAD          before a name: they call its bearer; they open a sentence
 *   THIRD, ABOUT        after a name, before a name: somebody speaks of its bearer
 *   KIN, PERSON         terms of address for people; words of the first and second person
 *   OPEN_END, LINK,     end-of-turn cues (turn/eot.h)
 *   LAST
 *   ORDINAL_1 to 5 and LAST, MUSIC_*   choices and commands
 *
 * The index of all entries is made once from these constant lists and never changes afterwards.
 * Nothing here allocates. For control/room only. */
#ifndef CONTROL_ROOM_LANGUAGE_LANGUAGE_H
#define CONTROL_ROOM_LANGUAGE_LANGUAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROOM_LANGUAGES(L)                                                                          \
	L(EN, en)                                                                                  \
	L(DE, de)                                                                                  \
	L(ES, es)                                                                                  \
	L(FR, fr)                                                                                  \
	L(IT, it)                                                                                  \
	L(NL, nl)                                                                                  \
	L(PL, pl)                                                                                  \
	L(PT, pt)                                                                                  \
	L(RU, ru)                                                                                  \
	L(JA, ja)                                                                                  \
	L(KO, ko)                                                                                  \
	L(ZH, zh)
enum room_language {
	ROOM_LANGUAGE_UNKNOWN,
#define X(NAME, code) ROOM_LANGUAGE_##NAME,
	ROOM_LANGUAGES(X)
#undef X
		ROOM_LANGUAGE_COUNT,
	/* Told by a code, without lists: for room_language_told() and its callers alone. */
	ROOM_LANGUAGE_UNLISTED = ROOM_LANGUAGE_COUNT
};

#define ROOM_WORD_CLASSES(C)                                                                       \
	C(STOP)                                                                                    \
	C(STOP_AROUND)                                                                             \
	C(TAKEOVER)                                                                                \
	C(ASSENT)                                                                                  \
	C(FILLER)                                                                                  \
	C(GLUE)                                                                                    \
	C(COUNTER)                                                                                 \
	C(QUESTION)                                                                                \
	C(REQUEST)                                                                                 \
	C(MODAL)                                                                                   \
	C(SUBJECT)                                                                                 \
	C(WISH)                                                                                    \
	C(CALL)                                                                                    \
	C(LEAD)                                                                                    \
	C(THIRD)                                                                                   \
	C(ABOUT)                                                                                   \
	C(KIN)                                                                                     \
	C(PERSON)                                                                                  \
	C(OPEN_END)                                                                                \
	C(LINK)                                                                                    \
	C(LAST)                                                                                    \
	C(ORDINAL_LAST)                                                                            \
	C(ORDINAL_1)                                                                               \
	C(ORDINAL_2)                                                                               \
	C(ORDINAL_3)                                                                               \
	C(ORDINAL_4)                                                                               \
	C(ORDINAL_5)                                                                               \
	C(MUSIC_STOP)                                                                              \
	C(MUSIC_PAUSE)                                                                             \
	C(MUSIC_SKIP)                                                                              \
	C(MUSIC_RESUME)                                                                            \
	C(ENOUGH)
enum room_word_bit {
#define X(NAME) ROOM_WORD_BIT_##NAME,
	ROOM_WORD_CLASSES(X)
#undef X
		ROOM_WORD_BITS
};
enum room_word_class {
#define X(NAME) ROOM_WORD_##NAME = 1u << ROOM_WORD_BIT_##NAME,
	ROOM_WORD_CLASSES(X)
#undef X
};

enum {
	ROOM_WORDS_MAX = 64,   /* of an utterance; the rest is not examined */
	ROOM_WORDS_TEXT = 768, /* bytes of their common form */
	ROOM_ENTRY_WORDS = 6,  /* of an entry in a language with blanks */
	ROOM_ENTRY_CHARS = 10, /* of one without */
};

/* One word; in a script without blanks one character, or a run of Latin letters. */
struct room_word {
	uint16_t at, n;			    /* in the common form */
	bool after_stop;		    /* punctuation stands before it */
	bool capital;			    /* the first letter */
	bool caps;			    /* every letter */
	uint32_t classes[ROOM_ENTRY_CHARS]; /* of the entry of 1, 2, … words that begins here */
};

struct room_words {
	enum room_language language;
	bool unspaced;
	bool question; /* a question mark */
	bool cut;      /* there are more words */
	bool paused;   /* punctuation within it */
	unsigned n, letters;
	struct room_word v[ROOM_WORDS_MAX];
	char text[ROOM_WORDS_TEXT];
};

/* Makes the index; room_alloc() calls it. */
void room_language_prepare(void);
/* "en-GB" and "eng" are English; UNKNOWN for any other code. */
enum room_language room_language_by_code(const char *code);
/* The same; UNLISTED for the code of a language without lists. */
enum room_language room_language_told(const char *code);
const char *room_language_code(enum room_language language);
bool room_language_unspaced(enum room_language language);
/* Question words stand where the answer would, not first: Japanese, Korean, Chinese. */
bool room_language_in_situ(enum room_language language);
/* The language of a text, said while or after `over` was (may be ""): by its script, by known words
 * of both, text counting more. hint decides where they leave it open; UNKNOWN if it is none of
 * ours. */
enum room_language room_language_guess(const char *text, const char *over, enum room_language hint);
/* True if the lists of the language have every word of the text. */
bool room_language_has_all(enum room_language language, const char *text);
/* Classes of a whole entry given as bytes of a text; 0 if unknown. */
uint32_t room_language_classes(enum room_language language, const char *entry, size_t n);
/* True if the word, in the form of the lists, is a common given name (names.def). */
bool room_language_is_given_name(const char *word, size_t n);
/* Cuts a text into words and looks up what begins at each. */
void room_words_split(struct room_words *out, const char *text, enum room_language language);
/* The number of words of the longest entry at word i with one of these classes; 0 if none is. */
unsigned room_words_match(const struct room_words *w, unsigned i, uint32_t classes);
/* The longest entry of any class at word i: its number of words, at least 1, and its classes, 0 for
 * an unknown word. */
unsigned room_words_entry(const struct room_words *w, unsigned i, uint32_t *classes);

/* True if the words from i on, two at least, begin a longer ASSENT entry: "no me" may become "no me
 * digas". For interim transcripts. */
bool room_words_may_complete(const struct room_words *w, unsigned i);

/* ---- scripts (script.c) ---- */

enum room_script {
	ROOM_SCRIPT_NONE, /* blanks, punctuation, symbols */
	ROOM_SCRIPT_DIGIT,
	ROOM_SCRIPT_LATIN,
	ROOM_SCRIPT_CYRILLIC,
	ROOM_SCRIPT_HIRAGANA,
	ROOM_SCRIPT_KATAKANA,
	ROOM_SCRIPT_HAN,
	ROOM_SCRIPT_HANGUL,
	ROOM_SCRIPT_OTHER,
	ROOM_SCRIPT_COUNT
};
/* The character at *p, moved behind it; bytes that are no UTF-8 are U+FFFD. */
uint32_t room_script_next(const char **p);
enum room_script room_script_of(uint32_t ch);
uint32_t room_script_lower(uint32_t ch);
/* True if two names look the same: in any case, without accents and other marks of Latin, Greek and
 * Cyrillic letters, and without blanks and characters that are not seen (Unicode,
 * Default_Ignorable_Code_Point, and fillers). In script_same.c. */
bool room_script_same(const char *a, const char *b);
/* The simplified form of a traditional Chinese character that the lists have; any other
 * unchanged. */
uint32_t room_script_simplify(uint32_t ch);
/* The Han characters that recognisers write for a name in lower case, parted by commas; NULL: none
 * is known. */
const char *room_script_characters(const char *name);
/* Appends a character as UTF-8; false if it does not fit. */
bool room_script_put(char *to, size_t size, size_t *n, uint32_t ch);
/* Latin letters for a run of Cyrillic, kana or hangul, as near to its sound as a name needs;
 * returns the length, 0 if the run holds anything else, such as tense stops of hangul, which no
 * foreign name has. */
size_t room_script_romanise(const char *run, size_t n, char *to, size_t size);

#endif
