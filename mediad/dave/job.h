/* Key operations that take milliseconds, run on the worker. Each job is a function of its contents.
 *
 * The MLS state of the session (our keys, the group's state, proposals, our own commits that may be
 * announced) belongs to the holder of the job: the session hands it over with the job and gets it
 * back with the result, so threads share nothing. A job that fails leaves the MLS state as it was,
 * unless its comment says otherwise. */
#ifndef MEDIAD_DAVE_JOB_H
#define MEDIAD_DAVE_JOB_H

#include "mediad/dave/codes.h"
#include "mediad/dave/key.h"
#include "mediad/mls/group.h"

struct dave_mls_state;

/* user: our own. Generates nothing yet. Returns ENOMEM. */
int dave_mls_state_alloc(struct dave_mls_state **out, uint64_t user);
struct dave_mls_state *dave_mls_state_free(struct dave_mls_state *k);
/* For a recorded group: installs these keys and this sent key package in place of a RESET, which
 * would make new ones. Returns EBADMSG when they do not match each other or the user, or ENOMEM. */
int dave_mls_state_import(struct dave_mls_state *k, uint64_t channel, const struct mls_identity *me,
			  const struct p256_pair *init, struct slice key_package);
/* The group, for tools and tests; NULL without one. Includes a local group (epoch 0). Borrowed. */
const struct mls_group *dave_mls_state_group(const struct dave_mls_state *k);

enum dave_job_type {
	DAVE_JOB_RESET, /* op 24 with epoch 1, or op 4: drops the group, makes new keys; results in
			   op 26 */
	DAVE_JOB_REKEY, /* recovery: as RESET, but our leaf keys stay, and a welcome for the
			   previous key package is still accepted */
	DAVE_JOB_DROP,	/* version 0: drops the group */
	DAVE_JOB_EXTERNAL_SENDER, /* op 25 */
	DAVE_JOB_PROPOSALS,	  /* op 27: may result in op 28 */
	DAVE_JOB_COMMIT,	  /* op 29: may result in an epoch */
	DAVE_JOB_WELCOME,	  /* op 30: may result in an epoch */
	DAVE_JOB_CODE,		  /* the verification code of `user` */
};

enum dave_verdict {
	DAVE_NOT_RUN, /* returned unrun: the session heals by a rejoin */
	DAVE_DONE,
	DAVE_IGNORED,	/* not for us, or not at this time: no reason to heal */
	DAVE_REFUSED,	/* proposals that we cannot commit; other members may be able to */
	DAVE_INVALID,	/* answered with op 31 */
	DAVE_NO_SENDER, /* a welcome without op 25: only the gateway can send it again */
};

struct dave_member {
	uint64_t user;
	uint8_t base[DAVE_SECRET];
	struct slice signature_key; /* owned by the epoch */
	uint64_t next_nonce; /* lower ones were used (dave_session_note_nonces); 0 at first */
};
/* The result of one epoch; it lives on the loop thread. */
struct dave_epoch {
	uint64_t number; /* the MLS epoch */
	uint64_t serial; /* rises with every epoch of this MLS state, from 1; the epoch of struct
			    dave_key */
	uint8_t authenticator[32];
	uint32_t n;
	struct dave_member *member; /* ourselves included, sorted by user id; one block together
				       with their keys */
};
struct dave_epoch *dave_epoch_free(struct dave_epoch *e);
/* Returns NULL when the user is no member. */
const struct dave_member *dave_epoch_find(const struct dave_epoch *e, uint64_t user);

struct dave_bytes {
	uint8_t *p;
	size_t n;
};
struct dave_job {
	enum dave_job_type type;
	uint8_t seed[MLS_SEED];		  /* random, filled by the owner */
	struct dave_mls_state *mls_state; /* owned while the job is under way; NULL for CODE */
	uint64_t channel;		  /* RESET, REKEY: the group id */
	uint16_t transition;		  /* COMMIT, WELCOME */
	struct dave_bytes in; /* the payload after the opcode (and transition id); owned */
	uint64_t *recognized; /* PROPOSALS, WELCOME: users announced by ops 11 and 13, ourselves
				 included, sorted; owned */
	size_t n_recognized;
	/* CODE: the other member, and the signature keys of both (as received; ours is `mine`). */
	uint64_t user, self;
	struct dave_bytes theirs, mine; /* owned */

	/* results */
	enum dave_verdict verdict;
	int err;		  /* the reason of a failure, an errno of mls.h */
	bool in_group;		  /* whether the MLS state is in an established group afterwards */
	struct dave_bytes out;	  /* the payload of op 26 or 28; owned */
	struct dave_epoch *epoch; /* owned */
	char code[46];		  /* CODE */
};
/* Returns ENOMEM. All fields but the type are zero. */
int dave_job_alloc(struct dave_job **out, enum dave_job_type type);
struct dave_job *dave_job_free(struct dave_job *j);
/* Runs the job. It never fails; the verdict tells the outcome. */
void dave_job_run(struct dave_job *j);

#endif
