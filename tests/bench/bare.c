#include "tests/bench/bare.h"

#include "mediad/audio/upsampler.h"
#include "mediad/dave/frame.h"
#include "mediad/transport/rtpsize.h"
#include "proto/rtp.h"
#include "tests/bench/bench.h"

#include <openssl/evp.h>
#include <opus/opus.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { OPUS_MAX = 1275, BITRATE = 64000, STEREO_BITRATE = 128000 };

/* What reading the clock twice adds to a measured time. */
static uint64_t clock_cost(void)
{
	static uint64_t cost;
	uint64_t from = bench_cpu();

	if (!cost) {
		for (unsigned i = 0; i < 10000; i++)
			bench_cpu();
		cost = (bench_cpu() - from) / 10000 + 1;
	}
	return cost;
}

static uint64_t spent(uint64_t from)
{
	uint64_t ns = bench_cpu() - from;

	return ns > clock_cost() ? ns - clock_cost() : 0;
}

/* ---- hearing ---- */

struct bare_receiver {
	crypto_aead_aes256gcm_state transport;
	EVP_CIPHER_CTX *dave;
	OpusDecoder *dec;
	int samples;
	uint64_t opus;
};

void bare_receiver_alloc(struct bare_receiver **out, const uint8_t transport[32],
			 const uint8_t dave[16], uint32_t rate)
{
	struct bare_receiver *e = aligned_alloc(64, (sizeof *e + 63) / 64 * 64);
	int err;

	if (!e)
		bench_die("out of memory");
	crypto_aead_aes256gcm_beforenm(&e->transport, transport);
	e->dave = EVP_CIPHER_CTX_new();
	if (!e->dave || EVP_DecryptInit_ex(e->dave, EVP_aes_128_gcm(), NULL, dave, NULL) != 1)
		bench_die("libcrypto does not start");
	e->dec = opus_decoder_create((opus_int32)rate, 1, &err);
	if (!e->dec)
		bench_die("opus: %d", err);
	e->samples = (int)rate / 50;
	*out = e;
}

struct bare_receiver *bare_receiver_free(struct bare_receiver *e)
{
	if (e) {
		EVP_CIPHER_CTX_free(e->dave);
		opus_decoder_destroy(e->dec);
		free(e);
	}
	return NULL;
}

static void open_dave(struct bare_receiver *e, const struct dave_frame *f, uint8_t *out)
{
	uint8_t iv[12] = {0}, tag[DAVE_TAG];
	int n;

	memcpy(iv + 8, &f->nonce, sizeof f->nonce);
	memcpy(tag, f->tag.p, DAVE_TAG);
	if (EVP_DecryptInit_ex(e->dave, NULL, NULL, NULL, iv) != 1 ||
	    EVP_DecryptUpdate(e->dave, out, &n, f->body.p, (int)f->body.n) != 1 ||
	    EVP_CIPHER_CTX_ctrl(e->dave, EVP_CTRL_AEAD_SET_TAG, DAVE_TAG, tag) != 1 ||
	    EVP_DecryptFinal_ex(e->dave, out, &n) != 1)
		bench_die("the bare frame does not open");
}

/* Returns the bytes within. */
static size_t open_transport(struct bare_receiver *e, const uint8_t *p, size_t n, uint8_t *out)
{
	uint8_t nonce[12] = {0};
	size_t body = n - RTP_HEADER - RTPSIZE_COUNTER;

	memcpy(nonce, p + n - RTPSIZE_COUNTER, RTPSIZE_COUNTER);
	if (crypto_aead_aes256gcm_decrypt_afternm(out, NULL, NULL, p + RTP_HEADER, body, p,
						  RTP_HEADER, nonce, &e->transport))
		bench_die("the bare transport does not open");
	return body - RTPSIZE_TAG;
}

static int decode(struct bare_receiver *e, const uint8_t *opus, size_t n, int16_t *pcm)
{
	int samples = opus_decode(e->dec, opus, (opus_int32)n, pcm, RTP_FRAME, 0);

	if (samples != e->samples)
		bench_die("the bare frame does not decode");
	return samples;
}

uint64_t bare_receiver_run(struct bare_receiver *e, const uint8_t *p, size_t n)
{
	uint8_t frame[UDP_MAX_PACKET], opus[UDP_MAX_PACKET];
	int16_t pcm[RTP_FRAME];
	struct dave_frame f;
	uint64_t from = bench_cpu(), ns;
	size_t len = open_transport(e, p, n, frame);

	ns = spent(from);
	if (!dave_frame_parse(&f, frame, len))
		bench_die("a frame is not encrypted");
	from = bench_cpu();
	open_dave(e, &f, opus);
	ns += spent(from);
	from = bench_cpu();
	decode(e, opus, f.body.n, pcm);
	e->opus = spent(from);
	return ns + e->opus;
}

int bare_receiver_decode(struct bare_receiver *e, const uint8_t *p, size_t n, int16_t *pcm)
{
	uint8_t frame[UDP_MAX_PACKET], opus[UDP_MAX_PACKET];
	struct dave_frame f;

	if (!dave_frame_parse(&f, frame, open_transport(e, p, n, frame)))
		bench_die("a frame is not encrypted");
	open_dave(e, &f, opus);
	return decode(e, opus, f.body.n, pcm);
}

uint64_t bare_receiver_opus(const struct bare_receiver *e)
{
	return e->opus;
}

