/* Vectors in random directions, for benches whose texts are generated. Nothing is owned. */
#ifndef TESTS_BENCH_RANDOM_VECTORS_H
#define TESTS_BENCH_RANDOM_VECTORS_H

#include <stdint.h>

#include "control/store/db.h"

void random_vectors_make(uint64_t *seed);
/* Gives one of them to a row. statement: ADD_VECTOR or ADD_FACT_VECTOR. */
void random_vectors_add(struct db *db, enum db_statement statement, uint64_t id, uint64_t *seed);

#endif
