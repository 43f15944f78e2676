/* The cost of opening a video frame of one packet, relative to the cipher itself: video_open_ratio.
 *
 * The frame is an H.264 slice, whose header stays clear and is the additional data. Both sides open
 * the same frames, each from memory of its own, and every frame once, because a repeated one is a
 * replay. */
#include "mediad/dave/media.h"
#include "tests/bench/bench.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME = 1200, BATCH = 400, TURNS = 41, FRAMES = BATCH * (TURNS + 1), SLACK = 64, CLEAR = 6 };

struct sealed {
	size_t n;
	uint32_t nonce;
	uint8_t p[FRAME + SLACK];
};

static struct rig {
	struct dave_sealer *sealer;
	struct dave_opener *opener;
	EVP_CIPHER_CTX *dec;
	uint8_t out[FRAME + SLACK];
	struct sealed *ours, *bare;
	unsigned at, bare_at;
} rig;

static void ours(void *arg)
{
	struct rig *r = arg;
	const struct sealed *f = &r->ours[r->at++];
	uint64_t epoch;
	size_t n;

	if (dave_open(r->opener, (struct slice){f->p, f->n}, 1, r->out, sizeof r->out, &n,
		      &epoch) != DAVE_SEALED ||
	    n != FRAME)
		bench_die("a frame did not open");
}

/* The nonce is known, and the place of the clear bytes. */
static void bare(void *arg)
{
	struct rig *r = arg;
	struct sealed *f = &r->bare[r->bare_at++];
	uint8_t *frame = f->p, iv[12] = {0};
	int n;

	memcpy(iv + 8, &f->nonce, sizeof f->nonce);
	memcpy(r->out, frame, CLEAR);
	if (EVP_DecryptInit_ex(r->dec, NULL, NULL, NULL, iv) != 1 ||
	    EVP_DecryptUpdate(r->dec, NULL, &n, frame, CLEAR) != 1 ||
	    EVP_DecryptUpdate(r->dec, r->out + CLEAR, &n, frame + CLEAR, FRAME - CLEAR) != 1 ||
	    EVP_CIPHER_CTX_ctrl(r->dec, EVP_CTRL_AEAD_SET_TAG, DAVE_TAG, frame + FRAME) != 1 ||
	    EVP_DecryptFinal_ex(r->dec, r->out, &n) != 1)
		bench_die("libcrypto alone fails");
}

static void seal_frames(void)
{
	/* A slice of a P picture: the three numbers at its beginning take one byte. */
	static const uint8_t head[CLEAR] = {0, 0, 0, 1, 0x41, 0x9a};
	uint8_t plain[FRAME];
	struct dave_frame f;

	for (unsigned i = 0; i < FRAME; i++)
		plain[i] = (uint8_t)(i * 7 | 2);
	memcpy(plain, head, sizeof head);
	for (unsigned i = 0; i < FRAMES; i++) {
		BENCH_OK(dave_seal(rig.sealer, DAVE_H264, plain, FRAME, rig.ours[i].p,
				   sizeof rig.ours[i].p, &rig.ours[i].n));
		if (!dave_frame_parse(&f, rig.ours[i].p, rig.ours[i].n) || f.n_ranges != 1 ||
		    f.range[0].at != 0 || f.range[0].n != CLEAR)
			bench_die("a frame has other clear bytes than expected");
		rig.ours[i].nonce = f.nonce;
		rig.bare[i] = rig.ours[i];
	}
}

int main(void)
{
	static const uint8_t base[DAVE_SECRET] = "0123456789abcdef";
	struct bench_turns t;
	struct dave_key *k;
	uint8_t key[16];

	BENCH_OK(dave_sealer_alloc(&rig.sealer));
	BENCH_OK(dave_opener_alloc(&rig.opener));
	BENCH_OK(dave_key_alloc(&k, base, 1, 0));
	dave_sealer_set(rig.sealer, k);
	BENCH_OK(dave_key_alloc(&k, base, 1, 0));
	dave_opener_add(rig.opener, k, 0, NULL, NULL);
	BENCH_OK(dave_key_bytes(key, base, 0));
	rig.dec = EVP_CIPHER_CTX_new();
	rig.ours = malloc(FRAMES * sizeof *rig.ours);
	rig.bare = malloc(FRAMES * sizeof *rig.bare);
	if (!rig.dec || !rig.ours || !rig.bare ||
	    EVP_DecryptInit_ex(rig.dec, EVP_aes_128_gcm(), NULL, key, NULL) != 1)
		bench_die("libcrypto does not start");
	seal_frames();

	bench_turns(&t, "video_open_ratio", ours, bare, &rig, BATCH, TURNS);
	bench_row_more("video_open_ratio", t.ratio, "x", "\"ours_ns\": %.1f, \"bare_ns\": %.1f",
		       t.a, t.b);

	EVP_CIPHER_CTX_free(rig.dec);
	dave_sealer_free(rig.sealer);
	dave_opener_free(rig.opener);
	free(rig.ours);
	free(rig.bare);
	return 0;
}
