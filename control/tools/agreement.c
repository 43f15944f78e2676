#include "control/tools/agreement.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { TEXT_MAX = 256 };

/* In lower case. A phrase in a script without blanks may be followed by any other one. */
static const char *const consent[] = {
	/* English */
	"yes",
	"yeah",
	"yea",
	"yep",
	"yup",
	"sure",
	"sure thing",
	"ok",
	"okay",
	"okey",
	"absolutely",
	"definitely",
	"certainly",
	"agreed",
	"i agree",
	"alright",
	"all right",
	"of course",
	"go ahead",
	"go for it",
	"do it",
	"do that",
	"please do",
	"by all means",
	"sounds good",
	"that's fine",
	"that's ok",
	"that's okay",
	"you may",
	/* German, Dutch */
	"ja",
	"jawohl",
	"jo",
	"klar",
	"na klar",
	"nat\u00fcrlich",
	"gerne",
	"einverstanden",
	"mach das",
	"mach es",
	"tu das",
	"tu es",
	"in ordnung",
	"zeker",
	"graag",
	"doe maar",
	"natuurlijk",
	"akkoord",
	/* French */
	"oui",
	"ouais",
	"d'accord",
	"bien s\u00fbr",
	"vas-y",
	"allez-y",
	"fais-le",
	"faites-le",
	"volontiers",
	/* Spanish, Portuguese, Italian */
	"si",
	"s\u00ed",
	"s\u00ec",
	"claro",
	"vale",
	"de acuerdo",
	"por supuesto",
	"adelante",
	"hazlo",
	"dale",
	"sim",
	"com certeza",
	"pode",
	"pode fazer",
	"certo",
	"certamente",
	"va bene",
	"d'accordo",
	"fallo",
	"procedi",
	/* Polish, Russian */
	"tak",
	"jasne",
	"zgoda",
	"dobrze",
	"oczywi\u015bcie",
	"zr\u00f3b to",
	"\u0434\u0430",
	"\u043a\u043e\u043d\u0435\u0447\u043d\u043e",
	"\u0445\u043e\u0440\u043e\u0448\u043e",
	"\u0434\u0430\u0432\u0430\u0439",
	"\u043b\u0430\u0434\u043d\u043e",
	/* Japanese */
	"\u306f\u3044",
	"\u3046\u3093",
	"\u3044\u3044\u3088",
	"\u3044\u3044\u3067\u3059\u3088",
	"\u304a\u9858\u3044\u3057\u307e\u3059",
	"\u304a\u9858\u3044",
	"\u3069\u3046\u305e",
	/* Korean */
	"\ub124",
	"\uc608",
	"\uc751",
	"\uadf8\ub798",
	"\uc88b\uc544",
	"\uc88b\uc544\uc694",
	"\ud574 \uc918",
	"\ud574 \uc8fc\uc138\uc694",
	"\ud574\uc918",
	"\ud574\uc8fc\uc138\uc694",
	/* Chinese */
	"\u662f",
	"\u662f\u7684",
	"\u597d",
	"\u597d\u7684",
	"\u597d\u554a",
	"\u53ef\u4ee5",
	"\u884c",
	"\u5bf9",
	"\u5c0d",
	"\u6ca1\u95ee\u9898",
	"\u6c92\u554f\u984c",
};

static const char *const fillers[] = {
	"please",
	"now",
	"then",
	"well",
	"oh",
	"uh",
	"um",
	"hey",
	"bitte",
	"dann",
	"doch",
	"alsjeblieft",
	"s'il te pla\u00eet",
	"s'il vous pla\u00eet",
	"por favor",
	"per favore",
	"prosz\u0119",
	"\u043f\u043e\u0436\u0430\u043b\u0443\u0439\u0441\u0442\u0430",
	"\u8bf7",
	"\u8acb",
};

/* ---- normal form ---- */

