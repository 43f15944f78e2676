#include "ipc/peer.h"
#include "proto/base/time.h"
#include "tests/unit/ipc/loop.h"

#include <event2/event.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum { BIG = 60000, MAX_FRAME = 100000, AUDIO_CAP = 200000 };

/* A server on a real socket; what comes to it is written down. The tests drive the other side. */
static struct {
	struct loop l;
	char dir[32], path[64];
	struct peer_server *server;
	struct peer *srv, *cli;
	char got[256]; /* first byte of each frame the server took */
	unsigned n_got, want;
	size_t got_bytes;
	unsigned lost;
	int lost_err, answer, refuse;
	bool free_on_frame, free_on_loss, lose_on_frame, echo;
	uid_t uid;
	struct peer_conf conf;
} fx;

static int on_frame(struct peer *p, const uint8_t *body, size_t len, void *arg)
{
	(void)arg;
	if (fx.n_got < sizeof fx.got - 1)
		fx.got[fx.n_got] = (char)body[0];
	fx.n_got++;
	fx.got_bytes += len;
	if (fx.echo)
		peer_send(p, PEER_COMMAND, body, len);
	if (fx.lose_on_frame) {
		peer_lose(p, EIO);
		peer_lose(p, EPIPE);
	}
	if (fx.free_on_frame)
		fx.srv = peer_free(p);
	if (fx.want && fx.n_got >= fx.want)
		env_stop(fx.l.env);
	return fx.answer;
}

static void on_lost(struct peer *p, int err, void *arg)
{
	(void)arg;
	fx.lost++;
	fx.lost_err = err;
	if (fx.free_on_loss)
		fx.srv = peer_free(p);
	env_stop(fx.l.env);
}

static int on_accept(struct peer *p, uid_t uid, struct peer_conf *conf, void *arg)
{
	(void)arg;
	fx.uid = uid;
	if (fx.refuse)
		return fx.refuse;
	fx.srv = p;
	*conf = fx.conf;
	env_stop(fx.l.env);
	return 0;
}

/* The client's side: frames it takes are counted. */
static struct {
	unsigned n, lost;
	size_t bytes;
	int err;
} cli;

static int on_cli_frame(struct peer *p, const uint8_t *body, size_t len, void *arg)
{
	(void)p;
	(void)body;
	(void)arg;
	cli.n++;
	cli.bytes += len;
	env_stop(fx.l.env);
	return 0;
}

static void on_cli_lost(struct peer *p, int err, void *arg)
{
	(void)p;
	(void)arg;
	cli.lost++;
	cli.err = err;
	env_stop(fx.l.env);
}

static const struct peer_conf cli_conf = {
	.max_frame = MAX_FRAME, .audio_cap = AUDIO_CAP, .msgh = on_cli_frame, .losth = on_cli_lost};

static bool begin(void)
{
	memset(&fx, 0, sizeof fx);
	memset(&cli, 0, sizeof cli);
	fx.conf = (struct peer_conf){.max_frame = MAX_FRAME, .msgh = on_frame, .losth = on_lost};
	if (!folder_make(fx.dir) || loop_open(&fx.l, NULL))
		return false;
	snprintf(fx.path, sizeof fx.path, "%s/sock", fx.dir);
	return !peer_listen(&fx.server, fx.l.env, fx.path, (uid_t)-1, on_accept, NULL);
}

static bool join_pair(void)
{
	return begin() && !peer_connect(&fx.cli, fx.l.env, fx.path, &cli_conf) && loop_run(&fx.l) &&
	       fx.srv;
}

static void end(void)
{
	fx.cli = peer_free(fx.cli);
	fx.srv = peer_free(fx.srv);
	fx.server = peer_server_free(fx.server);
	loop_close(&fx.l);
	folder_remove(fx.dir);
}

static int raw_connect(void)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(sa.sun_path, fx.path);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&sa, sizeof sa)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int raw_pair(void)
{
	int fd = begin() ? raw_connect() : -1;

	if (fd >= 0 && (!loop_run(&fx.l) || !fx.srv)) {
		close(fd);
		return -1;
	}
	return fd;
}

TEST(peers_talk_both_ways)
{
	CHECK(join_pair());
	CHECK_INT(fx.uid, geteuid());
	fx.echo = true;
	CHECK_INT(peer_send(fx.cli, PEER_COMMAND, "hello", 5), 0);
	CHECK_INT(peer_queued(fx.cli, PEER_COMMAND), 9);
	CHECK(loop_run(&fx.l));
	CHECK_STR(fx.got, "h");
	CHECK_INT(fx.got_bytes, 5);
	CHECK(cli.n == 1 && cli.bytes == 5);
	CHECK_INT(peer_queued(fx.cli, PEER_COMMAND), 0);
	CHECK_INT(peer_send(fx.cli, PEER_COMMAND, "", 0), EMSGSIZE);
	end();
}

