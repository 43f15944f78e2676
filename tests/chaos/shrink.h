/* Shortens a failing script by removing steps while it still fails. Pure except for the runs. */
#ifndef TESTS_CHAOS_SHRINK_H
#define TESTS_CHAOS_SHRINK_H

#include "tests/chaos/script.h"

/* True if this script still fails. */
typedef bool(chaos_fails_h)(const struct chaos_script *s, void *arg);

/* Runs at most `runs` of them. *s is failing before and after. Returns how many were run. */
unsigned chaos_shrink(struct chaos_script *s, unsigned runs, chaos_fails_h *h, void *arg);

#endif
