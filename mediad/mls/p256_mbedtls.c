#include "mediad/mls/p256_maker.h"

#include <errno.h>

#include <mbedtls/asn1.h>
#include <mbedtls/ecdh.h>
#include <mbedtls/ecdsa.h>

#include "mediad/mls/crypto.h"

#ifndef MBEDTLS_ECDSA_DETERMINISTIC
#error "mbedTLS without MBEDTLS_ECDSA_DETERMINISTIC draws nonces: they must be those of RFC 6979"
#endif

/* Maps an error: mbedTLS adds a code of its upper layer (multiples of 128) to one of its lower. */
static int err_of(int ret, int other)
{
	int low = -ret & 0x7f, high = -ret & ~0x7f;

	if (ret == 0)
		return 0;
	if (low == -MBEDTLS_ERR_MPI_ALLOC_FAILED || low == -MBEDTLS_ERR_ASN1_ALLOC_FAILED ||
	    high == -MBEDTLS_ERR_ECP_ALLOC_FAILED || high == -MBEDTLS_ERR_MD_ALLOC_FAILED)
		return ENOMEM;
	return other;
}

/* ---- blinding ---- */

/* f_rng of mbedTLS. */
static int fill_random(void *rng, unsigned char *p, size_t n)
{
	mls_rng_fill(rng, p, n);
	return 0;
}

/* Without randomness of the caller, multiplications are blinded with bytes derived from their
 * secret. */
static void blind_seed(struct mls_rng *rng, const uint8_t priv[MLS_SCALAR], struct slice pub)
{
	static const char label[] = "Parley P-256 blinding";
	uint8_t seed[MLS_SEED];
	const struct slice parts[] = {mls_slice(label, sizeof label - 1), pub};

	mls_hmac(seed, mls_slice(priv, MLS_SCALAR), parts, 2);
	mls_rng_seed(rng, seed);
	mls_wipe(seed, sizeof seed);
}

/* ---- points ---- */

/* y = (x^3 - 3x + b) ^ ((p + 1) / 4), which mbedTLS 2.28 does not do. Whether that is a root, and x
 * below p, is for mbedtls_ecp_check_pubkey to say. */
static int decompress_point(const mbedtls_ecp_group *g, mbedtls_ecp_point *q,
			    const uint8_t in[MLS_SCALAR + 1])
{
	mbedtls_mpi t, e;
	int ret;

	mbedtls_mpi_init(&t);
	mbedtls_mpi_init(&e);
	MBEDTLS_MPI_CHK(mbedtls_mpi_read_binary(&q->X, in + 1, MLS_SCALAR));
	MBEDTLS_MPI_CHK(mbedtls_mpi_mul_mpi(&t, &q->X, &q->X));
	MBEDTLS_MPI_CHK(mbedtls_mpi_sub_int(&t, &t, 3));
	MBEDTLS_MPI_CHK(mbedtls_mpi_mul_mpi(&t, &t, &q->X));
	MBEDTLS_MPI_CHK(mbedtls_mpi_add_mpi(&t, &t, &g->B));
	MBEDTLS_MPI_CHK(mbedtls_mpi_mod_mpi(&t, &t, &g->P));
	MBEDTLS_MPI_CHK(mbedtls_mpi_add_int(&e, &g->P, 1));
	MBEDTLS_MPI_CHK(mbedtls_mpi_shift_r(&e, 2));
	MBEDTLS_MPI_CHK(mbedtls_mpi_exp_mod(&q->Y, &t, &e, &g->P, NULL));
	if (mbedtls_mpi_get_bit(&q->Y, 0) != (in[0] & 1))
		MBEDTLS_MPI_CHK(mbedtls_mpi_sub_mpi(&q->Y, &g->P, &q->Y));
	MBEDTLS_MPI_CHK(mbedtls_mpi_lset(&q->Z, 1));
cleanup:
	mbedtls_mpi_free(&t);
	mbedtls_mpi_free(&e);
	return ret;
}

static int read_point(const mbedtls_ecp_group *g, mbedtls_ecp_point *q, struct slice pub)
{
	int ret = pub.n == MLS_POINT ? mbedtls_ecp_point_read_binary(g, q, pub.p, pub.n)
				     : decompress_point(g, q, pub.p);

	return ret ? ret : mbedtls_ecp_check_pubkey(g, q);
}

static int write_point(const mbedtls_ecp_group *g, const mbedtls_ecp_point *q,
		       uint8_t out[MLS_POINT])
{
	size_t n;

	return mbedtls_ecp_point_write_binary(g, q, MBEDTLS_ECP_PF_UNCOMPRESSED, &n, out,
					      MLS_POINT);
}

