/* A group in memory for tests: guests, and an external sender that proposes as a voice gateway
 * does. */
#ifndef TESTS_UNIT_MEDIAD_MLS_PARTY_H
#define TESTS_UNIT_MEDIAD_MLS_PARTY_H

#include "mediad/mls/group.h"

enum { PARTY_MAX = 8 };

struct guest {
	struct mls_identity me;
	struct p256_pair init;
	struct mls_key_package *package;
	struct mls_group *group; /* NULL outside */
};

struct party {
	struct mls_rng rng;
	struct p256_pair sender;
	struct mls_out extensions; /* external_senders */
	struct slice capable; /* extension types that who arrives from now on can do; else none;
				 borrowed */
	struct guest guests[PARTY_MAX];
};

/* Errors as in mls.h. A party that did not begin well may be ended. */
int party_begin(struct party *p, const char *seed);
void party_end(struct party *p);
/* New keys and a new key package; leaves what it was in. */
int party_arrive(struct party *p, unsigned who);
/* The guest's own group, epoch 0. */
int party_found(struct party *p, unsigned who);

/* Proposals of the external sender to the group that `g` is a state of. The caller frees *out. */
int party_add(struct party *p, struct mls_out *out, const struct mls_group *g, unsigned who);
int party_remove(struct party *p, struct mls_out *out, const struct mls_group *g, uint32_t leaf);
/* Signs any FramedContent as the external sender. */
int party_sign(struct party *p, struct mls_out *out, struct slice content);
/* A message of a guest, signed and tagged; a commit carries this confirmation tag. */
int party_say(struct party *p, struct mls_out *out, unsigned who, enum mls_content_type type,
	      struct slice body, const uint8_t confirmation_tag[MLS_HASH]);
/* Puts another membership tag to the end of a guest's message that was changed. */
int party_retag(const struct mls_group *g, struct mls_out *message);

/* What one who is inside but means harm could send. Zero: as it should be. */
struct forgery {
	const struct mls_group *state; /* of guest 0, with `to` in its tree already */
	unsigned to;
	struct slice secrets;	       /* GroupSecrets */
	struct slice info;	       /* the whole GroupInfo */
	struct slice tree, extensions; /* of the group context, `extended` set */
	struct slice more;	       /* extensions of the GroupInfo beside the tree */
	bool extended, wrong_hash, wrong_tag, wrong_signature, cut_tag, trailing;
	uint16_t suite;
	uint32_t signer;
};
/* A Welcome for a guest with good seals around it. ENOMEM, EOVERFLOW. */
int party_forge(struct party *p, struct mls_out *out, const struct forgery *f);
/* Appends the GroupInfo of a forgery. */
int party_forge_info(struct party *p, struct mls_out *out, const struct forgery *f);
/* The GroupSecrets that party_forge uses, up to the path secret. */
void party_joiner(struct mls_out *out);

/* Gives a message to all inside; ref may be NULL. */
int party_tell(struct party *p, struct slice message, uint8_t ref[MLS_HASH]);
/* Proposes and tells; the shortest way to a proposal. */
int party_tell_add(struct party *p, unsigned by, unsigned who);
int party_tell_remove(struct party *p, unsigned by, unsigned who);
/* Commits; all others inside follow or, when removed, are outside; who is welcomed is inside. */
int party_commit(struct party *p, unsigned by);
/* All inside are in the same epoch of the same group and derive the same. */
bool party_agrees(const struct party *p);
unsigned party_inside(const struct party *p);

#endif
