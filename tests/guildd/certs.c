#include "tests/guildd/certs.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DAYS = 14, PATH = 256, NAMES = 200 };

struct gd_certs {
	char dir[PATH - 16], ca[PATH], leaf[PATH], key[PATH];
};

static int extension(X509 *x, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509_EXTENSION *e;
	int ok;

	X509V3_set_ctx_nodb(&ctx);
	X509V3_set_ctx(&ctx, issuer, x, NULL, NULL, 0);
	e = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	ok = e && X509_add_ext(x, e, -1);
	X509_EXTENSION_free(e);
	return ok ? 0 : EIO;
}

static int name_set(X509_NAME *n, const char *common)
{
	return X509_NAME_add_entry_by_txt(n, "CN", MBSTRING_ASC, (const unsigned char *)common, -1,
					  -1, 0)
		       ? 0
		       : EIO;
}

/* A certificate for `key`, signed by issuer_key; issuer NULL = by itself, an authority. `names` as
 * a leaf's subjectAltName. Caller owns it. */
static X509 *certificate(EVP_PKEY *key, X509 *issuer, EVP_PKEY *issuer_key, const char *common,
			 const char *names)
{
	X509 *x = X509_new();
	uint64_t serial;
	int err = x && RAND_bytes((unsigned char *)&serial, sizeof(serial)) == 1 ? 0 : EIO;

	if (!err &&
	    (!X509_set_version(x, 2) ||
	     !ASN1_INTEGER_set_uint64(X509_get_serialNumber(x), serial >> 1) ||
	     !X509_gmtime_adj(X509_getm_notBefore(x), -86400) ||
	     !X509_gmtime_adj(X509_getm_notAfter(x), DAYS * 86400L) || !X509_set_pubkey(x, key)))
		err = EIO;
	if (!err)
		err = name_set(X509_get_subject_name(x), common);
	if (!err && !X509_set_issuer_name(x, X509_get_subject_name(issuer ? issuer : x)))
		err = EIO;
	if (!err)
		err = extension(x, issuer ? issuer : x, NID_basic_constraints,
				issuer ? "critical,CA:FALSE" : "critical,CA:TRUE");
	if (!err)
		err = extension(x, issuer ? issuer : x, NID_key_usage,
				issuer ? "critical,digitalSignature"
				       : "critical,keyCertSign,cRLSign");
	if (!err)
		err = extension(x, issuer ? issuer : x, NID_subject_key_identifier, "hash");
	if (!err && issuer)
		err = extension(x, issuer, NID_subject_alt_name, names);
	if (!err && issuer)
		err = extension(x, issuer, NID_ext_key_usage, "serverAuth");
	if (!err && !X509_sign(x, issuer_key, EVP_sha256()))
		err = EIO;
	if (err) {
		X509_free(x);
		return NULL;
	}
	return x;
}

static int write_pem(const char *path, X509 *x, EVP_PKEY *key)
{
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
	int ok;

	if (!f) {
		if (fd >= 0)
			close(fd);
		return EIO;
	}
	ok = x ? PEM_write_X509(f, x) : PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL);
	return fclose(f) == 0 && ok ? 0 : EIO;
}

static int make(struct gd_certs *c, const char *name, const char *names)
{
	EVP_PKEY *ca_key = EVP_EC_gen("P-256"), *key = EVP_EC_gen("P-256");
	X509 *ca = NULL, *leaf = NULL;
	int err = EIO;

	if (!ca_key || !key)
		goto out;
	ca = certificate(ca_key, NULL, ca_key, "guildd throw-away authority", NULL);
	leaf = ca ? certificate(key, ca, ca_key, name, names) : NULL;
	if (!leaf)
		goto out;
	err = write_pem(c->ca, ca, NULL);
	if (!err)
		err = write_pem(c->leaf, leaf, NULL);
	if (!err)
		err = write_pem(c->key, NULL, key);
out:
	X509_free(leaf);
	X509_free(ca);
	EVP_PKEY_free(key);
	EVP_PKEY_free(ca_key);
	return err;
}

int gd_certs_alloc(struct gd_certs **out, const char *name, const char *ip)
{
	const char *tmp = getenv("TMPDIR");
	struct gd_certs *c = calloc(1, sizeof(*c));
	char names[NAMES];
	int n, err;

	if (!c)
		return ENOMEM;
	snprintf(names, sizeof(names), "DNS:%s,IP:%s", name, ip);
	n = snprintf(c->dir, sizeof(c->dir), "%s/guildd.XXXXXX", tmp && tmp[0] ? tmp : "/tmp");
	if (n < 0 || (size_t)n >= sizeof(c->dir)) {
		free(c);
		return ENAMETOOLONG;
	}
	if (!mkdtemp(c->dir)) { /* mode 0700 */
		err = errno;
		free(c);
		return err;
	}
	snprintf(c->ca, sizeof(c->ca), "%s/ca.pem", c->dir);
	snprintf(c->leaf, sizeof(c->leaf), "%s/leaf.pem", c->dir);
	snprintf(c->key, sizeof(c->key), "%s/leaf.key", c->dir);
	err = make(c, name, names);
	if (err) {
		gd_certs_free(c);
		return err;
	}
	*out = c;
	return 0;
}

struct gd_certs *gd_certs_free(struct gd_certs *c)
{
	if (!c)
		return NULL;
	unlink(c->ca);
	unlink(c->leaf);
	unlink(c->key);
	rmdir(c->dir);
	free(c);
	return NULL;
}

const char *gd_certs_ca(const struct gd_certs *c)
{
	return c->ca;
}

const char *gd_certs_leaf(const struct gd_certs *c)
{
	return c->leaf;
}

const char *gd_certs_key(const struct gd_certs *c)
{
	return c->key;
}
