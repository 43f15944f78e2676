#include "control/web/discord_sign_in.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include <openssl/evp.h>

#include "control/dialect/oauth.h"
#include "control/settings/settings.h"
#include "control/web/cookies.h"
#include "control/web/discord_grant.h"
#include "control/web/inside.h"
#include "control/web/origins.h"
#include "control/web/sessions.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/rate_limit.h"
#include "proto/base/time.h"
#include "proto/http/retry_after.h"

enum {
	ASK_MS = 10000,
	ANSWER_MAX = 1 << 20, /* of somebody who is in 200 servers */
	RANDOM = 32,
	STRAY_EVERY_S = 600,
	TEXT_MAX = 64, /* of random bytes or a hash in base64url */
	URL_MAX = 320,
	FIELD_MAX = OAUTH_TOKEN_MAX + 32,
};

/* A browser that was sent to Discord. */
struct pending {
	uint64_t id; /* 0: free */
	uint64_t expires_ms;
	char state[TEXT_MAX], verifier[TEXT_MAX], secret[WEB_KEYED_HEX], redirect[URL_MAX];
};

/* One that came back with a code, while Discord is asked. */
struct attempt {
	struct discord_sign_in *all;
	struct http_exchange *x; /* NULL: free */
	struct http_req *req;
	uint64_t user;
	char access[OAUTH_TOKEN_MAX];
};

/* A session whose person is asked about again. */
struct grant {
	uint64_t session; /* 0: free */
	uint64_t user;
	struct discord_grants servers;
	uint64_t due, confirmed; /* ns */
	unsigned fails;		 /* questions without an answer since then */
	char access[OAUTH_TOKEN_MAX];
};

struct discord_sign_in {
	struct discord_sign_in_conf conf;
	char cookie[40];
	struct pending pending[DISCORD_PENDING_MAX];
	uint64_t last;
	uint64_t seen; /* the pending one whose cookie the head looked at last has */
	struct attempt attempts[DISCORD_ATTEMPTS_MAX];
	struct grant grants[SESSIONS_MAX];
	struct grant *asked; /* about which Discord is asked now; NULL */
	struct http_req *req;
	struct tmr *timer;
	struct rate_limit strays; /* rows of the audit about answers that nobody waits for */
};

bool discord_sign_in_is_on(const struct discord_sign_in *d)
{
	const struct settings *s = d->conf.settings;

	return d->conf.http && s && *s->web_discord_client && *s->web_discord_secret &&
	       (*s->web_discord_guild || s->web_discord_everywhere);
}

/* A person who looks at the answer in a browser gets the form again, with the reason; a program
 * gets the problem. */
static void turn_away(struct http_exchange *x, enum web_refusal refusal)
{
	const struct http_head *head = http_request_head(x);
	char location[64];

	if (!http_text_is(http_head_field(head, "Sec-Fetch-Dest"), "document")) {
		web_refuse(x, refusal);
		return;
	}
	snprintf(location, sizeof location, "/#refused=%s", web_refusal_code(refusal));
	http_reply_field(x, "Location", location);
	http_reply(x, 303, NULL, NULL, 0);
}

/* ---- to Discord ---- */

static void make_text(struct discord_sign_in *d, char out[TEXT_MAX])
{
	uint8_t bytes[RANDOM];

	env_random(d->conf.env, bytes, sizeof bytes);
	oauth_base64url(bytes, sizeof bytes, out);
	sodium_memzero(bytes, sizeof bytes);
}

/* A free place, or the oldest. */
static struct pending *find_place(struct discord_sign_in *d)
{
	struct pending *oldest = &d->pending[0];

	for (unsigned i = 0; i < DISCORD_PENDING_MAX; i++) {
		if (!d->pending[i].id)
			return &d->pending[i];
		if (d->pending[i].id < oldest->id)
			oldest = &d->pending[i];
	}
	return oldest;
}

