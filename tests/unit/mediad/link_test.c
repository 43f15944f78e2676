/* Which messages a control gets, by the capabilities of its HELLO. */
#include "mediad/link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ipc/env.h"
#include "ipc/peer.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "tests/test.h"

static struct {
	struct env *env;
	struct link *link;
	unsigned members, synced;
} rig;

/* The state of a call with one member. */
static unsigned on_hello(void *arg)
{
	struct media_msg msg = {.type = MEDIA_MEMBER, .member = {.user = 7, .present = true}};

	(void)arg;
	link_send(rig.link, &msg, 0);
	return 1;
}

static void on_link_lost(void *arg)
{
	(void)arg;
}

static int on_frame(struct peer *p, const uint8_t *body, size_t len, void *arg)
{
	struct media_msg msg;

	(void)p, (void)arg;
	if (media_unpack(&msg, MEDIA_SIDE_MEDIAD, body, len))
		return EPROTO;
	rig.members += msg.type == MEDIA_MEMBER;
	if (msg.type == MEDIA_SYNCED) {
		rig.synced++;
		env_stop(rig.env);
	}
	return 0;
}

static void on_peer_lost(struct peer *p, int err, void *arg)
{
	(void)p, (void)err, (void)arg;
	env_stop(rig.env);
}

static void on_deadline(void *arg)
{
	(void)arg;
	env_stop(rig.env);
}

/* Greets the link with these capabilities and runs until it has sent the whole state. */
static int greet(const char *path, uint64_t caps, uint64_t epoch)
{
	struct peer_conf conf = {.msgh = on_frame, .losth = on_peer_lost};
	struct media_msg msg = {
		.type = MEDIA_HELLO,
		.hello = {
			.major = MEDIA_MAJOR, .minor = MEDIA_MINOR, .epoch = epoch, .caps = caps}};
	uint8_t buf[MEDIA_MAX_FRAME];
	struct peer *peer = NULL;
	size_t len;
	int err = peer_connect(&peer, rig.env, path, &conf);

	rig.members = rig.synced = 0;
	if (!err)
		err = media_pack(&msg, MEDIA_MINOR, buf, sizeof buf, &len);
	if (!err) {
		peer_send(peer, PEER_COMMAND, buf, len);
		env_run(rig.env);
	}
	peer_free(peer);
	return err;
}

TEST(link_sends_members_on_request_only)
{
	struct env_conf ec = {.loop = true};
	struct link_conf lc = {.peer_uid = (uid_t)-1,
			       .h = {.helloh = on_hello, .losth = on_link_lost}};
	char dir[] = "/tmp/parley-link-XXXXXX", path[64];
	struct tmr *deadline = NULL;

	CHECK(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/m.sock", dir);
	lc.path = path;
	CHECK_INT(env_alloc(&rig.env, &ec), 0);
	lc.env = rig.env;
	CHECK_INT(link_alloc(&rig.link, &lc), 0);
	CHECK_INT(tmr_alloc(&deadline, rig.env, on_deadline, NULL), 0);
	tmr_start(deadline, 60 * NS_PER_S);
	CHECK_INT(greet(path, 0, 1), 0);
	CHECK(rig.synced == 1 && rig.members == 0);
	CHECK_INT(greet(path, MEDIA_CAP_MEMBERS, 2), 0);
	CHECK(rig.synced == 1 && rig.members == 1);
	tmr_free(deadline);
	link_free(rig.link);
	env_free(rig.env);
	rmdir(dir);
}
