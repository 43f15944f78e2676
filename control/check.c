#include "control/check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "control/child.h"
#include "control/control.h"
#include "control/dialect/openai.h"
#include "control/discord/guilds.h"
#include "control/discord/rest.h"
#include "control/environment.h"
#include "control/settings/settings.h"
#include "control/state.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/peer.h"
#include "ipc/tmr.h"
#include "ipc/ws.h"
#include "proto/base/utf8.h"
#include "proto/discord.h"
#include "proto/media.h"

#define SEC	       UINT64_C(1000000000)
#define ACOUSTIC_MODEL "/usr/share/pocketsphinx/model/en-us/en-us"
enum { GATEWAY_S = 10, BRAIN_S = 10, MEDIAD_S = 3 };

enum verdict { OK, WARNING, MISSING };

struct check {
	struct env *env;
	const struct settings *settings;
	const struct control_conf *conf;
	struct http *http;
	struct rest *rest;
	struct ws_ctx *ws_ctx;
	struct ws *ws;	  /* to the gateway */
	struct ws *brain; /* to the provider */
	struct guilds *guilds;
	struct tmr *tmr;
	struct peer *peer;
	unsigned sock; /* which mediad is asked */
	json_t *guild; /* as a GUILD_CREATE would tell it */
	uint64_t user, application;
	unsigned missing;
};

static void say(struct check *c, enum verdict v, const char *what, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static void say(struct check *c, enum verdict v, const char *what, const char *fmt, ...)
{
	static const char *const words[] = {"ok", "warning", "missing"};
	char text[1024];
	va_list ap;

	c->missing += v == MISSING;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	utf8_plain(text); /* names and messages from outside are in it */
	printf("%-8s %s: %s\n", words[v], what, text);
	fflush(stdout);
}

/* ---- this machine ---- */

static void check_state_dir(struct check *c)
{
	int err = c->conf->state_dir ? state_dir_check(c->conf->state_dir) : ENOENT;

	if (err)
		say(c, WARNING, "state directory",
		    "%s: %s; a restart will leave and join again. Give a writable --state-dir",
		    c->conf->state_dir ? c->conf->state_dir : "(none)", strerror(err));
	else
		say(c, OK, "state directory", "%s is writable", c->conf->state_dir);
}

static void check_ca(struct check *c)
{
	if (c->conf->ca_file && access(c->conf->ca_file, R_OK))
		say(c, MISSING, "--ca", "%s: %s", c->conf->ca_file, strerror(errno));
}

/* Secrets in files that others may read are no secrets. */
static void check_secret_file(struct check *c, const char *variable)
{
	const char *path = getenv(variable);
	struct stat st;

	if (path && *path && stat(path, &st) == 0 && st.st_mode & 077)
		say(c, WARNING, variable, "%s can be read by others: chmod 600 %s", path, path);
}

static void check_embedded(struct check *c)
{
	char program[512];

	if (settings_brain_url(c->settings))
		return; /* asked later, over the network */
	if (child_find("offlined", program, sizeof program))
		say(c, MISSING, "brain",
		    "no OPENAI_API_KEY, and offlined is not beside control. Set the key or build "
		    "offlined");
	else
		say(c, WARNING, "brain",
		    "no OPENAI_API_KEY: the embedded brain serves, which knows little and speaks "
		    "only "
		    "when named");
	if (access(ACOUSTIC_MODEL, R_OK))
		say(c, MISSING, "speech model", "install the Debian package pocketsphinx-en-us");
	else
		say(c, OK, "speech model", "pocketsphinx-en-us");
}

/* No datagram is sent: connecting a UDP socket only asks the kernel for a way. */
static void check_udp(struct check *c)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(50000)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET, "192.0.2.1", &to.sin_addr);
	if (fd < 0)
		say(c, MISSING, "voice", "no UDP socket can be made: %s", strerror(errno));
	else if (connect(fd, (struct sockaddr *)&to, sizeof to))
		say(c, WARNING, "voice",
		    "no way out for UDP: %s. Voice needs UDP to ports 50000-65535",
		    strerror(errno));
	else
		say(c, OK, "voice", "UDP sockets can be made; firewalls show only in a call");
	if (fd >= 0)
		close(fd);
}

