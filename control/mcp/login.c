#include "control/mcp/login.h"

#include <errno.h>
#include <limits.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/mcp/discovery.h"
#include "control/mcp/token_file.h"
#include "control/settings/record.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/http_server.h"
#include "ipc/log.h"
#include "ipc/tmr.h"

enum {
	ASK_MS = 10000,
	RANDOM = 32,
	TEXT_MAX = 64, /* of random bytes or a hash in base64url */
	CHALLENGE_MAX = 2048,
	WHY_MAX = 200,
	HTTP_ON = 1, /* of mcp_record.transport */
};

struct login {
	struct login_conf conf;
	struct http_req *req;
	struct discovery *discovery;
	struct http_server *server;
	struct tmr *end; /* what ends the sign-in must not be freed by its own handler */
	struct oauth_challenge challenge;
	struct oauth_issuer issuer;
	struct sign_in sign_in;
	char scope[OAUTH_SCOPE_MAX], path[PATH_MAX], redirect[64], why[WHY_MAX];
	char state[TEXT_MAX], verifier[TEXT_MAX];
	bool waits, failed;
};

/* ---- the end ---- */

static void tell_end(void *arg)
{
	struct login *l = arg;

	l->conf.endh(l->failed ? l->why : NULL, l->conf.arg);
}

static void fail(struct login *l, const char *why)
{
	snprintf(l->why, sizeof l->why, "%s", why);
	l->failed = true;
	l->waits = false;
	tmr_start(l->end, 0);
}

static void fail_with(struct login *l, const char *what, const struct http_resp *resp)
{
	char error[64], why[WHY_MAX];

	oauth_read_error(resp->body.p, resp->body.n, error, sizeof error);
	snprintf(why, sizeof why, "%s: %s", what,
		 resp->err == EACCES ? "its address is not public"
		 : resp->err	     ? "it cannot be reached"
		 : *error	     ? error
				     : "its answer cannot be read");
	fail(l, why);
}

/* ---- requests ---- */

static struct discovery_conf describe_discovery(struct login *l);

static void ask(struct login *l, const char *url, const char *type, char *body, http_resp_h *h)
{
	const char *headers[] = {type, "Accept: application/json, text/event-stream", NULL};
	const struct discovery_conf conf = describe_discovery(l);
	struct http *http = discovery_http(&conf, url);

	if (!http)
		fail(l, "the authorization server is at an address that is not public");
	else if (!body || http_request(&l->req, http,
				       &(struct http_call){.method = "POST",
							   .url = url,
							   .headers = headers,
							   .body = body,
							   .body_len = strlen(body),
							   .timeout_ms = ASK_MS,
							   .max_body = OAUTH_BODY_MAX},
				       h, l))
		fail(l, "there is no memory");
	token_wipe(body);
}

/* ---- the token ---- */

static void on_token(const struct http_resp *resp, void *arg)
{
	struct login *l = arg;
	struct sign_in *s = &l->sign_in;
	struct oauth_token token = {0};
	int err;

	l->req = NULL;
	if (resp->err || resp->status != 200 ||
	    oauth_read_token(resp->body.p, resp->body.n, &token)) {
		fail_with(l, "the authorization server gives no token", resp);
		return;
	}
	log_lease(token.access);
	snprintf(s->access, sizeof s->access, "%s", token.access);
	snprintf(s->refresh, sizeof s->refresh, "%s", token.refresh);
	if (token.seconds)
		s->expires_ms = env_wall_ms(l->conf.env) + token.seconds * UINT64_C(1000);
	explicit_bzero(&token, sizeof token);
	err = sign_in_write(l->path, s);
	if (err)
		fail(l, strerror(err));
	else
		tmr_start(l->end, 0);
}

static void ask_token(struct login *l, const char *code)
{
	const struct sign_in *s = &l->sign_in;

	ask(l, l->issuer.token, "Content-Type: application/x-www-form-urlencoded",
	    oauth_ask_body(&(struct oauth_ask){.client_id = s->client.id,
					       .client_secret = s->client.secret,
					       .refresh_token = "",
					       .scope = "",
					       .resource = s->resource,
					       .code = code,
					       .verifier = l->verifier,
					       .redirect = l->redirect}),
	    on_token);
}

/* ---- the browser ---- */

static void answer_browser(struct http_exchange *x, int status, const char *text)
{
	http_reply(x, status, "text/plain; charset=utf-8", text, strlen(text));
}

