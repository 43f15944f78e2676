#include "control/mcp/grant.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/mcp/discovery.h"
#include "control/mcp/token_file.h"
#include "control/settings/record.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

enum { ASK_MS = 10000, RENEW_LEAST_S = 30, WHY_MAX = 200 };

struct grant {
	struct grant_conf conf;
	struct discovery *discovery;
	struct http_req *req; /* a request for a token; NULL: none runs */
	char metadata[OAUTH_URL_MAX];
	char issuer[OAUTH_URL_MAX], endpoint[OAUTH_URL_MAX]; /* "": not found yet */
	char resource[OAUTH_URL_MAX];
	char *secret, *refresh; /* of the record */
	char path[PATH_MAX];	/* of the sign-in; "": there is no state directory */
	bool signed_in;
	struct sign_in sign_in;
	char given[OAUTH_TOKEN_MAX];  /* the newest token that tokenh got */
	char former[OAUTH_TOKEN_MAX]; /* the one before, which may still be valid */
	struct tmr *renew;
};

/* ---- the sign-in ---- */

/* A journal would not hold the file, so with one nothing is read. */
static bool read_sign_in(struct grant *g)
{
	int err = !*g->path || env_journalled(g->conf.env)
			  ? ENOENT
			  : sign_in_read(g->path, g->conf.record->url, &g->sign_in);

	if (err && err != ENOENT)
		log_warn("mcp_grant", "server=%s file=%s error=\"%s\"", g->conf.record->name,
			 g->path,
			 err == EACCES	  ? "it is the sign-in of another address"
			 : err == EBADMSG ? "it is malformed"
					  : strerror(err));
	g->signed_in = !err;
	return g->signed_in;
}

/* A public client has an issuer without credentials, and needs a sign-in. */
static bool has_credentials(const struct grant *g)
{
	const struct mcp_record *r = g->conf.record;

	return *r->issuer &&
	       (*g->secret || *g->refresh || *r->client_secret_file || *r->refresh_token_file);
}

bool grant_wanted(struct grant *g)
{
	return has_credentials(g) || read_sign_in(g);
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
	g->secret = token_of_record(conf->record->values, MCP_CLIENT_SECRET);
	g->refresh = token_of_record(conf->record->values, MCP_REFRESH_TOKEN);
	if (!g->secret || !g->refresh || tmr_alloc(&g->renew, conf->env, renew, g)) {
		grant_free(g);
		return ENOMEM;
	}
	if (!conf->state_dir ||
	    sign_in_path(conf->state_dir, conf->record->name, g->path, sizeof g->path))
		*g->path = '\0';
	*out = g;
	return 0;
}

struct grant *grant_free(struct grant *g)
{
	if (!g)
		return NULL;
	if (g->req)
		http_req_cancel(g->req);
	discovery_free(g->discovery);
	tmr_free(g->renew);
	token_wipe(g->secret);
	token_wipe(g->refresh);
	explicit_bzero(g, sizeof *g);
	free(g);
	return NULL;
}

void grant_challenge(struct grant *g, const struct oauth_challenge *challenge)
{
	snprintf(g->metadata, sizeof g->metadata, "%s", challenge->metadata);
	*g->endpoint = '\0';
}

static void fail(struct grant *g, const char *why)
{
	log_warn("mcp_grant", "server=%s why=\"%s\"", g->conf.record->name, why);
	g->conf.failedh(why, g->conf.arg);
}

static void fail_for_sign_in(struct grant *g, const char *what)
{
	char why[WHY_MAX];

	snprintf(why, sizeof why, "%s: run control --mcp-login %s", what, g->conf.record->name);
	fail(g, why);
}

/* ---- a token that came ---- */

static void warn_of_file(const struct grant *g, const char *path, int err)
{
	if (err)
		log_warn("mcp_grant",
			 "server=%s file=%s error=\"%s\" advice=\"the new token is lost with a "
			 "restart\"",
			 g->conf.record->name, path, strerror(err));
}

