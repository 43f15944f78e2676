/* A call stream without a thread: its steps in simulated time, with recorded answers in place of
 * the kernel. */
#include "mediad/engine/call_stream.h"

#include <arpa/inet.h>
#include <unistd.h>

#include "ipc/env.h"
#include "ipc/env_replay.h"
#include "ipc/journal.h"
#include "mediad/engine/call_stream_internal.h"
#include "proto/base/cursor.h"
#include "proto/base/time.h"
#include "tests/test.h"
#include "tests/unit/mediad/engine/pair.h"

#define TICK (20 * NS_PER_MS)

enum { ANSWERS = 64, TS = 5000 };

static struct rig {
	struct env *env;
	struct call_stream *l;
	uint32_t source;
	uint64_t now;
	uint8_t sizes[ANSWERS][8];
	struct env_answer_rec answers[ANSWERS];
	unsigned discovered, drained;
	void (*step)(void);
} rig;

static void on_step(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	(void)kind, (void)data, (void)len, (void)arg;
	rig.step();
}

static void at(uint64_t now, void (*step)(void))
{
	rig.now = now;
	rig.step = step;
	env_replay_step(rig.env, now, rig.source, 0, NULL, 0);
}

static bool on_up(const struct ev *ev, bool may_drop, void *arg)
{
	struct ev e = *ev;

	(void)may_drop, (void)arg;
	rig.discovered += e.type == EV_DISCOVERED;
	rig.drained += e.type == EV_LANE && e.lane.what == SENDER_DRAINED;
	if (e.type != EV_STREAM_GONE)
		ev_dispose(&e);
	return true;
}

/* The kernel takes what is sent: one discovery request, then frames of silence. */
static bool has_room(void *arg)
{
	(void)arg;
	return true;
}

static int start(void)
{
	struct env_conf conf = {.replaying = true};
	int err;

	memset(&rig, 0, sizeof rig);
	for (unsigned i = 0; i < ANSWERS; i++) {
		struct wr w = wr_of(rig.sizes[i], 8);

		wr_be(&w, 1, 8);
		rig.answers[i] =
			(struct env_answer_rec){.what = JOURNAL_ANSWER, .p = rig.sizes[i], .n = 8};
	}
	err = env_alloc(&rig.env, &conf);
	if (err)
		return err;
	env_replay_answers(rig.env, rig.answers, ANSWERS);
	err = env_source_add(rig.env, &rig.source, on_step, NULL);
	if (!err)
		err = call_stream_alloc(&rig.l, NULL, 64000);
	if (!err)
		call_stream_attach(rig.l, rig.env, 0, 0, on_up, has_room, NULL);
	return err;
}

static void finish(void)
{
	call_stream_free(rig.l);
	env_free(rig.env);
}

static void join(void)
{
	static const uint8_t key[RTPSIZE_KEY];
	struct cmd c = {.type = CMD_LINK, .link = {.fd = -1, .link = 1, .ssrc = 9, .ts = TS}};

	call_stream_run_command(rig.l, &c);
	c = (struct cmd){.type = CMD_KEY};
	if (rtpsize_alloc(&c.key, RTPSIZE_XCHACHA20_POLY1305, key))
		abort();
	call_stream_run_command(rig.l, &c);
	c = (struct cmd){.type = CMD_SPEAKING_SENT};
	call_stream_run_command(rig.l, &c);
}

static void set_mute(bool mute)
{
	struct cmd c = {.type = CMD_SET, .set = {.bitrate = 64000, .mute = mute}};

	call_stream_run_command(rig.l, &c);
}

static void mute(void)
{
	set_mute(true);
}

static void unmute(void)
{
	set_mute(false);
}

static void tick(void)
{
	call_stream_send(rig.l);
	call_stream_work(rig.l);
}

/* RTP time is wall time, also while nothing is sent and while the sender is muted (RFC 3550 5.1).
 */
