/* The MLS state of a session: our keys, the group, proposals, our own commits. Shared by
 * mls_state.c (keys, groups of our own), mls_state_messages.c (messages of the gateway) and
 * mls_state_epoch.c (results of an epoch). */
#ifndef MEDIAD_DAVE_MLS_STATE_INTERNAL_H
#define MEDIAD_DAVE_MLS_STATE_INTERNAL_H

#include "mediad/dave/job.h"

enum {
	DAVE_COMMITS_MAX = 64,	/* own commits in one epoch; beyond that the oldest is dropped */
	DAVE_SENT_PACKAGES = 2, /* key packages: the last one sent, and the one before while it may
				   still be answered */
	DAVE_USER_BYTES = 8,
	DAVE_EXTERNAL_SENDER_MAX = 4096,
};

struct dave_sent_package {
	struct mls_key_package *package; /* NULL: none */
	struct p256_pair init;
};

struct dave_own_commit {
	struct dave_bytes message;
	struct mls_group *next;
};

struct dave_mls_state {
	uint64_t user, channel;
	struct dave_bytes sender; /* the ExternalSender of op 25; outlives every reset */
	struct mls_identity me;	  /* keys of our leaf before any update path of ours */
	struct mls_leaf *leaf;	  /* NULL: no keys yet */
	struct dave_sent_package packages[DAVE_SENT_PACKAGES]; /* newest first */
	struct mls_group *group;			       /* local (epoch 0) or established */
	bool established;
	struct dave_own_commit
		own_commits[DAVE_COMMITS_MAX]; /* oldest first, of the group's epoch */
	unsigned n_own_commits;
	struct dave_bytes last_op28; /* op 28 for the present proposals, unless they changed */
	bool proposals_changed;
	uint64_t serial;
};

/* ---- mls_state.c ---- */
void dave_mls_state_forget_commits(struct dave_mls_state *k);
void dave_mls_state_forget_packages(struct dave_mls_state *k);
/* Sets the group and takes it over. NULL: none. */
void dave_mls_state_set_group(struct dave_mls_state *k, struct mls_group *g, bool established);
/* Writes 8 bytes, big-endian: the form of users in credentials, and of the channel as group id. */
void dave_write_be64(uint8_t out[DAVE_USER_BYTES], uint64_t v);
int dave_mls_state_reset(struct dave_mls_state *k, struct dave_job *j, bool new_leaf);
void dave_mls_state_drop(struct dave_mls_state *k);
int dave_mls_state_set_external_sender(struct dave_mls_state *k, struct dave_job *j);

/* ---- mls_state_messages.c ---- */
void dave_mls_state_handle_proposals(struct dave_mls_state *k, struct dave_job *j);
void dave_mls_state_handle_commit(struct dave_mls_state *k, struct dave_job *j);
void dave_mls_state_handle_welcome(struct dave_mls_state *k, struct dave_job *j);

/* ---- mls_state_epoch.c ---- */
/* Reads the user of a leaf. Returns false when its credential is not one of DAVE. */
bool dave_leaf_user(const struct mls_leaf *l, uint64_t *user);
/* Returns EBADMSG when a credential is not one of DAVE or a user occurs twice. */
int dave_check_roster(const struct mls_tree *t);
/* Makes the epoch of a group; the caller sets its serial. Returns the errors of dave_check_roster.
 */
int dave_epoch_alloc(struct dave_epoch **out, const struct mls_group *g);

#endif
