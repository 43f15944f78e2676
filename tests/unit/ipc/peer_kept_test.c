/* A full audio lane: what may be dropped makes room for what may not. */
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