/* ---- mediad ---- */

static void next_mediad(struct check *c);
static void ask_brain(struct check *c);

static void mediad_done(struct check *c)
{
	tmr_stop(c->tmr);
	c->peer = peer_free(c->peer);
	c->sock++;
	next_mediad(c);
}

static int on_mediad(struct peer *p, const uint8_t *body, size_t len, void *arg)
{
	struct check *c = arg;
	const char *path = c->conf->socks[c->sock];
	struct media_msg msg;

	(void)p;
	if (media_unpack(&msg, MEDIA_SIDE_MEDIAD, body, len))
		return 0;
	if (msg.type == MEDIA_FAULT && msg.fault.code == MEDIA_FAULT_BUSY)
		say(c, OK, "mediad", "%s answers; another control uses it now", path);
	else if (msg.type == MEDIA_FAULT)
		say(c, MISSING, "mediad", "%s: %.*s", path, (int)msg.fault.text.n,
		    (const char *)msg.fault.text.p);
	else if (msg.type == MEDIA_HELLO && msg.hello.major != MEDIA_MAJOR)
		say(c, MISSING, "mediad",
		    "%s speaks version %u, this control %u: update the older one", path,
		    msg.hello.major, MEDIA_MAJOR);
	else if (msg.type == MEDIA_HELLO)
		say(c, OK, "mediad", "%s answers, version %.*s", path, (int)msg.hello.build.n,
		    (const char *)msg.hello.build.p);
	else
		return 0;
	mediad_done(c);
	return 0;
}

static void on_mediad_lost(struct peer *p, int err, void *arg)
{
	struct check *c = arg;

	(void)p;
	say(c, MISSING, "mediad", "%s hung up: %s", c->conf->socks[c->sock], strerror(err));
	mediad_done(c);
}

static void next_mediad(struct check *c)
{
	struct peer_conf conf = {
		.max_frame = MEDIA_MAX_FRAME, .msgh = on_mediad, .losth = on_mediad_lost, .arg = c};
	/* Epoch 0 never takes over from a control that is at work. */
	struct media_msg hello = {.type = MEDIA_HELLO,
				  .hello = {.major = MEDIA_MAJOR,
					    .minor = MEDIA_MINOR,
					    .build = slice_str(PARLEY_VERSION)}};
	const char *path = c->conf->socks ? c->conf->socks[c->sock] : NULL;
	uint8_t buf[256];
	size_t len;
	int err;

	if (!path) {
		ask_brain(c);
		return;
	}
	err = peer_connect(&c->peer, c->env, path, &conf);
	if (!err)
		err = media_pack(&hello, MEDIA_MINOR, buf, sizeof buf, &len);
	if (!err)
		err = peer_send(c->peer, PEER_COMMAND, buf, len);
	if (err) {
		say(c, MISSING, "mediad", "%s: %s. Start mediad --listen %s", path, strerror(err),
		    path);
		mediad_done(c);
		return;
	}
	tmr_start(c->tmr, MEDIAD_S * SEC);
}

static void check_spawn(struct check *c)
{
	char program[512];

	if (!c->conf->spawn)
		return;
	if (child_find(c->conf->spawn, program, sizeof program))
		say(c, MISSING, "mediad",
		    "there is no program %s to run. Build it, or name it: --spawn-mediad=PROGRAM",
		    c->conf->spawn);
	else
		say(c, OK, "mediad", "%s will be run by control", program);
}

/* ---- the provider ---- */

static void ask_user(struct check *c);

static void brain_done(struct check *c)
{
	tmr_stop(c->tmr);
	c->brain = ws_free(c->brain);
	ask_user(c);
}

