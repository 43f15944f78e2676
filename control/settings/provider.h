/* Where a service is that is asked by HTTP, and with what key: its own address and key, else the
 * brain's server, whose HTTP side is beside its WebSocket (…/v1/realtime and …/v1).
 *
 * A key goes to the address it was given for, and nowhere else. */
#ifndef CONTROL_SETTINGS_PROVIDER_H
#define CONTROL_SETTINGS_PROVIDER_H

#include <stdbool.h>

struct settings;

enum settings_service { SETTINGS_SERVICE_ASR, SETTINGS_SERVICE_TEXT, SETTINGS_SERVICE_SPEECH };
enum { SETTINGS_BASE_MAX = 512 };

struct settings_provider {
	char base[SETTINGS_BASE_MAX]; /* http:// or https:// */
	const char *key;	      /* "" for none; borrowed of the settings */
	const char *key_name;	      /* the variable that it comes from */
};

/* ENOENT: no address is known (yet); EINVAL: it is none of a server. *out is written only on
 * success. */
int settings_provider(const struct settings *s, enum settings_service which,
		      struct settings_provider *out);
/* Whether these settings ask that service for anything. */
bool settings_asks(const struct settings *s, enum settings_service which);

#endif
