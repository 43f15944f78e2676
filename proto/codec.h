/* Packs and unpacks messages described by tables, as msgpack arrays `[number, fields in order]`.
 *
 * It implements the rules of proto/media.def: fields are only ever appended, a field that an older
 * peer omits takes its default, fields that a newer peer appends are skipped. Allocates nothing;
 * strings and binaries point into the frame. */
#ifndef PROTO_CODEC_H
#define PROTO_CODEC_H

#include "proto/base/cursor.h"

enum codec_kind { CODEC_U8, CODEC_U16, CODEC_U32, CODEC_U64, CODEC_BOOL, CODEC_STR, CODEC_BIN };

struct codec_field {
	const char *name;
	enum codec_kind kind;
	size_t offset;	  /* in the message's struct; CODEC_STR and CODEC_BIN are struct slice */
	size_t cap;	  /* most bytes, of CODEC_STR and CODEC_BIN */
	unsigned since;	  /* minor version */
	uint64_t number;  /* the default, of numbers and bool */
	const char *text; /* the default, of CODEC_STR */
};

struct codec_message {
	uint32_t number;
	const char *name;
	size_t cap;	/* most bytes of the body */
	unsigned since; /* minor version */
	const struct codec_field *fields;
	size_t n_fields;
};

/* Nesting depth accepted inside a skipped field. */
enum { CODEC_DEPTH = 8 };

/* Packs the struct at `from` for a peer of minor version `minor`. Returns EMSGSIZE over cap, the
 * message's cap or a field's cap; EINVAL when the peer does not know this message. */
int codec_pack(const struct codec_message *m, const void *from, unsigned minor, uint8_t *buf,
	       size_t cap, size_t *len);

/* Reads the head of a body: the message's number and the count of further elements. EBADMSG. */
int codec_head(struct rd *r, uint64_t *number, uint32_t *left);
/* Reads the `left` elements of r, to the end of the body, into the struct at `to`, which may be
 * partly written on an error. EBADMSG. */
int codec_fields(const struct codec_message *m, struct rd *r, uint32_t left, void *to);

/* Return a field of the struct at `from`: numbers and booleans; CODEC_STR and CODEC_BIN. */
uint64_t codec_number(const struct codec_field *f, const void *from);
const struct slice *codec_slice(const struct codec_field *f, const void *from);

#endif
