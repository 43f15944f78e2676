/* End-to-end encryption of a call: one DAVE session for each Identify, kept over resumes.
 *
 * It gives the session what the gateway, the worker and the audio thread tell, sends what it wants
 * sent, lends keys to the audio thread and tells control. What would change the gateway's state
 * (resume, rejoin) waits until the running step is over: call_stepped asks secure_due. */
#ifndef MEDIAD_CALL_SECURE_H
#define MEDIAD_CALL_SECURE_H

#include "mediad/dave/session.h"

struct call;
struct ev;
struct person;
struct tmr;

/* A key of one speaker. Owed: there was no memory for it, or it was lost on its way down for want
 * of it, and is lent a little later. */
struct media_key {
	bool is;
	uint64_t serial; /* of its epoch */
	uint32_t generation;
};

struct secure {
	struct dave_session *session; /* NULL between sessions */
	struct dave_ladder ladder;    /* of the call */
	struct dave_ladder told;      /* as it stood when control was told */
	uint64_t number; /* of the session among all of this mediad's: owner of its jobs */
	uint64_t channel;
	struct tmr *timer;
	struct dave_job *unrun[2]; /* the worker had no room: one of the group, one for a code */
	unsigned n_unrun;
	bool resume, rejoin, changed; /* to be done once the step is over */
	bool clear_told;
	struct media_key owed; /* the one that we seal with */
	uint64_t pay_at;       /* when those that are owed are tried again */
	uint32_t pay_wait_ms;  /* 0: none is */
};

/* ENOMEM. */
int secure_init(struct call *c);
void secure_free(struct call *c);

/* From the gateway. */
void secure_begin(struct call *c);
void secure_over(struct call *c);
void secure_start(struct call *c, uint16_t version);
void secure_text(struct call *c, unsigned op, uint16_t transition, uint16_t version,
		 uint64_t epoch);
void secure_binary(struct call *c, unsigned op, const uint8_t *p, size_t n);
void secure_member(struct call *c, uint64_t user, bool present);
void secure_gap(struct call *c);
void secure_offline(struct call *c);
void secure_resumed(struct call *c);

/* A slot was lent for this person: it is lent every key that is still accepted. */
void secure_slot(struct call *c, struct person *p);
/* EV_DAVE_DEAF, PROOF, NEXT. */
void secure_event(struct call *c, const struct ev *ev);
/* This person is no longer deaf to us, or gone. */
void secure_spell_over(struct call *c, struct person *p, const char *how);
/* False: not of this session, the job stays the caller's. */
bool secure_done(struct call *c, struct dave_job *job, uint64_t owner);
/* CODE follows. */
void secure_verify(struct call *c, uint64_t user);
/* CALL_SECURE as it stands. */
void secure_tell(struct call *c);

/* After each step: whether something waits for its end, the next of it, and the rest. */
bool secure_due(const struct call *c);
void secure_do(struct call *c);
void secure_settle(struct call *c);

#endif
