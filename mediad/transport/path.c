#include "mediad/transport/path.h"

#include "proto/base/time.h"

void path_prove(struct path *p, uint64_t now)
{
	p->proved = true;
	p->proved_at = now;
}

void path_sent(struct path *p, uint64_t now, bool ok)
{
	if (ok)
		p->failing_since = 0;
	else if (!p->failing_since)
		p->failing_since = now;
}

bool path_is_silent(const struct path *p, uint64_t now)
{
	const uint64_t limit = PATH_SILENT_MS * NS_PER_MS;

	return (p->proved && now - p->proved_at >= limit) ||
	       (p->failing_since && now - p->failing_since >= limit);
}
