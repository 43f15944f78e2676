/* DAVE in one voice session: opcodes 21 to 31, transitions, healing. A machine without I/O, clock
 * or key operations.
 *
 * Inputs are functions named after the event; each calls the action handler for every action to be
 * performed, in order. The handler must not call back. Key operations leave as DAVE_ACT_JOB, one at
 * a time, and return by dave_session_done(); ops 21 to 30 that arrive during a job wait in order.
 * After each input the owner arms one timer for dave_session_deadline().
 *
 * Sources: DAVE protocol 1.1 ("Voice Gateway Opcodes", "Transitions"), Discord's libdave sample. */
#ifndef MEDIAD_DAVE_SESSION_H
#define MEDIAD_DAVE_SESSION_H

#include "mediad/dave/job.h"
#include "mediad/dave/rekey_budget.h"

struct dave_session;

enum {
	DAVE_VERSION = 1,	/* highest supported version */
	DAVE_WAITING_MAX = 256, /* messages waiting for a job; beyond that the session heals by a
				   rejoin and does nothing else */
	DAVE_OUTAGE_PACKETS =
		36, /* undecryptable packets of one speaker in a row that make an outage */
	DAVE_JOIN_GRACE_MS = 1500,   /* from our key package to a welcome; outages do not count */
	DAVE_PENDING_MS = 3000,	     /* the same while a transition waits for op 22 */
	DAVE_EXECUTE_GRACE_MS = 500, /* wait for op 22 after a speaker used the new keys */
	DAVE_EXECUTE_LATE_MS = 8000, /* wait for op 22 in any case: soon the others will have
					dropped our old key */
	DAVE_REFUSED_MS =
		1000, /* time for an epoch to follow proposals that we refused, before we heal */
	DAVE_ANNOUNCE_MS = 1500, /* the same for proposals that we committed */
	DAVE_HEAL_SPEAKERS = 96, /* noted at a time */
	DAVE_SINGLE_AN_HOUR = 2, /* requests of new keys for one speaker while our keys are not to
				    blame */
	DAVE_ALONE_MS = 60000,	 /* so long nobody must be heard before a speaker who was heard in
				    this epoch makes us rejoin. For so long, too, a decryption
				    proves our keys of later epochs, and a report of an outage
				    counts */
	DAVE_WELCOME_MS = 5000,	 /* time for a welcome when other members are present */
	DAVE_CHANGE_MS = 10000,	 /* time for an epoch to follow a member who came or went */
	DAVE_CHANGE_STEP_MS = 1000, /* between the members who then ask, one after the other */
	DAVE_CHANGE_TURNS = 20,	    /* members who ask one after the other; the rest ask at once */
	DAVE_ASK_AGAIN_MS = 500,    /* the same after a resume, for one that was sent meanwhile */
};

enum dave_act {
	DAVE_ACT_BINARY, /* send op 26 or 28: u8 op, payload */
	DAVE_ACT_TEXT,	 /* send op 23 or 31 with a transition id */
	DAVE_ACT_JOB,	 /* run the job (fill its seed), then call dave_session_done; ownership goes
			    along */
	DAVE_ACT_EPOCH,	 /* lend the receiving keys of every other member now; older ones stay valid
			    for 10 s. The epoch lives as long as dave_session_epochs returns it */
	DAVE_ACT_SEND,	 /* encrypt with our key of this epoch from now on; NULL: no key, send
			    nothing. The epoch lives until the next DAVE_ACT_SEND
			    (dave_session_sending) */
	DAVE_ACT_CLEAR, /* whether we send in the clear (version 0), and until when clear frames are
			   accepted */
	DAVE_ACT_STATE, /* struct dave_status changed */
	DAVE_ACT_CODE,	/* a member's verification code is ready */
	DAVE_ACT_RESUME, /* heal: close the socket and resume the session */
	DAVE_ACT_REJOIN, /* heal: leave the session, take fresh credentials */
	DAVE_ACT_LEAVE,	 /* encryption is required and the gateway ended it: leave the call */
};

enum dave_heal { DAVE_HEAL_NONE, DAVE_HEAL_RECOVER, DAVE_HEAL_RESUME, DAVE_HEAL_REJOIN };

