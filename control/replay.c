#include "control/replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/control.h"
#include "control/settings/settings.h"
#include "control/state.h"
#include "ipc/env.h"
#include "ipc/journal.h"
#include "ipc/journal_play.h"
#include "ipc/scrub.h"
#include "proto/discord.h"

enum { SOCKS_MAX = 32 };
#define SHAPES_META "{\"program\":\"control\",\"version\":\"" PARLEY_VERSION "\"}"

/* ---- writing ---- */

static void add_setting(const char *name, const char *value, bool secret, void *arg)
{
	json_t *all = arg, *text = json_string(value);
	size_t n = strlen(value);
	char *stars;

	if (secret && n) {
		stars = malloc(n);
		json_decref(text);
		text = NULL;
		if (stars) {
			memset(stars, '*', n);
			text = json_stringn(stars, n);
		}
		free(stars);
	}
	json_object_set_new(all, name, text);
}

static json_t *format_socks(const char *const *socks)
{
	json_t *list = json_array();

	for (; socks && *socks; socks++)
		json_array_append_new(list, json_string(*socks));
	return list;
}

static void add_secret(const char *value, void *arg)
{
	scrub_add(arg, value);
}

static json_t *format_id(uint64_t id)
{
	char text[24];

	snprintf(text, sizeof text, "%llu", (unsigned long long)id);
	return json_string(text);
}

static json_t *format_meta(const struct settings *settings, const struct control_conf *conf)
{
	json_t *all = json_object();
	json_t *meta =
		json_pack("{s:s,s:s,s:o,s:o,s:o,s:o,s:b}", "program", "control", "version",
			  PARLEY_VERSION, "settings", all, "socks", format_socks(conf->socks),
			  "guild", format_id(conf->guild), "channel", format_id(conf->channel),
			  "keeps", conf->state_dir != NULL);

	if (!meta)
		return NULL;
	settings_each(settings, add_setting, all);
	if (conf->spawn)
		json_object_set_new(meta, "spawn", json_string(conf->spawn));
	if (conf->ca_file)
		json_object_set_new(meta, "ca_file", json_string(conf->ca_file));
	if (conf->run_dir)
		json_object_set_new(meta, "run_dir", json_string(conf->run_dir));
	if (conf->kept && conf->kept->session)
		json_object_set(meta, "session", conf->kept->session);
	if (conf->kept && conf->kept->guilds)
		json_object_set(meta, "guilds", conf->kept->guilds);
	if (conf->kept && conf->kept->queues)
		json_object_set(meta, "queues", conf->kept->queues);
	if (conf->kept && conf->kept->taken)
		json_object_set(meta, "taken", conf->kept->taken);
	if (conf->kept && conf->kept->web)
		json_object_set(meta, "web", conf->kept->web);
	if (conf->kept && conf->kept->words)
		json_object_set(meta, "words", conf->kept->words);
	if (conf->kept && conf->kept->consents)
		json_object_set(meta, "consents", conf->kept->consents);
	if (conf->kept && conf->kept->settings)
		json_object_set(meta, "document", conf->kept->settings);
	if (conf->kept && conf->kept->written)
		json_object_set_new(meta, "written", json_true());
	if (conf->kept && conf->kept->erasing)
		json_object_set_new(meta, "erasing", json_true());
	if (conf->web_token)
		add_setting("web_token", conf->web_token, true, meta);
	return meta;
}

int control_meta(char **out, const struct settings *settings, const struct control_conf *conf,
		 bool shapes)
{
	struct scrub secrets = {0};
	json_t *meta = shapes ? NULL : format_meta(settings, conf);
	char *text = shapes ? strdup(SHAPES_META) : meta ? json_dumps(meta, JSON_COMPACT) : NULL;

	json_decref(meta);
	if (!text)
		return ENOMEM;
	/* A setting that is no secret, such as the provider's address, may contain one. */
	settings_secrets(settings, add_secret, &secrets);
	scrub_bytes(&secrets, text, strlen(text));
	scrub_clear(&secrets);
	*out = text;
	return 0;
}

struct hiding {
	struct env *env;
	int err;
};

static void hide_secret(const char *value, void *arg)
{
	struct hiding *h = arg;

	if (!h->err)
		h->err = env_secret(h->env, value);
}