TEST(call_stream_rtp_time_is_wall_time)
{
	uint64_t begin = 1000 * TICK;

	CHECK_INT(start(), 0);
	at(begin - TICK / 2, join);
	CHECK(rig.l->ts_at == begin && rig.l->ts == TS);
	for (unsigned k = 0; k < 10; k++)
		at(begin + k * TICK, tick);
	/* Five frames of silence, then nothing. */
	CHECK_INT(rig.l->seq, 5);
	CHECK_INT(rig.l->ts_at, begin + 10 * TICK);
	CHECK_INT(rig.l->ts, TS + 10 * RTP_FRAME);
	at(begin + 10 * TICK - NS_PER_MS, mute);
	at(begin + 40 * TICK + NS_PER_MS, unmute);
	CHECK_INT(rig.l->ts_at, begin + 41 * TICK);
	CHECK_INT(rig.l->ts, TS + 41 * RTP_FRAME);
	CHECK_INT(rig.l->seq, 5);
	finish();
}

static void send_only(void)
{
	call_stream_send(rig.l);
}

static void work_only(void)
{
	call_stream_work(rig.l);
}

/* The frame leaves first and its successor is made afterwards. */
TEST(call_stream_sends_before_it_encodes)
{
	uint64_t begin = 1000 * TICK;

	CHECK_INT(start(), 0);
	at(begin - TICK / 2, join);
	at(begin, send_only);
	CHECK_INT(rig.l->seq, 1);
	CHECK(rig.l->work_due);
	at(begin + TICK / 2, work_only);
	CHECK(!rig.l->work_due);
	at(begin + TICK, tick);
	CHECK_INT(rig.l->seq, 2);
	CHECK(!rig.l->work_due);
	finish();
}

/* Once op 5 was taken back there is nothing to wake for, and RTP time goes on all the same. */
TEST(call_stream_has_no_deadlines_while_it_is_silent)
{
	uint64_t begin = 1000 * TICK, now = begin;

	CHECK_INT(start(), 0);
	at(begin - TICK / 2, join);
	rig.l->discovery.state = DISCOVERY_DONE;
	for (unsigned k = 0; k < 100; k++, now += TICK)
		at(now, tick);
	CHECK(call_stream_next(rig.l) > now + 2 * TICK);
	now += 10 * TICK;
	at(now + NS_PER_MS, mute);
	at(now + 2 * NS_PER_MS, unmute);
	CHECK_INT(rig.l->ts_at, now + TICK);
	CHECK_INT(rig.l->ts, TS + 111 * RTP_FRAME);
	finish();
}

/* A steady speaker moves the end of its capture with each packet; a gap wants a tick. */
TEST(call_stream_ticks_for_speakers_that_need_it)
{
	uint8_t opus[40] = {0xf8, 1, 2, 3};
	unsigned soon = 0;

	CHECK_INT(pair_start(), 0);
	pair_clear(&pair.rx, true, UINT64_MAX);
	pair.rx.l->discovery.state = DISCOVERY_DONE;
	pair_run(3000); /* op 5 is taken back */
	for (uint16_t i = 0; i < 50; i++) {
		pair_packet(&pair.rx, i, opus, sizeof opus);
		pair_run(20);
		soon += call_stream_next(pair.rx.l) < pair.now + 50 * NS_PER_MS;
	}
	CHECK(soon <= 10);
	pair_packet(&pair.rx, 51, opus, sizeof opus);
	CHECK(call_stream_next(pair.rx.l) <= pair.now + TICK);
	pair_finish();
}

static void end_lane(void)
{
	struct cmd c = {.type = CMD_LANE_END};

	c.lane.playback = 3;
	call_stream_run_command(rig.l, &c);
}

static void add_lane(void)
{
	struct cmd c = {.type = CMD_LANE_ADD};

	if (lane_alloc(&c.lane.lane, 3, LANE_GAIN_UNITY))
		abort();
	call_stream_run_command(rig.l, &c);
}

