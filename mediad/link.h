/* The link to control: accepts one control and passes on its messages.
 *
 * One mediad has one control. A HELLO of the same bot user with a higher epoch takes over and the
 * older control is closed; so does a HELLO of the same process, whose old connection has not been
 * seen to break yet. Any other HELLO is refused. PING is answered for every client, so that a
 * health check needs no HELLO. A different major version is refused with a plain sentence. A
 * violation of the protocol is answered by FAULT violation and closed; the other side starts over
 * with HELLO. */
#ifndef MEDIAD_LINK_H
#define MEDIAD_LINK_H

#include <sys/types.h>

#include "proto/media.h"

struct env;
struct link;

struct link_handlers {
	/* A control said HELLO and got ours. The handler sends it the whole state; SYNCED with the
	 * returned count follows. */
	unsigned (*helloh)(void *arg);
	/* A message of control, outside of the hello group. Non-zero: it breaks the protocol. */
	int (*msgh)(const struct media_msg *msg, void *arg);
	/* Control is gone and no other took its place. */
	void (*losth)(void *arg);
	/* Control will not get this HEARD, which was sent before or is being sent. The handler must
	 * not send. */
	void (*droph)(const struct media_heard *msg, void *arg);
	void *arg;
};

struct link_conf {
	struct env *env;
	const char *path;
	uid_t peer_uid; /* (uid_t)-1: only our own uid */
	uint64_t instance;
	struct link_handlers h;
};

/* Listens. Returns the errors of peer_listen, or ENOMEM. The caller owns *out. */
int link_alloc(struct link **out, const struct link_conf *conf);
struct link *link_free(struct link *l);
/* As peer_server_directory. */
int link_directory(const struct link *l);

/* Sends to control; does nothing without one. flow 0: the message is never dropped; otherwise it is
 * a HEARD of this flow, which may be dropped. */
void link_send(struct link *l, const struct media_msg *msg, uint32_t flow);
/* Returns the number of bytes that wait in the audio lane. */
size_t link_queued(const struct link *l);
void link_fault(struct link *l, enum media_fault_code code);

#endif
