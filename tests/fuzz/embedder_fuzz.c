/* The file of the embedder, and texts for the tokenizer. A first byte of 0 takes the rest as a
 * file; otherwise it is a text for a small vocabulary. */
#include <stdlib.h>
#include <string.h>

#include "control/memory/embed/embedder.h"
#include "control/memory/embed/pieces.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void open_file(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	struct embedder *e = NULL;
	float v[EMBEDDER_DIM];

	if (!copy)
		return;
	memcpy(copy, data, size);
	if (embedder_alloc(&e, copy, size) == 0)
		embedder_run(e, "abba and a cab", 14, v);
	embedder_free(e);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const double score[] = {-1, -1.5, -2, -3, 0};
	static const uint32_t offset[] = {0, 1, 3, 4, 5, 8}, id[] = {6, 7, 8, 9, 10};
	static const struct pieces pieces = {5, score, offset, id,
					     (const uint8_t *)"aabbc\xe2\x96\x81"};
	static struct pieces_lattice lattice;
	uint32_t ids[PIECES_MAX];

	if (!size)
		return 0;
	if (!data[0])
		open_file(data + 1, size - 1);
	else if (pieces_split(&pieces, &lattice, (const char *)data + 1, size - 1, ids) >
		 PIECES_MAX)
		abort();
	return 0;
}
