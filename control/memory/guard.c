#include "control/memory/guard.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "control/memory/guard_fold.h"
#include "control/memory/guard_hidden.h"
#include "control/memory/guard_orders.def"
#include "control/memory/guard_rules.def"
#include "proto/discord.h"

enum { SPACED_PHRASE_MIN = 8, IBAN_MIN = 15, IBAN_MAX = 34, DOCUMENT_GAP = 40 };

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

#define P(phrase) phrase,
static const char *const sensitive[] = {GUARD_SECRETS(P) NULL};
static const char *const keys[] = {"sk-",  "ghp_", "gho_", "xoxb-", "xoxp-",
				   "AKIA", "AIza", "eyJ",  NULL};
static const char *const unsafe[] = {GUARD_DEEDS_UNSAFE(P) NULL};
static const char *const orders[] = {GUARD_ORDERS(P) NULL};
static const char *const commands[] = {GUARD_COMMANDS(P) NULL};
static const char *const leads[] = {GUARD_LEADS(P) NULL};
static const char *const from_now[] = {GUARD_FROM_NOW(P) NULL};
static const char *const to_you[] = {GUARD_TO_YOU(P) NULL};
static const char *const whenever[] = {GUARD_WHENEVER(P) NULL};
static const char *const reply[] = {GUARD_REPLY(P) NULL};
static const char *const must[] = {GUARD_MUST(P) NULL};
static const char *const deed[] = {GUARD_DEED(P) NULL};
static const char *const your[] = {GUARD_YOUR(P) NULL};
static const char *const belongings[] = {GUARD_BELONGINGS(P) NULL};
#undef P

/* An order in two parts: the second one begins within so many bytes behind the first. */
static const struct {
	const char *const *first, *const *second;
	size_t gap;
} pairs[] = {
	{from_now, to_you, 40}, {whenever, reply, 200}, {must, deed, 1}, {your, belongings, 10}};

/* ---- phrases ---- */

static bool has_any(const char *folded, const char *const *list)
{
	for (const char *at = folded; *at; at++) {
		/* Not within a character, nor within a word. */
		if ((*at & 0xc0) == 0x80 || guard_is_within_word(folded, at))
			continue;
		for (const char *const *l = list; *l; l++)
			if (guard_match(at, *l))
				return true;
	}
	return false;
}

/* One of the phrases as whole words; returns how much of the text it takes, 0: none. The longest
 * counts. */
static size_t match_words(const char *folded, const char *at, const char *const *list)
{
	size_t longest = 0;

	if ((*at & 0xc0) == 0x80 || guard_is_within_word(folded, at))
		return 0;
	for (; *list; list++) {
		size_t n = guard_match(at, *list);

		if (n > longest && !guard_is_within_word(folded, at + n))
			longest = n;
	}
	return longest;
}

static bool has_second(const char *folded, const char *from, const char *const *list, size_t gap)
{
	for (const char *at = from; *at && at <= from + gap; at++)
		if (match_words(folded, at, list))
			return true;
	return false;
}

static bool has_pair(const char *folded)
{
	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
		for (const char *at = folded; *at; at++) {
			size_t n = match_words(folded, at, pairs[i].first);

			if (n && has_second(folded, at + n, pairs[i].second, pairs[i].gap))
				return true;
		}
	return false;
}

/* Looks for a command from the beginning of a clause, behind words that may lead it. */
static bool begins_command(const char *folded, const char *at)
{
	size_t n;

	do {
		at += strspn(at, " ,\"'(");
		if (match_words(folded, at, commands))
			return true;
		n = match_words(folded, at, leads);
		at += n;
	} while (n);
	return false;
}

