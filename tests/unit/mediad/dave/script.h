/* The session machine with a scripted gateway and scripted jobs, in simulated time. */
#ifndef TESTS_UNIT_MEDIAD_DAVE_SCRIPT_H
#define TESTS_UNIT_MEDIAD_DAVE_SCRIPT_H

#include "mediad/dave/session.h"

enum {
	SELF = 5,
	CHANNEL = 77,
	SCRIPT_RUN = 720, /* ms that DAVE_OUTAGE_PACKETS take */
	SCRIPT_MEMBERS = 512,
};

struct script {
	struct dave_session *s;
	struct dave_heal_state heal;
	uint64_t now, began;
	struct dave_job *job, *code; /* under way */
	uint64_t serial;
	uint64_t members[SCRIPT_MEMBERS]; /* of the next epoch, sorted */
	unsigned n_members;
	uint64_t stranger; /* never added to the group */
	unsigned states;
	char log[4096];
	uint8_t last[64]; /* payload of the last binary message */
	size_t last_n;
};

/* Starts a session before op 4. */
int script_start(struct script *t);
/* Starts its successor in the same call. */
int script_again(struct script *t);
void script_end(struct script *t);
/* The actions since the last call, in words: op23:ID op31:ID op26 op28 job:TYPE epoch:SERIAL
 * send:SERIAL clear:YES,MS code:USER=CODE resume rejoin leave */
const char *script_said(struct script *t);

/* Ends the job under way: successfully, or with a verdict. */
void script_done(struct script *t);
/* Ends the job with the result that the test filled in. */
void script_finish(struct script *t);
void script_verdict(struct script *t, enum dave_verdict verdict);
/* Proposals end with bytes for op 28. */
void script_commits(struct script *t, const char *bytes);
void script_code(struct script *t, const char *code);

void script_op(struct script *t, unsigned op, uint16_t id, uint16_t version, uint64_t epoch);
void script_bin(struct script *t, unsigned op, const char *payload);
/* Ops 29 and 30. */
void script_mls(struct script *t, unsigned op, uint16_t id);
void script_member(struct script *t, uint64_t user, bool present);
/* Runs timers for ms. */
void script_wait(struct script *t, uint64_t ms);
void script_undecryptable(struct script *t, uint64_t user);
/* A decryption outage of this length: reported with every 36th packet. */
void script_deaf_for(struct script *t, uint64_t user, uint64_t ms);
/* Brings the session to: op 4, op 25, users 1 and 2 present, key package sent. Discards the
 * actions. */
void script_join(struct script *t);
/* The same, in a group whose transition 9 was executed. Discards the actions. */
void script_settled(struct script *t);
/* Announces and completes a commit of transition id. */
void script_epoch(struct script *t, uint16_t id);

#endif
