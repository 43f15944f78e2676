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

#include "control/check_inside.h"
#include "control/control.h"
#include "control/embedded.h"
#include "control/discord/guilds.h"
#include "control/discord/rest.h"
#include "control/configure/environment.h"
#include "control/engine/probe.h"
#include "control/settings/listen.h"
#include "control/settings/provider_record.h"
#include "control/settings/settings.h"
#include "control/state.h"
#include "control/store/volume.h"
#include "control/store/db.h"
#include "control/store/embedder_file.h"
#include "control/store/embedding.h"
#include "control/store/faults.h"
#include "control/words/words.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/peer.h"
#include "ipc/spawn.h"
#include "ipc/tmr.h"
#include "ipc/ws.h"
#include "ipc/zone_file.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"
#include "proto/discord.h"
#include "proto/media.h"

enum { BRAIN_S = 10, MEDIAD_S = 3 };

void check_say(struct check *c, enum check_verdict v, const char *what, const char *fmt, ...)
{
	static const char *const words[] = {"ok", "warning", "missing"};
	char text[1024];
	va_list ap;

	c->missing += v == CHECK_MISSING;
	c->warnings += v == CHECK_WARNING;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	utf8_plain(text); /* names and messages from outside are in it */
	printf("%-8s %s: %s\n", words[v], what, text);
	fflush(stdout);
}

/* ---- this machine ---- */

/* True if it says why control cannot start with the directory. */
static bool check_lock(struct check *c)
{
	int err = state_lock_check(c->conf->state_dir);
	struct words w = {0};

	if (!err)
		return false;
	words_state_not_locked(&w, c->conf->state_dir, strerror(err));
	check_say(c, CHECK_MISSING, "state directory", "%s", w.text);
	return true;
}

/* Discord's developer terms ask for it, and rows that are erased stay on the disk until it writes
 * there again. */
static void check_volume(struct check *c)
{
	enum volume volume = volume_of(c->conf->state_dir, "");

	if (volume == VOLUME_CLEAR)
		check_say(c, CHECK_WARNING, "encryption",
			  "%s is not on an encrypted volume. Put it on one (LUKS, fscrypt): "
			  "docs/privacy.md says why",
			  c->conf->state_dir);
	else
		check_say(c, CHECK_OK, "encryption",
			  volume == VOLUME_ENCRYPTED
				  ? "%s is on an encrypted volume"
				  : "what lies below %s cannot be told; see docs/privacy.md",
			  c->conf->state_dir);
}

static void check_state_dir(struct check *c)
{
	int err = c->conf->state_dir ? state_dir_check(c->conf->state_dir) : ENOENT;

	if (err == ENOSPC || err == EDQUOT)
		check_say(c, CHECK_MISSING, "state directory",
			  "%s: %s; %llu MiB are needed. Make room, or give another --state-dir",
			  c->conf->state_dir, strerror(err),
			  (unsigned long long)(state_dir_room(c->conf->state_dir) >> 20));
	else if (err)
		check_say(
			c, CHECK_WARNING, "state directory",
			"%s: %s; a restart will leave and join again. Give a writable --state-dir",
			c->conf->state_dir ? c->conf->state_dir : "(none)", strerror(err));
	else if (!check_lock(c))
		check_say(c, CHECK_OK, "state directory", "%s is writable", c->conf->state_dir);
	if (!err)
		check_volume(c);
}

