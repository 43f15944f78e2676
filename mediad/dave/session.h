/* One voice session's DAVE: opcodes 21 to 31, transitions, recovery. A machine without I/O, time or
 * key work.
 *
 * Inputs are functions named after what happened; each calls the action handler for what is to be
 * done, in order. The handler must not call back. Key work leaves as DAVE_ACT_JOB, one at a time,
 * and comes back with dave_session_done(); ops 21 to 30 that arrive behind a running job wait in
 * order. After each input the owner arms one timer for dave_session_deadline().
 *
 * Sources: DAVE protocol 1.1 ("Voice Gateway Opcodes", "Transitions"), Discord's libdave sample. */
#ifndef MEDIAD_DAVE_SESSION_H
#define MEDIAD_DAVE_SESSION_H

#include "mediad/dave/job.h"

struct dave_session;

enum {
	DAVE_VERSION = 1,	/* highest that we speak */
	DAVE_WAITING_MAX = 256, /* messages behind a job; past it the session heals by a rejoin, and
				   does nothing else */
	DAVE_OUTAGE_PACKETS = 36,    /* in a row of one speaker that do not open */
	DAVE_JOIN_GRACE_MS = 1500,   /* from our key package to a welcome: nothing counts as deaf */
	DAVE_PENDING_MS = 3000,	     /* the same for a transition that waits for op 22 */
	DAVE_EXECUTE_GRACE_MS = 500, /* op 22 after others were heard with the new keys */
	DAVE_EXECUTE_LATE_MS =
		8000, /* op 22 at all: soon the others will have forgotten our old key */
	DAVE_DOWNGRADE_MS = 3000, /* a downgrade whose op 22 does not come is executed */
	DAVE_REFUSED_MS = 1000,	  /* an epoch must follow proposals that we refused, or we heal */
	DAVE_ANNOUNCE_MS = 1500,  /* the same for those that we committed */
	DAVE_WELCOME_MS = 5000,	  /* a welcome, when others are there */
};

enum dave_act {
	DAVE_ACT_BINARY, /* send op 26 or 28: u8 op, payload */
	DAVE_ACT_TEXT,	 /* send op 23 or 31 with a transition id */
	DAVE_ACT_JOB,	 /* run it (fill its seed), then dave_session_done; ownership goes along */
	DAVE_ACT_EPOCH, /* receive keys of every member but us: lend them now; older ones keep 10 s.
			   The epoch lives as long as the session says (dave_session_epochs) */
	DAVE_ACT_SEND, /* from now on we seal with our key of this epoch; NULL: no key, nothing goes
			  out. It lives until the next one of these (dave_session_sending) */
	DAVE_ACT_CLEAR,	 /* version 0 or not: whether we send in the clear, and until when clear
			    frames are accepted */
	DAVE_ACT_STATE,	 /* something in struct dave_status changed */
	DAVE_ACT_CODE,	 /* a member's verification code is there */
	DAVE_ACT_RESUME, /* heal: close the socket and resume the session */
	DAVE_ACT_REJOIN, /* heal: leave the session, take fresh credentials */
};

enum dave_heal { DAVE_HEAL_NONE, DAVE_HEAL_RECOVER, DAVE_HEAL_RESUME, DAVE_HEAL_REJOIN };

struct dave_status {
	uint16_t version;      /* executed: 0 or 1 */
	bool known;	       /* op 4 was seen */
	bool ready;	       /* we can send: version 0, or a key */
	bool pending;	       /* a transition waits for op 22 */
	uint64_t epoch;	       /* 0 without a group */
	char privacy_code[31]; /* "" without a group */
	uint32_t members;
	enum dave_heal heal;	/* step under way or last taken while somebody is not heard */
	uint32_t undecryptable; /* speakers that we do not hear now */
	uint32_t recovers, resumes,
		rejoins;   /* steps taken, of the whole call (struct dave_heal_state) */
	uint32_t invalid;  /* messages that were invalid, likewise */
	uint32_t executes; /* transitions executed without their op 22, likewise */
};

