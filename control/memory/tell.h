/* Facts and lines of the store as tools tell them to a model, by voice and in writing. The caller
 * knows who may be told of, how people are called now, and where it is noted whom an answer may
 * repeat. Pure. */
#ifndef CONTROL_MEMORY_TELL_H
#define CONTROL_MEMORY_TELL_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

struct calendar_zone;

enum { TELL_NAME = 256 };

/* Of one call. */
struct tell_rules {
	const struct calendar_zone *zone;
	uint64_t now_ms; /* since 1970 */
	uint64_t asker;
	/* True if models may be told what this person said earlier. */
	bool (*recallh)(uint64_t user, void *arg);
	/* True if the fact, or one that it ended, was told where the answer may tell it. */
	bool (*hereh)(const json_t *fact, void *arg);
	/* True if the line may be told: everybody whom it may quote may be recalled, and it is no
	 * part of the question. */
	bool (*lineh)(const json_t *line, void *arg);
	/* The answer may repeat this person from now on. */
	void (*noteh)(uint64_t user, void *arg);
	/* How models know this person, of whom the store has a name; stored NULL: if they are known
	 * now. NULL: they are not. */
	const char *(*nameh)(uint64_t user, const char *stored, char to[TELL_NAME], void *arg);
	void *arg;
};

/* The id at "user" of an object of the store; 0: none. */
uint64_t tell_user(const json_t *object);
/* True if by this speaker of a search models mean the bot, which results call "you". */
bool tell_means_bot(const char *speaker);
/* The first former value or contradiction (of a fact's "former" or "conflicts") that may be told,
 * or, with all, that was told anywhere; NULL: none. Nothing of people who may not be recalled. */
const json_t *tell_first(const struct tell_rules *r, const json_t *list, bool all);
/* The fact in the words of memory_search. all: with former values and contradictions that were told
 * elsewhere. The caller knows that the fact itself may be told there. NULL: its author may not be
 * recalled, or no memory. */
json_t *tell_fact(const struct tell_rules *r, const json_t *fact, bool all);
/* The lines (store_find_said) that may be told, in the words of conversation_search. A new list. */
json_t *tell_lines(const struct tell_rules *r, const json_t *lines);

#endif
