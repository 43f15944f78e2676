#include "control/tools/policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/settings/settings.h"
#include "control/tools/read_back.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"
#include "proto/discord.h"

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

bool tool_policy_has_role(const char *list, const char *name, tool_role_h *h, void *arg)
{
	size_t n = strlen(name);
	bool restricted = false;

	while (*list) {
		size_t skip = strspn(list, ", "), word = strcspn(list + skip, ", ");
		const char *p = list + skip;
		uint64_t role = 0;

		/* Without a role it is a mistake, which bars everybody. */
		if (word >= n && strncmp(p, name, n) == 0 && (word == n || p[n] == ':')) {
			char id[24] = "";

			if (word > n)
				utf8_copy_bytes(id, sizeof id, p + n + 1, word - n - 1);
			if (discord_u64(id, &role) && h(role, arg))
				return true;
			restricted = true;
		}
		list += skip + word;
	}
	return !restricted;
}

static bool has_no_role(uint64_t role, void *arg)
{
	(void)role;
	(void)arg;
	return false;
}

bool tool_policy_is_free(const struct settings *s, const char *name)
{
	return !tool_policy_lists(s->tools_off, name) &&
	       !tool_policy_lists(s->tools_moderators, name) &&
	       !tool_policy_lists(s->tools_owners, name) &&
	       tool_policy_has_role(s->tools_roles, name, has_no_role, NULL);
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

/* The person's call; NULL: none. */
static struct tool_asked *find_asked(struct tool_policy *p, uint64_t user)
{
	for (unsigned i = 0; i < TOOL_ASKED; i++)
		if (p->asked[i].call && p->asked[i].user == user)
			return &p->asked[i];
	return NULL;
}

static void end_asked(struct tool_asked *a)
{
	free(a->call);
	free(a->question);
	*a = (struct tool_asked){0};
}

/* The place of the person's last call, a free one, or the oldest. */
static struct tool_asked *find_place(struct tool_policy *p, uint64_t user)
{
	struct tool_asked *a = find_asked(p, user);

	for (unsigned i = 0; !a && i < TOOL_ASKED; i++)
		if (!p->asked[i].call)
			a = &p->asked[i];
	if (a)
		return a;
	a = &p->asked[0];
	for (unsigned i = 1; i < TOOL_ASKED; i++)
		if (p->asked[i].asked_at < a->asked_at)
			a = &p->asked[i];
	return a;
}

void tool_policy_keep(struct tool_policy *p, const struct tool_asking *call, uint64_t now)
{
	size_t size = strlen(call->tool) + strlen(call->arguments) + 2;
	struct tool_asked *a = find_place(p, call->user);

	end_asked(a);
	a->call = malloc(size);
	a->question = strdup(call->question);
	a->lead = call->lead;
	a->quoted = call->quoted;
	if (!a->call || !a->question) {
		end_asked(a);
		return;
	}
	snprintf(a->call, size, "%s %s", call->tool, call->arguments);
	a->user = call->user;
	a->turn = call->turn;
	a->asked_at = now;
}

void tool_policy_clear(struct tool_policy *p)
{
	for (unsigned i = 0; i < TOOL_ASKED; i++)
		end_asked(&p->asked[i]);
}

void tool_policy_read_back(struct tool_policy *p, uint64_t user, const char *said, uint64_t now)
{
	struct tool_asked *a = find_asked(p, user);

	if (a && tool_is_question(a->question, said, a->lead))
		a->read_back_at = now;
}

const char *tool_policy_kept(const struct tool_policy *p, uint64_t user)
{
	for (unsigned i = 0; i < TOOL_ASKED; i++)
		if (p->asked[i].call && p->asked[i].user == user)
			return p->asked[i].call;
	return "";
}

static bool awaits(const struct tool_policy *p, const struct tool_asked *a, uint64_t now)
{
	uint64_t yes_s = p->yes_s ? p->yes_s : TOOL_YES_S;

	return a->read_back_at && now - a->read_back_at <= yes_s * NS_PER_S;
}

bool tool_policy_awaits(const struct tool_policy *p, uint64_t user, uint32_t turn, uint64_t now)
{
	for (unsigned i = 0; i < TOOL_ASKED; i++)
		if (p->asked[i].call && p->asked[i].user == user && p->asked[i].turn == turn)
			return awaits(p, &p->asked[i], now);
	return false;
}

char *tool_policy_words(struct tool_policy *p, uint64_t user, uint32_t turn, bool yes, uint64_t now,
			bool *quoted)
{
	struct tool_asked *a = find_asked(p, user);
	char *call = NULL;

	if (!a || (turn && a->turn != turn))
		return NULL;
	if (yes && awaits(p, a, now)) {
		call = a->call;
		a->call = NULL;
		*quoted = a->quoted;
	}
	end_asked(a);
	return call;
}

/* ---- the rules ---- */

/* That of the row, or a higher one of the settings. */
static int lowest_rank(const struct settings *s, const struct tool_row *row)
{
	int rank = TOOL_RANK_EVERYONE;

	if (tool_policy_lists(s->tools_owners, row->name))
		rank = TOOL_RANK_OWNER;
	else if (tool_policy_lists(s->tools_moderators, row->name))
		rank = TOOL_RANK_MODERATOR;
	return rank > (int)row->who ? rank : (int)row->who;
}

static enum tool_verdict judge_effect(const struct settings *s, const struct tool_request *q)
{
	const struct tool_row *row = q->row;
	char words[TOOL_READ_BACK_MAX];
	bool allowed = tool_policy_lists(s->tools_allowed, row->name);
	bool asks =
		(!allowed && (row->effect == TOOL_EFFECT_OUTSIDE || row->confirm)) ||
		((q->room_tainted || q->shared || q->quotes) && row->effect != TOOL_EFFECT_NONE) ||
		(q->titled && row->effect >= TOOL_EFFECT_OUTSIDE);

	if ((int)q->rank < lowest_rank(s, row))
		return TOOL_RANK;
	if (row->effect == TOOL_EFFECT_FINAL && !allowed)
		return TOOL_FINAL;
	if (!asks || q->agreed)
		return TOOL_ALLOWED;
	return tool_read_back(row->name, q->arguments, words) ? TOOL_ASK : TOOL_LONG;
}

enum tool_verdict tool_policy_judge(struct tool_policy *p, const struct settings *s,
				    const struct tool_request *q, uint64_t now)
{
	const struct tool_row *row = q->row;
	struct tool_rate *rate = find_rate(p, q->user);
	bool reads = row->taints == TOOL_TAINTS_SESSION;
	enum tool_verdict verdict;

	if (tool_policy_lists(s->tools_off, row->name))
		return TOOL_OFF;
	if (row->effect != TOOL_EFFECT_NONE && !q->user)
		return TOOL_NOBODY;
	if (row->effect != TOOL_EFFECT_NONE && q->tainted && !q->agreed)
		return TOOL_TAINTED;
	if (exceeds_rate(rate, s, reads, now))
		return TOOL_RATE;
	verdict = judge_effect(s, q);
	if (verdict == TOOL_ALLOWED)
		count_call(rate, reads, now);
	return verdict;
}
