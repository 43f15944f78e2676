/* Titles in a radio stream: however the stream is cut, the sound and the titles are the same, and a
 * title is plain text. The first two bytes are the interval and the size of the pieces. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/utf8.h"
#include "proto/http/icy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t feed_pieces(struct icy *i, uint8_t *to, const uint8_t *data, size_t n, size_t piece)
{
	uint8_t part[256];
	size_t used = 0;

	for (size_t at = 0; at < n; at += piece) {
		size_t len = n - at < piece ? n - at : piece;

		memcpy(part, data + at, len);
		len = icy_feed(i, part, len);
		memcpy(to + used, part, len);
		used += len;
	}
	return used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct icy whole, cut;
	uint8_t *sound, *pieces;
	size_t n, k;

	if (size < 3)
		return 0;
	sound = malloc(size);
	pieces = malloc(size);
	if (!sound || !pieces)
		abort();
	icy_init(&whole, data[0]);
	icy_init(&cut, data[0]);
	memcpy(sound, data + 2, size - 2);
	n = icy_feed(&whole, sound, size - 2);
	k = feed_pieces(&cut, pieces, data + 2, size - 2, (size_t)data[1] + 1);
	if (n != k || memcmp(sound, pieces, n) != 0)
		abort();
	if (!utf8_valid(whole.title) || strcmp(whole.title, cut.title) != 0)
		abort();
	free(sound);
	free(pieces);
	return 0;
}
