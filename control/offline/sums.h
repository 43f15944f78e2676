/* Sums: the value of a reading of intent SUM, and the sentence that says it. Pure. */
#ifndef OFFLINE_SUMS_H
#define OFFLINE_SUMS_H

#include "control/offline/rules.h"

/* "Seven times eight is fifty six." Always terminated. */
void sum_answer(const struct reading *r, char *buf, size_t size);

#endif