static void on_brain(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data,
		     size_t len, void *arg)
{
	struct check *c = arg;
	struct openai_fact f;
	char url[256], why[160];

	(void)ws;
	(void)code;
	settings_brain_shown(c->settings, url, sizeof url);
	if (ev == WS_CLOSED) {
		snprintf(why, sizeof why, "%.*s", len ? (int)len : 10,
			 len ? (const char *)data : "it hung up");
		if (strstr(why, "unauthorized"))
			snprintf(why, sizeof why, "the key is not accepted");
		say(c, MISSING, "brain",
		    "%s cannot be used (look at OPENAI_API_KEY and PARLEY_BRAIN_URL): %s", url,
		    why);
	} else if (ev == WS_TEXT && openai_parse(&f, data, len) == 0) {
		bool said = f.type == OPENAI_SESSION || f.type == OPENAI_ERROR;

		if (f.type == OPENAI_SESSION)
			say(c, OK, "brain", "%s answers", url);
		else if (said)
			say(c, MISSING, "brain", "%s refuses: %.*s", url, (int)f.text.n,
			    (const char *)f.text.p);
		openai_fact_clear(&f);
		if (!said)
			return;
	} else {
		return;
	}
	brain_done(c);
}

/* Opening a session costs nothing, and tells whether the key is good. */
static void ask_brain(struct check *c)
{
	const char *base = settings_brain_url(c->settings);
	char *url = base ? openai_url_voice(base, c->settings->brain_model) : NULL;
	char *auth = openai_auth(c->settings->openai_api_key);
	const char *const headers[] = {auth, NULL};
	struct ws_dial dial = {
		.url = url, .headers = auth ? headers : NULL, .max_message = OPENAI_MAX_MESSAGE};

	if (url) {
		tmr_start(c->tmr, BRAIN_S * SEC);
		if (ws_connect(&c->brain, c->ws_ctx, &dial, on_brain, c)) {
			say(c, MISSING, "brain", "PARLEY_BRAIN_URL is not a WebSocket address");
			brain_done(c);
		}
	} else {
		ask_user(c);
	}
	if (auth)
		explicit_bzero(auth, strlen(auth));
	free(auth);
	free(url);
}

/* ---- Discord ---- */

static void done(struct check *c)
{
	tmr_stop(c->tmr);
	env_stop(c->env);
}

static int get(struct check *c, const char *route, const char *path, rest_h *h)
{
	struct rest_call call = {.method = "GET", .route = route, .path = path, .idempotent = true};

	return rest_request(c->rest, &call, h, c);
}

static const char *trouble(int err, int status, const json_t *body)
{
	const char *message = json_string_value(json_object_get(body, "message"));

	if (err == EACCES || status == 401)
		return "the token is not accepted";
	if (err)
		return strerror(err);
	return message ? message : "an unexpected answer";
}

static void check_permissions(struct check *c)
{
	static const unsigned bits[] = {DISCORD_BIT_VIEW_CHANNEL, DISCORD_BIT_CONNECT,
					DISCORD_BIT_SPEAK};
	struct guild_channel ch;
	uint64_t have;

	guilds_event(c->guilds, "GUILD_CREATE", c->guild);
	if (!guilds_channel(c->guilds, c->conf->guild, c->conf->channel, &ch)) {
		say(c, MISSING, "channel",
		    "that server has no voice or stage channel of this id. In Discord's developer "
		    "mode a right click on the channel copies it");
	} else if (!guilds_permissions(c->guilds, c->conf->guild, c->conf->channel, c->user,
				       &have)) {
		say(c, WARNING, "permissions", "could not be worked out");
	} else {
		say(c, OK, "channel", "%s", ch.name);
		for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++)
			if (!(have & DISCORD_PERMISSION(bits[i])))
				say(c, MISSING, "permissions",
				    "the bot may not %s in %s. Allow it in the channel's settings "
				    "in "
				    "Discord",
				    discord_permission_text(bits[i]), ch.name);
			else
				say(c, OK, "permissions", "%s", discord_permission_text(bits[i]));
	}
	done(c);
}

