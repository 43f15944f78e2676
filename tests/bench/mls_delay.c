/* The delay of an audio thread while the worker processes welcomes in sequence:
 * mls_audio_delay_us.
 *
 * Reads one line from standard input, `CHANNEL SENDER_HEX WELCOME_HEX`
 * (tests/interop/bench/davey.mjs makes it for the key package of davey_peer). A line speaks for two
 * seconds to a socket of ours; the kernel's receive time of each datagram, less its place on the 20
 * ms grid, less the earliest, is the delay. Turns with and without welcomes. */
#include "ipc/env.h"
#include "ipc/tmr.h"
#include "mediad/dave/job.h"
#include "mediad/engine/engine.h"
#include "mediad/key_worker.h"
#include "proto/base/time.h"
#include "proto/rtp.h"
#include "tests/bench/bench.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { USER = 4242, SPEECH = 100, RUNS = 10, LINE = 1 << 20, MAX_SAMPLES = SPEECH * RUNS };

static struct rig {
	struct env *env;
	struct engine *engine;
	struct worker *worker;
	struct call_stream *stream;
	struct tmr *next;
	int server;
	uint64_t channel;
	uint8_t *sender, *welcome;
	size_t n_sender, n_welcome;
	unsigned run, jobs;
	bool busy; /* this run has welcomes */
	bool over;
	pthread_mutex_t lock; /* guards the notes of the server's thread */
	double late[2][MAX_SAMPLES];
	unsigned n[2];
	uint64_t at[SPEECH];
	uint16_t seq[SPEECH];
	unsigned got;
} rig;

/* ---- the far end ---- */

static uint64_t stamp(struct msghdr *m)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		struct timespec ts;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SO_TIMESTAMPNS)
			continue;
		memcpy(&ts, CMSG_DATA(c), sizeof ts);
		return ns_of_timespec(&ts);
	}
	return 0;
}

static void *run_far_end(void *arg)
{
	struct rig *r = arg;

	for (;;) {
		uint8_t p[UDP_MAX_PACKET], control[128];
		struct iovec iov = {.iov_base = p, .iov_len = sizeof p};
		struct msghdr m = {.msg_iov = &iov,
				   .msg_iovlen = 1,
				   .msg_control = control,
				   .msg_controllen = sizeof control};
		ssize_t n = recvmsg(r->server, &m, 0);
		struct rtp_header h;

		if (n <= 0)
			return NULL;
		/* Frames of sound, not silence, discovery or keepalive. */
		if (udp_classify(p, (size_t)n) != UDP_RTP || rtp_parse(&h, p, (size_t)n) || n < 60)
			continue;
		pthread_mutex_lock(&r->lock);
		if (r->got < SPEECH) {
			r->at[r->got] = stamp(&m);
			r->seq[r->got++] = h.seq;
		}
		pthread_mutex_unlock(&r->lock);
	}
}

static void note_run(void)
{
	int64_t min = INT64_MAX;

	pthread_mutex_lock(&rig.lock);
	for (unsigned i = 0; i < rig.got; i++) {
		int64_t off = (int64_t)rig.at[i] -
			      (int64_t)(uint16_t)(rig.seq[i] - rig.seq[0]) * 20000000;

		if (off < min)
			min = off;
	}
	for (unsigned i = 0; i < rig.got; i++) {
		int64_t off = (int64_t)rig.at[i] -
			      (int64_t)(uint16_t)(rig.seq[i] - rig.seq[0]) * 20000000;

		rig.late[rig.busy][rig.n[rig.busy]++] = (double)(off - min) / 1000;
	}
	if (rig.got < SPEECH / 2)
		bench_die("only %u frames came", rig.got);
	rig.got = 0;
	pthread_mutex_unlock(&rig.lock);
}

/* ---- the worker's load ---- */

