#include "control/report/typists.h"

void typists_note(struct typists *t, uint64_t user, uint64_t message)
{
	unsigned i = 0;

	while (i < TYPISTS_MAX && i < t->n && t->of[i].user != user)
		i++;
	if (i == TYPISTS_MAX || i == t->n) {
		i = t->n++ % TYPISTS_MAX;
		t->lost = t->of[i].message > t->lost ? t->of[i].message : t->lost;
	}
	t->of[i].user = user;
	t->of[i].message = message;
}

bool typists_allow(const struct typists *t, uint64_t user, uint64_t message)
{
	for (unsigned i = 0; i < TYPISTS_MAX && i < t->n; i++)
		if (t->of[i].user == user && message <= t->of[i].message)
			return false;
	return message > t->lost;
}
