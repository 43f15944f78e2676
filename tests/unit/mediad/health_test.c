#include "mediad/health.h"

#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "ipc/frame.h"
#include "proto/media.h"
#include "tests/test.h"

/* Somebody who listens, takes one question and says `answer` in two pieces. */
struct listener {
	char dir[64], path[96];
	int fd;
	uint8_t answer[64], asked[64];
	size_t n, n_asked;
	pthread_t thread;
};

static void *answer_once(void *arg)
{
	struct listener *l = arg;
	int fd = accept(l->fd, NULL, NULL);
	ssize_t got = recv(fd, l->asked, sizeof l->asked, 0);

	l->n_asked = got > 0 ? (size_t)got : 0;
	if (l->n)
		send(fd, l->answer, 1, MSG_NOSIGNAL);
	if (l->n > 1)
		send(fd, l->answer + 1, l->n - 1, MSG_NOSIGNAL);
	close(fd);
	return NULL;
}

static int begin(struct listener *l)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};

	strcpy(l->dir, "/tmp/parley-health-XXXXXX");
	if (!mkdtemp(l->dir))
		return errno;
	snprintf(l->path, sizeof l->path, "%s/m.sock", l->dir);
	strcpy(sa.sun_path, l->path);
	l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (l->fd < 0 || bind(l->fd, (struct sockaddr *)&sa, sizeof sa) || listen(l->fd, 1))
		return errno;
	return pthread_create(&l->thread, NULL, answer_once, l);
}

static void end(struct listener *l)
{
	pthread_join(l->thread, NULL);
	close(l->fd);
	unlink(l->path);
	rmdir(l->dir);
}

static void answer_with(struct listener *l, const struct media_msg *msg)
{
	size_t len = 0;

	media_pack(msg, 0, l->answer + FRAME_HEAD, sizeof l->answer - FRAME_HEAD, &len);
	frame_head(l->answer, len);
	l->n = FRAME_HEAD + len;
}

TEST(health_is_good_when_a_pong_comes)
{
	struct media_msg pong = {.type = MEDIA_PONG}, asked;
	struct listener l = {0};
	const uint8_t *body;
	size_t len;

	pong.pong.id = 1;
	answer_with(&l, &pong);
	CHECK_INT(begin(&l), 0);
	CHECK_INT(health_ask(l.path), 0);
	end(&l);
	CHECK(frame_cut(l.asked, l.n_asked, sizeof l.asked, &body, &len) > 0);
	CHECK_INT(media_unpack(&asked, MEDIA_SIDE_CONTROL, body, len), 0);
	CHECK_INT(asked.type, MEDIA_PING);
}

TEST(health_is_bad_when_anything_else_comes)
{
	struct media_msg other = {.type = MEDIA_PONG};

	other.pong.id = 2; /* of another question */
	for (unsigned i = 0; i < 4; i++) {
		struct listener l = {0};

		if (i < 2)
			answer_with(&l, &other);
		if (i == 1)
			l.n -= 1; /* and then the end */
		if (i == 2) {
			memset(l.answer, 0xff, sizeof l.answer);
			l.n = sizeof l.answer;
		}
		CHECK_INT(begin(&l), 0);
		CHECK_INT(health_ask(l.path), EBADMSG);
		end(&l);
	}
}

TEST(health_is_bad_when_nobody_listens)
{
	char path[200];

	CHECK_INT(health_ask("/nowhere/m.sock"), ENOENT);
	memset(path, 'x', sizeof path - 1);
	path[sizeof path - 1] = '\0';
	CHECK_INT(health_ask(path), ENAMETOOLONG);
}
