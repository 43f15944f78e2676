/* OAuth2: the authorization code grant with PKCE (RFC 6749 section 4.1, RFC 7636), as Discord has
 * it ("OAuth2"). A person's consent is given over the control API, instead of at Discord's page. */
#include "tests/guildd/rest_inside.h"

#include "tests/guildd/api_inside.h"
#include "tests/guildd/objects.h"

#include "ipc/env.h"
#include "proto/http/head.h"

#include <openssl/evp.h>
#include <stdio.h>

enum { CODE_MS = 60000, TOKEN_S = 604800, FIELD = 512, HASH = 32 };

/* ---- the page ---- */

static bool read_query(const char *url, const char *name, char out[FIELD])
{
	static struct http_head head;
	const char *query = strchr(url, '?');

	memset(&head, 0, sizeof(head));
	if (query)
		head.query = (struct http_text){query + 1, strlen(query + 1)};
	return http_head_query(&head, name, out, FIELD) && *out;
}

/* NULL: a list has the text. */
static const char *lacks(const json_t *list, const char *text, const char *why)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (strcmp(json_string_value(json_array_get(list, i)), text) == 0)
			return NULL;
	return why;
}

static const char *scope_fault(const char *scope)
{
	static const char *const known[] = {"identify", "guilds", "email", "guilds.members.read"};

	while (*scope) {
		size_t n = strcspn(scope, " "), i = 0;

		while (i < sizeof(known) / sizeof(known[0]) &&
		       (strlen(known[i]) != n || strncmp(known[i], scope, n) != 0))
			i++;
		if (i == sizeof(known) / sizeof(known[0]))
			return "invalid scope";
		scope += n + strspn(scope + n, " ");
	}
	return NULL;
}

struct wish {
	char type[FIELD], client[FIELD], redirect[FIELD], scope[FIELD], state[FIELD];
	char challenge[FIELD], method[FIELD];
};

/* What Discord's page would show in red; NULL: nothing. */
static const char *wish_fault(const struct guildd *g, const char *url, struct wish *w)
{
	const struct gd_bot *b;

	*w = (struct wish){.type = ""};
	if (!read_query(url, "response_type", w->type) || strcmp(w->type, "code") != 0)
		return "unsupported response type";
	if (!read_query(url, "client_id", w->client) ||
	    !(b = gd_bot_find(g->world, gd_id_text(w->client))))
		return "unknown application";
	if (!read_query(url, "redirect_uri", w->redirect) || !read_query(url, "scope", w->scope))
		return "redirect_uri or scope is missing";
	read_query(url, "state", w->state);
	if (read_query(url, "code_challenge", w->challenge) &&
	    (!read_query(url, "code_challenge_method", w->method) ||
	     strcmp(w->method, "S256") != 0))
		return "invalid code challenge method";
	if (lacks(json_object_get(b->application, "redirect_uris"), w->redirect, "x"))
		return "invalid OAuth2 redirect_uri";
	return scope_fault(w->scope);
}

static json_t *keep_code(struct guildd *g, uint64_t user, const struct wish *w,
			 char code[GD_SECRET])
{
	json_t *o = json_pack("{s:o,s:s,s:s,s:s,s:s,s:I}", "user", gd_id_json(user), "client",
			      w->client, "redirect", w->redirect, "scope", w->scope, "challenge",
			      w->challenge, "until", (json_int_t)env_wall_ms(g->env) + CODE_MS);

	gd_secret(g, code);
	json_object_set_new(rest_codes(g->rest), code, o);
	return o;
}

/* {url, deny?}: the person agrees at this page, or not. -> {location}. */
void api_authorize(struct api_call *c)
{
	const char *url = api_text(c, "url", "");
	bool deny = json_is_true(json_object_get(c->body, "deny"));
	char code[GD_SECRET], location[2048];
	struct wish w;
	const char *fault = wish_fault(c->g, url, &w);

	if (!gd_user_find(c->g->world, c->id[0])) {
		api_result(c, ENOENT);
		return;
	}
	if (fault) {
		api_wrong(c, fault);
		return;
	}
	if (!deny)
		keep_code(c->g, c->id[0], &w, code);
	snprintf(location, sizeof(location), "%s?%s%s&state=%s", w.redirect,
		 deny ? "error=access_denied" : "code=", deny ? "" : code, w.state);
	api_ok(c, json_pack("{s:s}", "location", location));
}

/* ---- the token ---- */