struct dave_action {
	enum dave_act kind;
	union {
		struct {
			uint8_t op;
			struct slice payload;
		} binary;
		struct {
			uint8_t op;
			uint16_t transition;
		} text;
		struct dave_job *job;
		const struct dave_epoch *epoch; /* EPOCH, SEND */
		struct {
			bool send;
			uint64_t receive_until;
		} clear;
		struct {
			uint64_t user;
			const char *code; /* "" when there is none */
		} code;
	};
};
typedef void(dave_action_h)(const struct dave_action *act, void *arg);

/* How the ladder of this call stands: cool-downs and counts outlive a session. A value, all zero at
 * first; the machine alone writes it. */
struct dave_heal_state {
	enum dave_heal last;  /* NONE: nothing to heal, or healed */
	uint64_t not_before;  /* the next step may be taken */
	uint32_t cooldown_ms; /* behind the last step */
	uint64_t healed_at;
	uint32_t steps; /* lately */
	uint64_t steps_at;
	uint32_t failures; /* messages lately that were answered with op 31 */
	uint64_t failures_at;
	uint32_t recovers, resumes, rejoins, invalid, executes;
};

struct dave_conf {
	uint64_t user;
	dave_action_h *acth;
	void *arg;
	struct dave_heal_state *heal; /* the call's; outlives the session */
};
/* ENOMEM. One for each Identify; kept over resumes. Caller owns *out. */
int dave_session_alloc(struct dave_session **out, const struct dave_conf *conf);
/* Jobs that are out stay the worker's: what comes back later is freed by the owner (dave_job_free).
 */
struct dave_session *dave_session_free(struct dave_session *s);

/* Op 4 of this session. Until then nothing is sent or accepted. */
void dave_session_start(struct dave_session *s, uint64_t now, uint64_t channel, uint16_t version);
/* Ops 11 and 13. */
void dave_session_member(struct dave_session *s, uint64_t now, uint64_t user, bool present);
/* Ops 21, 22, 24 (transition, version, epoch as far as the op has them). */
void dave_session_text(struct dave_session *s, uint64_t now, unsigned op, uint16_t transition,
		       uint16_t version, uint64_t epoch);
/* Ops 25, 27, 29, 30: what follows the opcode. Copied. */
void dave_session_binary(struct dave_session *s, uint64_t now, unsigned op, const uint8_t *p,
			 size_t n);
/* A job of this session came back; taken over. */
void dave_session_done(struct dave_session *s, uint64_t now, struct dave_job *job);
/* The gateway's numbering skipped something; what was skipped comes again with a resume. */
void dave_session_gap(struct dave_session *s, uint64_t now);
/* The socket is gone and the session is to be resumed: what would be sent is held until then. */
void dave_session_offline(struct dave_session *s, uint64_t now);
/* Op 9: resumed. */
void dave_session_resumed(struct dave_session *s, uint64_t now);
/* From the audio thread: a speaker's packets arrive and do not open, or open again. false comes
 * after every DAVE_OUTAGE_PACKETS in a row, again and again: what was not to count yet (a
 * transition, our own joining) counts when the speaker is still there. */
void dave_session_decryption(struct dave_session *s, uint64_t now, uint64_t user, bool hears);
/* Somebody was heard with a key of this epoch (its serial): proof that the transition to it was
 * executed. */
void dave_session_proof(struct dave_session *s, uint64_t now, uint64_t serial);
/* A member's verification code, please: DAVE_ACT_CODE follows. */
void dave_session_verify(struct dave_session *s, uint64_t now, uint64_t user);
void dave_session_timer(struct dave_session *s, uint64_t now);
uint64_t dave_session_deadline(const struct dave_session *s);

const struct dave_status *dave_session_status(const struct dave_session *s);
/* The epoch of DAVE_ACT_SEND, NULL without: for later generations of our key. Borrowed until the
 * next input. */
const struct dave_epoch *dave_session_sending(const struct dave_session *s);
/* Epochs whose keys are still accepted, newest first: what a speaker who gets a slot now is lent.
 * Borrowed until the next input. Returns how many, at most n. */
unsigned dave_session_epochs(const struct dave_session *s, const struct dave_epoch **out,
			     unsigned n);

#endif
