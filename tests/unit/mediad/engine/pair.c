#include "tests/unit/mediad/engine/pair.h"

#include <math.h>
#include <sodium.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/env_replay.h"
#include "proto/base/time.h"
#include "tests/test.h"

struct pair pair;
static const uint8_t transport[RTPSIZE_KEY] = {1, 2, 3};

/* ---- steps ---- */

static struct {
	struct pair_end *e;
	struct cmd cmd;
	uint8_t p[UDP_MAX_PACKET];
	size_t n;
	enum { COMMAND, DATAGRAM, TICK, WORK } what;
	bool more; /* returned by the work */
} step;

static void on_step(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	(void)kind, (void)data, (void)len, (void)arg;
	switch (step.what) {
	case COMMAND:
		call_stream_run_command(step.e->l, &step.cmd);
		break;
	case DATAGRAM:
		call_stream_receive(step.e->l, step.p, step.n);
		break;
	case TICK:
		call_stream_send(step.e->l);
		/* fallthrough */
	case WORK:
		step.more = call_stream_work(step.e->l);
		break;
	}
}

static void take_step(void)
{
	env_replay_step(pair.env, pair.now, pair.source, 0, NULL, 0);
}

void pair_cmd(struct pair_end *e, const struct cmd *c)
{
	step.e = e;
	step.what = COMMAND;
	step.cmd = *c;
	take_step();
}

void pair_datagram(struct pair_end *e, const uint8_t *p, size_t n)
{
	step.e = e;
	step.what = DATAGRAM;
	memcpy(step.p, p, n);
	step.n = n;
	take_step();
}

void pair_tick(struct pair_end *e)
{
	if (e->wants)
		pair_cmd(e, &(struct cmd){.type = CMD_SPEAKING_SENT});
	e->wants = false;
	step.e = e;
	step.what = TICK;
	if (call_stream_next(e->l) <= pair.now)
		take_step();
}

bool pair_work(struct pair_end *e)
{
	step.e = e;
	step.what = WORK;
	take_step();
	return step.more;
}

/* ---- what comes up ---- */

static void on_heard(struct pair_end *e, const struct ev *ev)
{
	uint32_t *next = &e->next_seq[ev->heard.listen % 64];

	e->disorder += ev->heard.seq && ev->heard.seq != *next;
	*next = ev->heard.seq + 1;
	e->heard++;
	e->flags |= ev->heard.flags;
	e->samples += ev->heard.n;
	e->dropped[ev->heard.listen % 8] += ev->heard.dropped;
	for (unsigned i = 0; i < ev->heard.n; i++)
		e->loud += (uint64_t)abs(ev->heard.pcm[i]);
}

static void on_dave(struct pair_end *e, const struct ev *ev)
{
	switch (ev->type) {
	case EV_DAVE_OUTAGE:
		e->deaf += ev->dave.undecryptable;
		e->hears += !ev->dave.undecryptable && !ev->dave.unknown;
		e->forgotten += ev->dave.unknown;
		e->deaf_at = ev->dave.at;
		break;
	case EV_DAVE_PROOF:
		e->proofs++;
		e->proved = ev->dave.epoch;
		break;
	default:
		e->nexts++;
		e->next_user = ev->dave.user;
		e->next_epoch = ev->dave.epoch;
		e->next_generation = ev->dave.generation;
		break;
	}
}

static void on_lane(struct pair_end *e, const struct ev *ev)
{
	e->started += ev->lane.what == SENDER_STARTED;
	e->drained += ev->lane.what == SENDER_DRAINED && e->started;
	e->stopped += ev->lane.what == SENDER_STOPPED;
	e->paused += ev->lane.what == SENDER_PAUSED;
	e->lane_samples = ev->lane.samples;
	e->reason = ev->lane.reason;
}

static bool on_up(const struct ev *ev, bool may_drop, void *arg)
{
	struct pair_end *e = arg;
	struct ev back = *ev;

	if (e->full_for && ev->type == EV_HEARD && ev->heard.listen == e->full_for)
		return false;
	if (e->stuck || (e->full && may_drop))
		return false;
	switch (ev->type) {
	case EV_KEY_USED:
		e->keys_used++;
		e->used_key = ev->key_number;
		break;
	case EV_DAVE_KEY_GONE:
		e->keys_gone++;
		break;
	case EV_SLOT_GONE:
		e->slots_gone++;
		break;
	case EV_DAVE_OUTAGE:
	case EV_DAVE_PROOF:
	case EV_DAVE_NEXT:
		on_dave(e, ev);
		break;
	case EV_HEARD:
		on_heard(e, ev);
		break;
	case EV_HEARD_END:
		e->ends++;
		break;
	case EV_UNMAPPED_SSRC:
		e->unmapped++;
		e->persistent += ev->unmapped.persistent;
		break;
	case EV_SPEAKING:
		e->speaking_on += ev->heard.on;
		e->speaking_off += !ev->heard.on;
		break;
	case EV_WANT_SPEAKING:
		e->wants = ev->on;
		break;
	case EV_UDP_FAILED:
		e->udp_failed++;
		e->udp_why = ev->found.why;
		break;
	case EV_LANE_PROGRESS:
		e->progress++;
		break;
	case EV_LANE:
		on_lane(e, ev);
		break;
	case EV_CALL_STATS:
		e->call = ev->call;
		e->call_stats++;
		break;
	case EV_USER_STATS:
		e->stats = ev->user;
		break;
	default:
		break;
	}
	ev_dispose(&back);
	return true;
}

