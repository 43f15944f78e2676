#include "control/web/access.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "control/events/events.h"
#include "control/store/store.h"
#include "control/web/cookies.h"
#include "control/web/discord_grant.h"
#include "control/web/origins.h"
#include "control/web/sessions.h"
#include "control/web/throttle.h"
#include "ipc/env.h"
#include "ipc/http_server.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/iso_time.h"
#include "proto/base/rate_limit.h"
#include "proto/base/time.h"

#define HOUR_MS	  UINT64_C(3600000)
#define TAG_TOKEN UINT64_MAX /* any other: the id of a session, 0 for nobody's */

/* How often people sign in with Discord. */
enum { PEOPLE_MAX = 64, PERSON_SIGN_INS = 20, PERSON_EVERY_S = 300 };

struct access {
	struct access_conf conf;
	char token[ACCESS_TOKEN_MAX];
	char stars[ACCESS_TOKEN_MAX]; /* what a journal leaves of the token; "" without one */
	char cookie[32];	      /* its name */
	struct sessions sessions;
	struct throttle throttle, guesses,
		begun; /* of codes, of tokens, of sign-ins with Discord */
	struct person {
		uint64_t user, used_at;
		struct rate_limit limit;
	} people[PEOPLE_MAX];
	struct tmr *expire_tmr;
	uint64_t seen;	/* the session that the head looked at last belongs to */
	uint64_t moved; /* the session that sees another server, while its streams end; 0 */
};

/* ---- the token ---- */

enum token { TOKEN_OTHER, TOKEN_RIGHT, TOKEN_STARS, TOKEN_AS_LONG };

/* The credentials of Authorization: Bearer; false when there are none. */
static bool read_bearer(const struct http_head *head, char *buf, size_t size)
{
	char field[sizeof "Bearer " + SIGN_IN_MAX];
	bool is = http_head_copy(head, "Authorization", field, sizeof field) &&
		  strncmp(field, "Bearer ", 7) == 0 && strlen(field + 7) < size;

	snprintf(buf, size, "%s", is ? field + 7 : "");
	sodium_memzero(field, sizeof field);
	return is;
}

/* Nothing about the token but its length can be told from the time this takes. */
static enum token read_token(const struct access *a, const struct http_head *head)
{
	enum token token = TOKEN_OTHER;
	size_t n = strlen(a->token);
	char text[SIGN_IN_MAX];

	if (read_bearer(head, text, sizeof text) && strlen(text) == n)
		token = sodium_memcmp(text, a->token, n) == 0	? TOKEN_RIGHT
			: sodium_memcmp(text, a->stars, n) == 0 ? TOKEN_STARS
								: TOKEN_AS_LONG;
	sodium_memzero(text, sizeof text);
	return token;
}

static bool has_token(const struct access *a, const struct http_head *head)
{
	enum token token = read_token(a, head);

	return token == TOKEN_RIGHT || token == TOKEN_STARS;
}

/* The handlers of the head get asterisks in the place of the cookie. And in a journal stars stand
 * in the place of every secret: those of another one, as often as it takes, would pass for the
 * token's. */
int access_check_head(const struct http_head *head, void *arg)
{
	struct access *a = arg;
	char secret[WEB_KEYED_HEX];
	enum token token;

	a->seen = 0;
	if (cookie_find_in_head(head, a->cookie, secret, sizeof secret))
		a->seen = sessions_match(&a->sessions, secret);
	sodium_memzero(secret, sizeof secret);
	if (!a->conf.recorded)
		return 0;
	token = read_token(a, head);
	return token == TOKEN_STARS || token == TOKEN_AS_LONG ? 401 : 0;
}

/* ---- deciding ---- */

/* Browsers send the origin with each request that may change something, and most of them where any
 * request comes from. */
static bool is_of_our_pages(const struct access *a, const struct http_head *head)
{
	bool safe = head->method == HTTP_GET || head->method == HTTP_HEAD;
	struct http_text origin = http_head_field(head, "Origin");
	struct http_text site = http_head_field(head, "Sec-Fetch-Site");

	if (site.p && !http_text_is(site, "same-origin") && !(safe && http_text_is(site, "none")))
		return false;
	return origin.p ? origins_match(a->conf.origins, origin, head->host) : safe;
}

bool access_is_ours(const struct access *a, const struct http_head *head)
{
	return is_of_our_pages(a, head);
}

static const struct session *find_session(const struct access *a, uint64_t id)
{
	return id && id != TAG_TOKEN ? sessions_find(&a->sessions, id, env_wall_ms(a->conf.env))
				     : NULL;
}

