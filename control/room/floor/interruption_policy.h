/* Who may stop the bot while it speaks, decided when an answer begins.
 *
 *   setting    target of the answer                        who may
 *   none       any                                          nobody, not by name either
 *   anyone     any                                          anyone
 *   speaker    not told, and no brain tells (realtime)      who asked
 *   speaker    ought to have been told and was not          nobody
 *   speaker    everybody                                    nobody
 *   speaker    "speaker", or one person's name              that person
 *   speaker    a name of nobody, or of several              nobody
 *
 * Under `speaker` whoever says the bot's name, or one of the phrases that take the floor, may in
 * any case. An utterance can bring a policy of its own (a goodbye: none). An answer without a
 * policy cannot be stopped by voice. */
#ifndef CONTROL_ROOM_FLOOR_INTERRUPTION_POLICY_H
#define CONTROL_ROOM_FLOOR_INTERRUPTION_POLICY_H

#include <stdbool.h>
#include <stdint.h>

enum room_scope { ROOM_SCOPE_MISSING, ROOM_SCOPE_NONE, ROOM_SCOPE_SPEAKER, ROOM_SCOPE_ANYONE };

enum room_target {
	ROOM_TARGET_UNTOLD,  /* this brain tells none */
	ROOM_TARGET_MISSING, /* it tells, and did not */
	ROOM_TARGET_ALL,
	ROOM_TARGET_SPEAKER,
	ROOM_TARGET_USER,	/* `user` of the answer's target */
	ROOM_TARGET_UNRESOLVED, /* a name of nobody here, or of more than one */
};

/* Why the policy is as it is. */
enum room_interruption_cause {
	ROOM_POLICY_SETTING,
	ROOM_POLICY_ASKED,
	ROOM_POLICY_TARGET,
	ROOM_POLICY_TARGET_MISSING,
	ROOM_POLICY_TARGET_ALL,
	ROOM_POLICY_TARGET_UNRESOLVED,
	ROOM_POLICY_UTTERANCE,
};

struct room_interruption_policy {
	enum room_scope scope;
	uint64_t user; /* who may under SPEAKER; 0: nobody */
	enum room_interruption_cause why;
};

/* mode: the setting interruptions. asker: who asked; target_user for ROOM_TARGET_USER. */
struct room_interruption_policy room_interruption_policy(uint32_t mode, enum room_target target,
							 uint64_t target_user, uint64_t asker);
/* An utterance's own. */
struct room_interruption_policy room_interruption_policy_own(enum room_scope scope, uint64_t user);
/* called: the bot's name was said, or the floor taken in so many words. */
bool room_interruption_allowed(const struct room_interruption_policy *p, uint64_t user,
			       bool called);

#endif
