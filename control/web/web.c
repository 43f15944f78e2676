#include "control/web/web.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/settings/listen.h"
#include "control/web/discord_sign_in.h"
#include "control/web/event_stream.h"
#include "control/web/ingress.h"
#include "control/web/inside.h"
#include "control/web/level_stream.h"
#include "control/web/live_providers.h"
#include "control/web/live_turns.h"
#include "control/web/live_voice.h"
#include "control/web/music_stream.h"
#include "control/web/origins.h"
#include "control/web/state_stream.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/base/time.h"
#include "proto/discord.h"

struct route {
	enum http_method method;
	const char *path;
	enum web_role role;
	bool open; /* members who do not see every channel may ask it */
	web_handle_h *h;
	size_t body;
	uint32_t ms;
	const char *text;
};
static const struct route routes[] = {
#define OPEN  true
#define WHOLE false
#define ROUTE(METHOD, p, r, seen, handler, n, ms, text)                                            \
	{HTTP_##METHOD, p, WEB_##r, seen, web_##handler, n, ms, text},
	WEB_ROUTES(ROUTE)
#undef ROUTE
#undef OPEN
#undef WHOLE
};
enum { ROUTES = sizeof routes / sizeof routes[0] };

#define WORD_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

/* 32 sessions read half as many streams at most as the server has connections. */
enum { TALK_SIZE = 40, HEALTH_MS = 1000, STREAMS_A_SESSION = 16 };

/* Arguments of a body's handler. */
struct way {
	struct web *web;
	const struct route *route;
};

struct web {
	struct env *env;
	struct live_settings *live;
	struct http_server *server;
	struct access *access;
	struct discord_sign_in *discord;
	struct event_stream *events, *figures; /* with words, and without */
	struct level_stream *levels;	       /* NULL: the speakers are not known */
	struct music_stream *music;	       /* NULL: nobody can look at it */
	struct live_turns *turns;
	struct live_providers *providers;
	struct live_voice *voice;
	struct rooms_kept *rooms;
	struct state_stream *streams[WEB_STREAMS][2]; /* without words, and with */
	struct reads *reads;
	struct way way[ROUTES];
	struct origins origins;
	struct ingress ingress;
	uint64_t share_seen; /* of the head that was received last */
	char talk[TALK_SIZE];
	struct web_page *page;
	json_t *health; /* as it was at health_at, for HEALTH_MS; NULL: never */
	uint64_t health_at;
	struct web_conf conf;		 /* what it shows; its texts are not valid */
	struct http_exchange *asking;	 /* waits until the room was asked again; NULL */
	struct http_exchange *exporting; /* waits until an incident was exported; NULL */
	struct web_erasing erasing;
	struct http_exchange *change; /* waits until the settings are saved; NULL */
	uint64_t last_order;
};

struct live_settings *web_live(const struct web *w)
{
	return w->live;
}

struct env *web_env(const struct web *w)
{
	return w->env;
}

struct access *web_access(const struct web *w)
{
	return w->access;
}

struct discord_sign_in *web_discord(const struct web *w)
{
	return w->discord;
}

uint64_t web_next_order(struct web *w)
{
	uint64_t now = env_wall_ms(w->env);

	/* Not those of the program before, either. */
	return w->last_order = w->last_order < now ? now : w->last_order + 1;
}

const struct web_conf *web_shown(const struct web *w)
{
	return &w->conf;
}

struct music_stream *web_music(const struct web *w)
{
	return w->music;
}

const char *web_talk(const struct web *w)
{
	return w->talk;
}

const struct web_page *web_page(const struct web *w)
{
	return w->page;
}

bool web_is_loopback(const struct web *w, const struct http_head *head)
{
	return origins_place(&w->origins, head->host) == PLACE_LISTEN &&
	       origins_private(&w->origins, head->host);
}

struct live_turns *web_turns(const struct web *w)
{
	return w->turns;
}

struct live_voice *web_voice(const struct web *w)
{
	return w->voice;
}

struct rooms_kept *web_rooms(const struct web *w)
{
	return w->rooms;
}

struct state_stream *web_stream(const struct web *w, enum web_stream_kind kind, bool words)
{
	return w->streams[kind][words];
}

struct reads *web_reads(const struct web *w)
{
	return w->reads;
}

struct http_exchange *web_asking(const struct web *w)
{
	return w->asking;
}

struct http_exchange **web_exporting(struct web *w)
{
	return &w->exporting;
}

struct web_erasing *web_erasing(struct web *w)
{
	return &w->erasing;
}

void web_set_asking(struct web *w, struct http_exchange *x)
{
	w->asking = x;
}

static void lose_change(struct http_exchange *x, void *arg)
{
	struct web *w = arg;

	(void)x;
	w->change = NULL;
}

void web_keep_change(struct web *w, struct http_exchange *x)
{
	w->change = x;
	http_on_gone(x, lose_change, w);
}

struct http_exchange *web_take_change(struct web *w)
{
	struct http_exchange *x = w->change;

	w->change = NULL;
	return x;
}

/* ---- routes of no other file ---- */

/* The names of the parts that are not well. */
static json_t *list_down(const json_t *health)
{
	json_t *list = json_array(), *state;
	const char *name;

	json_object_foreach(json_object_get(health, "parts"), name, state)
	{
		const char *text = json_string_value(state);

		if (text && strncmp(text, "up", 2) != 0 && strcmp(text, "unused") != 0)
			json_array_append_new(list, json_string(name));
	}
	return list;
}

/* Anybody may ask, and as often as they like: the answer is made once a second. It has the parts
 * for those alone who are signed in, and what is down for whoever asks at this machine, such as the
 * health check of a container. */
static json_t *health(struct web *w, const struct web_request *r, bool *ready)
{
	uint64_t now = env_now(w->env);

	if (!w->health || now - w->health_at >= HEALTH_MS * NS_PER_MS) {
		json_decref(w->health);
		w->health = w->conf.readyh(w->conf.arg);
		w->health_at = now;
	}
	*ready = json_is_true(json_object_get(w->health, "ready"));
	if (r->role >= WEB_VIEWER)
		return json_incref(w->health);
	if (!w->health)
		return NULL;
	return json_pack("{s:b,s:o*}", "ready", (int)*ready, "down",
			 web_is_loopback(w, r->head) ? list_down(w->health) : NULL);
}

void web_healthz(struct web *w, const struct web_request *r)
{
	bool ready;

	/* The program runs, or nobody would answer. */
	web_json(r->x, 200, health(w, r, &ready));
}

void web_readyz(struct web *w, const struct web_request *r)
{
	bool ready;
	json_t *parts = health(w, r, &ready);

	web_json(r->x, ready ? 200 : 503, parts);
}

/* They tell of all servers. */
void web_metrics(struct web *w, const struct web_request *r)
{
	char *text = r->scope ? NULL : w->conf.metricsh(w->conf.arg);

	if (r->scope)
		web_refuse(r->x, WEB_FORBIDDEN);
	else if (text)
		http_reply(r->x, 200, "text/plain; version=0.0.4; charset=utf-8", text,
			   strlen(text));
	else
		http_reply(r->x, 503, NULL, NULL, 0);
	free(text);
}

/* They are of all servers together. */
void web_providers_get(struct web *w, const struct web_request *r)
{
	if (r->scope)
		web_refuse(r->x, WEB_FORBIDDEN);
	else
		web_json(r->x, 200,
			 json_pack("{s:o}", "providers",
				   live_providers_json(w->providers, env_wall_ms(w->env),
						       r->role >= WEB_OPERATOR)));
}

void web_public_https_get(struct web *w, const struct web_request *r)
{
	const char *own = w->origins.own, *share = w->origins.share;

	web_json(r->x, 200,
		 json_pack("{s:b,s:o,s:o}", "enabled", *own || *share, "publicUrl",
			   *own ? json_sprintf("https://%s", own) : json_null(), "shareUrl",
			   *share ? json_sprintf("https://%s", share) : json_null()));
}

json_t *web_mcp_servers(const struct web *w)
{
	return w->conf.mcph(w->conf.arg);
}

/* All sessions together leave connections to everybody else; the token is a program's of whoever
 * runs the bot. */
bool web_refuse_stream(struct web *w, struct http_exchange *x)
{
	bool many = access_session(w->access, x) && http_tag_readers(x) >= STREAMS_A_SESSION;

	if (many)
		web_refuse(x, WEB_TOO_MANY_STREAMS);
	return many;
}

void web_events_get(struct web *w, const struct web_request *r)
{
	bool words = r->role >= WEB_OPERATOR;
	int err;

	if (web_refuse_stream(w, r->x))
		return;
	err = event_stream_join(words ? w->events : w->figures, r->x, r->head, r->role, r->scope,
				r->open);
	if (err == EINVAL)
		web_refuse(r->x, WEB_BAD_EVENTS_QUERY);
	else if (err)
		http_reply(r->x, 503, NULL, NULL, 0);
	else
		level_stream_start(w->levels);
}

/* ---- requests ---- */

/* The request names a server, in its path, query or body, that its client may not see. */
static bool is_outside(const struct route *route, const struct web_request *r)
{
	static const char *const names[] = {"guild", "guildId"};
	bool path = strstr(route->path, ":guild") || strstr(route->path, ":session");

	if (!r->scope)
		return false;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const json_t *member = json_object_get(r->body, names[i]);
		uint64_t guild = 0;
		char text[24];

		if (member &&
		    (!discord_snowflake(json_string_value(member), &guild) || guild != r->scope))
			return true;
		if (http_head_has_query(r->head, names[i]) &&
		    (!http_head_query(r->head, names[i], text, sizeof text) ||
		     !discord_snowflake(text, &guild) || guild != r->scope))
			return true;
	}
	return path && r->id != r->scope;
}