/* Where Discord sends the browser back: to the page that it comes from. */
static bool write_redirect(const struct discord_sign_in *d, const struct http_head *head,
			   char out[URL_MAX])
{
	bool own = origins_place(d->conf.origins, head->host) == PLACE_OWN;
	int n = snprintf(out, URL_MAX, "%s%.*s/api/auth/discord/callback",
			 own ? "https://" : "http://", (int)head->host.n, head->host.p);

	return n > 0 && n < URL_MAX;
}

static int write_link(const struct discord_sign_in *d, const struct pending *p,
		      char out[OAUTH_LINK_MAX])
{
	char challenge[TEXT_MAX];
	uint8_t hash[OAUTH_HASH];

	if (!EVP_Digest(p->verifier, strlen(p->verifier), hash, NULL, EVP_sha256(), NULL))
		return ENOMEM;
	oauth_base64url(hash, sizeof hash, challenge);
	return oauth_sign_in_link(
		&(struct oauth_sign_in){.authorize = d->conf.settings->web_discord_page,
					.client_id = d->conf.settings->web_discord_client,
					.redirect = p->redirect,
					.scope = "identify guilds",
					.resource = "",
					.state = p->state,
					.challenge = challenge},
		out, OAUTH_LINK_MAX);
}

static int make_pending(struct discord_sign_in *d, const struct http_head *head,
			struct pending **out)
{
	struct pending *p = find_place(d);
	uint8_t nonce[SESSION_NONCE];

	*p = (struct pending){0};
	if (!write_redirect(d, head, p->redirect))
		return EINVAL;
	make_text(d, p->state);
	make_text(d, p->verifier);
	env_random(d->conf.env, nonce, sizeof nonce);
	access_secret(d->conf.access, "discord sign-in", nonce, p->secret);
	p->expires_ms = env_wall_ms(d->conf.env) + DISCORD_PENDING_MS;
	p->id = ++d->last;
	*out = p;
	return 0;
}

void discord_sign_in_begin(struct discord_sign_in *d, struct http_exchange *x)
{
	const struct http_head *head = http_request_head(x);
	char link[OAUTH_LINK_MAX];
	struct pending *p;

	if (!discord_sign_in_is_on(d)) {
		turn_away(x, WEB_NO_DISCORD);
	} else if (!origins_private(d->conf.origins, head->host)) {
		turn_away(x, WEB_NOT_PRIVATE);
	} else if (!access_is_ours(d->conf.access, head)) {
		/* It would spend the tries of its reader. */
		turn_away(x, WEB_FOREIGN);
	} else if (!access_try(d->conf.access, x)) {
		http_reply_field(x, "Retry-After", "30");
		turn_away(x, WEB_TOO_MANY_TRIES);
	} else if (make_pending(d, head, &p) || write_link(d, p, link)) {
		log_warn("web_discord_page_invalid",
			 "hint=\"web_discord_page is an https address\"");
		turn_away(x, WEB_NO_DISCORD);
	} else {
		/* Lax: the browser comes back from a page of another site. */
		http_reply_cookie(x, d->cookie, p->secret,
				  "; Path=/; Max-Age=600; Secure; HttpOnly; SameSite=Lax");
		http_reply_field(x, "Location", link);
		http_reply(x, 303, NULL, NULL, 0);
	}
}

/* ---- and back ---- */

void discord_sign_in_check_head(struct discord_sign_in *d, const struct http_head *head)
{
	char secret[WEB_KEYED_HEX];

	d->seen = 0;
	if (!cookie_find_in_head(head, d->cookie, secret, sizeof secret) ||
	    strlen(secret) != sizeof secret - 1)
		return;
	for (unsigned i = 0; i < DISCORD_PENDING_MAX; i++)
		if (d->pending[i].id &&
		    sodium_memcmp(d->pending[i].secret, secret, sizeof secret) == 0)
			d->seen = d->pending[i].id;
	sodium_memzero(secret, sizeof secret);
}

static void refuse(struct discord_sign_in *d, struct http_exchange *x, const char *why)
{
	access_audit(d->conf.access, x, AUDIT_KIND_SIGN_IN, "Discord", why);
	turn_away(x, WEB_NOT_SIGNED_IN);
}

static void end_attempt(struct attempt *at)
{
	http_on_gone(at->x, NULL, NULL);
	at->x = NULL;
	at->req = NULL;
	at->user = 0;
	sodium_memzero(at->access, sizeof at->access);
}

