/* Selects which words of a conversation the models may be told again after a restart. Pure.
 *
 * The settings and the consent of a member may have changed since the words were spoken: words that
 * are older than the database may keep them, and words of members who are blocked or have withdrawn
 * their consent, stay out. So does the answer to such a member, because it may quote them. */
#ifndef CONTROL_AGENT_RECALL_H
#define CONTROL_AGENT_RECALL_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

struct recall_rules {
	uint64_t oldest_ms; /* since 1970: earlier words stay out */
	/* True if this member's words may be told. */
	bool (*allowsh)(uint64_t user, void *arg);
	void *arg;
};

/* The oldest words that may be told when words are kept for so many hours; UINT64_MAX for 0, which
 * allows none. */
uint64_t recall_oldest_ms(uint32_t hours, uint64_t now_ms);
/* True if everybody whom an answer of the bot answers ("askers", ids), and whose words stood in its
 * prompt ("quoted"), may be told. */
bool recall_allows_askers(const json_t *line, const struct recall_rules *rules);
/* words: lines of store_read_words (control/store/store.h). Returns the lines that may be told, a
 * new array; NULL without memory. */
json_t *recall_select(const json_t *words, const struct recall_rules *rules);

#endif