/* A GET of the API; probes and pages of browsers may add what they like. */
static bool takes_query(const struct route *r)
{
	return r->method == HTTP_GET && r->role >= WEB_VIEWER && strncmp(r->path, "/api/", 5) == 0;
}

static void answer_known(struct web *w, unsigned i, struct web_request *r)
{
	if (routes[i].role != WEB_PUBLIC) {
		r->role = access_role(w->access, r->x);
		r->scope = access_scope(w->access, r->x);
		r->open = access_is_open(w->access, http_tag(r->x));
		access_actor(w->access, r->x, r->actor);
	}
	if (is_outside(&routes[i], r))
		web_refuse(r->x, WEB_FORBIDDEN);
	else if (r->open && !routes[i].open)
		web_refuse(r->x, WEB_FORBIDDEN);
	else if (takes_query(&routes[i]) && web_refuse_query(w, r, routes[i].text))
		return;
	else
		routes[i].h(w, r);
}

static bool read_id(const char *text, size_t n, uint64_t *id)
{
	char number[24];

	if (n >= sizeof number)
		return false;
	memcpy(number, text, n);
	number[n] = '\0';
	return discord_u64(number, id) && *id && *id <= INT64_MAX;
}

static bool read_part(const char *name, size_t n, const char *value, size_t length,
		      struct web_request *r)
{
	size_t dash = strcspn(value, "-");

