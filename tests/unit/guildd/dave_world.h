/* A delivery service and members who decide by the bytes that they get. */
#ifndef TESTS_UNIT_GUILDD_DAVE_WORLD_H
#define TESTS_UNIT_GUILDD_DAVE_WORLD_H

#include "tests/guildd/dave_group.h"
#include "tests/test.h"
#include "tests/unit/guildd/member.h"

enum { CHANNEL = 77, MAX_SENT = 400, MEMBERS = 6, CAP = 8192 };
/* Users by their place. */
enum { A = 501, B, C, D, E, F };

/* One message that went out. */
struct sent {
	uint64_t user;
	int op;
	unsigned version, id;	     /* JSON: id or epoch; ops 29 and 30: the id */
	unsigned add, removes, gone; /* op 27 */
	uint64_t epoch;		     /* of the proposals */
	uint8_t refs[8][GD_MLS_REF];
	size_t secrets; /* op 30 */
};

struct member {
	struct member_key key;
	uint8_t kp[CAP];
	size_t kp_n;
	uint8_t kp_ref[GD_MLS_REF];
	uint8_t refs[16][GD_MLS_REF]; /* proposals of this epoch, as a client keeps them */
	uint8_t adds[16][GD_MLS_REF]; /* key package behind each; zeros: a Remove */
	size_t n_refs;
};

struct world {
	struct gd_switches sw;
	struct gd_group *g;
	struct member member[MEMBERS];
	struct sent sent[MAX_SENT];
	size_t n_sent;
	unsigned late, bad, won, straggler, no_commit, unasked;
	uint8_t sender[128]; /* op 25 */
	size_t sender_n;
	uint64_t now;
};

/* A commit over all that the member was sent, with what `with` changes. */
struct with {
	uint32_t leaf;
	uint64_t epoch;
	size_t without; /* proposals left out at the end */
	bool no_welcome, no_path, unknown_ref, unknown_secret;
	bool other_signature, other_leaf_signature;
	uint64_t group;
};

/* The member with this id. */
struct member *dave_world_of(struct world *w, uint64_t user);
void dave_world_end(struct world *w);
/* Freed by dave_world_end(). NULL without memory. */
struct world *dave_world_begin(void);
/* Comes to the channel. */
void dave_world_join(struct world *w, uint64_t user);
int dave_world_key_package(struct world *w, uint64_t user);
/* Comes, and sends its key package. */
void dave_world_enter(struct world *w, uint64_t user);
int dave_world_commit(struct world *w, uint64_t user, struct with with);
/* How many messages of this kind went to the user since `from`; *last, unless NULL, the last of
 * them. */
unsigned dave_world_count(const struct world *w, size_t from, uint64_t user, int op,
			  const struct sent **last);
/* The users in the group, by their leaves. */
const char *dave_world_leaves(const struct world *w);
/* Of what the group tells of itself. */
long long dave_world_number(const struct world *w, const char *name);

#endif
