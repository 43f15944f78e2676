#include "control/settings/document_check.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "control/settings/file.h"
#include "control/settings/inside.h"
#include "control/settings/presets.def"
#include "control/settings/records.h"
#include "proto/discord.h"

struct checking {
	const struct settings *base;
	struct settings *s;
	const char *prefix; /* "" or "guilds/ID/" */
	const char *member;
	unsigned faults;
	document_fault_h *h;
	void *arg;
};

static void fault(struct checking *c, const char *member, const char *text)
{
	char name[128];

	snprintf(name, sizeof name, "%s%.64s", c->prefix, member);
	c->faults++;
	if (c->h)
		c->h(name, text, c->arg);
}

static void on_line(unsigned line, const char *text, void *arg)
{
	struct checking *c = arg;

	(void)line;
	fault(c, c->member, text);
}

static void on_record(const char *text, void *arg)
{
	struct checking *c = arg;

	fault(c, c->member, text);
}

/* ---- what belongs in the settings file alone ---- */

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), k = strlen(end);

	return n >= k && strcmp(name + n - k, end) == 0;
}

/* Files, and the addresses to which a short setting's key goes. */
static bool file_alone(const char *name)
{
	static const char *const names[] = {
		"discord_api",	 "brain_url",	     "asr_url",		 "text_url",
		"web_listen",	 "speech_url",	     "room_journals",	 "web_origin",
		"web_proxies",	 "web_share_origin", "web_discord_page", "otlp_endpoint",
		"talk_page",	 "search_url",	     "web_read_allowed", "music_downloader",
		"music_folders", "sound_folder",     "memory_embedder"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return ends_with(name, "_file");
}

/* What control reads once for all servers: one of its own would be saved, and change nothing. */
static bool is_of_process(const char *name)
{
	static const char *const names[] = {"talk_page", "cost_day_cents", "log_level", "log_json"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return strncmp(name, "web_", 4) == 0 || strncmp(name, "otlp_", 5) == 0;
}

/* All servers share one database, log, turns_file and extraction: nobody may trust that the words
 * of one are treated otherwise. */
bool settings_is_shared(const char *name)
{
	static const char *const names[] = {
		"store_words_hours", "store_max_mb",	    "log_words",
		"turns_words",	     "keep_audio_hours",    "memory_days",
		"memory_extract",    "memory_extract_hour", "memory_extract_cents",
		"memory_reflect",    "memory_reflect_hour"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return is_of_process(name) || settings_when(name) == SETTINGS_START;
}

static bool is_record(const char *name)
{
	for (unsigned i = 0; i < RECORD_KINDS; i++)
		if (strcmp(record_kinds[i].name, name) == 0)
			return true;
	return false;
}

static bool provider_may(const struct settings *base, const struct provider_record *p)
{
	const struct settings_records *r = &base->records;

	for (unsigned i = 0; *p->key_file && i < r->n[RECORD_KIND_PROVIDER]; i++)
		if (strcmp(r->provider[i].key_file, p->key_file) == 0 &&
		    provider_same_address(&r->provider[i], p))
			return true;
	return !*p->key_file;
}

static bool mcp_may(const struct settings *base, const struct mcp_record *m)
{
	const struct settings_records *r = &base->records;

	for (unsigned i = 0; i < r->n[RECORD_KIND_MCP]; i++)
		if (memcmp(&r->mcp[i], m, offsetof(struct mcp_record, values)) == 0)
			return true;
	return !*m->command && !*m->headers && !*m->secrets && !*m->client_secret_file &&
	       !*m->refresh_token_file;
}

static bool worker_may(const struct settings *base, const struct worker_record *w)
{
	const struct settings_records *r = &base->records;

	for (unsigned i = 0; i < r->n[RECORD_KIND_WORKER]; i++)
		if (memcmp(&r->worker[i], w, offsetof(struct worker_record, values)) == 0)
			return true;
	return false;
}

static bool profile_may(const struct settings *base, const struct profile_record *p)
{
	const struct settings_records *r = &base->records;

	for (unsigned i = 0; *p->token_file && i < r->n[RECORD_KIND_PROFILE]; i++)
		if (strcmp(r->profile[i].token_file, p->token_file) == 0)
			return true;
	return !*p->token_file;
}

/* A parameter of the query that is named as a secret is. */
static bool holds_secret(const char *url)
{
	static const char *const words[] = {"key", "token", "secret", "pass",
					    "sig", "auth",  "code"};
	const char *p = strchr(url, '?');

	while (p && *++p) {
		size_t n = strcspn(p, "=&#");

		for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
			const char *at = strcasestr(p, words[i]);

			if (at && at < p + n)
				return true;
		}
		p = strchr(p, '&');
	}
	return false;
}

static bool is_of_file(const struct settings *base, const char *url)
{
	const struct settings_records *r = &base->records;

	for (unsigned i = 0; i < r->n[RECORD_KIND_PROVIDER]; i++)
		if (strcmp(r->provider[i].url, url) == 0)
			return true;
	for (unsigned i = 0; i < r->n[RECORD_KIND_MCP]; i++)
		if (strcmp(r->mcp[i].url, url) == 0 || strcmp(r->mcp[i].issuer, url) == 0)
			return true;
	return false;
}

/* Everybody who sees the document would read it, and each version of it keeps it. */
static void check_address(struct checking *c, const char *member, const char *url)
{
	if (holds_secret(url) && !is_of_file(c->base, url))
		fault(c, member,
		      "an address may have a key in its query only where the settings file has the "
		      "same one; a file named by key_file or headers holds it better");
}

/* Records may be changed, but not so that another file is read, program run or key sent than the
 * settings file says. */
static void check_references(struct checking *c)
{
	const struct settings_records *r = &c->s->records;

	for (unsigned i = 0; i < r->n[RECORD_KIND_PROVIDER]; i++)
		check_address(c, "providers", r->provider[i].url);
	for (unsigned i = 0; i < r->n[RECORD_KIND_MCP]; i++) {
		check_address(c, "mcp_servers", r->mcp[i].url);
		check_address(c, "mcp_servers", r->mcp[i].issuer);
	}
	for (unsigned i = 0; i < r->n[RECORD_KIND_PROVIDER]; i++)
		if (!provider_may(c->base, &r->provider[i]))
			fault(c, "providers",
			      "\"key_file\" may only be one that the settings file gives to a "
			      "provider with the same url");
	for (unsigned i = 0; i < r->n[RECORD_KIND_MCP]; i++)
		if (!mcp_may(c->base, &r->mcp[i]))
			fault(c, "mcp_servers",
			      "\"command\", headers, secrets and tokens may only be those of a "
			      "server "
			      "in the settings file");
	for (unsigned i = 0; i < r->n[RECORD_KIND_WORKER]; i++)
		if (!worker_may(c->base, &r->worker[i]))
			fault(c, "workers", "a worker may only be one of the settings file");
	for (unsigned i = 0; i < r->n[RECORD_KIND_PROFILE]; i++)
		if (!profile_may(c->base, &r->profile[i]))
			fault(c, "profiles",
			      "\"token_file\" may only be one that the settings file names");
}

/* ---- members ---- */

static void take_member(struct checking *c, const char *name, const json_t *v)
{
	json_t *one = json_pack("{s:O}", name, v);
	char *text = one ? json_dumps(one, JSON_COMPACT) : NULL;

	c->member = name;
	if (!text)
		fault(c, name, "there is no memory for it");
	else if (file_alone(name))
		fault(c, name, "this belongs in the settings file alone");
	else if (*c->prefix && (is_record(name) || settings_is_shared(name)))
		fault(c, name, "this cannot differ between servers");
	else
		settings_file(c->s, text, strlen(text), on_line, c);
	free(text);
	json_decref(one);
}

static void take_preset(struct checking *c, const json_t *v)
{
	static const struct {
		const char *name, *intent;
	} presets[] = {
#define PRESET(name, text, intent) {#name, intent},
		SETTINGS_PRESETS(PRESET)
#undef PRESET
	};
	const char *name = json_string_value(v);

	c->member = "preset";
	for (size_t i = 0; name && i < sizeof presets / sizeof presets[0]; i++)
		if (strcmp(presets[i].name, name) == 0) {
			settings_file(c->s, presets[i].intent, strlen(presets[i].intent), on_line,
				      c);
			return;
		}
#define PRESET(name, text, intent) " " #name
	fault(c, "preset", "must be one of:" SETTINGS_PRESETS(PRESET));
#undef PRESET
}

/* The preset is what the other members change. */
static void take_intent(struct checking *c, const json_t *intent)
{
	const json_t *preset = json_object_get(intent, "preset"), *v;
	const char *name;

	if (preset)
		take_preset(c, preset);
	json_object_foreach((json_t *)intent, name, v)
	{
		if (strcmp(name, "preset") == 0 || (!*c->prefix && strcmp(name, "guilds") == 0))
			continue;
		take_member(c, name, v);
	}
}

static void take_guild(struct checking *c, const char *guild, const json_t *intent)
{
	char prefix[48];

	snprintf(prefix, sizeof prefix, "guilds/%.24s/", guild);
	c->prefix = prefix;
	if (json_is_object(intent))
		take_intent(c, intent);
	else
		fault(c, "", "must be an object");
	c->prefix = "";
}

unsigned document_apply(struct settings *s, const struct settings *base, const json_t *intent,
			document_fault_h *h, void *arg)
{
	struct checking c = {.base = base, .s = s, .prefix = "", .h = h, .arg = arg};

	take_intent(&c, intent);
	c.member = "roles";
	check_references(&c);
	settings_check(s, on_record, &c);
	records_mend(s, base);
	return c.faults;
}

unsigned document_apply_guild(struct settings *s, const struct settings *base, const json_t *intent,
			      const char *guild, document_fault_h *h, void *arg)
{
	struct checking c = {.base = base, .s = s, .prefix = "", .h = h, .arg = arg};
	const json_t *of_guild = json_object_get(json_object_get(intent, "guilds"), guild);

	if (!of_guild)
		return 0;
	take_guild(&c, guild, of_guild);
	c.member = "roles";
	settings_check(s, on_record, &c);
	records_mend(s, base);
	return c.faults;
}

/* ---- all of it ---- */

/* As Discord writes it: settings are looked up by that text. */
static bool is_guild_id(const char *id)
{
	uint64_t guild;

	return *id != '0' && discord_snowflake(id, &guild);
}

static unsigned check_shape(const json_t *intent, document_fault_h *h, void *arg)
{
	const json_t *guilds = json_object_get(intent, "guilds");
	struct checking c = {.prefix = "", .h = h, .arg = arg};
	const char *id;
	const json_t *v;

	if (!json_is_object(intent)) {
		fault(&c, "", "must be an object");
		return c.faults;
	}
	if (json_dumpb(intent, NULL, 0, JSON_COMPACT) > DOCUMENT_INTENT_MAX)
		fault(&c, "", "is too large");
	if (json_object_size(intent) > DOCUMENT_MEMBERS_MAX)
		fault(&c, "", "has more members than there are settings");
	if (guilds && !json_is_object(guilds))
		fault(&c, "guilds", "must be an object of settings by server id");
	if (json_object_size(guilds) > DOCUMENT_GUILDS_MAX)
		fault(&c, "guilds", "has too many servers");
	json_object_foreach((json_t *)guilds, id, v)
	{
		if (!is_guild_id(id))
			fault(&c, "guilds", "has a name that is no server id");
		else if (json_object_size(v) > DOCUMENT_MEMBERS_MAX)
			fault(&c, "guilds",
			      "has a server with more members than there are settings");
	}
	return c.faults;
}

int document_check(const struct settings *base, const json_t *intent, document_fault_h *h,
		   void *arg)
{
	struct settings *common = NULL, *s = NULL;
	unsigned faults = check_shape(intent, h, arg);
	const char *id;
	const json_t *v;

	if (faults)
		return EINVAL;
	if (settings_alloc(&common))
		return ENOMEM;
	if (settings_alloc(&s)) {
		settings_free(common);
		return ENOMEM;
	}
	*common = *base;
	faults = document_apply(common, base, intent, h, arg);
	json_object_foreach(json_object_get(intent, "guilds"), id, v)
	{
		(void)v;
		*s = *common;
		faults += document_apply_guild(s, base, intent, id, h, arg);
	}
	settings_free(common);
	settings_free(s);
	return faults ? EINVAL : 0;
}
