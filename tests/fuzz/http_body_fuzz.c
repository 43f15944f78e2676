/* Bodies of HTTP requests: what is taken for the body, and where it ends, must not depend on how it
 * was cut. The first two bytes say whether it is chunked, its length, and the cut. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/fnv.h"
#include "proto/http/body.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct sum {
	uint64_t hash, n;
	size_t end; /* where it stopped */
	bool ended, broken;
};

static struct sum run(const uint8_t *p, size_t size, bool chunked, uint64_t length, size_t step)
{
	struct http_body b;
	struct sum s = {.hash = FNV_BEGIN};
	size_t at = 0;

	http_body_init(&b, chunked, length);
	while (at < size && !http_body_ended(&b)) {
		size_t n = size - at < step ? size - at : step, k_data;
		const uint8_t *data;
		long k = http_body_feed(&b, p + at, n, &data, &k_data);

		if (k < 0) {
			s.broken = true;
			break;
		}
		if (!k || (size_t)k > n || data < p + at || data + k_data > p + at + n)
			abort();
		s.hash = fnv_bytes(s.hash, data, k_data);
		s.n += k_data;
		at += (size_t)k;
	}
	s.end = at;
	s.ended = http_body_ended(&b);
	if (!chunked && (s.broken || s.n > length || (s.ended && s.n != length)))
		abort();
	return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sum a, b;

	if (size < 2)
		return 0;
	a = run(data + 2, size - 2, data[0] & 1, data[0], size);
	b = run(data + 2, size - 2, data[0] & 1, data[0], data[1] % 16 + 1u);
	if (a.hash != b.hash || a.n != b.n || a.ended != b.ended || a.broken != b.broken ||
	    (!a.broken && a.end != b.end))
		abort();
	return 0;
}
