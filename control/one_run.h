/* One run of this program as a child, for somebody who waits for what it finds: a command that
 * reads for seconds, for which neither the loop nor the store's worker has the time. */
#ifndef CONTROL_ONE_RUN_H
#define CONTROL_ONE_RUN_H

#include <stddef.h>

struct env;
struct one_run;

/* Called once. line: the first line of its stdout, borrowed, len bytes; NULL: it ended without one.
 * status: its exit status, 0 with a line; below 0: it took too long. */
typedef void(one_run_h)(int status, const char *line, size_t len, void *arg);

struct one_run_conf {
	struct env *env;
	const char *const *arguments; /* behind the program's name, NULL-terminated; copied */
	const char *input;	      /* a line for its stdin; copied, NULL: none */
	size_t line_max;	      /* bytes of its line; 0: it is waited for alone */
	unsigned wait_s;	      /* as long it may take */
	const char *name;	      /* for the log, when it takes longer */
	one_run_h *doneh;
	void *arg;
	struct one_run **place; /* the run; NULL again once it is freed */
};

enum { ONE_RUN_ARGUMENTS = 8 };

/* Begins; *place is set before, for a handler that is called at once. Errors of spawn_locate and
 * child_alloc, E2BIG, ENOMEM. It frees itself when it is over, or one_run_free does before. */
int one_run_begin(const struct one_run_conf *conf);
/* Whoever waits is not told. NULL accepted. */
struct one_run *one_run_free(struct one_run *r);

#endif
