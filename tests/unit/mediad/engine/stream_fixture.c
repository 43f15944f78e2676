#include "tests/unit/mediad/engine/stream_fixture.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/base/time.h"
#include "tests/test.h"

enum { DEADLINE_MS = 60000 };

static void stop(struct stream_fixture *b)
{
	env_stop(b->env);
}

static void send_cmd(struct stream_fixture *b, struct cmd *c)
{
	engine_send(b->engine, b->stream, c);
}

/* ---- the server ---- */

static void echo(struct stream_fixture *b, const struct rtpsize_rtp *in,
		 const struct sockaddr_in *to)
{
	struct rtp_header h = {.pt = RTP_PT_OPUS, .ts = in->h.ts, .ssrc = FIXTURE_OTHER};
	uint8_t out[UDP_MAX_PACKET];
	size_t len;

	h.seq = b->their_seq++;
	if (!rtpsize_seal(b->theirs, &h, in->payload.p, in->payload.n, out, sizeof out, &len))
		sendto(b->server, out, len, 0, (const struct sockaddr *)to, sizeof *to);
}

static void serve_rtp(struct stream_fixture *b, uint8_t *p, size_t n,
		      const struct sockaddr_in *from)
{
	struct rtpsize_rtp in;

	if (rtpsize_open(b->theirs, p, n, NULL, 0, &in) || in.h.ssrc != FIXTURE_SSRC) {
		b->bad++;
		return;
	}
	b->rtp++;
	if (b->encrypted && !opus_is_silence(in.payload.p, in.payload.n) &&
	    !dave_frame_parse(&(struct dave_frame){0}, in.payload.p, in.payload.n))
		b->plain++;
	/* The end of it may overtake the last datagram; the beginning must not. */
	if (!b->wants)
		b->before_speaking++;
	if (opus_is_silence(in.payload.p, in.payload.n))
		b->silent++;
	echo(b, &in, from);
}

static void on_server(evutil_socket_t fd, short what, void *arg)
{
	struct stream_fixture *b = arg;
	uint8_t p[UDP_MAX_PACKET];
	struct sockaddr_in from;
	socklen_t size = sizeof from;
	ssize_t n;

	(void)what;
	while ((n = recvfrom((int)fd, p, sizeof p, 0, (struct sockaddr *)&from, &size)) > 0) {
		if (b->no_server)
			continue;
		switch (udp_classify(p, (size_t)n)) {
		case UDP_DISCOVERY:
			p[1] = 2;
			snprintf((char *)p + 8, 64, "198.51.100.7");
			p[72] = 0x9c;
			p[73] = 0x40;
			sendto((int)fd, p, (size_t)n, 0, (struct sockaddr *)&from, size);
			break;
		case UDP_KEEPALIVE:
			sendto((int)fd, p, (size_t)n, 0, (struct sockaddr *)&from, size);
			break;
		case UDP_RTP:
			serve_rtp(b, p, (size_t)n, &from);
			break;
		default:
			b->bad++;
			break;
		}
	}
}

static int open_server(struct stream_fixture *b, int *client)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	socklen_t size = sizeof at;

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	b->server = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (b->server < 0 || bind(b->server, (struct sockaddr *)&at, sizeof at) ||
	    getsockname(b->server, (struct sockaddr *)&at, &size))
		return errno;
	b->server_ev = event_new(env_base(b->env), b->server, EV_READ | EV_PERSIST, on_server, b);
	if (!b->server_ev || event_add(b->server_ev, NULL))
		return ENOMEM;
	*client = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	return *client < 0 || connect(*client, (struct sockaddr *)&at, sizeof at) ? errno : 0;
}

/* ---- our half of the call ---- */

static void next_epoch(struct stream_fixture *b);

static void hand_over_key(struct stream_fixture *b)
{
	struct cmd c = {.type = CMD_KEY};
	uint8_t key[RTPSIZE_KEY] = {b->key_first_byte};

	if (!rtpsize_alloc(&c.key, b->mode, key))
		send_cmd(b, &c);
	c = (struct cmd){.type = CMD_DAVE_CLEAR};
	c.dave.send = !b->encrypted;
	c.dave.until = b->encrypted ? 0 : UINT64_MAX;
	send_cmd(b, &c);
	if (b->encrypted)
		next_epoch(b);
}

