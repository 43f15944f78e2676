/* The codes that people compare: the privacy code of a call, the verification code of a member, the
 * fingerprint of two members (DAVE protocol 1.1, "Verification"). */
#ifndef MEDIAD_DAVE_CODES_H
#define MEDIAD_DAVE_CODES_H

#include "proto/base/cursor.h"

enum { DAVE_FINGERPRINT = 64, DAVE_CODE_MAX = 64, DAVE_SIGNATURE_KEY_MAX = 256 };

/* Writes `digits` decimal digits made from data, `group` at a time, and NUL. Returns EINVAL when
 * data is too short, group is not 1…7 or does not divide digits, or there are more than
 * DAVE_CODE_MAX - 1 digits. */
int dave_code(char *out, size_t cap, struct slice data, unsigned digits, unsigned group);
/* Writes the 30 digits of an epoch authenticator. */
int dave_privacy_code(char out[31], const uint8_t authenticator[32]);
/* Writes one member's input to a fingerprint, version 0: u16 0, the signature key as received, the
 * user id, big-endian; *n bytes. Returns EINVAL without a key or with one over
 * DAVE_SIGNATURE_KEY_MAX, EMSGSIZE when cap is too small. */
int dave_key_fingerprint(uint8_t *out, size_t cap, size_t *n, struct slice key, uint64_t user);
/* Computes the fingerprint, version 0: scrypt over both members' signature keys and user ids. Takes
 * about 60 ms and 16 MiB, so it belongs on the worker. Returns ENOMEM or EINVAL. */
int dave_fingerprint(uint8_t out[DAVE_FINGERPRINT], struct slice key_a, uint64_t user_a,
		     struct slice key_b, uint64_t user_b);
/* Writes the 45 digits of a fingerprint. */
int dave_verification_code(char out[46], const uint8_t fingerprint[DAVE_FINGERPRINT]);

#endif
