/* A group as one member sees it in one epoch (RFC 9420 section 12), and the steps to the next
 * epoch.
 *
 * Received messages change nothing in a state but its list of proposals: processing or making a
 * commit gives the next state and leaves this one unchanged, so a caller keeps both until it knows
 * which one is valid. Secrets are wiped with the state. One thread at a time: copies share counted
 * nodes, so they stay on the same thread. */
#ifndef MEDIAD_MLS_GROUP_H
#define MEDIAD_MLS_GROUP_H

#include "mediad/mls/message.h"
#include "mediad/mls/psk.h"
#include "mediad/mls/schedule.h"
#include "mediad/mls/tree.h"

struct mls_group;

/* Our keys as a member. Values; copied; the caller wipes them. */
struct mls_identity {
	struct p256_pair signature, encryption;
};

/* Creates a group at epoch 0 with ourselves as leaf 0. leaf: of our key package (source
 * KEY_PACKAGE); a reference is taken. extensions: body of the group context's vector. */
int mls_group_create(struct mls_group **out, struct slice group_id, const struct mls_identity *me,
		     struct mls_leaf *leaf, struct slice extensions, struct mls_rng *rng);
/* Joins by a Welcome (section 12.4.3.1). welcome: bare. tree: a ratchet tree sent beside it, empty
 * when it is in the GroupInfo. key_package is ours, init its key. Returns ENOENT when it is not for
 * us, ENOTSUP (also for pre-shared keys), EBADMSG or EACCES. */
int mls_group_join(struct mls_group **out, struct slice welcome, struct slice tree,
		   const struct mls_key_package *key_package, const struct p256_pair *init,
		   const struct mls_identity *me);
/* The same for a group that asks for pre-shared keys; ENOTSUP for others than these. */
int mls_group_join_with(struct mls_group **out, struct slice welcome, struct slice tree,
			const struct mls_key_package *key_package, const struct p256_pair *init,
			const struct mls_identity *me, struct mls_psk_list psks);
struct mls_group *mls_group_free(struct mls_group *g);

/* Authenticates a proposal message (of a member or external sender), checks it against the group,
 * and remembers it by its reference. A duplicate has no effect. ref may be NULL. Returns ESTALE,
 * EACCES, EBADMSG, ENOTSUP or EOVERFLOW. */
int mls_group_propose(struct mls_group *g, struct slice message, uint8_t ref[MLS_HASH]);
/* ENOENT. */
int mls_group_revoke(struct mls_group *g, struct slice ref);
unsigned mls_group_proposals(const struct mls_group *g);
/* True when a remembered proposal removes this leaf. */
bool mls_group_removes(const struct mls_group *g, uint32_t leaf);

struct mls_commit {
	struct mls_out message; /* MLSMessage(PublicMessage) */
	struct mls_out welcome; /* bare; empty when nobody is added */
	struct mls_group *next;
};
/* Commits all remembered proposals by reference, in the order of arrival, with a path when RFC
 * 9420 12.4 requires one. GroupInfo carries ratchet_tree alone. Returns EBADMSG when the proposals
 * conflict or remove us, ENOENT without any. */
int mls_group_commit(struct mls_commit *out, const struct mls_group *g, struct mls_rng *rng);
void mls_commit_free(struct mls_commit *c);
/* Processes the commit of another member. For our own commit it returns EINVAL; use the state that
 * came with it. Returns ESTALE, ENOENT (an unknown proposal; or the commit removes us: then
 * *removed is true, else false), EBADMSG, EACCES or ENOTSUP. */
int mls_group_process(struct mls_group **out, const struct mls_group *g, struct slice message,
		      bool *removed);

/* ---- getters: borrowed, as long as the state lives ---- */
uint64_t mls_group_epoch(const struct mls_group *g);
struct slice mls_group_id(const struct mls_group *g);
uint32_t mls_group_leaf(const struct mls_group *g); /* our own */
const struct mls_tree *mls_group_tree(const struct mls_group *g);
const struct mls_epoch *mls_group_secrets(const struct mls_group *g);
struct slice mls_group_extensions(const struct mls_group *g); /* of the group context */
struct slice mls_group_context_bytes(const struct mls_group *g);
struct slice mls_group_confirmed(const struct mls_group *g); /* confirmed transcript hash */
int mls_group_export(const struct mls_group *g, uint8_t *out, size_t n, const char *label,
		     struct slice context);

#endif