const struct session *access_session(const struct access *a, const struct http_exchange *x)
{
	return find_session(a, http_tag(x));
}

uint64_t access_scope(const struct access *a, const struct http_exchange *x)
{
	const struct session *s = access_session(a, x);

	return s ? s->guild : 0;
}

enum web_role access_role(const struct access *a, const struct http_exchange *x)
{
	const struct session *s = access_session(a, x);

	return http_tag(x) == TAG_TOKEN ? WEB_ADMIN : s ? s->role : WEB_NOBODY;
}

/* What the check of the head found; a replay is told. */
static uint64_t read_session(const struct access *a, const struct http_head *head)
{
	if (!http_head_field(head, "Cookie").p)
		return 0;
	return (uint64_t)env_answer(a->conf.env, (int64_t)a->seen);
}

void access_actor(const struct access *a, const struct http_exchange *x,
		  char out[ACCESS_ACTOR_SIZE])
{
	uint64_t tag = http_tag(x);

	if (tag == TAG_TOKEN)
		snprintf(out, ACCESS_ACTOR_SIZE, "token");
	else if (tag)
		snprintf(out, ACCESS_ACTOR_SIZE, "session %llu (%s)", (unsigned long long)tag,
			 web_role_name(access_role(a, x)));
	else
		snprintf(out, ACCESS_ACTOR_SIZE, "nobody");
}

/* ---- the audit ---- */

static void find_address(const struct access *a, const struct http_exchange *x,
			 char out[ADDRESS_MAX])
{
	http_client_address(x, out, ADDRESS_MAX);
	origins_client(a->conf.origins, http_request_head(x), out);
}

static void audit_as(const struct access *a, const struct http_exchange *x, const char *actor,
		     const struct event_action *what)
{
	char address[ADDRESS_MAX] = "", via[64];

	if (x)
		find_address(a, x, address);
	snprintf(via, sizeof via, "http%s%s", *address ? " from " : "", address);
	bus_publish(a->conf.bus, &(struct bus_event){.type = EVENT_OPERATOR_ACTION,
						     .at_ms = env_wall_ms(a->conf.env),
						     .action = {.actor = actor,
								.via = via,
								.kind = what->kind,
								.target = what->target,
								.result = what->result}});
}

void access_audit(const struct access *a, const struct http_exchange *x, enum audit_kind kind,
		  const char *target, const char *result)
{
	char actor[ACCESS_ACTOR_SIZE];

	access_actor(a, x, actor);
	audit_as(a, x, actor,
		 &(struct event_action){
			 .kind = audit_kind_name(kind), .target = target, .result = result});
}

void access_audit_of(const struct access *a, const char *actor, enum audit_kind kind,
		     const char *target, const char *result)
{
	audit_as(a, NULL, actor,
		 &(struct event_action){
			 .kind = audit_kind_name(kind), .target = target, .result = result});
}

/* ---- who it is ---- */

/* A client without a session tries tokens. Each try is a row of the audit while there are few. */
static enum decision refuse_guess(struct access *a, struct http_exchange *x,
				  const struct http_head *head)
{
	char address[ADDRESS_MAX];

	if (!http_head_field(head, "Authorization").p)
		return ACCESS_UNKNOWN;
	find_address(a, x, address);
	if (throttle_take(&a->guesses, address, env_now(a->conf.env))) {
		access_audit(a, x, AUDIT_KIND_TOKEN, "", "refused");
		return ACCESS_UNKNOWN;
	}
	if (throttle_is_news(&a->guesses))
		access_audit(a, x, AUDIT_KIND_TOKEN, "", "too many tries");
	return ACCESS_LATER;
}

enum decision access_decide(struct access *a, struct http_exchange *x, const struct http_head *head,
			    enum web_role need)
{
	uint64_t id = 0;

	if (has_token(a, head))
		http_set_tag(x, TAG_TOKEN);
	else
		http_set_tag(x, id = read_session(a, head));
	if (need == WEB_NOBODY)
		return ACCESS_GRANTED;
	if (access_role(a, x) == WEB_NOBODY)
		return refuse_guess(a, x, head);
	if (id && !is_of_our_pages(a, head))
		return ACCESS_FOREIGN;
	return access_role(a, x) < need ? ACCESS_INSUFFICIENT : ACCESS_GRANTED;
}

/* ---- sessions ---- */

