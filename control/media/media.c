#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "control/child.h"
#include "control/media/call.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"

#define MS UINT64_C(1000000)

void media_wake(struct media *m, unsigned ms)
{
	uint64_t at = env_now(m->env) + ms * MS;

	if (m->wake_at && m->wake_at <= at)
		return;
	m->wake_at = at;
	tmr_start_at(m->tmr, at);
}

int media_call_send(struct media_call *call, struct media_msg *msg)
{
	if (!call->link)
		return ENOTCONN;
	msg->call_close.call = call->id; /* every message begins with call and generation */
	msg->call_close.gen = call->gen;
	return media_link_send(call->link, msg);
}

static void send_set(struct media_call *call)
{
	struct media_msg msg = {.type = MEDIA_CALL_SET,
				.call_set = {.channel = call->want.channel,
					     .bitrate = call->want.bitrate,
					     .complexity = call->want.complexity,
					     .mute = call->want.mute,
					     .deaf = call->want.deaf,
					     .stage = call->want.stage}};

	media_call_send(call, &msg);
}

static void send_open(struct media_call *call)
{
	struct media_msg msg = {.type = MEDIA_CALL_OPEN,
				.call_open = {.guild = call->want.guild,
					      .channel = call->want.channel,
					      .user = call->media->hello.user,
					      .bitrate = call->want.bitrate,
					      .mute = call->want.mute,
					      .deaf = call->want.deaf,
					      .stage = call->want.stage,
					      .consent = call->want.consent,
					      .retired = call->want.retired,
					      .complexity = call->want.complexity}};

	media_call_send(call, &msg);
}

static void send_consent(struct media_call *call, const struct consent *c)
{
	struct media_msg msg = {.type = MEDIA_CONSENT, .consent = {.user = c->user, .yes = c->yes}};

	media_call_send(call, &msg);
}

static void send_listen(struct media_call *call, struct listen *l)
{
	struct media_msg msg = {.type = MEDIA_LISTEN,
				.listen = {.listen = l->id,
					   .user = l->user,
					   .rate = l->rate,
					   .silence_ms = l->silence_ms}};

	l->told = media_call_send(call, &msg) == 0;
}

static void send_unlisten(struct media_call *call, uint32_t id)
{
	struct media_msg msg = {.type = MEDIA_UNLISTEN, .unlisten = {.listen = id}};

	media_call_send(call, &msg);
}

/* ---- which mediad ---- */

static struct media_link *least_loaded(const struct media *m)
{
	struct media_link *best = NULL;
	unsigned fewest = UINT32_MAX;

	for (unsigned i = 0; i < m->n_links; i++) {
		unsigned n = 0;

		if (media_link_state(m->links[i]) != LINK_SYNCED)
			continue;
		for (const struct media_call *c = m->calls; c; c = c->next)
			n += c->link == m->links[i];
		if (n < fewest) {
			fewest = n;
			best = m->links[i];
		}
	}
	return best;
}

/* Makes the call known to its mediad: anew, or as it was told. */
static void bring_up(struct media_call *call)
{
	call->lost_at = 0;
	if (call->reported) {
		send_set(call);
	} else {
		call->id = call->media->next_call++;
		call->gen = 0;
		call->has_last = call->has_secure = false;
		for (struct listen *l = call->listens; l; l = l->next)
			l->told = false;
		send_open(call);
	}
	call->open = true;
	for (struct consent *c = call->consents; c; c = c->next)
		send_consent(call, c);
	for (struct listen *l = call->listens; l; l = l->next)
		if (!l->told)
			send_listen(call, l);
}

/* A mediad that is just being asked may hold any call of the control before us: to place one now would tear it from there. */
static bool undecided(struct media *m)
{
	if (m->n_links < 2 || env_now(m->env) >= m->settled_at)
		return false;
	for (unsigned i = 0; i < m->n_links; i++)
		if (media_link_state(m->links[i]) == LINK_HELLO)
			return true;
	return false;
}

