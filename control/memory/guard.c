#include "control/memory/guard.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

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
static const char *const orders[] = {"ignore all",
				     "ignore previous",
				     "ignore the",
				     "ignore your",
				     "disregard",
				     "system prompt",
				     "system:",
				     "assistant:",
				     "<system",
				     "you are now",
				     "you must",
				     "from now on you",
				     "from now on,",
				     "always answer",
				     "always say",
				     "always reply",
				     "always respond",
				     "never answer",
				     "never say",
				     "never tell",
				     "never mention",
				     "act as",
				     "pretend to be",
				     "pretend you",
				     "do not tell",
				     "don't tell",
				     "when someone asks",
				     "when anybody asks",
				     "when anyone asks",
				     "if anyone asks",
				     "your instructions",
				     "your rules",
				     NULL};

/* Where the phrase stands in the text as words of its own, whatever the case. */
static bool has_phrase(const char *text, const char *phrase)
{
	size_t n = strlen(phrase);

	for (const char *p = text; *p; p++)
		if (strncasecmp(p, phrase, n) == 0 &&
		    (p == text || !isalnum((unsigned char)p[-1]) ||
		     !isalnum((unsigned char)*phrase)))
			return true;
	return false;
}

static bool has_any(const char *text, const char *const *list)
{
	for (; *list; list++)
		if (has_phrase(text, *list))
			return true;
	return false;
}

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
	return has_any(text, sensitive);
}

enum memory_refusal memory_check_text(const char *text)
{
	if (!text[strspn(text, " \t\r\n")] || strlen(text) > MEMORY_TEXT_MAX)
		return MEMORY_REFUSAL_EMPTY;
	if (has_secret(text))
		return MEMORY_REFUSAL_SENSITIVE;
	if (has_any(text, unsafe))
		return MEMORY_REFUSAL_UNSAFE;
	return has_any(text, orders) ? MEMORY_REFUSAL_INSTRUCTION : MEMORY_REFUSAL_NONE;
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
