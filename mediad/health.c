#include "mediad/health.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "ipc/frame.h"
#include "proto/media.h"

enum { WAIT_S = 3, ID = 1, ROOM = 256 };

static int connect_socket(int fd, const char *path)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	struct timeval wait = {.tv_sec = WAIT_S};

	if (strlen(path) >= sizeof sa.sun_path)
		return ENAMETOOLONG;
	strcpy(sa.sun_path, path);
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait) ||
	    connect(fd, (const struct sockaddr *)&sa, sizeof sa))
		return errno;
	return 0;
}

static int send_ping(int fd)
{
	struct media_msg msg = {.type = MEDIA_PING};
	uint8_t buf[ROOM];
	size_t len;
	int err;

	msg.ping.id = ID;
	err = media_pack(&msg, 0, buf + FRAME_HEAD, sizeof buf - FRAME_HEAD, &len);
	if (err)
		return err;
	frame_head(buf, len);
	if (send(fd, buf, FRAME_HEAD + len, MSG_NOSIGNAL) < 0)
		return errno;
	return 0;
}

/* A client that has not sent HELLO gets PONG and nothing else. */
static int await_pong(int fd)
{
	struct media_msg msg;
	uint8_t buf[ROOM];
	const uint8_t *body;
	size_t n = 0, len;
	ssize_t got;
	long cut;

	do {
		got = recv(fd, buf + n, sizeof buf - n, 0);
		if (got < 0)
			return errno == EAGAIN ? ETIMEDOUT : errno;
		n += (size_t)got;
		cut = frame_cut(buf, n, sizeof buf - FRAME_HEAD, &body, &len);
	} while (got && !cut);
	if (cut <= 0 || media_unpack(&msg, MEDIA_SIDE_MEDIAD, body, len) ||
	    msg.type != MEDIA_PONG || msg.pong.id != ID)
		return EBADMSG;
	return 0;
}

int health_ask(const char *path)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return errno;
	err = connect_socket(fd, path);
	if (!err)
		err = send_ping(fd);
	if (!err)
		err = await_pong(fd);
	close(fd);
	return err;
}

int health_print(const char *path)
{
	int err = health_ask(path);

	printf("%s: %s\n", path, err ? strerror(err) : "mediad answers");
	return err ? 1 : 0;
}
