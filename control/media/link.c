#include "control/media/link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/backoff.h"
#include "ipc/env.h"
#include "ipc/http_guard.h"
#include "ipc/log.h"
#include "ipc/peer.h"
#include "ipc/tmr.h"
#include "proto/base/not_cleared.h"
#include "proto/base/time.h"

enum { PING_MS = 2000, DEAD_MS = 6000, MISSES_TOLD = 8 };

static const struct backoff_conf reconnect = {.first_ms = 50, .max_ms = 250};

struct media_link {
	struct media_link_conf conf;
	char *path;
	struct media_link_hello hello;
	struct peer *peer;
	struct tmr *tmr; /* reconnect, or the next PING */
	enum media_link_state state;
	struct backoff backoff;
	unsigned misses; /* tries in a row that found nobody */
	unsigned minor;
	bool greeted;				/* HELLO came */
	bool lacks_real_time, lacked_real_time; /* said since HELLO; before it */
	bool has_means;				/* they were told since HELLO */
	struct media_music_means means;
	struct http_guard *guard; /* of means; NULL: none */
	uint64_t heard_at;
	uint64_t full_until;
	uint64_t ping_id;
	uint64_t skipped; /* unknown messages of a newer mediad */
};

static void connect_later(struct media_link *l)
{
	l->state = LINK_BACKOFF;
	backoff_wait(&l->backoff, l->conf.env, l->tmr);
}

int media_link_send(struct media_link *l, const struct media_msg *msg)
{
	uint8_t buf[MEDIA_MAX_FRAME] NOT_CLEARED;
	size_t len;
	int err;

	if (!l->peer)
		return ENOTCONN;
	err = media_pack(msg, l->minor, buf, sizeof buf, &len);
	if (err)
		return err;
	err = peer_send(l->peer,
			media_lane_of(msg->type) == MEDIA_LANE_AUDIO ? PEER_AUDIO : PEER_COMMAND,
			buf, len);
	explicit_bzero(buf, len < 1024 ? len : 1024); /* it may have held a lease */
	return err;
}

static void lost(struct media_link *l)
{
	l->peer = peer_free(l->peer);
	if (l->state != LINK_REFUSED)
		connect_later(l);
	l->conf.losth(l, l->conf.arg);
}

static void on_lost(struct peer *p, int err, void *arg)
{
	struct media_link *l = arg;

	(void)p;
	log_warn("mediad_lost", "path=%s error=\"%s\"", l->path,
		 err ? strerror(err) : "it went away");
	lost(l);
}

static int on_hello(struct media_link *l, const struct media_hello *h)
{
	if (h->major != MEDIA_MAJOR) {
		log_warn("mediad_version", "path=%s theirs=%u ours=%u text=\"%s\"", l->path,
			 h->major, MEDIA_MAJOR, media_fault_text(MEDIA_FAULT_VERSION));
		return EPROTO;
	}
	/* Of two minors both speak the lower. */
	if (h->minor < l->minor)
		l->minor = h->minor;
	l->greeted = true;
	log_info("mediad_hello", "path=%s build=%.*s", l->path, (int)h->build.n,
		 (const char *)h->build.p);
	return 0;
}

static void on_fault(struct media_link *l, const struct media_fault *f)
{
	const char *text = f->text.n ? (const char *)f->text.p : media_fault_text(f->code);

	log_warn("mediad_fault", "path=%s code=%u text=\"%.*s\"", l->path, f->code,
		 (int)(f->text.n ? f->text.n : strlen(text)), text);
	/* To come back would only be refused, or take it from our successor. */
	if (f->code == MEDIA_FAULT_TAKEN_OVER) {
		l->state = LINK_REFUSED;
		tmr_stop(l->tmr);
	}
	if (f->code == MEDIA_FAULT_NO_REAL_TIME)
		l->lacks_real_time = true;
	if (f->code == MEDIA_FAULT_NO_DECODERS)
		l->means.running = false;
}

/* Judges addresses as its decoders do. */
static int take_addresses(struct media_link *l, const struct media_decoders *m)
{
	char list[ADDRESS_LIST_BYTES];

	l->has_means = false; /* they hold the guard */
	l->means.guard = NULL;
	l->guard = http_guard_free(l->guard);
	if (!m->tells_addresses)
		return 0;
	snprintf(list, sizeof list, "%.*s", (int)m->addresses.n, (const char *)m->addresses.p);
	return http_guard_alloc(&l->guard, list);
}

static int on_decoders(struct media_link *l, const struct media_decoders *m)
{
	int err = take_addresses(l, m);

	if (err)
		return err == EINVAL ? EPROTO : err;
	l->has_means = true;
	l->means = (struct media_music_means){.running = m->running, .guard = l->guard};
	for (size_t at = 0; at + MEDIA_FOLDER_BYTES <= m->folders.n && l->means.n < MEDIA_FOLDERS;
	     at += MEDIA_FOLDER_BYTES)
		l->means.folder[l->means.n++] = media_folder_get(m->folders.p + at);
	return 0;
}

/* mediad repeats the fault between HELLO and SYNCED, so its absence says that the fault is over. */
static void note_real_time(struct media_link *l)
{
	if (l->lacked_real_time && !l->lacks_real_time)
		log_info("mediad_real_time", "path=%s", l->path);
	l->lacked_real_time = false;
}

