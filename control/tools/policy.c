#include "control/tools/policy.h"

#include <string.h>

#include "control/settings/settings.h"
#include "proto/base/time.h"

static const struct {
	const char *name, *text;
} verdicts[] = {
#define V(NAME, n, t) {#n, t},
	TOOL_VERDICTS(V)
#undef V
};

const char *tool_verdict_name(enum tool_verdict verdict)
{
	return verdicts[verdict].name;
}

const char *tool_verdict_text(enum tool_verdict verdict)
{
	return verdicts[verdict].text;
}

bool tool_policy_lists(const char *list, const char *name)
{
	size_t n = strlen(name);

	while (*list) {
		size_t skip = strspn(list, ", "), word = strcspn(list + skip, ", ");

		if (word == n && strncmp(list + skip, name, n) == 0)
			return true;
		list += skip + word;
	}
	return false;
}

/* ---- rates ---- */

/* The speaker's calls; a free place, or that of the speaker who called longest ago. */
static struct tool_rate *find_rate(struct tool_policy *p, uint64_t user)
{
	struct tool_rate *best = &p->rate[0];
	uint64_t oldest = UINT64_MAX;

	for (unsigned i = 0; i < TOOL_RATES; i++) {
		struct tool_rate *r = &p->rate[i];
		uint64_t last = r->n ? r->at[(r->n - 1) % TOOL_RATE_MAX] : 0;

		if (r->n && r->user == user)
			return r;
		if (last < oldest) {
			oldest = last;
			best = r;
		}
	}
	*best = (struct tool_rate){.user = user};
	return best;
}

static bool exceeds_rate(const struct tool_rate *r, const struct settings *s, bool reads,
			 uint64_t now)
{
	unsigned kept = r->n < TOOL_RATE_MAX ? r->n : TOOL_RATE_MAX, calls = 0, read = 0;

	for (unsigned i = r->n - kept; i < r->n; i++) {
		if (now - r->at[i % TOOL_RATE_MAX] >= 60 * NS_PER_S)
			continue;
		calls++;
		read += r->reads[i % TOOL_RATE_MAX];
	}
	return calls >= s->tool_calls_a_minute || (reads && read >= s->tool_reads_a_minute);
}

static void count_call(struct tool_rate *r, bool reads, uint64_t now)
{
	r->at[r->n % TOOL_RATE_MAX] = now;
	r->reads[r->n % TOOL_RATE_MAX] = reads;
	r->n++;
}

/* ---- a spoken yes ---- */

static uint64_t hash_call(const struct tool_request *q)
{
	uint64_t hash = q->arguments;

	for (const char *c = q->row->name; *c; c++)
		hash = (hash ^ (uint8_t)*c) * UINT64_C(1099511628211);
	return hash ? hash : 1;
}

/* The yes counts once. */
static bool has_yes(struct tool_policy *p, const struct tool_request *q, uint64_t now)
{
	bool yes = p->yes && p->asked_user == q->user && p->asked_call == hash_call(q) &&
		   now - p->read_back_at <= 2 * TOOL_YES_S * NS_PER_S;

	if (yes)
		p->asked_call = 0;
	return yes;
}

void tool_policy_read_back(struct tool_policy *p, uint64_t user, uint64_t now)
{
	if (p->asked_call && p->asked_user == user && !p->yes)
		p->read_back_at = now;
}

void tool_policy_words(struct tool_policy *p, uint64_t user, bool yes, uint64_t now)
{
	if (!p->asked_call || p->asked_user != user)
		return;
	p->yes = yes && p->read_back_at && now - p->read_back_at <= TOOL_YES_S * NS_PER_S;
	if (!p->yes)
		p->asked_call = 0;
}

/* ---- the rules ---- */

static enum tool_verdict judge_effect(struct tool_policy *p, const struct settings *s,
				      const struct tool_request *q, uint64_t now)
{
	const struct tool_row *row = q->row;
	bool allowed = tool_policy_lists(s->tools_allowed, row->name);
	bool asks = (!allowed && (row->effect == TOOL_EFFECT_OUTSIDE || row->confirm)) ||
		    (q->room_tainted && row->effect != TOOL_EFFECT_NONE);

	if ((unsigned)q->rank < (unsigned)row->who)
		return TOOL_RANK;
	if (row->effect == TOOL_EFFECT_FINAL && !allowed)
		return TOOL_FINAL;
	if (!asks || has_yes(p, q, now))
		return TOOL_ALLOWED;
	p->asked_user = q->user;
	p->asked_call = hash_call(q);
	p->read_back_at = 0;
	p->yes = false;
	return TOOL_ASK;
}

enum tool_verdict tool_policy_judge(struct tool_policy *p, const struct settings *s,
				    const struct tool_request *q, uint64_t now)
{
	const struct tool_row *row = q->row;
	struct tool_rate *rate = find_rate(p, q->user);
	enum tool_verdict verdict;

	if (tool_policy_lists(s->tools_off, row->name))
		return TOOL_OFF;
	if (row->effect != TOOL_EFFECT_NONE && (q->tainted || !q->user))
		return TOOL_TAINTED;
	if (exceeds_rate(rate, s, row->taints, now))
		return TOOL_RATE;
	verdict = judge_effect(p, s, q, now);
	if (verdict == TOOL_ALLOWED)
		count_call(rate, row->taints, now);
	return verdict;
}