static void place(struct media_call *call)
{
	struct media_link *l = least_loaded(call->media);

	if (!l)
		return;
	if (undecided(call->media)) {
		media_wake(call->media, MEDIA_SETTLE_MS);
		return;
	}
	call->link = l;
	call->reported = false;
	bring_up(call);
	log_info("call_placed", "guild=%llu path=%s call=%u", (unsigned long long)call->want.guild,
		 media_link_path(l), call->id);
}

/* Calls that are nowhere yet. */
static void place_all(struct media *m)
{
	for (struct media_call *c = m->calls; c; c = c->next)
		if (!c->open && !c->link)
			place(c);
}

/* ---- what mediad says ---- */

static struct media_call *find(struct media *m, const struct media_link *l, uint32_t id)
{
	for (struct media_call *c = m->calls; c; c = c->next)
		if (c->link == l && c->id == id && (c->open || c->reported))
			return c;
	return NULL;
}

static void keep_last(struct media_call *call, const struct media_call_state *s)
{
	call->last = *s;
	snprintf(call->mode, sizeof call->mode, "%.*s", (int)s->mode.n, (const char *)s->mode.p);
	call->last.mode = slice_str(call->mode);
	call->has_last = true;
}

static void keep_secure(struct media_call *call, const struct media_call_secure *s)
{
	call->secure = *s;
	snprintf(call->privacy_code, sizeof call->privacy_code, "%.*s", (int)s->privacy_code.n,
		 (const char *)s->privacy_code.p);
	call->secure.privacy_code = slice_str(call->privacy_code);
	call->has_secure = true;
}

/* The handler may free the call, so the question for credentials is decided before and asked after
 * a look. */
static void tell_state(struct media_call *call)
{
	struct media *m = call->media;
	struct media_msg msg = {.type = MEDIA_CALL_STATE, .call_state = call->last};

	call->tell = false;
	if (call->h)
		call->h(call, &msg, call->arg);
	for (struct media_call *c = m->calls; c; c = c->next)
		if (c == call) {
			if (c->has_last && c->last.wants_credentials && m->wantsh)
				m->wantsh(c, m->arg);
			return;
		}
}

/* While syncing: a call that the mediad holds. */
static void take_stock(struct media *m, struct media_link *l, const struct media_call_state *s)
{
	struct media_call *c = m->calls;

	if (s->call >= m->next_call)
		m->next_call = s->call + 1;
	/* The control before us has left it, and it is on its way out. */
	if (s->phase == MEDIA_PHASE_CLOSED)
		return;
	while (c && (c->want.guild != s->guild || c->open || (c->link && c->link != l)))
		c = c->next;
	if (!c || c->reported) {
		if (m->n_strays < sizeof m->strays / sizeof m->strays[0]) {
			m->strays[m->n_strays].link = l;
			m->strays[m->n_strays].call = s->call;
			m->strays[m->n_strays++].gen = s->gen;
		}
		return;
	}
	c->link = l;
	c->id = s->call;
	c->gen = s->gen;
	c->reported = true;
	c->tell = true;
	log_info("call_found", "guild=%llu path=%s call=%u", (unsigned long long)s->guild,
		 media_link_path(l), s->call);
	keep_last(c, s);
	for (struct listen *x = c->listens; x; x = x->next)
		x->told = false;
}

static void take_listening(struct media *m, struct media_link *l, const struct media_listening *x)
{
	struct media_call *c = find(m, l, x->call);

	if (x->listen >= m->next_listen)
		m->next_listen = x->listen + 1;
	for (struct listen *w = c ? c->listens : NULL; w; w = w->next)
		if (w->user == x->user && w->rate == x->rate && !w->told) {
			w->id = x->listen;
			w->told = true;
			return;
		}
	if (c)
		send_unlisten(c, x->listen);
}

