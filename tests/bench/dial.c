#include "tests/bench/dial.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "tests/bench/bench.h"

void dial_address(unsigned i, char buf[24])
{
	snprintf(buf, 24, "127.0.%u.%u", 1 + i / DIAL_PER_ADDRESS / 200,
		 1 + i / DIAL_PER_ADDRESS % 200);
}

int dial(uint16_t port, const char *from)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct sockaddr_in me = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
	inet_pton(AF_INET, from, &me.sin_addr);
	if (fd < 0 || bind(fd, (struct sockaddr *)&me, sizeof me) ||
	    connect(fd, (struct sockaddr *)&to, sizeof to))
		bench_die("no connection: %s", strerror(errno));
	return fd;
}

void dial_get(int fd, const char *path, const char *authorization)
{
	char text[256];
	int n = snprintf(text, sizeof text,
			 "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: %s\r\n\r\n", path,
			 authorization);

	if (send(fd, text, (size_t)n, MSG_NOSIGNAL) != n)
		bench_die("a request was not taken");
}
