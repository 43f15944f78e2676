/* The encrypted part of audio_traps: an engine whose audio thread hears encrypted speakers and
 * speaks, while every key changes again and again. bench/traps runs it with the library that
 * counts.
 *
 *   traps_dave FRAMES       prints {"frames", "epochs"} */
#include "ipc/env.h"
#include "ipc/tmr.h"
#include "mediad/engine/engine.h"
#include "proto/base/time.h"
#include "proto/rtp.h"
#include "tests/bench/bench.h"
#include "tests/bench/preload/traps.h"
#include "tests/bench/speech.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	SPEAKERS = 40,
	RATE = 24000,
	SPEECH = 500,
	TICK_MS = 5,
	EPOCH_TICKS = 60,
	WARM_TICKS = 100,
	LOST = 50
};

static struct rig {
	struct env *env;
	struct engine *engine;
	struct call_stream *stream;
	struct tmr *tmr;
	struct traps_page *page;
	int far_end;
	struct rtpsize *seal;
	struct speech_frame speech[SPEECH];
	struct {
		struct slot *slot;
		struct dave_sealer *sealer;
		struct dave_key *next; /* the sender's key from the next tick on */
	} speaker[SPEAKERS];
	uint32_t frame, epoch, playback;
	uint64_t heard, wanted;
	unsigned ticks;
} rig;

static void base_of(uint8_t base[DAVE_SECRET], unsigned speaker, uint32_t epoch)
{
	memset(base, 'b', DAVE_SECRET);
	memcpy(base, &speaker, sizeof speaker);
	memcpy(base + 8, &epoch, sizeof epoch);
}

static struct dave_key *key_of(unsigned speaker)
{
	uint8_t base[DAVE_SECRET];
	struct dave_key *k;

	base_of(base, speaker, rig.epoch);
	BENCH_OK(dave_key_alloc(&k, base, rig.epoch, 0));
	return k;
}

static void send_cmd(struct cmd c)
{
	BENCH_OK(engine_send(rig.engine, rig.stream, &c));
}

/* A new epoch: the line has the keys before anybody uses them. */
static void rekey(void)
{
	rig.epoch++;
	for (unsigned s = 0; s < SPEAKERS; s++) {
		send_cmd((struct cmd){.type = CMD_DAVE_OPEN,
				      .dave = {.slot = rig.speaker[s].slot, .key = key_of(s)}});
		dave_key_free(rig.speaker[s].next);
		rig.speaker[s].next = key_of(s);
	}
	send_cmd((struct cmd){.type = CMD_DAVE_SEND, .dave = {.key = key_of(SPEAKERS)}});
}

static void speak(unsigned s)
{
	const struct speech_frame *k = &rig.speech[(rig.frame + s * 37) % SPEECH];
	struct rtp_header h = {.pt = RTP_PT_OPUS,
			       .seq = (uint16_t)rig.frame,
			       .ts = rig.frame * RTP_FRAME,
			       .ssrc = 1000 + s};
	uint8_t sealed[SPEECH_OPUS + DAVE_OPUS_OVERHEAD], p[UDP_MAX_PACKET];
	size_t n, total;

	BENCH_OK(
		dave_seal(rig.speaker[s].sealer, DAVE_OPUS, k->p, k->n, sealed, sizeof sealed, &n));
	BENCH_OK(rtpsize_seal(rig.seal, &h, sealed, n, p, sizeof p, &total));
	if ((rig.frame * SPEAKERS + s) % LOST && send(rig.far_end, p, total, 0) < 0 &&
	    errno != ECONNREFUSED)
		bench_die("send: %s", strerror(errno));
}

/* A second of sound to say, in a lane of its own. */
static void say(void)
{
	int16_t frame_pcm[ENTRY_PCM];
	struct cmd add = {.type = CMD_LANE_ADD}, pcm = {.type = CMD_LANE_PCM};

	BENCH_OK(lane_alloc(&add.lane.lane, ++rig.playback, LANE_GAIN_UNITY));
	send_cmd(add);
	pcm.lane.playback = rig.playback;
	pcm.lane.n = LANE_FRAME;
	pcm.lane.pcm = frame_pcm;
	for (unsigned f = 0; f < 50; f++) {
		for (unsigned i = 0; i < LANE_FRAME; i++)
			frame_pcm[i] = (int16_t)((i * 53 % 300) * 40 - 6000);
		send_cmd(pcm);
	}
	send_cmd((struct cmd){.type = CMD_LANE_END, .lane = {.playback = rig.playback}});
}

