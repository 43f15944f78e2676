/* The network behind struct pattern_set, shared by the matcher and the graph maker. Private to
 * pattern*.c. */
#ifndef OFFLINE_PATTERN_NET_H
#define OFFLINE_PATTERN_NET_H

#include "control/offline/pattern.h"

enum net_arc_kind { NET_WORD, NET_EMPTY, NET_SKIP, NET_OPEN, NET_BEGIN, NET_END, NET_RULE };

enum { COST_OPEN = 1, COST_SKIP = 4, COST_MAX = 40 };

/* NET_RULE arcs close a rule: value is its index. NET_BEGIN and NET_END mark a capture of slot
 * `value`. */
struct net_arc {
	uint32_t to;
	uint32_t next; /* next arc of the same state + 1, 0 = last */
	uint32_t value;
	uint8_t kind;
	bool spoken, written;
};

struct pattern_set {
	const struct pattern_slot *slots;
	unsigned n_slots;
	unsigned n_rules;
	uint32_t *first; /* per state: first arc + 1 */
	unsigned n_states, cap_states;
	struct net_arc *arcs;
	unsigned n_arcs, cap_arcs;
	char **words;
	unsigned n_words, cap_words;
	uint32_t start;
	uint32_t end;
};

#endif