static void keep_refresh_token(struct grant *g, const char *token)
{
	const struct mcp_record *r = g->conf.record;
	char *copy = strdup(token);

	if (!copy)
		return;
	token_wipe(g->refresh);
	g->refresh = copy;
	if (*r->refresh_token_file && !env_replaying(g->conf.env))
		warn_of_file(g, r->refresh_token_file,
			     token_file_write(r->refresh_token_file, copy));
}

/* False: the operator signed in again, or signed out, while the token was under way. */
static bool is_still_kept(const struct grant *g)
{
	const struct sign_in *s = &g->sign_in;
	struct sign_in kept = {0};
	bool same = !sign_in_read(g->path, g->conf.record->url, &kept) &&
		    strcmp(kept.client.id, s->client.id) == 0 &&
		    strcmp(kept.access, s->access) == 0 && strcmp(kept.refresh, s->refresh) == 0;

	explicit_bzero(&kept, sizeof kept);
	return same;
}

static void keep_sign_in(struct grant *g, const struct oauth_token *token)
{
	struct sign_in *s = &g->sign_in;

	if (!is_still_kept(g))
		return;
	snprintf(s->access, sizeof s->access, "%s", token->access);
	if (*token->refresh)
		snprintf(s->refresh, sizeof s->refresh, "%s", token->refresh);
	s->expires_ms =
		token->seconds ? env_wall_ms(g->conf.env) + token->seconds * UINT64_C(1000) : 0;
	warn_of_file(g, g->path, sign_in_write(g->path, s));
}

/* seconds: until it expires; 0: not known. */
static void give_token(struct grant *g, const char *access, uint64_t seconds)
{
	char header[OAUTH_TOKEN_MAX + 32];
	uint64_t wait_s = seconds * 3 / 4;

	log_lease_again(g->former, access);
	memcpy(g->former, g->given, sizeof g->former);
	snprintf(g->given, sizeof g->given, "%s", access);
	if (seconds)
		tmr_start(g->renew, (wait_s > RENEW_LEAST_S ? wait_s : RENEW_LEAST_S) * NS_PER_S);
	snprintf(header, sizeof header, "Authorization: Bearer %s", access);
	g->conf.tokenh(header, g->conf.arg);
	explicit_bzero(header, sizeof header);
}

static void refuse_token(struct grant *g, const struct http_resp *resp)
{
	char error[64], why[WHY_MAX];

	oauth_read_error(resp->body.p, resp->body.n, error, sizeof error);
	snprintf(why, sizeof why, "the authorization server gives no token: %s",
		 *error ? error : "its answer cannot be read");
	if (g->signed_in && strcmp(error, "invalid_grant") == 0)
		fail_for_sign_in(g, why);
	else
		fail(g, why);
}

static void on_token(const struct http_resp *resp, void *arg)
{
	struct grant *g = arg;
	struct oauth_token token = {0};

	g->req = NULL;
	if (resp->err) {
		fail(g, "the authorization server cannot be reached");
		return;
	}
	if (resp->status != 200 || oauth_read_token(resp->body.p, resp->body.n, &token)) {
		refuse_token(g, resp);
		return;
	}
	if (*token.refresh)
		log_lease_again(g->signed_in ? g->sign_in.refresh : g->refresh, token.refresh);
	if (g->signed_in)
		keep_sign_in(g, &token);
	else if (*token.refresh && strcmp(token.refresh, g->refresh) != 0)
		keep_refresh_token(g, token.refresh);
	give_token(g, token.access, token.seconds);
	explicit_bzero(&token, sizeof token);
}

/* ---- requests ---- */

static struct discovery_conf describe_discovery(struct grant *g);

