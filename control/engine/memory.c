#include "control/engine/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct exchange {
	char *line, *said;
};

struct brain_memory {
	struct exchange v[BRAIN_MEMORY_EXCHANGES];
	unsigned first, n;
};

int brain_memory_alloc(struct brain_memory **out)
{
	struct brain_memory *m = calloc(1, sizeof *m);

	if (!m)
		return ENOMEM;
	*out = m;
	return 0;
}

struct brain_memory *brain_memory_free(struct brain_memory *m)
{
	for (unsigned i = 0; m && i < BRAIN_MEMORY_EXCHANGES; i++) {
		free(m->v[i].line);
		free(m->v[i].said);
	}
	free(m);
	return NULL;
}

int brain_memory_add(struct brain_memory *m, const char *line, const char *said)
{
	struct exchange e = {strdup(line), strdup(said)}, *to;

	if (!e.line || !e.said) {
		free(e.line);
		free(e.said);
		return ENOMEM;
	}
	to = &m->v[(m->first + m->n) % BRAIN_MEMORY_EXCHANGES];
	if (m->n == BRAIN_MEMORY_EXCHANGES)
		m->first = (m->first + 1) % BRAIN_MEMORY_EXCHANGES;
	else
		m->n++;
	free(to->line);
	free(to->said);
	*to = e;
	return 0;
}

void brain_memory_each(const struct brain_memory *m,
		       void (*h)(const char *line, const char *said, void *arg), void *arg)
{
	for (unsigned i = 0; i < m->n; i++) {
		const struct exchange *e = &m->v[(m->first + i) % BRAIN_MEMORY_EXCHANGES];

		h(e->line, e->said, arg);
	}
}