	if ((n == strlen("id") && memcmp(name, "id", n) == 0) ||
	    (n == strlen("guild") && memcmp(name, "guild", n) == 0))
		return read_id(value, length, &r->id);
	if (n == strlen("session") && memcmp(name, "session", n) == 0)
		return dash < length && read_id(value, dash, &r->id) &&
		       read_id(value + dash + 1, length - dash - 1, &r->id2);
	return length && strspn(value, WORD_LETTERS) >= length;
}

/* Of parts with a colon routes.def tells; a path has one at most. */
static bool path_matches(const char *pattern, const char *path, struct web_request *r)
{
	size_t before = strcspn(pattern, ":"), name, value;

	r->id = r->id2 = 0;
	if (!pattern[before])
		return strcmp(pattern, path) == 0;
	if (strncmp(pattern, path, before) != 0)
		return false;
	pattern += before + 1;
	path += before;
	name = strcspn(pattern, "/");
	value = strcspn(path, "/");
	return strcmp(pattern + name, path + value) == 0 &&
	       read_part(pattern, name, path, value, r);
}

static void refuse_access(struct http_exchange *x, enum decision decision)
{
	if (decision == ACCESS_UNKNOWN)
		http_reply_field(x, "WWW-Authenticate", "Bearer");
	if (decision == ACCESS_LATER)
		http_reply_field(x, "Retry-After", "30");
	web_refuse(x, decision == ACCESS_UNKNOWN   ? WEB_UNAUTHORIZED
		      : decision == ACCESS_LATER   ? WEB_TOO_MANY_TRIES
		      : decision == ACCESS_FOREIGN ? WEB_FOREIGN
						   : WEB_FORBIDDEN);
}

