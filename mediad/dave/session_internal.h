/* The state of the session machine, shared by session.c (inputs, the queue, jobs), session_send.c
 * (actions), session_transition.c (epochs and transitions) and session_heal.c (healing). */
#ifndef MEDIAD_DAVE_SESSION_INTERNAL_H
#define MEDIAD_DAVE_SESSION_INTERNAL_H

#include "mediad/dave/media.h"
#include "mediad/dave/session.h"

#define DAVE_NEVER UINT64_MAX

enum {
	DAVE_USERS_MAX = MLS_MEMBERS_MAX,
	DAVE_MEMBERS_WAITING_MAX = 2 * DAVE_USERS_MAX, /* ops 11 and 13 waiting for a job */
	DAVE_WAITING_BYTES_MAX = 4 * MLS_BYTES_MAX,
	DAVE_PENDING_MAX = 64,	    /* transitions; beyond that the oldest is dropped */
	DAVE_HELD_MAX = 64,	    /* ops 23 and 31 held while the socket is lost */
	DAVE_VERIFY_MAX = 64,	    /* users whose code was requested */
	DAVE_EVIDENCE_MS = 1000,    /* after so long without a report a speaker may have stopped; no
				       step is taken for it */
	DAVE_LONG_OUTAGE_MS = 5000, /* no transition explains an outage of this length */
	DAVE_ANSWERS_MAX = 3,	    /* messages answered with op 31 without an epoch in between */
	DAVE_STEPS_MAX =
		5, /* steps after which the end of an outage no longer shortens the cool-down */
	DAVE_STEP_MS = 1800000, /* one step is forgotten per this time, so that one member who alone
				   speaks gets two an hour */
};

enum dave_op {
	DAVE_OP_DESCRIPTION = 4,
	DAVE_OP_CONNECT = 11,
	DAVE_OP_DISCONNECT = 13,
	DAVE_OP_PREPARE_TRANSITION = 21,
	DAVE_OP_EXECUTE_TRANSITION = 22,
	DAVE_OP_READY = 23,
	DAVE_OP_PREPARE_EPOCH = 24,
	DAVE_OP_EXTERNAL_SENDER = 25,
	DAVE_OP_KEY_PACKAGE = 26,
	DAVE_OP_PROPOSALS = 27,
	DAVE_OP_COMMIT_WELCOME = 28,
	DAVE_OP_ANNOUNCE_COMMIT = 29,
	DAVE_OP_WELCOME = 30,
	DAVE_OP_INVALID = 31,
};

/* A queued input. */
struct dave_input {
	struct dave_input *next;
	unsigned op;
	uint16_t transition, version;
	uint64_t number; /* op 4: channel; 11 and 13: user; 24: epoch */
	bool cut;	 /* ops 29, 30: too short to hold a transition id */
	struct dave_bytes in;
};

/* An epoch whose keys we hold. */
struct dave_kept_epoch {
	struct dave_epoch *epoch;
	uint64_t until; /* its keys are accepted until then; NEVER: it is the newest */
};

struct dave_transition {
	uint16_t id, version;
	uint64_t serial; /* serial of the epoch it leads to; 0: any */
	uint64_t at;	 /* its arrival */
	uint64_t proved; /* when a speaker first used its keys; NEVER: not yet */
};

struct dave_undecryptable {
	uint64_t user;
	uint64_t since; /* reported repeatedly since */
	uint64_t at;	/* last report */
};

struct dave_held_text {
	uint8_t op;
	uint16_t transition;
};

struct dave_session {
	struct dave_conf conf;
	uint64_t channel;
	struct dave_status status, reported;

	/* key operations */
	struct dave_mls_state *mls_state; /* NULL while a job has it */
	bool want_drop, want_rekey;	  /* before all queued inputs */
	bool in_group;
	bool package_sent; /* a key package was sent */
	struct dave_input *first, **tail;
	unsigned n_messages, n_members;
	size_t waiting_bytes;
	uint64_t verify[DAVE_VERIFY_MAX];
	unsigned n_verify;
	bool verifying;