static void fail(struct attempt *at, const char *why)
{
	struct http_exchange *x = at->x;

	end_attempt(at);
	refuse(at->all, x, why);
}

static void lose_attempt(struct http_exchange *x, void *arg)
{
	struct attempt *at = arg;

	(void)x;
	http_req_cancel(at->req);
	at->x = NULL;
	at->req = NULL;
	sodium_memzero(at->access, sizeof at->access);
}

/* A GET by the person's token. */
static int ask_as(struct discord_sign_in *d, const char *access, const char *path, http_resp_h *h,
		  void *arg, struct http_req **out)
{
	char url[URL_MAX], field[FIELD_MAX];
	const char *headers[] = {field, NULL};
	int err;

	snprintf(url, sizeof url, "%s%s", d->conf.settings->discord_api, path);
	snprintf(field, sizeof field, "Authorization: Bearer %s", access);
	err = http_request(out, d->conf.http,
			   &(struct http_call){.method = "GET",
					       .url = url,
					       .headers = headers,
					       .timeout_ms = ASK_MS,
					       .max_body = ANSWER_MAX},
			   h, arg);
	sodium_memzero(field, sizeof field);
	return err;
}

/* ---- the hourly question ---- */

static void arm(struct discord_sign_in *d)
{
	uint64_t first = UINT64_MAX;

	for (unsigned i = 0; i < SESSIONS_MAX; i++)
		if (d->grants[i].session && d->grants[i].due < first)
			first = d->grants[i].due;
	if (first == UINT64_MAX || d->asked)
		tmr_stop(d->timer);
	else
		tmr_start_at(d->timer, first);
}

static void drop_grant(struct grant *g)
{
	sodium_memzero(g, sizeof *g);
}

static void end_grant(struct discord_sign_in *d, struct grant *g, const char *why)
{
	if (d->asked == g) {
		http_req_cancel(d->req);
		d->asked = NULL;
	}
	access_end(d->conf.access, g->session, why);
	drop_grant(g);
}

/* The oldest session of a person gives way to the newest. */
static void limit_grants(struct discord_sign_in *d, uint64_t user)
{
	struct grant *oldest = NULL;
	unsigned n = 0;

	for (unsigned i = 0; i < SESSIONS_MAX; i++) {
		struct grant *g = &d->grants[i];

		if (!g->session || g->user != user)
			continue;
		n++;
		if (!oldest || g->session < oldest->session)
			oldest = g;
	}
	if (n >= DISCORD_SESSIONS_EACH)
		end_grant(d, oldest, "signed in again");
}

static void confirm_grant(struct discord_sign_in *d, struct grant *g)
{
	g->fails = 0;
	g->confirmed = env_now(d->conf.env);
	g->due = g->confirmed + DISCORD_RECHECK_MS * NS_PER_MS;
}

static void keep_grant(struct discord_sign_in *d, uint64_t session, const struct attempt *at,
		       const struct discord_grants *servers)
{
	struct grant *g = NULL;

	for (unsigned i = 0; i < SESSIONS_MAX && !g; i++)
		if (!d->grants[i].session || !access_role_of(d->conf.access, d->grants[i].session))
			g = &d->grants[i];
	if (!g) /* more than sessions there are: never */
		return;
	if (d->asked == g) {
		http_req_cancel(d->req);
		d->asked = NULL;
	}
	*g = (struct grant){.session = session, .user = at->user, .servers = *servers};
	confirm_grant(d, g);
	snprintf(g->access, sizeof g->access, "%s", at->access);
	arm(d);
}

/* How long until a question that was not answered is asked again, ms. */
static uint64_t find_wait(const struct grant *g, const struct http_resp *resp)
{
	struct retry_after_fields f = {0};
	uint64_t wait = DISCORD_RETRY_MS, demanded = 0;

	for (unsigned i = 0; i < g->fails && wait < DISCORD_RECHECK_MS; i++)
		wait *= 2;
	if (!resp->err) {
		http_header(resp, "retry-after", f.after, sizeof f.after);
		demanded = retry_after_read(&f);
	}
	wait = wait < DISCORD_RECHECK_MS ? wait : DISCORD_RECHECK_MS;
	return wait > demanded ? wait : demanded;
}

