/* Pre-shared keys (RFC 9420 section 8.4). DAVE uses none; groups of other implementations, as in
 * the published vectors, are joined with them. Only external ones: ENOTSUP for those of an earlier
 * epoch. */
#ifndef MEDIAD_MLS_PSK_H
#define MEDIAD_MLS_PSK_H

#include "mediad/mls/mls.h"

enum { MLS_PSKS_MAX = 64 };

struct mls_psk {
	struct slice id, key; /* borrowed */
};

struct mls_psk_list {
	const struct mls_psk *psk; /* borrowed */
	unsigned n;
};

/* Skips one PreSharedKeyID of any kind; r->ok tells. */
void mls_psk_id_skip(struct rd *r);
/* psk_secret of a list of PreSharedKeyIDs (the body of its vector); 32 zero bytes when it is empty.
 * ENOTSUP: one of them is not among the known; EBADMSG, EOVERFLOW. */
int mls_psk_secret(uint8_t out[MLS_HASH], struct slice ids, const struct mls_psk *known,
		   unsigned n_known);

#endif