static void take_body(struct http_exchange *x, const uint8_t *data, size_t n, bool last, void *arg)
{
	const struct way *way = arg;
	json_t *body = json_loadb((const char *)data, n, JSON_REJECT_DUPLICATES, NULL);
	struct web_request r = {.x = x, .head = http_request_head(x), .body = body};

	(void)last;
	path_matches(way->route->path, r.head->path, &r);
	/* The session may have ended since the head. */
	if (way->route->role != WEB_PUBLIC && access_role(way->web->access, x) < way->route->role)
		refuse_access(x, ACCESS_UNKNOWN);
	else if (json_is_object(body))
		answer_known(way->web, (unsigned)(way->route - routes), &r);
	else
		web_refuse(x, WEB_NOT_AN_OBJECT);
	json_decref(body);
}

static bool is_json(const struct http_head *head)
{
	struct http_text type = http_head_field(head, "Content-Type");
	struct http_text plain = {type.p, 0};

	while (plain.n < type.n && type.p[plain.n] != ';' && type.p[plain.n] != ' ')
		plain.n++;
	return http_text_like(plain, "application/json");
}

/* A public route reads no credentials but those of a share, and limits each address. */
static enum decision decide_public(struct web *w, unsigned i, const struct web_request *r)
{
	char address[ADDRESS_MAX];

	http_set_tag(r->x, (uint64_t)env_answer(w->env, (int64_t)w->share_seen));
	http_client_address(r->x, address, sizeof address);
	origins_client(&w->origins, r->head, address);
	if (!ingress_take(&w->ingress, address, i, env_now(w->env)))
		return ACCESS_INSUFFICIENT;
	/* Programs send no Origin; a browser tells whose page it is. */
	return r->head->method == HTTP_GET || r->head->method == HTTP_HEAD ||
			       !http_head_field(r->head, "Origin").p ||
			       access_is_ours(w->access, r->head)
		       ? ACCESS_GRANTED
		       : ACCESS_FOREIGN;
}

static void run(struct web *w, unsigned i, struct web_request *r)
{
	struct http_exchange *x = r->x;
	const struct http_head *head = r->head;
	bool public = routes[i].role == WEB_PUBLIC;
	enum decision decision =
		public ? decide_public(w, i, r) : access_decide(w->access, x, head, routes[i].role);

	if (public && decision == ACCESS_INSUFFICIENT)
		web_refuse(x, WEB_INGRESS);
	else if (decision != ACCESS_GRANTED)
		refuse_access(x, decision);
	else if (!routes[i].body)
		answer_known(w, i, r);
	else if (!is_json(head))
		web_refuse(x, WEB_NOT_JSON);
	else
		http_take_body(
			x, &(struct http_body_limits){.max = routes[i].body, .ms = routes[i].ms},
			take_body, &w->way[i]);
}

static void on_request(struct http_exchange *x, const struct http_head *head, void *arg)
{
	struct web *w = arg;
	struct web_request r = {.x = x, .head = head};
	bool shares = origins_place(&w->origins, head->host) == PLACE_SHARE;
	char methods[64] = "", peer[ADDRESS_MAX];

	http_client_address(x, peer, sizeof peer);
	if (origins_misdirected(&w->origins, head, peer)) {
		web_refuse(x, WEB_MISDIRECTED);
		return;
	}
	for (unsigned i = 0; i < ROUTES; i++) {
		/* What is public is served apart from everything else. */
		if ((shares && routes[i].role != WEB_PUBLIC) ||
		    !path_matches(routes[i].path, head->path, &r))
			continue;
		if (routes[i].method == head->method ||
		    (routes[i].method == HTTP_GET && head->method == HTTP_HEAD)) {
			run(w, i, &r);
			return;
		}
		snprintf(methods + strlen(methods), sizeof methods - strlen(methods), "%s%s%s",
			 *methods ? ", " : "", http_method_name(routes[i].method),
			 routes[i].method == HTTP_GET ? ", HEAD" : "");
	}
	if (*methods) {
		http_reply_field(x, "Allow", methods);
		web_refuse(x, WEB_METHOD);
	} else {
		web_refuse(x, WEB_NOT_FOUND);
	}
}

