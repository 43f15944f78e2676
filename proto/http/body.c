#include "proto/http/body.h"

enum { SIZE_DIGITS = 8 };

void http_body_init(struct http_body *b, bool chunked, uint64_t length)
{
	*b = (struct http_body){
		.state = chunked  ? HTTP_BODY_SIZE
			 : length ? HTTP_BODY_DATA
				  : HTTP_BODY_END,
		.chunked = chunked,
		.left = chunked ? 0 : length,
	};
}

static int hex_value(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* One byte of a chunk's size line. */
static bool take_size(struct http_body *b, uint8_t c)
{
	int digit = hex_value(c);

	if (digit >= 0) {
		if (++b->digits > SIZE_DIGITS)
			return false;
		b->left = b->left << 4 | (unsigned)digit;
		return true;
	}
	if (!b->digits || (c != '\r' && c != ';'))
		return false;
	b->state = c == '\r' ? HTTP_BODY_SIZE_LF : HTTP_BODY_EXTENSION;
	return true;
}

/* One byte of text that means nothing to us, up to a CR. */
static bool take_extra(struct http_body *b, uint8_t c, enum http_body_state then)
{
	if (++b->extra > HTTP_BODY_EXTRA)
		return false;
	if (c == '\r')
		b->state = then;
	return c == '\r' || c == '\t' || (c >= 0x20 && c != 0x7f);
}

/* One byte that must be c. */
static bool take_exact(struct http_body *b, uint8_t got, uint8_t c, enum http_body_state then)
{
	b->state = then;
	return got == c;
}

static bool take_byte(struct http_body *b, uint8_t c)
{
	switch (b->state) {
	case HTTP_BODY_DATA_CR:
		return take_exact(b, c, '\r', HTTP_BODY_DATA_LF);
	case HTTP_BODY_DATA_LF:
		b->digits = 0;
		return take_exact(b, c, '\n', HTTP_BODY_SIZE);
	case HTTP_BODY_SIZE:
		return take_size(b, c);
	case HTTP_BODY_EXTENSION:
		return take_extra(b, c, HTTP_BODY_SIZE_LF);
	case HTTP_BODY_SIZE_LF:
		return take_exact(b, c, '\n', b->left ? HTTP_BODY_DATA : HTTP_BODY_TRAILER);
	case HTTP_BODY_TRAILER:
		if (c == '\r')
			return take_exact(b, c, '\r', HTTP_BODY_LAST_LF);
		b->state = HTTP_BODY_TRAILER_FIELD;
		return take_extra(b, c, HTTP_BODY_TRAILER_LF);
	case HTTP_BODY_TRAILER_FIELD:
		return take_extra(b, c, HTTP_BODY_TRAILER_LF);
	case HTTP_BODY_TRAILER_LF:
		return take_exact(b, c, '\n', HTTP_BODY_TRAILER);
	case HTTP_BODY_LAST_LF:
		return take_exact(b, c, '\n', HTTP_BODY_END);
	case HTTP_BODY_DATA:
	case HTTP_BODY_END:
		break;
	}
	return false;
}

long http_body_feed(struct http_body *b, const uint8_t *p, size_t len, const uint8_t **data,
		    size_t *n)
{
	size_t at = 0;

	*data = p;
	*n = 0;
	while (at < len && b->state != HTTP_BODY_DATA && b->state != HTTP_BODY_END)
		if (!take_byte(b, p[at++]))
			return -1;
	if (at < len && b->state == HTTP_BODY_DATA) {
		*data = p + at;
		*n = len - at < b->left ? len - at : (size_t)b->left;
		b->left -= *n;
		at += *n;
		if (!b->left)
			b->state = b->chunked ? HTTP_BODY_DATA_CR : HTTP_BODY_END;
	}
	return (long)at;
}