/* An empty playback that ends before the call is up does not wait for it. */
TEST(call_stream_tells_drained_without_a_session)
{
	CHECK_INT(start(), 0);
	at(NS_PER_MS, add_lane);
	CHECK_INT(rig.drained, 0);
	at(2 * NS_PER_MS, end_lane);
	CHECK_INT(rig.drained, 1);
	finish();
}

/* When the ring has room only for what must not be lost, progress waits and the ends of playbacks
 * come through. */
TEST(call_stream_ends_of_playbacks_are_never_dropped)
{
	CHECK_INT(pair_start(), 0);
	pair_clear(&pair.tx, true, UINT64_MAX);
	pair.tx.full = true;
	pair_say(500, true);
	pair_run(1000);
	CHECK_INT(pair.tx.drained, 1);
	CHECK_INT(pair.tx.progress, 0);
	pair_say(500, false);
	pair_run(300);
	pair.tx.full = false;
	pair_run(150);
	/* The newest position, which nobody was told before. */
	CHECK(pair.tx.progress >= 1);
	pair_finish();
}

/* The loop thread stands still and the ring is full: the end of a playback comes later, and after
 * its beginning. */
TEST(call_stream_ends_of_playbacks_wait_for_room)
{
	CHECK_INT(pair_start(), 0);
	pair_clear(&pair.tx, true, UINT64_MAX);
	pair_say(200, true);
	pair.tx.stuck = true;
	pair_run(60000);
	CHECK_INT(pair.tx.started, 0);
	CHECK(pair.tx.l->n_owed >= 2);
	pair.tx.stuck = false;
	pair_run(40);
	CHECK(pair.tx.started == 1 && pair.tx.drained == 1);
	CHECK(pair.tx.l->n_owed == 0 && pair.tx.l->stats.lost_events == 0);
	pair_finish();
}

/* The same for the end of speech and of a capture: the speakers' tick waits. */
TEST(call_stream_ends_of_captures_wait_for_room)
{
	CHECK_INT(pair_start(), 0);
	pair_clear(&pair.tx, true, UINT64_MAX);
	pair_clear(&pair.rx, true, UINT64_MAX);
	pair_say(1000, false);
	pair_run(900);
	CHECK(pair.rx.heard > 30 && pair.rx.speaking_on == 1);
	pair.rx.stuck = true;
	pair_run(5000);
	CHECK(pair.rx.ends == 0 && pair.rx.speaking_off == 0);
	CHECK(pair.rx.l->n_owed < 2); /* however many speakers end */
	pair.rx.stuck = false;
	pair_run(40);
	CHECK(pair.rx.ends == 1 && pair.rx.speaking_off == 1);
	CHECK_INT(pair.rx.l->stats.lost_events, 0);
	pair_finish();
}

/* Statistics come by time alone, of every call. While the loop thread is behind they must not fill
 * what is kept for ends. */
TEST(call_stream_statistics_are_dropped_when_there_is_no_room)
{
	CHECK_INT(pair_start(), 0);
	pair_run(2 * CALL_STREAM_STATS_MS);
	CHECK(pair.rx.call_stats >= 1);
	pair.rx.call_stats = 0;
	pair.rx.full = true;
	pair_run(3 * CALL_STREAM_STATS_MS);
	CHECK_INT(pair.rx.call_stats, 0);
	pair.rx.full = false;
	pair_run(2 * CALL_STREAM_STATS_MS);
	CHECK(pair.rx.call_stats >= 1);
	pair_finish();
}

/* When the proven path falls silent, IP discovery runs again; if that gets no reply either, the
 * loop thread is told, once. A reply with the same address is proof enough. */