int control_secrets(struct env *env, const struct settings *settings, const char *web_token)
{
	struct hiding h = {.env = env};

	settings_secrets(settings, hide_secret, &h);
	if (web_token)
		hide_secret(web_token, &h);
	return h.err;
}

int control_make(struct control **out, uint32_t *source, struct env *env, struct settings *settings,
		 const struct control_conf *conf)
{
	struct control *c;
	int err = control_alloc(&c, env, settings, conf);

	if (err)
		return err;
	err = env_source_add(env, source, control_input, c);
	if (err)
		control_free(c);
	else
		*out = c;
	return err;
}

/* ---- reading ---- */

struct made {
	json_t *meta; /* owns the texts of conf */
	struct settings *settings;
	struct control_conf conf;
	struct state_kept kept;
	const char *socks[SOCKS_MAX + 1];
};

static const char *read_text(const json_t *o, const char *name)
{
	return json_string_value(json_object_get(o, name));
}

static int read_settings(struct made *m)
{
	const char *name;
	json_t *value, *all = json_object_get(m->meta, "settings");
	int err = settings_alloc(&m->settings);

	if (err)
		return err;
	json_object_foreach(all, name, value)
	{
		const char *text = json_string_value(value);

		if (!text || settings_set(m->settings, name, text))
			return EBADMSG;
	}
	return 0;
}

static int read_meta(struct made *m, const char *meta)
{
	struct control_conf *c = &m->conf;
	const char *program;
	json_t *sock;
	size_t i;

	m->meta = json_loads(meta, JSON_REJECT_DUPLICATES, NULL);
	program = read_text(m->meta, "program");
	if (!program || strcmp(program, "control") != 0 ||
	    !discord_u64(read_text(m->meta, "guild"), &c->guild) ||
	    !discord_u64(read_text(m->meta, "channel"), &c->channel))
		return EBADMSG;
	c->spawn = read_text(m->meta, "spawn");
	c->ca_file = read_text(m->meta, "ca_file");
	c->run_dir = read_text(m->meta, "run_dir");
	c->state_dir =
		json_is_true(json_object_get(m->meta, "keeps")) ? "" : NULL; /* never opened */
	m->kept.session = json_object_get(m->meta, "session");
	m->kept.guilds = json_object_get(m->meta, "guilds");
	m->kept.queues = json_object_get(m->meta, "queues");
	m->kept.taken = json_object_get(m->meta, "taken");
	m->kept.web = json_object_get(m->meta, "web");
	m->kept.words = json_object_get(m->meta, "words");
	m->kept.consents = json_object_get(m->meta, "consents");
	m->kept.settings = json_object_get(m->meta, "document");
	m->kept.written = json_is_true(json_object_get(m->meta, "written"));
	m->kept.erasing = json_is_true(json_object_get(m->meta, "erasing"));
	c->web_token = read_text(m->meta, "web_token");
	c->kept = &m->kept;
	json_array_foreach(json_object_get(m->meta, "socks"), i, sock)
	{
		if (i == SOCKS_MAX || !json_is_string(sock))
			return EBADMSG;
		m->socks[i] = json_string_value(sock);
	}
	if (!m->socks[0] && !c->spawn)
		return EBADMSG;
	c->socks = m->socks[0] ? m->socks : NULL;
	return read_settings(m);
}

int control_replay(const char *path, const char *shapes, bool no_subscribers)
{
	struct env_conf ec = {.loop = true, .replaying = true};
	struct journal_reader *r = NULL;
	struct control *c = NULL;
	struct made m = {0};
	struct env *env = NULL;
	uint32_t source;
	int err;

	err = journal_open(&r, path);
	if (!err)
		err = read_meta(&m, journal_meta(r));
	m.conf.no_subscribers = no_subscribers;
	if (!err && shapes)
		err = journal_create_shapes(&ec.journal, shapes, 1, SHAPES_META);
	if (!err)
		err = env_alloc(&env, &ec);
	if (!err)
		err = journal_attach(r, env, 0);
	if (!err)
		err = control_make(&c, &source, env, m.settings, &m.conf);
	if (!err)
		err = journal_play(r, &env, 1);
	control_free(c);
	env_free(env);
	journal_free(ec.journal);
	settings_free(m.settings);
	json_decref(m.meta);
	journal_close(r);
	return err;
}
