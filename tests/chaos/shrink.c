#include "tests/chaos/shrink.h"

#include <string.h>

static void without(struct chaos_script *out, const struct chaos_script *s, unsigned from,
		    unsigned n)
{
	*out = *s;
	memmove(out->step + from, out->step + from + n, (s->n - from - n) * sizeof out->step[0]);
	out->n -= n;
}

unsigned chaos_shrink(struct chaos_script *s, unsigned runs, chaos_fails_h *h, void *arg)
{
	struct chaos_script less;
	unsigned done = 0;

	/* What surrounds the steps first: a script without it is easier to run by hand. */
	for (unsigned k = 0; k < 3 && done < runs; k++) {
		less = *s;
		if (k == 0)
			less.real = false;
		else if (k == 1)
			less.journal_kb = 0;
		else
			less.music = false;
		if (less.real == s->real && less.journal_kb == s->journal_kb &&
		    less.music == s->music)
			continue;
		done++;
		if (h(&less, arg))
			*s = less;
	}
	/* Halves, then quarters, and so on down to single steps, which go round until none can be
	 * missed. */
	for (unsigned chunk = s->n > 1 ? (s->n + 1) / 2 : 1;;) {
		bool any = false;

		for (unsigned at = 0; at < s->n && done < runs;) {
			unsigned n = chunk < s->n - at ? chunk : s->n - at;

			without(&less, s, at, n);
			done++;
			if (h(&less, arg)) {
				*s = less;
				any = true;
			} else {
				at += n;
			}
		}
		if (done >= runs || (chunk == 1 && !any))
			return done;
		if (chunk > 1)
			chunk = (chunk + 1) / 2;
	}
}
