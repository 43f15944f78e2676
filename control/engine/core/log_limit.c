#include "control/engine/core/log_limit.h"

#include "proto/base/time.h"

bool log_limit_pass(struct log_limit *limit, uint64_t now, unsigned *held)
{
	if (now < limit->until) {
		limit->held++;
		return false;
	}
	*held = limit->held;
	*limit = (struct log_limit){.until = now + LOG_LIMIT_MS * NS_PER_MS};
	return true;
}