struct dave_status {
	uint16_t version;      /* the version in use: 0 or 1 */
	bool known;	       /* op 4 was received */
	bool ready;	       /* we can send: version 0, or there is a key */
	bool pending;	       /* a transition waits for op 22 */
	uint64_t epoch;	       /* 0 without a group */
	char privacy_code[31]; /* "" without a group */
	uint32_t members;
	enum dave_heal
		heal; /* the healing step under way, or the last one taken during this outage */
	uint32_t undecryptable; /* speakers in a decryption outage now, those given up included */
	uint32_t recovers, resumes,
		rejoins;   /* healing steps taken in the whole call (struct dave_heal_state) */
	uint32_t invalid;  /* invalid messages in the whole call */
	uint32_t executes; /* transitions executed without their op 22, in the whole call */
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

/* State of one speaker. */
struct dave_heal_speaker {
	uint64_t user;	   /* 0: free */
	uint64_t at;	   /* when something was noted last */
	uint64_t heard_at; /* newest decryption; 0: none */
	uint64_t proved; /* serial of the newest epoch whose key decrypted, in this session; 0: none
			  */
	uint64_t lost_at; /* newest report of an outage; 0: decrypted since */
	bool given_up;	  /* no more keys are requested for this speaker in this epoch */
	bool asked;	  /* an epoch was asked for since this user came; see dave_heal_changed */
	uint32_t rekeys;
	uint64_t rekeys_since;
};

/* The state of healing in a call: cool-downs and counts that outlive a session. A value, all zero
 * at first; only the machine writes it. */
struct dave_heal_state {
	enum dave_heal last;  /* NONE: no outage, or healed */
	uint64_t not_before;  /* the next step may be taken then */
	uint32_t cooldown_ms; /* after the last step */
	uint64_t healed_at;
	uint32_t steps; /* recent ones */
	uint64_t steps_at;
	struct rekey_budget rekeys; /* that members can cause */
	bool doubted;		    /* a message was invalid, and no epoch has come since */
	uint32_t recovers, resumes, rejoins, invalid, executes;
	struct dave_heal_speaker speakers[DAVE_HEAL_SPEAKERS];
};

struct dave_conf {
	uint64_t user;
	bool required; /* encryption is required: see dave_session_require */
	dave_action_h *acth;
	void *arg;
	struct dave_heal_state *heal; /* of the call; must outlive the session */
};
/* One session per Identify, kept across resumes. Returns ENOMEM. The caller owns *out. */
int dave_session_alloc(struct dave_session **out, const struct dave_conf *conf);
/* A job under way stays with the worker; its owner frees it on return (dave_job_free). */
struct dave_session *dave_session_free(struct dave_session *s);

/* Op 4 of this session. Before it nothing is sent or accepted: ops 21, 22 and 24 that come earlier
 * are ignored. */
void dave_session_start(struct dave_session *s, uint64_t now, uint64_t channel, uint16_t version);
/* True if encryption is required. Then clear frames are never accepted, no downgrade is confirmed
 * (op 23), and the execution of one (op 22) makes DAVE_ACT_LEAVE instead. Otherwise clear frames
 * are accepted for DAVE_EXECUTE_LATE_MS from op 21 on, and accepted and sent from op 22 on. */
void dave_session_require(struct dave_session *s, bool required);
/* Ops 11 and 13. */
void dave_session_member(struct dave_session *s, uint64_t now, uint64_t user, bool present);
/* Ops 21, 22, 24 (transition, version, epoch as far as the op has them). */
void dave_session_text(struct dave_session *s, uint64_t now, unsigned op, uint16_t transition,
		       uint16_t version, uint64_t epoch);
/* Ops 25, 27, 29, 30: the bytes after the opcode. Copied. */
void dave_session_binary(struct dave_session *s, uint64_t now, unsigned op, const uint8_t *p,
			 size_t n);
/* A job of this session returned; takes it over. */
void dave_session_done(struct dave_session *s, uint64_t now, struct dave_job *job);
/* Sequence numbers of the gateway were skipped; a resume brings the missing messages. */
void dave_session_gap(struct dave_session *s, uint64_t now);
/* The socket is lost and the session is to be resumed; messages are held until then. */
void dave_session_offline(struct dave_session *s, uint64_t now);
/* Op 9: resumed. */
void dave_session_resumed(struct dave_session *s, uint64_t now);
/* From the audio thread: the packets of a speaker cannot be decrypted (ok false), or can be again,
 * with a key of any epoch that we hold; dave_session_proof tells of which.
 * false is repeated after every DAVE_OUTAGE_PACKETS in a row, so that an outage that did not count
 * yet (during a transition or our own joining) counts if the speaker continues. */
void dave_session_decryption(struct dave_session *s, uint64_t now, uint64_t user, bool ok);
/* The outage of a speaker ended, but nothing was decrypted: its SSRC was taken away, or its packets
 * are no longer wanted. That proves nothing. */
void dave_session_forget_outage(struct dave_session *s, uint64_t now, uint64_t user);
/* A speaker used a key of this epoch (its serial), which proves that the transition to it was
 * executed, and that our keys of it are right. Comes once for each epoch, and again after an
 * outage. */
void dave_session_proof(struct dave_session *s, uint64_t now, uint64_t user, uint64_t serial);
/* True while a transition to other keys waits for op 22, for DAVE_PENDING_MS at most: until then a
 * speaker's packets may need a key that we lack. */
bool dave_session_switches(const struct dave_session *s, uint64_t now);
/* True if no more keys are requested for this speaker, whose packets cannot be decrypted. A new
 * epoch ends it, as does the first success. */
bool dave_session_gave_up(const struct dave_session *s, uint64_t user);
/* A key of this user in this epoch (its serial) came back, having opened frames with nonces below
 * `next`. Another key must not open them again: dave_key_start_at, with the member's next_nonce. */
void dave_session_note_nonces(struct dave_session *s, uint64_t user, uint64_t serial,
			      uint64_t next);
/* Asks for a member's verification code; DAVE_ACT_CODE follows. */
void dave_session_verify(struct dave_session *s, uint64_t now, uint64_t user);
void dave_session_timer(struct dave_session *s, uint64_t now);
uint64_t dave_session_deadline(const struct dave_session *s);

const struct dave_status *dave_session_status(const struct dave_session *s);
/* The epoch of DAVE_ACT_SEND, or NULL; for later generations of our key. Borrowed until the next
 * input. */
const struct dave_epoch *dave_session_sending(const struct dave_session *s);
/* Epochs whose keys are still accepted, newest first, to be lent to a speaker who gets a slot now.
 * Borrowed until the next input. Returns how many, at most n. */
unsigned dave_session_epochs(const struct dave_session *s, const struct dave_epoch **out,
			     unsigned n);
/* Until when the keys of an epoch of dave_session_epochs are accepted, in ns. UINT64_MAX: it is the
 * newest. */
uint64_t dave_session_epoch_until(const struct dave_session *s, const struct dave_epoch *e);

#endif