TEST(a_stream_in_single_bytes_gives_the_same_frames)
{
	static const uint8_t stream[] = {0, 0,	 0, 2, 'a', 'x', 0,   0,   0,
					 1, 'b', 0, 0, 0,   3,	 'c', 'y', 'z'};
	int fd = raw_pair();

	CHECK(fd >= 0);
	fx.want = 3;
	for (size_t i = 0; i + 1 < sizeof stream; i++) {
		CHECK_INT(write(fd, stream + i, 1), 1);
		loop_run_for(&fx.l, 1 * NS_PER_MS / 2);
	}
	CHECK_STR(fx.got, "ab");
	CHECK_INT(write(fd, stream + sizeof stream - 1, 1), 1);
	CHECK(loop_run(&fx.l));
	CHECK_STR(fx.got, "abc");
	CHECK_INT(fx.got_bytes, 6);
	close(fd);
	end();
}

static void check_fatal_bytes(const void *bytes, size_t n, const char *want)
{
	int fd = raw_pair();
	char c;

	CHECK(fd >= 0);
	CHECK_INT(write(fd, bytes, n), n);
	CHECK(loop_run(&fx.l));
	CHECK_STR(fx.got, want);
	CHECK(fx.lost == 1 && fx.lost_err == EBADMSG);
	CHECK_INT(peer_send(fx.srv, PEER_COMMAND, "x", 1), ENOTCONN);
	CHECK_INT(read(fd, &c, 1), 0); /* closed at once, not when the owner frees */
	close(fd);
	end();
}

TEST(a_length_above_the_cap_closes_the_peer)
{
	check_fatal_bytes("\0\0\0\1a\0\1\x86\xa1", 9, "a"); /* 100001 */
}

TEST(a_length_of_zero_closes_the_peer)
{
	check_fatal_bytes("\0\0\0\1a\0\0\0\1b\0\0\0\0", 14, "ab");
}

TEST(the_end_of_the_stream_is_told_once_as_an_event)
{
	int fd = raw_pair();

	CHECK(fd >= 0);
	fx.free_on_loss = true;
	CHECK_INT(write(fd, "\0\0\0\1a\0\0\0\5b", 10), 10);
	close(fd);
	CHECK(loop_run(&fx.l));
	CHECK_STR(fx.got, "a");
	CHECK(fx.lost == 1 && fx.lost_err == 0 && !fx.srv);
	loop_run_for(&fx.l, 2 * NS_PER_MS);
	CHECK_INT(fx.lost, 1);
	end();
}

/* Writing finds out first, reading has the last words. */
TEST(who_speaks_and_closes_is_heard_to_the_end_also_when_written_to)
{
	int fd = raw_pair();

	CHECK(fd >= 0);
	CHECK_INT(write(fd, "\0\0\0\1a\0\0\0\1b", 10), 10);
	close(fd);
	CHECK_INT(peer_send(fx.srv, PEER_AUDIO, "sound", 5), 0);
	CHECK(loop_run(&fx.l));
	CHECK_STR(fx.got, "ab");
	CHECK(fx.lost == 1 && fx.lost_err == 0);
	CHECK_INT(peer_send(fx.srv, PEER_AUDIO, "sound", 5), ENOTCONN);
	end();
}

TEST(a_handler_that_fails_closes_the_peer_and_takes_no_more)
{
	int fd = raw_pair();

	CHECK(fd >= 0);
	fx.answer = EPROTO;
	CHECK_INT(write(fd, "\0\0\0\1a\0\0\0\1b", 10), 10);
	CHECK(loop_run(&fx.l));
	CHECK_STR(fx.got, "a");
	CHECK(fx.lost == 1 && fx.lost_err == EPROTO);
	close(fd);
	end();
}

TEST(peer_lose_tells_later_and_only_the_first_reason)
{
	int fd = raw_pair();

	CHECK(fd >= 0);
	fx.lose_on_frame = true;
	CHECK_INT(write(fd, "\0\0\0\1a\0\0\0\1b", 10), 10);
	CHECK(loop_run(&fx.l));
	CHECK_STR(fx.got, "a");
	CHECK(fx.lost == 1 && fx.lost_err == EIO);
	close(fd);
	end();
}