static void put_off(struct discord_sign_in *d, struct grant *g, const struct http_resp *resp)
{
	uint64_t wait = find_wait(g, resp);

	g->due = env_now(d->conf.env) + wait * NS_PER_MS;
	g->fails++;
	log_info("web_discord_asked_later", "session=%llu status=%d wait_ms=%llu",
		 (unsigned long long)g->session, resp->status, (unsigned long long)wait);
}

static const struct grant *find_grant(const struct discord_sign_in *d, uint64_t session)
{
	for (unsigned i = 0; session && i < SESSIONS_MAX; i++)
		if (d->grants[i].session == session)
			return &d->grants[i];
	return NULL;
}

const struct discord_grants *discord_sign_in_servers(const struct discord_sign_in *d,
						     uint64_t session)
{
	const struct grant *g = find_grant(d, session);

	return g && access_role_of(d->conf.access, session) < WEB_ADMIN ? &g->servers : NULL;
}

static int read_grants(const struct discord_sign_in *d, const struct http_resp *resp,
		       struct discord_grants *out)
{
	if (resp->err || resp->status != 200)
		return EPROTO;
	return discord_grants_read(d->conf.settings, resp->body.p, resp->body.n, d->conf.knownh,
				   d->conf.arg, out);
}

/* What the session's person has now: where it looks at, or, of an admin, who looks at all servers,
 * anywhere. */
static struct discord_grant grant_now(const struct discord_sign_in *d, const struct grant *g,
				      const struct discord_grants *now)
{
	uint64_t guild = access_scope_of(d->conf.access, g->session);
	const struct discord_grant *is =
		guild ? discord_grants_find(now, guild) : discord_grants_best(now);

	return is ? *is : (struct discord_grant){.role = WEB_NOBODY};
}

static void on_again(const struct http_resp *resp, void *arg)
{
	struct discord_sign_in *d = arg;
	struct grant *g = d->asked;
	enum web_role had = access_role_of(d->conf.access, g->session);
	struct discord_grant is = {.role = WEB_NOBODY};
	struct discord_grants now;
	bool told = !read_grants(d, resp, &now);

	d->asked = NULL;
	if (told)
		is = grant_now(d, g, &now);
	if (had == WEB_NOBODY) {
		drop_grant(g);
	} else if (told && is.role == had &&
		   is.open == access_is_open(d->conf.access, g->session)) {
		g->servers = now;
		confirm_grant(d, g);
	} else if (told) {
		end_grant(d, g, is.role == WEB_NOBODY ? "no member any more" : "another role now");
	} else if (!resp->err && (resp->status == 401 || resp->status == 403)) {
		end_grant(d, g, "token is void");
	} else if (env_now(d->conf.env) - g->confirmed >= DISCORD_UNCONFIRMED_MS * NS_PER_MS) {
		end_grant(d, g, "not answered");
	} else {
		put_off(d, g, resp);
	}
	arm(d);
}

/* The settings still let this session look at what it sees. */
static bool is_served(const struct discord_sign_in *d, const struct grant *g)
{
	const struct settings *s = d->conf.settings;
	uint64_t guild = access_scope_of(d->conf.access, g->session);
	uint64_t home = strtoull(s->web_discord_guild, NULL, 10);

	/* An admin is one by the first of their servers. */
	if (!guild)
		return g->servers.n && g->servers.v[0].guild == home;
	return guild == home || s->web_discord_everywhere;
}

static void on_timer(void *arg)
{
	struct discord_sign_in *d = arg;
	uint64_t now = env_now(d->conf.env);
	struct grant *g = NULL;

	for (unsigned i = 0; i < SESSIONS_MAX && !g; i++)
		if (d->grants[i].session && d->grants[i].due <= now)
			g = &d->grants[i];
	if (g && !discord_sign_in_is_on(d))
		end_grant(d, g, "sign-in with Discord is off");
	else if (g && !is_served(d, g))
		end_grant(d, g, "another server now");
	else if (g && !ask_as(d, g->access, "/users/@me/guilds", on_again, d, &d->req))
		d->asked = g;
	else if (g)
		end_grant(d, g, "not answered");
	arm(d);
}

