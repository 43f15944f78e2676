/* What the role see said of images: kept in memory for a while, so that the same image is not
 * described twice, and counted, so that no server has more described than its settings allow in an
 * hour. Pure.
 *
 * A caption is somebody's words as much as the message that the image was attached to: it goes with
 * the message, with the consent of the person and with their erasure. */
#ifndef CONTROL_ATTACHMENTS_CAPTIONS_H
#define CONTROL_ATTACHMENTS_CAPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CAPTIONS_KEPT = 256, /* of all servers; the oldest go */
	CAPTIONS_KEPT_S = 3600,
	CAPTIONS_GUILDS = 256, /* whose descriptions are counted; the oldest count goes */
	CAPTION_HASH = 32,
	CAPTION_TEXT = 2000, /* bytes; more is cut */
};

struct captions;

struct caption {
	uint64_t guild, message, user; /* user: who showed it; message 0: none */
	uint8_t hash[CAPTION_HASH];    /* of the image's bytes and of the question about it */
	const char *text;
};

int captions_alloc(struct captions **out);
struct captions *captions_free(struct captions *c);

/* The same image and question as they were described for this server within CAPTIONS_KEPT_S; NULL:
 * none. now: ns. Borrowed until the next call of anything here. */
const char *captions_find(struct captions *c, uint64_t guild, const uint8_t hash[CAPTION_HASH],
			  uint64_t now);
/* Copied. Without memory it is not kept. */
void captions_keep(struct captions *c, const struct caption *caption, uint64_t now);
/* True, and counted, if this server may have one more described; most: an hour. */
bool captions_take(struct captions *c, uint64_t guild, unsigned most, uint64_t now);
/* Those that were kept for CAPTIONS_KEPT_S go, as they do in captions_find and captions_keep. now:
 * ns. */
void captions_drop_old(struct captions *c, uint64_t now);
/* The message is gone or says something else. */
void captions_drop_message(struct captions *c, uint64_t message);
/* All that this user showed; guild 0: in every server. */
void captions_forget(struct captions *c, uint64_t guild, uint64_t user);
/* That are kept. */
size_t captions_count(const struct captions *c);

#endif
