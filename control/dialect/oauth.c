#include "control/dialect/oauth.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/json_read.h"
#include "control/dialect/oauth_inside.h"

enum { SECONDS_MAX = 30 * 86400 };

/* ---- addresses ---- */

/* The beginning of the path; NULL: it is no address that credentials may go to. */
static const char *find_path(const char *url)
{
	static const char *const loopback[] = {"http://127.0.0.1", "http://[::1]",
					       "http://localhost"};
	const char *host = strncmp(url, "https://", 8) == 0 ? url + 8 : NULL;

	for (size_t i = 0; !host && i < sizeof loopback / sizeof loopback[0]; i++) {
		size_t n = strlen(loopback[i]);

		if (strncmp(url, loopback[i], n) == 0 && strchr(":/", url[n]))
			host = url + n;
	}
	for (size_t i = 0; host && host[i]; i++)
		if (host[i] <= ' ' || host[i] > '~' || strchr("@?#\\\"", host[i]))
			return NULL;
	return host ? host + strcspn(host, "/") : NULL;
}

static int join(char *out, size_t size, const char *url, size_t host, const char *known,
		const char *path)
{
	size_t n = strlen(path);

	while (n && path[n - 1] == '/')
		n--;
	return snprintf(out, size, "%.*s%s%.*s", (int)host, url, known, (int)n, path) < (int)size
		       ? 0
		       : EMSGSIZE;
}

int oauth_resource_place(const char *server, unsigned place, char *out, size_t size)
{
	static const char known[] = "/.well-known/oauth-protected-resource";
	const char *path = find_path(server);

	if (!path)
		return EINVAL;
	if (place > 1 || (place == 1 && (!*path || strcmp(path, "/") == 0)))
		return ENOENT;
	return join(out, size, server, (size_t)(path - server), known, place ? "" : path);
}

int oauth_issuer_place(const char *issuer, unsigned place, char *out, size_t size)
{
	const char *path = find_path(issuer);
	size_t host = path ? (size_t)(path - issuer) : 0;

	if (!path)
		return EINVAL;
	switch (place) {
	case 0:
		return join(out, size, issuer, host, "/.well-known/oauth-authorization-server",
			    path);
	case 1:
		return join(out, size, issuer, host, "/.well-known/openid-configuration", path);
	case 2:
		/* Without a path it is the same as the one before. */
		return *path && strcmp(path, "/") != 0
			       ? join(out, size, issuer,
				      strlen(issuer) - (issuer[strlen(issuer) - 1] == '/'),
				      "/.well-known/openid-configuration", "")
			       : ENOENT;
	default:
		return ENOENT;
	}
}

bool oauth_may_send(const char *url)
{
	return find_path(url) != NULL;
}

static size_t host_length(const char *url)
{
	const char *host = strstr(url, "://");

	if (!host)
		return 0;
	host += 3;
	host += *host == '[' ? strcspn(host, "]/") : strcspn(host, ":/");
	return (size_t)(host - url);
}

bool oauth_same_host(const char *a, const char *b)
{
	size_t n = host_length(a);

	return n && n == host_length(b) && memcmp(a, b, n) == 0;
}

bool oauth_same_origin(const char *a, const char *b)
{
	size_t n = host_length(a), m = host_length(b);

	return oauth_same_host(a, b) && strcspn(a + n, "/") == strcspn(b + m, "/") &&
	       memcmp(a + n, b + m, strcspn(a + n, "/")) == 0;
}

static size_t plain_length(const char *url)
{
	size_t n = strlen(url);

	while (n && url[n - 1] == '/')
		n--;
	return n;
}

bool oauth_same_address(const char *a, const char *b)
{
	size_t n = plain_length(a);

	return n == plain_length(b) && memcmp(a, b, n) == 0;
}

/* The address itself, or one above it on the same host and port. */
static bool is_above(const char *above, const char *url)
{
	const char *path = find_path(url);
	size_t n = plain_length(above);

	return path && n >= (size_t)(path - url) && strncmp(above, url, n) == 0 &&
	       (!url[n] || url[n] == '/');
}

/* ---- metadata ---- */

static bool copy_address(const json_t *value, char *out, size_t size)
{
	const char *text = json_string_value(value);

	*out = '\0';
	if (!text || !find_path(text) || strlen(text) >= size)
		return false;
	memcpy(out, text, strlen(text) + 1);
	return true;
}

/* Characters of RFC 6749 section 3.3. */
static bool is_scope(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~' || *text == '"' || *text == '\\')
			return false;
	return true;
}

static void join_scopes(const json_t *list, char *out, size_t size)
{
	json_t *item;
	size_t i, n = 0;

	*out = '\0';
	json_array_foreach(list, i, item)
	{
		const char *text = json_string_value(item);

		if (!text || !*text || !is_scope(text) || n + strlen(text) + 2 > size)
			continue;
		n += (size_t)snprintf(out + n, size - n, "%s%s", n ? " " : "", text);
	}
}

int oauth_read_resource(const char *text, size_t n, const char *server, const char *issuer,
			struct oauth_resource *out)
{
	json_t *root = json_loadb(text, n, 0, NULL), *item;
	struct oauth_resource r;
	int err;
	size_t i;