/* Opens the encoder as the store does when the bot runs. */
static void check_embedder(struct check *c)
{
	const struct provider_record *p = settings_role(c->settings, ROLE_EMBED, 0);
	struct embedding *e = NULL;
	char path[640];
	int err;

	if (p && !dialect_serves((enum dialect)p->dialect, ROLE_EMBED))
		return; /* a fault of the settings, which is told as one */
	if (p && !*settings_model(c->settings, ROLE_EMBED, p)) {
		check_say(
			c, CHECK_WARNING, "memory search",
			"the provider %s has no model, and the role embed has no default one: set "
			"model in its line of providers",
			p->name);
		return;
	}
	if (p) {
		check_say(c, CHECK_OK, "memory search",
			  "by words and by meaning; lines, facts and questions are sent to the "
			  "provider %s",
			  p->name);
		return;
	}
	err = embedder_file_find(path, sizeof path, c->settings->memory_embedder);

	if (!err)
		err = embedding_open(&e, path);
	if (!err)
		check_say(c, CHECK_OK, "memory search", "by words and, in English, by meaning: %s",
			  path);
	else if (err == ECANCELED)
		check_say(c, CHECK_OK, "memory search", "by words alone (memory_embedder is none)");
	else if (err == ENOENT && !*c->settings->memory_embedder)
		check_say(c, CHECK_OK, "memory search",
			  "by words alone; make embedder installs the encoder");
	else
		check_say(c, CHECK_WARNING, "memory search",
			  "by words alone: %s: %s; make embedder writes such a file", path,
			  err == EBADMSG ? "no file of the encoder" : strerror(err));
	embedding_close(e);
}

/* The embedded engine has no model that could find facts in words, or judge them. */
static void check_memory_model(struct check *c)
{
	const struct settings *s = c->settings;
	const struct provider_record *p = settings_purpose(s, PURPOSE_MEMORY, 0);
	bool extracts = s->memory_extract, reflects = s->memory_reflect;

	if ((extracts || reflects) && (!p || p->dialect == DIALECT_EMBEDDED))
		check_say(c, CHECK_WARNING, "memory",
			  "%s%s%s without effect: no text model serves the purpose memory. Name a "
			  "provider for the role text",
			  extracts ? "memory_extract" : "", extracts && reflects ? " and " : "",
			  extracts && reflects ? "memory_reflect are"
			  : reflects	       ? "memory_reflect is"
					       : " is");
}

static void check_time_zone(struct check *c)
{
	struct zone_files *files = zone_files_new(ZONE_FILES);
	const char *zone = c->settings->time_zone;
	int32_t offset;

	if (*zone && files && !zone_files_offset(files, zone, 0, &offset))
		check_say(c, CHECK_WARNING, "time_zone",
			  "%s is no zone of /usr/share/zoneinfo; the machine's is used", zone);
	zone_files_free(files);
}

/* Opens it and looks through all of it; then the encoder of its search. */
static void check_store(struct check *c)
{
	struct words w = {0};
	struct db *db = NULL;
	int err = c->conf->state_dir ? db_open(&db, c->conf->state_dir, DB_CHECK) : ENOENT;

	if (!err)
		err = db_check_integrity(db);
	db_close(db);
	if (!err) {
		check_say(c, CHECK_OK, "database", "%s/parley.db is whole", c->conf->state_dir);
	} else if (err == ENOENT) {
		check_say(c, CHECK_OK, "database", "none yet; it is made when the bot starts");
	} else {
		store_fault_words(&w, c->conf->state_dir, err);
		check_say(c, CHECK_WARNING, "database", "%s", w.text);
	}
	check_embedder(c);
	check_memory_model(c);
	check_time_zone(c);
}

/* control does not start without a token that it can use. */
static void check_web_token(struct check *c)
{
	char token[STATE_TOKEN_MAX];
	int err = c->conf->state_dir ? state_read_web_token(c->conf->state_dir, token, sizeof token)
				     : ENOENT;

	explicit_bzero(token, sizeof token);
	if (err == ENOENT && c->conf->state_dir)
		check_say(c, CHECK_OK, "web-token", "none yet; it is made when the bot starts");
	else if (err == EPERM && geteuid() == 0)
		check_say(
			c, CHECK_WARNING, "web-token",
			"%s/web-token is not root's: run --check as the user that the bot runs as",
			c->conf->state_dir);
	else if (err)
		check_say(c, CHECK_MISSING, "web-token", "it cannot be used: %s",
			  state_web_token_fault(err));
	else
		check_say(c, CHECK_OK, "web-token", "%s/web-token", c->conf->state_dir);
}