static bool has_room(void *arg)
{
	const struct pair_end *e = arg;

	return !e->stuck;
}

/* ---- the network ---- */

void pair_drain(struct pair_end *e, void (*h)(uint8_t *p, size_t n))
{
	uint8_t p[UDP_MAX_PACKET];
	ssize_t n;

	while (e->fd >= 0 && (n = recv(e->fd, p, sizeof p, MSG_DONTWAIT)) > 0)
		h(p, (size_t)n);
}

static struct pair_end *sends; /* whose datagrams are read */

static void on_control(const uint8_t *p, size_t n)
{
	uint8_t plain[UDP_MAX_PACKET];
	size_t len;

	if (pair.control && !rtpsize_open_rtcp(pair.wire, p, n, plain, sizeof plain, &len))
		pair.control(sends, plain, len);
}

static void forward(uint8_t *p, size_t n)
{
	uint8_t payload[UDP_MAX_PACKET], out[UDP_MAX_PACKET];
	struct rtpsize_rtp in;
	size_t len;

	if (udp_classify(p, n) == UDP_RTCP)
		on_control(p, n);
	if (sends != &pair.tx || udp_classify(p, n) != UDP_RTP ||
	    rtpsize_open(pair.wire, p, n, NULL, 0, &in))
		return;
	pair.packets++;
	pair.silent += opus_is_silence(in.payload.p, in.payload.n);
	len = in.payload.n;
	memcpy(payload, in.payload.p, len);
	if (pair.relay && !pair.relay(payload, &len, &in.h))
		return;
	if (!rtpsize_seal(pair.wire, &in.h, payload, len, out, sizeof out, &n))
		pair_datagram(&pair.rx, out, n);
}

int pair_seal(const uint8_t *head, size_t n_head, const uint8_t *body, size_t n, uint8_t *out)
{
	static uint32_t counter = 1 << 30;
	uint8_t nonce[crypto_aead_xchacha20poly1305_ietf_NPUBBYTES] = {0};
	unsigned long long len;

	counter++;
	memcpy(nonce, &counter, RTPSIZE_COUNTER);
	if (crypto_aead_xchacha20poly1305_ietf_encrypt(out, &len, body, n, head, n_head, NULL,
						       nonce, transport))
		return EINVAL;
	memcpy(out + len, nonce, RTPSIZE_COUNTER);
	return 0;
}

void pair_packet(struct pair_end *e, uint16_t seq, const uint8_t *payload, size_t n)
{
	pair_packet_of(e, PAIR_SSRC, seq, payload, n);
}

void pair_packet_of(struct pair_end *e, uint32_t ssrc, uint16_t seq, const uint8_t *payload,
		    size_t n)
{
	struct rtp_header h = {.pt = RTP_PT_OPUS, .seq = seq, .ts = seq * RTP_FRAME, .ssrc = ssrc};
	uint8_t out[UDP_MAX_PACKET];
	size_t len;

	if (!rtpsize_seal(pair.wire, &h, payload, n, out, sizeof out, &len))
		pair_datagram(e, out, len);
}

void pair_control(struct pair_end *e, const uint8_t *p, size_t n)
{
	uint8_t out[UDP_MAX_PACKET];
	size_t len;

	if (!rtpsize_seal_rtcp(pair.wire, p, n, out, sizeof out, &len))
		pair_datagram(e, out, len);
}

void pair_run(unsigned ms)
{
	for (uint64_t end = pair.now + ms * NS_PER_MS; pair.now < end;) {
		pair.now += 5 * NS_PER_MS;
		pair_tick(&pair.tx);
		sends = &pair.tx;
		pair_drain(&pair.tx, forward);
		pair_tick(&pair.rx);
		sends = &pair.rx;
		pair_drain(&pair.rx, forward);
	}
}

/* ---- set-up ---- */

void pair_link(struct pair_end *e)
{
	struct cmd c = {.type = CMD_LINK,
			.link = {.link = 1,
				 .ssrc = e == &pair.rx ? PAIR_OTHER_SSRC : PAIR_SSRC,
				 .seq = 100,
				 .ts = 7000}};
	int fds[2];

	if (e->fd >= 0)
		close(e->fd);
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds))
		abort();
	e->fd = fds[0];
	c.link.fd = fds[1];
	pair_cmd(e, &c);
	c = (struct cmd){.type = CMD_KEY, .key_number = ++e->keys};
	if (rtpsize_alloc(&c.key, RTPSIZE_XCHACHA20_POLY1305, transport))
		abort();
	pair_cmd(e, &c);
}

