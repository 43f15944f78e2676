#include "mediad/transport/path.h"

#include "proto/base/time.h"

static const uint64_t LIMIT = PATH_SILENT_MS * NS_PER_MS;

void path_start(struct path *p, uint64_t now)
{
	p->quiet_since = now;
}

void path_echo(struct path *p, uint64_t now)
{
	p->echoed = p->proved = true;
	p->echoed_at = now;
}

void path_report(struct path *p, uint64_t now)
{
	p->reported = p->proved = true;
	p->reported_at = now;
	p->spoken_ms = 0;
}

/* Both are awaited anew. */
static void begin_again(struct path *p, uint64_t now)
{
	p->asking = false;
	p->echoed_at = p->reported_at = now;
	p->spoken_ms = 0;
}

void path_reach(struct path *p, uint64_t now)
{
	p->reached = true;
	p->quiet_since = now;
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

static bool sends_fail(const struct path *p, uint64_t now)
{
	return p->failing_since && now - p->failing_since >= LIMIT;
}

bool path_is_silent(const struct path *p, uint64_t now)
{
	bool reports = p->reported && p->spoken_ms >= PATH_SILENT_MS;

	return (p->echoed && now - p->echoed_at >= LIMIT) ||
	       (reports && now - p->reported_at >= LIMIT) || sends_fail(p, now);
}

bool path_is_doubtful(const struct path *p, uint64_t now)
{
	return now - p->quiet_since >= PATH_DOUBT_MS * NS_PER_MS;
}

void path_doubt(struct path *p, uint64_t now)
{
	p->asking = p->doubting = true;
	p->reached = false;
	p->quiet_since = now;
}

/* Ends an examination of a path that seemed well: what is awaited is awaited as before. */
static bool end_doubt(struct path *p)
{
	if (!p->doubting)
		return false;
	p->asking = p->doubting = false;
	return true;
}

void path_ask(struct path *p)
{
	p->asking = true;
	p->proved = p->reached = false;
}

static void end_answered(struct path *p, uint64_t now)
{
	p->failing_since = 0;
	if (!end_doubt(p))
		begin_again(p, now);
}

void path_found(struct path *p, uint64_t now)
{
	p->answers = true;
	end_answered(p, now);
}

bool path_is_moved(struct path *p, uint64_t now)
{
	bool well = p->doubting || (p->proved && !path_is_silent(p, now));
	bool denied = p->reached && well && !p->answers;

	end_answered(p, now);
	return !denied;
}

bool path_is_back(struct path *p, uint64_t now)
{
	bool back = p->asking && p->proved && p->reached && !sends_fail(p, now);

	if (end_doubt(p))
		return true;
	if (back)
		begin_again(p, now);
	return back;
}
