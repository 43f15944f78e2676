/* A turn's cancellation: one token, on which everything hangs that works for the turn.
 *
 *   state      input               next       what is called
 *   LIVE       abort               ABORTED    listeners in the order they came, each once; then the
 * signal stands LIVE       the parent aborts   ABORTED    the same, as `external` ABORTED    abort
 * ABORTED    nobody: the first reason stays ABORTED    a listener comes    ABORTED    that one, at
 * once
 *
 * Work that cannot listen asks room_token_signalled(). A listener that fails is counted and stops
 * no other. Tokens lie in what they belong to and do not move while they are linked; nothing is
 * allocated. */
#ifndef CONTROL_ROOM_TURN_CANCEL_TOKEN_H
#define CONTROL_ROOM_TURN_CANCEL_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

enum room_abort {
	ROOM_ABORT_NONE,
	ROOM_ABORT_BARGE_IN,
	ROOM_ABORT_EOT_REVOKED,
	ROOM_ABORT_USER_CANCEL,
	ROOM_ABORT_TIMEOUT,
	ROOM_ABORT_EXTERNAL,
	ROOM_ABORT_COUNT,
};

enum { ROOM_LISTENERS = 8 };
#define ROOM_NO_SLOT INT64_MIN

struct room_token;
/* 0, or an errno that is counted. */
typedef int(room_token_h)(struct room_token *token, enum room_abort reason, void *arg);

struct room_token {
	uint32_t run; /* the turn's id; 0: of nobody */
	int64_t slot; /* of a model that keeps its own; ROOM_NO_SLOT: none */
	enum room_abort reason;
	bool signalled;
	unsigned failed; /* listeners */
	unsigned n;
	uint32_t last; /* listener id */
	struct {
		uint32_t id;
		room_token_h *h;
		void *arg;
	} listener[ROOM_LISTENERS];
	struct room_token *parent; /* linked to, or NULL */
	uint32_t link;
};

/* slot: kept when a number of at most 53 bits, as wires carry it, else ROOM_NO_SLOT. */
void room_token_init(struct room_token *t, uint32_t run, int64_t slot);
/* One that was never live: run 0; ROOM_ABORT_NONE stands for external. */
void room_token_init_aborted(struct room_token *t, enum room_abort reason);
/* True when this was the abort; false when it was aborted before. */
bool room_token_abort(struct room_token *t, enum room_abort reason);
static inline bool room_token_aborted(const struct room_token *t)
{
	return t->reason != ROOM_ABORT_NONE;
}
static inline bool room_token_signalled(const struct room_token *t)
{
	return t->signalled;
}
/* *id for room_token_off. ENOSPC past ROOM_LISTENERS. On an aborted token h is called before
 * return, and *id is 0. */
int room_token_on(struct room_token *t, room_token_h *h, void *arg, uint32_t *id);
/* Not called any more; again, or with 0: nothing. */
void room_token_off(struct room_token *t, uint32_t id);
/* t is aborted with its parent. ENOSPC, EALREADY when it has one. */
int room_token_link(struct room_token *t, struct room_token *parent);

const char *room_abort_name(enum room_abort reason);
/* Of what a runtime says; what is not known, or NULL, is external. */
enum room_abort room_abort_of(const char *said);

#endif
