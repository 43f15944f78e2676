/* The media plane as one object: the link to control, the calls, the engine.
 *
 * When control is lost its calls stay up: speech already received plays to its end, and captured
 * speech is discarded. A control that connects is sent the whole state, and claims the playbacks it
 * still wants within 2 s. When none connects for orphan_s the calls are left.
 *
 * No program can be started behind the sandbox. So when decoderd is lost, mediad stops as soon as
 * it has no call, as a failure, and whoever supervises it starts both again.
 *
 * Runs on env's loop thread; on replay the same object is made without socket and threads. */
#ifndef MEDIAD_MEDIAD_H
#define MEDIAD_MEDIAD_H

#include <stdbool.h>
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
	uid_t peer_uid;		 /* (uid_t)-1: only our own uid */
	const char *ca_file;	 /* extra CA for voice gateways, or NULL */
	unsigned threads;	 /* audio threads, 1..32 */
	uint32_t orphan_s;
	const char *decoderd;		/* program that decodes music; NULL: music is refused */
	const char *const *music_roots; /* n_music_roots folders of files that may be played */
	unsigned n_music_roots;
	bool tells_no_decoders;	     /* a replay of a mediad from before DECODERS */
	const char *music_addresses; /* that web sources may have although they are not public
					(proto/base/address_list.h), borrowed; or NULL */
	const char *log_level;	     /* of decoderd, and until control says another; NULL: info */
	bool log_json;
	void (*stoppedh)(void *arg); /* after mediad_stop: all calls have been left */
	void *arg;
};
enum { MEDIAD_CALLS = 1024 };

/* Returns EINVAL, ENOMEM or errors of the socket. The caller owns *out. */
int mediad_alloc(struct mediad **out, const struct mediad_conf *conf);
struct mediad *mediad_free(struct mediad *m);
/* Leaves the calls and closes the link; stoppedh follows. */
void mediad_stop(struct mediad *m);
/* The same as an input of env (env_input_h; arg: struct mediad). */
void mediad_stop_input(uint8_t kind, const uint8_t *data, size_t len, void *m);
/* True: it stopped to be started again. */
bool mediad_failed(const struct mediad *m);
/* Borrowed. */
struct engine *mediad_engine(struct mediad *m);
/* As peer_server_directory. */
int mediad_directory(const struct mediad *m);

#endif
