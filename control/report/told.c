#include "control/report/told.h"

#include <stddef.h>

#include <jansson.h>

void told_add(struct told *t, uint64_t user)
{
	unsigned i = 0;

	if (!user)
		return;
	while (i < t->n && t->v[i].user != user)
		i++;
	if (i == TOLD_MAX) {
		t->lost = true;
		return;
	}
	t->v[i] = (struct told_person){.user = user};
	if (i == t->n)
		t->n++;
}

bool told_is_whole(const struct told *t)
{
	return !t->lost && !t->lost_over;
}

void told_over(struct told *t)
{
	for (unsigned i = 0; i < t->n; i++)
		t->v[i].over = true;
	t->lost_over = t->lost_over || t->lost;
	t->lost = false;
}

void told_drop(struct told *t)
{
	unsigned n = 0;

	for (unsigned i = 0; i < t->n; i++)
		if (!t->v[i].over)
			t->v[n++] = t->v[i];
	t->n = n;
	t->lost_over = false;
}

uint64_t told_find_unkept(const struct told *t, bool (*keepsh)(uint64_t user, void *arg), void *arg)
{
	for (unsigned i = 0; i < t->n; i++)
		if (!t->v[i].over && !keepsh(t->v[i].user, arg))
			return t->v[i].user;
	return 0;
}

char *told_text(const struct told *t)
{
	json_t *list = t->n ? json_array() : NULL;
	char *text;

	for (unsigned i = 0; i < t->n; i++)
		json_array_append_new(list, json_sprintf("%llu", (unsigned long long)t->v[i].user));
	text = list ? json_dumps(list, JSON_COMPACT) : NULL;
	json_decref(list);
	return text;
}