/* The API is plain HTTP with a bearer token, so it belongs on loopback. */
static void check_web(struct check *c)
{
	const char *listen = c->settings->web_listen;
	struct listen_address at;

	if (*listen)
		check_web_token(c);
	/* An address that cannot be read is a fault of the settings, and nobody reaches it. */
	if (*listen && !listen_parse(&at, listen) && strncmp(listen, "127.", 4) != 0 &&
	    strncmp(listen, "[::1]", 5) != 0)
		check_say(c, CHECK_WARNING, "web_listen",
			  "%s: other machines can reach the API, and its token goes there "
			  "unencrypted; use 127.0.0.1 and a TLS proxy in front",
			  listen);
	if (*listen && *c->settings->web_origin && !*c->settings->web_proxies)
		check_say(c, CHECK_WARNING, "web_proxies",
			  "web_origin has a proxy in front, and without its address here all who "
			  "come "
			  "through it share one limit of tries and of connections, and the audit "
			  "names "
			  "the proxy");
}

static void check_ca(struct check *c)
{
	if (c->conf->ca_file && access(c->conf->ca_file, R_OK))
		check_say(c, CHECK_MISSING, "--ca", "%s: %s", c->conf->ca_file, strerror(errno));
}

/* Warns of a secret in a file that other users may read. Only files: a folder or a device that was
 * named by mistake is no place for chmod 600. */
static void check_mode(struct check *c, const char *what, const char *path)
{
	struct stat st;

	if (*path && stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_mode & 077)
		check_say(c, CHECK_WARNING, what, "%s can be read by others: chmod 600 %s", path,
			  path);
}

static void check_secret_file(struct check *c, const char *variable, const char *config)
{
	const char *path = getenv(variable);

	check_mode(c, variable, path && *path ? path : config);
}

/* The setting that makes these settings ask the providers of a role that they do not ask now. */
static const char *role_switch(enum role role)
{
	return role == ROLE_TEXT       ? "set \"reply_path\": \"brain\""
	       : role == ROLE_SPEECH   ? "set \"answer_audio\": \"speech\""
	       : role == ROLE_CLASSIFY ? "set \"admission\": \"classifier\""
				       : "name it in a role that is asked";
}

static bool role_names_provider(const struct settings *s, enum role role, const char *name)
{
	const struct provider_record *p;

	for (unsigned i = 0; (p = settings_role(s, role, i)); i++)
		if (strcmp(p->name, name) == 0)
			return true;
	return false;
}

/* Warns of a provider that roles name, but only roles that nothing asks with these settings. */
static void check_idle_provider(struct check *c, const char *name)
{
	int idle = -1;

	for (int r = 0; r < ROLE_COUNT; r++) {
		if (!role_names_provider(c->settings, (enum role)r, name))
			continue;
		if (settings_uses(c->settings, (enum role)r))
			return;
		if (idle < 0)
			idle = r;
	}
	if (idle >= 0)
		check_say(c, CHECK_WARNING, name,
			  "nothing asks it: the role %s is not used with these settings; %s",
			  role_name((enum role)idle), role_switch((enum role)idle));
}

static void check_providers(struct check *c)
{
	const struct settings_records *r = &c->settings->records;

	for (unsigned i = 0; i < r->n[RECORD_KIND_PROVIDER]; i++) {
		const struct provider_record *p = &r->provider[i];

		check_idle_provider(c, p->name);
		if (!*p->key_file)
			continue;
		if (!*p->key)
			check_say(
				c, CHECK_MISSING, p->name,
				"its key_file %s cannot be used: it is not there, or holds no key",
				p->key_file);
		else
			check_mode(c, p->name, p->key_file);
	}
}

static void on_unknown(const char *name, const char *likely, void *arg)
{
	if (likely)
		check_say(arg, CHECK_WARNING, "environment",
			  "unknown variable %s; did you mean %s?", name, likely);
	else
		check_say(arg, CHECK_WARNING, "environment",
			  "unknown variable %s; control --settings lists all", name);
}

