/* Finds the children of processes, as /proc tells them. */
#ifndef TESTS_CHAOS_CHILDREN_H
#define TESTS_CHAOS_CHILDREN_H

#include <sys/types.h>

/* The oldest child that has existed for min_ms; 0: there is none. */
pid_t children_oldest(pid_t parent, unsigned min_ms);

#endif