static int start_end(struct pair_end *e)
{
	int err = call_stream_alloc(&e->l, NULL, 64000);

	e->fd = -1;
	if (err)
		return err;
	call_stream_attach(e->l, pair.env, 0, 0, on_up, has_room, e);
	pair_link(e);
	return 0;
}

static int add_slot(void)
{
	struct cmd c = {.type = CMD_SLOT_ADD};
	int err = slot_alloc(&pair.slot, pair.rx.l, PAIR_USER, true, 1);

	if (err)
		return err;
	c.slot.slot = pair.slot;
	pair_cmd(&pair.rx, &c);
	c.type = CMD_LISTEN;
	c.slot.listen = 4;
	c.slot.rate = PAIR_RATE;
	c.slot.silence_ms = 500;
	err = audio_decoder_alloc(&c.slot.decoder, PAIR_RATE);
	if (err)
		return err;
	pair_cmd(&pair.rx, &c);
	pair_map(PAIR_SSRC);
	return 0;
}

int pair_start(void)
{
	struct env_conf conf = {.loop = false};
	int err;

	pair = (struct pair){.now = 1000 * NS_PER_MS, .tx.fd = -1, .rx.fd = -1};
	err = env_alloc(&pair.env, &conf);
	if (!err)
		err = env_source_add(pair.env, &pair.source, on_step, NULL);
	if (!err)
		err = rtpsize_alloc(&pair.wire, RTPSIZE_XCHACHA20_POLY1305, transport);
	if (!err)
		err = start_end(&pair.tx);
	if (!err)
		err = start_end(&pair.rx);
	if (!err)
		err = add_slot();
	if (!err)
		pair_run(200); /* past the silence of joining */
	pair.packets = pair.silent = 0;
	return err;
}

void pair_finish(void)
{
	struct pair_end *ends[] = {&pair.tx, &pair.rx};

	for (unsigned i = 0; i < 2; i++) {
		call_stream_free(ends[i]->l);
		if (ends[i]->fd >= 0)
			close(ends[i]->fd);
	}
	rtpsize_free(pair.wire);
	env_free(pair.env);
}

/* ---- commands ---- */

void pair_clear(struct pair_end *e, bool send, uint64_t until)
{
	struct cmd c = {.type = CMD_DAVE_CLEAR, .dave = {.send = send, .until = until}};

	pair_cmd(e, &c);
}

struct dave_key *pair_key(uint64_t epoch, uint32_t generation)
{
	uint8_t base[DAVE_SECRET] = {1, (uint8_t)epoch, (uint8_t)(epoch >> 8)};
	struct dave_key *key = NULL;

	if (dave_key_alloc(&key, base, epoch, generation))
		abort();
	return key;
}

void pair_send_key(uint64_t epoch)
{
	struct cmd c = {.type = CMD_DAVE_SEND};

	c.dave.key = epoch ? pair_key(epoch, 0) : NULL;
	pair_cmd(&pair.tx, &c);
}

void pair_open_key(uint64_t epoch)
{
	struct cmd c = {.type = CMD_DAVE_OPEN};

	c.dave.slot = pair.slot;
	c.dave.key = pair_key(epoch, 0);
	pair_cmd(&pair.rx, &c);
}

void pair_map(uint32_t ssrc)
{
	struct cmd c = {.type = CMD_SLOT_MAP};

	c.slot.slot = pair.slot;
	c.slot.ssrc = ssrc;
	pair_cmd(&pair.rx, &c);
}

void pair_say_more(unsigned ms)
{
	int16_t frame_pcm[ENTRY_PCM];
	struct cmd c = {.type = CMD_LANE_PCM};
	unsigned n = ms * (LANE_RATE / 1000);

	c.lane.playback = PAIR_LANE;
	for (unsigned at = 0; at < n; at += c.lane.n) {
		c.lane.n = (uint16_t)(n - at < ENTRY_PCM ? n - at : ENTRY_PCM);
		c.lane.pcm = frame_pcm;
		for (unsigned i = 0; i < c.lane.n; i++)
			frame_pcm[i] =
				(int16_t)lrint(8000 * sin(2 * M_PI * 1000 * (at + i) / LANE_RATE));
		pair_cmd(&pair.tx, &c);
	}
}

void pair_say(unsigned ms, bool end)
{
	struct cmd c = {.type = CMD_LANE_ADD};

	if (lane_alloc(&c.lane.lane, PAIR_LANE, LANE_GAIN_UNITY))
		abort();
	pair_cmd(&pair.tx, &c);
	pair_say_more(ms);
	if (end)
		pair_end_lane();
}

void pair_end_lane(void)
{
	struct cmd c = {.type = CMD_LANE_END};

	c.lane.playback = PAIR_LANE;
	pair_cmd(&pair.tx, &c);
}

/* Statistics come every five seconds. */
void pair_ask_stats(void)
{
	pair.rx.l->stats_at = pair.rx.l->speaker_tick_at = 0;
	pair_run(25);
}