/* A file that the settings or the environment name for the provider's key. */
static void check_provider_key(struct check *c)
{
	check_secret_file(c, SETTINGS_KEY_NAME "_FILE", settings_key_file(c->settings));
}

static void check_secret_files(struct check *c)
{
	const struct settings *s = c->settings;

	check_secret_file(c, "DISCORD_TOKEN_FILE", s->discord_token_file);
	check_provider_key(c);
	check_secret_file(c, "PARLEY_ASR_KEY_FILE", s->asr_key_file);
	check_secret_file(c, "PARLEY_TEXT_KEY_FILE", s->text_key_file);
	check_secret_file(c, "PARLEY_SPEECH_KEY_FILE", s->speech_key_file);
	check_secret_file(c, "PARLEY_SEARCH_KEY_FILE", s->search_key_file);
	check_secret_file(c, "PARLEY_OTLP_TOKEN_FILE", s->otlp_token_file);
	check_secret_file(c, "PARLEY_WEB_DISCORD_SECRET_FILE", s->web_discord_secret_file);
}

static void on_secret_fault(const char *text, void *arg)
{
	check_say(arg, CHECK_WARNING, "key", "%s", text);
}

static void check_embedded(struct check *c)
{
	char program[512];

	if (!settings_needs_embedded(c->settings))
		return;
	if (spawn_find("offlined", program, sizeof program)) {
		check_say(c, CHECK_MISSING, "embedded engine",
			  "a role needs offlined, which is not beside control. Build it, or name a "
			  "provider for the role");
		return;
	}
	check_say(c, CHECK_WARNING, "embedded engine",
		  "it serves at least one role, and knows little. Set " SETTINGS_KEY_NAME
		  ", or name providers in the settings file");
	switch (embedded_check(program)) {
	case EMBEDDED_STARTS:
		check_say(c, CHECK_OK, "speech model", "pocketsphinx-en-us");
		break;
	case EMBEDDED_NO_MODEL:
		check_say(c, CHECK_MISSING, "speech model",
			  "install the Debian package pocketsphinx-en-us");
		break;
	case EMBEDDED_FAILS:
		check_say(c, CHECK_MISSING, "embedded engine", "%s cannot be run", program);
		break;
	}
}

/* Sends no datagram: connecting a UDP socket only asks the kernel for a route. */
static void check_udp(struct check *c)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(50000)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET, "192.0.2.1", &to.sin_addr);
	if (fd < 0)
		check_say(c, CHECK_MISSING, "voice", "no UDP socket can be made: %s",
			  strerror(errno));
	else if (connect(fd, (struct sockaddr *)&to, sizeof to))
		check_say(c, CHECK_WARNING, "voice",
			  "no way out for UDP: %s. Voice needs UDP to ports 50000-65535",
			  strerror(errno));
	else
		check_say(c, CHECK_OK, "voice",
			  "UDP sockets can be made; firewalls show only in a call");
	if (fd >= 0)
		close(fd);
}

/* ---- mediad ---- */

static void check_next_mediad(struct check *c);

static void finish_mediad(struct check *c)
{
	tmr_stop(c->tmr);
	c->peer = peer_free(c->peer);
	c->sock++;
	check_next_mediad(c);
}

/* Its answer to HELLO. Returns false if nothing else is awaited. */
static bool take_greeting(struct check *c, const char *path, const struct media_msg *msg)
{
	if (msg->type == MEDIA_FAULT && msg->fault.code == MEDIA_FAULT_BUSY)
		check_say(c, CHECK_OK, "mediad", "%s answers; another control uses it now", path);
	else if (msg->type == MEDIA_FAULT)
		check_say(c, CHECK_MISSING, "mediad", "%s: %.*s", path, (int)msg->fault.text.n,
			  (const char *)msg->fault.text.p);
	else if (msg->type == MEDIA_HELLO && msg->hello.major != MEDIA_MAJOR)
		check_say(c, CHECK_MISSING, "mediad",
			  "%s speaks version %u, this control %u: update the older one", path,
			  msg->hello.major, MEDIA_MAJOR);
	else if (msg->type == MEDIA_HELLO)
		check_say(c, CHECK_OK, "mediad", "%s answers, version %.*s", path,
			  (int)msg->hello.build.n, (const char *)msg->hello.build.p);
	else
		return true;
	c->greeted = msg->type == MEDIA_HELLO && msg->hello.major == MEDIA_MAJOR;
	return c->greeted;
}

