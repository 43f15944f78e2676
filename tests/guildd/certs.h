/* A throw-away certificate authority and a leaf for one server, in a folder of their own (mode
 * 0700) that goes away with guildd. */
#ifndef GUILDD_CERTS_H
#define GUILDD_CERTS_H

struct gd_certs;

/* Makes both (P-256, some days of life), the leaf for this name and address, and writes ca.pem,
 * leaf.pem and leaf.key. EIO when libcrypto or the disk fails, ENOMEM. */
int gd_certs_alloc(struct gd_certs **out, const char *name, const char *ip);
/* Removes the files and the folder. */
struct gd_certs *gd_certs_free(struct gd_certs *c);
/* Paths, borrowed. */
const char *gd_certs_ca(const struct gd_certs *c);
const char *gd_certs_leaf(const struct gd_certs *c);
const char *gd_certs_key(const struct gd_certs *c);

#endif
