/* Words between a decoder process and its fetcher: a request for bytes at an offset, and an answer
 * that holds at least one byte unless the source has ended or failed.
 *
 * Both are processes of one program on one machine, connected by a SOCK_SEQPACKET pair, one message
 * a packet. Neither trusts the other: lengths are checked against RANGE_MAX. */
#ifndef MEDIAD_DECODER_RANGE_WIRE_H
#define MEDIAD_DECODER_RANGE_WIRE_H

#include <stdint.h>

enum { RANGE_MAX = 32768, RANGE_UNKNOWN = -1 };

struct range_request {
	uint64_t offset;
	uint32_t length; /* 1 … RANGE_MAX; 0 asks for the size alone */
	uint32_t reserved;
};

struct range_answer {
	int64_t size; /* bytes of the source, RANGE_UNKNOWN if it has no known end */
	/* Of a stream in segments: the frame at which its first byte is heard, otherwise
	 * RANGE_UNKNOWN; and the frames that all of it lasts, 0: it is live. */
	int64_t begin, lasts;
	uint32_t length;
	uint8_t reason; /* enum decoder_reason; 0: no failure */
	uint8_t seekable;
	uint8_t data[RANGE_MAX]; /* only `length` bytes are sent */
};

#endif