TEST(a_peer_may_be_freed_in_its_own_handler)
{
	int fd = raw_pair();

	CHECK(fd >= 0);
	fx.free_on_frame = true;
	CHECK_INT(write(fd, "\0\0\0\1a\0\0\0\1b", 10), 10);
	fx.want = 1;
	CHECK(loop_run(&fx.l));
	loop_run_for(&fx.l, 2 * NS_PER_MS);
	CHECK_STR(fx.got, "a");
	CHECK(!fx.lost);
	close(fd);
	end();
}

TEST(what_is_queued_goes_out_when_a_peer_is_freed)
{
	int fd = raw_pair();
	char buf[16];

	CHECK(fd >= 0);
	CHECK_INT(peer_send(fx.srv, PEER_COMMAND, "bye", 3), 0);
	fx.srv = peer_free(fx.srv);
	CHECK_MEM(buf, read(fd, buf, sizeof buf), "\0\0\0\3bye", 7);
	CHECK_INT(read(fd, buf, sizeof buf), 0);
	close(fd);
	end();
}

/* ---- lanes ---- */
TEST(commands_pass_audio_and_order_is_kept_within_a_lane)
{
	CHECK(join_pair());
	for (int i = 0; i < 3; i++) {
		CHECK_INT(peer_send(fx.cli, PEER_AUDIO, &"123"[i], 1), 0);
		CHECK_INT(peer_send(fx.cli, PEER_COMMAND, &"abc"[i], 1), 0);
	}
	fx.want = 6;
	CHECK(loop_run(&fx.l));
	CHECK_STR(fx.got, "abc123");
	end();
}

/* Fills the socket with audio whose reader sleeps: a frame is then begun and not finished. */
TEST(a_frame_that_was_begun_is_finished_before_a_command)
{
	static uint8_t big[BIG];
	static uint8_t in[4 << 20];
	size_t n = 0, at = 0;
	unsigned sent = 0, audio = 0;
	bool seen = false;
	int fd = raw_pair();

	CHECK(fd >= 0);
	fx.conf.audio_cap = 0;
	memset(big, 'A', sizeof big);
	while (peer_queued(fx.srv, PEER_AUDIO) < 500000) {
		CHECK_INT(peer_send(fx.srv, PEER_AUDIO, big, sizeof big), 0);
		sent++;
		loop_run_for(&fx.l, NS_PER_MS / 2);
	}
	CHECK_INT(peer_send(fx.srv, PEER_COMMAND, "C", 1), 0);
	while (n < sent * (size_t)(BIG + 4) + 5) {
		ssize_t k = recv(fd, in + n, sizeof in - n, MSG_DONTWAIT);

		if (k > 0)
			n += (size_t)k;
		else
			loop_run_for(&fx.l, NS_PER_MS / 2);
		CHECK(!fx.l.late && k != 0);
	}
	while (at < n) {
		size_t len = (size_t)in[at + 1] << 16 | (size_t)in[at + 2] << 8 | in[at + 3];

		CHECK(len == BIG || len == 1);
		if (len == 1) {
			CHECK_INT(in[at + 4], 'C');
			CHECK(audio < sent); /* it did pass what waited */
			seen = true;
		} else {
			for (size_t i = 0; i < len; i++)
				CHECK(in[at + 4 + i] == 'A');
			audio++;
		}
		at += 4 + len;
	}
	CHECK(seen && audio == sent);
	close(fd);
	end();
}

TEST(a_full_audio_lane_says_so_and_a_full_command_lane_loses_the_peer)
{
	static uint8_t big[BIG];
	struct peer_conf conf = cli_conf;

	CHECK(begin());
	conf.command_cap = 2 * BIG;
	CHECK_INT(peer_connect(&fx.cli, fx.l.env, fx.path, &conf), 0);
	for (int i = 0; i < 3; i++)
		CHECK_INT(peer_send(fx.cli, PEER_AUDIO, big, BIG), 0);
	CHECK_INT(peer_send(fx.cli, PEER_AUDIO, big, BIG), ENOBUFS);
	CHECK_INT(peer_send(fx.cli, PEER_AUDIO, big, MAX_FRAME + 1), EMSGSIZE);
	CHECK_INT(peer_send(fx.cli, PEER_COMMAND, big, BIG), 0);
	CHECK_INT(peer_send(fx.cli, PEER_COMMAND, big, BIG), EPIPE);
	CHECK_INT(cli.lost, 0); /* told later */
	CHECK_INT(peer_send(fx.cli, PEER_COMMAND, "x", 1), ENOTCONN);
	while (!cli.lost)
		CHECK(loop_run(&fx.l));
	CHECK_INT(cli.err, EPIPE);
	end();
}