static void ask_token(struct grant *g)
{
	static const char *const headers[] = {"Content-Type: application/x-www-form-urlencoded",
					      "Accept: application/json", NULL};
	const struct mcp_record *r = g->conf.record;
	const struct discovery_conf conf = describe_discovery(g);
	struct http *http = discovery_http(&conf, g->endpoint);
	struct oauth_ask ask = {.client_id = r->client_id,
				.client_secret = g->secret,
				.refresh_token = g->refresh,
				.scope = r->scope,
				.resource = g->resource};
	char *body;

	if (g->signed_in)
		ask = (struct oauth_ask){.client_id = g->sign_in.client.id,
					 .client_secret = g->sign_in.client.secret,
					 .refresh_token = g->sign_in.refresh,
					 .scope = "",
					 .resource = g->sign_in.resource};
	if (!http) {
		fail(g, "the authorization server is at an address that is not public");
		return;
	}
	body = oauth_ask_body(&ask);
	if (!body || http_request(&g->req, http,
				  &(struct http_call){.method = "POST",
						      .url = g->endpoint,
						      .headers = headers,
						      .body = body,
						      .body_len = strlen(body),
						      .timeout_ms = ASK_MS,
						      .max_body = OAUTH_BODY_MAX},
				  on_token, g))
		fail(g, "there is no memory");
	token_wipe(body);
}

static void on_found(const struct oauth_resource *resource, const struct oauth_issuer *issuer,
		     void *arg)
{
	struct grant *g = arg;

	snprintf(g->endpoint, sizeof g->endpoint, "%s", issuer->token);
	snprintf(g->resource, sizeof g->resource, "%s", resource->resource);
	g->discovery = discovery_free(g->discovery);
	ask_token(g);
}

static void on_not_found(const char *why, void *arg)
{
	struct grant *g = arg;

	g->discovery = discovery_free(g->discovery);
	fail(g, why);
}

static struct discovery_conf describe_discovery(struct grant *g)
{
	return (struct discovery_conf){.http = g->conf.http,
				       .guarded = g->conf.guarded,
				       .server = g->conf.record->url,
				       .metadata = g->metadata,
				       .issuer = g->issuer,
				       .trusted = g->conf.record->issuer,
				       .foundh = on_found,
				       .failedh = on_not_found,
				       .arg = g};
}

/* Renews the sign-in, or uses the credentials of the record. */
static void begin_asking(struct grant *g)
{
	const char *issuer = g->signed_in ? g->sign_in.issuer : g->conf.record->issuer;
	struct discovery_conf conf;

	if (strcmp(issuer, g->issuer) != 0)
		*g->endpoint = '\0';
	snprintf(g->issuer, sizeof g->issuer, "%s", issuer);
	if (*g->endpoint) {
		ask_token(g);
		return;
	}
	conf = describe_discovery(g);
	if (discovery_alloc(&g->discovery, &conf))
		fail(g, "there is no memory");
}

/* The token of the sign-in, unless the server has refused it. */
static bool give_kept_token(struct grant *g)
{
	const struct sign_in *s = &g->sign_in;
	uint64_t now = env_wall_ms(g->conf.env);

	if (!*s->access || strcmp(s->access, g->given) == 0 ||
	    (s->expires_ms && s->expires_ms <= now))
		return false;
	give_token(g, s->access,
		   s->expires_ms && *s->refresh ? (s->expires_ms - now) / 1000 + 1 : 0);
	return true;
}

void grant_get(struct grant *g)
{
	if (g->req || g->discovery)
		return;
	if (env_journalled(g->conf.env)) {
		fail(g, "no token is requested while a journal is written, which would hold it");
		return;
	}
	tmr_stop(g->renew);
	if (read_sign_in(g) && give_kept_token(g))
		return;
	if (g->signed_in && !*g->sign_in.refresh)
		fail_for_sign_in(g, "the sign-in has expired");
	else if (!g->signed_in && !has_credentials(g))
		fail_for_sign_in(g, "it wants a sign-in");
	else
		begin_asking(g);
}
