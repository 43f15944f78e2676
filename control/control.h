/* control, the program's centre: connects Discord's main gateway, the link to mediad, and one voice
 * session for each server.
 *
 * Everything runs on one loop thread. control borrows the conf's texts for as long as it lives. */
#ifndef CONTROL_CONTROL_H
#define CONTROL_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "ipc/log.h"

struct control;
struct env;
struct settings;
struct words;
struct state_kept;

struct control_conf {
	enum log_level log_level; /* of the option, while no setting says otherwise */
	const char *const *socks; /* sockets of mediads, NULL-terminated; NULL with spawn */
	const char *spawn;	  /* the mediad program to run; NULL */
	uint64_t guild, channel;  /* join at start; 0 */
	const char *state_dir;	  /* NULL: control writes no state */
	const char *ca_file;	  /* NULL */
	const char *run_dir;	  /* folder of a spawned mediad's socket; NULL: /tmp */
	bool no_subscribers;	  /* nothing but /status listens to the bus; for replays */
	const char *web_token;	  /* token of the HTTP API; NULL: it is not served */
	bool recorded;		  /* inputs come without secrets, because of a journal */
	/* With recorded: the settings as last read, with their secrets; NULL on replay. */
	const struct settings *const *whole;
	const struct state_kept *kept; /* state read from state_dir before; NULL: none */
	bool shown; /* state_dir is what --show shows: nothing of it is dropped, however old */
};

/* Borrows settings, and writes the address of the embedded engine there once it is known.
 * EINVAL, ENOMEM, ENOENT if a program that it has to run is missing. Caller owns *out. */
int control_alloc(struct control **out, struct env *env, struct settings *settings,
		  const struct control_conf *conf);
struct control *control_free(struct control *c);
/* Starts; must run inside a step, so use control_input. */
void control_start(struct control *c);
/* Shuts down; env_stop() follows within half a second. With a mediad of its own the bot leaves its
 * channels; otherwise the calls continue in mediad for the next control. */
void control_stop(struct control *c);
/* Aborts every room's pending requests because the program is about to be suspended. It goes on as
 * it was when it is continued. */
void control_suspend(struct control *c);
/* Applies changed settings: a JSON object of name and text. The log says which of them take effect
 * later (settings_when). EBADMSG: none was applied.
 */
int control_settings(struct control *c, const uint8_t *json, size_t len);
/* The calls above as inputs of a source whose arg is the control. */
enum {
	CONTROL_IN_START = 1,
	CONTROL_IN_STOP = 2,
	CONTROL_IN_SETTINGS = 3,
	CONTROL_IN_SUSPEND = 4,
	CONTROL_IN_ERASE = 5, /* `control --erase` has asked for erasures */
};
void control_input(uint8_t kind, const uint8_t *data, size_t len, void *c);
/* Why control ended by itself; empty words if it did not. Borrowed. */
const struct words *control_failure(const struct control *c);
/* The port of the HTTP API; 0: it is not served. */
uint16_t control_web_port(const struct control *c);
/* It ended because a newer control took its mediad over. */
bool control_replaced(const struct control *c);

/* The gateway intents and the permissions that the bot needs on Discord with these settings. */
uint32_t control_intents(const struct settings *settings);
uint64_t control_permissions(const struct settings *settings);

#endif
