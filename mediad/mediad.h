/* The media plane as one object: the control link, the calls, the engine.
 *
 * When control is lost its calls stay up: what was said is spoken to its end, what is heard is not
 * kept. A control that comes (back) is told everything, and claims what it still wants said within
 * 2 s. When none comes for orphan_s the calls are left.
 *
 * Runs on env's loop thread; on replay the same object is made without socket and threads. */
#ifndef MEDIAD_MEDIAD_H
#define MEDIAD_MEDIAD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct engine;
struct env;
struct journal;
struct mediad;

struct mediad_conf {
	struct env *env;
	struct journal *journal; /* NULL */
	const char *listen;	 /* path of the socket */
	uid_t peer_uid;		 /* (uid_t)-1: ours only */
	const char *ca_file;	 /* extra CA for voice gateways, NULL */
	unsigned threads;	 /* audio threads, 1..32 */
	uint32_t orphan_s;
	void (*stoppedh)(void *arg); /* after mediad_stop: all calls are left */
	void *arg;
};
enum { MEDIAD_CALLS = 1024 };

/* EINVAL, ENOMEM, errors of the socket. Caller owns *out. */
int mediad_alloc(struct mediad **out, const struct mediad_conf *conf);
struct mediad *mediad_free(struct mediad *m);
/* Leaves the calls, closes the link; stoppedh follows. */
void mediad_stop(struct mediad *m);
/* The same as an input of env (env_input_h; arg: struct mediad). */
void mediad_stop_input(uint8_t kind, const uint8_t *data, size_t len, void *m);
/* Borrowed. */
struct engine *mediad_engine(struct mediad *m);

#endif
