/* Hearing on an audio thread without system calls: a datagram of each speaker in turn through the
 * line (transport, DAVE, order, Opus, captures), against the bare calls of the libraries on the
 * same bytes: hear_core_ratio, hear_dave_ratio. */
#include "ipc/env.h"
#include "ipc/env_replay.h"
#include "mediad/engine/call_stream.h"
#include "tests/bench/bench.h"
#include "proto/base/time.h"

#include <openssl/evp.h>
#include <opus/opus.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum {
	SPEAKERS = 20,
	RATE = 24000,
	FRAME = 960,
	TURN_FRAMES = 25, /* of each speaker in one turn */
	TURNS = 31,
	FRAMES = TURN_FRAMES * (TURNS + 1),
	PACKET = 512,
};

struct packet {
	uint16_t n, speaker, sealed_at, sealed,
		opus; /* where the transport's ciphertext is, and lengths inside it */
	uint32_t nonce;
	uint8_t p[PACKET];
};

#define FRAME_NS (20 * NS_PER_S / 1000)

static struct rig {
	bool dave;
	struct env *env;
	uint32_t source;
	struct call_stream *stream;
	struct packet *packets;
	unsigned at_ours, at_bare, heard;
	uint64_t clock;
	crypto_aead_aes256gcm_state transport;
	EVP_CIPHER_CTX *frame[SPEAKERS];
	OpusDecoder *dec[SPEAKERS];
} rig;

static const uint8_t call_key[RTPSIZE_KEY] = "an ordinary key of 32 bytes 1234";

static void base_of(uint8_t base[DAVE_SECRET], unsigned speaker)
{
	memset(base, (int)speaker + 1, DAVE_SECRET);
}

/* ---- received packets ---- */

static void encode(uint8_t (*opus)[400], int *len)
{
	int16_t pcm[FRAME];
	OpusEncoder *enc;
	int err;

	enc = opus_encoder_create(48000, 1, OPUS_APPLICATION_VOIP, &err);
	if (!enc)
		bench_die("opus: %d", err);
	opus_encoder_ctl(enc, OPUS_SET_BITRATE(64000));
	for (unsigned f = 0; f < FRAMES; f++) {
		for (unsigned i = 0; i < FRAME; i++) {
			unsigned t = f * FRAME + i;

			pcm[i] = (int16_t)((t * 37 % 880 < 440 ? 3000 : -3000) +
					   (int)(t * 7919 % 2001) - 1000);
		}
		len[f] = opus_encode(enc, pcm, FRAME, opus[f], sizeof opus[f]);
		if (len[f] <= 2)
			bench_die("opus_encode: %d", len[f]);
	}
	opus_encoder_destroy(enc);
}

static void seal_all(void)
{
	static uint8_t opus[FRAMES][400];
	static int len[FRAMES];
	struct dave_sealer *sealer[SPEAKERS];
	struct rtpsize *x;

	encode(opus, len);
	rig.packets = calloc((size_t)FRAMES * SPEAKERS, sizeof *rig.packets);
	if (!rig.packets)
		bench_die("out of memory");
	BENCH_OK(rtpsize_alloc(&x, RTPSIZE_AES256_GCM, call_key));
	for (unsigned s = 0; s < SPEAKERS; s++) {
		struct dave_key *k;
		uint8_t base[DAVE_SECRET];

		base_of(base, s);
		BENCH_OK(dave_sealer_alloc(&sealer[s]));
		BENCH_OK(dave_key_alloc(&k, base, 1, 0));
		dave_sealer_set(sealer[s], k);
	}
	for (unsigned f = 0; f < FRAMES; f++) {
		for (unsigned s = 0; s < SPEAKERS; s++) {
			struct packet *k = &rig.packets[f * SPEAKERS + s];
			struct rtp_header h = {.pt = RTP_PT_OPUS,
					       .seq = (uint16_t)f,
					       .ts = f * FRAME,
					       .ssrc = 1000 + s};
			uint8_t sealed[450];
			size_t n = (size_t)len[f], total;

			memcpy(sealed, opus[f], n);
			if (rig.dave)
				BENCH_OK(dave_seal(sealer[s], DAVE_OPUS, opus[f], (size_t)len[f],
						   sealed, sizeof sealed, &n));
			BENCH_OK(rtpsize_seal(x, &h, sealed, n, k->p, sizeof k->p, &total));
			k->n = (uint16_t)total;
			k->speaker = (uint16_t)s;
			k->sealed = (uint16_t)n;
			k->opus = (uint16_t)len[f];
			k->nonce = f + 1;
		}
	}
	for (unsigned s = 0; s < SPEAKERS; s++)
		dave_sealer_free(sealer[s]);
	rtpsize_free(x);
}

