#include "tests/room/seen.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const events[] = {
#define X(NAME, name, text) #name,
	ROOM_EVENTS(X)
#undef X
};
static const char *const effects[] = {
#define X(NAME, name, text) #name,
	ROOM_EFFECT_ROWS(X)
#undef X
};

void seen_add(struct seen *to, const struct seen *more)
{
	uint64_t *sum = (uint64_t *)to;
	const uint64_t *v = (const uint64_t *)more;

	_Static_assert(sizeof *to % sizeof *sum == 0, "nothing but counts");
	for (size_t i = 0; i < sizeof *to / sizeof *sum; i++)
		sum[i] += v[i];
}

/* One line of the print. */
struct line {
	uint64_t often;
	unsigned all, seldom;
};

static void begin(struct line *l, const char *title)
{
	printf("%s:", title);
	*l = (struct line){.often = l->often};
}

/* "NAME (COUNT)" of what was seen too seldom; a and b are one name. */
static void count(struct line *l, const char *a, const char *b, uint64_t n)
{
	l->all++;
	if (n >= l->often)
		return;
	printf("%s %s%s (%" PRIu64 ")", l->seldom ? "," : " seldom", a, b, n);
	l->seldom++;
}

static unsigned end(const struct line *l)
{
	printf("%s %u of %u seen %" PRIu64 " times or more\n", l->seldom ? ";" : "",
	       l->all - l->seldom, l->all, l->often);
	return l->seldom;
}

static unsigned lists(const struct seen *s, uint64_t often)
{
	struct line l = {.often = often};
	unsigned seldom = 0;

	begin(&l, "events");
	for (unsigned i = 0; i < ROOM_EVENT_COUNT; i++)
		count(&l, events[i], "", s->events[i]);
	seldom += end(&l);
	begin(&l, "effects");
	for (unsigned i = 0; i < ROOM_DO_COUNT; i++)
		count(&l, effects[i], "", s->effects[i]);
	seldom += end(&l);
	begin(&l, "reasons");
	for (unsigned i = ROOM_REASON_NONE + 1; i < ROOM_REASON_COUNT; i++)
		count(&l, room_reason_name(i), "", s->reasons[i]);
	seldom += end(&l);
	begin(&l, "rules");
	for (unsigned i = 0; i < ROOM_RULE_COUNT; i++)
		count(&l, room_rule_name(i), "", s->rules[i]);
	seldom += end(&l);
	begin(&l, "ends");
	for (unsigned i = ROOM_END_NONE + 1; i < ROOM_END_COUNT; i++)
		count(&l, room_end_name((enum room_end)i), "", s->ends[i]);
	return seldom + end(&l);
}

static unsigned moves(const struct seen *s, unsigned m, uint64_t often)
{
	char from[STATES_NAME], to[STATES_NAME], name[STATES_NAME + 8], title[40];
	struct line l = {.often = often};

	snprintf(title, sizeof title, "moves of %s", states_machine(m));
	begin(&l, title);
	for (unsigned a = 0; a < states_count(m); a++)
		for (unsigned b = 0; b < states_count(m); b++) {
			if (a == b || states_never(m, a, b))
				continue;
			states_name(m, a, from);
			states_name(m, b, to);
			snprintf(name, sizeof name, "%s to ", from);
			count(&l, name, to, s->moves[m][a][b]);
		}
	return end(&l);
}

static unsigned pairs(const struct seen *s, unsigned m, uint64_t often)
{
	char output[STATES_NAME], state[STATES_NAME], name[STATES_NAME + 8], title[40];
	struct line l = {.often = often};

	snprintf(title, sizeof title, "output and %s", states_machine(m));
	begin(&l, title);
	for (unsigned a = 0; a < states_count(STATES_OUTPUT); a++)
		for (unsigned b = 0; b < states_count(m); b++) {
			if (states_never_both(m, a, b))
				continue;
			states_name(STATES_OUTPUT, a, output);
			states_name(m, b, state);
			snprintf(name, sizeof name, "%s and ", output);
			count(&l, name, state, s->pairs[m][a][b]);
		}
	return end(&l);
}

unsigned seen_print(const struct seen *s, uint64_t often)
{
	unsigned seldom = lists(s, often);

	for (unsigned m = 0; m < STATES_MACHINES; m++)
		seldom += moves(s, m, often);
	for (unsigned m = 0; m < STATES_MACHINES; m++)
		seldom += states_paired(m) ? pairs(s, m, often) : 0;
	return seldom;
}
