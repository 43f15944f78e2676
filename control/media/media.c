#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/media/call.h"
#include "control/settings/secret_names.h"
#include "ipc/child.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/spawn.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

void media_wake(struct media *m, unsigned ms)
{
	uint64_t at = env_now(m->env) + ms * NS_PER_MS;

	if (m->wake_at && m->wake_at <= at)
		return;
	m->wake_at = at;
	tmr_start_at(m->tmr, at);
}

void media_tell_log(const struct media *m, struct media_link *l)
{
	if (m->log_told && media_link_state(l) == LINK_SYNCED)
		media_link_send(l, &(struct media_msg){
					   .type = MEDIA_LOG,
					   .log = {.level = m->log_level, .json = m->log_json}});
}

void media_set_log(struct media *m, unsigned level, bool json)
{
	bool news = level != m->log_level || json != m->log_json;

	m->log_level = (uint8_t)level;
	m->log_json = json;
	m->log_told = m->log_told || level || json;
	for (unsigned i = 0; news && i < m->n_links; i++)
		media_tell_log(m, m->links[i]);
}

/* ---- which mediad ---- */

static unsigned count_calls(const struct media *m, const struct media_link *l)
{
	unsigned n = 0;

	for (const struct media_call *c = m->calls; c; c = c->next)
		n += c->link == l && !media_call_is_refused(c);
	return n;
}

/* full: one that refused a call a moment ago will do. */
static struct media_link *find_link(const struct media *m, bool full)
{
	struct media_link *best = NULL;
	unsigned fewest = UINT32_MAX;

	for (unsigned i = 0; i < m->n_links; i++) {
		unsigned n = count_calls(m, m->links[i]);

		if (media_link_state(m->links[i]) != LINK_SYNCED ||
		    media_link_is_full(m->links[i]) != full)
			continue;
		if (n < fewest) {
			fewest = n;
			best = m->links[i];
		}
	}
	return best;
}

static struct media_link *find_least_loaded(const struct media *m)
{
	struct media_link *l = find_link(m, false);

	return l ? l : find_link(m, true);
}

/* A mediad that is still telling its calls may hold any call of the previous control: placing one
 * now would duplicate it. */
static bool holders_unknown(struct media *m)
{
	if (m->n_links < 2 || env_now(m->env) >= m->settled_at)
		return false;
	for (unsigned i = 0; i < m->n_links; i++)
		if (media_link_state(m->links[i]) == LINK_HELLO)
			return true;
	return false;
}

void media_place_call(struct media_call *call)
{
	struct media_link *l = find_least_loaded(call->media);

	if (!l)
		return;
	if (holders_unknown(call->media)) {
		/* One that was refused waits like a new one: nothing else would try again. */
		if (media_call_is_refused(call))
			call->link = NULL;
		media_wake(call->media, MEDIA_SETTLE_MS);
		return;
	}
	call->link = l;
	call->reported = false;
	media_call_bring_up(call);
	log_info("call_placed", "guild=%llu path=%s call=%u", (unsigned long long)call->want.guild,
		 media_link_path(l), call->id);
	/* Its speech goes with it: nothing else would open it there. */
	media_playbacks_synced(call);
}

/* Each refusal takes one mediad out of the choice for MEDIA_FULL_MS, so the tries come to an end.
 */
bool media_try_next(struct media_call *call)
{
	struct media *m = call->media;

	media_link_note_full(call->link, env_now(m->env) + MEDIA_FULL_MS * NS_PER_MS);
	if (!find_link(m, false) || holders_unknown(m)) {
		log_warn("call_without_room", "guild=%llu mediads=%u",
			 (unsigned long long)call->want.guild, m->n_synced);
		return false;
	}
	media_place_call(call);
	return true;
}

void media_place_calls(struct media *m)
{
	for (struct media_call *c = m->calls; c; c = c->next)
		if (!c->open && !c->link)
			media_place_call(c);
}

/* A call whose mediad stays away goes to another one, when there is one. One that was reported
 * again stays: SYNCED follows, or the loss of its mediad. */
static bool move_lost_calls(struct media *m, uint64_t now)
{
	bool waiting = false;

	for (struct media_call *c = m->calls; c; c = c->next) {
		if (c->open || c->reported || !c->lost_at)
			continue;
		if (m->n_links > 1 && now >= c->lost_at + MEDIA_MOVE_MS * NS_PER_MS &&
		    find_least_loaded(m)) {
			log_info("call_moved", "guild=%llu", (unsigned long long)c->want.guild);
			media_place_call(c);
		} else if (m->n_links > 1) {
			waiting = true;
		}
	}
	return waiting;
}

static void on_tmr(void *arg)
{
	struct media *m = arg;
	uint64_t now = env_now(m->env);
	unsigned again;

	m->wake_at = 0;
	media_place_calls(m);
	again = move_lost_calls(m, now) ? 1000 : 0;
	for (struct media_call *c = m->calls; c; c = c->next) {
		media_call_listen_again(c);
		media_call_send_listens(c);
		if (media_playbacks_tick(c, now))
			again = MEDIA_RETRY_MS;
	}
	if (again)
		media_wake(m, again);
}

/* ---- making and ending ---- */

static int add_link(struct media *m, const char *path)
{
	struct media_link_conf conf = {.env = m->env,
				       .path = path,
				       .msgh = media_on_message,
				       .syncedh = media_on_synced,
				       .losth = media_on_lost,
				       .arg = m};
	int err = media_link_alloc(&m->links[m->n_links], &conf);

	if (!err)
		m->n_links++;
	return err;
}

enum { FOLDERS_MAX = 16, ARGUMENTS_MAX = 9 + 2 * FOLDERS_MAX }; /* with the NULL at the end */