	if (!copy_address(json_object_get(root, "resource"), r.resource, sizeof r.resource))
		err = json_is_string(json_object_get(root, "resource")) ? EACCES : EBADMSG;
	else
		err = is_above(r.resource, server) ? EPERM : EACCES;
	join_scopes(json_object_get(root, "scopes_supported"), r.scope, sizeof r.scope);
	json_array_foreach(json_object_get(root, "authorization_servers"), i, item)
	{
		if (err == EPERM && copy_address(item, r.issuer, sizeof r.issuer) &&
		    (!*issuer || oauth_same_address(r.issuer, issuer)))
			err = 0;
	}
	json_decref(root);
	if (!err)
		*out = r;
	return err;
}

static bool lists(const json_t *list, const char *word)
{
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		if (json_is_string(item) && strcmp(json_string_value(item), word) == 0)
			return true;
	}
	return false;
}

int oauth_read_issuer(const char *text, size_t n, const char *issuer, struct oauth_issuer *out)
{
	json_t *root = json_loadb(text, n, 0, NULL);
	const char *named = json_string_value(json_object_get(root, "issuer"));
	struct oauth_issuer o;
	int err = 0;

	copy_address(json_object_get(root, "authorization_endpoint"), o.authorize,
		     sizeof o.authorize);
	copy_address(json_object_get(root, "registration_endpoint"), o.registration,
		     sizeof o.registration);
	o.s256 = lists(json_object_get(root, "code_challenge_methods_supported"), "S256");
	o.names_itself = json_is_true(
		json_object_get(root, "authorization_response_iss_parameter_supported"));
	if (!copy_address(json_object_get(root, "token_endpoint"), o.token, sizeof o.token) ||
	    !named)
		err = EBADMSG;
	else if (!oauth_same_address(named, issuer))
		err = EACCES;
	else
		*out = o;
	json_decref(root);
	return err;
}

/* ---- tokens ---- */

static size_t length_of(const char *text)
{
	return text ? strlen(text) : 0;
}

char *oauth_ask_body(const struct oauth_ask *ask)
{
	size_t size =
		3 * (strlen(ask->client_id) + strlen(ask->client_secret) +
		     strlen(ask->refresh_token) + strlen(ask->scope) + strlen(ask->resource) +
		     length_of(ask->code) + length_of(ask->verifier) + length_of(ask->redirect)) +
		256;
	char *body = malloc(size);
	struct oauth_form f = {body, body + size - 1};

	if (!body)
		return NULL;
	oauth_form_add(&f, "grant_type",
		       ask->code	     ? "authorization_code"
		       : *ask->refresh_token ? "refresh_token"
					     : "client_credentials");
	oauth_form_add(&f, "code", ask->code);
	oauth_form_add(&f, "code_verifier", ask->verifier);
	oauth_form_add(&f, "redirect_uri", ask->redirect);
	oauth_form_add(&f, "refresh_token", ask->code ? NULL : ask->refresh_token);
	oauth_form_add(&f, "client_id", ask->client_id);
	oauth_form_add(&f, "client_secret", ask->client_secret);
	oauth_form_add(&f, "scope", ask->code ? NULL : ask->scope);
	oauth_form_add(&f, "resource", ask->resource);
	*f.at = '\0';
	memmove(body, body + 1, (size_t)(f.at - body)); /* the first & */
	return body;
}

/* Characters that are valid in a header (RFC 6750 section 2.1). */
static bool is_bearer(const char *token)
{
	return *token && !token[strspn(token, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					      "0123456789-._~+/=")];
}

static bool is_bearer_type(const char *type)
{
	static const char bearer[] = "bearer";

	for (size_t i = 0; i < sizeof bearer; i++)
		if ((type[i] >= 'A' && type[i] <= 'Z' ? type[i] + 32 : type[i]) != bearer[i])
			return false;
	return true;
}

int oauth_read_token(const char *text, size_t n, struct oauth_token *out)
{
	json_t *root = json_loadb(text, n, 0, NULL);
	const char *type = json_string_value(json_object_get(root, "token_type"));
	json_int_t seconds = json_integer_value(json_object_get(root, "expires_in"));
	struct oauth_token t = {0};
	int err = 0;

	if (!type || !is_bearer_type(type) ||
	    json_read_copy(root, "access_token", t.access, sizeof t.access) || !is_bearer(t.access))
		err = EBADMSG;
	if (!err && json_object_get(root, "refresh_token"))
		err = json_read_copy(root, "refresh_token", t.refresh, sizeof t.refresh);
	t.seconds = seconds < 0 ? 0 : seconds > SECONDS_MAX ? SECONDS_MAX : (uint32_t)seconds;
	if (!err)
		*out = t;
	explicit_bzero(&t, sizeof t);
	json_decref(root);
	return err;
}

void oauth_read_error(const char *text, size_t n, char *out, size_t size)
{
	json_t *root = json_loadb(text, n, 0, NULL);

	if (json_read_copy(root, "error", out, size) ||
	    out[strspn(out, "abcdefghijklmnopqrstuvwxyz_")])
		*out = '\0';
	json_decref(root);
}
