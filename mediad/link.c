#include "mediad/link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/peer.h"
#include "proto/base/not_cleared.h"

/* COMMAND_CAP: the state of all calls is sent at once to a new control. */
enum { CLIENTS = 8, AUDIO_CAP = 1 << 20, COMMAND_CAP = 16 << 20 };
/* Video leaves captures the room that they have without it. */
enum { LANE_CAP = AUDIO_CAP + MEDIA_VIDEO_QUEUED };

struct client {
	struct link *link;
	struct peer *peer; /* NULL: unused */
	bool greeted;
	uint64_t came; /* sequence number of the connection */
	uint64_t user, epoch, instance;
	uint64_t skipped; /* messages of a newer minor version */
	unsigned minor;
	uint64_t caps; /* MEDIA_CAP_* */
};

struct link {
	struct link_conf conf;
	struct peer_server *server;
	struct client clients[CLIENTS];
	struct client *control; /* the client that said HELLO, or NULL */
	uint64_t came;
};

/* PCM is the last field. */
static size_t codec_independent_size(const struct media_msg *msg, size_t len)
{
	return msg->type == MEDIA_HEARD ? len - msg->heard.pcm.n : len;
}

/* Reports a HEARD that control will not get; the next one of its listen carries the gap. */
static void on_drop(const uint8_t *body, size_t len, void *arg)
{
	struct client *c = arg;
	struct media_msg msg;

	if (c->link->control == c && !media_unpack(&msg, MEDIA_SIDE_MEDIAD, body, len) &&
	    msg.type == MEDIA_HEARD)
		c->link->conf.h.droph(&msg.heard, c->link->conf.h.arg);
}

static void send_message(struct client *c, const struct media_msg *msg, uint32_t flow)
{
	uint8_t buf[MEDIA_MAX_FRAME] NOT_CLEARED;
	unsigned dropped = 0;
	size_t len;
	int err;

	if (media_since(msg->type) > c->minor)
		return; /* the peer does not know this message */
	/* A voice server can name thousands of users as often as it likes. */
	if (msg->type == MEDIA_MEMBER && !(c->caps & MEDIA_CAP_MEMBERS))
		return;
	err = media_pack(msg, c->minor, buf, sizeof buf, &len);
	if (err)
		log_warn("pack_failed", "type=%s error=%d", media_type_name(msg->type), err);
	else if (flow && peer_send_droppable(c->peer, flow, buf, len,
					     codec_independent_size(msg, len), &dropped))
		on_drop(buf, len, c);
	else if (flow)
		return;
	else if (media_lane_of(msg->type) == MEDIA_LANE_AUDIO)
		peer_send_kept(c->peer, buf, len, &dropped);
	else
		peer_send(c->peer, PEER_COMMAND, buf, len);
	/* A picture of a screen stays nowhere longer than it is needed. */
	if (!err && msg->type == MEDIA_VIDEO_FRAME)
		explicit_bzero(buf, len);
}

static void put_fault(struct client *c, enum media_fault_code code, const char *text)
{
	struct media_msg msg = {.type = MEDIA_FAULT};

	msg.fault.code = (uint16_t)code;
	msg.fault.text = slice_str(text);
	send_message(c, &msg, 0);
}

static void drop_client(struct client *c)
{
	c->peer = peer_free(c->peer);
	if (c->link->control == c)
		c->link->control = NULL;
}

/* Sends a FAULT and closes; queued messages get one last write. */
static void dismiss_client(struct client *c, enum media_fault_code code, const char *text)
{
	bool was = c->link->control == c;

	log_info("control_dismissed", "fault=%u text=\"%s\"", code, text);
	put_fault(c, code, text);
	drop_client(c);
	if (was && code != MEDIA_FAULT_TAKEN_OVER)
		c->link->conf.h.losth(c->link->conf.h.arg);
}

static void greet_client(struct client *c)
{
	struct link *l = c->link;
	struct media_msg msg = {.type = MEDIA_HELLO};
	unsigned calls;

	msg.hello.major = MEDIA_MAJOR;
	msg.hello.minor = MEDIA_MINOR;
	msg.hello.build = slice_str(PARLEY_VERSION);
	msg.hello.instance = l->conf.instance;
	send_message(c, &msg, 0);
	calls = l->conf.h.helloh(l->conf.h.arg);
	msg = (struct media_msg){.type = MEDIA_SYNCED};
	msg.synced.calls = calls;
	send_message(c, &msg, 0);
}

