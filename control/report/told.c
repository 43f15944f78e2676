#include "control/report/told.h"

#include <errno.h>
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

bool told_is_complete(const struct told *t)
{
	return !t->lost && !t->lost_past;
}

void told_make_past(struct told *t)
{
	for (unsigned i = 0; i < t->n; i++)
		t->v[i].past = true;
	t->lost_past = t->lost_past || t->lost;
	t->lost = false;
}

void told_drop_past(struct told *t)
{
	unsigned n = 0;

	for (unsigned i = 0; i < t->n; i++)
		if (!t->v[i].past)
			t->v[n++] = t->v[i];
	t->n = n;
	t->lost_past = false;
}

uint64_t told_find_unkept(const struct told *t, bool (*keepsh)(uint64_t user, void *arg), void *arg)
{
	for (unsigned i = 0; i < t->n; i++)
		if (!t->v[i].past && !keepsh(t->v[i].user, arg))
			return t->v[i].user;
	return 0;
}

int told_print(const struct told *t, char **out)
{
	json_t *list = json_array();
	int err = 0;

	*out = NULL;
	for (unsigned i = 0; i < t->n && !err; i++)
		err = json_array_append_new(list,
					    json_sprintf("%llu", (unsigned long long)t->v[i].user));
	if (t->n && !err)
		*out = json_dumps(list, JSON_COMPACT);
	json_decref(list);
	return t->n && !*out ? ENOMEM : 0;
}
