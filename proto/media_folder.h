/* Music folders in DECODERS: 16 bytes each, device and number of the directory, the first byte the
 * highest. The two halves share a kernel, so that a folder has the same ones in both, whatever it
 * is called there; a folder that cannot be opened has zeros. Pure. */
#ifndef PROTO_MEDIA_FOLDER_H
#define PROTO_MEDIA_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MEDIA_FOLDERS = 16, MEDIA_FOLDER_BYTES = 16 };

struct media_folder {
	uint64_t device, number; /* number 0: it cannot be opened, or is not known */
};

static inline void media_folder_put(uint8_t *p, const struct media_folder *f)
{
	for (unsigned i = 0; i < 8; i++) {
		p[i] = (uint8_t)(f->device >> (56 - 8 * i));
		p[8 + i] = (uint8_t)(f->number >> (56 - 8 * i));
	}
}

static inline struct media_folder media_folder_get(const uint8_t *p)
{
	struct media_folder f = {0, 0};

	for (unsigned i = 0; i < 8; i++) {
		f.device = f.device << 8 | p[i];
		f.number = f.number << 8 | p[8 + i];
	}
	return f;
}

static inline bool media_folder_is_same(const struct media_folder *a, const struct media_folder *b)
{
	return a->device == b->device && a->number == b->number;
}

#endif