static unsigned min_version(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static void on_hello(struct client *c, const struct media_hello *m)
{
	struct link *l = c->link;
	struct client *old = l->control;
	char text[160];

	if (m->major != MEDIA_MAJOR) {
		snprintf(text, sizeof text, "mediad speaks protocol %u and control speaks %u: %s",
			 MEDIA_MAJOR, m->major, media_fault_text(MEDIA_FAULT_VERSION));
		dismiss_client(c, MEDIA_FAULT_VERSION, text);
		return;
	}
	if (old &&
	    !(old->user == m->user && (m->epoch > old->epoch ||
				       (m->epoch == old->epoch && m->instance == old->instance)))) {
		dismiss_client(c, MEDIA_FAULT_BUSY, media_fault_text(MEDIA_FAULT_BUSY));
		return;
	}
	if (old)
		dismiss_client(old, MEDIA_FAULT_TAKEN_OVER,
			       media_fault_text(MEDIA_FAULT_TAKEN_OVER));
	c->greeted = true;
	c->user = m->user;
	c->epoch = m->epoch;
	c->instance = m->instance;
	/* Both sides use the lower minor version. */
	c->minor = min_version(m->minor, MEDIA_MINOR);
	c->caps = m->caps;
	l->control = c;
	log_info("control_up", "build=%.*s epoch=%llu minor=%u", (int)m->build.n,
		 (const char *)m->build.p, (unsigned long long)m->epoch, c->minor);
	greet_client(c);
}

/* Returns 0, or EPROTO when the peer broke the protocol. */
static int on_msg(struct client *c, const struct media_msg *msg)
{
	struct media_msg pong = {.type = MEDIA_PONG};

	if (msg->type == MEDIA_HELLO) {
		if (c->greeted)
			return EPROTO;
		on_hello(c, &msg->hello);
		return 0;
	}
	if (msg->type == MEDIA_PING) {
		pong.pong.id = msg->ping.id;
		send_message(c, &pong, 0);
		return 0;
	}
	if (!c->greeted)
		return EPROTO;
	switch (msg->type) {
	case MEDIA_PONG:
		return 0;
	case MEDIA_FAULT:
		log_warn("control_fault", "code=%u text=\"%.*s\"", msg->fault.code,
			 (int)msg->fault.text.n, (const char *)msg->fault.text.p);
		return 0;
	default:
		return c->link->conf.h.msgh(msg, c->link->conf.h.arg);
	}
}

static int on_frame(struct peer *p, const uint8_t *body, size_t len, void *arg)
{
	struct client *c = arg;
	struct media_msg msg;
	int err = media_unpack(&msg, MEDIA_SIDE_CONTROL, body, len);

	(void)p;
	if (err == ENOSYS && c->greeted) {
		c->skipped++;
		return 0;
	}
	if (!err)
		err = on_msg(c, &msg);
	if (err)
		dismiss_client(c, MEDIA_FAULT_VIOLATION, media_fault_text(MEDIA_FAULT_VIOLATION));
	return 0;
}

static void on_lost(struct peer *p, int err, void *arg)
{
	struct client *c = arg;
	bool was = c->link->control == c;

	(void)p;
	if (was)
		log_warn("control_lost", "error=\"%s\" skipped=%llu",
			 err ? strerror(err) : "end of file", (unsigned long long)c->skipped);
	drop_client(c);
	if (was)
		c->link->conf.h.losth(c->link->conf.h.arg);
}

/* Returns a free place, or closes the client that has waited longest without HELLO. There is one,
 * because only our control is greeted. */
static struct client *make_place(struct link *l)
{
	struct client *oldest = NULL;

	for (unsigned i = 0; i < CLIENTS; i++) {
		struct client *c = &l->clients[i];

		if (!c->peer)
			return c;
		if (!c->greeted && (!oldest || c->came < oldest->came))
			oldest = c;
	}
	log_warn("silent_peer_closed", "places=%d", CLIENTS);
	drop_client(oldest);
	return oldest;
}

static int on_accept(struct peer *p, uid_t uid, struct peer_conf *conf, void *arg)
{
	struct link *l = arg;
	struct client *c = make_place(l);

	(void)uid;
	*c = (struct client){.link = l, .peer = p, .came = ++l->came};
	conf->max_frame = MEDIA_MAX_FRAME;
	conf->command_cap = COMMAND_CAP;
	conf->audio_cap = LANE_CAP;
	conf->msgh = on_frame;
	conf->losth = on_lost;
	conf->droph = on_drop;
	conf->arg = c;
	return 0;
}

int link_alloc(struct link **out, const struct link_conf *conf)
{
	struct link *l = calloc(1, sizeof *l);
	int err;

	if (!l)
		return ENOMEM;
	l->conf = *conf;
	l->conf.path = NULL;
	err = peer_listen(&l->server, conf->env, conf->path, conf->peer_uid, on_accept, l);
	if (err)
		free(l);
	else
		*out = l;
	return err;
}

int link_directory(const struct link *l)
{
	return peer_server_directory(l->server);
}

struct link *link_free(struct link *l)
{
	if (!l)
		return NULL;
	for (unsigned i = 0; i < CLIENTS; i++)
		peer_free(l->clients[i].peer);
	peer_server_free(l->server);
	free(l);
	return NULL;
}

void link_send(struct link *l, const struct media_msg *msg, uint32_t flow)
{
	if (l->control)
		send_message(l->control, msg, flow);
}

size_t link_queued(const struct link *l)
{
	return l->control ? peer_queued(l->control->peer, PEER_AUDIO) : 0;
}

void link_fault(struct link *l, enum media_fault_code code)
{
	if (l->control)
		put_fault(l->control, code, media_fault_text(code));
}