static struct dave_job *new_job(enum dave_job_type type, struct dave_mls_state *room,
				const uint8_t *in, size_t n)
{
	struct dave_job *j;

	BENCH_OK(dave_job_alloc(&j, type));
	j->mls_state = room;
	j->channel = rig.channel;
	memset(j->seed, 7, sizeof j->seed);
	if (n) {
		j->in.p = malloc(n);
		if (!j->in.p)
			bench_die("out of memory");
		memcpy(j->in.p, in, n);
		j->in.n = n;
	}
	return j;
}

/* A mls_state is made ready on the worker, too: SENDER, RESET, then the WELCOME that counts. */
static void give(enum dave_job_type type, struct dave_mls_state *room)
{
	const bool sender = type == DAVE_JOB_EXTERNAL_SENDER, welcome = type == DAVE_JOB_WELCOME;

	BENCH_OK(worker_put(rig.worker,
			    new_job(type, room, sender ? rig.sender : rig.welcome,
				    sender    ? rig.n_sender
				    : welcome ? rig.n_welcome
					      : 0),
			    1));
}

static void give_welcome(void)
{
	struct dave_mls_state *room;

	BENCH_OK(dave_mls_state_alloc(&room, USER));
	give(DAVE_JOB_EXTERNAL_SENDER, room);
}

static void on_done(void *job, uint64_t owner, const uint8_t *answer, size_t len, void *arg)
{
	struct dave_job *j = job;
	struct dave_mls_state *room = j->mls_state;
	enum dave_job_type type = j->type;

	(void)owner, (void)answer, (void)len, (void)arg;
	if (j->verdict != DAVE_DONE)
		bench_die("job %d failed: verdict %d, error %d", j->type, j->verdict, j->err);
	if (type != DAVE_JOB_WELCOME)
		j->mls_state = NULL;
	dave_job_free(j);
	if (type != DAVE_JOB_WELCOME) {
		give(type == DAVE_JOB_EXTERNAL_SENDER ? DAVE_JOB_RESET : DAVE_JOB_WELCOME, room);
		return;
	}
	rig.jobs++;
	if (rig.busy && !rig.over)
		give_welcome();
}

/* ---- the near end ---- */

static void send_cmd(struct cmd c)
{
	c.stream = rig.stream;
	BENCH_OK(engine_send(rig.engine, rig.stream, &c));
}

static void begin_run(void)
{
	int16_t frame_pcm[ENTRY_PCM];
	struct cmd add = {.type = CMD_LANE_ADD}, pcm = {.type = CMD_LANE_PCM};

	rig.busy = rig.run % 2;
	BENCH_OK(lane_alloc(&add.lane.lane, rig.run + 1, LANE_GAIN_UNITY));
	send_cmd(add);
	pcm.lane.playback = rig.run + 1;
	pcm.lane.n = LANE_FRAME;
	pcm.lane.pcm = frame_pcm;
	for (unsigned f = 0; f < SPEECH; f++) {
		for (unsigned i = 0; i < LANE_FRAME; i++)
			frame_pcm[i] = (int16_t)((i * 53 % 300) * 40 - 6000);
		send_cmd(pcm);
	}
	send_cmd((struct cmd){.type = CMD_LANE_END, .lane = {.playback = rig.run + 1}});
	if (rig.busy)
		give_welcome();
}

static void on_next(void *arg)
{
	(void)arg;
	note_run();
	if (++rig.run == 2 * RUNS) {
		rig.over = true;
		env_stop(rig.env);
		return;
	}
	begin_run();
}

static void on_ev(const struct ev *ev, void *owner)
{
	(void)owner;
	if (ev->type == EV_WANT_SPEAKING)
		send_cmd((struct cmd){.type = CMD_SPEAKING_SENT});
	else if (ev->type == EV_LANE && ev->lane.what == SENDER_DRAINED)
		tmr_start(rig.next, 300 * NS_PER_MS);
	else if (ev->type == EV_LANE && ev->lane.what == SENDER_STOPPED)
		bench_die("the playback stopped");
}