/* ---- speaking ---- */

struct bare_sender {
	crypto_aead_aes256gcm_state transport;
	EVP_CIPHER_CTX *dave;
	OpusEncoder *enc;
	struct upsampler upsampler;
	uint32_t ssrc, frame;
	opus_int32 n;
	uint8_t opus[OPUS_MAX];
};

static void alloc_sender(struct bare_sender **out, uint32_t ssrc, int complexity, int channels)
{
	static const uint8_t key[32] = "an ordinary key of 32 bytes 1234";
	struct bare_sender *m = aligned_alloc(64, (sizeof *m + 63) / 64 * 64);
	int err;

	if (!m)
		bench_die("out of memory");
	memset(m, 0, sizeof *m);
	m->ssrc = ssrc;
	crypto_aead_aes256gcm_beforenm(&m->transport, key);
	m->dave = EVP_CIPHER_CTX_new();
	if (!m->dave || EVP_EncryptInit_ex(m->dave, EVP_aes_128_gcm(), NULL, key, NULL) != 1)
		bench_die("libcrypto does not start");
	upsampler_init(&m->upsampler);
	/* As the sender's own (mediad/audio/encoder.c). */
	m->enc = opus_encoder_create(RTP_CLOCK, channels, OPUS_APPLICATION_AUDIO, &err);
	if (!m->enc)
		bench_die("opus: %d", err);
	opus_encoder_ctl(m->enc, OPUS_SET_PACKET_LOSS_PERC(5));
	opus_encoder_ctl(m->enc, OPUS_SET_COMPLEXITY(complexity));
	*out = m;
}

void bare_sender_alloc(struct bare_sender **out, uint32_t ssrc, int complexity)
{
	alloc_sender(out, ssrc, complexity, 1);
	opus_encoder_ctl((*out)->enc, OPUS_SET_SIGNAL(OPUS_SIGNAL_VOICE));
	opus_encoder_ctl((*out)->enc, OPUS_SET_INBAND_FEC(1));
	opus_encoder_ctl((*out)->enc, OPUS_SET_BITRATE(BITRATE));
}

void bare_sender_alloc_stereo(struct bare_sender **out, uint32_t ssrc, int complexity)
{
	alloc_sender(out, ssrc, complexity, 2);
	opus_encoder_ctl((*out)->enc, OPUS_SET_SIGNAL(OPUS_SIGNAL_MUSIC));
	opus_encoder_ctl((*out)->enc, OPUS_SET_BITRATE(STEREO_BITRATE));
}

struct bare_sender *bare_sender_free(struct bare_sender *m)
{
	if (m) {
		EVP_CIPHER_CTX_free(m->dave);
		opus_encoder_destroy(m->enc);
		free(m);
	}
	return NULL;
}

uint64_t bare_sender_encode(struct bare_sender *m, const int16_t in[BARE_IN])
{
	int16_t pcm[RTP_FRAME];
	uint64_t from = bench_cpu();

	upsampler_run(&m->upsampler, in, BARE_IN, pcm);
	m->n = opus_encode(m->enc, pcm, RTP_FRAME, m->opus, sizeof m->opus);
	if (m->n <= 0)
		bench_die("opus_encode: %d", m->n);
	return spent(from);
}

uint64_t bare_sender_encode_stereo(struct bare_sender *m, const int16_t *in)
{
	uint64_t from = bench_cpu();

	m->n = opus_encode(m->enc, in, RTP_FRAME, m->opus, sizeof m->opus);
	if (m->n <= 0)
		bench_die("opus_encode: %d", m->n);
	return spent(from);
}

uint64_t bare_sender_seal(struct bare_sender *m, uint8_t *out, size_t *n)
{
	struct rtp_header h = {.pt = RTP_PT_OPUS,
			       .seq = (uint16_t)m->frame,
			       .ts = m->frame * RTP_FRAME,
			       .ssrc = m->ssrc};
	uint8_t iv[12] = {0}, sealed[OPUS_MAX + DAVE_OPUS_OVERHEAD];
	size_t at = (size_t)m->n + DAVE_TAG, header;
	unsigned long long len;
	uint64_t from;
	int k;

	BENCH_OK(rtp_build(&h, out, RTP_HEADER, &header));
	m->frame++;
	memcpy(iv, &m->frame, sizeof m->frame);
	from = bench_cpu();
	if (EVP_EncryptInit_ex(m->dave, NULL, NULL, NULL, iv) != 1 ||
	    EVP_EncryptUpdate(m->dave, sealed, &k, m->opus, m->n) != 1 ||
	    EVP_EncryptFinal_ex(m->dave, sealed + k, &k) != 1 ||
	    EVP_CIPHER_CTX_ctrl(m->dave, EVP_CTRL_AEAD_GET_TAG, DAVE_TAG, sealed + m->n) != 1)
		bench_die("libcrypto does not encrypt");
	memset(sealed + at, DAVE_MAGIC, DAVE_TAIL + 1);
	crypto_aead_aes256gcm_encrypt_afternm(out + RTP_HEADER, &len, sealed, at + DAVE_TAIL + 1,
					      out, RTP_HEADER, NULL, iv, &m->transport);
	memcpy(out + RTP_HEADER + len, iv, RTPSIZE_COUNTER);
	*n = RTP_HEADER + (size_t)len + RTPSIZE_COUNTER;
	return spent(from);
}