static int put(uint32_t flow, char c, unsigned *dropped)
{
	static uint8_t frame[BIG - 4]; /* three of them reach the cap, nearly */

	frame[0] = (uint8_t)c;
	return peer_send_droppable(fx.cli, flow, frame, sizeof frame, sizeof frame, dropped);
}

TEST(the_oldest_droppable_frames_of_the_flow_make_room)
{
	unsigned dropped;

	CHECK(join_pair());
	fx.want = 4;
	CHECK_INT(put(1, 'a', &dropped), 0);
	CHECK_INT(put(2, 'b', &dropped), 0);
	CHECK_INT(put(1, 'c', &dropped), 0);
	CHECK_INT(dropped, 0);
	CHECK_INT(put(1, 'd', &dropped), 0);
	CHECK_INT(dropped, 1);
	/* A flow that has nothing queued takes from the one that has most. */
	CHECK_INT(put(3, 'e', &dropped), 0);
	CHECK_INT(dropped, 1);
	CHECK_INT(peer_send(fx.cli, PEER_COMMAND, "X", 1), 0);
	CHECK(loop_run(&fx.l));
	CHECK_STR(fx.got, "Xbde");
	end();
}

static char told[8];

static void on_drop(const uint8_t *body, size_t len, void *arg)
{
	(void)arg;
	if (len == BIG - 4)
		strncat(told, (const char *)body, 1);
}

/* Whose frames they were: those of another flow than the one that came, too. */
TEST(each_dropped_frame_is_told)
{
	static const uint8_t kept[100];
	struct peer_conf conf = cli_conf;
	unsigned dropped;

	CHECK(begin());
	conf.droph = on_drop;
	conf.audio_cap = 3 * (BIG + 4);
	CHECK_INT(peer_connect(&fx.cli, fx.l.env, fx.path, &conf), 0);
	told[0] = '\0';
	for (const char *c = "abc"; *c; c++)
		CHECK_INT(put(1 + (uint32_t)(*c == 'b'), *c, &dropped), 0);
	CHECK_STR(told, "");
	CHECK_INT(put(1, 'd', &dropped), 0);
	CHECK_INT(put(3, 'e', &dropped), 0);
	CHECK_INT(peer_send_kept(fx.cli, kept, sizeof kept, &dropped), 0);
	CHECK_STR(told, "acb");
	end();
}

TEST(what_may_not_be_dropped_stays)
{
	static uint8_t big[BIG];
	unsigned dropped;

	CHECK(join_pair());
	for (int i = 0; i < 3; i++)
		CHECK_INT(peer_send(fx.cli, PEER_AUDIO, big, BIG), 0);
	CHECK_INT(put(1, 'a', &dropped), ENOBUFS);
	CHECK_INT(dropped, 0);
	CHECK_INT(peer_queued(fx.cli, PEER_AUDIO), 3 * (BIG + 4));
	end();
}

TEST(a_frame_that_never_fits_drops_nothing)
{
	static uint8_t big[MAX_FRAME];
	struct peer_conf conf = cli_conf;
	unsigned dropped;

	CHECK(begin());
	conf.audio_cap = 1000;
	CHECK_INT(peer_connect(&fx.cli, fx.l.env, fx.path, &conf), 0);
	CHECK_INT(peer_send_droppable(fx.cli, 1, big, 500, 500, &dropped), 0);
	CHECK_INT(peer_send_droppable(fx.cli, 1, big, 5000, 5000, &dropped), ENOBUFS);
	CHECK_INT(dropped, 0);
	CHECK_INT(peer_queued(fx.cli, PEER_AUDIO), 504);
	end();
}

/* ---- the socket file ---- */
TEST(a_refused_peer_is_closed)
{
	ssize_t n = -1;
	int fd;
	char c;

	CHECK(begin());
	fx.refuse = EACCES;
	fd = raw_connect();
	CHECK(fd >= 0);
	LOOP_UNTIL(&fx.l, (n = recv(fd, &c, 1, MSG_DONTWAIT)) >= 0);
	CHECK_INT(n, 0);
	close(fd);
	end();
}

static void note_time(void *arg)
{
	*(bool *)arg = true;
}

