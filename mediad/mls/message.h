/* Messages (RFC 9420 sections 6 and 12): parsed without validation, and written. Slices point into
 * the message read. PrivateMessage is not supported: ENOTSUP. */
#ifndef MEDIAD_MLS_MESSAGE_H
#define MEDIAD_MLS_MESSAGE_H

#include "mediad/mls/leaf.h"

enum mls_wire_format {
	MLS_PUBLIC_MESSAGE = 1,
	MLS_PRIVATE_MESSAGE = 2,
	MLS_WELCOME = 3,
	MLS_GROUP_INFO = 4,
	MLS_KEY_PACKAGE_MESSAGE = 5,
};
enum mls_sender_type {
	MLS_SENDER_MEMBER = 1,
	MLS_SENDER_EXTERNAL = 2,
	MLS_SENDER_NEW_PROPOSAL = 3,
	MLS_SENDER_NEW_COMMIT = 4,
};
enum mls_content_type {
	MLS_CONTENT_APPLICATION = 1,
	MLS_CONTENT_PROPOSAL = 2,
	MLS_CONTENT_COMMIT = 3
};

struct mls_public {
	struct slice raw;     /* the MLSMessage, header included */
	struct slice content; /* FramedContent */
	struct slice group_id;
	uint64_t epoch;
	enum mls_sender_type sender;
	uint32_t sender_index; /* leaf of a member, index of an external sender */
	struct slice aad;
	enum mls_content_type type;
	struct slice body; /* Proposal or Commit */
	struct slice signature, confirmation_tag,
		membership_tag; /* empty where the kind has none */
};
/* Reads one MLSMessage(PublicMessage) and advances r past it. EBADMSG, ENOTSUP (also for its body),
 * EOVERFLOW, ENOMEM. */
int mls_public_read(struct mls_public *out, struct rd *r);
/* The header of any MLSMessage: version and format, then r stands at the body. */
int mls_message_head(enum mls_wire_format *format, struct rd *r);

struct mls_proposal {
	enum mls_proposal_type type;
	struct slice raw; /* with its type */
	struct slice body;
	uint32_t removed;		     /* REMOVE */
	struct mls_key_package *key_package; /* ADD; owned */
	struct mls_leaf *leaf;		     /* UPDATE; owned */
	struct slice extensions;	     /* GROUP_CONTEXT_EXTENSIONS: body of the vector */
};
/* The other three types are skipped. ENOTSUP: a type that the RFC does not have. */
int mls_proposal_read(struct mls_proposal *out, struct rd *r);
/* Frees the contents it owns. */
void mls_proposal_free(struct mls_proposal *p);

/* One entry of a Commit: a reference of 32 bytes, or a proposal by value, which is to be freed. */
struct mls_proposal_or_ref {
	bool by_ref;
	struct slice ref;
	struct mls_proposal value;
};
int mls_proposal_or_ref_read(struct mls_proposal_or_ref *out, struct rd *r);

/* From the wire format to the signature or, in a commit, to the tag: AuthenticatedContent. Borrowed
 * from the message. */
struct slice mls_authenticated(const struct mls_public *m);
/* The same up to the signature: ConfirmedTranscriptHashInput. */
struct slice mls_transcript_input(const struct mls_public *m);
/* The signed bytes, FramedContentTBS; context: the serialised GroupContext, empty for senders
 * outside the group. */
int mls_content_tbs(struct mls_out *o, struct slice content, struct slice context);
/* Membership tag over TBS | V(signature) | [V(tag)] (section 6.2). */
int mls_membership_tag(uint8_t out[MLS_HASH], const uint8_t key[MLS_HASH], struct slice tbs,
		       struct slice signature, struct slice confirmation_tag);
/* ProposalRef of an authenticated message (5.2). */
int mls_proposal_ref(uint8_t out[MLS_HASH], const struct mls_public *m);
/* Writes FramedContent up to and including the content type; the body follows. */
void mls_content_write(struct mls_out *o, struct slice group_id, uint64_t epoch,
		       enum mls_sender_type sender, uint32_t index, enum mls_content_type type);

struct mls_group_context {
	uint16_t suite;
	struct slice group_id;
	uint64_t epoch;
	struct slice tree_hash, confirmed, extensions; /* extensions: body of the vector */
};
int mls_group_context_read(struct mls_group_context *out, struct rd *r);
void mls_group_context_write(struct mls_out *o, const struct mls_group_context *c);
/* The data of one extension in the body of a vector; false when it is not there. */
bool mls_extension_find(struct slice extensions, uint16_t type, struct slice *data);
/* EBADMSG: malformed, or a type twice; EOVERFLOW: more than 64. */
int mls_extensions_check(struct slice extensions);

struct mls_group_info {
	struct slice tbs; /* all but the signature */
	struct mls_group_context context;
	struct slice context_raw;
	struct slice extensions, confirmation_tag, signature;
	uint32_t signer;
};
/* A bare GroupInfo; r is advanced behind it. */
int mls_group_info_read(struct mls_group_info *out, struct rd *r);

struct mls_welcome {
	uint16_t suite;
	struct slice secrets; /* body of the vector */
	struct slice group_info;
};
/* A bare Welcome, which must end with r. */
int mls_welcome_read(struct mls_welcome *out, struct rd *r);
/* The EncryptedGroupSecrets of one key package. ENOENT, EBADMSG. */
int mls_welcome_secrets(const struct mls_welcome *w, const uint8_t ref[MLS_HASH], struct slice *enc,
			struct slice *sealed);

#endif
