/* End-to-end encryption of a call: one DAVE session per Identify, kept across resumes.
 *
 * It passes the gateway's, the worker's and the audio thread's inputs to the session, sends the
 * session's messages, lends keys to the audio thread and reports to control. Changes of the
 * gateway's state (resume, rejoin) are deferred until the running step is over: call_finish_step
 * calls secure_run_deferred. */
#ifndef MEDIAD_CALL_SECURE_H
#define MEDIAD_CALL_SECURE_H

#include "mediad/dave/session.h"

struct call;
struct ev;
struct person;
struct slot;
struct tmr;

/* Names a key of one speaker. A key is deferred when there was no memory for it or its command was
 * lost; it is lent a little later. */
struct media_key {
	bool is;
	uint64_t serial; /* serial of its epoch */
	uint32_t generation;
};

struct secure {
	struct dave_session *session;	 /* NULL between sessions */
	struct dave_heal_state heal;	 /* of the call, across sessions */
	struct dave_heal_state reported; /* as last reported to control */
	struct dave_status logged;
	uint64_t number; /* number of the session within this mediad; owner of its jobs */
	uint64_t channel;
	struct tmr *timer;
	struct dave_job *refused_jobs[2]; /* jobs that the worker refused for want of room: one of
					     the group, one for a code */
	unsigned n_refused_jobs;
	bool resume, rejoin, changed; /* to be performed once the step is over */
	bool leave;	/* the same: encryption is required and the session has none */
	bool encrypted; /* the call has been encrypted in this channel */
	bool clear_logged;
	struct media_key deferred; /* our own sending key */
	uint64_t retry_at;	   /* when deferred keys are tried again */
	uint32_t retry_wait_ms;	   /* 0: no key is deferred */
};

/* ENOMEM. */
int secure_init(struct call *c);
void secure_free(struct call *c);

/* ---- inputs from the gateway ---- */
void secure_begin(struct call *c);
void secure_end(struct call *c);
void secure_start(struct call *c, uint16_t version);
void secure_text(struct call *c, unsigned op, uint16_t transition, uint16_t version,
		 uint64_t epoch);
void secure_binary(struct call *c, unsigned op, const uint8_t *p, size_t n);
void secure_member(struct call *c, uint64_t user, bool present);
void secure_gap(struct call *c);
void secure_offline(struct call *c);
void secure_resumed(struct call *c);

/* Compares the call with its setting of encryption, after a change of either. */
void secure_check_policy(struct call *c);
/* A slot was lent for this person: lends it every key that is still accepted. While an earlier slot
 * of the person has not returned this waits, because the audio thread may still use its keys. */
void secure_slot(struct call *c, struct person *p);
/* A slot returned: notes the nonces that its keys have used, so that the voice server cannot have
 * the same frames heard again by another slot, and lends the keys to the slot that the person
 * (NULL: gone) has now. */
void secure_take_slot(struct call *c, struct slot *slot, struct person *p);
/* Handles EV_DAVE_OUTAGE, EV_DAVE_PROOF and EV_DAVE_NEXT. */
void secure_event(struct call *c, const struct ev *ev);
/* Ends the decryption outage of this person, who is decrypted again or has left. how: for the log.
 */
void secure_end_outage(struct call *c, struct person *p, const char *how);
/* The same where nothing was decrypted: its slot is gone, or its packets are no longer wanted. */
void secure_forget_outage(struct call *c, struct person *p);
/* True if this user was given up (dave_session_gave_up). */
bool secure_gave_up(const struct call *c, uint64_t user);
/* Returns false when the job is not of this session; it stays with the caller. */
bool secure_job_done(struct call *c, struct dave_job *job, uint64_t owner);
/* Asks for a verification code; CODE follows. */
void secure_verify(struct call *c, uint64_t user);
/* Sends the present CALL_SECURE. */
void secure_send_state(struct call *c);

/* After each step: whether an action was deferred, performs one, and finishes the step (reports,
 * timer). */
bool secure_has_deferred(const struct call *c);
void secure_run_deferred(struct call *c);
void secure_finish_step(struct call *c);

#endif
