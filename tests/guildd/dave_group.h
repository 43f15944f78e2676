/* The DAVE delivery service of one voice channel, pure: who is in its MLS group, what is proposed,
 * which commit wins, which transition is under way (DAVE protocol 1.1, "Voice Gateway"). Time comes
 * in with each call, messages go out through the handler. Users are told by their ids; one user is
 * one session at a time.
 *
 * A client is *pending* from its key package until a commit adds it, then a *member* with a leaf.
 * Members are sent all proposals and each of them commits; the first commit that covers every
 * proposal not revoked closes the epoch, the rest are dropped. While nobody has a group (epoch 0)
 * every pending client is sent Adds of all the others, and the one whose commit comes first becomes
 * leaf 0. */
#ifndef GUILDD_DAVE_GROUP_H
#define GUILDD_DAVE_GROUP_H

#include "tests/guildd/switches.h"

#include "proto/base/cursor.h"

#include <jansson.h>

struct gd_group;

struct gd_group_h {
	/* A binary message: ops 25, 27, 29, 30. */
	void (*binary)(void *arg, uint64_t user, uint8_t op, struct slice payload);
	/* Ops 21 (version, id), 22 (id) and 24 (version, epoch). */
	void (*json)(void *arg, uint64_t user, int op, unsigned version, unsigned id_or_epoch);
	/* Something to be counted for this user. */
	void (*count)(void *arg, uint64_t user, const char *what);
};

/* sw is borrowed and read at each step; h and arg too. Caller owns *out. ENOMEM. */
int gd_group_alloc(struct gd_group **out, uint64_t channel, const struct gd_switches *sw,
		   const struct gd_group_h *h, void *arg);
struct gd_group *gd_group_free(struct gd_group *g);
uint64_t gd_group_channel(const struct gd_group *g);
/* Nobody is in the channel. */
bool gd_group_empty(const struct gd_group *g);

/* What a client that speaks versions up to `max` is told in op 4. */
unsigned gd_group_version(const struct gd_group *g, unsigned max);
/* A client was sent op 4; again for a client that is there: it starts anew. ENOMEM. */
int gd_group_join(struct gd_group *g, uint64_t user, unsigned max, uint64_t now);
/* Its session is over. */
void gd_group_leave(struct gd_group *g, uint64_t user, uint64_t now);

/* What came from a client. 0, or EBADMSG for a message that the voice gateway closes a connection
 * for; what comes too late or does not fit the state is dropped and counted. */
int gd_group_key_package(struct gd_group *g, uint64_t user, struct slice payload, uint64_t now);
int gd_group_commit(struct gd_group *g, uint64_t user, struct slice payload, uint64_t now);
void gd_group_ready(struct gd_group *g, uint64_t user, uint16_t transition, uint64_t now);
void gd_group_invalid(struct gd_group *g, uint64_t user, uint16_t transition, uint64_t now);

/* When gd_group_tick wants to be called; UINT64_MAX: not at all. */
uint64_t gd_group_due(const struct gd_group *g);
void gd_group_tick(struct gd_group *g, uint64_t now);

/* True if sound of this user must be sealed. */
enum gd_seal { GD_SEAL_NONE, GD_SEAL_EARLY, GD_SEAL_MUST };
/* EARLY: it has no key, or may not yet know that it has. */
enum gd_seal gd_group_seal(const struct gd_group *g, uint64_t user, uint64_t now);

/* Faults. */
int gd_group_new_sender(struct gd_group *g);	  /* nobody is told before the next new group */
void gd_group_stale_proposal(struct gd_group *g); /* a Remove of the epoch before, to all members */
void gd_group_reinit(struct gd_group *g, uint64_t now); /* op 24, epoch 1, to all */
/* Goes down to version 0 and stays there, or comes back. */
void gd_group_clear(struct gd_group *g, bool clear, uint64_t now);
void gd_group_next_transition(struct gd_group *g, uint16_t id); /* to see ids wrap */

/* For GET /stats; caller owns it. */
json_t *gd_group_json(const struct gd_group *g);
/* The user's part of it: epoch, leaf, transition, ready; NULL for who is not there. */
json_t *gd_group_user_json(const struct gd_group *g, uint64_t user);

#endif