/* What is echoed is sealed with our key, so it is the other's too. */
static void lend_dave_key(struct stream_fixture *b, enum cmd_type type)
{
	uint8_t base[DAVE_SECRET] = {7, (uint8_t)b->epochs};
	struct cmd c = {.type = type};

	c.dave.slot = type == CMD_DAVE_OPEN ? b->slot : NULL;
	if (!dave_key_alloc(&c.dave.key, base, b->epochs, 0))
		send_cmd(b, &c);
}

/* As others may, the speaker seals with the new key before we have it. */
static void next_epoch(struct stream_fixture *b)
{
	b->epochs++;
	lend_dave_key(b, CMD_DAVE_SEND);
	tmr_start(b->rekey, 5 * NS_PER_MS);
}

static void on_rekey(void *arg)
{
	struct stream_fixture *b = arg;

	if (b->lent == b->epochs) {
		next_epoch(b);
		return;
	}
	b->lent = b->epochs;
	lend_dave_key(b, CMD_DAVE_OPEN);
	if (b->rekey_ms)
		tmr_start(b->rekey, b->rekey_ms * NS_PER_MS);
}

static void map(struct stream_fixture *b)
{
	struct cmd c = {.type = CMD_SLOT_MAP};

	c.slot.slot = b->slot;
	c.slot.ssrc = FIXTURE_OTHER;
	send_cmd(b, &c);
}

static void on_late(void *arg)
{
	map(arg);
}

static void leave(struct stream_fixture *b)
{
	struct cmd c = {.type = CMD_STREAM_REMOVE};

	/* It is the last command of a stream; on a busy machine there may be two utterances. */
	if (b->leaves)
		return;
	b->leaves = true;
	tmr_stop(b->rekey);
	tmr_stop(b->late);
	send_cmd(b, &c);
}

static void measure(struct stream_fixture *b, const int16_t *pcm, unsigned n)
{
	static const double hz[2] = {1000, 440};

	for (unsigned k = 0; k < 2; k++) {
		double w = 2 * cos(2 * M_PI * hz[k] / FIXTURE_RATE);

		for (unsigned i = 0; i < n; i++) {
			double v = pcm[i] + w * b->k1[k] - b->k2[k];

			b->k2[k] = b->k1[k];
			b->k1[k] = v;
		}
	}
	b->samples += n;
}

static double power(const struct stream_fixture *b, unsigned k, double hz)
{
	double w = 2 * cos(2 * M_PI * hz / FIXTURE_RATE);
	double p = b->k1[k] * b->k1[k] + b->k2[k] * b->k2[k] - w * b->k1[k] * b->k2[k];

	return b->samples ? sqrt(p > 0 ? p : 0) / (double)b->samples : 0;
}

static void on_lane(struct stream_fixture *b, const struct ev *ev)
{
	switch (ev->lane.what) {
	case SENDER_STARTED:
		b->lane_started++;
		if (b->leave_early)
			leave(b);
		break;
	case SENDER_DRAINED:
		b->lane_drained++;
		b->lane_samples = ev->lane.samples;
		break;
	default:
		b->lane_stopped++;
		b->lane_samples = ev->lane.samples;
		break;
	}
}

static void on_music(struct stream_fixture *b, const struct ev *ev)
{
	b->music_started += ev->lane.what == SENDER_STARTED;
	b->music_drained += ev->lane.what == SENDER_DRAINED;
	b->music_stopped += ev->lane.what == SENDER_STOPPED;
	b->music_frames = ev->lane.samples;
}

static bool all_is_said(const struct stream_fixture *b)
{
	return (b->lane_drained || !b->tone_ms) &&
	       (b->music_drained || b->music_stopped || !b->music_ms);
}