static void arm_timer(struct access *a)
{
	uint64_t deadline = sessions_deadline(&a->sessions), now = env_wall_ms(a->conf.env);
	uint64_t wait = deadline > now ? deadline - now : 0;

	if (deadline == UINT64_MAX)
		tmr_stop(a->expire_tmr);
	else /* the wall clock may be set meanwhile */
		tmr_start(a->expire_tmr, (wait < HOUR_MS ? wait : HOUR_MS) * NS_PER_MS);
}

static void save_sessions(struct access *a)
{
	json_t *j = sessions_format(&a->sessions);
	char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;
	int err = !a->conf.store ? 0 : text ? store_save_web(a->conf.store, text) : ENOMEM;

	if (err)
		log_warn("web_sessions_not_saved", "error=\"%s\"", strerror(err));
	free(text);
	json_decref(j);
	arm_timer(a);
}

static void end_streams(const struct access *a)
{
	if (a->conf.endedh)
		a->conf.endedh(a->conf.arg);
}

static void on_expire(void *arg)
{
	struct access *a = arg;

	if (sessions_expire(&a->sessions, env_wall_ms(a->conf.env))) {
		save_sessions(a);
		end_streams(a);
	}
	arm_timer(a);
}

/* The role that the credentials give; WEB_NOBODY: none. */
static enum web_role redeem(struct access *a, const struct http_head *head)
{
	uint64_t now = env_wall_ms(a->conf.env);
	char text[SIGN_IN_MAX];
	struct sign_in code;

	if (has_token(a, head))
		return WEB_ADMIN;
	if (!read_bearer(head, text, sizeof text) || sign_in_parse(text, &code))
		return WEB_NOBODY;
	if (!env_answer(a->conf.env, sign_in_verify(text, a->token)) ||
	    !sign_in_holds(&code, now) || !sessions_use_code(&a->sessions, &code, now))
		return WEB_NOBODY;
	return code.role;
}

struct discord_member {
	uint64_t user, guild;
	bool open;
};

/* member: as Discord names them, who is the actor of the row; NULL: nobody knows. */
static uint64_t begin_session(struct access *a, struct http_exchange *x, enum web_role role,
			      const struct discord_member *member)
{
	uint64_t now = env_wall_ms(a->conf.env), hours = *a->conf.session_hours;
	struct session session = {.role = role,
				  .discord = member != NULL,
				  .user = member ? member->user : 0,
				  .guild = member && role < WEB_ADMIN ? member->guild : 0,
				  .open = member && member->open,
				  .created_ms = now,
				  .expires_ms = now + hours * HOUR_MS};
	char secret[WEB_KEYED_HEX], attributes[96], name[32], actor[ACCESS_ACTOR_SIZE];
	uint8_t nonce[SESSION_NONCE];
	uint64_t id;

	env_random(a->conf.env, nonce, sizeof nonce);
	sessions_secret(&a->sessions, nonce, secret);
	access_end(a, sessions_in_the_way(&a->sessions, &session), "too many sessions");
	id = sessions_add(&a->sessions, &session, secret);
	if (!id) {
		sodium_memzero(secret, sizeof secret);
		return 0;
	}
	snprintf(attributes, sizeof attributes,
		 "; Path=/; Max-Age=%llu; Secure; HttpOnly; SameSite=Strict",
		 (unsigned long long)hours * 3600);
	http_reply_cookie(x, a->cookie, secret, attributes);
	sodium_memzero(secret, sizeof secret);
	http_set_tag(x, id);
	save_sessions(a);
	snprintf(name, sizeof name, "session %llu", (unsigned long long)id);
	access_actor(a, x, actor);
	/* The id alone: an erasure finds it. */
	if (member)
		snprintf(actor, sizeof actor, "%llu", (unsigned long long)member->user);
	audit_as(a, x, actor,
		 &(struct event_action){.kind = audit_kind_name(AUDIT_KIND_SIGN_IN),
					.target = name,
					.result = "granted"});
	return id;
}

void access_secret(const struct access *a, const char *purpose, const uint8_t *nonce, char *out)
{
	web_keyed_hex(out, a->token, purpose, nonce, SESSION_NONCE);
}

static enum sign_in_result refuse_try(struct access *a, struct http_exchange *x, struct throttle *t)
{
	if (throttle_is_news(t))
		access_audit(a, x, AUDIT_KIND_SIGN_IN, "", "too many tries");
	return SIGN_IN_LATER;
}

