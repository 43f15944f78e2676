/* The interruption policy of an answer: who may stop the bot while it speaks. Decided when the
 * answer begins.
 *
 *   setting    addressee of the answer                      who may
 *   none       any                                          nobody, not even by name
 *   anyone     any                                          anyone
 *   name       any                                          only by name
 *   speaker    not told, and this brain never tells         the asker
 *   speaker    not told by a brain that should tell         nobody, or the asker
 * (untargeted_interrupt) speaker    everybody                                    nobody speaker
 * "speaker", or one person's name              that person speaker    a name of nobody, or of
 * several people       nobody
 *
 * With `speaker`, saying the bot's name or a takeover phrase always works. An utterance can have a
 * policy of its own (a goodbye: none). Without a policy a voice cannot stop the answer. */
#ifndef CONTROL_ROOM_BASE_INTERRUPTION_POLICY_H
#define CONTROL_ROOM_BASE_INTERRUPTION_POLICY_H

#include <stdbool.h>
#include <stdint.h>

enum room_scope { ROOM_SCOPE_MISSING, ROOM_SCOPE_NONE, ROOM_SCOPE_SPEAKER, ROOM_SCOPE_ANYONE };

enum room_target {
	ROOM_TARGET_UNTOLD,  /* this brain never tells an addressee */
	ROOM_TARGET_MISSING, /* it should have told one, and did not */
	ROOM_TARGET_ALL,
	ROOM_TARGET_SPEAKER,
	ROOM_TARGET_USER,	/* the target_user */
	ROOM_TARGET_UNRESOLVED, /* a name of nobody present, or of several people */
};

/* The cause of a policy. */
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
	uint64_t user; /* with SPEAKER: who may; 0: nobody */
	enum room_interruption_cause why;
};

/* mode: the setting `interruptions`. target_user: for ROOM_TARGET_USER. */
struct room_interruption_policy room_interruption_policy(uint32_t mode, enum room_target target,
							 uint64_t target_user, uint64_t asker);
/* The policy that an utterance brings with it. */
struct room_interruption_policy room_interruption_policy_own(enum room_scope scope, uint64_t user);
/* called: the speaker said the bot's name or a takeover phrase. */
bool room_interruption_allowed(const struct room_interruption_policy *p, uint64_t user,
			       bool called);

#endif
