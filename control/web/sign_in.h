/* Codes for one sign-in at the dashboard, as `control --sign-in` prints them in a link:
 *
 *   1.ROLE.EXPIRES.NONCE.MAC
 *
 * EXPIRES: ms since 1970; NONCE: 16 bytes in hex; MAC: BLAKE2b of what stands before it, keyed by
 * the token of the API, in hex. So whoever can read the token can make one, control checks it
 * without having been told, and a code that was seen somewhere is worthless once it was used or is
 * late. Pure. */
#ifndef CONTROL_WEB_SIGN_IN_H
#define CONTROL_WEB_SIGN_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/web/roles.h"

enum {
	SIGN_IN_MS = 600000, /* for which a code holds */
	SIGN_IN_NONCE = 16,
	SIGN_IN_MAX = 160, /* a code with its NUL */
};

struct sign_in {
	enum web_role role;
	uint64_t expires_ms;
	uint8_t nonce[SIGN_IN_NONCE];
};

/* ENOSPC, EINVAL: the role is nobody's. */
int sign_in_format(char *out, size_t size, const struct sign_in *s, const char *token);
/* Reads a code without its MAC. EBADMSG. */
int sign_in_parse(const char *code, struct sign_in *out);
/* True if the token has made this code. Takes the same time whatever differs. */
bool sign_in_verify(const char *code, const char *token);
/* True while it holds. */
bool sign_in_holds(const struct sign_in *s, uint64_t now_ms);

#endif