static void on_event(const struct ev *ev, void *owner)
{
	struct stream_fixture *b = owner;
	struct cmd sent = {.type = CMD_SPEAKING_SENT};

	switch (ev->type) {
	case EV_DISCOVERED:
		b->discovered =
			strcmp(ev->found.ip, "198.51.100.7") == 0 && ev->found.port == 40000;
		if (b->foundh)
			b->foundh();
		hand_over_key(b);
		break;
	case EV_UDP_FAILED:
		b->udp_failed = true;
		leave(b);
		break;
	case EV_WANT_SPEAKING:
		b->speaking = ev->on;
		b->wants += ev->on;
		if (ev->on)
			send_cmd(b, &sent);
		break;
	case EV_SPEAKING:
		if (ev->heard.on)
			b->speaking_on++;
		else
			b->speaking_off++;
		break;
	case EV_HEARD:
		/* A machine under load may lose some. */
		if (b->heard && ev->heard.seq < b->next_seq)
			b->out_of_order++;
		b->next_seq = ev->heard.seq + 1;
		b->heard++;
		b->flags |= ev->heard.flags;
		measure(b, ev->heard.pcm, ev->heard.n);
		break;
	case EV_HEARD_END:
		b->ends++;
		b->end_reason = ev->heard.reason;
		/* The lanes are over by then, or they never will be. */
		if (all_is_said(b))
			leave(b);
		break;
	case EV_LANE:
		on_lane(b, ev);
		break;
	case EV_MUSIC:
		on_music(b, ev);
		break;
	case EV_LINK_GONE:
		b->link_gone = true;
		break;
	case EV_KEY_GONE:
		b->key_gone = true;
		b->keys_gone++;
		break;
	case EV_DAVE_OUTAGE:
		b->outages += ev->dave.undecryptable;
		break;
	case EV_DAVE_PROOF:
		b->proofs++;
		break;
	case EV_USER_STATS:
		b->stats = ev->user;
		break;
	case EV_STREAM_GONE:
		b->gone = true;
		b->stream = NULL;
		b->tone = power(b, 0, 1000);
		b->other = power(b, 1, 440);
		stop(b);
		break;
	default:
		break;
	}
}

static void on_deadline(void *arg)
{
	struct stream_fixture *b = arg;

	b->timed_out = true;
	stop(b);
}

/* ---- the scene ---- */

int stream_fixture_alloc(struct stream_fixture *b, struct journal *journal,
			 struct journal_reader *reader, unsigned threads)
{
	struct env_conf ec = {.loop = true, .replaying = reader != NULL, .journal = journal};
	struct engine_conf gc = {.journal = journal, .threads = threads, .evh = on_event};
	uint8_t key[RTPSIZE_KEY] = {b->key_first_byte};
	int err;

	b->server = -1;
	b->replaying = reader != NULL;
	if (!b->mode)
		b->mode = RTPSIZE_XCHACHA20_POLY1305;
	err = env_alloc(&b->env, &ec);
	if (!err && reader)
		err = journal_attach(reader, b->env, 0);
	gc.env = b->env;
	if (!err)
		err = engine_alloc(&b->engine, &gc);
	for (unsigned i = 1; !err && reader && i <= threads; i++)
		err = journal_attach(reader, engine_env(b->engine, i), i);
	if (!err)
		err = tmr_alloc(&b->deadline, b->env, on_deadline, b);
	if (!err)
		err = tmr_alloc(&b->late, b->env, on_late, b);
	if (!err)
		err = tmr_alloc(&b->rekey, b->env, on_rekey, b);
	if (!err)
		err = rtpsize_alloc(&b->theirs, b->mode, key);
	return err;
}

static int lend_line(struct stream_fixture *b)
{
	struct call_stream *l;
	int err = call_stream_alloc(&l, b, 64000);

	if (err)
		return err;
	err = engine_add_stream(b->engine, l);
	if (err)
		call_stream_free(l);
	else
		b->stream = l;
	return err;
}

static int lend_lane(struct stream_fixture *b)
{
	int16_t frame_pcm[ENTRY_PCM];
	struct cmd c = {.type = CMD_LANE_ADD};
	int err = lane_alloc(&c.lane.lane, 9, LANE_GAIN_UNITY);
	unsigned n = b->tone_ms * (LANE_RATE / 1000);

	if (err)
		return err;
	send_cmd(b, &c);
	c = (struct cmd){.type = CMD_LANE_PCM};
	c.lane.playback = 9;
	for (unsigned at = 0; at < n; at += c.lane.n) {
		c.lane.n = (uint16_t)(n - at < ENTRY_PCM ? n - at : ENTRY_PCM);
		c.lane.pcm = frame_pcm;
		for (unsigned i = 0; i < c.lane.n; i++)
			frame_pcm[i] =
				(int16_t)(8000 * sin(2 * M_PI * 1000 * (at + i) / LANE_RATE));
		send_cmd(b, &c);
	}
	c.type = CMD_LANE_END;
	send_cmd(b, &c);
	return 0;
}

