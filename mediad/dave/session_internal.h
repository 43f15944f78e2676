/* What the files of the session machine share: session.c (inputs, the queue, jobs), session_send.c
 * (actions), session_transition.c (epochs and transitions), session_heal.c (the ladder). */
#ifndef MEDIAD_DAVE_SESSION_INTERNAL_H
#define MEDIAD_DAVE_SESSION_INTERNAL_H

#include "mediad/dave/media.h"
#include "mediad/dave/session.h"

#define DAVE_NEVER UINT64_MAX

enum {
	DAVE_USERS_MAX = MLS_MEMBERS_MAX,
	DAVE_MEMBERS_WAITING_MAX =
		2 * DAVE_USERS_MAX, /* ops 11 and 13 of single users behind a job */
	DAVE_WAITING_BYTES_MAX = 4 * MLS_BYTES_MAX,
	DAVE_PENDING_MAX = 64,	 /* transitions; past it the oldest is forgotten */
	DAVE_HELD_MAX = 64,	 /* ops 23 and 31 held while the socket is gone */
	DAVE_VERIFY_MAX = 64,	 /* users whose code was asked for */
	DAVE_EVIDENCE_MS = 1000, /* a speaker that was deaf so long ago may have stopped: nothing is
				    done for him */
	DAVE_LONG_OUTAGE_MS =
		5000, /* no transition explains deafness for so long without a break */
	DAVE_FAILURES_MAX =
		5, /* messages answered with op 31 in a row; one more every DAVE_FAILURE_MS */
	DAVE_FAILURE_MS = 2000,
	DAVE_ANSWERS_MAX = 12, /* the same without an epoch in between, however slowly they come */
	DAVE_STEPS_MAX = 5, /* steps of the ladder after which being heard does not shorten the wait
			       any more */
	DAVE_STEP_MS = 120000, /* one of them is forgotten */
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

/* An input in its place of the queue. */
struct dave_input {
	struct dave_input *next;
	unsigned op;
	uint16_t transition, version;
	uint64_t number; /* op 4: channel; 11 and 13: user; 24: epoch */
	bool cut;	 /* ops 29, 30: too short for a transition id */
	struct dave_bytes in;
};

/* An epoch that we have keys of. */
struct dave_kept_epoch {
	struct dave_epoch *epoch;
	uint64_t until; /* its keys are accepted; NEVER: it is the newest */
};

struct dave_transition {
	uint16_t id, version;
	uint64_t serial; /* of the epoch it leads to; 0: whatever there is */
	uint64_t at;	 /* when it came */
	uint64_t proved; /* somebody was heard with its keys; NEVER: nobody yet */
};

struct dave_undecryptable {
	uint64_t user;
	uint64_t since; /* told again and again since */
	uint64_t at;	/* last told */
};

struct dave_held_text {
	uint8_t op;
	uint16_t transition;
};

struct dave_session {
	struct dave_conf conf;
	uint64_t channel;
	struct dave_status status, reported;

	/* key work */
	struct dave_mls_state *mls_state; /* NULL while a job has it */
	bool want_drop, want_rekey;	  /* before everything that waits */
	bool in_group;
	bool package_sent; /* a key package was sent */
	struct dave_input *first, **tail;
	unsigned n_messages, n_members;
	size_t waiting_bytes;
	uint64_t verify[DAVE_VERIFY_MAX];
	unsigned n_verify;
	bool verifying;

	/* who is here, sorted, ourselves included */
	uint64_t *users;
	size_t n_users, cap_users;
	bool users_full; /* there was no room for somebody */

	/* epochs, newest first, and transitions, oldest first */
	struct dave_kept_epoch epochs[DAVE_KEYS];
	unsigned n_epochs;
	const struct dave_epoch *sending; /* one of kept */
	uint64_t send_until;		  /* out of the group; NEVER: in it */
	struct dave_transition pending[DAVE_PENDING_MAX];
	unsigned n_pending;
	uint16_t last_id; /* last transition executed or tried */
	bool send_clear;
	uint64_t clear_until;
	uint64_t changed_at; /* keys came, or senders switched: deafness told before is no reason to
				heal */

	/* healing */
	struct dave_undecryptable *undecryptable; /* sorted by user */
	size_t n_undecryptable, cap_undecryptable;
	uint64_t join_grace_until; /* grace behind our key package; 0: none */
	uint64_t welcome_by;	   /* NEVER: none awaited */
	unsigned answers;	   /* with op 31, since the last epoch */
	uint64_t epoch_by;	   /* one must follow what was proposed; NEVER: nothing was */
	bool recovered, resumed;   /* steps taken against this spell */
	bool gap;
	bool input_lost;   /* inputs were left out: only a rejoin helps */
	bool needs_rejoin; /* the same, unless an epoch comes */
	bool rejoining;

	/* while the socket is gone */
	bool offline;
	struct dave_held_text held_texts[DAVE_HELD_MAX];
	unsigned n_held_texts;
	struct dave_bytes held_package, held_commit;
};

/* ---- session.c ---- */
/* Starts what can be started, then tells what changed. Ends every input. */
void dave_session_finish_step(struct dave_session *s, uint64_t now);
bool dave_session_busy(const struct dave_session *s);

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
/* The epoch of a commit or welcome; taken over. */
void dave_transition_prepare(struct dave_session *s, uint64_t now, uint16_t id,
			     struct dave_epoch *e);
void dave_transition_text(struct dave_session *s, uint64_t now, uint16_t id, uint16_t version);
void dave_transition_execute(struct dave_session *s, uint64_t now, uint16_t id);
/* We are in no group any more. */
void dave_transition_left(struct dave_session *s, uint64_t now);
/* The group is made anew and nobody else is here. */
void dave_transition_alone(struct dave_session *s);
void dave_transition_timer(struct dave_session *s, uint64_t now);
uint64_t dave_transition_deadline(const struct dave_session *s);
void dave_transition_free(struct dave_session *s);

/* ---- session_heal.c ---- */
/* A message was invalid. */
void dave_heal_invalid(struct dave_session *s, uint64_t now, uint16_t id);
/* Proposals came that we could not commit, or could, or that left nothing to be committed. */
void dave_heal_proposed(struct dave_session *s, uint64_t now, bool refused, bool committed);
void dave_heal_input_lost(struct dave_session *s);
void dave_heal_remove_user(struct dave_session *s, uint64_t now, uint64_t user);
/* A commit removed us. */
void dave_heal_removed(struct dave_session *s, uint64_t now);
/* Who is not in this group is not there any more, or will be told again. */
void dave_heal_keep_members(struct dave_session *s, const struct dave_epoch *e);
void dave_heal_proof(struct dave_session *s, uint64_t now);
/* Takes the step that is due, if one is. */
void dave_heal_timer(struct dave_session *s, uint64_t now);
uint64_t dave_heal_deadline(const struct dave_session *s);

#endif
