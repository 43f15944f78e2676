/* Challenges, registration and sign-in (oauth.h). */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "control/dialect/base64.h"
#include "control/dialect/json_read.h"
#include "control/dialect/oauth.h"
#include "control/dialect/oauth_inside.h"

/* ---- forms ---- */

static void put(struct oauth_form *f, char c)
{
	if (f->at < f->end)
		*f->at++ = c;
}

void oauth_form_add(struct oauth_form *f, const char *name, const char *value)
{
	static const char hex[] = "0123456789ABCDEF";

	if (!value || !*value)
		return;
	put(f, '&');
	while (*name)
		put(f, *name++);
	put(f, '=');
	for (; *value; value++) {
		unsigned char c = (unsigned char)*value;
		bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
			     (c >= 'A' && c <= 'Z') || strchr("-._~", c);

		put(f, plain ? (char)c : '%');
		if (!plain) {
			put(f, hex[c >> 4]);
			put(f, hex[c & 15]);
		}
	}
}

/* ---- challenges ---- */

static bool is_token_char(char c)
{
	return c > ' ' && c < 0x7f && !strchr("\"(),/:;<=>?@[\\]{}", c);
}

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

/* A token or a quoted string; "" if it does not fit. */
static const char *read_value(const char *at, char *out, size_t size)
{
	bool quoted = *at == '"', fits = true;
	size_t n = 0;

	for (at += quoted; *at && (quoted ? *at != '"' : *at > ' ' && *at != ','); at++) {
		at += quoted && *at == '\\' && at[1];
		fits = fits && n + 1 < size;
		if (fits)
			out[n++] = *at;
	}
	out[fits ? n : 0] = '\0';
	return at + (quoted && *at == '"');
}

static void take_parameter(struct oauth_challenge *c, const char *name, const char *value)
{
	for (const char *p = value; *p; p++)
		if (*p < ' ' || *p > '~' || *p == '"' || *p == '\\')
			return;
	if (strcasecmp(name, "resource_metadata") == 0 && oauth_may_send(value))
		snprintf(c->metadata, sizeof c->metadata, "%s", value);
	else if (strcasecmp(name, "scope") == 0 && strlen(value) < sizeof c->scope)
		memcpy(c->scope, value, strlen(value) + 1);
	else if (strcasecmp(name, "error") == 0 && strlen(value) < sizeof c->error)
		memcpy(c->error, value, strlen(value) + 1);
}

void oauth_read_challenge(const char *field, struct oauth_challenge *out)
{
	char name[32], value[OAUTH_URL_MAX];
	bool bearer = false, seen = false;

	*out = (struct oauth_challenge){0};
	while (*field) {
		const char *at = field;
		size_t n = 0;

		while (is_token_char(at[n]))
			n++;
		if (!n) {
			field++;
			continue;
		}
		snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : 0), at);
		at = skip_blanks(at + n);
		if (*at != '=') { /* a scheme */
			if (seen && bearer)
				return;
			bearer = strcasecmp(name, "Bearer") == 0;
			seen = seen || bearer;
			field += n;
			continue;
		}
		field = read_value(skip_blanks(at + 1), value, sizeof value);
		if (bearer)
			take_parameter(out, name, value);
	}
}

/* ---- sign-in ---- */

void oauth_base64url(const uint8_t *in, size_t n, char *out)
{
	size_t length = base64_encoded(n);

	base64_encode(in, n, out);
	while (length && out[length - 1] == '=')
		length--;
	out[length] = '\0';
	for (; *out; out++)
		*out = (char)(*out == '+' ? '-' : *out == '/' ? '_' : *out);
}

int oauth_sign_in_link(const struct oauth_sign_in *s, char *out, size_t size)
{
	const char *query = strchr(s->authorize, '?');
	struct oauth_form f = {out, out + size - 1};
	char *begin;

	if (!oauth_may_send(s->authorize) || query)
		return EINVAL;
	f.at += snprintf(out, size, "%.*s", (int)size - 1, s->authorize);
	begin = f.at;
	oauth_form_add(&f, "response_type", "code");
	oauth_form_add(&f, "client_id", s->client_id);
	oauth_form_add(&f, "redirect_uri", s->redirect);
	oauth_form_add(&f, "state", s->state);
	oauth_form_add(&f, "code_challenge", s->challenge);
	oauth_form_add(&f, "code_challenge_method", "S256");
	oauth_form_add(&f, "scope", s->scope);
	oauth_form_add(&f, "resource", s->resource);
	if (f.at == f.end)
		return EMSGSIZE;
	*f.at = '\0';
	*begin = '?';
	return 0;
}

/* Takes as long for a wrong state as for the right one. */
static bool same_secret(const char *a, const char *b)
{
	size_t n = strlen(a);
	unsigned differs = n != strlen(b);

	for (size_t i = 0; !differs && i < n; i++)
		differs |= (unsigned char)a[i] ^ (unsigned char)b[i];
	return !differs && n;
}

static bool is_word(const char *text)
{
	return !text[strspn(text, "abcdefghijklmnopqrstuvwxyz_")];
}

int oauth_check_redirect(const struct oauth_redirect *r, const char *state, const char *issuer,
			 bool must)
{
	if (!same_secret(r->state, state))
		return EACCES;
	if (*r->iss ? !oauth_same_address(r->iss, issuer) : must)
		return EACCES;
	if (*r->error)
		return is_word(r->error) ? ECANCELED : EBADMSG;
	return *r->code ? 0 : EBADMSG;
}

/* ---- registration ---- */

char *oauth_register_body(const char *redirect, const char *scope)
{
	json_t *root = json_pack(
		"{s:s, s:[s], s:[s, s], s:[s], s:s, s:s}", "client_name", "Parley", "redirect_uris",
		redirect, "grant_types", "authorization_code", "refresh_token", "response_types",
		"code", "token_endpoint_auth_method", "none", "application_type", "native");
	char *text = NULL;

	if (root && (!*scope || !json_object_set_new(root, "scope", json_string(scope))))
		text = json_dumps(root, JSON_COMPACT);
	json_decref(root);
	return text;
}

int oauth_read_client(const char *text, size_t n, struct oauth_client *out)
{
	json_t *root = json_loadb(text, n, 0, NULL);
	struct oauth_client c = {0};
	int err = json_read_copy(root, "client_id", c.id, sizeof c.id);

	if (!err && json_is_string(json_object_get(root, "client_secret")))
		err = json_read_copy(root, "client_secret", c.secret, sizeof c.secret);
	if (!err)
		*out = c;
	explicit_bzero(&c, sizeof c);
	json_decref(root);
	return err;
}
