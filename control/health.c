#include "control/health.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include <jansson.h>

#include "control/metrics/counters.h"
#include "control/state.h"
#include "proto/base/time.h"

static uint64_t wall_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return ms_of_timespec(&now);
}

/* The saved state shows whether the control that writes it is connected; its lock, whether it runs.
 */
int health_check(const char *dir)
{
	json_t *session = dir ? state_read_session(dir) : NULL;
	struct state s;
	bool alive;

	alive = session && !state_parse(session, &s) && state_alive(&s, wall_ms());
	json_decref(session);
	printf("%s: %s%s\n", dir ? dir : "no state directory",
	       alive			  ? "control is on Discord"
	       : dir && state_locked(dir) ? "control runs, but is not on Discord; its log says why"
					  : "no control runs",
	       alive && s.lacks_real_time ? "; an audio thread of mediad has lost real-time "
					    "priority: restart mediad when the machine is calm"
					  : "");
	return alive ? 0 : 1;
}

/* From the saved state, which is a second old at most while something happens. */
int health_print_counters(const char *dir)
{
	json_t *session = dir ? state_read_session(dir) : NULL;
	struct state s;
	int err = session ? state_parse(session, &s) : ENOENT;

	json_decref(session);
	if (err) {
		fprintf(stderr,
			"control: no control has kept its state in %s: start one, or name its "
			"directory by --state-dir\n",
			dir ? dir : "any directory");
		return 1;
	}
	for (unsigned i = 0; i < COUNTER_COUNT; i++)
		printf("%-16s %8llu  %s\n", counter_name((enum counter)i),
		       (unsigned long long)s.counters.v[i], counter_text((enum counter)i));
	return 0;
}