/* Appends the options about music; folders is cut into its parts. The decoders are there without
 * folders, too: music_web and music_downloader may be set while mediad runs, and it can start no
 * program then. */
static void add_music(const char *argv[], size_t n, const struct media_conf *conf, char *folders)
{
	char *rest = folders, *folder;

	while (n + 2 < ARGUMENTS_MAX - 4 && (folder = strsep(&rest, ":"))) {
		if (!*folder)
			continue;
		argv[n++] = "--music-root";
		argv[n++] = folder;
	}
	argv[n++] = "--decoderd";
	argv[n++] = "decoderd";
	if (conf->music_addresses && *conf->music_addresses) {
		argv[n++] = "--music-address";
		argv[n++] = conf->music_addresses;
	}
}

static int spawn_mediad(struct media *m, const struct media_conf *conf, const char *path)
{
	char program[512], *folders = strdup(conf->music_folders ? conf->music_folders : "");
	const char *argv[ARGUMENTS_MAX] = {program, "--listen", path};
	size_t n = 3;
	int err = folders ? spawn_locate(m->env, conf->spawn, program, sizeof program) : ENOMEM;

	if (conf->ca_file) {
		argv[n++] = "--ca";
		argv[n++] = conf->ca_file;
	}
	if (!err) {
		add_music(argv, n, conf, folders);
		err = child_alloc(&m->spawned, m->env,
				  &(struct child_conf){.argv = argv, .hide = secret_names});
	}
	free(folders);
	return err;
}

static unsigned count_folders(const char *folders)
{
	unsigned n = 0;

	while (folders && *folders) {
		size_t len = strcspn(folders, ":");

		n += len > 0;
		folders += len + (folders[len] == ':');
	}
	return n;
}

int media_alloc(struct media **out, struct env *env, const struct media_conf *conf)
{
	struct media *m;
	char path[512];
	size_t n = 0;
	int err = ENOMEM;

	if (!out || !env || !conf || (!conf->spawn && (!conf->socks || !conf->socks[0])))
		return EINVAL;
	while (conf->socks && conf->socks[n])
		n++;
	m = calloc(1, sizeof *m);
	if (!m)
		return ENOMEM;
	m->env = env;
	m->wantsh = conf->wantsh;
	m->linkh = conf->linkh;
	m->arg = conf->arg;
	m->n_folders = count_folders(conf->music_folders);
	m->addresses = strdup(conf->music_addresses ? conf->music_addresses : "");
	m->music_web = conf->music_web;
	m->music_downloader = conf->music_downloader;
	m->hello = (struct media_link_hello){
		.epoch = conf->epoch,
		.user = conf->user,
		.caps = conf->members ? MEDIA_CAP_MEMBERS : 0,
	};
	env_random(env, &m->hello.instance, sizeof m->hello.instance);
	m->next_call = m->next_listen = 1;
	env_random(env, &m->next_playback, sizeof m->next_playback);
	m->next_playback =
		(m->next_playback >> 1) + 1; /* apart from those of the control before us */
	m->first_playback = m->next_playback;
	m->links = calloc(n + 1, sizeof(struct media_link *));
	if (!m->links || !m->addresses)
		goto out;
	err = tmr_alloc(&m->tmr, env, on_tmr, m);
	for (size_t i = 0; !err && i < n; i++)
		err = add_link(m, conf->socks[i]);
	if (!err && conf->spawn) {
		/* One socket a parent, so that a leftover of another one is never taken for ours.
		 */
		snprintf(path, sizeof path, "%s/mediad-%llx.sock",
			 conf->run_dir ? conf->run_dir : "/tmp",
			 (unsigned long long)m->hello.instance);
		err = add_link(m, path);
		if (!err)
			err = spawn_mediad(m, conf, path);
	}
	if (!err && conf->user)
		media_set_user(m, conf->user);
out:
	if (err)
		media_free(m);
	else
		*out = m;
	return err;
}

/* Its link is the last one. */
bool media_is_spawned(const struct media *m, const struct media_link *l)
{
	return m->spawned && l == m->links[m->n_links - 1];
}

void media_disconnect(struct media *m)
{
	for (struct media_call *c = m->calls; c; c = c->next) {
		c->open = false;
		c->link = NULL;
	}
	for (unsigned i = 0; m->links && i < m->n_links; i++)
		media_link_free(m->links[i]);
	m->n_links = m->n_synced = 0;
}

struct media *media_free(struct media *m)
{
	if (!m)
		return NULL;
	media_disconnect(m);
	for (struct media_call *c = m->calls, *next; c; c = next) {
		next = c->next;
		media_call_free(c);
	}
	free(m->addresses);
	free(m->links);
	free(m->strays);
	child_free(m->spawned);
	tmr_free(m->tmr);
	free(m);
	return NULL;
}

void media_set_user(struct media *m, uint64_t user)
{
	m->hello.user = user;
	m->settled_at = env_now(m->env) + MEDIA_SETTLE_MS * NS_PER_MS;
	for (unsigned i = 0; i < m->n_links; i++)
		media_link_start(m->links[i], &m->hello);
}

void media_count(const struct media *m, unsigned *there, unsigned *all)
{
	*there = m->n_synced;
	*all = m->n_links;
}

bool media_lacks_real_time(const struct media *m)
{
	for (unsigned i = 0; i < m->n_links; i++)
		if (media_link_lacks_real_time(m->links[i]))
			return true;
	return false;
}

bool media_superseded(const struct media *m)
{
	for (unsigned i = 0; i < m->n_links; i++)
		if (media_link_state(m->links[i]) == LINK_REFUSED)
			return true;
	return false;
}
