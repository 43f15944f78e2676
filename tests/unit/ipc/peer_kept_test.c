/* Frames that must not be lost: droppable ones make room for them in a full audio lane, and where
 * that does not help, the peer is lost instead. */
#include "ipc/peer.h"
#include "tests/unit/ipc/loop.h"

enum { FRAME = 1000, CAP = 20 * (FRAME + 4) };

static struct {
	struct loop l;
	struct peer_server *server;
	struct peer *srv, *cli;
	unsigned got;
	uint8_t last;
	int lost;
} fx;

static int on_frame(struct peer *p, const uint8_t *body, size_t len, void *arg)
{
	(void)p, (void)len, (void)arg;
	fx.got++;
	fx.last = body[0];
	if (fx.last == 'E')
		env_stop(fx.l.env);
	return 0;
}

static void on_lost(struct peer *p, int err, void *arg)
{
	(void)p, (void)arg;
	fx.lost = err;
	env_stop(fx.l.env);
}

static int on_accept(struct peer *p, uid_t uid, struct peer_conf *conf, void *arg)
{
	(void)uid, (void)arg;
	fx.srv = p;
	*conf = (struct peer_conf){.msgh = on_frame, .losth = on_lost};
	return 0;
}

static int start(char dir[32])
{
	struct peer_conf conf = {.audio_cap = CAP, .msgh = on_frame, .losth = on_lost};
	char path[64];
	int err;

	memset(&fx, 0, sizeof fx);
	if (!folder_make(dir))
		return errno;
	snprintf(path, sizeof path, "%s/s", dir);
	err = loop_open(&fx.l, NULL);
	if (!err)
		err = peer_listen(&fx.server, fx.l.env, path, (uid_t)-1, on_accept, NULL);
	return err ? err : peer_connect(&fx.cli, fx.l.env, path, &conf);
}

static void finish(const char *dir)
{
	peer_free(fx.cli);
	peer_free(fx.srv);
	peer_server_free(fx.server);
	loop_close(&fx.l);
	folder_remove(dir);
}

TEST(peer_makes_room_for_an_end)
{
	uint8_t body[FRAME] = {'D'};
	unsigned dropped;
	char dir[32];

	CHECK_INT(start(dir), 0);
	for (unsigned i = 0; i < 20; i++)
		CHECK_INT(peer_send_droppable(fx.cli, 1 + i % 3, body, FRAME, FRAME, &dropped), 0);
	body[0] = 'E';
	CHECK_INT(peer_send(fx.cli, PEER_AUDIO, body, 40), ENOBUFS);
	CHECK_INT(peer_send_kept(fx.cli, body, 40, &dropped), 0);
	CHECK_INT(dropped, 1);
	CHECK(loop_run(&fx.l));
	CHECK_INT(fx.got, 20);
	CHECK_INT(fx.last, 'E');
	finish(dir);
}

/* More of what must not get lost than the lane holds: the peer is. */
TEST(peer_is_lost_before_an_end_is)
{
	uint8_t body[FRAME] = {'K'};
	unsigned dropped;
	char dir[32];

	CHECK_INT(start(dir), 0);
	for (unsigned i = 0; i < 20; i++)
		CHECK_INT(peer_send_kept(fx.cli, body, FRAME, &dropped), 0);
	CHECK_INT(peer_send_kept(fx.cli, body, 1, &dropped), EPIPE);
	CHECK(loop_run(&fx.l));
	CHECK_INT(fx.lost, EPIPE);
	finish(dir);
}

/* A command or an end that finds no memory: the other side would wait for it for ever, so both
 * begin anew. */
static void lose_for_memory(int (*send)(const uint8_t *body))
{
	uint8_t body[FRAME] = {'C'};
	char dir[32];
	int err;

	CHECK_INT(start(dir), 0);
	test_no_memory(true);
	err = send(body);
	test_no_memory(false);
	CHECK_INT(err, ENOMEM);
	CHECK_INT(send(body), ENOTCONN);
	CHECK(loop_run(&fx.l));
	CHECK_INT(fx.lost, ENOMEM);
	finish(dir);
}

static int send_command(const uint8_t *body)
{
	return peer_send(fx.cli, PEER_COMMAND, body, FRAME);
}

static int send_end(const uint8_t *body)
{
	unsigned dropped;

	return peer_send_kept(fx.cli, body, FRAME, &dropped);
}

TEST(peer_is_lost_with_a_command_that_finds_no_memory)
{
	lose_for_memory(send_command);
}

TEST(peer_is_lost_with_an_end_that_finds_no_memory)
{
	lose_for_memory(send_end);
}

/* The sender of speech keeps it and tries again. */
TEST(peer_stays_when_speech_finds_no_memory)
{
	uint8_t body[FRAME] = {'E'};
	char dir[32];

	CHECK_INT(start(dir), 0);
	test_no_memory(true);
	CHECK_INT(peer_send(fx.cli, PEER_AUDIO, body, FRAME), ENOMEM);
	test_no_memory(false);
	CHECK_INT(peer_send(fx.cli, PEER_AUDIO, body, FRAME), 0);
	CHECK(loop_run(&fx.l));
	CHECK_INT(fx.got, 1);
	finish(dir);
}
