/* Counts the datagrams that the kernel dropped because the receive buffer of a socket was full.
 *
 * The kernel counts them for each socket and tells the count with the next datagram (SO_RXQ_OVFL in
 * socket(7)), so that it costs no system call. Plain memory of its owner. */
#ifndef MEDIAD_ENGINE_OVERFLOW_H
#define MEDIAD_ENGINE_OVERFLOW_H

#include <stdint.h>
#include <sys/socket.h>

/* Room for the count beside a datagram that is received. */
union overflow {
	struct cmsghdr align;
	uint8_t room[CMSG_SPACE(sizeof(uint32_t))];
};

/* Asks the kernel to tell the count. An error is ignored: nothing is counted then. */
void overflow_watch(int fd);
/* Lends the room to a message that is about to be received. */
void overflow_prepare(struct msghdr *h, union overflow *o);
/* Returns the count that came with a received message: of the socket since it was made, wrapping at
 * 32 bits; `before` if none came, as before the first drop. */
uint32_t overflow_read(struct msghdr *h, uint32_t before);

#endif
