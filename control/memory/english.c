#include "control/memory/english.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "control/memory/lists.h"
#include "control/memory/terms.h"

enum { WORD_SIZE = 24 };

static const char *const own[] = {
	"the",	  "is",	   "are",   "was",  "were",  "what",   "who",	  "when", "where",
	"which",  "why",   "how",   "did",  "does",  "do",     "has",	  "have", "had",
	"and",	  "with",  "of",    "to",   "for",   "my",     "our",	  "your", "his",
	"her",	  "their", "this",  "that", "it",    "i",      "we",	  "you",  "they",
	"she",	  "about", "from",  "said", "say",   "tell",   "not",	  "will", "would",
	"should", "can",   "there", "than", "whose", "anyone", "anybody", "any",  NULL};
/* Words of German, French, Spanish, Italian, Portuguese, Dutch and Polish that English has not. */
static const char *const foreign[] = {
	"der",	  "die",    "das", "und",   "ist",  "wer",  "wann", "wie",     "wo",	"hat",
	"mit",	  "nicht",  "ein", "eine",  "ich",  "sich", "auf",  "für",     "le",	"la",
	"les",	  "des",    "une", "est",   "et",   "qui",  "que",  "quand",   "dans",	"pour",
	"avec",	  "sur",    "du",  "de",    "el",   "los",  "las",  "quien",   "quién", "cuando",
	"cuándo", "con",    "por", "para",  "del",  "qué",  "se",   "il",      "di",	"che",
	"chi",	  "quando", "con", "della", "per",  "ha",   "um",   "uma",     "os",	"quem",
	"com",	  "não",    "het", "een",   "van",  "wat",  "wie",  "wanneer", "op",	"voor",
	"niet",	  "w",	    "na",  "z",	    "jest", "czy",  "kto",  "kiedy",   "nie",	"jak",
	"co",	  NULL};

/* Latin letters with or without marks. */
static bool is_latin(uint32_t c)
{
	return c < 0x250 || (c >= 0x2000 && c <= 0x206f);
}

bool english_is(const char *text, size_t n)
{
	const char *p = text, *end = text + n, *from;
	size_t length = 0, english = 0, other = 0, latin = 0, odd = 0;
	char word[WORD_SIZE];
	uint32_t c;

	do {
		from = p;
		c = terms_next(&p, end);
		latin += c && is_latin(c);
		odd += c && !is_latin(c);
		if (c && terms_is_word(c)) {
			for (; from < p; from++)
				if (length < sizeof word - 1)
					word[length++] = (char)tolower((unsigned char)*from);
			continue;
		}
		word[length] = '\0';
		english += lists_hold(own, word);
		other += lists_hold(foreign, word);
		length = 0;
	} while (c);
	return odd * 4 <= latin && (english > other || (!english && !other && !odd));
}

size_t english_count_words(const char *text, size_t n, size_t most)
{
	size_t words = 0;

	for (size_t i = 0; i < n && words < most; i++)
		words += text[i] != ' ' && (i == 0 || text[i - 1] == ' ');
	return words;
}