/* ---- ours ---- */

static bool on_up(const struct ev *ev, bool may_drop, void *arg)
{
	struct rig *r = arg;
	struct ev e = *ev;

	(void)may_drop;
	r->heard += e.type == EV_HEARD;
	if (e.type != EV_STREAM_GONE && e.type != EV_HEARD)
		ev_dispose(&e);
	return true;
}

static bool has_room(void *arg)
{
	(void)arg;
	return true;
}

/* Sockets take everything, random numbers are none. */
static const uint8_t *world(uint8_t what, size_t n, void *arg)
{
	static const uint8_t nothing[256];

	(void)what, (void)arg;
	if (n > sizeof nothing)
		bench_die("a step asked for %zu bytes", n);
	return nothing;
}

static void on_datagram(uint8_t kind, const uint8_t *data, size_t len, void *arg)
{
	struct rig *r = arg;
	uint8_t packet[UDP_MAX_PACKET];

	(void)kind;
	memcpy(packet, data, len);
	call_stream_receive(r->stream, packet, len);
}

static void command(struct cmd c)
{
	c.stream = rig.stream;
	call_stream_run_command(rig.stream, &c);
}

static void add_speaker(unsigned s)
{
	struct cmd c = {.type = CMD_SLOT_ADD};
	uint8_t base[DAVE_SECRET];

	BENCH_OK(slot_alloc(&c.slot.slot, rig.stream, 500 + s, true, 1));
	command(c);
	c.type = CMD_LISTEN;
	BENCH_OK(audio_decoder_alloc(&c.slot.decoder, RATE));
	c.slot.listen = s + 1;
	c.slot.rate = RATE;
	c.slot.silence_ms = 700;
	command(c);
	if (rig.dave) {
		struct cmd open = {.type = CMD_DAVE_OPEN, .dave = {.slot = c.slot.slot}};

		base_of(base, s);
		BENCH_OK(dave_key_alloc(&open.dave.key, base, 1, 0));
		command(open);
	}
	c = (struct cmd){.type = CMD_SLOT_MAP, .slot = {.slot = c.slot.slot, .ssrc = 1000 + s}};
	command(c);
}

static void start_line(void)
{
	struct env_conf conf = {.thread = 1};
	struct cmd key = {.type = CMD_KEY},
		   clear = {.type = CMD_DAVE_CLEAR, .dave = {.send = true, .until = UINT64_MAX}};

	BENCH_OK(env_alloc(&rig.env, &conf));
	env_replay_world(rig.env, world, NULL);
	BENCH_OK(env_source_add(rig.env, &rig.source, on_datagram, &rig));
	BENCH_OK(call_stream_alloc(&rig.stream, NULL, 64000));
	call_stream_attach(rig.stream, rig.env, 0, 0, on_up, has_room, &rig);
	command((struct cmd){.type = CMD_LINK, .link = {.fd = -1, .link = 1, .ssrc = 9}});
	BENCH_OK(rtpsize_alloc(&key.key, RTPSIZE_AES256_GCM, call_key));
	command(key);
	if (!rig.dave)
		command(clear);
	command((struct cmd){.type = CMD_SET,
			     .set = {.bitrate = 64000, .mute = true, .keep_unmapped = true}});
	for (unsigned s = 0; s < SPEAKERS; s++)
		add_speaker(s);
}

