#include "control/dialect/oauth.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/dialect/json_read.h"

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
	if (!host || strpbrk(url, "@?# \t\r\n\\\""))
		return NULL;
	return host + strcspn(host, "/");
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

/* Equal but for slashes at the end. */
static bool same_address(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);

	while (n && a[n - 1] == '/')
		n--;
	while (m && b[m - 1] == '/')
		m--;
	return n == m && memcmp(a, b, n) == 0;
}

/* ---- metadata ---- */

int oauth_check_resource(const char *text, size_t n, const char *server, const char *issuer)
{
	json_t *root = json_loadb(text, n, 0, NULL), *item;
	const char *resource = json_string_value(json_object_get(root, "resource"));
	int err = !resource ? EBADMSG : same_address(resource, server) ? EPERM : EACCES;
	size_t i;

	json_array_foreach(json_object_get(root, "authorization_servers"), i, item)
	{
		if (err == EPERM && json_is_string(item) &&
		    same_address(json_string_value(item), issuer))
			err = 0;
	}
	json_decref(root);
	return err;
}

int oauth_read_issuer(const char *text, size_t n, const char *issuer, char *endpoint, size_t size)
{
	json_t *root = json_loadb(text, n, 0, NULL);
	const char *named = json_string_value(json_object_get(root, "issuer"));
	const char *token = json_string_value(json_object_get(root, "token_endpoint"));
	int err = 0;

	if (!named || !token || !find_path(token) || strlen(token) >= size)
		err = EBADMSG;
	else if (!same_address(named, issuer))
		err = EACCES;
	else
		memcpy(endpoint, token, strlen(token) + 1);
	json_decref(root);
	return err;
}

/* ---- tokens ---- */

struct form {
	char *at, *end;
};

static void put(struct form *f, char c)
{
	if (f->at < f->end)
		*f->at++ = c;
}

static void add_field(struct form *f, const char *name, const char *value)
{
	static const char hex[] = "0123456789ABCDEF";

	if (!*value)
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

char *oauth_ask_body(const struct oauth_ask *ask)
{
	size_t size =
		3 * (strlen(ask->client_id) + strlen(ask->client_secret) +
		     strlen(ask->refresh_token) + strlen(ask->scope) + strlen(ask->resource)) +
		256;
	char *body = malloc(size);
	struct form f = {body, body + size - 1};

	if (!body)
		return NULL;
	add_field(&f, "grant_type", *ask->refresh_token ? "refresh_token" : "client_credentials");
	add_field(&f, "refresh_token", ask->refresh_token);
	add_field(&f, "client_id", ask->client_id);
	add_field(&f, "client_secret", ask->client_secret);
	add_field(&f, "scope", ask->scope);
	add_field(&f, "resource", ask->resource);
	*f.at = '\0';
	memmove(body, body + 1, (size_t)(f.at - body)); /* the first & */
	return body;
}

/* What may stand in a header (RFC 6750 section 2.1). */
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
