/* TreeKEM: makes and processes the path of a commit (RFC 9420 sections 7.4 to 7.6).
 *
 * Each member knows the private keys of its own leaf and of those parents above it that it was
 * given: struct mls_private. */
#ifndef MEDIAD_MLS_TREEKEM_H
#define MEDIAD_MLS_TREEKEM_H

#include "mediad/mls/hpke.h"
#include "mediad/mls/tree.h"

enum { MLS_PATH_MAX = 32, MLS_CIPHERTEXTS_MAX = MLS_LEAVES_MAX };

/* A value. Keys by tree level (index 0: the leaf itself); known[] tells which ones are present. */
struct mls_private {
	uint32_t leaf;
	bool known[MLS_PATH_MAX];
	struct p256_pair key[MLS_PATH_MAX];
};
void mls_private_wipe(struct mls_private *p);
/* Forgets the keys of parents that are blank or have another public key by now. */
void mls_private_prune(struct mls_private *p, const struct mls_tree *t);
/* Sets the keys from the lowest common ancestor with `other` upwards (a Welcome's path secret).
 * EBADMSG when a key derived differs from the tree's. */
int mls_private_implant(struct mls_private *p, const struct mls_tree *t, uint32_t other,
			const uint8_t path_secret[MLS_HASH]);

/* UpdatePath as parsed: slices into the message but the leaf, which is owned. */
struct mls_leaf_set {
	const uint32_t *leaf; /* sorted */
	uint32_t n;
};
struct mls_path_node {
	struct slice key;
	struct slice ciphertexts; /* body of the vector of HPKECiphertext */
};
struct mls_path {
	struct mls_leaf *leaf;
	uint32_t n;
	struct mls_path_node node[MLS_PATH_MAX];
};
int mls_path_read(struct mls_path *out, struct rd *r);
void mls_path_free(struct mls_path *p);

/* Merges a path of `sender` into the tree: blanks its direct path, sets the nodes with their parent
 * hashes, then the leaf. Checks the number of nodes, the leaf's source and its parent hash; keys
 * must be new, and points. After EBADMSG the tree must be discarded. The leaf is not validated
 * here. */
int mls_path_merge(struct mls_tree *t, uint32_t sender, const struct mls_path *path);
/* Decrypts our path secret in a merged tree. context: the provisional GroupContext; excluded:
 * leaves added in this commit, sorted. Updates the private keys and returns the commit secret.
 * EBADMSG, EACCES. */
int mls_path_open(struct mls_private *me, const struct mls_tree *merged, uint32_t sender,
		  const struct mls_path *path, struct slice context, struct mls_leaf_set excluded,
		  uint8_t commit_secret[MLS_HASH]);

/* Makes a path of our own. First mls_path_make: new keys and our new leaf in `t` (to which the
 * proposals have been applied) and in *me; then, with the provisional context that follows from it,
 * mls_path_write. path_secrets: of the filtered path, for welcomes; the caller wipes them. EINVAL:
 * we are no member. After an error the tree must be discarded. */
struct mls_path_secrets {
	uint32_t n, node[MLS_PATH_MAX];
	uint8_t secret[MLS_PATH_MAX][MLS_HASH];
};
int mls_path_make(struct mls_tree *t, struct mls_private *me, const struct p256_pair *signer,
		  struct slice group_id, struct mls_path_secrets *secrets,
		  uint8_t commit_secret[MLS_HASH], struct mls_rng *rng);
/* Appends the UpdatePath. */
int mls_path_write(struct mls_out *o, const struct mls_tree *t, uint32_t sender,
		   const struct mls_path_secrets *secrets, struct slice context,
		   struct mls_leaf_set excluded, struct mls_rng *rng);

#endif