void discord_sign_in_forget(struct discord_sign_in *d)
{
	for (unsigned i = 0; i < SESSIONS_MAX; i++) {
		struct grant *g = &d->grants[i];

		if (!g->session || access_role_of(d->conf.access, g->session))
			continue;
		if (d->asked == g) {
			http_req_cancel(d->req);
			d->asked = NULL;
		}
		drop_grant(g);
	}
	arm(d);
}

void discord_sign_in_ask_again(struct discord_sign_in *d)
{
	for (unsigned i = 0; i < SESSIONS_MAX; i++)
		d->grants[i].due = env_now(d->conf.env);
	arm(d);
}

/* ---- who came back ---- */

static void on_guilds(const struct http_resp *resp, void *arg)
{
	struct attempt *at = arg;
	struct discord_sign_in *d = at->all;
	struct http_exchange *x = at->x;
	const struct discord_grant *best;
	struct discord_grants servers;
	uint64_t session;

	if (read_grants(d, resp, &servers)) {
		fail(at, "no list of servers");
		return;
	}
	best = discord_grants_best(&servers);
	if (!best) {
		fail(at, "no member, or without the permission");
		return;
	}
	limit_grants(d, at->user);
	session = access_begin_discord(d->conf.access, x, best, at->user);
	if (!session) {
		end_attempt(at);
		turn_away(x, WEB_BUSY);
		return;
	}
	keep_grant(d, session, at, &servers);
	end_attempt(at);
	http_reply_field(x, "Location", "/");
	http_reply(x, 303, NULL, NULL, 0);
}

static void on_user(const struct http_resp *resp, void *arg)
{
	struct attempt *at = arg;

	if (resp->err || resp->status != 200 ||
	    discord_grant_user(resp->body.p, resp->body.n, &at->user))
		fail(at, "no person");
	else if (ask_as(at->all, at->access, "/users/@me/guilds", on_guilds, at, &at->req))
		fail(at, "no memory");
}

static void on_token(const struct http_resp *resp, void *arg)
{
	struct attempt *at = arg;
	struct oauth_token token = {0};
	char error[64], why[96];

	if (resp->err || resp->status != 200 ||
	    oauth_read_token(resp->body.p, resp->body.n, &token)) {
		oauth_read_error(resp->body.p, resp->body.n, error, sizeof error);
		snprintf(why, sizeof why, "no token: %s",
			 resp->err ? "not reached"
			 : *error  ? error
				   : "unreadable");
		fail(at, why);
		return;
	}
	log_lease(token.access);
	snprintf(at->access, sizeof at->access, "%s", token.access);
	sodium_memzero(&token, sizeof token);
	if (ask_as(at->all, at->access, "/users/@me", on_user, at, &at->req))
		fail(at, "no memory");
}

static int ask_token(struct attempt *at, const struct pending *p, const char *code)
{
	static const char *const headers[] = {"Content-Type: application/x-www-form-urlencoded",
					      "Accept: application/json", NULL};
	struct discord_sign_in *d = at->all;
	const struct settings *s = d->conf.settings;
	char url[URL_MAX],
		*body = oauth_ask_body(&(struct oauth_ask){.client_id = s->web_discord_client,
							   .client_secret = s->web_discord_secret,
							   .refresh_token = "",
							   .scope = "",
							   .resource = "",
							   .code = code,
							   .verifier = p->verifier,
							   .redirect = p->redirect});
	int err;

	if (!body)
		return ENOMEM;
	snprintf(url, sizeof url, "%s/oauth2/token", s->discord_api);
	err = http_request(&at->req, d->conf.http,
			   &(struct http_call){.method = "POST",
					       .url = url,
					       .headers = headers,
					       .body = body,
					       .body_len = strlen(body),
					       .timeout_ms = ASK_MS,
					       .max_body = OAUTH_BODY_MAX},
			   on_token, at);
	sodium_memzero(body, strlen(body));
	free(body);
	return err;
}

