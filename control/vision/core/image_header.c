#include "control/vision/core/image_header.h"

#include <string.h>
#include <strings.h>

#include "proto/base/cursor.h"

static enum image_reason check_size(struct image_header *out, enum image_kind kind, uint32_t width,
				    uint32_t height)
{
	if (!width || !height)
		return IMAGE_DAMAGED;
	if (width > IMAGE_SIDE_MAX || height > IMAGE_SIDE_MAX ||
	    (uint64_t)width * height > IMAGE_PIXELS_MAX)
		return IMAGE_TOO_LARGE;
	*out = (struct image_header){kind, width, height};
	return IMAGE_OK;
}

/* ---- JPEG ---- */

enum {
	JPEG_SOF0 = 0xc0,
	JPEG_SOF2 = 0xc2,
	JPEG_DHT = 0xc4,
	JPEG_JPG = 0xc8,
	JPEG_DAC = 0xcc,
	JPEG_SOF15 = 0xcf,
	JPEG_RST0 = 0xd0,
	JPEG_RST7 = 0xd7,
	JPEG_EOI = 0xd9,
	JPEG_SOS = 0xda,
	JPEG_TEM = 0x01,
	JPEG_SEGMENTS_MAX = 512
};

static bool is_frame(unsigned marker)
{
	return marker >= JPEG_SOF0 && marker <= JPEG_SOF15 && marker != JPEG_DHT &&
	       marker != JPEG_JPG && marker != JPEG_DAC;
}

static enum image_reason read_frame(struct image_header *out, struct rd *r, unsigned marker)
{
	unsigned precision = (unsigned)rd_be(r, 1);
	uint32_t height = (uint32_t)rd_be(r, 2), width = (uint32_t)rd_be(r, 2);
	unsigned components = (unsigned)rd_be(r, 1);

	if (!r->ok)
		return IMAGE_DAMAGED;
	/* Lossless, hierarchical and arithmetic coding, 12 bits, and CMYK. */
	if (marker > JPEG_SOF2 || precision != 8 || (components != 1 && components != 3))
		return IMAGE_UNSUPPORTED;
	return check_size(out, IMAGE_JPEG, width, height);
}

/* A scan is a pass of the decoder over all pixels, and takes ten bytes: a small file could cost
 * minutes. Markers are found where the decoder finds them: behind the parameters of the last one,
 * past everything that is none (T.81 B.1.1.2 keeps 0xff out of coded data). */
static bool scans_fit(const struct image_header *h, struct rd r)
{
	uint64_t pixels = (uint64_t)h->width * h->height, scans = 0;
	const uint8_t *next;

	while (rd_left(&r) && (next = memchr(r.p + r.pos, 0xff, rd_left(&r)))) {
		unsigned marker = 0xff, length;

		r.pos = (size_t)(next - r.p);
		while (marker == 0xff && r.ok)
			marker = (unsigned)rd_be(&r, 1);
		if (!marker || marker == JPEG_TEM || (marker >= JPEG_RST0 && marker <= JPEG_RST7))
			continue;
		if (marker == JPEG_SOS &&
		    (++scans > IMAGE_SCANS_MAX || scans * pixels > IMAGE_SCAN_PIXELS_MAX))
			return false;
		if (marker == JPEG_EOI)
			break;
		length = (unsigned)rd_be(&r, 2);
		rd_bytes(&r, length < 2 ? 0 : length - 2);
	}
	return true;
}

static enum image_reason read_jpeg(struct image_header *out, struct rd *r)
{
	struct image_header h;

	rd_bytes(r, 2);
	for (unsigned i = 0; i < JPEG_SEGMENTS_MAX && r->ok; i++) {
		unsigned marker, length;

		if (rd_be(r, 1) != 0xff)
			return IMAGE_DAMAGED;
		do
			marker = (unsigned)rd_be(r, 1);
		while (marker == 0xff && r->ok);
		if (marker == JPEG_TEM || (marker >= JPEG_RST0 && marker <= JPEG_RST7))
			continue;
		length = (unsigned)rd_be(r, 2);
		if (length < 2 || marker == JPEG_EOI || marker == JPEG_SOS)
			return IMAGE_DAMAGED;
		if (is_frame(marker)) {
			enum image_reason reason = read_frame(&h, r, marker);

			if (reason == IMAGE_OK && !scans_fit(&h, *r))
				reason = IMAGE_TOO_LARGE;
			if (reason == IMAGE_OK)
				*out = h;
			return reason;
		}
		rd_bytes(r, length - 2);
	}
	return IMAGE_DAMAGED;
}

/* ---- PNG ---- */

static const uint8_t png_signature[] = {0x89, 'P', 'N', 'G', 0x0d, 0x0a, 0x1a, 0x0a};

/* A bit for each depth that a colour type may have, by the depth's number. */
static bool depth_fits(unsigned type, unsigned depth)
{
	switch (type) {
	case 0:
		return depth == 1 || depth == 2 || depth == 4 || depth == 8 || depth == 16;
	case 3:
		return depth == 1 || depth == 2 || depth == 4 || depth == 8;
	case 2:
	case 4:
	case 6:
		return depth == 8 || depth == 16;
	default:
		return false;
	}
}

