#include "control/mcp/servers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/jail/sandbox.h"
#include "control/mcp/servers_inside.h"
#include "control/settings/settings.h"
#include "ipc/http.h"
#include "ipc/http_guard.h"
#include "ipc/log.h"
#include "ipc/reaper.h"
#include "proto/base/fnv.h"
#include "proto/base/iso_time.h"

#define AGENT "Parley"

/* ---- servers ---- */

static unsigned place_of(const struct entry *e)
{
	unsigned i = 0;

	while (e->set->entry[i] != e)
		i++;
	return i;
}

static uint64_t hash_list(const struct mcp *m)
{
	size_t n;
	const struct mcp_tool *t = mcp_tools(m, &n);
	uint64_t hash = FNV_BEGIN;

	for (size_t i = 0; i < n; i++) {
		char *schema = json_dumps(t[i].schema, JSON_COMPACT | JSON_SORT_KEYS);

		hash = fnv_text(hash, t[i].name);
		hash = fnv_text(hash, t[i].description);
		hash = fnv_text(hash, schema ? schema : "");
		free(schema);
	}
	return hash;
}

/* A server may describe its tools harmlessly until somebody trusts it. */
static void watch_list(struct entry *e)
{
	const struct mcp *m = mcp_server_client(e->server);
	uint64_t list;
	size_t n;

	if (mcp_state(m) != MCP_READY)
		return;
	list = hash_list(m);
	if (e->list && e->list != list) {
		mcp_tools(m, &n);
		e->changed_lists++;
		log_warn("mcp_tools_changed", "server=%s tools=%zu changes=%u", e->record.name, n,
			 e->changed_lists);
	}
	e->list = list;
}

static void on_change(struct mcp_server *server, void *arg)
{
	struct entry *e = arg;
	unsigned at = place_of(e);

	if (mcp_state(mcp_server_client(server)) == MCP_OPENING)
		return;
	watch_list(e);
	for (unsigned i = 0; i < TOOL_SEATS_MAX; i++) {
		struct mcp_seat *seat = e->set->seats.seat[i];

		if (!seat)
			continue;
		seat->share[at] = (struct share){.seat = seat, .entry = e};
		mcp_rows_renew(&seat->share[at]);
		seat->room.changedh(seat->room.host.arg);
	}
}

/* For addresses that a server names; most installations have no such server. */
static void open_guarded(struct mcp_servers *s)
{
	if (!s->guard && http_guard_alloc(&s->guard, NULL))
		return;
	if (!s->guarded)
		http_alloc_guarded(&s->guarded, s->env, NULL, AGENT, s->guard);
}

static void start_server(struct entry *e)
{
	struct mcp_servers *s = e->set;
	struct mcp_server_conf conf;

	if (e->record.transport)
		open_guarded(s);
	conf = (struct mcp_server_conf){.env = s->env,
					.http = s->http,
					.guarded = s->guarded,
					.state_dir = s->state_dir,
					.record = &e->record,
					.bwrap = sandbox_bwrap(s->sandbox),
					.version = s->version,
					.reaper = s->reaper,
					.changeh = on_change,
					.resulth = mcp_calls_result,
					.progressh = mcp_calls_progress,
					.arg = e};

	if (mcp_server_alloc(&e->server, &conf))
		log_warn("mcp_server", "server=%s error=\"there is no memory\"", e->record.name);
}

/* Programs have waited for the probe. */
static void on_tried(void *arg)
{
	struct mcp_servers *s = arg;

	for (unsigned i = 0; i < SERVERS_MAX; i++)
		if (s->entry[i] && !s->entry[i]->server)
			start_server(s->entry[i]);
}

static void add_entry(struct mcp_servers *s, unsigned at, const struct mcp_record *record)
{
	struct entry *e = calloc(1, sizeof *e);

	if (!e)
		return;
	e->set = s;
	e->record = *record;
	s->entry[at] = e;
	if (record->transport || sandbox_tried(s->sandbox))
		start_server(e);
	else
		sandbox_try(s->sandbox);
}

static void remove_entry(struct mcp_servers *s, unsigned at)
{
	struct entry *e = s->entry[at];

	for (unsigned i = 0; i < TOOL_SEATS_MAX; i++) {
		struct mcp_seat *seat = s->seats.seat[i];

		if (!seat || !seat->share[at].entry)
			continue;
		tools_registry_remove(seat->room.registry, &mcp_shell, &seat->share[at]);
		mcp_calls_forget(&seat->share[at]);
		seat->share[at] = (struct share){0};
		seat->room.changedh(seat->room.host.arg);
	}
	mcp_server_free(e->server);
	explicit_bzero(&e->record, sizeof e->record);
	free(e);
	s->entry[at] = NULL;
}

/* None while the settings switch tools off. */
static unsigned count_named(const struct settings *settings)
{
	return settings->tools ? settings->records.n[RECORD_KIND_MCP] : 0;
}

