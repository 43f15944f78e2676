#include "control/tools/agreement.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "control/tools/spoken.h"

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

/* Lower case, one blank between words and one at the end, plain apostrophes. False: it is too
 * long. */
static bool normalise(const char *from, char to[TEXT_MAX])
{
	size_t n = 0, used;

	for (; *from; from += used) {
		uint32_t c, small;

		used = spoken_read(from, &c);
		if (n + 4 >= TEXT_MAX)
			return false;
		small = spoken_lower(c);
		if (spoken_is_mark(c)) {
			if (n && to[n - 1] != ' ')
				to[n++] = ' ';
		} else if (c == 0x2018 || c == 0x2019) {
			to[n++] = '\'';
		} else {
			n += spoken_write(to + n, from, used, small);
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