static void on_tick(void *arg)
{
	uint8_t drain[UDP_MAX_PACKET];

	(void)arg;
	tmr_start(rig.tmr, TICK_MS * NS_PER_MS);
	while (recv(rig.far_end, drain, sizeof drain, MSG_DONTWAIT) > 0)
		;
	if (rig.ticks % EPOCH_TICKS == 0)
		rekey();
	if (rig.ticks % EPOCH_TICKS == 10)
		for (unsigned s = 0; s < SPEAKERS; s++) {
			dave_key_free(dave_sealer_set(rig.speaker[s].sealer, rig.speaker[s].next));
			rig.speaker[s].next = NULL;
		}
	if (rig.ticks % 250 == 0)
		say();
	if (rig.ticks > 10) {
		for (unsigned s = 0; s < SPEAKERS; s++)
			speak(s);
		rig.frame++;
	}
	if (++rig.ticks == WARM_TICKS) {
		rig.heard = 0;
		atomic_store(&rig.page->on, 1);
	}
	if (rig.ticks > WARM_TICKS && rig.heard >= rig.wanted) {
		atomic_store(&rig.page->on, 0);
		env_stop(rig.env);
	}
}

static void on_ev(const struct ev *ev, void *owner)
{
	(void)owner;
	rig.heard += ev->type == EV_HEARD;
	if (ev->type == EV_WANT_SPEAKING)
		send_cmd((struct cmd){.type = CMD_SPEAKING_SENT});
}

static int open_sockets(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)},
			   b = a;
	socklen_t n = sizeof a;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	rig.far_end = socket(AF_INET, SOCK_DGRAM, 0);
	if (rig.far_end < 0 || fd < 0 || bind(rig.far_end, (struct sockaddr *)&a, sizeof a) ||
	    bind(fd, (struct sockaddr *)&b, sizeof b) ||
	    getsockname(rig.far_end, (struct sockaddr *)&a, &n) ||
	    getsockname(fd, (struct sockaddr *)&b, &n) ||
	    connect(fd, (struct sockaddr *)&a, sizeof a) ||
	    connect(rig.far_end, (struct sockaddr *)&b, sizeof b))
		bench_die("sockets: %s", strerror(errno));
	return fd;
}

static void start_line(void)
{
	static const uint8_t key[RTPSIZE_KEY] = "an ordinary key of 32 bytes 1234";
	struct cmd set_key = {.type = CMD_KEY};

	BENCH_OK(call_stream_alloc(&rig.stream, NULL, 64000));
	BENCH_OK(engine_add_stream(rig.engine, rig.stream));
	send_cmd((struct cmd){.type = CMD_LINK,
			      .link = {.fd = open_sockets(), .link = 1, .ssrc = 9}});
	BENCH_OK(rtpsize_alloc(&set_key.key, RTPSIZE_AES256_GCM, key));
	BENCH_OK(rtpsize_alloc(&rig.seal, RTPSIZE_AES256_GCM, key));
	send_cmd(set_key);
	send_cmd((struct cmd){.type = CMD_SET, .set = {.bitrate = 64000, .keep_unmapped = true}});
	for (unsigned s = 0; s < SPEAKERS; s++) {
		struct cmd c = {.type = CMD_SLOT_ADD};

		BENCH_OK(dave_sealer_alloc(&rig.speaker[s].sealer));
		BENCH_OK(slot_alloc(&c.slot.slot, rig.stream, 500 + s, true, 1));
		rig.speaker[s].slot = c.slot.slot;
		send_cmd(c);
		c.type = CMD_LISTEN;
		BENCH_OK(audio_decoder_alloc(&c.slot.decoder, RATE));
		c.slot.listen = s + 1;
		c.slot.rate = RATE;
		c.slot.silence_ms = 700;
		send_cmd(c);
		send_cmd((struct cmd){.type = CMD_SLOT_MAP,
				      .slot = {.slot = rig.speaker[s].slot, .ssrc = 1000 + s}});
	}
}

static void open_page(void)
{
	const char *path = getenv("TRAPS_PAGE");
	int fd = path ? open(path, O_RDWR) : -1;
	void *p = fd < 0 ? MAP_FAILED
			 : mmap(NULL, sizeof *rig.page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		bench_die("run by bench/traps");
	rig.page = p;
	close(fd);
}

int main(int argc, char **argv)
{
	struct env_conf ec = {.loop = true};
	struct engine_conf conf = {.threads = 1, .evh = on_ev};

	if (argc != 2 || sodium_init() < 0)
		bench_die("usage: traps_dave FRAMES");
	open_page();
	rig.wanted = strtoull(argv[1], NULL, 10);
	speech_encode(rig.speech, SPEECH, 3);
	BENCH_OK(env_alloc(&rig.env, &ec));
	conf.env = rig.env;
	BENCH_OK(engine_alloc(&rig.engine, &conf));
	BENCH_OK(tmr_alloc(&rig.tmr, rig.env, on_tick, NULL));
	start_line();
	tmr_start(rig.tmr, NS_PER_MS);
	env_run(rig.env);
	printf("{\"frames\": %" PRIu64 ", \"epochs\": %u}\n", rig.heard, rig.epoch);
	fflush(stdout);
	engine_free(rig.engine);
	for (unsigned s = 0; s < SPEAKERS; s++) {
		dave_sealer_free(rig.speaker[s].sealer);
		dave_key_free(rig.speaker[s].next);
	}
	rtpsize_free(rig.seal);
	tmr_free(rig.tmr);
	env_free(rig.env);
	close(rig.far_end);
	return 0;
}
