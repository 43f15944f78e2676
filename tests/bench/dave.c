/* The cost of DAVE per frame, relative to the cipher itself: dave_ratio. */
#include "mediad/dave/media.h"
#include "tests/bench/bench.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME = 160, BATCH = 2000, TURNS = 41, SLACK = 32 };

/* Ours needs a new nonce each frame, so frames are sealed first and opened in the order they were
 * sealed. */
static struct rig {
	struct dave_sealer *sealer;
	struct dave_opener *opener;
	EVP_CIPHER_CTX *enc, *dec;
	uint8_t plain[FRAME], out[FRAME + SLACK], tag[DAVE_TAG], iv[12];
	uint8_t sealed[BATCH][FRAME + SLACK];
	size_t len[BATCH];
	uint8_t bare_sealed[FRAME], bare_tag[DAVE_TAG];
	unsigned at;
	uint32_t count;
} rig;

static void ours(void *arg)
{
	struct rig *r = arg;
	unsigned i = r->at++ % BATCH;
	uint64_t epoch;
	size_t n;

	BENCH_OK(dave_seal(r->sealer, DAVE_OPUS, r->plain, FRAME, r->sealed[i], sizeof r->sealed[i],
			   &r->len[i]));
	if (dave_open(r->opener, (struct slice){r->sealed[i], r->len[i]}, 1, r->out, sizeof r->out,
		      &n, &epoch) != DAVE_SEALED)
		bench_die("a frame did not open");
}

static void bare(void *arg)
{
	struct rig *r = arg;
	int n;

	r->count++;
	memcpy(r->iv + 8, &r->count, sizeof r->count);
	if (EVP_EncryptInit_ex(r->enc, NULL, NULL, NULL, r->iv) != 1 ||
	    EVP_EncryptUpdate(r->enc, r->bare_sealed, &n, r->plain, FRAME) != 1 ||
	    EVP_EncryptFinal_ex(r->enc, r->bare_tag, &n) != 1 ||
	    EVP_CIPHER_CTX_ctrl(r->enc, EVP_CTRL_AEAD_GET_TAG, DAVE_TAG, r->bare_tag) != 1 ||
	    EVP_DecryptInit_ex(r->dec, NULL, NULL, NULL, r->iv) != 1 ||
	    EVP_DecryptUpdate(r->dec, r->out, &n, r->bare_sealed, FRAME) != 1 ||
	    EVP_CIPHER_CTX_ctrl(r->dec, EVP_CTRL_AEAD_SET_TAG, DAVE_TAG, r->bare_tag) != 1 ||
	    EVP_DecryptFinal_ex(r->dec, r->out, &n) != 1)
		bench_die("libcrypto alone fails");
}

static void seal_only(void *arg)
{
	struct rig *r = arg;
	size_t n;

	BENCH_OK(dave_seal(r->sealer, DAVE_OPUS, r->plain, FRAME, r->out, sizeof r->out, &n));
}

int main(void)
{
	static const uint8_t base[DAVE_SECRET] = "0123456789abcdef";
	struct bench_turns t;
	struct dave_key *k;
	uint8_t key[16];
	double seal;

	BENCH_OK(dave_sealer_alloc(&rig.sealer));
	BENCH_OK(dave_opener_alloc(&rig.opener));
	BENCH_OK(dave_key_alloc(&k, base, 1, 0));
	dave_sealer_set(rig.sealer, k);
	BENCH_OK(dave_key_alloc(&k, base, 1, 0));
	dave_opener_add(rig.opener, k, 0, NULL, NULL);
	BENCH_OK(dave_key_bytes(key, base, 0));
	rig.enc = EVP_CIPHER_CTX_new();
	rig.dec = EVP_CIPHER_CTX_new();
	if (!rig.enc || !rig.dec ||
	    EVP_EncryptInit_ex(rig.enc, EVP_aes_128_gcm(), NULL, key, NULL) != 1 ||
	    EVP_DecryptInit_ex(rig.dec, EVP_aes_128_gcm(), NULL, key, NULL) != 1)
		bench_die("libcrypto does not start");
	for (unsigned i = 0; i < FRAME; i++)
		rig.plain[i] = (uint8_t)(i * 7);

	bench_turns(&t, "dave_ratio", ours, bare, &rig, BATCH, TURNS);
	bench_row_more("dave_ratio", t.ratio, "x", "\"ours_ns\": %.1f, \"bare_ns\": %.1f", t.a,
		       t.b);
	seal = bench_one("dave_seal_ns", seal_only, &rig, BATCH, TURNS);
	bench_row("dave_seal_ns", seal, "ns");
	bench_row_more("dave_open_ns", t.a - seal, "ns",
		       "\"of\": \"dave_ratio less dave_seal_ns\"");

	EVP_CIPHER_CTX_free(rig.enc);
	EVP_CIPHER_CTX_free(rig.dec);
	dave_sealer_free(rig.sealer);
	dave_opener_free(rig.opener);
	return 0;
}
