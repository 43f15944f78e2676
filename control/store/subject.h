/* The pseudonym of a person in records that outlive their data: consents and deletions.
 *
 * HMAC-SHA-256 (RFC 2104) of the Discord id under a random key of this state directory, cut to 128
 * bits. The key is in the file subject-key, mode 0600. Without the key nobody can tell whom a
 * record is about; a reader who has the key can test an id. */
#ifndef CONTROL_STORE_SUBJECT_H
#define CONTROL_STORE_SUBJECT_H

#include <stddef.h>
#include <stdint.h>

enum { SUBJECT_KEY = 32, SUBJECT_KEY_TEXT = 2 * SUBJECT_KEY + 1, SUBJECT_MAC = 33 };

struct subject_key {
	uint8_t bytes[SUBJECT_KEY];
};

/* Reads the key. Errors of open and read; ENOENT: there is none; EPERM: others own the file or may
 * read it; EINVAL: it holds no key. */
int subject_key_find(const char *dir, struct subject_key *out);
/* The same; makes the key if there is none. Errors of write. */
int subject_key_read(const char *dir, struct subject_key *out);
/* To and from hexadecimal digits. subject_key_parse: EINVAL. */
void subject_key_text(const struct subject_key *key, char out[SUBJECT_KEY_TEXT]);
int subject_key_parse(const char *text, struct subject_key *out);
/* Of ids and a text together. */
void subject_mac_text(const struct subject_key *key, const uint64_t *ids, size_t n,
		      const char *text, char out[SUBJECT_MAC]);
void subject_mac(const struct subject_key *key, uint64_t user, char out[SUBJECT_MAC]);

#endif