/* ---- operations ---- */

static int make_pub(uint8_t pub[MLS_POINT], const uint8_t priv[MLS_SCALAR])
{
	struct mls_rng rng;
	mbedtls_ecp_keypair k;
	int ret;

	blind_seed(&rng, priv, (struct slice){0});
	mbedtls_ecp_keypair_init(&k);
	ret = mbedtls_ecp_group_load(&k.grp, MBEDTLS_ECP_DP_SECP256R1);
	if (!ret)
		ret = mbedtls_mpi_read_binary(&k.d, priv, MLS_SCALAR);
	if (!ret)
		ret = mbedtls_ecp_mul(&k.grp, &k.Q, &k.d, &k.grp.G, fill_random, &rng);
	if (!ret)
		ret = write_point(&k.grp, &k.Q, pub);
	mbedtls_ecp_keypair_free(&k);
	mls_rng_wipe(&rng);
	return err_of(ret, EBADMSG);
}

static int make_point(uint8_t out[MLS_POINT], struct slice pub)
{
	mbedtls_ecp_keypair k;
	int ret;

	mbedtls_ecp_keypair_init(&k);
	ret = mbedtls_ecp_group_load(&k.grp, MBEDTLS_ECP_DP_SECP256R1);
	if (!ret)
		ret = read_point(&k.grp, &k.Q, pub);
	if (!ret)
		ret = write_point(&k.grp, &k.Q, out);
	mbedtls_ecp_keypair_free(&k);
	return err_of(ret, EBADMSG);
}

static int make_dh(uint8_t z[MLS_SCALAR], const uint8_t priv[MLS_SCALAR], struct slice pub)
{
	struct mls_rng rng;
	mbedtls_ecp_keypair k;
	mbedtls_mpi x;
	int ret;

	blind_seed(&rng, priv, pub);
	mbedtls_ecp_keypair_init(&k);
	mbedtls_mpi_init(&x);
	ret = mbedtls_ecp_group_load(&k.grp, MBEDTLS_ECP_DP_SECP256R1);
	if (!ret)
		ret = mbedtls_mpi_read_binary(&k.d, priv, MLS_SCALAR);
	if (!ret)
		ret = read_point(&k.grp, &k.Q, pub);
	if (!ret)
		ret = mbedtls_ecdh_compute_shared(&k.grp, &x, &k.Q, &k.d, fill_random, &rng);
	if (!ret)
		ret = mbedtls_mpi_write_binary(&x, z, MLS_SCALAR);
	mbedtls_mpi_free(&x);
	mbedtls_ecp_keypair_free(&k);
	mls_rng_wipe(&rng);
	return err_of(ret, EBADMSG);
}

static int make_verify(struct slice pub, const uint8_t hash[MLS_HASH], struct slice sig)
{
	mbedtls_ecdsa_context k;
	int ret;

	mbedtls_ecdsa_init(&k);
	ret = mbedtls_ecp_group_load(&k.grp, MBEDTLS_ECP_DP_SECP256R1);
	if (!ret)
		ret = read_point(&k.grp, &k.Q, pub);
	if (!ret)
		ret = mbedtls_ecdsa_read_signature(&k, hash, MLS_HASH, sig.p, sig.n);
	mbedtls_ecdsa_free(&k);
	return err_of(ret, EACCES);
}

const struct p256_ops p256_by_mbedtls = {
	.pub = make_pub,
	.point = make_point,
	.dh = make_dh,
	.verify = make_verify,
};

int p256_mbedtls_sign(uint8_t sig[MLS_SIG_MAX], size_t *n, const uint8_t priv[MLS_SCALAR],
		      const uint8_t hash[MLS_HASH], struct mls_rng *rng)
{
	uint8_t der[MBEDTLS_ECDSA_MAX_LEN];
	mbedtls_ecdsa_context k;
	size_t len = 0;
	int ret;

	mbedtls_ecdsa_init(&k);
	ret = mbedtls_ecp_group_load(&k.grp, MBEDTLS_ECP_DP_SECP256R1);
	if (!ret)
		ret = mbedtls_mpi_read_binary(&k.d, priv, MLS_SCALAR);
	if (!ret)
		ret = mbedtls_ecdsa_write_signature(&k, MBEDTLS_MD_SHA256, hash, MLS_HASH, der,
						    &len, fill_random, rng);
	mbedtls_ecdsa_free(&k);
	if (ret)
		return err_of(ret, EBADMSG);
	if (len > MLS_SIG_MAX)
		return EOVERFLOW;
	memcpy(sig, der, len);
	*n = len;
	return 0;
}