static enum image_reason read_png(struct image_header *out, struct rd *r)
{
	uint32_t length, width, height;
	unsigned depth, type, compression, filter, interlace;
	const uint8_t *name;

	rd_bytes(r, sizeof png_signature);
	length = (uint32_t)rd_be(r, 4);
	name = rd_bytes(r, 4);
	width = (uint32_t)rd_be(r, 4);
	height = (uint32_t)rd_be(r, 4);
	depth = (unsigned)rd_be(r, 1);
	type = (unsigned)rd_be(r, 1);
	compression = (unsigned)rd_be(r, 1);
	filter = (unsigned)rd_be(r, 1);
	interlace = (unsigned)rd_be(r, 1);
	if (!r->ok || length != 13 || memcmp(name, "IHDR", 4) != 0 || compression || filter ||
	    interlace > 1 || !depth_fits(type, depth))
		return IMAGE_DAMAGED;
	return check_size(out, IMAGE_PNG, width, height);
}

/* ---- WebP ---- */

enum { VP8X_ANIMATION = 0x02, VP8L_SIGNATURE = 0x2f };

static uint32_t read_le(struct rd *r, unsigned n)
{
	const uint8_t *p = rd_bytes(r, n);
	uint32_t v = 0;

	for (unsigned i = n; p && i--;)
		v = v << 8 | p[i];
	return v;
}

static enum image_reason read_lossy(struct image_header *out, struct rd *r)
{
	uint32_t tag = read_le(r, 3), start = read_le(r, 3);
	uint32_t width = read_le(r, 2), height = read_le(r, 2);

	/* A key frame that is shown; the start code of RFC 6386 section 9.1. */
	if (!r->ok || tag & 1 || !(tag >> 4 & 1) || start != 0x2a019d)
		return IMAGE_DAMAGED;
	return check_size(out, IMAGE_WEBP, width & 0x3fff, height & 0x3fff);
}

static enum image_reason read_lossless(struct image_header *out, struct rd *r)
{
	unsigned signature = read_le(r, 1);
	uint32_t bits = read_le(r, 4);

	if (!r->ok || signature != VP8L_SIGNATURE || bits >> 29)
		return IMAGE_DAMAGED;
	return check_size(out, IMAGE_WEBP, (bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1);
}

static enum image_reason read_extended(struct image_header *out, struct rd *r)
{
	uint32_t flags = read_le(r, 4), width = read_le(r, 3) + 1, height = read_le(r, 3) + 1;

	if (!r->ok)
		return IMAGE_DAMAGED;
	if (flags & VP8X_ANIMATION)
		return IMAGE_UNSUPPORTED;
	return check_size(out, IMAGE_WEBP, width, height);
}

static enum image_reason read_webp(struct image_header *out, struct rd *r)
{
	const uint8_t *chunk;

	rd_bytes(r, 12);
	chunk = rd_bytes(r, 4);
	read_le(r, 4);
	if (!r->ok)
		return IMAGE_DAMAGED;
	if (memcmp(chunk, "VP8 ", 4) == 0)
		return read_lossy(out, r);
	if (memcmp(chunk, "VP8L", 4) == 0)
		return read_lossless(out, r);
	return memcmp(chunk, "VP8X", 4) == 0 ? read_extended(out, r) : IMAGE_DAMAGED;
}

/* ---- all ---- */

enum image_reason image_header_read(struct image_header *out, const uint8_t *p, size_t n)
{
	struct rd r = rd_of(p, n);

	if (n > IMAGE_BYTES_MAX)
		return IMAGE_TOO_LARGE;
	if (n >= 3 && p[0] == 0xff && p[1] == 0xd8 && p[2] == 0xff)
		return read_jpeg(out, &r);
	if (n >= sizeof png_signature && memcmp(p, png_signature, sizeof png_signature) == 0)
		return read_png(out, &r);
	if (n >= 12 && memcmp(p, "RIFF", 4) == 0 && memcmp(p + 8, "WEBP", 4) == 0)
		return read_webp(out, &r);
	return IMAGE_NOT_A_PICTURE;
}

static const char *const types[IMAGE_KINDS] = {
	[IMAGE_JPEG] = "image/jpeg", [IMAGE_PNG] = "image/png", [IMAGE_WEBP] = "image/webp"};

const char *image_media_type(enum image_kind kind)
{
	return types[kind];
}

bool image_kind_of(const char *media_type, size_t n, enum image_kind *out)
{
	size_t end = 0;

	while (end < n && media_type[end] != ';' && media_type[end] != ' ')
		end++;
	for (unsigned i = 0; i < IMAGE_KINDS; i++)
		if (end == strlen(types[i]) && strncasecmp(media_type, types[i], end) == 0) {
			*out = (enum image_kind)i;
			return true;
		}
	return false;
}

static const struct {
	const char *name, *text;
} reasons[] = {
#define REASON(NAME, name, text) {#name, text},
	IMAGE_REASONS(REASON)
#undef REASON
};

const char *image_reason_name(enum image_reason reason)
{
	return reasons[reason].name;
}

const char *image_reason_text(enum image_reason reason)
{
	return reasons[reason].text;
}
