#include "control/room/base/turn.h"

struct name {
	const char *name, *text;
};

static const struct name reasons[] = {
#define X(NAME, name, text) {#name, text},
	ROOM_REASONS(X)
#undef X
};

static const struct rule {
	const char *name, *unit, *text;
} rules[] = {
#define X(NAME, name, unit, text) {#name, unit, text},
	ROOM_RULES(X)
#undef X
};

static const struct outcome {
	const char *then, *otherwise, *then_otherwise;
} outcomes[ROOM_RULE_COUNT] = {
#define X(NAME, then, otherwise, then_otherwise)                                                   \
	[ROOM_RULE_##NAME] = {then, otherwise, then_otherwise},
	ROOM_OUTCOMES(X)
#undef X
};

const char *room_reason_name(unsigned reason)
{
	return reason < ROOM_REASON_COUNT ? reasons[reason].name : "?";
}

const char *room_reason_text(unsigned reason)
{
	return reason < ROOM_REASON_COUNT ? reasons[reason].text : "?";
}

const char *room_rule_name(unsigned rule)
{
	return rule < ROOM_RULE_COUNT ? rules[rule].name : "?";
}

const char *room_rule_unit(unsigned rule)
{
	return rule < ROOM_RULE_COUNT ? rules[rule].unit : "";
}

const char *room_rule_text(unsigned rule)
{
	return rule < ROOM_RULE_COUNT ? rules[rule].text : "?";
}

const char *room_decision_text(unsigned rule, bool yes)
{
	const char *no = rule < ROOM_RULE_COUNT ? outcomes[rule].otherwise : NULL;

	return yes || !no || !*no ? room_rule_text(rule) : no;
}

const char *room_decision_then(unsigned rule, bool yes)
{
	const struct outcome *o = rule < ROOM_RULE_COUNT ? &outcomes[rule] : NULL;

	if (!o || !o->then)
		return "";
	return yes ? o->then : o->then_otherwise;
}

bool room_turn_speculated(const struct room_turn *turn)
{
	return turn->reason == ROOM_REASON_EOT_REVOKED ||
	       turn->reason == ROOM_REASON_SPECULATION_UNUSED ||
	       turn->reason == ROOM_REASON_SPECULATION_FAILED;
}

bool room_turn_replaced(const struct room_turn *turn)
{
	return turn->reason == ROOM_REASON_SUPERSEDED || turn->reason == ROOM_REASON_MERGED ||
	       room_turn_speculated(turn);
}

/* An erasure finds by them the answers that may quote somebody. */
static bool tells_of_memory(enum room_rule rule)
{
	return rule == ROOM_RULE_MEMORY_FACT || rule == ROOM_RULE_MEMORY_LINE ||
	       rule == ROOM_RULE_MEMORY_SUMMARY || rule == ROOM_RULE_MEMORY_RECALLED;
}

void room_turn_decide(struct room_turn *turn, enum room_rule rule, bool yes, int64_t value,
		      int64_t limit)
{
	const struct room_decision d = {rule, yes, value, limit};
	unsigned at = turn->decisions < ROOM_CHAIN ? turn->decisions : ROOM_CHAIN - 1;

	/* In a full chain the last one that is not of them makes room. */
	if (turn->decisions >= ROOM_CHAIN && tells_of_memory(rule))
		while (at && tells_of_memory(turn->decision[at].rule))
			at--;
	if (turn->decisions < ROOM_CHAIN ||
	    (tells_of_memory(rule) && !tells_of_memory(turn->decision[at].rule)))
		turn->decision[at] = d;
	turn->decisions++;
}
