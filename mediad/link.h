/* The control link: who is our control, and what it says.
 *
 * One mediad has one control. A HELLO of the same bot user with a higher epoch (or of the same
 * process, whose old connection we have not yet seen break) takes over and the older one is closed;
 * any other is refused. PING is answered to anybody, so that a health check need not say HELLO. A
 * different major version is refused in a plain sentence. What breaks the protocol is answered by
 * FAULT violation and closed; the other side starts over with HELLO. */
#ifndef MEDIAD_LINK_H
#define MEDIAD_LINK_H

#include <sys/types.h>

#include "proto/media.h"

struct env;
struct link;

struct link_handlers {
	/* A control said HELLO and got ours. Tell it everything; SYNCED with the count returned
	 * follows. */
	unsigned (*helloh)(void *arg);
	/* A message of its, not of the hello group. Non-zero: it broke the protocol. */
	int (*msgh)(const struct media_msg *msg, void *arg);
	/* It is gone, and no other came in its place. */
	void (*losth)(void *arg);
	/* It will not get this HEARD, which was sent before or is being sent. Nothing may be sent
	 * from here. */
	void (*droph)(const struct media_heard *msg, void *arg);
	void *arg;
};

struct link_conf {
	struct env *env;
	const char *path;
	uid_t peer_uid; /* (uid_t)-1: ours only */
	uint64_t instance;
	struct link_handlers h;
};

/* Listens. Errors of peer_listen, ENOMEM. Caller owns *out. */
int link_alloc(struct link **out, const struct link_conf *conf);
struct link *link_free(struct link *l);

/* To our control; nothing happens when there is none. flow 0: never dropped; else a HEARD of this
 * flow, which may be. */
void link_send(struct link *l, const struct media_msg *msg, uint32_t flow);
void link_fault(struct link *l, enum media_fault_code code);

#endif
