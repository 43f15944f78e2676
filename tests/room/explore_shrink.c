/* Making a failing run short: what is left out while it still fails was not needed for it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/room/explore_inside.h"

/* The same but for numbers. */
static bool alike(const char *a, const char *b)
{
	while (*a && *b) {
		a += strspn(a, "0123456789");
		b += strspn(b, "0123456789");
		if (*a != *b)
			return false;
		a += *a != '\0';
		b += *b != '\0';
	}
	return *a == *b;
}

static bool still_fails(struct explore *x, struct explore_run *run, const struct explore_run *try,
			const char *what)
{
	const char *now = explore_play(x, try, NULL);

	if (!now || !alike(now, what))
		return false;
	*run = *try;
	return true;
}

void explore_shrink(struct explore *x, struct explore_run *run, const char *broken)
{
	struct explore_run *try = malloc(sizeof *try);
	char what[256];

	if (!try)
		abort();
	snprintf(what, sizeof what, "%s", broken);
	for (unsigned size = run->n / 2; size; size /= 2)
		for (unsigned at = 0; at + size <= run->n;) {
			*try = *run;
			memmove(&try->op[at], &try->op[at + size],
				(run->n - at - size) * sizeof run->op[0]);
			try->n -= size;
			if (!still_fails(x, run, try, what))
				at += size;
		}
	for (unsigned i = 0; i < run->n; i++) {
		*try = *run;
		try->op[i].wait = 0;
		still_fails(x, run, try, what);
	}
	for (unsigned i = run->policy.n; i-- > 0;) {
		*try = *run;
		memmove(&try->policy.set[i], &try->policy.set[i + 1],
			(run->policy.n - i - 1) * sizeof try->policy.set[0]);
		try->policy.n--;
		still_fails(x, run, try, what);
	}
	free(try);
}