static int on_mediad(struct peer *p, const uint8_t *body, size_t len, void *arg)
{
	struct check *c = arg;
	const char *path = c->conf->socks[c->sock];
	struct media_msg msg;
	bool more = true;

	(void)p;
	if (media_unpack(&msg, MEDIA_SIDE_MEDIAD, body, len))
		return 0;
	if (!c->greeted)
		more = take_greeting(c, path, &msg);
	else if (msg.type == MEDIA_FAULT)
		check_say(c, CHECK_WARNING, "mediad", "%s: %.*s", path, (int)msg.fault.text.n,
			  (const char *)msg.fault.text.p);
	else if (msg.type == MEDIA_DECODERS)
		check_music_of_mediad(c, path, &msg.decoders);
	else
		more = msg.type != MEDIA_SYNCED;
	if (!more)
		finish_mediad(c);
	return 0;
}

/* True if another user owns the socket; a mediad hangs up on users that it does not serve.
 */
static bool belongs_to_another_user(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_uid != geteuid();
}

static void on_mediad_lost(struct peer *p, int err, void *arg)
{
	struct check *c = arg;
	const char *path = c->conf->socks[c->sock];

	(void)p;
	if (belongs_to_another_user(path))
		check_say(c, CHECK_MISSING, "mediad",
			  "%s hung up: it runs as another user. Start it with --peer-uid %u, or "
			  "run this as the user "
			  "whom it serves",
			  path, (unsigned)geteuid());
	else
		check_say(c, CHECK_MISSING, "mediad", "%s hung up: %s", path, strerror(err));
	finish_mediad(c);
}

/* Says why the mediad is unreachable, and what to do. */
static void say_unreachable(struct check *c, const char *path, int err)
{
	if (err == ENOENT)
		check_say(c, CHECK_MISSING, "mediad", "there is no %s. Start mediad --listen %s",
			  path, path);
	else if (err == ECONNREFUSED)
		check_say(c, CHECK_MISSING, "mediad",
			  "nobody listens on %s any more. Start mediad --listen %s", path, path);
	else if (err == EACCES)
		check_say(c, CHECK_MISSING, "mediad",
			  "this user may not open %s. It must be of the same group as mediad, and "
			  "mediad needs "
			  "--peer-uid %u",
			  path, (unsigned)geteuid());
	else
		check_say(c, CHECK_MISSING, "mediad", "%s: %s", path, strerror(err));
}

static void check_next_mediad(struct check *c)
{
	struct peer_conf conf = {
		.max_frame = MEDIA_MAX_FRAME, .msgh = on_mediad, .losth = on_mediad_lost, .arg = c};
	/* Epoch 0 never takes over from a running control. */
	struct media_msg hello = {.type = MEDIA_HELLO,
				  .hello = {.major = MEDIA_MAJOR,
					    .minor = MEDIA_MINOR,
					    .build = slice_str(PARLEY_VERSION)}};
	const char *path = c->conf->socks ? c->conf->socks[c->sock] : NULL;
	uint8_t buf[256];
	size_t len;
	int err;

	if (!path) {
		check_roles(c);
		return;
	}
	c->greeted = false;
	err = peer_connect(&c->peer, c->env, path, &conf);
	if (!err)
		err = media_pack(&hello, MEDIA_MINOR, buf, sizeof buf, &len);
	if (!err)
		err = peer_send(c->peer, PEER_COMMAND, buf, len);
	if (err) {
		say_unreachable(c, path, err);
		finish_mediad(c);
		return;
	}
	tmr_start(c->tmr, MEDIAD_S * NS_PER_S);
}