static bool own_host(struct http_text host, void *arg)
{
	const struct web *w = arg;

	return origins_place(&w->origins, host) != PLACE_FOREIGN;
}

static bool is_proxy(const char *address, void *arg)
{
	const struct web *w = arg;

	return origins_is_proxy(&w->origins, address);
}

static int check_head(const struct http_head *head, void *arg)
{
	struct web *w = arg;

	w->share_seen = web_share_read_head(w, head);
	discord_sign_in_check_head(w->discord, head);
	return access_check_head(head, w->access);
}

/* ---- making ---- */

static bool is_over(const struct http_exchange *x, void *arg)
{
	const struct web *w = arg;

	return access_is_over(w->access, x);
}

/* Sessions have ended, or see another server: their readers may not read on. */
static void end_streams(void *arg)
{
	struct web *w = arg;

	discord_sign_in_forget(w->discord);
	event_stream_end(w->events, is_over, w);
	event_stream_end(w->figures, is_over, w);
	music_stream_end(w->music, is_over, w);
	for (unsigned i = 0; i < 2 * WEB_STREAMS; i++)
		state_stream_end(w->streams[i / 2][i % 2], is_over, w);
}

/* The bot is in this server. */
static bool is_known(uint64_t guild, void *arg)
{
	const struct web *w = arg;
	json_t *one = web_only(w->conf.guildsh(w->conf.arg), "id", guild);
	bool known = json_array_size(one) > 0;

	json_decref(one);
	return known;
}

static bool read_origins(struct web *w, const struct web_conf *conf)
{
	const char *own = conf->origin ? conf->origin : "";
	const char *share = conf->share_origin ? conf->share_origin : "";

	if (origins_read(&w->origins, own, share, conf->proxies ? conf->proxies : ""))
		return true;
	log_fatal("web_origin_invalid",
		  "hint=\"web_origin and web_share_origin are https://NAME, not the same, and "
		  "web_proxies numeric addresses\"");
	return false;
}

static int make_server(struct web *w, const struct web_conf *conf)
{
	struct http_server_conf sc = {.hosth = own_host,
				      .proxyh = is_proxy,
				      .h = on_request,
				      .checkh = check_head,
				      .hide_cookies = true,
				      .last = true};
	struct listen_address at;
	int err = listen_parse(&at, conf->listen);

	if (err)
		return err;
	snprintf(w->origins.listen, sizeof w->origins.listen, "%s", at.host);
	sc.host = at.address;
	sc.port = at.port;
	sc.arg = w;
	err = http_server_alloc(&w->server, conf->env, &sc);
	if (err)
		return err;
	access_set_port(w->access, http_server_port(w->server));
	discord_sign_in_set_port(w->discord, http_server_port(w->server));
	return 0;
}

/* Last: the bus cannot be left again. */
static int make_subscribers(struct web *w, const struct web_conf *conf)
{
	struct event_stream_conf ec = {.env = conf->env,
				       .bus = conf->bus,
				       .words = true,
				       .openh = conf->openh,
				       .arg = conf->arg};
	int err = event_stream_alloc(&w->events, &ec);

	ec.words = false;
	if (!err)
		err = event_stream_alloc(&w->figures, &ec);
	if (!err && conf->levelsh)
		err = level_stream_alloc(&w->levels, conf->env,
					 (struct event_stream *[]){w->events, w->figures},
					 conf->levelsh, conf->arg);
	if (!err && conf->watch_musich)
		err = music_stream_alloc(&w->music, conf->env, conf->watch_musich, conf->arg);
	if (!err)
		err = live_turns_alloc(&w->turns, conf->bus);
	if (!err)
		err = live_providers_alloc(&w->providers, conf->bus);
	if (!err)
		err = live_voice_alloc(&w->voice, conf->bus);
	if (!err)
		err = rooms_alloc(&w->rooms, conf->bus);
	for (unsigned words = 0; words < 2 && !err; words++) {
		err = web_make_voice_stream(w, words, &w->streams[WEB_STREAM_VOICE][words]);
		if (!err)
			err = web_make_activity_stream(w, words,
						       &w->streams[WEB_STREAM_ACTIVITY][words]);
	}
	return err;
}

