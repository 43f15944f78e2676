/* Answers with embeddings: no input may crash, and every vector has length 1. The first byte is the
 * number of texts. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "control/dialect/embeddings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct embeddings e = {0};

	if (!size || embeddings_read(&e, data[0], (struct slice){data + 1, size - 1}))
		return 0;
	if (e.n != data[0] || e.dim < EMBEDDINGS_DIM_MIN || e.dim > EMBEDDINGS_DIM_MAX)
		abort();
	for (size_t i = 0; i < e.n; i++) {
		double length = 0;

		for (size_t k = 0; k < e.dim; k++)
			length += (double)e.v[i * e.dim + k] * (double)e.v[i * e.dim + k];
		if (fabs(length - 1) > 1e-3)
			abort();
	}
	embeddings_clear(&e);
	return 0;
}
