/* An incident as a state directory of its own that may be shown to others: turns with their
 * decisions, times of utterances, calls of tools, costs, faults and the settings, without words,
 * names and ids of people. `control --why --state-dir` opens it on another machine. */
#ifndef CONTROL_STORE_INCIDENT_H
#define CONTROL_STORE_INCIDENT_H

#include <stdint.h>

struct incident {
	const char *dir;   /* the state directory */
	const char *to;	   /* is made; may not exist */
	uint64_t since_ms; /* nothing older, 0: all that is kept */
	uint64_t guild;	   /* of this server alone; 0: of all */
};

/* What the copy holds. */
struct incident_rows {
	uint64_t turns, events;
};

/* Also beside a control that runs. EEXIST: `to` is there; errors of db_open and mkdir. What was
 * made of `to` is left behind on an error. */
int incident_export(const struct incident *what, struct incident_rows *out);

#endif
