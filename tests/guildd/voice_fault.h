/* Faults of voice gateway messages to one user, as requested by tests. */
#ifndef GUILDD_VOICE_FAULT_H
#define GUILDD_VOICE_FAULT_H

#include "tests/guildd/voice_session.h"

enum vfault_what {
	VFAULT_NONE,
	VFAULT_LOSE,	/* numbered and kept for a Resume, but not sent: the client sees a gap */
	VFAULT_SKIP,	/* never existed: no number, no gap */
	VFAULT_CORRUPT, /* the last byte of a binary message is another */
	VFAULT_DELAY,	/* sent, and numbered, later; others may overtake it */
	VFAULT_HOLD,	/* numbered now and sent later, and all that follows waits behind it */
};

struct vfault {
	enum vfault_what what;
	unsigned ms;
};

/* op -1: any binary message. EINVAL, ENOMEM. */
int vfault_add(struct gd_voice *v, uint64_t user, int op, const char *what, unsigned times,
	       unsigned ms);
void vfault_clear(struct gd_voice *v);
/* What happens to the next message of this kind; counts it. */
struct vfault vfault_take(struct gd_voice *v, uint64_t user, int op, bool binary);

/* Sends it ms later, if the session is still there. d (borrowed) or payload. */
void vfault_later(struct vsession *s, unsigned ms, int op, json_t *d, struct slice payload);

#endif