static void ours(void *arg)
{
	struct rig *r = arg;
	const struct packet *k = &r->packets[r->at_ours];

	/* The speakers' time goes on by their frames: what one may send in a second is bounded. The
	 * clock is read all the same, as for each datagram that comes. */
	r->clock = bench_clock();
	env_replay_step(r->env, NS_PER_S + r->at_ours++ / SPEAKERS * FRAME_NS, r->source, 0, k->p,
			k->n);
}

/* ---- the libraries alone ---- */

static void bare(void *arg)
{
	struct rig *r = arg;
	const struct packet *k = &r->packets[r->at_bare++];
	uint8_t nonce[12] = {0}, plain[PACKET], opus[PACKET], iv[12] = {0};
	int16_t pcm[FRAME];
	const uint8_t *frame = plain;
	size_t body = (size_t)k->n - RTP_HEADER - RTPSIZE_COUNTER;
	EVP_CIPHER_CTX *c = r->frame[k->speaker];
	int n;

	memcpy(nonce, k->p + k->n - RTPSIZE_COUNTER, RTPSIZE_COUNTER);
	if (crypto_aead_aes256gcm_decrypt_afternm(plain, NULL, NULL, k->p + RTP_HEADER, body, k->p,
						  RTP_HEADER, nonce, &r->transport))
		bench_die("the bare transport does not open");
	if (r->dave) {
		memcpy(iv + 8, &k->nonce, sizeof k->nonce);
		if (EVP_DecryptInit_ex(c, NULL, NULL, NULL, iv) != 1 ||
		    EVP_DecryptUpdate(c, opus, &n, plain, k->opus) != 1 ||
		    EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, DAVE_TAG, plain + k->opus) != 1 ||
		    EVP_DecryptFinal_ex(c, opus, &n) != 1)
			bench_die("the bare frame does not open");
		frame = opus;
	}
	if (opus_decode(r->dec[k->speaker], frame, k->opus, pcm, FRAME, 0) <= 0)
		bench_die("the bare frame does not decode");
}

static void start_bare(void)
{
	uint8_t base[DAVE_SECRET], key[16];
	int err;

	crypto_aead_aes256gcm_beforenm(&rig.transport, call_key);
	for (unsigned s = 0; s < SPEAKERS; s++) {
		base_of(base, s);
		BENCH_OK(dave_key_bytes(key, base, 0));
		rig.frame[s] = EVP_CIPHER_CTX_new();
		if (!rig.frame[s] ||
		    EVP_DecryptInit_ex(rig.frame[s], EVP_aes_128_gcm(), NULL, key, NULL) != 1)
			bench_die("libcrypto does not start");
		rig.dec[s] = opus_decoder_create(RATE, 1, &err);
		if (!rig.dec[s])
			bench_die("opus: %d", err);
	}
}

static void row(const char *name, bool dave)
{
	struct bench_turns t;

	memset(&rig, 0, sizeof rig);
	rig.dave = dave;
	seal_all();
	start_line();
	start_bare();
	bench_turns(&t, name, ours, bare, &rig, TURN_FRAMES * SPEAKERS, TURNS);
	if (rig.heard != FRAMES * SPEAKERS)
		bench_die("%s: %u of %u frames were heard", name, rig.heard, FRAMES * SPEAKERS);
	bench_row_more(name, t.ratio, "x", "\"ours_us\": %.2f, \"bare_us\": %.2f, \"speakers\": %d",
		       t.a / 1000, t.b / 1000, SPEAKERS);
	call_stream_stop(rig.stream);
	call_stream_free(rig.stream);
	env_free(rig.env);
	for (unsigned s = 0; s < SPEAKERS; s++) {
		EVP_CIPHER_CTX_free(rig.frame[s]);
		opus_decoder_destroy(rig.dec[s]);
	}
	free(rig.packets);
}

int main(void)
{
	if (sodium_init() < 0 || !crypto_aead_aes256gcm_is_available())
		bench_die("this processor has no AES instructions: the bare sum would be of "
			  "another maker");
	row("hear_core_ratio", false);
	row("hear_dave_ratio", true);
	return 0;
}
