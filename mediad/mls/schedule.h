/* Key schedule, transcript hashes and exporter of one epoch (RFC 9420 section 8). No pre-shared
 * keys: psk_secret is 32 zero bytes. Values; the owner wipes them. */
#ifndef MEDIAD_MLS_SCHEDULE_H
#define MEDIAD_MLS_SCHEDULE_H

#include "mediad/mls/crypto.h"

struct mls_epoch {
	uint8_t joiner[MLS_HASH], welcome[MLS_HASH];
	uint8_t sender_data[MLS_HASH], encryption[MLS_HASH], exporter[MLS_HASH], external[MLS_HASH],
		confirm[MLS_HASH], membership[MLS_HASH], resumption[MLS_HASH],
		authenticator[MLS_HASH], init[MLS_HASH];
};

/* context: the serialised GroupContext of the new epoch. commit_secret: 32 zero bytes without a
 * path. psk: 32 bytes, NULL for none. */
int mls_schedule(struct mls_epoch *out, const uint8_t init_prev[MLS_HASH],
		 const uint8_t commit_secret[MLS_HASH], const uint8_t *psk, struct slice context);
/* From a Welcome. */
int mls_schedule_join(struct mls_epoch *out, const uint8_t joiner[MLS_HASH], const uint8_t *psk,
		      struct slice context);
/* A group's first epoch (number 0): epoch_secret is random. joiner and welcome are zero. */
int mls_schedule_first(struct mls_epoch *out, const uint8_t epoch_secret[MLS_HASH]);
/* welcome_secret alone, before the GroupContext can be read. */
int mls_welcome_secret(uint8_t out[MLS_HASH], const uint8_t joiner[MLS_HASH], const uint8_t *psk);
int mls_welcome_key(uint8_t key[MLS_KEY], uint8_t nonce[MLS_NONCE],
		    const uint8_t welcome[MLS_HASH]);

/* confirmed = H(interim_old | input), input: ConfirmedTranscriptHashInput; interim = H(confirmed |
 * V(tag)). A new group has an empty confirmed hash (n 0), and its interim hash is made of that and
 * a tag over it (section 11). */
int mls_confirmed(uint8_t out[MLS_HASH], struct slice interim_old, struct slice input);
int mls_interim(uint8_t out[MLS_HASH], struct slice confirmed, const uint8_t tag[MLS_HASH]);
int mls_confirmation_tag(uint8_t out[MLS_HASH], const struct mls_epoch *e, struct slice confirmed);

/* MLS-Exporter (8.5). */
int mls_export(uint8_t *out, size_t n, const uint8_t exporter[MLS_HASH], const char *label,
	       struct slice context);

#endif