static int on_msg(struct peer *p, const uint8_t *body, size_t len, void *arg)
{
	struct media_link *l = arg;
	struct media_msg msg;
	int err = media_unpack(&msg, MEDIA_SIDE_MEDIAD, body, len);

	(void)p;
	l->heard_at = env_now(l->conf.env);
	if (err == ENOSYS) {
		l->skipped++;
		return 0;
	}
	if (err) {
		log_warn("mediad_violation", "path=%s error=\"%s\"", l->path, strerror(err));
		return err;
	}
	if (!l->greeted && msg.type != MEDIA_HELLO && msg.type != MEDIA_FAULT)
		return EPROTO;
	switch (msg.type) {
	case MEDIA_HELLO:
		return on_hello(l, &msg.hello);
	case MEDIA_FAULT:
		on_fault(l, &msg.fault);
		l->conf.msgh(l, &msg, l->conf.arg);
		return 0;
	case MEDIA_DECODERS:
		return on_decoders(l, &msg.decoders);
	case MEDIA_PING:
		media_link_send(
			l, &(struct media_msg){.type = MEDIA_PONG, .pong = {.id = msg.ping.id}});
		return 0;
	case MEDIA_PONG:
		return 0;
	case MEDIA_SYNCED:
		if (l->state != LINK_HELLO)
			return EPROTO;
		l->state = LINK_SYNCED;
		backoff_reset(&l->backoff);
		note_real_time(l);
		l->conf.syncedh(l, l->conf.arg);
		return 0;
	default:
		l->conf.msgh(l, &msg, l->conf.arg);
		return 0;
	}
}

static void try_connect(struct media_link *l)
{
	struct peer_conf conf = {
		.max_frame = MEDIA_MAX_FRAME, .msgh = on_msg, .losth = on_lost, .arg = l};
	struct media_msg hello = {
		.type = MEDIA_HELLO,
		.hello = {.major = MEDIA_MAJOR,
			  .minor = MEDIA_MINOR,
			  .build = slice_str(PARLEY_VERSION),
			  .instance = l->hello.instance,
			  .epoch = l->hello.epoch,
			  .user = l->hello.user,
			  .caps = l->hello.caps},
	};
	int err = peer_connect(&l->peer, l->conf.env, l->path, &conf);

	if (err) {
		/* Once, and not while one that was just started makes its socket. */
		if (++l->misses == MISSES_TOLD)
			log_warn("mediad_missing",
				 "path=%s error=\"%s\" hint=\"start mediad --listen %s\"", l->path,
				 strerror(err), l->path);
		connect_later(l);
		return;
	}
	l->misses = 0;
	l->full_until = 0;
	l->lacked_real_time |= l->lacks_real_time;
	l->greeted = l->lacks_real_time = l->has_means = false;
	l->minor = MEDIA_MINOR;
	l->state = LINK_HELLO;
	l->heard_at = env_now(l->conf.env);
	tmr_start(l->tmr, PING_MS * NS_PER_MS);
	media_link_send(l, &hello);
}

static void on_tmr(void *arg)
{
	struct media_link *l = arg;

	switch (l->state) {
	case LINK_BACKOFF:
		try_connect(l);
		break;
	case LINK_HELLO:
	case LINK_SYNCED:
		tmr_start(l->tmr, PING_MS * NS_PER_MS);
		if (env_now(l->conf.env) - l->heard_at > DEAD_MS * NS_PER_MS) {
			peer_lose(l->peer, ETIMEDOUT);
			return;
		}
		media_link_send(
			l, &(struct media_msg){.type = MEDIA_PING, .ping = {.id = ++l->ping_id}});
		break;
	default:
		break;
	}
}

int media_link_alloc(struct media_link **out, const struct media_link_conf *conf)
{
	struct media_link *l;
	int err = ENOMEM;

	if (!out || !conf || !conf->env || !conf->path)
		return EINVAL;
	l = calloc(1, sizeof *l);
	if (!l)
		return ENOMEM;
	l->conf = *conf;
	l->backoff = backoff_of(&reconnect);
	l->path = strdup(conf->path);
	if (l->path)
		err = tmr_alloc(&l->tmr, conf->env, on_tmr, l);
	if (err)
		media_link_free(l);
	else
		*out = l;
	return err;
}

struct media_link *media_link_free(struct media_link *l)
{
	if (!l)
		return NULL;
	peer_free(l->peer);
	tmr_free(l->tmr);
	http_guard_free(l->guard);
	free(l->path);
	free(l);
	return NULL;
}

void media_link_start(struct media_link *l, const struct media_link_hello *hello)
{
	bool same = l->hello.user == hello->user && l->state != LINK_IDLE;

	if (same || l->state == LINK_REFUSED)
		return;
	l->hello = *hello;
	if (l->peer) {
		lost(l);
		return;
	}
	l->state = LINK_BACKOFF;
	tmr_start(l->tmr, 0);
}

enum media_link_state media_link_state(const struct media_link *l)
{
	return l->state;
}

bool media_link_lacks_real_time(const struct media_link *l)
{
	return l->lacks_real_time;
}

const struct media_music_means *media_link_music_means(const struct media_link *l)
{
	return l->has_means ? &l->means : NULL;
}

void media_link_note_full(struct media_link *l, uint64_t until)
{
	l->full_until = until;
}

bool media_link_is_full(const struct media_link *l)
{
	return env_now(l->conf.env) < l->full_until;
}

const char *media_link_path(const struct media_link *l)
{
	return l->path;
}
