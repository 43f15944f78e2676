#include "mediad/dave/codes.h"

#include <errno.h>

#include <sodium.h>

enum { SCRYPT_N = 16384, SCRYPT_R = 8, SCRYPT_P = 2, GROUP_MAX = 7 };
enum { KEY_FINGERPRINT_MAX = 2 + DAVE_SIGNATURE_KEY_MAX + 8 };

static const uint8_t salt[16] = {0x24, 0xca, 0xb1, 0x7a, 0x7a, 0xf8, 0xec, 0x2b,
				 0x82, 0xb4, 0x12, 0xb9, 0x2d, 0xab, 0x19, 0x2e};

int dave_code(char *out, size_t cap, struct slice data, unsigned digits, unsigned group)
{
	struct rd r = rd_of(data.p, data.n);

	if (group < 1 || group > GROUP_MAX || digits % group || digits >= DAVE_CODE_MAX ||
	    digits >= cap || data.n < digits)
		return EINVAL;
	for (unsigned i = 0; i < digits; i += group) {
		uint64_t v = rd_be(&r, group);

		for (unsigned d = group; d-- > 0; v /= 10)
			out[i + d] = (char)('0' + v % 10);
	}
	out[digits] = '\0';
	return 0;
}

int dave_privacy_code(char out[31], const uint8_t authenticator[32])
{
	return dave_code(out, 31, (struct slice){.p = authenticator, .n = 32}, 30, 5);
}

int dave_verification_code(char out[46], const uint8_t fingerprint[DAVE_FINGERPRINT])
{
	return dave_code(out, 46, (struct slice){.p = fingerprint, .n = DAVE_FINGERPRINT}, 45, 5);
}

int dave_key_fingerprint(uint8_t *out, size_t cap, size_t *n, struct slice key, uint64_t user)
{
	struct wr w = wr_of(out, cap);

	if (!key.n || key.n > DAVE_SIGNATURE_KEY_MAX)
		return EINVAL;
	wr_be(&w, 0, 2);
	wr_bytes(&w, key.p, key.n);
	wr_be(&w, user, 8);
	if (!w.ok)
		return EMSGSIZE;
	*n = w.pos;
	return 0;
}

static int compare_bytes(const uint8_t *a, size_t na, const uint8_t *b, size_t nb)
{
	int c = memcmp(a, b, na < nb ? na : nb);

	return c ? c : (na > nb) - (na < nb);
}

int dave_fingerprint(uint8_t out[DAVE_FINGERPRINT], struct slice key_a, uint64_t user_a,
		     struct slice key_b, uint64_t user_b)
{
	uint8_t a[KEY_FINGERPRINT_MAX], b[KEY_FINGERPRINT_MAX], both[2 * KEY_FINGERPRINT_MAX],
		made[DAVE_FINGERPRINT];
	struct wr w = wr_of(both, sizeof both);
	size_t na, nb;
	int err = dave_key_fingerprint(a, sizeof a, &na, key_a, user_a);

	if (!err)
		err = dave_key_fingerprint(b, sizeof b, &nb, key_b, user_b);
	if (err)
		return err;
	if (compare_bytes(a, na, b, nb) <= 0) {
		wr_bytes(&w, a, na);
		wr_bytes(&w, b, nb);
	} else {
		wr_bytes(&w, b, nb);
		wr_bytes(&w, a, na);
	}
	if (crypto_pwhash_scryptsalsa208sha256_ll(both, w.pos, salt, sizeof salt, SCRYPT_N,
						  SCRYPT_R, SCRYPT_P, made, sizeof made))
		return ENOMEM;
	memcpy(out, made, sizeof made);
	return 0;
}