static bool is_say(unsigned type)
{
	return type >= MEDIA_SAY_OPEN && type <= MEDIA_SAY_STATE;
}

static void on_msg(struct media_link *l, const struct media_msg *msg, void *arg)
{
	struct media *m = arg;
	uint32_t id = msg->call_close.call, gen = msg->call_close.gen;
	struct media_call *c;

	if (msg->type == MEDIA_CALL_STATE && media_link_state(l) == LINK_HELLO) {
		take_stock(m, l, &msg->call_state);
		return;
	}
	if (msg->type == MEDIA_LISTENING) {
		take_listening(m, l, &msg->listening);
		return;
	}
	c = find(m, l, id);
	if (!c)
		return;
	/* A playback outlives a lease, so only its id says whether it is over. */
	if (is_say(msg->type)) {
		struct media_playback *pb = media_playback_find(c, msg->say_end.playback);

		if (pb)
			media_playback_message(pb, msg);
		return;
	}
	if (gen < c->gen)
		return;
	if (msg->type == MEDIA_CALL_STATE) {
		keep_last(c, &msg->call_state);
		tell_state(c);
		return;
	}
	if (msg->type == MEDIA_CALL_SECURE)
		keep_secure(c, &msg->call_secure);
	if (c->h)
		c->h(c, msg, c->arg);
}

static void on_synced(struct media_link *l, void *arg)
{
	struct media *m = arg;
	struct media_call *c;

	for (unsigned i = 0; i < m->n_strays;) {
		struct media_msg msg = {
			.type = MEDIA_CALL_CLOSE,
			.call_close = {.call = m->strays[i].call, .gen = m->strays[i].gen}};

		if (m->strays[i].link != l) {
			i++;
			continue;
		}
		log_info("call_stray", "call=%u", m->strays[i].call);
		media_link_send(l, &msg);
		m->strays[i] = m->strays[--m->n_strays];
	}
	for (c = m->calls; c; c = c->next)
		if (!c->open && c->link == l)
			bring_up(c);
	place_all(m);
	m->n_synced++;
	log_info("mediad_synced", "path=%s synced=%u of=%u", media_link_path(l), m->n_synced,
		 m->n_links);
	for (c = m->calls; c;) {
		if (c->link == l && c->open && c->playbacks)
			media_playbacks_synced(c);
		c = c->next;
	}
	for (c = m->calls; c;) {
		if (!c->tell) {
			c = c->next;
			continue;
		}
		tell_state(c);
		c = m->calls; /* the handler may have changed the list */
	}
	if (m->n_synced == 1 && m->linkh)
		m->linkh(true, m->arg);
}

static void on_lost(struct media_link *l, void *arg)
{
	struct media *m = arg;
	uint64_t now = env_now(m->env);
	bool was_synced = false;
	struct media_call *c;

	for (unsigned i = 0; i < m->n_strays;) {
		if (m->strays[i].link == l)
			m->strays[i] = m->strays[--m->n_strays];
		else
			i++;
	}
	for (c = m->calls; c; c = c->next) {
		if (c->link != l)
			continue;
		c->reported = false;
		if (!c->open)
			continue;
		c->open = false;
		c->lost_at = now;
		c->last.phase = MEDIA_PHASE_UNKNOWN;
		c->last.reason = MEDIA_REASON_MEDIA_LOST;
		c->last.wants_credentials = false;
		c->has_secure = false;
		c->has_last = c->tell = true;
		media_playbacks_lost(c, now);
	}
	for (c = m->calls; c;) {
		if (!c->tell || c->link != l) {
			c = c->next;
			continue;
		}
		tell_state(c);
		c = m->calls;
	}
	for (unsigned i = 0, n = 0; i < m->n_links; i++) {
		n += media_link_state(m->links[i]) == LINK_SYNCED;
		if (i + 1 == m->n_links) {
			was_synced = n < m->n_synced;
			m->n_synced = n;
		}
	}
	if (was_synced && m->n_synced == 0 && m->linkh)
		m->linkh(false, m->arg);
	if (m->calls)
		media_wake(m, m->n_links > 1 ? MEDIA_MOVE_MS : MEDIA_ORPHAN_MS);
}