static void read_redirect(const struct http_head *head, struct oauth_redirect *r)
{
	http_head_query(head, "state", r->state, sizeof r->state);
	http_head_query(head, "code", r->code, sizeof r->code);
	http_head_query(head, "error", r->error, sizeof r->error);
	http_head_query(head, "iss", r->iss, sizeof r->iss);
}

static void on_browser(struct http_exchange *x, const struct http_head *head, void *arg)
{
	struct login *l = arg;
	struct oauth_redirect r;
	char why[WHY_MAX];
	int err;

	if (head->method != HTTP_GET || strcmp(head->path, "/callback") != 0) {
		answer_browser(x, 404, "There is nothing here.\n");
		return;
	}
	read_redirect(head, &r);
	err = oauth_check_redirect(&r, l->state, l->sign_in.issuer, l->issuer.names_itself);
	if (err == EACCES || err == EBADMSG || !l->waits) {
		answer_browser(x, 400, "This address does not belong to the open sign-in.\n");
	} else if (err) {
		snprintf(why, sizeof why, "the authorization server refused the sign-in: %s",
			 r.error);
		answer_browser(x, 200, "The sign-in was refused. You can close this page.\n");
		fail(l, why);
	} else {
		l->waits = false;
		answer_browser(
			x, 200,
			"Parley has the code and gets its token now. You can close this page.\n");
		ask_token(l, r.code);
	}
	explicit_bzero(&r, sizeof r);
}

static void make_text(struct login *l, char *out)
{
	uint8_t bytes[RANDOM];

	env_random(l->conf.env, bytes, sizeof bytes);
	oauth_base64url(bytes, sizeof bytes, out);
	explicit_bzero(bytes, sizeof bytes);
}

static void show_link(struct login *l)
{
	char link[OAUTH_LINK_MAX], challenge[TEXT_MAX];
	uint8_t hash[OAUTH_HASH];
	int err;

	make_text(l, l->state);
	make_text(l, l->verifier);
	if (!EVP_Digest(l->verifier, strlen(l->verifier), hash, NULL, EVP_sha256(), NULL)) {
		fail(l, "there is no memory");
		return;
	}
	oauth_base64url(hash, sizeof hash, challenge);
	err = oauth_sign_in_link(&(struct oauth_sign_in){.authorize = l->issuer.authorize,
							 .client_id = l->sign_in.client.id,
							 .redirect = l->redirect,
							 .scope = l->scope,
							 .resource = l->sign_in.resource,
							 .state = l->state,
							 .challenge = challenge},
				 link, sizeof link);
	if (err) {
		fail(l, "the authorization server has no page that can be opened");
		return;
	}
	l->waits = true;
	l->conf.linkh(link, l->sign_in.issuer, l->conf.arg);
}

/* ---- registration ---- */

static void on_client(const struct http_resp *resp, void *arg)
{
	struct login *l = arg;

	l->req = NULL;
	if (resp->err || resp->status < 200 || resp->status > 299 ||
	    oauth_read_client(resp->body.p, resp->body.n, &l->sign_in.client))
		fail_with(l, "the authorization server registers no client", resp);
	else
		show_link(l);
}

static void find_client(struct login *l)
{
	struct oauth_client *c = &l->sign_in.client;
	char *secret;

	if (!*l->conf.record->client_id && *l->issuer.registration) {
		ask(l, l->issuer.registration, "Content-Type: application/json",
		    oauth_register_body(l->redirect, l->scope), on_client);
		return;
	}
	if (!*l->conf.record->client_id) {
		fail(l,
		     "the authorization server registers nobody by itself: register Parley there "
		     "and set client_id");
		return;
	}
	secret = token_of_record(l->conf.record->values, MCP_CLIENT_SECRET);
	snprintf(c->id, sizeof c->id, "%s", l->conf.record->client_id);
	snprintf(c->secret, sizeof c->secret, "%s", secret ? secret : "");
	token_wipe(secret);
	show_link(l);
}

/* ---- discovery ---- */

static bool has_scope(const struct login *l, const char *scope, size_t n)
{
	const char *at = l->scope;

	while (*at) {
		size_t skip = strspn(at, " "), word = strcspn(at + skip, " ");

		if (word == n && strncmp(at + skip, scope, n) == 0)
			return true;
		at += skip + word;
	}
	return false;
}

/* Those that are not asked for yet: a step up must not lose what the server had before. */
static void add_scopes(struct login *l, const char *more)
{
	while (*more) {
		size_t skip = strspn(more, " "), n = strcspn(more + skip, " ");
		size_t used = strlen(l->scope);

		more += skip;
		if (n && used + n + 1 < sizeof l->scope && !has_scope(l, more, n))
			snprintf(l->scope + used, sizeof l->scope - used, "%s%.*s", used ? " " : "",
				 (int)n, more);
		more += n;
	}
}