static int open_sockets(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof a;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0), on = 1;

	rig.server = socket(AF_INET, SOCK_DGRAM, 0);
	if (rig.server < 0 || fd < 0 || bind(rig.server, (struct sockaddr *)&a, sizeof a) ||
	    getsockname(rig.server, (struct sockaddr *)&a, &n) ||
	    connect(fd, (struct sockaddr *)&a, sizeof a) ||
	    setsockopt(rig.server, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on))
		bench_die("sockets");
	return fd;
}

static void read_input(void)
{
	char *line = malloc(LINE), *sender, *welcome, *save;

	rig.sender = malloc(LINE / 2);
	rig.welcome = malloc(LINE / 2);
	if (!line || !rig.sender || !rig.welcome || !fgets(line, LINE, stdin))
		bench_die("one line is wanted: CHANNEL SENDER_HEX WELCOME_HEX");
	line[strcspn(line, "\n")] = '\0';
	rig.channel = strtoull(strtok_r(line, " ", &save), NULL, 10);
	sender = strtok_r(NULL, " ", &save);
	welcome = strtok_r(NULL, " ", &save);
	if (!sender || !welcome ||
	    sodium_hex2bin(rig.sender, LINE / 2, sender, strlen(sender), NULL, &rig.n_sender,
			   NULL) ||
	    sodium_hex2bin(rig.welcome, LINE / 2, welcome, strlen(welcome), NULL, &rig.n_welcome,
			   NULL))
		bench_die("bad hex");
	free(line);
}

int main(void)
{
	static const uint8_t key[RTPSIZE_KEY] = "an ordinary key of 32 bytes 1234";
	struct env_conf ec = {.loop = true};
	struct engine_conf conf = {.threads = 1, .evh = on_ev};
	struct cmd set_key = {.type = CMD_KEY};
	pthread_t far_thread;

	if (sodium_init() < 0)
		bench_die("libsodium does not start");
	read_input();
	pthread_mutex_init(&rig.lock, NULL);
	BENCH_OK(env_alloc(&rig.env, &ec));
	conf.env = rig.env;
	BENCH_OK(engine_alloc(&rig.engine, &conf));
	BENCH_OK(key_worker_alloc(&rig.worker, rig.env, on_done, NULL));
	BENCH_OK(tmr_alloc(&rig.next, rig.env, on_next, NULL));
	BENCH_OK(call_stream_alloc(&rig.stream, NULL, 64000));
	BENCH_OK(engine_add_stream(rig.engine, rig.stream));
	send_cmd((struct cmd){.type = CMD_LINK,
			      .link = {.fd = open_sockets(), .link = 1, .ssrc = 9}});
	BENCH_OK(rtpsize_alloc(&set_key.key, RTPSIZE_AES256_GCM, key));
	send_cmd(set_key);
	send_cmd((struct cmd){.type = CMD_DAVE_CLEAR, .dave = {.send = true, .until = UINT64_MAX}});
	if (pthread_create(&far_thread, NULL, run_far_end, &rig))
		bench_die("no thread");
	begin_run();
	env_run(rig.env);
	bench_raw("mls_audio_delay_us", rig.late[1], rig.n[1]);
	bench_row_more("mls_audio_delay_us", bench_quantile(rig.late[1], rig.n[1], 1), "us",
		       "\"p99\": %.0f, \"without_max\": %.0f, \"without_p99\": %.0f, \"welcomes\": "
		       "%u, \"frames\": %u",
		       bench_quantile(rig.late[1], rig.n[1], 0.99),
		       bench_quantile(rig.late[0], rig.n[0], 1),
		       bench_quantile(rig.late[0], rig.n[0], 0.99), rig.jobs, rig.n[1]);
	shutdown(rig.server, SHUT_RDWR);
	pthread_join(far_thread, NULL);
	worker_free(rig.worker);
	tmr_free(rig.next);
	engine_free(rig.engine);
	env_free(rig.env);
	free(rig.sender);
	free(rig.welcome);
	return 0;
}
