/* Counts the re-keys and rejoins that members cause in simulated hours (script.h), while the
 * gateway answers each key package by a welcome that holds. */
#ifndef TESTS_UNIT_MEDIAD_DAVE_TOLL_H
#define TESTS_UNIT_MEDIAD_DAVE_TOLL_H

#include "tests/unit/mediad/dave/script.h"

enum { A_DAY = 24 * 3600 * 1000 / SCRIPT_RUN };

struct toll {
	unsigned rekeys, rejoins;
};

/* Returns how often the word stands in the log. */
unsigned toll_count(const char *log, const char *word);
/* Answers a new key package by a welcome, which is executed; `speaker` uses its keys, 0: nobody.
 * *id: of the transition, and rises. */
void toll_answer(struct script *t, uint16_t *id, uint64_t speaker);
/* A commit of all who are present, executed. */
void toll_epoch(struct script *t, uint16_t *id);
/* Begins the next session of the call if `said` tells that the last one was left. */
void toll_join_again(struct script *t, const char *said, unsigned *rejoins);
/* The gateway answers what was sent, and the toll is taken. */
void toll_take(struct script *t, uint16_t *id, struct toll *n);

#endif
