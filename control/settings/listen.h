/* The address at which control listens, as the setting web_listen gives it. */
#ifndef PARLEY_CONTROL_SETTINGS_LISTEN_H
#define PARLEY_CONTROL_SETTINGS_LISTEN_H

#include <stdint.h>

enum { LISTEN_MAX = 64 };

struct listen_address {
	char host[LISTEN_MAX];	  /* as it is written */
	char address[LISTEN_MAX]; /* the same without the brackets of IPv6 */
	uint16_t port;
};

/* Reads "127.0.0.1:8787" or "[::1]:8787". Returns EINVAL for a name, and for anything else. */
int listen_parse(struct listen_address *out, const char *text);

#endif
