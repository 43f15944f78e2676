/* An MLS fixture: a group in memory with its members, and an external sender that proposes as a
 * voice gateway does. */
#ifndef TESTS_UNIT_MEDIAD_MLS_MLS_FIXTURE_H
#define TESTS_UNIT_MEDIAD_MLS_MLS_FIXTURE_H

#include "mediad/mls/group.h"

enum { MLS_FIXTURE_MAX = 8 };

struct mls_fixture_member {
	struct mls_identity me;
	struct p256_pair init;
	struct mls_key_package *package;
	struct mls_group *group; /* NULL outside */
};

struct mls_fixture {
	struct mls_rng rng;
	struct p256_pair sender;
	struct mls_out extensions; /* external_senders */
	struct slice capable;	   /* extension types that later members support; borrowed */
	struct mls_fixture_member members[MLS_FIXTURE_MAX];
};

/* Returns the errors of mls.h. A fixture whose init failed may be freed. */
int mls_fixture_init(struct mls_fixture *p, const char *seed);
void mls_fixture_free(struct mls_fixture *p);
/* New keys and a new key package; leaves what it was in. */
int mls_fixture_make_keys(struct mls_fixture *p, unsigned who);
/* Creates the member's own group, epoch 0. */
int mls_fixture_create_group(struct mls_fixture *p, unsigned who);

/* Proposals of the external sender to the group that `g` is a state of. The caller frees *out. */
int mls_fixture_add(struct mls_fixture *p, struct mls_out *out, const struct mls_group *g,
		    unsigned who);
int mls_fixture_remove(struct mls_fixture *p, struct mls_out *out, const struct mls_group *g,
		       uint32_t leaf);
/* Signs any FramedContent as the external sender. */
int mls_fixture_sign(struct mls_fixture *p, struct mls_out *out, struct slice content);
/* Makes a message of a member, signed and tagged; a commit carries this confirmation tag. */
int mls_fixture_member_message(struct mls_fixture *p, struct mls_out *out, unsigned who,
			       enum mls_content_type type, struct slice body,
			       const uint8_t confirmation_tag[MLS_HASH]);
/* Replaces the membership tag of a member's message that was changed. */
int mls_fixture_retag(const struct mls_group *g, struct mls_out *message);

/* A welcome forged by a malicious member; zero fields are valid values. */
struct forgery {
	const struct mls_group *state; /* of member 0, with `to` in its tree already */
	unsigned to;
	struct slice secrets;	       /* GroupSecrets */
	struct slice info;	       /* the whole GroupInfo */
	struct slice tree, extensions; /* of the group context, `extended` set */
	struct slice more;	       /* extensions of the GroupInfo beside the tree */
	bool extended, wrong_hash, wrong_tag, wrong_signature, cut_tag, trailing;
	uint16_t suite;
	uint32_t signer;
};
/* Makes a Welcome for a member with valid encryption. Returns ENOMEM or EOVERFLOW. */
int mls_fixture_forge(struct mls_fixture *p, struct mls_out *out, const struct forgery *f);
/* Appends the GroupInfo of a forgery. */
int mls_fixture_forge_info(struct mls_fixture *p, struct mls_out *out, const struct forgery *f);
/* The GroupSecrets that mls_fixture_forge uses, up to the path secret. */
void mls_fixture_joiner_secrets(struct mls_out *out);

/* Delivers a message to all members; ref may be NULL. */
int mls_fixture_deliver(struct mls_fixture *p, struct slice message, uint8_t ref[MLS_HASH]);
/* Proposes and delivers the proposal. */
int mls_fixture_propose_add(struct mls_fixture *p, unsigned by, unsigned who);
int mls_fixture_propose_remove(struct mls_fixture *p, unsigned by, unsigned who);
/* Commits; the other members follow or, when removed, leave; welcomed ones join. */
int mls_fixture_commit(struct mls_fixture *p, unsigned by);
/* True if all members are in the same epoch of the same group and derive the same secrets. */
bool mls_fixture_agrees(const struct mls_fixture *p);
unsigned mls_fixture_count_inside(const struct mls_fixture *p);

#endif
