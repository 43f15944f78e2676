/* Reading tokens against the network: the cheapest path, found position by position. */
#include "control/offline/pattern_net.h"
#include "control/offline/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The best way found to reach a state after a number of tokens. */
struct cell {
	uint32_t from; /* cell it was reached from */
	uint32_t arc;  /* arc + 1, 0 = the start */
	uint32_t state;
	uint16_t cost, pos;
};

struct search {
	const struct pattern_set *set;
	const struct words *words;
	struct cell *cells; /* every state that was reached, position by position */
	uint32_t n_cells, cap_cells;
	uint32_t *here, *there; /* per state: its cell + 1 at this position and the next */
	struct list {
		uint32_t *v;
		uint32_t n, cap;
	} queue, later;		 /* cells to look at (again) at this position, and at the next */
	uint32_t ids[WORDS_MAX]; /* network word of each token, UINT32_MAX when unknown */
	uint32_t rule_cell;	 /* cell before the best NET_RULE arc */
	unsigned best_rule, best_cost;
	int err;
};

static void enqueue(struct search *s, struct list *l, uint32_t cell)
{
	if (l->n == l->cap) {
		uint32_t to = l->cap * 2 + 1024, *p = realloc(l->v, to * sizeof *p);

		if (!p) {
			s->err = ENOMEM;
			return;
		}
		l->v = p;
		l->cap = to;
	}
	l->v[l->n++] = cell;
}

/* Cells of the next position wait in `there`; those of this one are looked at again when they got
 * cheaper. */
static void reach(struct search *s, bool next, const struct net_arc *a, uint32_t from, uint32_t arc,
		  unsigned cost)
{
	uint32_t *slot = &(next ? s->there : s->here)[a->to];
	struct cell *c;
	bool first = !*slot;

	if (cost > COST_MAX || (*slot && s->cells[*slot - 1].cost <= cost) || s->err)
		return;
	if (first) {
		if (s->n_cells == s->cap_cells) {
			uint32_t to = s->cap_cells * 2 + 4096;
			struct cell *p = realloc(s->cells, to * sizeof *p);

			if (!p) {
				s->err = ENOMEM;
				return;
			}
			s->cells = p;
			s->cap_cells = to;
		}
		*slot = ++s->n_cells;
	}
	c = &s->cells[*slot - 1];
	*c = (struct cell){.from = from,
			   .arc = arc,
			   .state = a->to,
			   .cost = (uint16_t)cost,
			   .pos = (uint16_t)(s->cells[from].pos + next)};
	if (!next)
		enqueue(s, &s->queue, *slot - 1);
	else if (first)
		enqueue(s, &s->later, *slot - 1);
}

/* An earlier rule wins a tie, so that the table's order is its priority. */
static void finish(struct search *s, uint32_t at, unsigned rule, unsigned cost)
{
	if (s->cells[at].pos != s->words->n || cost > s->best_cost)
		return;
	if (cost == s->best_cost && rule >= s->best_rule)
		return;
	s->best_cost = cost;
	s->best_rule = rule;
	s->rule_cell = at;
}

static void step(struct search *s, uint32_t at)
{
	const struct pattern_set *set = s->set;
	unsigned cost = s->cells[at].cost, pos = s->cells[at].pos;
	bool more = pos < s->words->n;

	for (uint32_t i = set->first[s->cells[at].state]; i; i = set->arcs[i - 1].next) {
		const struct net_arc *a = &set->arcs[i - 1];

		if (!a->written)
			continue;
		switch ((enum net_arc_kind)a->kind) {
		case NET_WORD:
			if (more && s->ids[pos] == a->value)
				reach(s, true, a, at, i, cost);
			break;
		case NET_SKIP:
			if (more)
				reach(s, true, a, at, i, cost + COST_SKIP);
			break;
		case NET_OPEN:
			if (more)
				reach(s, true, a, at, i, cost + COST_OPEN);
			break;
		case NET_RULE:
			finish(s, at, a->value, cost);
			break;
		case NET_EMPTY:
		case NET_BEGIN:
		case NET_END:
			reach(s, false, a, at, i, cost);
			break;
		}
	}
}

static void run(struct search *s)
{
	for (unsigned pos = 0; pos <= s->words->n && !s->err; pos++) {
		struct list l;
		uint32_t *t = s->here;

		for (uint32_t head = 0; head < s->queue.n && !s->err; head++)
			step(s, s->queue.v[head]);
		l = s->queue;
		s->queue = s->later;
		s->later = l;
		s->later.n = 0;
		memset(s->here, 0, s->set->n_states * sizeof *s->here);
		s->here = s->there;
		s->there = t;
	}
}

/* Walks back from the end and notes the captures, which come out in reverse. */
static void captures(const struct search *s, struct pattern_match *m)
{
	const struct pattern_set *set = s->set;
	uint32_t at = s->rule_cell;

	while (s->cells[at].arc) {
		const struct net_arc *a = &set->arcs[s->cells[at].arc - 1];
		unsigned pos = s->cells[at].pos;

		if (a->kind == NET_END && m->n < PATTERN_MAX_CAPS)
			m->cap[m->n++] = (struct pattern_cap){
				.slot = a->value, .to = pos, .from = UINT32_MAX};
		for (unsigned k = m->n; a->kind == NET_BEGIN && k-- > 0;)
			if (m->cap[k].slot == a->value && m->cap[k].from == UINT32_MAX) {
				m->cap[k].from = pos;
				break;
			}
		at = s->cells[at].from;
	}
	for (unsigned i = 0; i < m->n / 2; i++) {
		struct pattern_cap t = m->cap[i];

		m->cap[i] = m->cap[m->n - 1 - i];
		m->cap[m->n - 1 - i] = t;
	}
}

static void ids_of(struct search *s)
{
	for (unsigned i = 0; i < s->words->n; i++) {
		s->ids[i] = UINT32_MAX;
		for (unsigned k = 0; k < s->set->n_words && s->ids[i] == UINT32_MAX; k++)
			if (strcmp(s->set->words[k], s->words->w[i]) == 0)
				s->ids[i] = k;
	}
}

static int begin(struct search *s)
{
	s->here = calloc(s->set->n_states, sizeof *s->here);
	s->there = calloc(s->set->n_states, sizeof *s->there);
	s->cells = malloc(4096 * sizeof *s->cells);
	if (!s->here || !s->there || !s->cells)
		return ENOMEM;
	s->cap_cells = 4096;
	s->cells[0] = (struct cell){.state = s->set->start};
	s->n_cells = 1;
	s->here[s->set->start] = 1;
	enqueue(s, &s->queue, 0);
	return s->err;
}

int pattern_match(const struct pattern_set *set, const struct words *words,
		  struct pattern_match *out)
{
	struct search s = {
		.set = set, .words = words, .best_cost = COST_MAX + 1, .best_rule = UINT32_MAX};
	int err = begin(&s);

	if (!err) {
		ids_of(&s);
		run(&s);
		err = s.err ? s.err : s.best_cost > COST_MAX ? ENOENT : 0;
	}
	if (!err) {
		*out = (struct pattern_match){.rule = s.best_rule, .cost = s.best_cost};
		captures(&s, out);
	}
	free(s.here);
	free(s.there);
	free(s.cells);
	free(s.queue.v);
	free(s.later.v);
	return err;
}
