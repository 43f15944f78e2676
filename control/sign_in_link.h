/* Prints a link that signs a browser in at the dashboard, once and within ten minutes. */
#ifndef CONTROL_SIGN_IN_LINK_H
#define CONTROL_SIGN_IN_LINK_H

#include <stdint.h>
#include <stdio.h>

struct settings;

/* `control --sign-in[=ROLE]`: role is a name of control/web/roles.h; NULL: admin. port 0: that of
 * the setting web_listen. Returns the exit status. */
int sign_in_link_run(FILE *out, const struct settings *settings, const char *state_dir,
		     const char *role, uint16_t port, uint64_t now_ms);

#endif