/* The sign-in that this browser began and that this address answers; it is used up. */
static bool take_pending(struct discord_sign_in *d, const char *state, struct pending *out)
{
	uint64_t seen = (uint64_t)env_answer(d->conf.env, (int64_t)d->seen);

	for (unsigned i = 0; i < DISCORD_PENDING_MAX; i++) {
		struct pending *p = &d->pending[i];

		if (!p->id || p->id != seen || strlen(p->state) != strlen(state) ||
		    sodium_memcmp(p->state, state, strlen(state)) != 0)
			continue;
		*out = *p;
		sodium_memzero(p, sizeof *p);
		return out->expires_ms > env_wall_ms(d->conf.env);
	}
	return false;
}

/* Anybody can send as many as they like: they take no tries, which a page of another site would
 * spend for its reader, and the audit has one row for all of some minutes. */
static void refuse_stray(struct discord_sign_in *d, struct http_exchange *x)
{
	if (rate_limit_take(&d->strays, 1, STRAY_EVERY_S * NS_PER_S, env_now(d->conf.env)))
		access_audit(d->conf.access, x, AUDIT_KIND_SIGN_IN, "Discord",
			     "of no sign-in of this browser");
	turn_away(x, WEB_NOT_SIGNED_IN);
}

static struct attempt *find_attempt(struct discord_sign_in *d)
{
	for (unsigned i = 0; i < DISCORD_ATTEMPTS_MAX; i++)
		if (!d->attempts[i].x)
			return &d->attempts[i];
	return NULL;
}

static void end_sign_in(struct discord_sign_in *d, struct http_exchange *x,
			const struct oauth_redirect *r)
{
	struct attempt *at = find_attempt(d);
	struct pending p = {0};

	if (!at) {
		turn_away(x, WEB_BUSY);
	} else if (!take_pending(d, r->state, &p)) {
		refuse_stray(d, x);
	} else if (oauth_check_redirect(r, p.state, "", false)) {
		refuse(d, x, "refused");
	} else {
		at->x = x;
		http_on_gone(x, lose_attempt, at);
		if (ask_token(at, &p, r->code))
			fail(at, "no memory");
	}
	sodium_memzero(&p, sizeof p);
}

void discord_sign_in_end(struct discord_sign_in *d, struct http_exchange *x)
{
	const struct http_head *head = http_request_head(x);
	struct oauth_redirect r = {0};

	if (!discord_sign_in_is_on(d)) {
		turn_away(x, WEB_NO_DISCORD);
		return;
	}
	http_head_query(head, "state", r.state, sizeof r.state);
	http_head_query(head, "code", r.code, sizeof r.code);
	http_head_query(head, "error", r.error, sizeof r.error);
	end_sign_in(d, x, &r);
	sodium_memzero(&r, sizeof r);
}

/* ---- making ---- */

int discord_sign_in_alloc(struct discord_sign_in **out, const struct discord_sign_in_conf *conf)
{
	struct discord_sign_in *d = calloc(1, sizeof *d);
	int err;

	if (!d)
		return ENOMEM;
	d->conf = *conf;
	for (unsigned i = 0; i < DISCORD_ATTEMPTS_MAX; i++)
		d->attempts[i].all = d;
	err = tmr_alloc(&d->timer, conf->env, on_timer, d);
	if (err)
		free(d);
	else
		*out = d;
	return err;
}

struct discord_sign_in *discord_sign_in_free(struct discord_sign_in *d)
{
	if (!d)
		return NULL;
	for (unsigned i = 0; i < DISCORD_ATTEMPTS_MAX; i++)
		if (d->attempts[i].x)
			http_req_cancel(d->attempts[i].req);
	if (d->asked)
		http_req_cancel(d->req);
	tmr_free(d->timer);
	sodium_memzero(d, sizeof *d);
	free(d);
	return NULL;
}

void discord_sign_in_set_port(struct discord_sign_in *d, uint16_t port)
{
	snprintf(d->cookie, sizeof d->cookie, "__Host-parley-%u-discord", port);
}