TEST(call_stream_notices_a_dead_path)
{
	uint8_t answer[DISCOVERY_SIZE] = {0, 2, 0, 70};
	struct call_stream *cs;

	CHECK_INT(pair_start(), 0);
	cs = pair.tx.l;
	cs->discovery.state = DISCOVERY_DONE; /* as after joining */
	pair_run(60000);
	CHECK_INT(pair.tx.udp_failed, 0); /* never proved: silence says nothing */
	path_echo(&cs->path, pair.now);
	pair_run(PATH_SILENT_MS - 100);
	CHECK(!cs->path.asking);
	pair_run(100 + CALL_STREAM_LAZY_MS + SENDER_TICK_MS);
	CHECK(cs->path.asking);
	strcpy(cs->discovery.ip, "10.0.0.1");
	cs->discovery.port = 0x1234;
	for (unsigned i = 0; i < 4; i++)
		answer[4 + i] = (uint8_t)(cs->ssrc >> (24 - 8 * i));
	strcpy((char *)answer + 8, "10.0.0.1");
	answer[72] = 0x12;
	answer[73] = 0x34;
	pair_datagram(&pair.tx, answer, sizeof answer);
	CHECK(!cs->path.asking);
	pair_run(CALL_STREAM_LAZY_MS + SENDER_TICK_MS);
	CHECK(!cs->path.asking);
	CHECK_INT(pair.tx.udp_failed, 0);
	CHECK(cs->stats.received > 0);
	CHECK(!pair.tx.keys_used); /* a reply is under no key */
	/* The reply was proof as well, so the silence after it counts. */
	pair_run(PATH_SILENT_MS + 10000);
	CHECK_INT(pair.tx.udp_failed, 1);
	pair_finish();
	/* Under another address or port the server would not find us. */
	for (unsigned port = 0; port < 2; port++) {
		CHECK_INT(pair_start(), 0);
		cs = pair.tx.l;
		cs->discovery.state = DISCOVERY_DONE;
		path_echo(&cs->path, pair.now);
		strcpy(cs->discovery.ip, port ? "10.0.0.1" : "10.0.0.2");
		cs->discovery.port = port ? 0x1235 : 0x1234;
		pair_run(PATH_SILENT_MS + CALL_STREAM_LAZY_MS + SENDER_TICK_MS);
		pair_datagram(&pair.tx, answer, sizeof answer);
		pair_datagram(&pair.tx, answer, sizeof answer);
		CHECK_INT(pair.tx.udp_failed, 0);
		pair_run(DISCOVERY_JUDGE_MS + SENDER_TICK_MS);
		CHECK_INT(pair.tx.udp_failed, 1);
		CHECK_INT(pair.tx.udp_why, PATH_MOVED);
		pair_finish();
	}
}

/* A block about our stream, from somebody. */
static void report_ours(void)
{
	struct rtcp_block b = {.ssrc = pair.tx.l->ssrc};
	uint8_t p[RTCP_REPORT_MAX];
	size_t n;

	if (rtcp_build(77, NULL, &b, 1, p, sizeof p, &n))
		abort();
	pair_control(&pair.tx, p, n);
}

/* Echoes that go to whatever address we send from do not tell that audio finds us. */
TEST(call_stream_goes_on_with_a_path_that_is_back)
{
	static const uint8_t sound[8] = {0xf8, 1, 2, 3};
	static const struct {
		bool echo, packet, report;
		unsigned failed;
	} cases[] = {
		{true, true, false, 0},	 {false, false, true, 0}, {true, false, true, 0},
		{true, false, false, 1}, {false, true, false, 1}, {false, false, false, 1},
	};

	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct call_stream *cs;

		CHECK_INT(pair_start(), 0);
		cs = pair.tx.l;
		cs->discovery.state = DISCOVERY_DONE;
		path_echo(&cs->path, pair.now);
		pair_run(PATH_SILENT_MS + CALL_STREAM_LAZY_MS + SENDER_TICK_MS);
		CHECK(cs->path.asking);
		for (uint16_t k = 0; k < 60; k++) {
			if (cases[i].echo)
				path_echo(&cs->path, pair.now);
			if (cases[i].packet)
				pair_packet_of(&pair.tx, PAIR_OTHER_SSRC + 1, k, sound,
					       sizeof sound);
			if (cases[i].report)
				report_ours();
			pair_run(100);
		}
		CHECK_INT(pair.tx.udp_failed, cases[i].failed);
		CHECK_INT(cs->path.asking, cases[i].failed);
		/* Another outage is examined, too. */
		pair_run(PATH_SILENT_MS + 6000);
		CHECK_INT(pair.tx.udp_failed, 1);
		pair_finish();
	}
}

