#include "control/memory/guard.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "control/memory/guard_orders.def"
#include "control/memory/terms.h"
#include "proto/discord.h"

static const struct {
	const char *name, *text;
} refusals[] = {
#define R(NAME, name, text) {#name, text},
	MEMORY_REFUSALS(R)
#undef R
};

const char *memory_refusal_name(enum memory_refusal refusal)
{
	return refusals[refusal].name;
}

const char *memory_refusal_text(enum memory_refusal refusal)
{
	return refusals[refusal].text;
}

static const char *const sensitive[] = {
	"password",	"passwort",   "passcode", "passphrase",	     "api key",
	"apikey",	"api_key",    "secret",	  "token",	     "private key",
	"credit card",	"pin code",   "pin is",	  "social security", "iban",
	"mot de passe", "contraseña", "密码",	  "パスワード",	     "비밀번호",
	"-----begin",	NULL};
static const char *const keys[] = {"sk-",  "ghp_", "gho_", "xoxb-", "xoxp-",
				   "AKIA", "AIza", "eyJ",  NULL};
static const char *const unsafe[] = {"rm -rf",
				     "drop table",
				     "delete all",
				     "run the command",
				     "execute the",
				     "call the tool",
				     "use the tool",
				     "send a message to",
				     "make a bomb",
				     "build a bomb",
				     NULL};
static const char *const orders[] = {
#define P(phrase) phrase,
	GUARD_ORDERS(P)
#undef P
		NULL};

/* ---- phrases ---- */

struct range {
	uint32_t from, to;
};

/* Format characters (Cf of Unicode), fillers and variation selectors. */
static const struct range invisible[] = {{0xad, 0xad},	     {0x34f, 0x34f},
					 {0x61c, 0x61c},     {0x115f, 0x1160},
					 {0x17b4, 0x17b5},   {0x180b, 0x180f},
					 {0x200b, 0x200f},   {0x202a, 0x202e},
					 {0x2060, 0x206f},   {0xfe00, 0xfe0f},
					 {0xfeff, 0xfeff},   {0xfff9, 0xfffb},
					 {0xe0000, 0xe0fff}, {0, 0}};
/* Control characters and separators (Zs, Zl, Zp). */
static const struct range blank[] = {{0, ' '},	       {0x7f, 0xa0},	 {0x1680, 0x1680},
				     {0x2000, 0x200a}, {0x2028, 0x2029}, {0x202f, 0x202f},
				     {0x205f, 0x205f}, {0x3000, 0x3000}, {0, 0}};
static const struct range latin[] = {{'A', 'Z'}, {'a', 'z'}, {0, 0}};
/* Alphabets with letters that look Latin: Greek, Cyrillic, Armenian, Cherokee. */
static const struct range alike[] = {
	{0x370, 0x3ff}, {0x400, 0x52f}, {0x531, 0x586}, {0x13a0, 0x13fd}, {0, 0}};

static bool is_in(uint32_t c, const struct range *list)
{
	for (; list->to; list++)
		if (c >= list->from && c <= list->to)
			return true;
	return false;
}

/* Punctuation that may stand between the words of a phrase. */
static bool is_mark(uint32_t c)
{
	return c < 0x80 && c && strchr(",;:.!?\"()[]{}*~", (int)c);
}

/* Full-width letters and marks are those of ASCII. */
static uint32_t to_half_width(uint32_t c)
{
	return c >= 0xff01 && c <= 0xff5e ? c - 0xfee0 : c;
}

/* A character of one or two bytes, which lower case does not lengthen. */
static size_t put_lower(char *to, uint32_t c)
{
	if (c < 0x80) {
		*to = (char)c;
		return 1;
	}
	to[0] = (char)(0xc0 | c >> 6);
	to[1] = (char)(0x80 | (c & 0x3f));
	return 2;
}

/* Lower case, with single blanks and plain apostrophes, without invisible characters: as the
 * phrases are written. marks: punctuation stays. */
static void fold_text(char to[MEMORY_TEXT_MAX + 1], const char *text, bool marks)
{
	const char *p = text, *end = text + strlen(text), *from;
	uint32_t c;
	size_t n = 0;

	while ((from = p, c = to_half_width(terms_next(&p, end))) &&
	       n + (size_t)(p - from) <= MEMORY_TEXT_MAX) {
		if (is_in(c, invisible))
			continue;
		if (is_in(c, blank) || (!marks && is_mark(c))) {
			if (n && to[n - 1] != ' ')
				to[n++] = ' ';
		} else if (c == 0x2019) {
			to[n++] = '\'';
		} else if (c < 0x80 || p - from == 2) {
			n += put_lower(to + n, terms_lower(c));
		} else {
			memcpy(to + n, from, (size_t)(p - from));
			n += (size_t)(p - from);
		}
	}
	to[n] = '\0';
}

/* A word goes on from the character before `at` to the one there. Scripts without blanks have no
 * such places. */