static void check_spawn(struct check *c)
{
	char program[512];

	if (!c->conf->spawn)
		return;
	if (spawn_find(c->conf->spawn, program, sizeof program))
		check_say(c, CHECK_MISSING, "mediad",
			  "there is no program %s to run. Build it, or name it: "
			  "--spawn-mediad=PROGRAM",
			  c->conf->spawn);
	else
		check_say(c, CHECK_OK, "mediad", "%s will be run by control", program);
}

void check_done(struct check *c)
{
	tmr_stop(c->tmr);
	env_stop(c->env);
}

static void on_tmr(void *arg)
{
	struct check *c = arg;

	if (c->peer) {
		if (!c->greeted)
			check_say(c, CHECK_MISSING, "mediad", "%s does not answer",
				  c->conf->socks[c->sock]);
		finish_mediad(c);
	} else if (check_discord_late(c)) {
		return;
	} else if (c->brain) {
		check_roles_late(c);
	} else {
		check_next_mediad(c);
	}
}

void check_fault(const char *text)
{
	struct check none = {0};

	check_say(&none, CHECK_MISSING, "settings", "%s", text);
}

void check_replaced(const char *text, void *arg)
{
	struct check none = {0};
	unsigned *n = arg;

	check_say(&none, CHECK_WARNING, "environment", "%s", text);
	*n += none.warnings;
}

/* What the network needs. */
static int alloc_clients(struct check *c)
{
	int err = http_alloc(&c->http, c->env, c->conf->ca_file,
			     "DiscordBot (https://github.com/parley-voice/parley, " PARLEY_VERSION
			     ")");

	if (!err)
		err = rest_alloc(&c->rest, c->env, c->http, c->given->discord_api,
				 c->given->discord_token);
	if (!err)
		err = ws_ctx_alloc(&c->ws_ctx, c->env, c->conf->ca_file);
	if (!err)
		err = guilds_alloc(&c->guilds);
	if (!err)
		err = tmr_alloc(&c->tmr, c->env, on_tmr, c);
	return err;
}

static void check_machine(struct check *c)
{
	check_state_dir(c);
	check_store(c);
	check_ca(c);
	check_web(c);
	check_secret_files(c);
	environment_secret_faults(c->given, on_secret_fault, c);
	check_providers(c);
	environment_unknown(on_unknown, c);
	check_text_settings(c);
	check_music(c);
	check_embedded(c);
	check_programs(c);
	check_udp(c);
	check_spawn(c);
}

static void say_result(const struct check *c)
{
	if (!c->conf->guild && c->user)
		printf("Give --guild ID --channel ID to look at the permissions in a channel "
		       "too.\n");
	if (c->missing)
		printf("%u check%s failed; the bot cannot speak until %s fixed.\n", c->missing,
		       c->missing == 1 ? "" : "s", c->missing == 1 ? "it is" : "they are");
	else if (c->warnings)
		printf("All checks passed, with %u warning%s.\n", c->warnings,
		       c->warnings == 1 ? "" : "s");
	else
		printf("All checks passed.\n");
}

int check_run(struct env *env, const struct settings *settings, const struct control_conf *conf,
	      unsigned faults, unsigned warnings)
{
	struct check c = {.env = env,
			  .given = settings,
			  .settings = settings,
			  .own = settings,
			  .conf = conf,
			  .faults = faults,
			  .missing = faults,
			  .warnings = warnings};
	int err = alloc_clients(&c);

	if (!err)
		err = check_stored(&c);
	if (err) {
		check_say(&c, CHECK_MISSING, "memory", "%s", strerror(err));
		goto out;
	}
	check_machine(&c);
	tmr_start(c.tmr, 0); /* the rest inside the loop */
	env_run(env);
	say_result(&c);
out:
	json_decref(c.guild);
	json_decref(c.lists);
	check_stored_free(&c);
	rest_free(c.rest);
	ws_free(c.ws);
	probe_free(c.brain);
	peer_free(c.peer);
	guilds_free(c.guilds);
	tmr_free(c.tmr);
	ws_ctx_free(c.ws_ctx);
	http_free(c.http);
	return c.missing ? 1 : 0;
}
