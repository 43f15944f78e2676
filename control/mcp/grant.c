#include "control/mcp/grant.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/dialect/oauth.h"
#include "control/settings/record.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

enum { ASK_MS = 10000, RENEW_LEAST_S = 30 };

struct grant {
	struct grant_conf conf;
	struct http_req *req; /* NULL: nothing is asked */
	enum { ASKS_RESOURCE, ASKS_ISSUER, ASKS_TOKEN } asks;
	unsigned place;
	char endpoint[OAUTH_URL_MAX]; /* "": not found yet */
	char *secret, *refresh;
	struct tmr *renew;
};

bool grant_wanted(const struct mcp_record *record)
{
	return *record->issuer != '\0';
}

static char *read_value(const char *values, const char *name)
{
	json_t *root = *values ? json_loads(values, 0, NULL) : NULL;
	const char *value = json_string_value(json_object_get(root, name));
	char *copy = strdup(value ? value : "");

	json_decref(root);
	return copy;
}

static void renew(void *arg)
{
	grant_get(arg);
}

int grant_alloc(struct grant **out, const struct grant_conf *conf)
{
	struct grant *g = calloc(1, sizeof *g);

	if (!g)
		return ENOMEM;
	g->conf = *conf;
	g->secret = read_value(conf->record->values, MCP_CLIENT_SECRET);
	g->refresh = read_value(conf->record->values, MCP_REFRESH_TOKEN);
	if (!g->secret || !g->refresh || tmr_alloc(&g->renew, conf->env, renew, g)) {
		grant_free(g);
		return ENOMEM;
	}
	*out = g;
	return 0;
}