/* The source of music; the audio thread reads it. */
static int read_music(void *arg, int16_t *pcm, size_t frames, size_t *got)
{
	struct stream_fixture *b = arg;
	unsigned total = b->music_ms * (LANE_RATE / 1000);

	*got = frames < total - b->music_read ? frames : total - b->music_read;
	for (size_t i = 0; i < *got; i++, b->music_read++)
		pcm[2 * i] = pcm[2 * i + 1] =
			(int16_t)(8000 * sin(2 * M_PI * 440 * b->music_read / LANE_RATE));
	return b->music_breaks && b->music_read > total / 2 ? EPROTO : 0;
}

static bool music_has_ended(void *arg)
{
	const struct stream_fixture *b = arg;

	return b->music_read == b->music_ms * (LANE_RATE / 1000);
}

static int lend_music(struct stream_fixture *b)
{
	struct music_lane_conf conf = {.id = 4, .gain = PLAYOUT_GAIN_UNITY};
	struct cmd c = {.type = CMD_MUSIC_LEND};
	int err = music_mixer_alloc(&c.music.mixer);

	if (err)
		return err;
	send_cmd(b, &c);
	c = (struct cmd){.type = CMD_MUSIC_SET, .music = {.bitrate = 96000, .duck = DUCK_DEFAULT}};
	send_cmd(b, &c);
	c = (struct cmd){.type = CMD_MUSIC_ADD};
	if (!b->replaying)
		conf.source = (struct music_source){read_music, music_has_ended, b};
	err = music_lane_alloc(&c.music.lane, &conf);
	if (!err)
		send_cmd(b, &c);
	return err;
}

static int lend_slot(struct stream_fixture *b)
{
	struct cmd c = {.type = CMD_SLOT_ADD};
	int err = slot_alloc(&b->slot, b->stream, FIXTURE_USER, true, 1);

	if (err)
		return err;
	c.slot.slot = b->slot;
	send_cmd(b, &c);
	c.type = CMD_LISTEN;
	c.slot.listen = 3;
	c.slot.rate = FIXTURE_RATE;
	c.slot.silence_ms = 200;
	err = audio_decoder_alloc(&c.slot.decoder, FIXTURE_RATE);
	if (!err)
		send_cmd(b, &c);
	return err;
}

int stream_fixture_begin(struct stream_fixture *b)
{
	struct cmd c = {.type = CMD_SET};
	int fd = -1, err = lend_line(b);

	if (err)
		return err;
	c.set.bitrate = 64000;
	c.set.keep_unmapped = true;
	send_cmd(b, &c);
	err = lend_slot(b);
	if (!err && !b->replaying)
		err = open_server(b, &fd);
	if (err)
		return err;
	if (b->map_late_ms)
		tmr_start(b->late, b->map_late_ms * NS_PER_MS);
	else
		map(b);
	c = (struct cmd){.type = CMD_LINK};
	c.link.fd = fd;
	c.link.link = 1;
	c.link.ssrc = FIXTURE_SSRC;
	c.link.seq = 65530;
	c.link.ts = 1000;
	send_cmd(b, &c);
	tmr_start(b->deadline, DEADLINE_MS * NS_PER_MS);
	if (b->music_ms)
		err = lend_music(b);
	return !err && b->tone_ms ? lend_lane(b) : err;
}

void stream_fixture_free(struct stream_fixture *b)
{
	b->engine = engine_free(b->engine);
	b->theirs = rtpsize_free(b->theirs);
	b->deadline = tmr_free(b->deadline);
	b->late = tmr_free(b->late);
	b->rekey = tmr_free(b->rekey);
	if (b->server_ev)
		event_free(b->server_ev);
	if (b->server >= 0)
		close(b->server);
	b->env = env_free(b->env);
}
