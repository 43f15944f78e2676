/* What people compare: privacy code of a call, verification code of a member, fingerprint of two
 * (DAVE protocol 1.1, "Verification"). */
#ifndef MEDIAD_DAVE_CODES_H
#define MEDIAD_DAVE_CODES_H

#include "proto/base/cursor.h"

enum { DAVE_FINGERPRINT = 64, DAVE_CODE_MAX = 64, DAVE_SIGNATURE_KEY_MAX = 256 };

/* `digits` decimal digits from data, `group` at a time, and NUL. EINVAL: data too short, group not
 * 1…7 or no divisor, or more than DAVE_CODE_MAX - 1 digits. */
int dave_code(char *out, size_t cap, struct slice data, unsigned digits, unsigned group);
/* 30 digits of the epoch authenticator. */
int dave_privacy_code(char out[31], const uint8_t authenticator[32]);
/* What a fingerprint takes of one member, version 0: u16 0, the signature key as received, the id,
 * big-endian. *n bytes. EINVAL: no key, or one past DAVE_SIGNATURE_KEY_MAX; EMSGSIZE cap. */
int dave_key_fingerprint(uint8_t *out, size_t cap, size_t *n, struct slice key, uint64_t user);
/* Version 0: scrypt over both members' signature keys and ids. About 60 ms and 16 MiB: for the
 * worker. ENOMEM, EINVAL. */
int dave_fingerprint(uint8_t out[DAVE_FINGERPRINT], struct slice key_a, uint64_t user_a,
		     struct slice key_b, uint64_t user_b);
/* 45 digits of a fingerprint. */
int dave_verification_code(char out[46], const uint8_t fingerprint[DAVE_FINGERPRINT]);

#endif