	/* users present, sorted, ourselves included */
	uint64_t *users;
	size_t n_users, cap_users;
	bool users_full; /* there was no room for a user */

	/* epochs, newest first, and transitions, oldest first */
	struct dave_kept_epoch epochs[DAVE_KEYS];
	unsigned n_epochs;
	const struct dave_epoch *sending; /* one of epochs */
	uint64_t sealed;		  /* serial of the newest epoch that was `sending` */
	uint64_t send_until;		  /* set when we leave the group; NEVER: we are in it */
	struct dave_transition pending[DAVE_PENDING_MAX];
	unsigned n_pending;
	uint16_t last_id; /* the last transition executed or prepared */
	bool send_clear;
	uint64_t clear_until;
	bool clear_offered;  /* op 21 opened its window; an executed downgrade resets this */
	uint64_t changed_at; /* when keys arrived or senders switched: outages reported before are
				no reason to heal */

	/* healing */
	struct dave_undecryptable *undecryptable; /* sorted by user */
	size_t n_undecryptable, cap_undecryptable;
	uint64_t join_grace_until; /* grace period after our key package; 0: none */
	uint64_t welcome_by;	   /* NEVER: no welcome is awaited */
	bool asked;		   /* op 31 was sent, and no epoch has come since */
	uint64_t ask_again_at;	   /* NEVER: the question was not lost with a socket */
	unsigned answers;	   /* answers with op 31 since the last epoch */
	bool answer_owed;	   /* an answer with op 31 waits until the budget allows it or a
				      member leaves */
	uint64_t owed_at;	   /* since when */
	bool muted;		   /* we stopped sending because the others seemed to have moved:
				      whoever is heard with a key of the newest epoch proves that
				      they have not */
	uint64_t change_by;	   /* an epoch must follow change_user, who came or went, by then;
				      NEVER: none is awaited */
	uint64_t change_user;
	uint64_t left_user; /* of the newest epoch, who left, so it is not the last; 0: nobody */
	uint64_t epoch_by;  /* an epoch must follow the proposals by then; NEVER: none is awaited */
	bool committed;	    /* and some of them were committed by us */
	bool recovered, resumed; /* steps taken in this outage */
	bool stepped;		 /* a step was taken in this session */
	uint64_t proved;	 /* serial of the newest epoch whose keys decrypted something */
	bool gap;
	bool input_lost;   /* inputs were lost: only a rejoin helps */
	bool needs_rejoin; /* the same, unless an epoch arrives */
	bool rejoining;

	/* while the socket is lost */
	bool offline;
	struct dave_held_text held_texts[DAVE_HELD_MAX];
	unsigned n_held_texts;
	struct dave_bytes held_package, held_commit;
};

/* ---- session.c ---- */
/* Ends every input: starts waiting work, then emits a change of status. */
void dave_session_finish_step(struct dave_session *s, uint64_t now);
bool dave_session_busy(const struct dave_session *s);
bool dave_session_has_user(const struct dave_session *s, uint64_t user);

/* ---- session_send.c ---- */
void dave_send_text(struct dave_session *s, uint8_t op, uint16_t transition);
/* Takes the payload over. */
void dave_send_binary(struct dave_session *s, uint8_t op, struct dave_bytes *payload);
void dave_send_held(struct dave_session *s);
void dave_send_forget_commit(struct dave_session *s);
void dave_send_epoch(struct dave_session *s, const struct dave_epoch *e);
void dave_send_sealing(struct dave_session *s, const struct dave_epoch *e);
void dave_send_clear(struct dave_session *s, bool send, uint64_t receive_until);
void dave_send_code(struct dave_session *s, uint64_t user, const char *code);
void dave_send_state(struct dave_session *s);

/* ---- session_transition.c ---- */
/* Takes over the epoch of a commit or welcome. */
void dave_transition_prepare(struct dave_session *s, uint64_t now, uint16_t id,
			     struct dave_epoch *e);