static void on_channels(int err, int status, const json_t *body, void *arg)
{
	struct check *c = arg;

	if (err == ECANCELED)
		return;
	if (err || status != 200) {
		say(c, WARNING, "channel", "%s", trouble(err, status, body));
		done(c);
		return;
	}
	json_object_set(c->guild, "channels", (json_t *)body);
	check_permissions(c);
}

static void on_member(int err, int status, const json_t *body, void *arg)
{
	struct check *c = arg;
	char path[96];

	if (err == ECANCELED)
		return;
	if (!err && status == 200)
		json_object_set_new(c->guild, "members", json_pack("[O]", (json_t *)body));
	snprintf(path, sizeof path, "/guilds/%llu/channels", (unsigned long long)c->conf->guild);
	if (get(c, "/guilds/{}/channels", path, on_channels))
		done(c);
}

static void on_guild(int err, int status, const json_t *body, void *arg)
{
	const char *name = json_string_value(json_object_get(body, "name"));
	struct check *c = arg;
	char path[96];

	if (err == ECANCELED)
		return;
	if (err || status != 200) {
		say(c, MISSING, "server", "--guild: %s. Open the invite link to add the bot there",
		    trouble(err, status, body));
		done(c);
		return;
	}
	c->guild = json_deep_copy(body);
	say(c, OK, "server", "%s", name ? name : "?");
	snprintf(path, sizeof path, "/guilds/%llu/members/%llu", (unsigned long long)c->conf->guild,
		 (unsigned long long)c->user);
	if (get(c, "/guilds/{}/members/{}", path, on_member))
		done(c);
}

static void gateway_done(struct check *c)
{
	char path[64];

	tmr_stop(c->tmr);
	c->ws = ws_free(c->ws);
	snprintf(path, sizeof path, "/guilds/%llu", (unsigned long long)c->conf->guild);
	if (!c->conf->guild || get(c, "/guilds/{}", path, on_guild))
		done(c);
}

static void on_ws(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data, size_t len,
		  void *arg)
{
	struct check *c = arg;

	(void)ws;
	(void)code;
	if (ev == WS_OPEN)
		return; /* it is Discord when its hello comes */
	if (ev == WS_TEXT)
		say(c, OK, "gateway", "answers");
	else
		say(c, MISSING, "gateway", "the connection failed: %.*s", (int)len,
		    len ? (const char *)data : "");
	gateway_done(c);
}

static void on_gateway(int err, int status, const json_t *body, void *arg)
{
	struct check *c = arg;
	const char *url = json_string_value(json_object_get(body, "url"));
	const json_t *left =
		json_object_get(json_object_get(body, "session_start_limit"), "remaining");
	struct ws_dial dial = {.max_message = 1 << 20};
	char full[320];

	if (err == ECANCELED)
		return;
	if (err || status != 200 || !url) {
		say(c, MISSING, "gateway", "%s", trouble(err, status, body));
		done(c);
		return;
	}
	if (json_is_integer(left) && json_integer_value(left) < 10)
		say(c, WARNING, "sessions", "only %lld more sessions can be started today",
		    (long long)json_integer_value(left));
	snprintf(full, sizeof full, "%s/?v=10&encoding=json", url);
	dial.url = full;
	tmr_start(c->tmr, GATEWAY_S * SEC);
	if (ws_connect(&c->ws, c->ws_ctx, &dial, on_ws, c)) {
		say(c, MISSING, "gateway", "%s cannot be used", url);
		gateway_done(c);
	}
}

static void on_application(int err, int status, const json_t *body, void *arg)
{
	struct check *c = arg;

	if (err == ECANCELED)
		return;
	if (!err && status == 200)
		discord_snowflake(json_string_value(json_object_get(body, "id")), &c->application);
	else
		c->application = c->user; /* the same for every bot made since 2016 */
	say(c, OK, "intents", "only servers and voice states are asked for; nothing to switch on");
	say(c, OK, "invite",
	    "https://discord.com/oauth2/authorize?client_id=%llu&permissions=%llu"
	    "&scope=bot+applications.commands",
	    (unsigned long long)c->application, (unsigned long long)control_permissions());
	if (get(c, "/gateway/bot", "/gateway/bot", on_gateway))
		done(c);
}

