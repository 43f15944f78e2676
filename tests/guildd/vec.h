/* A growing array of pointers. The array is its holder's; what the pointers lead to is up to the
 * holder. */
#ifndef GUILDD_VEC_H
#define GUILDD_VEC_H

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct gd_vec {
	void **v;
	size_t n, cap;
};

/* Appends p. ENOMEM leaves the array as it was. */
static inline int gd_vec_add(struct gd_vec *a, void *p)
{
	if (a->n == a->cap) {
		size_t cap = a->cap ? a->cap * 2 : 8;
		void **v = realloc(a->v, cap * sizeof(*v));

		if (!v)
			return ENOMEM;
		a->v = v;
		a->cap = cap;
	}
	a->v[a->n++] = p;
	return 0;
}

/* Takes out the entry at i and returns it; order is kept. */
static inline void *gd_vec_take(struct gd_vec *a, size_t i)
{
	void *p = a->v[i];

	memmove(a->v + i, a->v + i + 1, (a->n - i - 1) * sizeof(*a->v));
	a->n--;
	return p;
}

static inline void gd_vec_remove(struct gd_vec *a, const void *p)
{
	for (size_t i = 0; i < a->n; i++) {
		if (a->v[i] == p) {
			gd_vec_take(a, i);
			return;
		}
	}
}

/* Frees the array, not the entries. */
static inline void gd_vec_clear(struct gd_vec *a)
{
	free(a->v);
	*a = (struct gd_vec){0};
}

#endif
