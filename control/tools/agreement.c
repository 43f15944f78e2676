#include "control/tools/agreement.h"

#include <stddef.h>
#include <string.h>

enum { WORDS_BEFORE = 2, WORD_MAX = 48, WORDS_MAX = 8 };

static const char *const yes[] = {
	"yes",
	"yeah",
	"yep",
	"yup",
	"sure",
	"ok",
	"okay",
	"ja",
	"jawohl",
	"klar",
	"oui",
	"si",
	"s\xc3\xad",
	"s\xc3\xac",
	"claro",
	"sim",
	"certo",
	"tak",
	"jasne",
	"\xd0\xb4\xd0\xb0",	    /* да */
	"\xd0\x94\xd0\xb0",	    /* Да */
	"\xe3\x81\xaf\xe3\x81\x84", /* はい */
	"\xe3\x81\x86\xe3\x82\x93", /* うん */
	"\xeb\x84\xa4",		    /* 네 */
	"\xec\x9d\x91",		    /* 응 */
	"\xe6\x98\xaf",		    /* 是 */
	"\xe6\x98\xaf\xe7\x9a\x84", /* 是的 */
	"\xe5\xa5\xbd",		    /* 好 */
	"\xe5\xa5\xbd\xe7\x9a\x84", /* 好的 */
};

static const char *const no[] = {
	"no",
	"not",
	"dont",
	"don't",
	"never",
	"stop",
	"wait",
	"cancel",
	"nein",
	"nicht",
	"warte",
	"non",
	"pas",
	"n\xc3\xa3o",
	"nao",
	"nie",
	"niet",
	"nee",
	"\xd0\xbd\xd0\xb5\xd1\x82",		/* нет */
	"\xd0\xbd\xd0\xb5",			/* не */
	"\xe3\x81\x84\xe3\x81\x84\xe3\x81\x88", /* いいえ */
	"\xec\x95\x84\xeb\x8b\x88",		/* 아니 */
	"\xe4\xb8\x8d",				/* 不 */
};

static bool is_in(const char *const *list, size_t n, const char *word)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i], word) == 0)
			return true;
	return false;
}

/* The next word in lower case; false at the end. */
static bool read_word(const char **at, char *word)
{
	static const char marks[] = " \t\n.,;:!?\"()";
	size_t n;

	*at += strspn(*at, marks);
	n = strcspn(*at, marks);
	if (!n)
		return false;
	for (size_t i = 0; i < n && i < WORD_MAX - 1; i++) {
		char c = (*at)[i];

		word[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
	}
	word[n < WORD_MAX - 1 ? n : WORD_MAX - 1] = '\0';
	*at += n;
	return true;
}

bool tool_agrees(const char *words)
{
	char word[WORD_MAX];
	bool agrees = false;

	for (unsigned i = 0; read_word(&words, word); i++) {
		if (i == WORDS_MAX || is_in(no, sizeof no / sizeof no[0], word))
			return false;
		agrees = agrees ||
			 (i < WORDS_BEFORE && is_in(yes, sizeof yes / sizeof yes[0], word));
	}
	return agrees;
}