/* Reads a character of UTF-8 as far as case and punctuation need it; others are their bytes. */
static size_t read_char(const char *p, uint32_t *c)
{
	const uint8_t *b = (const uint8_t *)p;

	*c = b[0];
	if ((b[0] & 0xe0) == 0xc0 && b[1]) {
		*c = (uint32_t)(b[0] & 0x1f) << 6 | (b[1] & 0x3f);
		return 2;
	}
	if ((b[0] & 0xf0) == 0xe0 && b[1] && b[2]) {
		*c = (uint32_t)(b[0] & 0x0f) << 12 | (uint32_t)(b[1] & 0x3f) << 6 | (b[2] & 0x3f);
		return 3;
	}
	return 1;
}

static bool is_mark(uint32_t c)
{
	return (c < 0x80 && strchr(" \t\n.,;:!?\"()", (int)c)) || c == 0xa0 || c == 0xa1 ||
	       c == 0xab || c == 0xbb || c == 0xbf || (c >= 0x2010 && c <= 0x2015) ||
	       (c >= 0x201c && c <= 0x201f) || c == 0x2026 || (c >= 0x3000 && c <= 0x3002) ||
	       (c >= 0x300c && c <= 0x300f) || c == 0x30fb || c == 0xff01 || c == 0xff0c ||
	       c == 0xff0e || c == 0xff1a || c == 0xff1b || c == 0xff1f || c == 0xff61;
}

/* Latin with its accents, and Cyrillic. */
static uint32_t lower(uint32_t c)
{
	if ((c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7) ||
	    (c >= 0x410 && c <= 0x42f))
		return c + 0x20;
	if (c >= 0x100 && c <= 0x137)
		return c | 1;
	return c;
}

/* Lower case, one blank between words and one at the end, plain apostrophes. False: it is too
 * long. */
static bool normalise(const char *from, char to[TEXT_MAX])
{
	size_t n = 0, used;

	for (; *from; from += used) {
		uint32_t c, small;

		used = read_char(from, &c);
		if (n + 4 >= TEXT_MAX)
			return false;
		small = lower(c);
		if (is_mark(c)) {
			if (n && to[n - 1] != ' ')
				to[n++] = ' ';
		} else if (c == 0x2018 || c == 0x2019) {
			to[n++] = '\'';
		} else if (used == 2) {
			to[n++] = (char)(0xc0 | small >> 6);
			to[n++] = (char)(0x80 | (small & 0x3f));
		} else if (used == 1) {
			to[n++] = (char)small;
		} else {
			memcpy(to + n, from, used);
			n += used;
		}
	}
	if (n && to[n - 1] != ' ')
		to[n++] = ' ';
	to[n] = '\0';
	return true;
}

/* ---- the words ---- */

/* Bytes of the text that the phrase takes with the blank behind it; 0: none. */
static size_t match(const char *text, const char *phrase)
{
	size_t n = strlen(phrase);
	bool blanks = (uint8_t)phrase[0] < 0xe3; /* of a script that parts words by blanks */

	if (!n || strncmp(text, phrase, n) != 0)
		return 0;
	text += n;
	return blanks && *text != ' ' ? 0 : n + (*text == ' ');
}

static size_t match_longest(const char *text, const char *const *list, size_t n)
{
	size_t best = 0;

	for (size_t i = 0; i < n; i++) {
		size_t found = match(text, list[i]);

		best = found > best ? found : best;
	}
	return best;
}

static size_t match_name(const char *text, const char *name)
{
	size_t n = strlen(name);

	return n && strncmp(text, name, n) == 0 ? n : 0;
}

bool tool_agrees(const char *words, const char *name)
{
	char text[TEXT_MAX] = "", own[TEXT_MAX] = "";
	bool agrees = false;

	if (!normalise(words, text) || !normalise(name, own))
		return false;
	for (const char *at = text; *at;) {
		size_t yes = match_longest(at, consent, sizeof consent / sizeof consent[0]);
		size_t filler = match_longest(at, fillers, sizeof fillers / sizeof fillers[0]);
		size_t named = match_name(at, own);

		filler = named > filler ? named : filler;
		if (!yes && !filler)
			return false;
		agrees = agrees || yes >= filler;
		at += yes >= filler ? yes : filler;
	}
	return agrees;
}