static void refuse(struct rest_call *c, int status, const char *error)
{
	rest_status(c, status, json_pack("{s:s}", "error", error));
}

static const char *field(const struct rest_call *c, const char *name)
{
	const char *text = json_string_value(json_object_get(c->body, name));

	return text ? text : "";
}

static bool is_client(const struct rest_call *c)
{
	const struct gd_bot *b = gd_bot_find(c->g->world, gd_id_text(field(c, "client_id")));
	const char *secret =
		b ? json_string_value(json_object_get(b->application, "client_secret")) : NULL;

	return secret && *secret && strcmp(secret, field(c, "client_secret")) == 0;
}

static bool verifies(const char *challenge, const char *verifier)
{
	uint8_t hash[HASH], text[4 * HASH];
	size_t n;

	if (!*challenge)
		return true;
	if (strlen(verifier) < 43 || strlen(verifier) > 128 ||
	    !EVP_Digest(verifier, strlen(verifier), hash, NULL, EVP_sha256(), NULL))
		return false;
	n = (size_t)EVP_EncodeBlock(text, hash, sizeof(hash));
	while (n && text[n - 1] == '=')
		n--;
	for (size_t i = 0; i < n; i++)
		text[i] = text[i] == '+' ? '-' : text[i] == '/' ? '_' : text[i];
	return strlen(challenge) == n && memcmp(challenge, text, n) == 0;
}

static const char *part_of(const json_t *code, const char *name)
{
	return json_string_value(json_object_get(code, name));
}

static bool fits(const struct rest_call *c, const json_t *code)
{
	return json_integer_value(json_object_get(code, "until")) >
		       (json_int_t)env_wall_ms(c->g->env) &&
	       strcmp(part_of(code, "client"), field(c, "client_id")) == 0 &&
	       strcmp(part_of(code, "redirect"), field(c, "redirect_uri")) == 0 &&
	       verifies(part_of(code, "challenge"), field(c, "code_verifier"));
}

/* A code that comes again was stolen: what it gave is void, too (RFC 6749 section 4.1.2). */
static void revoke(struct rest_call *c, const json_t *code)
{
	const char *token = part_of(code, "token");

	if (token)
		json_object_del(rest_tokens(c->g->rest), token);
}

static void give_token(struct rest_call *c, json_t *code)
{
	char access[GD_SECRET], again[GD_SECRET];

	gd_secret(c->g, access);
	gd_secret(c->g, again);
	json_object_set_new(rest_tokens(c->g->rest), access,
			    json_pack("{s:s,s:s}", "user", part_of(code, "user"), "scope",
				      part_of(code, "scope")));
	json_object_set_new(code, "token", json_string(access));
	rest_ok(c, json_pack("{s:s,s:s,s:i,s:s,s:s}", "access_token", access, "token_type",
			     "Bearer", "expires_in", (int)TOKEN_S, "refresh_token", again, "scope",
			     part_of(code, "scope")));
}

void rest_oauth_token(struct rest_call *c)
{
	const char *type = httpd_header(c->http, "Content-Type");
	json_t *code = json_object_get(rest_codes(c->g->rest), field(c, "code"));

	if (!type || strcmp(type, "application/x-www-form-urlencoded") != 0 ||
	    !json_is_object(c->body)) {
		refuse(c, 400, "invalid_request");
	} else if (!is_client(c)) {
		refuse(c, 401, "invalid_client");
	} else if (strcmp(field(c, "grant_type"), "authorization_code") != 0) {
		refuse(c, 400, "unsupported_grant_type");
	} else if (!code || part_of(code, "token") || !fits(c, code)) {
		if (code)
			revoke(c, code);
		refuse(c, 400, "invalid_grant");
	} else {
		give_token(c, code);
	}
}

/* ---- whose it is ---- */

bool rest_oauth_bearer(struct rest_call *c, const char *token)
{
	const json_t *t = json_object_get(rest_tokens(c->g->rest), token);
	bool guilds = c->http->n_seg > 4;
	const char *scope = part_of(t, "scope");

	c->user = t ? gd_user_find(c->g->world, gd_id_text(part_of(t, "user"))) : NULL;
	if (!c->user || strcmp(c->http->seg[2], "users") != 0 ||
	    strcmp(c->http->seg[3], "@me") != 0) {
		rest_error(c, 401, 0, "401: Unauthorized");
		return false;
	}
	if (!strstr(scope, guilds ? "guilds" : "identify")) {
		rest_error(c, 403, 50001, "Missing Access");
		return false;
	}
	return true;
}