static bool is_within_word(const char *text, const char *at)
{
	const char *p = at, *next = at;
	uint32_t before, c = terms_next(&next, at + strlen(at));

	if (at == text)
		return false;
	for (p--; p > text && (*p & 0xc0) == 0x80;)
		p--;
	before = terms_next(&p, at);
	return terms_is_word(c) && !terms_is_dense(c) && terms_is_word(before) &&
	       !terms_is_dense(before);
}

static bool has_any(const char *folded, const char *const *list)
{
	for (; *list; list++)
		for (const char *at = strstr(folded, *list); at; at = strstr(at + 1, *list))
			if (!is_within_word(folded, at))
				return true;
	return false;
}

/* True if a word mixes Latin letters with ones that look like them. */
static bool is_disguised(const char *text)
{
	const char *p = text, *end = text + strlen(text);
	bool has_latin = false, has_alike = false;
	uint32_t c;

	while ((c = to_half_width(terms_next(&p, end)))) {
		if (is_in(c, invisible))
			continue;
		has_latin = terms_is_word(c) && (has_latin || is_in(c, latin));
		has_alike = terms_is_word(c) && (has_alike || is_in(c, alike));
		if (has_latin && has_alike)
			return true;
	}
	return false;
}

/* ---- secrets ---- */

/* A long run of letters and digits in which the cases mix is a key, not a word. */
static bool is_key(const char *word, size_t n)
{
	unsigned upper = 0, lower = 0, digits = 0;

	for (const char *const *k = keys; *k; k++)
		if (n >= 12 && strncmp(word, *k, strlen(*k)) == 0)
			return true;
	for (size_t i = 0; i < n; i++) {
		upper += isupper((unsigned char)word[i]) != 0;
		lower += islower((unsigned char)word[i]) != 0;
		digits += isdigit((unsigned char)word[i]) != 0;
	}
	return (n >= 20 && digits >= 2 && upper && lower) ||
	       (n >= 32 && digits >= 4 && lower + upper);
}

/* Of a card: 13 to 19 digits, whatever parts them, that pass Luhn's check. */
static bool is_card(const char *p)
{
	unsigned n = 0, sum = 0;
	char digits[20];

	for (; *p && (isdigit((unsigned char)*p) || *p == ' ' || *p == '-'); p++)
		if (isdigit((unsigned char)*p)) {
			if (n == sizeof digits)
				return false;
			digits[n++] = (char)(*p - '0');
		}
	for (unsigned i = 0; i < n; i++) {
		unsigned d = (unsigned)digits[n - 1 - i] * (1 + i % 2);

		sum += d > 9 ? d - 9 : d;
	}
	return n >= 13 && n <= 19 && sum % 10 == 0;
}

static bool has_secret(const char *text)
{
	for (const char *p = text; *p;) {
		size_t n = strcspn(p, " \t\n,;\"'()");

		if (is_key(p, n) || (isdigit((unsigned char)*p) && is_card(p)))
			return true;
		p += n;
		p += strspn(p, " \t\n,;\"'()");
	}
	return false;
}

enum memory_refusal memory_check_text(const char *text)
{
	char folded[MEMORY_TEXT_MAX + 1], words[MEMORY_TEXT_MAX + 1];

	if (!text[strspn(text, " \t\r\n")] || strlen(text) > MEMORY_TEXT_MAX)
		return MEMORY_REFUSAL_EMPTY;
	fold_text(folded, text, true);
	fold_text(words, text, false);
	if (has_secret(text) || has_any(folded, sensitive) || has_any(words, sensitive))
		return MEMORY_REFUSAL_SENSITIVE;
	if (has_any(folded, unsafe) || has_any(words, unsafe))
		return MEMORY_REFUSAL_UNSAFE;
	return has_any(folded, orders) || has_any(words, orders) || is_disguised(text)
		       ? MEMORY_REFUSAL_INSTRUCTION
		       : MEMORY_REFUSAL_NONE;
}

static bool is_one_of(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (strcasecmp(name, *list) == 0)
			return true;
	return false;
}

const char *memory_read_space(const char *name, uint64_t guild, uint64_t speaker,
			      struct memory_space *out)
{
	static const char *const shared[] = {"guild", "shared", "lore", "server", NULL};
	static const char *const own[] = {"user", "me", "speaker", NULL};
	uint64_t id = 0;

	*out = (struct memory_space){.guild = guild};
	if (!*name) {
		out->any = true;
		return NULL;
	}
	if (is_one_of(name, shared))
		return NULL;
	if (is_one_of(name, own)) {
		out->owner = speaker;
		return speaker ? NULL : "invalid_namespace";
	}
	if (strncmp(name, "guild:", 6) == 0 && discord_u64(name + 6, &id))
		return id == guild ? NULL : "guild_namespace_mismatch";
	if (strncmp(name, "user:", 5) == 0 && discord_u64(name + 5, &id) && id == speaker &&
	    speaker) {
		out->owner = speaker;
		return NULL;
	}
	return "invalid_namespace";
}
