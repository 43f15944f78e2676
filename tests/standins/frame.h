/* WebSocket frames of a server (RFC 6455), pure: bytes in, bytes out.
 *
 * Written apart from ipc/ws.h, because a stand-in also sends what a library would refuse to send:
 * fragments of any size, text that is no UTF-8, messages of 15 MB, and half of a frame. */
#ifndef STANDINS_FRAME_H
#define STANDINS_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SI_FRAME_HEAD = 10,	 /* bytes of the longest head that a server sends */
	SI_FRAME_MAX = 32 << 20, /* bytes of a frame that is taken */
	SI_FRAME_ACCEPT = 29,	 /* Sec-WebSocket-Accept, with NUL */
};

enum si_opcode {
	SI_MORE = 0,
	SI_TEXT = 1,
	SI_BINARY = 2,
	SI_CLOSE = 8,
	SI_PING = 9,
	SI_PONG = 10,
};

struct si_frame {
	bool fin;
	enum si_opcode opcode;
	size_t head, length; /* bytes of the head, and of the payload behind it */
	uint8_t mask[4];
};

/* The next frame of a client. 0, EAGAIN: more bytes are needed, EPROTO: no client sends this (not
 * masked, reserved bits, an unknown opcode, a long or split control frame), EMSGSIZE. */
int si_frame_parse(struct si_frame *f, const uint8_t *p, size_t n);
/* Takes the mask off a payload, in place. */
void si_frame_unmask(const struct si_frame *f, uint8_t *payload);
/* Writes the head of a frame of n bytes; returns its length. */
size_t si_frame_head(uint8_t head[SI_FRAME_HEAD], enum si_opcode opcode, bool fin, size_t n);
/* The answer to a client's Sec-WebSocket-Key. */
void si_frame_accept(const char *key, char out[SI_FRAME_ACCEPT]);

#endif