static uint8_t ping[KEEPALIVE_SIZE];

static void keep_ping(uint8_t *p, size_t n)
{
	if (udp_classify(p, n) == UDP_KEEPALIVE)
		memcpy(ping, p, sizeof ping);
}

/* Answers to keepalives are under no key, so their numbers begin where no packet of the call tells.
 */
TEST(call_stream_numbers_keepalives_from_a_number_of_its_own)
{
	uint8_t answer[DISCOVERY_SIZE] = {0, 2, 0, 70, [8] = '1', [72] = 0x12, [73] = 0x34};
	struct cmd c = {.type = CMD_LINK, .link = {.ssrc = 5, .ping = 0xabcdef00}};
	int fds[2];

	CHECK_INT(pair_start(), 0);
	CHECK_INT(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
	close(pair.tx.fd);
	pair.tx.fd = fds[0];
	c.link.fd = fds[1];
	pair_cmd(&pair.tx, &c);
	answer[7] = 5;
	pair_datagram(&pair.tx, answer, sizeof answer);
	pair.now += 20 * NS_PER_MS;
	pair_tick(&pair.tx);
	pair_drain(&pair.tx, keep_ping);
	CHECK(ping[4] == 0xab && ping[5] == 0xcd && ping[6] == 0xef && ping[7] == 1);
	CHECK(!pair.tx.l->path.echoed);
	pair_datagram(&pair.tx, ping, sizeof ping);
	CHECK(pair.tx.l->path.echoed);
	pair_finish();
}

static unsigned asked; /* datagrams of IP discovery */

static void count_discovery(uint8_t *p, size_t n)
{
	asked += udp_classify(p, n) == UDP_DISCOVERY;
}

/* The server answers keepalives, and the request for our address if `last` is not 0: the last
 * figure of it. It was 10.0.0.1. */
static void listen_alone(unsigned ms, char last)
{
	struct call_stream *cs = pair.rx.l;
	uint8_t answer[DISCOVERY_SIZE] = {0, 2, 0, 70, [72] = 0x12, [73] = 0x34};

	for (unsigned i = 0; i < 4; i++)
		answer[4 + i] = (uint8_t)(cs->ssrc >> (24 - 8 * i));
	strcpy((char *)answer + 8, "10.0.0.?");
	answer[15] = (uint8_t)last;
	for (; ms; ms -= 100) {
		unsigned before = asked;

		path_echo(&cs->path, pair.now);
		for (unsigned i = 0; i < 20; i++) {
			pair.now += 5 * NS_PER_MS;
			pair_tick(&pair.rx);
		}
		pair_drain(&pair.rx, count_discovery);
		if (last && asked > before)
			pair_datagram(&pair.rx, answer, sizeof answer);
	}
}

static int start_listener(void)
{
	int err = pair_start();

	pair.rx.l->discovery.state = DISCOVERY_DONE; /* as after joining */
	strcpy(pair.rx.l->discovery.ip, "10.0.0.1");
	pair.rx.l->discovery.port = 0x1234;
	pair_clear(&pair.rx, true, UINT64_MAX);
	pair_packet(&pair.rx, 500, OPUS_SILENCE, OPUS_SILENCE_SIZE);
	pair_drain(&pair.rx, count_discovery);
	asked = 0;
	return err;
}

/* The bot listens and does not speak. Its address changes within 15 s: keepalives are echoed to the
 * new one, and the voices of others go to the old one. */
TEST(call_stream_a_listener_asks_for_its_address)
{
	CHECK_INT(start_listener(), 0);
	listen_alone(PATH_DOUBT_MS - 1000, '1');
	CHECK_INT(asked, 0);
	listen_alone(2000, '1');
	CHECK_INT(asked, 1);
	listen_alone(10 * PATH_DOUBT_MS, '1');
	CHECK(asked >= 10 && asked <= 11);
	CHECK_INT(pair.rx.udp_failed, 0);
	/* No answer costs nothing while echoes come. */
	listen_alone(10 * PATH_DOUBT_MS + 30000, 0);
	CHECK_INT(pair.rx.udp_failed, 0);
	/* Whoever is heard knows the address. */
	asked = 0;
	for (uint16_t seq = 501; seq < 520; seq++) {
		pair_packet(&pair.rx, seq, OPUS_SILENCE, OPUS_SILENCE_SIZE);
		listen_alone(PATH_DOUBT_MS / 2, '2');
	}
	CHECK_INT(asked, 0);
	listen_alone(PATH_DOUBT_MS + DISCOVERY_JUDGE_MS, '2');
	CHECK(asked > 2);
	CHECK_INT(pair.rx.udp_failed, 1);
	CHECK_INT(pair.rx.udp_why, PATH_MOVED);
	pair_finish();
}

/* Somebody else answers under the server's address, as often as they like, and the server answers
 * nothing. What its key has sealed still reaches us. */
TEST(call_stream_a_listener_is_not_moved_by_a_forger)
{
	CHECK_INT(start_listener(), 0);
	listen_alone(PATH_DOUBT_MS + 500, '2');
	CHECK(pair.rx.l->path.asking);
	pair_packet(&pair.rx, 501, OPUS_SILENCE, OPUS_SILENCE_SIZE);
	listen_alone(DISCOVERY_JUDGE_MS, '2');
	CHECK_INT(pair.rx.udp_failed, 0);
	CHECK(!pair.rx.l->path.asking);
	/* Silent again, it is asked again. */
	listen_alone(PATH_DOUBT_MS + DISCOVERY_JUDGE_MS, '2');
	CHECK_INT(pair.rx.udp_failed, 1);
	pair_finish();
}

/* The same while a silent path is examined that works again. */
TEST(call_stream_a_path_that_is_back_is_not_moved_by_a_forger)
{
	CHECK_INT(start_listener(), 0);
	path_echo(&pair.rx.l->path, pair.now);
	for (unsigned i = 0; i < (PATH_SILENT_MS + 1000) / 5; i++) {
		pair.now += 5 * NS_PER_MS;
		pair_tick(&pair.rx);
	}
	CHECK(pair.rx.l->path.asking && !pair.rx.l->path.doubting);
	listen_alone(500, '2');
	for (uint16_t seq = 501; seq < 505; seq++) {
		pair_packet(&pair.rx, seq, OPUS_SILENCE, OPUS_SILENCE_SIZE);
		listen_alone(500, '2');
	}
	CHECK(asked > 2);
	CHECK_INT(pair.rx.udp_failed, 0);
	CHECK(!pair.rx.l->path.asking);
	pair_finish();
}

/* Our way out alone is another one: what others say still comes to the old address. A server that
 * has denied moves before would deny this one. */
TEST(call_stream_believes_a_server_that_has_answered_before)
{
	for (unsigned answered = 0; answered < 2; answered++) {
		CHECK_INT(start_listener(), 0);
		pair_cmd(&pair.rx, &(struct cmd){.type = CMD_ASK_ADDRESS});
		listen_alone(10000, answered ? '1' : 0);
		CHECK(!pair.rx.l->path.asking);
		pair_cmd(&pair.rx, &(struct cmd){.type = CMD_ASK_ADDRESS});
		for (uint16_t seq = 501; seq < 510; seq++) {
			pair_packet(&pair.rx, seq, OPUS_SILENCE, OPUS_SILENCE_SIZE);
			listen_alone(500, '2');
		}
		CHECK_INT(pair.rx.udp_failed, answered);
		pair_finish();
	}
}

/* Nobody is there, or nobody is to be heard. */
TEST(call_stream_asks_for_no_address_when_there_is_nobody_to_hear)
{
	struct cmd c = {.type = CMD_SLOT_REMOVE};

	CHECK_INT(start_listener(), 0);
	c.slot.slot = pair.slot;
	pair_cmd(&pair.rx, &c);
	listen_alone(10 * PATH_DOUBT_MS, '1');
	CHECK_INT(asked, 0);
	pair_finish();
	CHECK_INT(start_listener(), 0);
	pair_cmd(&pair.rx, &(struct cmd){.type = CMD_SET, .set = {.bitrate = 64000, .deaf = true}});
	listen_alone(10 * PATH_DOUBT_MS, '1');
	CHECK_INT(asked, 0);
	pair_finish();
}

/* The loop thread asks, because it had to resume. Without an answer all goes on. */
TEST(call_stream_asks_for_its_address_when_told_to)
{
	for (char last = '0'; last <= '2'; last++) {
		bool answers = last != '0';

		CHECK_INT(start_listener(), 0);
		pair_cmd(&pair.rx, &(struct cmd){.type = CMD_ASK_ADDRESS});
		pair_cmd(&pair.rx, &(struct cmd){.type = CMD_ASK_ADDRESS});
		listen_alone(200, answers ? last : 0);
		CHECK_INT(asked, last == '2' ? 2 : 1);
		listen_alone(20000, answers ? last : 0);
		CHECK_INT(pair.rx.udp_failed, last == '2');
		CHECK(!pair.rx.l->path.asking);
		pair_finish();
	}
	/* Before there is a key, nothing is asked beside the first discovery. */
	CHECK_INT(start_listener(), 0);
	pair_cmd(&pair.rx, &(struct cmd){.type = CMD_UNLINK});
	pair_cmd(&pair.rx, &(struct cmd){.type = CMD_ASK_ADDRESS});
	CHECK(!pair.rx.l->path.asking);
	pair_finish();
}

/* Servers report what they received. One that echoes nothing is silent while we are. */
TEST(call_stream_awaits_no_report_while_it_is_silent)
{
	CHECK_INT(pair_start(), 0);
	pair_clear(&pair.tx, true, UINT64_MAX);
	pair.tx.l->discovery.state = DISCOVERY_DONE;
	pair_say(1000, true);
	pair_run(1500);
	report_ours();
	pair_run(60000);
	CHECK_INT(pair.tx.udp_failed, 0);
	CHECK(!pair.tx.l->path.asking);
	for (unsigned said = 0; said <= PATH_SILENT_MS; said += 1000) {
		pair_say(1000, true);
		pair_run(1250);
	}
	pair_run(6000);
	CHECK_INT(pair.tx.udp_failed, 1);
	pair_finish();
}

static int bind_udp(struct sockaddr_in *sa)
{
	socklen_t n = sizeof *sa;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)sa, sizeof *sa) ||
	    getsockname(fd, (struct sockaddr *)sa, &n))
		abort();
	return fd;
}

