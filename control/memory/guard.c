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

static bool is_invisible(uint32_t c)
{
	return c == 0xad || (c >= 0x200b && c <= 0x200f) || c == 0x2060 || c == 0xfeff;
}

static bool is_blank(uint32_t c)
{
	return c <= ' ' || c == 0xa0 || (c >= 0x2000 && c <= 0x200a) || c == 0x202f || c == 0x3000;
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

/* Lower case, with single blanks and plain apostrophes, and without invisible characters: as the
 * phrases are written. */
static void fold_text(char to[MEMORY_TEXT_MAX + 1], const char *text)
{
	const char *p = text, *end = text + strlen(text), *from;
	uint32_t c;
	size_t n = 0;

	while ((from = p, c = terms_next(&p, end)) && n + (size_t)(p - from) <= MEMORY_TEXT_MAX) {
		if (is_invisible(c))
			continue;
		if (is_blank(c)) {
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
	char folded[MEMORY_TEXT_MAX + 1];

	if (!text[strspn(text, " \t\r\n")] || strlen(text) > MEMORY_TEXT_MAX)
		return MEMORY_REFUSAL_EMPTY;
	fold_text(folded, text);
	if (has_secret(text) || has_any(folded, sensitive))
		return MEMORY_REFUSAL_SENSITIVE;
	if (has_any(folded, unsafe))
		return MEMORY_REFUSAL_UNSAFE;
	return has_any(folded, orders) ? MEMORY_REFUSAL_INSTRUCTION : MEMORY_REFUSAL_NONE;
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