static void on_user(int err, int status, const json_t *body, void *arg)
{
	struct check *c = arg;
	const char *name = json_string_value(json_object_get(body, "username"));

	if (err == ECANCELED)
		return;
	if (err && err != EACCES) {
		say(c, MISSING, "Discord",
		    "%s cannot be reached: %s. Look at the network and PARLEY_DISCORD_API",
		    c->settings->discord_api, strerror(err));
		done(c);
		return;
	}
	if (err || status != 200) {
		say(c, MISSING, "token", "%s. Look at DISCORD_TOKEN", trouble(err, status, body));
		done(c);
		return;
	}
	discord_snowflake(json_string_value(json_object_get(body, "id")), &c->user);
	guilds_set_self(c->guilds, c->user);
	say(c, OK, "token", "bot %s", name ? name : "?");
	if (get(c, "/applications/@me", "/applications/@me", on_application))
		done(c);
}

static void ask_user(struct check *c)
{
	char fault[512];

	if (!c->settings->discord_token[0]) {
		environment_secret_fault("DISCORD_TOKEN", fault, sizeof fault);
		say(c, MISSING, "token", "%s", fault);
		done(c);
	} else if (get(c, "/users/@me", "/users/@me", on_user)) {
		done(c);
	}
}

static void on_tmr(void *arg)
{
	struct check *c = arg;

	if (c->peer) {
		say(c, MISSING, "mediad", "%s does not answer", c->conf->socks[c->sock]);
		mediad_done(c);
	} else if (c->ws) {
		say(c, MISSING, "gateway", "no answer within %d s", GATEWAY_S);
		gateway_done(c);
	} else if (c->brain) {
		say(c, MISSING, "brain", "no answer within %d s. Look at PARLEY_BRAIN_URL",
		    BRAIN_S);
		brain_done(c);
	} else {
		next_mediad(c);
	}
}

int check_run(struct env *env, const struct settings *settings, const struct control_conf *conf)
{
	struct check c = {.env = env, .settings = settings, .conf = conf};
	int err = http_alloc(&c.http, env, conf->ca_file,
			     "DiscordBot (https://github.com/parley-voice/parley, " PARLEY_VERSION
			     ")");

	if (!err)
		err = rest_alloc(&c.rest, env, c.http, settings->discord_api,
				 settings->discord_token);
	if (!err)
		err = ws_ctx_alloc(&c.ws_ctx, env, conf->ca_file);
	if (!err)
		err = guilds_alloc(&c.guilds);
	if (!err)
		err = tmr_alloc(&c.tmr, env, on_tmr, &c);
	if (err) {
		say(&c, MISSING, "memory", "%s", strerror(err));
		goto out;
	}
	check_state_dir(&c);
	check_ca(&c);
	check_secret_file(&c, "DISCORD_TOKEN_FILE");
	check_secret_file(&c, "OPENAI_API_KEY_FILE");
	check_embedded(&c);
	check_udp(&c);
	check_spawn(&c);
	tmr_start(c.tmr, 0); /* the rest inside the loop */
	env_run(env);
	if (!conf->guild && c.user)
		printf("Give --guild ID --channel ID to look at the permissions in a channel "
		       "too.\n");
	if (c.missing)
		printf("%u missing: nothing can be said in a channel until that is mended.\n",
		       c.missing);
	else
		printf("All that is needed is there.\n");
out:
	json_decref(c.guild);
	rest_free(c.rest);
	ws_free(c.ws);
	ws_free(c.brain);
	peer_free(c.peer);
	guilds_free(c.guilds);
	tmr_free(c.tmr);
	ws_ctx_free(c.ws_ctx);
	http_free(c.http);
	return c.missing ? 1 : 0;
}
