/* Key work that takes milliseconds: run on the worker, each job a function of what it carries.
 *
 * The mls_state (our keys, the group's state, proposals, commits of our own that may be announced)
 * belongs to whoever holds the job: the session hands it over with the job and gets it back with
 * the result, so nothing is shared between threads. A job that fails leaves the mls_state as it
 * was, unless its header says otherwise. */
#ifndef MEDIAD_DAVE_JOB_H
#define MEDIAD_DAVE_JOB_H

#include "mediad/dave/codes.h"
#include "mediad/dave/key.h"
#include "mediad/mls/group.h"

struct dave_mls_state;

/* user: ours. Nothing is generated yet. ENOMEM. */
int dave_mls_state_alloc(struct dave_mls_state **out, uint64_t user);
struct dave_mls_state *dave_mls_state_free(struct dave_mls_state *k);
/* For a recorded group: instead of RESET, which would make new ones, these keys are ours and this
 * key package was sent. EBADMSG when they do not belong together or to the user; ENOMEM. */
int dave_mls_state_import(struct dave_mls_state *k, uint64_t channel, const struct mls_identity *me,
			  const struct p256_pair *init, struct slice key_package);
/* What it knows of the group, for tools and tests; NULL without one. Local groups (epoch 0)
 * included. Borrowed. */
const struct mls_group *dave_mls_state_group(const struct dave_mls_state *k);

enum dave_job_type {
	DAVE_JOB_RESET, /* op 24 epoch 1, or op 4: forget the group, new keys; gives op 26 */
	DAVE_JOB_REKEY, /* recover: as RESET, but our leaf keys stay, and a welcome for the key
			   package before is still     taken */
	DAVE_JOB_DROP,	/* version 0: forget the group */
	DAVE_JOB_EXTERNAL_SENDER, /* op 25 */
	DAVE_JOB_PROPOSALS,	  /* op 27: may give op 28 */
	DAVE_JOB_COMMIT,	  /* op 29: may give an epoch */
	DAVE_JOB_WELCOME,	  /* op 30: may give an epoch */
	DAVE_JOB_CODE,		  /* the verification code of `user` */
};

enum dave_verdict {
	DAVE_NOT_RUN, /* handed back as it was: the session heals by a rejoin */
	DAVE_DONE,
	DAVE_IGNORED, /* nothing to do with us, or not now: no reason to heal */
	DAVE_REFUSED, /* proposals that we cannot commit; others perhaps can */
	DAVE_INVALID, /* op 31 */
};

struct dave_member {
	uint64_t user;
	uint8_t base[DAVE_SECRET];
	struct slice signature_key; /* owned by the epoch */
};
/* Everything one epoch gives: lives on the loop thread afterwards. */
struct dave_epoch {
	uint64_t number; /* of MLS */
	uint64_t serial; /* rises with every epoch of this mls_state, from 1: dave_key's epoch */
	uint8_t authenticator[32];
	uint32_t n;
	struct dave_member *member; /* ourselves included, by user id; one block with their keys */
};
struct dave_epoch *dave_epoch_free(struct dave_epoch *e);
/* NULL. */
const struct dave_member *dave_epoch_find(const struct dave_epoch *e, uint64_t user);

struct dave_bytes {
	uint8_t *p;
	size_t n;
};
struct dave_job {
	enum dave_job_type type;
	uint8_t seed[MLS_SEED];		  /* filled by the shell */
	struct dave_mls_state *mls_state; /* owned while it is under way; NULL for CODE */
	uint64_t channel;		  /* RESET, REKEY: the group id */
	uint16_t transition;		  /* COMMIT, WELCOME */
	struct dave_bytes
		in; /* the message's payload behind its opcode (and transition id); owned */
	uint64_t *recognized; /* PROPOSALS, WELCOME: users told by ops 11 and 13, ourselves
				 included, sorted; owned */
	size_t n_recognized;
	/* CODE: the other member, and the signature keys of both (as received; ours is `mine`). */
	uint64_t user, self;
	struct dave_bytes theirs, mine; /* owned */

	/* results */
	enum dave_verdict verdict;
	int err;		  /* why not, an errno of mls.h */
	bool in_group;		  /* afterwards the mls_state is in an established group */
	struct dave_bytes out;	  /* op 26 or 28, its payload; owned */
	struct dave_epoch *epoch; /* owned */
	char code[46];		  /* CODE */
};
/* ENOMEM. Zeroed but the type. */
int dave_job_alloc(struct dave_job **out, enum dave_job_type type);
struct dave_job *dave_job_free(struct dave_job *j);
/* Never fails: the verdict tells. */
void dave_job_run(struct dave_job *j);

#endif