/* Counts the turns of the loop in so long, up to a thousand. */
static unsigned count_turns(uint64_t ns)
{
	struct tmr *t;
	bool over = false;
	unsigned n = 0;

	if (tmr_alloc(&t, fx.l.env, note_time, &over))
		return 0;
	tmr_start(t, ns);
	while (!over && n < 1000 && !event_base_loop(env_base(fx.l.env), EVLOOP_ONCE))
		n++;
	tmr_free(t);
	return n;
}

TEST(a_listener_without_descriptors_rests)
{
	struct rlimit before, none;
	int fd, lowest;

	CHECK(begin());
	fd = raw_connect();
	CHECK(fd >= 0);
	CHECK(!getrlimit(RLIMIT_NOFILE, &before));
	lowest = dup(fd);
	CHECK(lowest >= 0 && !close(lowest));
	none = (struct rlimit){.rlim_cur = (rlim_t)lowest, .rlim_max = before.rlim_max};
	CHECK(!setrlimit(RLIMIT_NOFILE, &none));
	CHECK(count_turns(20 * NS_PER_MS) < 100);
	CHECK(!fx.srv);
	CHECK(!setrlimit(RLIMIT_NOFILE, &before));
	CHECK(loop_run(&fx.l));
	CHECK(fx.srv);
	close(fd);
	end();
}

TEST(a_stale_socket_is_replaced_and_a_live_one_is_not)
{
	struct peer_server *second = NULL;
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	struct stat st;
	int fd;

	CHECK(begin());
	CHECK_INT(peer_listen(&second, fx.l.env, fx.path, (uid_t)-1, on_accept, NULL), EADDRINUSE);
	CHECK(!second);
	CHECK_INT(access(fx.path, F_OK), 0); /* the failure must not remove the live one's file */
	CHECK(!stat(fx.path, &st) && (st.st_mode & 0777) == 0660);
	fx.server = peer_server_free(fx.server);
	CHECK(access(fx.path, F_OK) != 0);
	CHECK_INT(peer_connect(&fx.cli, fx.l.env, fx.path, &cli_conf), ENOENT);
	/* What a killed process leaves behind. */
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	strcpy(sa.sun_path, fx.path);
	CHECK(fd >= 0 && !bind(fd, (struct sockaddr *)&sa, sizeof sa));
	close(fd);
	CHECK_INT(peer_connect(&fx.cli, fx.l.env, fx.path, &cli_conf), ECONNREFUSED);
	CHECK_INT(peer_listen(&fx.server, fx.l.env, fx.path, (uid_t)-1, on_accept, NULL), 0);
	CHECK_INT(peer_connect(&fx.cli, fx.l.env, fx.path, &cli_conf), 0);
	CHECK(loop_run(&fx.l));
	CHECK(fx.srv);
	end();
}

TEST(a_file_that_is_no_socket_is_left_alone)
{
	struct peer_server *s = NULL;
	char path[64];
	FILE *f;

	CHECK(begin());
	snprintf(path, sizeof path, "%s/precious", fx.dir);
	f = fopen(path, "w");
	CHECK(f && fputs("data", f) >= 0);
	fclose(f);
	CHECK(peer_listen(&s, fx.l.env, path, (uid_t)-1, on_accept, NULL) != 0);
	CHECK_INT(access(path, F_OK), 0);
	CHECK_INT(
		peer_listen(&s, fx.l.env,
			    "/tmp/0123456789012345678901234567890123456789012345678901234567890123"
			    "4567890123456789012345678901234567890123456789",
			    (uid_t)-1, on_accept, NULL),
		ENAMETOOLONG);
	end();
}

TEST_OOM(peers_survive_every_failed_allocation)
{
	struct env_conf ec = {.loop = true};
	int err;

	memset(&fx, 0, sizeof fx);
	fx.conf = (struct peer_conf){.msgh = on_frame, .losth = on_lost};
	CHECK(folder_make(fx.dir));
	snprintf(fx.path, sizeof fx.path, "%s/sock", fx.dir);
	err = env_alloc(&fx.l.env, &ec);
	if (!err)
		err = tmr_alloc(&fx.l.deadline, fx.l.env, loop_late, &fx.l);
	if (!err)
		err = peer_listen(&fx.server, fx.l.env, fx.path, (uid_t)-1, on_accept, NULL);
	if (!err)
		err = peer_connect(&fx.cli, fx.l.env, fx.path, &cli_conf);
	if (!err)
		err = peer_send(fx.cli, PEER_COMMAND, "x", 1);
	if (!err)
		loop_run_for(&fx.l, 1 * NS_PER_MS);
	if (fx.lost && fx.srv)
		err = ENOMEM;
	end();
	CHECK_OOM(err, (void)0);
}
