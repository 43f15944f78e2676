/* A limit for a line of the log that somebody else can cause at will: one line of each kind in
 * LOG_LIMIT_MS, and it says how many were held back since the last one. Pure; a struct of zeros is
 * ready for use. */
#ifndef CONTROL_ENGINE_CORE_LOG_LIMIT_H
#define CONTROL_ENGINE_CORE_LOG_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

enum { LOG_LIMIT_MS = 10000 };

struct log_limit {
	uint64_t until; /* ns: no line before */
	unsigned held;	/* back since the last line */
};

/* True: the line may be written; *held: how many were not since the last one. now: ns. */
bool log_limit_pass(struct log_limit *limit, uint64_t now, unsigned *held);

#endif
