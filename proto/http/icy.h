/* Titles within a radio stream (SHOUTcast, Icecast). A client that sends "Icy-MetaData: 1" gets,
 * after each `icy-metaint` bytes of sound, one byte that counts blocks of 16 bytes, and a text:
 * StreamTitle='Artist - Title';StreamUrl='…'; and NULs to the end of the block. Pure. */
#ifndef PROTO_HTTP_ICY_H
#define PROTO_HTTP_ICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ICY_TITLE_MAX = 256, ICY_BLOCK = 16, ICY_TEXT_MAX = 255 * ICY_BLOCK };

struct icy {
	uint32_t interval; /* bytes of sound between texts; 0: there are none */
	uint32_t left;	   /* bytes of sound before the next count */
	size_t wanted, n;  /* of the text under way */
	bool in_text;
	char text[ICY_TEXT_MAX];
	char title[ICY_TITLE_MAX]; /* the latest one: a plain line of UTF-8; "" before the first */
	unsigned titles;	   /* counts changes of it */
	size_t title_at;	   /* bytes of sound before the latest change, of its icy_feed */
};

void icy_init(struct icy *i, uint32_t interval);
/* Removes the texts from n bytes of the stream, in place. Returns the bytes of sound that are left
 * at the start of data. */
size_t icy_feed(struct icy *i, uint8_t *data, size_t n);

#endif
