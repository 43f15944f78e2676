#include "control/web/sign_in.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "control/web/keys.h"

#define VERSION "1."

static const char *const names[] = {
	[WEB_VIEWER] = "viewer", [WEB_OPERATOR] = "operator", [WEB_ADMIN] = "admin"};
#define LAST_ROLE WEB_ADMIN

const char *web_role_name(enum web_role role)
{
	return role > WEB_NOBODY && role <= LAST_ROLE ? names[role] : "nobody";
}

bool web_role_parse(const char *name, size_t n, enum web_role *out)
{
	for (enum web_role role = WEB_VIEWER; role <= LAST_ROLE; role++)
		if (strlen(names[role]) == n && memcmp(names[role], name, n) == 0) {
			*out = role;
			return true;
		}
	return false;
}

static void print_mac(char out[WEB_KEYED_HEX], const char *token, const char *text, size_t n)
{
	web_keyed_hex(out, token, "sign-in", text, n);
}

int sign_in_format(char *out, size_t size, const struct sign_in *s, const char *token)
{
	char nonce[2 * SIGN_IN_NONCE + 1], mac[WEB_KEYED_HEX];
	int n;

	if (s->role == WEB_NOBODY || s->role > LAST_ROLE)
		return EINVAL;
	sodium_bin2hex(nonce, sizeof nonce, s->nonce, sizeof s->nonce);
	n = snprintf(out, size, VERSION "%s.%llu.%s", web_role_name(s->role),
		     (unsigned long long)s->expires_ms, nonce);
	if (n < 0 || (size_t)n + 1 + sizeof mac > size)
		return ENOSPC;
	print_mac(mac, token, out, (size_t)n);
	snprintf(out + n, size - (size_t)n, ".%s", mac);
	return 0;
}

static bool is_hex(const char *p, size_t n)
{
	return strspn(p, "0123456789abcdef") >= n;
}

/* The length of the number at p, which ends in a point; 0: there is none that fits. */
static size_t read_number(const char *p, uint64_t *out)
{
	size_t n = strspn(p, "0123456789");

	if (!n || n > 18 || p[n] != '.')
		return 0;
	*out = strtoull(p, NULL, 10);
	return n + 1;
}

int sign_in_parse(const char *code, struct sign_in *out)
{
	struct sign_in s = {0};
	size_t k;

	if (strlen(code) >= SIGN_IN_MAX || strncmp(code, VERSION, strlen(VERSION)) != 0)
		return EBADMSG;
	code += strlen(VERSION);
	k = strcspn(code, ".");
	if (!web_role_parse(code, k, &s.role) || !code[k])
		return EBADMSG;
	code += k + 1;
	k = read_number(code, &s.expires_ms);
	if (!k)
		return EBADMSG;
	code += k;
	/* Nonce, point and MAC, and nothing behind them. */
	if (strlen(code) != 2 * SIGN_IN_NONCE + WEB_KEYED_HEX || !is_hex(code, 2 * SIGN_IN_NONCE) ||
	    code[2 * SIGN_IN_NONCE] != '.' ||
	    !is_hex(code + 2 * SIGN_IN_NONCE + 1, WEB_KEYED_HEX - 1))
		return EBADMSG;
	sodium_hex2bin(s.nonce, sizeof s.nonce, code, 2 * SIGN_IN_NONCE, NULL, NULL, NULL);
	*out = s;
	return 0;
}

bool sign_in_verify(const char *code, const char *token)
{
	const char *mac = strrchr(code, '.');
	char right[WEB_KEYED_HEX];

	if (!mac || strlen(mac + 1) != sizeof right - 1)
		return false;
	print_mac(right, token, code, (size_t)(mac - code));
	return sodium_memcmp(mac + 1, right, sizeof right - 1) == 0;
}

bool sign_in_holds(const struct sign_in *s, uint64_t now_ms)
{
	/* Nobody may make one that holds for longer. */
	return s->expires_ms > now_ms && s->expires_ms - now_ms <= SIGN_IN_MS;
}
