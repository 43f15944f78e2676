#include "control/room/base/interruption_policy.h"

#include "control/settings/settings.h"

struct room_interruption_policy room_interruption_policy(uint32_t mode, enum room_target target,
							 uint64_t target_user, uint64_t asker)
{
	struct room_interruption_policy p = {.scope = ROOM_SCOPE_SPEAKER};

	if (mode == SETTINGS_INTERRUPT_NAME)
		return p;
	if (mode != SETTINGS_INTERRUPT_SPEAKER) {
		p.scope = mode == SETTINGS_INTERRUPT_NONE ? ROOM_SCOPE_NONE : ROOM_SCOPE_ANYONE;
		return p;
	}
	switch (target) {
	case ROOM_TARGET_UNTOLD:
		p.user = asker;
		p.why = ROOM_POLICY_ASKED;
		break;
	case ROOM_TARGET_SPEAKER:
		p.user = asker;
		p.why = ROOM_POLICY_TARGET;
		break;
	case ROOM_TARGET_USER:
		p.user = target_user;
		p.why = ROOM_POLICY_TARGET;
		break;
	case ROOM_TARGET_MISSING:
		p.why = ROOM_POLICY_TARGET_MISSING;
		break;
	case ROOM_TARGET_ALL:
		p.why = ROOM_POLICY_TARGET_ALL;
		break;
	case ROOM_TARGET_UNRESOLVED:
		p.why = ROOM_POLICY_TARGET_UNRESOLVED;
		break;
	}
	return p;
}

struct room_interruption_policy room_interruption_policy_own(enum room_scope scope, uint64_t user)
{
	return (struct room_interruption_policy){
		.scope = scope, .user = user, .why = ROOM_POLICY_UTTERANCE};
}

bool room_interruption_allowed(const struct room_interruption_policy *p, uint64_t user, bool called)
{
	switch (p->scope) {
	case ROOM_SCOPE_ANYONE:
		return user != 0;
	case ROOM_SCOPE_SPEAKER:
		return user != 0 && (called || user == p->user);
	default:
		return false;
	}
}