/* The kernel reports an ICMP message by an error of the next send. That frame goes out all the
 * same. */
TEST(call_stream_loses_no_frame_to_an_icmp_message)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct call_stream *cs;
	uint8_t byte[4] = {0};
	int out, in;

	CHECK_INT(pair_start(), 0);
	cs = pair.tx.l;
	in = bind_udp(&sa);
	out = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	CHECK_INT(connect(out, (struct sockaddr *)&sa, sizeof sa), 0);
	close(in);
	CHECK_INT(send(out, byte, 1, 0), 1); /* the port is unreachable */
	in = bind_udp(&sa);
	close(cs->fd);
	cs->fd = out;
	CHECK(call_stream_send_datagram(cs, byte, sizeof byte));
	CHECK_INT(recv(in, byte, sizeof byte, MSG_DONTWAIT), sizeof byte);
	close(in);
	pair_finish();
}

static uint32_t highest;
static unsigned counted, repeated;

static void note_counter(uint8_t *p, size_t n)
{
	struct rd r = rd_of(p + n - RTPSIZE_COUNTER, RTPSIZE_COUNTER);
	uint32_t counter = (uint32_t)rd_be(&r, RTPSIZE_COUNTER);

	if (udp_classify(p, n) != UDP_RTP)
		return;
	repeated += counted && counter <= highest;
	highest = counter;
	counted++;
}

