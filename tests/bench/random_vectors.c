#include "tests/bench/random_vectors.h"

#include <math.h>

#include "control/memory/vectors.h"
#include "tests/bench/bench.h"
#include "tests/random.h"

enum { VECTORS = 4096, MODEL = 1 };

static struct vector vector[VECTORS];

void random_vectors_make(uint64_t *seed)
{
	float v[VECTOR_DIM];

	for (size_t i = 0; i < VECTORS; i++) {
		for (size_t k = 0; k < VECTOR_DIM; k++)
			v[k] = (float)random_normal(seed, 0, 1 / sqrt(VECTOR_DIM));
		vector_pack(&vector[i], v, VECTOR_DIM);
	}
}

void random_vectors_add(struct db *db, enum db_statement statement, uint64_t id, uint64_t *seed)
{
	const struct vector *v = &vector[random_below(seed, VECTORS)];
	struct sqlite3_stmt *s = db_use(db, statement);

	db_bind_uint(s, 1, id);
	db_bind_uint(s, 2, MODEL);
	db_bind_real(s, 3, (double)v->scale);
	db_bind_blob(s, 4, v->v, v->dim);
	BENCH_OK(db_run(db, s));
}