static void wipe(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

struct grant *grant_free(struct grant *g)
{
	if (!g)
		return NULL;
	if (g->req)
		http_req_cancel(g->req);
	tmr_free(g->renew);
	wipe(g->secret);
	wipe(g->refresh);
	free(g);
	return NULL;
}

static void fail(struct grant *g, const char *why)
{
	log_warn("mcp_grant", "server=%s why=\"%s\"", g->conf.record->name, why);
	g->conf.failedh(why, g->conf.arg);
}

/* ---- a refresh token that was replaced ---- */

static int write_file(const char *path, const char *text)
{
	char beside[RECORD_PATH_MAX + 8];
	size_t n = strlen(text);
	int fd, err = 0;

	snprintf(beside, sizeof beside, "%s.new", path);
	fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return errno;
	if (fchmod(fd, 0600) || write(fd, text, n) != (ssize_t)n || fsync(fd))
		err = errno ? errno : EIO;
	close(fd);
	if (!err && rename(beside, path))
		err = errno;
	if (err)
		unlink(beside);
	return err;
}

static void keep_refresh_token(struct grant *g, const char *token)
{
	const struct mcp_record *r = g->conf.record;
	char *copy = strdup(token);
	int err;

	if (!copy)
		return;
	wipe(g->refresh);
	g->refresh = copy;
	log_lease(copy);
	if (!*r->refresh_token_file || env_replaying(g->conf.env))
		return;
	err = write_file(r->refresh_token_file, copy);
	if (err)
		log_warn("mcp_grant",
			 "server=%s file=%s error=\"%s\" advice=\"the new refresh token is lost "
			 "with a restart\"",
			 r->name, r->refresh_token_file, strerror(err));
}

/* ---- requests ---- */

static void ask_next(struct grant *g);

static void take_token(struct grant *g, const struct http_resp *resp)
{
	struct oauth_token token = {0};
	char header[OAUTH_TOKEN_MAX + 32], error[64], why[160];
	uint64_t seconds;

	if (resp->status != 200 || oauth_read_token(resp->body.p, resp->body.n, &token)) {
		oauth_read_error(resp->body.p, resp->body.n, error, sizeof error);
		snprintf(why, sizeof why, "the authorization server gives no token: %s",
			 *error ? error : "its answer cannot be read");
		fail(g, why);
		return;
	}
	log_lease(token.access);
	if (*token.refresh && strcmp(token.refresh, g->refresh) != 0)
		keep_refresh_token(g, token.refresh);
	seconds = token.seconds * 3 / 4;
	if (token.seconds)
		tmr_start(g->renew, (seconds > RENEW_LEAST_S ? seconds : RENEW_LEAST_S) * NS_PER_S);
	snprintf(header, sizeof header, "Authorization: Bearer %s", token.access);
	explicit_bzero(&token, sizeof token);
	g->conf.tokenh(header, g->conf.arg);
	explicit_bzero(header, sizeof header);
}

/* Goes on, or tells why it cannot: err of the metadata. */
static void take_metadata(struct grant *g, int err)
{
	if (err == EACCES || err == EPERM) {
		fail(g, g->asks == ASKS_ISSUER
				? "the metadata are those of another authorization server"
			: err == EACCES
				? "the metadata are those of another server"
				: "the server does not name the authorization server of the "
				  "settings");
	} else if (err) {
		g->place++;
		ask_next(g);
	} else {
		g->asks = g->asks == ASKS_RESOURCE ? ASKS_ISSUER : ASKS_TOKEN;
		g->place = 0;
		ask_next(g);
	}
}

static void on_response(const struct http_resp *resp, void *arg)
{
	struct grant *g = arg;
	const struct mcp_record *r = g->conf.record;

	g->req = NULL;
	if (resp->err) {
		fail(g, "the authorization server or the server's metadata cannot be reached");
	} else if (g->asks == ASKS_TOKEN) {
		take_token(g, resp);
	} else if (resp->status != 200) {
		take_metadata(g, ENOENT);
	} else if (g->asks == ASKS_RESOURCE) {
		take_metadata(g,
			      oauth_check_resource(resp->body.p, resp->body.n, r->url, r->issuer));
	} else {
		take_metadata(g, oauth_read_issuer(resp->body.p, resp->body.n, r->issuer,
						   g->endpoint, sizeof g->endpoint));
	}
}

static void ask_token(struct grant *g)
{
	static const char *const headers[] = {"Content-Type: application/x-www-form-urlencoded",
					      "Accept: application/json", NULL};
	const struct mcp_record *r = g->conf.record;
	char *body = oauth_ask_body(&(struct oauth_ask){.client_id = r->client_id,
							.client_secret = g->secret,
							.refresh_token = g->refresh,
							.scope = r->scope,
							.resource = r->url});

	if (!body || http_request(&g->req, g->conf.http,
				  &(struct http_call){.method = "POST",
						      .url = g->endpoint,
						      .headers = headers,
						      .body = body,
						      .body_len = strlen(body),
						      .timeout_ms = ASK_MS,
						      .max_body = OAUTH_BODY_MAX},
				  on_response, g))
		fail(g, "there is no memory");
	wipe(body);
}

static void ask_next(struct grant *g)
{
	const struct mcp_record *r = g->conf.record;
	char url[OAUTH_URL_MAX];
	int err;

	if (g->asks == ASKS_TOKEN) {
		ask_token(g);
		return;
	}
	err = g->asks == ASKS_RESOURCE ? oauth_resource_place(r->url, g->place, url, sizeof url)
				       : oauth_issuer_place(r->issuer, g->place, url, sizeof url);
	if (err) {
		fail(g, err == EINVAL ? "the address is neither https nor on this machine"
			: g->asks == ASKS_RESOURCE
				? "the server does not tell its authorization server"
				: "the authorization server tells nothing of itself");
		return;
	}
	if (http_request(&g->req, g->conf.http,
			 &(struct http_call){.method = "GET",
					     .url = url,
					     .timeout_ms = ASK_MS,
					     .max_body = OAUTH_BODY_MAX},
			 on_response, g))
		fail(g, "there is no memory");
}

void grant_get(struct grant *g)
{
	if (g->req)
		return;
	if (env_journalled(g->conf.env)) {
		fail(g, "no token is requested while a journal is written, which would hold it");
		return;
	}
	tmr_stop(g->renew);
	g->asks = *g->endpoint ? ASKS_TOKEN : ASKS_RESOURCE;
	g->place = 0;
	ask_next(g);
}
