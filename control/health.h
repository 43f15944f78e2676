/* Reports on a running control by its state directory: `control --health` and `control
 * --counters`. Both print and return the exit status. dir is borrowed; NULL: there is none. */
#ifndef CONTROL_HEALTH_H
#define CONTROL_HEALTH_H

int health_check(const char *dir);
int health_print_counters(const char *dir);

#endif
