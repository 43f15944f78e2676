/* The contents of a group; for the group_*.c files alone. */
#ifndef MEDIAD_MLS_GROUP_INTERNAL_H
#define MEDIAD_MLS_GROUP_INTERNAL_H

#include "mediad/mls/group.h"
#include "mediad/mls/treekem.h"

/* A proposal that awaits its commit. */
struct remembered {
	uint8_t ref[MLS_HASH];
	uint8_t *bytes; /* the message; owned */
	size_t n;
	struct mls_public message;    /* points into it */
	struct mls_proposal proposal; /* too */
};

struct mls_group {
	struct mls_out context_bytes;
	struct mls_group_context context; /* points into them */
	struct mls_tree *tree;
	struct mls_private keys;
	struct p256_pair signature;
	struct mls_epoch secrets;
	uint8_t interim[MLS_HASH];
	struct remembered *proposals; /* in the order they came */
	unsigned n_proposals, cap_proposals;
	size_t proposal_bytes;
};

/* ---- group.c ---- */

/* Makes a group of zeros, and a successor of g: its tree and our keys, nothing of its epoch. */
int group_alloc(struct mls_group **out);
int group_successor(struct mls_group **out, const struct mls_group *g);
/* Takes over the values; they may point into the context that is replaced. */
int group_set_context(struct mls_group *g, const struct mls_group_context *c);
/* The context of the next epoch before its transcript is known: sections 12.4.1 and 12.4.2. */
int group_provisional(struct mls_group *next, const struct mls_group *g, struct slice extensions);
/* Transcript, context and secrets of the next epoch, and the tag that its commit must carry. */
int group_enter(struct mls_group *next, const struct mls_group *g,
		const uint8_t commit_secret[MLS_HASH], struct slice transcript_input,
		uint8_t tag[MLS_HASH]);

/* ---- group_proposal.c ---- */

/* Group, epoch, membership tag and signature. ESTALE, EACCES, EBADMSG, ENOTSUP. */
int group_authenticate(const struct mls_group *g, const struct mls_public *m);
/* Sections 12.1 and 12.2, as far as one proposal alone can be judged. */
int group_check_proposal(const struct mls_group *g, const struct mls_proposal *p,
			 enum mls_sender_type sender, uint32_t sender_index);
const struct remembered *group_recall(const struct mls_group *g, struct slice ref);
/* Checks that every member supports what these extensions of the group context require. EBADMSG,
 * EOVERFLOW. */
int group_supported(const struct mls_tree *t, struct slice extensions);

/* ---- group_plan.c ---- */

/* The proposals of one commit, in its order. */
struct group_change {
	struct mls_proposal proposal;
	bool owned;	 /* came by value */
	uint32_t sender; /* of an Update */
};
struct group_plan {
	struct group_change *changes;
	unsigned n, cap;
	struct slice extensions;	   /* of the next epoch */
	uint32_t added[MLS_PROPOSALS_MAX]; /* the leaves of the Adds, rising */
	unsigned n_added;
};
/* Appends to a plan, which is zero-initialised at first. Takes over an owned proposal on success
 * only. EOVERFLOW, ENOMEM. */
int group_plan_put(struct group_plan *plan, const struct mls_proposal *p, uint32_t sender,
		   bool owned);
void group_plan_free(struct group_plan *plan);
/* Section 12.2: refuses proposals that must not be in one commit together. EBADMSG. */
int group_plan_check(const struct group_plan *plan, const struct mls_group *g, uint32_t committer);
bool group_plan_needs_path(const struct group_plan *plan);
bool group_plan_removes(const struct group_plan *plan, uint32_t leaf);
/* Section 12.3: extensions, Updates, Removes, Adds. `t` is a copy of the group's tree. EBADMSG,
 * EOVERFLOW, ENOMEM. */
int group_plan_apply(struct group_plan *plan, const struct mls_group *g, struct mls_tree *t);

#endif
