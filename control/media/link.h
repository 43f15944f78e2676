/* One mediad as control sees it: a connection that comes back by itself, HELLO, PING and PONG.
 *
 * Whoever owns it is told when the other side has said all it holds (synced) and when it is lost;
 * messages between are handed over unpacked. Module-private to control/media/. */
#ifndef CONTROL_MEDIA_LINK_H
#define CONTROL_MEDIA_LINK_H

#include "proto/media.h"

struct env;
struct link;

enum link_state {
	LINK_IDLE,
	LINK_BACKOFF, /* not there; tries again */
	LINK_HELLO,   /* connected, its state is coming in */
	LINK_SYNCED,
	LINK_REFUSED, /* a newer control has it: not tried again */
};

struct link_conf {
	struct env *env;
	const char *path; /* copied */
	/* All but the hello group. Borrowed until return. */
	void (*msgh)(struct link *l, const struct media_msg *msg, void *arg);
	void (*syncedh)(struct link *l, void *arg);
	/* After HELLO went out: what it held must be agreed on anew. */
	void (*losth)(struct link *l, void *arg);
	void *arg;
};

struct link_hello {
	uint64_t instance, epoch, user;
};

int link_alloc(struct link **out, const struct link_conf *conf);
struct link *link_free(struct link *l);
/* Starts connecting; a later call with another user reconnects. */
void link_start(struct link *l, const struct link_hello *hello);
/* ENOTCONN unless connected; ENOBUFS on a full audio lane. */
int link_send(struct link *l, const struct media_msg *msg);
enum link_state link_state(const struct link *l);
/* Why it is not there, in words; "" when nothing is known. Borrowed. */
const char *link_fault(const struct link *l);
const char *link_path(const struct link *l);

#endif