static void speak_with_key(uint8_t byte)
{
	uint8_t key[RTPSIZE_KEY] = {byte};
	struct cmd c = {.type = CMD_KEY};

	if (rtpsize_alloc(&c.key, RTPSIZE_XCHACHA20_POLY1305, key))
		abort();
	pair_cmd(&pair.tx, &c);
	pair_say(100, true);
	for (unsigned i = 0; i < 60; i++) {
		pair.now += 5 * NS_PER_MS;
		pair_tick(&pair.tx);
		pair_drain(&pair.tx, note_counter);
	}
}

/* A hostile voice server sends the keys A, B, A, and A again in its next session. Packets of one
 * SSRC under one key and one nonce would reveal both to everybody on the path. */
TEST(call_stream_never_seals_with_a_nonce_twice)
{
	counted = repeated = 0;
	CHECK_INT(pair_start(), 0);
	pair_clear(&pair.tx, true, UINT64_MAX);
	speak_with_key(1);
	speak_with_key(2);
	speak_with_key(1);
	CHECK(counted >= 30);
	pair_link(&pair.tx);
	pair_clear(&pair.tx, true, UINT64_MAX);
	speak_with_key(1);
	CHECK(counted >= 40);
	CHECK_INT(repeated, 0);
	pair_finish();
}