/* folded: with its punctuation. */
static bool has_command(const char *folded)
{
	if (begins_command(folded, folded))
		return true;
	for (const char *at = folded; (at = strpbrk(at, ".!?:;,\"(-")); at++)
		if (begins_command(folded, at + 1))
			return true;
	for (const char *at = folded; (at = strchr(at, ' ')); at++)
		if (guard_match(at + 1, "and |") && begins_command(folded, at + 5))
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

/* Of a bank account: two letters and 13 to 32 letters and digits, whatever blanks part them, whose
 * remainder by 97 is 1 once the first four stand last (ISO 13616). */
static bool is_iban(const char *p)
{
	char code[IBAN_MAX + 1];
	unsigned n = 0, rest = 0;

	for (; n < IBAN_MAX &&
	       (isalnum((unsigned char)*p) || (*p == ' ' && isalnum((unsigned char)p[1])));
	     p++)
		if (*p != ' ')
			code[n++] = (char)toupper((unsigned char)*p);
	if (n < 2 || !isupper((unsigned char)code[0]) || !isupper((unsigned char)code[1]))
		return false;
	/* Words may stand behind it. */
	for (unsigned length = IBAN_MIN; length <= n; length++) {
		rest = 0;
		for (unsigned i = 0; i < length; i++) {
			char c = code[(i + 4) % length];

			rest = isdigit((unsigned char)c)
				       ? (rest * 10 + (unsigned)(c - '0')) % 97
				       : (rest * 100 + (unsigned)(c - 'A') + 10) % 97;
		}
		if (rest == 1 && isdigit((unsigned char)code[2]) && isdigit((unsigned char)code[3]))
			return true;
	}
	return false;
}

static bool has_secret(const char *text)
{
	for (const char *p = text; *p;) {
		size_t n = strcspn(p, " \t\n,;\"'()");

		if (is_key(p, n) || (isdigit((unsigned char)*p) && is_card(p)) || is_iban(p))
			return true;
		p += n;
		p += strspn(p, " \t\n,;\"'()");
	}
	return false;
}

/* A word for a secret number, and a number behind it. */
static bool has_pin(const char *folded)
{
	static const char *const words[] = {"pin", "pincode", "pin-code", "geheimzahl", NULL};

	for (const char *at = folded; *at; at++) {
		size_t n = match_words(folded, at, words), digits = 0;

		for (size_t i = n; n && i < n + 24 && at[i]; i++) {
			digits = isdigit((unsigned char)at[i]) ? digits + 1 : 0;
			if (digits >= 4)
				return true;
		}
	}
	return false;
}

/* A word for a document or an account, and a number of at least six letters and digits behind it:
 * not the year in which it ends. */
static bool has_document(const char *folded)
{
	static const char *const words[] = {
		"iban",		"passport",  "passports", "tax id",	"tax number",
		"national id",	"id number", "id card",	  "reisepass",	"personalausweis",
		"steuernummer", "passeport", "pasaporte", "passaporto", "passaporte",
		"paspoort",	"paszport",  "паспорт",	  "паспорта",	NULL};

	for (const char *at = folded; *at; at++) {
		const char *p = at + match_words(folded, at, words), *end = p;
		unsigned size = 0, digits = 0;

		for (; p > at && *end && end < p + DOCUMENT_GAP; end++) {
			size = isalnum((unsigned char)*end) ? size + 1 : 0;
			digits = !size ? 0 : digits + (isdigit((unsigned char)*end) != 0);
			if (size >= 6 && digits >= 3)
				return true;
		}
	}
	return false;
}

/* "the secret of my cake" is none. */
static bool is_recipe(const char *secret)
{
	static const char *const kept[] = {"account", "login", "bank",	 "server", "safe",
					   "door",    "wifi",  "router", "phone",  "bot",
					   "key",     "token", NULL};

	return strncmp(secret, "secret of ", 10) == 0 && !strpbrk(secret, "0123456789") &&
	       !has_second(secret, secret + 10, kept, strlen(secret));
}

static bool has_sensitive(const char *folded)
{
	for (const char *at = folded; *at; at++)
		if (match_words(folded, at, sensitive) && !is_recipe(at))
			return true;
	return false;
}

/* "I ignore previous episodes" tells of a series. */
static bool is_of_works(const char *order)
{
	static const char *const works[] = {"episode",	"episodes", "season", "seasons", "chapter",
					    "chapters", "film",	    "films",  "movie",	 "movies",
					    "sequel",	"sequels",  "volume", "volumes", NULL};
	size_t n = guard_match(order, "ignore previous ");

	return n && match_words(order, order + n, works);
}

static bool has_order(const char *folded)
{
	for (const char *at = folded; *at; at++) {
		if ((*at & 0xc0) == 0x80 || guard_is_within_word(folded, at) || is_of_works(at))
			continue;
		for (const char *const *l = orders; *l; l++)
			if (guard_match(at, *l))
				return true;
	}
	return false;
}

static enum memory_refusal check_words(const char *folded)
{
	if (has_sensitive(folded) || has_pin(folded) || has_document(folded))
		return MEMORY_REFUSAL_SENSITIVE;
	if (has_any(folded, unsafe))
		return MEMORY_REFUSAL_UNSAFE;
	return has_order(folded) || has_pair(folded) ? MEMORY_REFUSAL_INSTRUCTION
						     : MEMORY_REFUSAL_NONE;
}

/* Letters without blanks between the words. */
static enum memory_refusal check_spaced(const char *text)
{
	char folded[GUARD_FOLD_SIZE], phrase[GUARD_FOLD_SIZE];

	guard_fold(folded, text, GUARD_FOLD_SPACED);
	for (const char *const *l = orders; *folded && *l; l++) {
		guard_fold(phrase, *l, GUARD_FOLD_JOINED);
		if (strlen(phrase) >= SPACED_PHRASE_MIN && strstr(folded, phrase))
			return MEMORY_REFUSAL_INSTRUCTION;
	}
	return MEMORY_REFUSAL_NONE;
}

static enum memory_refusal check_folded(const char *text)
{
	static const enum guard_fold ways[] = {GUARD_FOLD_MARKS, GUARD_FOLD_WORDS,
					       GUARD_FOLD_DIGITS};
	enum memory_refusal why = MEMORY_REFUSAL_NONE;
	char folded[GUARD_FOLD_SIZE], last[GUARD_FOLD_SIZE] = "";

	for (size_t i = 0; i < sizeof ways / sizeof ways[0] && !why; i++) {
		guard_fold(folded, text, ways[i]);
		if (strcmp(folded, last) == 0)
			continue;
		snprintf(last, sizeof last, "%s", folded);
		why = check_words(folded);
		if (!why && ways[i] != GUARD_FOLD_WORDS && has_command(folded))
			why = MEMORY_REFUSAL_INSTRUCTION;
	}
	return why ? why : check_spaced(text);
}

/* Texts in base64 and hexadecimal digits are read, too. */
static enum memory_refusal check_hidden(const char *text)
{
	char hidden[MEMORY_TEXT_MAX + 1];
	enum memory_refusal why = MEMORY_REFUSAL_NONE;

	while (!why && (text = guard_hidden(text, hidden)))
		why = check_folded(hidden);
	return why;
}

enum memory_refusal memory_check_text(const char *text)
{
	enum memory_refusal why;

	if (!text[strspn(text, " \t\r\n")] || strlen(text) > MEMORY_TEXT_MAX)
		return MEMORY_REFUSAL_EMPTY;
	if (has_secret(text))
		return MEMORY_REFUSAL_SENSITIVE;
	why = check_folded(text);
	if (!why)
		why = check_hidden(text);
	return !why && guard_is_disguised(text) ? MEMORY_REFUSAL_INSTRUCTION : why;
}

enum memory_refusal memory_check_tags(const json_t *tags)
{
	char all[MEMORY_TEXT_MAX + 1] = "";
	enum memory_refusal why = MEMORY_REFUSAL_NONE;
	const json_t *one;
	size_t i, n = 0;

	json_array_foreach(tags, i, one)
	{
		const char *tag = json_string_value(one);

		if (!tag || !*tag)
			continue;
		why = why ? why : memory_check_text(tag);
		n += (size_t)snprintf(all + n, sizeof all - n, "%s%s", n ? " " : "", tag);
		if (n >= sizeof all)
			return why ? why : MEMORY_REFUSAL_EMPTY;
	}
	return why || !n ? why : memory_check_text(all);
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
	static const char *const shared[] = {"guild", "shared",	   "lore", "server",
					     "bot",   "assistant", NULL};
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
