/* Prints the costs in the store for a person at a terminal.
 *
 *   2026-11-22  server 1  text channel 3  text main mini  $0.0021  1 written answer
 *   2026-11-22  server 1  voice channel 2  alice (501)  text main mini  $0.0123  4 turns
 *   2026-11-22  all  $0.0144
 *
 * An amount with "at least" lacks requests whose model has no price (control/settings/prices.def).
 */
#ifndef CONTROL_COSTS_H
#define CONTROL_COSTS_H

#include <stdint.h>
#include <stdio.h>

/* `control --costs`: of this server (0: all of them), not older than since_ms. The exit status. */
int costs_run(FILE *out, const char *state_dir, uint64_t guild, uint64_t since_ms);

#endif