/* After 2^32 packets a key has no nonce left. Another session has another key. */
TEST(call_stream_wants_a_session_when_its_nonces_are_used_up)
{
	counted = repeated = 0;
	CHECK_INT(pair_start(), 0);
	pair_clear(&pair.tx, true, UINT64_MAX);
	speak_with_key(1);
	rtpsize_set_counter(pair.tx.l->key, UINT32_MAX - 1);
	counted = 0;
	pair_say(200, true);
	for (unsigned i = 0; i < 60; i++) {
		pair.now += 5 * NS_PER_MS;
		pair_tick(&pair.tx);
		pair_drain(&pair.tx, note_counter);
	}
	CHECK_INT(counted, 2);
	CHECK_INT(highest, UINT32_MAX);
	CHECK_INT(pair.tx.udp_failed, 1);
	CHECK_INT(pair.tx.udp_why, PATH_SPENT);
	counted = 0;
	pair_link(&pair.tx);
	pair_clear(&pair.tx, true, UINT64_MAX);
	speak_with_key(2);
	CHECK(counted >= 5 && highest < 1000);
	CHECK_INT(pair.tx.udp_failed, 1);
	pair_finish();
}

/* Each key has a number of its own, because its event may be read when the next one is in use. */
TEST(call_stream_tells_once_of_each_key_under_which_it_opened_packets)
{
	CHECK_INT(pair_start(), 0);
	pair_open_key(1);
	pair_send_key(1);
	pair_say(400, true);
	pair_run(1000);
	CHECK(pair.rx.keys_used == 1 && pair.rx.used_key == 1);
	pair_link(&pair.rx);
	pair_map(PAIR_SSRC);
	CHECK_INT(pair.rx.keys_used, 1);
	pair_say(400, true);
	pair_run(1000);
	CHECK(pair.rx.keys_used == 2 && pair.rx.used_key == 2);
	pair_finish();
}
