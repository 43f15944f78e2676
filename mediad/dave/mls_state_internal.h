/* What the files of the mls_state share: mls_state.c (keys, groups of our own), keyroom_step.c
 * (what the gateway sends), keyroom_epoch.c (what an epoch gives). */
#ifndef MEDIAD_DAVE_MLS_STATE_INTERNAL_H
#define MEDIAD_DAVE_MLS_STATE_INTERNAL_H

#include "mediad/dave/job.h"

enum {
	DAVE_COMMITS_MAX = 64,	/* of our own in one epoch; past it the oldest is forgotten */
	DAVE_SENT_PACKAGES = 2, /* key packages: the last sent, and the one before while it may
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
	struct mls_identity me;	  /* of our leaf before any path of ours */
	struct mls_leaf *leaf;	  /* NULL: no keys yet */
	struct dave_sent_package packages[DAVE_SENT_PACKAGES]; /* newest first */
	struct mls_group *group;			       /* local (epoch 0) or established */
	bool established;
	struct dave_own_commit own_commits[DAVE_COMMITS_MAX]; /* oldest first, of group's epoch */
	unsigned n_own_commits;
	struct dave_bytes last_op28; /* op 28 for the proposals as they are, unless they changed */
	bool proposals_changed;
	uint64_t serial;
};

/* ---- mls_state.c ---- */
void dave_mls_state_forget_commits(struct dave_mls_state *k);
void dave_mls_state_forget_packages(struct dave_mls_state *k);
/* The group from now on; taken over. NULL: none. */
void dave_mls_state_set_group(struct dave_mls_state *k, struct mls_group *g, bool established);
/* 8 bytes, big-endian: users in credentials, the channel as group id. */
void dave_write_be64(uint8_t out[DAVE_USER_BYTES], uint64_t v);
int dave_mls_state_reset(struct dave_mls_state *k, struct dave_job *j, bool new_leaf);
void dave_mls_state_drop(struct dave_mls_state *k);
int dave_mls_state_set_external_sender(struct dave_mls_state *k, struct dave_job *j);

/* ---- keyroom_step.c ---- */
void dave_mls_state_handle_proposals(struct dave_mls_state *k, struct dave_job *j);
void dave_mls_state_handle_commit(struct dave_mls_state *k, struct dave_job *j);
void dave_mls_state_handle_welcome(struct dave_mls_state *k, struct dave_job *j);

/* ---- keyroom_epoch.c ---- */
/* The user of a leaf. False: its credential is none of DAVE's. */
bool dave_leaf_user(const struct mls_leaf *l, uint64_t *user);
/* EBADMSG: a credential that is none of DAVE's, or a user twice. */
int dave_check_roster(const struct mls_tree *t);
/* As dave_check_roster; serial is left to the caller. */
int dave_epoch_alloc(struct dave_epoch **out, const struct mls_group *g);

#endif
