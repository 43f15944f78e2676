#include "mediad/engine/overflow.h"

#include <string.h>

void overflow_watch(int fd)
{
	int on = 1;

	setsockopt(fd, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof on);
}

void overflow_prepare(struct msghdr *h, union overflow *o)
{
	h->msg_control = o->room;
	h->msg_controllen = sizeof o->room;
}

uint32_t overflow_read(struct msghdr *h, uint32_t before)
{
	uint32_t count = before;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_RXQ_OVFL &&
		    c->cmsg_len >= CMSG_LEN(sizeof count))
			memcpy(&count, CMSG_DATA(c), sizeof count);
	return count;
}
