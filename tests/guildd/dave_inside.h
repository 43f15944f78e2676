/* Inside the delivery service of one channel. Only dave_group.c and dave_propose.c include this. */
#ifndef GUILDD_DAVE_INSIDE_H
#define GUILDD_DAVE_INSIDE_H

#include "tests/guildd/dave_group.h"
#include "tests/guildd/dave_mls.h"
#include "tests/guildd/vec.h"

enum {
	GD_OP_PREPARE_TRANSITION = 21,
	GD_OP_EXECUTE = 22,
	GD_OP_PREPARE_EPOCH = 24,
	GD_OP_SENDER = 25,
	GD_OP_PROPOSALS = 27,
	GD_OP_COMMIT = 29,
	GD_OP_WELCOME = 30,
	GD_LEAVES = 1024,
};

struct member {
	uint64_t user;
	unsigned max;  /* version of DAVE that it speaks */
	bool in, redo; /* has a leaf; said by op 31 that it lost the group */
	uint32_t leaf;
	uint8_t *kp; /* its key package until a commit used it; NULL: none */
	size_t kp_n;
	uint8_t kp_ref[GD_MLS_REF];
	uint8_t key[GD_MLS_POINT]; /* signature key of the key package, and then of the leaf */
	size_t key_n;
	bool told;	     /* epoch 0: has been sent what is proposed */
	unsigned sender;     /* the external sender that was sent to it; 0: none */
	uint64_t seal_at;    /* from then on plain sound is a leak */
	uint16_t transition; /* the last it took part in */
};

struct participant {
	uint64_t user;
	bool ready;
};

struct transition {
	uint16_t id;
	unsigned version;
	uint64_t due;
	size_t n;
	struct participant participants[];
};

struct gd_group {
	uint64_t channel, epoch; /* epoch 0: nobody has a group */
	const struct gd_switches *sw;
	const struct gd_group_h *h;
	void *arg;
	struct gd_sender *sender;
	unsigned sender_no;
	unsigned version;  /* that is or will be spoken */
	unsigned executed; /* that is spoken */
	bool clear;	   /* a fault: version 0 although everybody speaks DAVE */
	uint16_t last_id;
	struct gd_vec members, proposals, transitions;
	uint64_t leaf[GD_LEAVES]; /* user ids, 0 = blank */
	uint32_t n_leaves;	  /* without blanks at the end */
	uint64_t commit_due, batch_due;
};

struct member *group_find(const struct gd_group *g, uint64_t user);
/* In the tree and able to commit. */
bool member_healthy(const struct member *m);
void member_drop_kp(struct member *m);
void group_count(const struct gd_group *g, uint64_t user, const char *what);
/* Brings forward whatever the state asks for: proposals, a change of version, a new group for who
 * is alone in the call. */
void group_advance(struct gd_group *g, uint64_t now);
/* Who was sent the new epoch or version waits for op 22; with id 0 it is there. Nobody: it is
 * executed at once. */
void group_transition(struct gd_group *g, const uint64_t *users, size_t n, uint16_t id,
		      unsigned version, uint64_t now);
uint16_t group_next_id(struct gd_group *g);
void group_send_sender(struct gd_group *g, struct member *m);
/* Forgets leaves and proposals; key packages stay unless told otherwise. */
void group_forget(struct gd_group *g, bool key_packages);

/* dave_propose.c: proposes what the state asks for. */
void group_propose(struct gd_group *g, uint64_t now);
/* Revokes the Adds of those who left or began anew, while key packages are gathered: they would be
 * committed otherwise. */
void group_withdraw(struct gd_group *g, uint64_t now);
void group_drop_proposals(struct gd_group *g);

#endif