void dave_transition_text(struct dave_session *s, uint64_t now, uint16_t id, uint16_t version);
void dave_transition_execute(struct dave_session *s, uint64_t now, uint16_t id);
/* We have left the group. */
void dave_transition_left(struct dave_session *s, uint64_t now);
/* The others are in our epoch after all: we go on to send. */
void dave_transition_stayed(struct dave_session *s);
/* The group has ended and no other member is present: its keys expire. */
void dave_transition_expire(struct dave_session *s, uint64_t now);
/* The same when the group is created anew: we send no more, too. */
void dave_transition_alone(struct dave_session *s, uint64_t now);
void dave_transition_timer(struct dave_session *s, uint64_t now);
uint64_t dave_transition_deadline(const struct dave_session *s);
void dave_transition_free(struct dave_session *s);

/* ---- session_speakers.c ---- */
/* serial: of the epoch whose key decrypted; 0: not known. */
void dave_speakers_heard(struct dave_session *s, uint64_t now, uint64_t user, uint64_t serial);
void dave_speakers_lost(struct dave_session *s, uint64_t now, uint64_t user);
void dave_speakers_left(struct dave_session *s, uint64_t user);
/* An epoch of this session arrived, or the session begins: nobody is given up in it. */
void dave_speakers_retry(struct dave_session *s);
/* A session begins: its keys and the serials of its epochs are new, so nobody is heard or lost yet.
 */
void dave_speakers_begin(struct dave_session *s);
/* True if our own keys must be wrong: nobody is heard, and either several speakers are lost or the
 * one who is lost is alone with us. A single lost speaker among silent members proves nothing. */
bool dave_speakers_blame_us(const struct dave_session *s, uint64_t now);
/* Charges a request of new keys to all speakers in an outage. Returns false when it must not be
 * made for any of them. */
bool dave_speakers_charge(struct dave_session *s, uint64_t now);
/* The same for this user. */
bool dave_speakers_charge_one(struct dave_session *s, uint64_t now, uint64_t user);
/* True if the same was asked for this user, who has not left since. */
bool dave_speakers_asked(const struct dave_session *s, uint64_t user);
void dave_speakers_give_up(struct dave_session *s, uint64_t now, uint64_t user);
/* Number of present speakers who were given up. */
unsigned dave_speakers_given_up(const struct dave_session *s);

/* ---- session_heal.c ---- */
/* A message was invalid and is answered with op 31. */
void dave_heal_invalid(struct dave_session *s, uint64_t now, uint16_t id);
void dave_heal_no_sender(struct dave_session *s, uint64_t now);
/* Proposals arrived that we could not commit (refused), committed, or that left nothing to commit.
 */
void dave_heal_proposed(struct dave_session *s, uint64_t now, bool refused, bool committed);
void dave_heal_input_lost(struct dave_session *s);
/* After lost input, changes of the group are not followed. If the rejoin is far off our key ends,
 * and control is told. */
void dave_heal_await_rejoin(struct dave_session *s, uint64_t now);
void dave_heal_remove_user(struct dave_session *s, uint64_t now, uint64_t user);
/* A user left the call. The departure of a member re-keys the group in any case, so an owed answer
 * is sent. Without a known epoch every user may be a member, and the answer needs the budget. */
void dave_heal_left(struct dave_session *s, uint64_t now, uint64_t user);
/* A user came or left, and the list of those present says so already. */
void dave_heal_changed(struct dave_session *s, uint64_t now, uint64_t user);
/* An epoch arrived. */
void dave_heal_epoch(struct dave_session *s, uint64_t now);
/* Encryption has ended. */
void dave_heal_clear(struct dave_session *s);
/* A commit removed us. */
void dave_heal_removed(struct dave_session *s, uint64_t now);
/* Drops outages of users that are not in this group; they have left or will be reported again. */
void dave_heal_keep_members(struct dave_session *s, const struct dave_epoch *e);
void dave_heal_resumed(struct dave_session *s, uint64_t now);
/* serial: of the epoch whose key decrypted. */
void dave_heal_proof(struct dave_session *s, uint64_t now, uint64_t serial);
/* Takes the healing step that is due, if any. */
void dave_heal_timer(struct dave_session *s, uint64_t now);
uint64_t dave_heal_deadline(const struct dave_session *s);

#endif