/* Only a page of this machine, because its address becomes a part of the policy of ours. */
static void take_talk(struct web *w, const char *talk)
{
	static const char local[] = "http://127.0.0.1:";
	const char *port = talk ? talk + strlen(local) : "";
	size_t digits;

	if (!talk || !*talk)
		return;
	digits = strncmp(talk, local, strlen(local)) == 0 ? strspn(port, "0123456789") : 0;
	if (digits && digits <= 5 && strcmp(port + digits, "/") == 0)
		snprintf(w->talk, sizeof w->talk, "%s", talk);
	else
		log_warn("talk_page_not_shown", "hint=\"it must be %sPORT/\"", local);
}

int web_alloc(struct web **out, const struct web_conf *conf)
{
	struct web *w;
	int err;

	if (!out || !conf->live || !conf->bus || !conf->mcph || !conf->readyh || !conf->metricsh ||
	    !conf->roomsh || !conf->reasonsh || !conf->statsh || !conf->guildsh ||
	    !conf->channelsh || !conf->orderh)
		return EINVAL;
	w = calloc(1, sizeof *w);
	if (!w)
		return ENOMEM;
	w->env = conf->env;
	w->live = conf->live;
	w->conf = *conf;
	take_talk(w, conf->talk);
	for (unsigned i = 0; i < ROUTES; i++)
		w->way[i] = (struct way){w, &routes[i]};
	err = read_origins(w, conf) ? 0 : EINVAL;
	if (!err)
		err = web_page_alloc(&w->page);
	if (!err)
		err = access_alloc(&w->access,
				   &(struct access_conf){.env = conf->env,
							 .bus = conf->bus,
							 .store = conf->store,
							 .token = conf->token,
							 .recorded = conf->recorded,
							 .kept = conf->sessions,
							 .session_hours = conf->session_hours,
							 .origins = &w->origins,
							 .endedh = end_streams,
							 .arg = w});
	if (!err)
		err = discord_sign_in_alloc(
			&w->discord, &(struct discord_sign_in_conf){.env = conf->env,
								    .http = conf->http,
								    .access = w->access,
								    .origins = &w->origins,
								    .settings = conf->settings,
								    .knownh = is_known,
								    .arg = w});
	if (!err)
		err = reads_alloc(&w->reads, w, conf->store);
	if (!err)
		err = make_server(w, conf);
	if (!err)
		err = make_subscribers(w, conf);
	if (err) {
		log_fatal("web_not_up", "listen=%s error=\"%s\"", conf->listen, strerror(err));
		web_free(w);
		return err;
	}
	log_info("web_up",
		 "address=%s port=%u hint=\"control --sign-in prints a link to the dashboard\"",
		 w->origins.listen, http_server_port(w->server));
	*out = w;
	return 0;
}

void web_settings_read(struct web *w)
{
	discord_sign_in_ask_again(w->discord);
}

void web_forget_events(struct web *w)
{
	event_stream_forget(w->events);
	event_stream_forget(w->figures);
	for (unsigned i = 0; i < 2 * WEB_STREAMS; i++)
		state_stream_forget(w->streams[i / 2][i % 2]);
	live_turns_forget(w->turns);
	live_voice_forget(w->voice);
	rooms_forget(w->rooms);
}

struct web *web_free(struct web *w)
{
	if (!w)
		return NULL;
	level_stream_free(w->levels);
	music_stream_free(w->music);
	event_stream_free(w->events);
	event_stream_free(w->figures);
	json_decref(w->health);
	for (unsigned i = 0; i < 2 * WEB_STREAMS; i++)
		state_stream_free(w->streams[i / 2][i % 2]);
	live_turns_free(w->turns);
	live_providers_free(w->providers);
	live_voice_free(w->voice);
	rooms_free(w->rooms);
	reads_free(w->reads);
	http_server_free(w->server);
	discord_sign_in_free(w->discord);
	access_free(w->access);
	web_page_free(w->page);
	free(w);
	return NULL;
}

uint16_t web_port(const struct web *w)
{
	return http_server_port(w->server);
}