bool access_try(struct access *a, struct http_exchange *x)
{
	char address[ADDRESS_MAX];

	find_address(a, x, address);
	if (throttle_take(&a->begun, address, env_now(a->conf.env)))
		return true;
	refuse_try(a, x, &a->begun);
	return false;
}

static void give_back(struct access *a, struct http_exchange *x, struct throttle *t)
{
	char address[ADDRESS_MAX];

	find_address(a, x, address);
	throttle_give_back(t, address);
}

/* The limit of all addresses is for wrong tries: it holds up nobody who has the right secret, which
 * has too many bits to be guessed. */
static enum sign_in_result try_secret(struct access *a, struct http_exchange *x,
				      const struct http_head *head, enum web_role *role)
{
	uint64_t now = env_now(a->conf.env);
	char address[ADDRESS_MAX];

	find_address(a, x, address);
	if (!throttle_take_address(&a->throttle, address, now))
		return refuse_try(a, x, &a->throttle);
	*role = redeem(a, head);
	if (*role != WEB_NOBODY) {
		give_back(a, x, &a->throttle);
		return SIGN_IN_DONE;
	}
	if (!throttle_take_common(&a->throttle, now))
		return refuse_try(a, x, &a->throttle);
	access_audit(a, x, AUDIT_KIND_SIGN_IN, "", "refused");
	return SIGN_IN_REFUSED;
}

/* Each sign-in is a row of the audit. */
static bool may_begin(struct access *a, uint64_t user)
{
	uint64_t now = env_now(a->conf.env);
	struct person *place = &a->people[0];

	for (unsigned i = 0; i < PEOPLE_MAX && place->user != user; i++)
		if (a->people[i].user == user || a->people[i].used_at < place->used_at)
			place = &a->people[i];
	if (place->user != user)
		*place = (struct person){.user = user, .limit = {.spent_at = now}};
	place->used_at = now;
	return rate_limit_take(&place->limit, PERSON_SIGN_INS, PERSON_EVERY_S * NS_PER_S, now);
}

uint64_t access_begin_discord(struct access *a, struct http_exchange *x,
			      const struct discord_grant *granted, uint64_t user)
{
	if (!may_begin(a, user))
		return 0;
	give_back(a, x, &a->begun);
	throttle_give_back_common(&a->begun);
	return begin_session(a, x, granted->role,
			     &(struct discord_member){user, granted->guild, granted->open});
}

enum web_role access_role_of(const struct access *a, uint64_t session)
{
	const struct session *s = find_session(a, session);

	return s ? s->role : WEB_NOBODY;
}

bool access_is_open(const struct access *a, uint64_t session)
{
	const struct session *s = find_session(a, session);

	return s && s->open;
}

uint64_t access_scope_of(const struct access *a, uint64_t session)
{
	const struct session *s = find_session(a, session);

	return s ? s->guild : 0;
}

void access_move(struct access *a, uint64_t session, const struct discord_grant *to)
{
	if (!sessions_move(
		    &a->sessions, session,
		    &(struct session){.role = to->role, .guild = to->guild, .open = to->open}))
		return;
	save_sessions(a);
	a->moved = session;
	end_streams(a);
	a->moved = 0;
}

bool access_is_over(const struct access *a, const struct http_exchange *x)
{
	return access_role(a, x) == WEB_NOBODY || (a->moved && http_tag(x) == a->moved);
}

void access_end(struct access *a, uint64_t session, const char *why)
{
	char name[32];

	if (!sessions_end(&a->sessions, session))
		return;
	snprintf(name, sizeof name, "session %llu", (unsigned long long)session);
	audit_as(a, NULL, "control",
		 &(struct event_action){.kind = audit_kind_name(AUDIT_KIND_SIGN_OUT),
					.target = name,
					.result = why});
	save_sessions(a);
	end_streams(a);
}

enum sign_in_result access_sign_in(struct access *a, struct http_exchange *x,
				   const struct http_head *head)
{
	struct http_text origin = http_head_field(head, "Origin");
	enum sign_in_result result;
	enum web_role role;

	if (!origins_private(a->conf.origins, head->host))
		return SIGN_IN_NOT_PRIVATE;
	if (origin.p && !origins_match(a->conf.origins, origin, head->host))
		return SIGN_IN_FOREIGN;
	http_set_tag(x, 0);
	result = try_secret(a, x, head, &role);
	if (result == SIGN_IN_DONE && !begin_session(a, x, role, NULL))
		result = SIGN_IN_FULL;
	return result;
}