/* A call whose mediad stays away goes to another one, when there is one. */
static bool move_lost(struct media *m, uint64_t now)
{
	bool waiting = false;

	for (struct media_call *c = m->calls; c; c = c->next) {
		if (c->open || !c->lost_at)
			continue;
		if (m->n_links > 1 && now >= c->lost_at + MEDIA_MOVE_MS * MS && least_loaded(m)) {
			log_info("call_moved", "guild=%llu", (unsigned long long)c->want.guild);
			place(c);
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
	place_all(m);
	again = move_lost(m, now) ? 1000 : 0;
	for (struct media_call *c = m->calls; c; c = c->next)
		if (media_playbacks_tick(c, now))
			again = MEDIA_RETRY_MS;
	if (again)
		media_wake(m, again);
}

/* ---- making and ending ---- */

static int add_link(struct media *m, const char *path)
{
	struct media_link_conf conf = {.env = m->env,
				       .path = path,
				       .msgh = on_msg,
				       .syncedh = on_synced,
				       .losth = on_lost,
				       .arg = m};
	int err = media_link_alloc(&m->links[m->n_links], &conf);

	if (!err)
		m->n_links++;
	return err;
}

static int spawn(struct media *m, const struct media_conf *conf, const char *path)
{
	char program[512];
	const char *argv[8] = {program, "--listen", path};
	int err = child_locate(m->env, conf->spawn, program, sizeof program);

	if (err)
		return err;
	if (conf->ca_file) {
		argv[3] = "--ca";
		argv[4] = conf->ca_file;
	}
	return child_alloc(&m->spawned, m->env, argv, child_secrets, NULL, NULL, NULL);
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
	m->hello = (struct media_link_hello){.epoch = conf->epoch, .user = conf->user};
	env_random(env, &m->hello.instance, sizeof m->hello.instance);
	m->next_call = m->next_listen = 1;
	env_random(env, &m->next_playback, sizeof m->next_playback);
	m->next_playback =
		(m->next_playback >> 1) + 1; /* apart from those of the control before us */
	m->links = calloc(n + 1, sizeof(struct media_link *));
	if (!m->links)
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
			err = spawn(m, conf, path);
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
	free(m->links);
	child_free(m->spawned);
	tmr_free(m->tmr);
	free(m);
	return NULL;
}

void media_set_user(struct media *m, uint64_t user)
{
	m->hello.user = user;
	m->settled_at = env_now(m->env) + MEDIA_SETTLE_MS * MS;
	for (unsigned i = 0; i < m->n_links; i++)
		media_link_start(m->links[i], &m->hello);
}

void media_count(const struct media *m, unsigned *there, unsigned *all)
{
	*there = m->n_synced;
	*all = m->n_links;
}

bool media_superseded(const struct media *m)
{
	for (unsigned i = 0; i < m->n_links; i++)
		if (media_link_state(m->links[i]) == LINK_REFUSED)
			return true;
	return false;
}

/* ---- calls ---- */

int media_call_open(struct media_call **out, struct media *m, const struct media_want *want,
		    media_call_h *h, void *arg)
{
	struct media_call *c;

	if (!out || !m || !want || !want->guild)
		return EINVAL;
	c = calloc(1, sizeof *c);
	if (!c)
		return ENOMEM;
	c->media = m;
	c->want = *want;
	c->h = h;
	c->arg = arg;
	c->next = m->calls;
	m->calls = c;
	place(c);
	*out = c;
	return 0;
}

struct media_call *media_call_free(struct media_call *call)
{
	if (!call)
		return NULL;
	if (call->open) {
		struct media_msg msg = {.type = MEDIA_CALL_CLOSE};

		media_call_send(call, &msg);
	}
	media_playbacks_detach(call);
	for (struct media_call **at = &call->media->calls; *at; at = &(*at)->next)
		if (*at == call) {
			*at = call->next;
			break;
		}
	for (struct listen *l = call->listens, *next; l; l = next) {
		next = l->next;
		free(l);
	}
	for (struct consent *c = call->consents, *next; c; c = next) {
		next = c->next;
		free(c);
	}
	free(call);
	return NULL;
}

void media_call_set_handler(struct media_call *call, media_call_h *h, void *arg)
{
	call->h = h;
	call->arg = arg;
}

int media_call_set(struct media_call *call, const struct media_want *want)
{
	if (want->guild != call->want.guild)
		return EINVAL;
	call->want = *want;
	if (call->open)
		send_set(call);
	return 0;
}

const struct media_want *media_call_want(const struct media_call *call)
{
	return &call->want;
}

int media_call_credentials(struct media_call *call, const char *session, const char *token,
			   const char *endpoint, uint64_t channel)
{
	struct media_msg msg = {.type = MEDIA_CALL_CREDENTIALS,
				.call_credentials = {.session = slice_str(session),
						     .token = slice_str(token),
						     .endpoint = slice_str(endpoint),
						     .channel = channel}};
	int err;

	if (!call->open)
		return ENOTCONN;
	if (call->has_last && call->last.gen > call->gen)
		call->gen = call->last.gen;
	call->gen++;
	err = media_call_send(call, &msg);
	if (err)
		call->gen--;
	return err;
}

const struct media_call_state *media_call_last(const struct media_call *call)
{
	return call->has_last ? &call->last : NULL;
}

const struct media_call_secure *media_call_secured(const struct media_call *call)
{
	return call->has_secure ? &call->secure : NULL;
}

int media_call_verify(struct media_call *call, uint64_t user)
{
	struct media_msg msg = {.type = MEDIA_VERIFY, .verify = {.user = user}};

	return call->open ? media_call_send(call, &msg) : ENOTCONN;
}

uint64_t media_call_guild(const struct media_call *call)
{
	return call->want.guild;
}

int media_call_listen(struct media_call *call, uint64_t user, uint32_t rate, uint16_t silence_ms)
{
	struct listen **at = &call->listens, *l;

	while (*at && (*at)->user != user)
		at = &(*at)->next;
	l = *at;
	if (l && l->rate == rate && l->silence_ms == silence_ms)
		return 0;
	if (l) {
		if (call->open && l->told)
			send_unlisten(call, l->id);
		*at = l->next;
		free(l);
	}
	if (!rate)
		return 0;
	l = calloc(1, sizeof *l);
	if (!l)
		return ENOMEM;
	*l = (struct listen){.next = call->listens,
			     .user = user,
			     .id = call->media->next_listen++,
			     .rate = rate,
			     .silence_ms = silence_ms};
	call->listens = l;
	if (call->open)
		send_listen(call, l);
	return 0;
}

int media_call_consent(struct media_call *call, uint64_t user, bool yes)
{
	struct consent *c = call->consents;

	while (c && c->user != user)
		c = c->next;
	if (!c) {
		c = calloc(1, sizeof *c);
		if (!c)
			return ENOMEM;
		c->user = user;
		c->next = call->consents;
		call->consents = c;
	}
	c->yes = yes;
	if (call->open)
		send_consent(call, c);
	return 0;
}

bool media_call_listens(const struct media_call *call, uint64_t user)
{
	for (const struct listen *l = call->listens; l; l = l->next)
		if (l->user == user)
			return true;
	return false;
}

bool media_call_consents(const struct media_call *call, uint64_t user)
{
	for (const struct consent *c = call->consents; c; c = c->next)
		if (c->user == user)
			return c->yes;
	return call->want.consent;
}
