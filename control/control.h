/* control, the mind: joins Discord's main gateway, the link to mediad, and one call for each server
 * it is in.
 *
 * Everything runs on one loop thread. The conf's texts are borrowed for as long as it lives. */
#ifndef CONTROL_CONTROL_H
#define CONTROL_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct control;
struct env;
struct settings;
struct words;
struct state_kept;

struct control_conf {
	const char *const *socks;      /* of mediads, NULL-terminated; NULL with spawn */
	const char *spawn;	       /* the mediad program to run; NULL */
	uint64_t guild, channel;       /* join at start; 0 */
	const char *state_dir;	       /* NULL: nothing is kept */
	const char *ca_file;	       /* NULL */
	const char *run_dir;	       /* where a spawned mediad's socket goes; NULL: /tmp */
	bool no_subscribers;	       /* nobody listens to the bus; for replays */
	const struct state_kept *kept; /* read from state_dir before; NULL: nothing */
};

/* settings is borrowed, and not const: the address of the embedded brain goes there once it is
 * known. EINVAL, ENOMEM, ENOENT when a program it is to run is not there. Caller owns *out. */
int control_alloc(struct control **out, struct env *env, struct settings *settings,
		  const struct control_conf *conf);
struct control *control_free(struct control *c);
/* In a step: control_input does it. */
void control_start(struct control *c);
/* An orderly end: env_stop() follows within half a second. With a mediad of our own the channels
 * are left; otherwise the calls go on in mediad for the next control. */
void control_stop(struct control *c);
/* Settings were read anew: a JSON object of those that changed and may, by their names as texts.
 * What is heeded only later (settings_when) is said in the log. Of EBADMSG nothing is taken over.
 */
int control_settings(struct control *c, const uint8_t *json, size_t len);
/* These as inputs of a source whose arg is the control. */
enum { CONTROL_IN_START = 1, CONTROL_IN_STOP = 2, CONTROL_IN_SETTINGS = 3 };
void control_input(uint8_t kind, const uint8_t *data, size_t len, void *c);
/* Why it ended by itself because it cannot work; no words when it did not. Borrowed. */
const struct words *control_failure(const struct control *c);

/* What it needs on Discord. */
uint32_t control_intents(void);
uint64_t control_permissions(void);

#endif