static bool is_named(const struct settings *settings, const struct mcp_record *r)
{
	for (unsigned i = 0; i < count_named(settings); i++)
		if (memcmp(&settings->records.mcp[i], r, sizeof *r) == 0)
			return true;
	return false;
}

static bool runs_already(const struct mcp_servers *s, const struct mcp_record *r)
{
	for (unsigned i = 0; i < SERVERS_MAX; i++)
		if (s->entry[i] && memcmp(&s->entry[i]->record, r, sizeof *r) == 0)
			return true;
	return false;
}

void mcp_servers_update(struct mcp_servers *s, const struct settings *settings)
{
	unsigned at = 0;

	for (unsigned i = 0; i < SERVERS_MAX; i++)
		if (s->entry[i] && !is_named(settings, &s->entry[i]->record))
			remove_entry(s, i);
	for (unsigned k = 0; k < count_named(settings); k++) {
		const struct mcp_record *r = &settings->records.mcp[k];

		while (at < SERVERS_MAX && s->entry[at])
			at++;
		if (at < SERVERS_MAX && !runs_already(s, r))
			add_entry(s, at, r);
	}
}

int mcp_servers_alloc(struct mcp_servers **out, const struct mcp_servers_conf *conf)
{
	struct mcp_servers *s = calloc(1, sizeof *s);

	if (!s)
		return ENOMEM;
	s->env = conf->env;
	s->http = conf->http;
	s->state_dir = conf->state_dir;
	snprintf(s->version, sizeof s->version, "%s", conf->version);
	if (sandbox_alloc(&s->sandbox, s->env, on_tried, s) || reaper_alloc(&s->reaper, s->env)) {
		mcp_servers_free(s);
		return ENOMEM;
	}
	mcp_servers_update(s, conf->settings);
	*out = s;
	return 0;
}

struct mcp_servers *mcp_servers_free(struct mcp_servers *s)
{
	if (!s)
		return NULL;
	for (unsigned i = 0; i < SERVERS_MAX; i++)
		if (s->entry[i])
			remove_entry(s, i);
	reaper_free(s->reaper);
	sandbox_free(s->sandbox);
	http_free(s->guarded);
	http_guard_free(s->guard);
	free(s);
	return NULL;
}

/* ---- rooms ---- */

int mcp_seat_alloc(struct mcp_seat **out, struct mcp_servers *s, const struct tool_room *room)
{
	struct mcp_seat *seat = calloc(1, sizeof *seat);

	if (!seat)
		return ENOMEM;
	seat->set = s;
	seat->room = *room;
	if (tool_seats_add(&s->seats, seat)) {
		free(seat);
		return ENOSPC;
	}
	for (unsigned i = 0; i < SERVERS_MAX; i++)
		if (s->entry[i]) {
			seat->share[i] = (struct share){.seat = seat, .entry = s->entry[i]};
			mcp_rows_renew(&seat->share[i]);
		}
	*out = seat;
	return 0;
}

struct mcp_seat *mcp_seat_free(struct mcp_seat *seat)
{
	if (!seat)
		return NULL;
	for (unsigned i = 0; i < SERVERS_MAX; i++)
		if (seat->share[i].entry) {
			tools_registry_remove(seat->room.registry, &mcp_shell, &seat->share[i]);
			mcp_calls_forget(&seat->share[i]);
		}
	tool_seats_remove(&seat->set->seats, seat);
	free(seat);
	return NULL;
}

/* ---- looking ---- */

static json_t *tools_of(const struct entry *e)
{
	json_t *list = json_array();
	const struct mcp_tool *t = NULL;
	size_t n = 0;

	if (e->server)
		t = mcp_tools(mcp_server_client(e->server), &n);
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_pack("{s:s, s:s}", "name", t[i].name,
						      "description", t[i].description));
	return list;
}

/* Since when it is connected, or is not. */
static json_t *since_of(const struct entry *e)
{
	char text[ISO_TIME_SIZE];

	if (!e->server || !mcp_server_since_ms(e->server))
		return json_null();
	iso_time_format(text, mcp_server_since_ms(e->server));
	return json_string(text);
}

json_t *mcp_servers_status(const struct mcp_servers *s)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < SERVERS_MAX; i++) {
		const struct entry *e = s->entry[i];
		const char *why;

		if (!e)
			continue;
		why = e->server ? mcp_server_why(e->server) : "it is being started";
		json_array_append_new(
			list,
			json_pack("{s:s, s:b, s:o, s:o, s:s?, s:s, s:I, s:I, s:i}", "serverName",
				  e->record.name, "connected", !*why, "since", since_of(e), "tools",
				  tools_of(e), "lastError", *why ? why : NULL, "protocolVersion",
				  e->server ? mcp_revision(mcp_server_client(e->server)) : "",
				  "calls", (json_int_t)e->calls, "failures",
				  (json_int_t)e->failures, "changedLists", (int)e->changed_lists));
	}
	return json_pack("{s:o}", "servers", list);
}