static void drop_cookie(const struct access *a, struct http_exchange *x)
{
	char value[128];

	snprintf(value, sizeof value, "%s=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Strict",
		 a->cookie);
	http_reply_field(x, "Set-Cookie", value);
}

void access_sign_out(struct access *a, struct http_exchange *x)
{
	access_audit(a, x, AUDIT_KIND_SIGN_OUT, "", "done");
	drop_cookie(a, x);
	if (sessions_end(&a->sessions, http_tag(x))) {
		save_sessions(a);
		end_streams(a);
	}
}

bool access_sign_out_one(struct access *a, struct http_exchange *x, uint64_t session)
{
	const struct session *s = find_session(a, session), *own = access_session(a, x);
	char name[32];

	if (!s || (access_role(a, x) != WEB_ADMIN && s != own &&
		   (!own || !*own->person || strcmp(own->person, s->person) != 0)))
		return false;
	snprintf(name, sizeof name, "session %llu", (unsigned long long)session);
	access_audit(a, x, AUDIT_KIND_SIGN_OUT, name, "done");
	if (s == own)
		drop_cookie(a, x);
	sessions_end(&a->sessions, session);
	save_sessions(a);
	end_streams(a);
	return true;
}

/* An admin ends all of them, others end their own. */
static unsigned end_all(struct access *a, struct http_exchange *x)
{
	const struct session *s = access_session(a, x);

	if (access_role(a, x) == WEB_ADMIN)
		return sessions_end_all(&a->sessions, NULL);
	if (s && *s->person)
		return sessions_end_all(&a->sessions, s->person);
	return sessions_end(&a->sessions, http_tag(x));
}

unsigned access_sign_out_all(struct access *a, struct http_exchange *x)
{
	char result[32];
	unsigned ended;

	access_audit(a, x, AUDIT_KIND_SIGN_OUT_EVERYWHERE, web_role_name(access_role(a, x)),
		     "begun");
	drop_cookie(a, x);
	ended = end_all(a, x);
	snprintf(result, sizeof result, "%u session%s", ended, ended == 1 ? "" : "s");
	save_sessions(a);
	end_streams(a);
	log_info("web_signed_out", "sessions=%u", ended);
	return ended;
}

static json_t *id_json(uint64_t id)
{
	return id ? json_sprintf("%llu", (unsigned long long)id) : json_null();
}

json_t *access_list(const struct access *a, const struct http_exchange *x)
{
	char created[ISO_TIME_SIZE], expires[ISO_TIME_SIZE];
	json_t *list = json_array();

	for (unsigned i = 0; i < a->sessions.n; i++) {
		const struct session *s = &a->sessions.v[i];

		iso_time_format(created, s->created_ms);
		iso_time_format(expires, s->expires_ms);
		json_array_append_new(list, json_pack("{s:I,s:s,s:o,s:o,s:s,s:s,s:b}", "id",
						      (json_int_t)s->id, "role",
						      web_role_name(s->role), "user",
						      id_json(s->user), "server", id_json(s->guild),
						      "createdAt", created, "expiresAt", expires,
						      "current", (int)(s->id == http_tag(x))));
	}
	return list;
}

/* ---- making ---- */

int access_alloc(struct access **out, const struct access_conf *conf)
{
	struct access *a;
	int err;

	if (!conf->token || strlen(conf->token) < ACCESS_TOKEN_MIN ||
	    strlen(conf->token) >= ACCESS_TOKEN_MAX || !conf->session_hours)
		return EINVAL;
	a = calloc(1, sizeof *a);
	if (!a)
		return ENOMEM;
	a->conf = *conf;
	memcpy(a->token, conf->token, strlen(conf->token));
	if (conf->recorded)
		memset(a->stars, '*', strlen(conf->token));
	a->sessions.token = a->token;
	sessions_read(&a->sessions, conf->kept);
	sessions_limit_discord(&a->sessions, env_wall_ms(conf->env) + ACCESS_DISCORD_MS);
	a->conf.kept = NULL;
	err = tmr_alloc(&a->expire_tmr, conf->env, on_expire, a);
	if (err) {
		access_free(a);
		return err;
	}
	arm_timer(a);
	*out = a;
	return 0;
}

struct access *access_free(struct access *a)
{
	if (!a)
		return NULL;
	tmr_free(a->expire_tmr);
	sodium_memzero(a, sizeof *a);
	free(a);
	return NULL;
}

void access_set_port(struct access *a, uint16_t port)
{
	snprintf(a->cookie, sizeof a->cookie, "__Host-parley-%u", port);
}
