#include "mediad/transport/path.h"

#include "proto/base/time.h"

static void prove(struct path *p, uint64_t now)
{
	p->proved_at = now;
	p->spoken_ms = 0;
}

void path_echo(struct path *p, uint64_t now)
{
	p->echoed = true;
	prove(p, now);
}

void path_report(struct path *p, uint64_t now)
{
	p->reported = true;
	prove(p, now);
}

void path_reach(struct path *p)
{
	p->reached = true;
}

void path_sent(struct path *p, uint64_t now, bool ok)
{
	if (ok)
		p->failing_since = 0;
	else if (!p->failing_since)
		p->failing_since = now;
}

void path_spoke(struct path *p, unsigned ms)
{
	if (p->spoken_ms < PATH_SILENT_MS)
		p->spoken_ms += ms;
}

bool path_is_silent(const struct path *p, uint64_t now)
{
	const uint64_t limit = PATH_SILENT_MS * NS_PER_MS;
	bool awaited = p->echoed || (p->reported && p->spoken_ms >= PATH_SILENT_MS);

	return (awaited && now - p->proved_at >= limit) ||
	       (p->failing_since && now - p->failing_since >= limit);
}

void path_ask(struct path *p)
{
	p->asking = true;
	p->reached = false;
}

void path_found(struct path *p, uint64_t now)
{
	p->asking = false;
	p->failing_since = 0;
	prove(p, now);
}

bool path_is_back(struct path *p, uint64_t now)
{
	bool back = p->asking && p->reached && !path_is_silent(p, now);

	p->asking = p->asking && !back;
	return back;
}
