/* One mediad as control sees it: a connection that comes back by itself, HELLO, PING and PONG.
 *
 * Whoever owns it is told when the other side has said all it holds (synced) and when it is lost;
 * messages between are handed over unpacked. Module-private to control/media/. */
#ifndef CONTROL_MEDIA_LINK_H
#define CONTROL_MEDIA_LINK_H

#include "control/media/media.h"
#include "proto/media.h"

struct env;
struct media_link;

enum media_link_state {
	LINK_IDLE,
	LINK_BACKOFF, /* not there; tries again */
	LINK_HELLO,   /* connected, its state is coming in */
	LINK_SYNCED,
	LINK_REFUSED, /* a newer control has it: not tried again */
};

struct media_link_conf {
	struct env *env;
	const char *path; /* copied */
	/* All but the hello group, and each FAULT. Borrowed until return. */
	void (*msgh)(struct media_link *l, const struct media_msg *msg, void *arg);
	void (*syncedh)(struct media_link *l, void *arg);
	/* After HELLO went out: what it held must be agreed on anew. */
	void (*losth)(struct media_link *l, void *arg);
	void *arg;
};

struct media_link_hello {
	uint64_t instance, epoch, user, caps;
};

int media_link_alloc(struct media_link **out, const struct media_link_conf *conf);
struct media_link *media_link_free(struct media_link *l);
/* Starts connecting; a later call with another user reconnects. */
void media_link_start(struct media_link *l, const struct media_link_hello *hello);
/* ENOTCONN unless connected; ENOBUFS on a full audio lane. */
int media_link_send(struct media_link *l, const struct media_msg *msg);
enum media_link_state media_link_state(const struct media_link *l);
/* True once this mediad has said that its audio threads lack real-time priority. */
bool media_link_lacks_real_time(const struct media_link *l);
/* What DECODERS told since HELLO; NULL: it has not come. */
const struct media_music_means *media_link_music_means(const struct media_link *l);
/* It refused a call for want of room; until `until`, or the loss of its connection, calls go to
 * another one if there is one. 0: it has room. */
void media_link_note_full(struct media_link *l, uint64_t until);
bool media_link_is_full(const struct media_link *l);
const char *media_link_path(const struct media_link *l);

#endif