static void choose_scope(struct login *l, const struct oauth_resource *resource)
{
	const char *const choices[] = {l->conf.record->scope, l->challenge.scope, resource->scope};
	unsigned i = 0;

	while (i < 2 && !*choices[i])
		i++;
	snprintf(l->scope, sizeof l->scope, "%s", choices[i]);
	add_scopes(l, l->conf.scope);
}

/* Without an issuer in the settings, a server could name an authorization server that sends the
 * operator to the page of another one and gets the code (RFC 9207, mix-up). */
static bool is_one_host(const struct login *l, const char *issuer)
{
	return *l->conf.record->issuer || (oauth_same_host(l->issuer.authorize, issuer) &&
					   oauth_same_host(l->issuer.token, issuer));
}

static void on_found(const struct oauth_resource *resource, const struct oauth_issuer *issuer,
		     void *arg)
{
	struct login *l = arg;

	l->issuer = *issuer;
	choose_scope(l, resource);
	snprintf(l->sign_in.resource, sizeof l->sign_in.resource, "%s", resource->resource);
	snprintf(l->sign_in.issuer, sizeof l->sign_in.issuer, "%s", resource->issuer);
	l->discovery = discovery_free(l->discovery);
	if (!issuer->s256) /* the specification forbids to go on */
		fail(l, "the authorization server does not say that it supports PKCE with S256");
	else if (!is_one_host(l, l->sign_in.issuer))
		fail(l, "the authorization server names pages of another host: set issuer");
	else
		find_client(l);
}

static void on_not_found(const char *why, void *arg)
{
	struct login *l = arg;

	l->discovery = discovery_free(l->discovery);
	fail(l, why);
}

static struct discovery_conf describe_discovery(struct login *l)
{
	return (struct discovery_conf){.http = l->conf.http,
				       .guarded = l->conf.guarded,
				       .server = l->conf.record->url,
				       .metadata = l->challenge.metadata,
				       .issuer = l->conf.record->issuer,
				       .trusted = l->conf.record->issuer,
				       .foundh = on_found,
				       .failedh = on_not_found,
				       .arg = l};
}

static void on_probe(const struct http_resp *resp, void *arg)
{
	struct login *l = arg;
	const struct discovery_conf conf = describe_discovery(l);
	char field[CHALLENGE_MAX];

	l->req = NULL;
	if (resp->err) {
		fail(l, "the server cannot be reached");
		return;
	}
	if (resp->status != 401) {
		fail(l, "the server wants no sign-in");
		return;
	}
	if (http_header(resp, "WWW-Authenticate", field, sizeof field))
		oauth_read_challenge(field, &l->challenge);
	if (discovery_alloc(&l->discovery, &conf))
		fail(l, "there is no memory");
}

static void probe(struct login *l)
{
	static const char body[] =
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
		"\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{"
		"\"name\":\"parley\",\"version\":\"1\"}}}";

	ask(l, l->conf.record->url, "Content-Type: application/json", strdup(body), on_probe);
}

int login_alloc(struct login **out, const struct login_conf *conf)
{
	struct login *l;
	int err;

	if (conf->record->transport != HTTP_ON || !oauth_may_send(conf->record->url))
		return EINVAL;
	l = calloc(1, sizeof *l);
	if (!l)
		return ENOMEM;
	l->conf = *conf;
	snprintf(l->sign_in.url, sizeof l->sign_in.url, "%s", conf->record->url);
	err = sign_in_path(conf->state_dir, conf->record->name, l->path, sizeof l->path);
	if (!err)
		err = tmr_alloc(&l->end, conf->env, tell_end, l);
	if (!err)
		err = http_server_alloc(&l->server, conf->env,
					&(struct http_server_conf){.h = on_browser, .arg = l});
	if (err) {
		login_free(l);
		return err;
	}
	snprintf(l->redirect, sizeof l->redirect, "http://127.0.0.1:%u/callback",
		 (unsigned)http_server_port(l->server));
	*out = l;
	probe(l);
	return 0;
}

struct login *login_free(struct login *l)
{
	if (!l)
		return NULL;
	if (l->req)
		http_req_cancel(l->req);
	discovery_free(l->discovery);
	http_server_free(l->server);
	tmr_free(l->end);
	explicit_bzero(l, sizeof *l);
	free(l);
	return NULL;
}
