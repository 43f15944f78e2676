#include "control/dialect/base64.h"

#include <errno.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Value + 1 of each character; 0 = not one of the alphabet. */
static const uint8_t values[256] = {
	['A'] = 1,  ['B'] = 2,	['C'] = 3,  ['D'] = 4,	['E'] = 5,  ['F'] = 6,	['G'] = 7,
	['H'] = 8,  ['I'] = 9,	['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14,
	['O'] = 15, ['P'] = 16, ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21,
	['V'] = 22, ['W'] = 23, ['X'] = 24, ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28,
	['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32, ['g'] = 33, ['h'] = 34, ['i'] = 35,
	['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40, ['o'] = 41, ['p'] = 42,
	['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48, ['w'] = 49,
	['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
	['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63,
	['/'] = 64,
};

void base64_encode(const uint8_t *in, size_t n, char *out)
{
	for (size_t i = 0; i < n; i += 3) {
		size_t left = n - i;
		uint32_t v = (uint32_t)in[i] << 16;

		if (left > 1)
			v |= (uint32_t)in[i + 1] << 8;
		if (left > 2)
			v |= in[i + 2];
		*out++ = alphabet[v >> 18];
		*out++ = alphabet[v >> 12 & 63];
		*out++ = left > 1 ? alphabet[v >> 6 & 63] : '=';
		*out++ = left > 2 ? alphabet[v & 63] : '=';
	}
}

int base64_decode(const char *in, size_t n, uint8_t *out, size_t cap, size_t *len)
{
	size_t pad = 0, k = 0, bytes;

	if (n % 4)
		return EBADMSG;
	if (n && in[n - 1] == '=')
		pad = in[n - 2] == '=' ? 2 : 1;
	bytes = n / 4 * 3 - pad;
	if (bytes > cap)
		return EMSGSIZE;
	for (size_t i = 0; i < n; i += 4) {
		size_t take = i + 4 == n ? 4 - pad : 4;
		uint32_t v = 0;

		for (size_t j = 0; j < take; j++) {
			uint8_t value = values[(unsigned char)in[i + j]];

			if (!value)
				return EBADMSG;
			v |= (uint32_t)(value - 1) << (18 - 6 * j);
		}
		out[k++] = (uint8_t)(v >> 16);
		if (take > 2)
			out[k++] = (uint8_t)(v >> 8);
		if (take > 3)
			out[k++] = (uint8_t)v;
	}
	*len = k;
	return 0;
}
