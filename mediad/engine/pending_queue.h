/* Packets that cannot be decoded yet, because their SSRC is not mapped to a user or their key has
 * not arrived. They are kept as they were after transport decryption, in order of arrival; when
 * there is no room the oldest are dropped, or the new one if most are of its speaker.
 *
 * Plain memory of its owner; all zero is empty. */
#ifndef MEDIAD_ENGINE_PENDING_QUEUE_H
#define MEDIAD_ENGINE_PENDING_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PENDING_QUEUE_PACKETS = 512, PENDING_QUEUE_BYTES = 65536 };

struct pending_packet {
	uint64_t at;   /* arrival */
	uint64_t pos;  /* in the byte ring */
	uint32_t ssrc; /* 0: it was taken out */
	uint32_t ts;
	uint16_t seq, n;
	uint8_t level;
	bool padding : 1; /* it holds nothing but padding */
	bool tried : 1;	  /* decrypting it failed once */
	bool counts : 1;  /* as undecryptable, if it is never decrypted */
	bool failed : 1;  /* with all that can decrypt it now */
};

struct pending_queue {
	struct pending_packet packets[PENDING_QUEUE_PACKETS]; /* ring */
	unsigned first, n;
	uint64_t head; /* bytes written so far, including gaps at the ring's end */
	uint8_t bytes[PENDING_QUEUE_BYTES];
};

/* True if n more bytes fit without dropping the oldest packet. */
bool pending_queue_fits(const struct pending_queue *q, size_t n);
/* Appends *e (its pos is set here) and its e->n bytes; only after pending_queue_fits. */
void pending_queue_put(struct pending_queue *q, const struct pending_packet *e, const uint8_t *p);
/* The i-th packet, oldest first; i < q->n. */
struct pending_packet *pending_queue_at(struct pending_queue *q, unsigned i);
const uint8_t *pending_queue_bytes(const struct pending_queue *q, const struct pending_packet *e);
void pending_queue_drop_oldest(struct pending_queue *q);

#endif
