/* Arithmetic: the value of a reading of intent SUM, and the sentence that answers it. Pure. */
#ifndef OFFLINE_SUMS_H
#define OFFLINE_SUMS_H

#include "control/offline/rules.h"

/* "Seven times eight is fifty six." Always terminated. */
void arithmetic_answer(const struct reading *r, char *buf, size_t size);

#endif
