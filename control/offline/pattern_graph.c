/* The spoken part of the network as a minimal deterministic word graph.
 *
 * Subset construction, then equal states are folded from the ends backwards; the spoken network has
 * no loops. The recogniser makes a prefix tree per state, so this saves its time. */
#include "control/offline/pattern_net.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { GRAPH_MAX_STATES = 100000 };

/* A set of network states, sorted, and the deterministic state made of it. */
struct subset {
	uint32_t *nfa;
	unsigned n;
	uint32_t first, n_arcs; /* into out->arcs once expanded */
	uint32_t folded;	/* the state it became, UINT32_MAX = not yet */
};

struct maker {
	const struct pattern_set *set;
	struct subset *subs;
	unsigned n_subs, cap_subs;
	struct pattern_arc *arcs;
	unsigned n_arcs, cap_arcs;
	bool *mark;	 /* per network state */
	uint32_t *stack; /* closure */
	uint32_t *index; /* hash table of subsets, + 1 */
	unsigned index_size;
	/* Folded states: `kept` lists subsets that stand for themselves. */
	uint32_t *kept;
	unsigned n_kept;
	uint32_t *fold_index;
};

static uint32_t hash_words(const uint32_t *p, size_t n, uint32_t h)
{
	for (size_t i = 0; i < n; i++) {
		h ^= p[i];
		h *= 0x9e3779b1u;
		h ^= h >> 15;
	}
	return h;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Adds the states reachable without a word. list has room for every network state. */
static unsigned close_over(struct maker *m, uint32_t *list, unsigned n)
{
	unsigned depth = 0;

	for (unsigned i = 0; i < n; i++) {
		m->mark[list[i]] = true;
		m->stack[depth++] = list[i];
	}
	while (depth) {
		uint32_t st = m->stack[--depth];

		for (uint32_t i = m->set->first[st]; i; i = m->set->arcs[i - 1].next) {
			const struct net_arc *a = &m->set->arcs[i - 1];

			if (!a->spoken || a->kind == NET_WORD || a->kind == NET_SKIP ||
			    a->kind == NET_OPEN || m->mark[a->to])
				continue;
			m->mark[a->to] = true;
			list[n++] = a->to;
			m->stack[depth++] = a->to;
		}
	}
	for (unsigned i = 0; i < n; i++)
		m->mark[list[i]] = false;
	qsort(list, n, sizeof *list, by_number);
	return n;
}

static int subset_find(struct maker *m, const uint32_t *list, unsigned n, uint32_t *id)
{
	uint32_t h = hash_words(list, n, n);
	struct subset *grown;

	for (;; h++) {
		uint32_t at = m->index[h % m->index_size];

		if (!at)
			break;
		assert(m->subs);
		if (m->subs[at - 1].n == n &&
		    memcmp(m->subs[at - 1].nfa, list, n * sizeof *list) == 0) {
			*id = at - 1;
			return 0;
		}
	}
	if (m->n_subs == GRAPH_MAX_STATES)
		return E2BIG;
	if (m->n_subs == m->cap_subs) {
		grown = realloc(m->subs, (m->cap_subs * 2 + 64) * sizeof *grown);
		if (!grown)
			return ENOMEM;
		m->subs = grown;
		m->cap_subs = m->cap_subs * 2 + 64;
	}
	m->subs[m->n_subs] = (struct subset){.n = n, .folded = UINT32_MAX};
	m->subs[m->n_subs].nfa = malloc(n * sizeof *list);
	if (!m->subs[m->n_subs].nfa)
		return ENOMEM;
	memcpy(m->subs[m->n_subs].nfa, list, n * sizeof *list);
	*id = m->n_subs++;
	m->index[h % m->index_size] = *id + 1;
	return 0;
}

static int arc_add(struct maker *m, uint32_t from, uint32_t to, uint32_t word)
{
	if (m->n_arcs == m->cap_arcs) {
		struct pattern_arc *p = realloc(m->arcs, (m->cap_arcs * 2 + 256) * sizeof *p);

		if (!p)
			return ENOMEM;
		m->arcs = p;
		m->cap_arcs = m->cap_arcs * 2 + 256;
	}
	m->arcs[m->n_arcs++] = (struct pattern_arc){.from = from, .to = to, .word = word};
	return 0;
}

static int pair_order(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

/* All words that lead out of one subset; scratch has room for (word, state) pairs and a state list.
 */
static int expand(struct maker *m, uint32_t id, uint32_t (*pairs)[2], uint32_t *list)
{
	unsigned n_pairs = 0;
	int err = 0;

	for (unsigned k = 0; k < m->subs[id].n; k++)
		for (uint32_t i = m->set->first[m->subs[id].nfa[k]]; i;
		     i = m->set->arcs[i - 1].next) {
			const struct net_arc *a = &m->set->arcs[i - 1];

			if (!a->spoken || a->kind != NET_WORD)
				continue;
			pairs[n_pairs][0] = a->value;
			pairs[n_pairs++][1] = a->to;
		}
	qsort(pairs, n_pairs, sizeof *pairs, pair_order);
	m->subs[id].first = m->n_arcs;
	for (unsigned i = 0; i < n_pairs && !err;) {
		uint32_t word = pairs[i][0], to;
		unsigned n = 0;

		for (; i < n_pairs && pairs[i][0] == word; i++)
			if (!n || list[n - 1] != pairs[i][1])
				list[n++] = pairs[i][1];
		n = close_over(m, list, n);
		err = subset_find(m, list, n, &to);
		if (!err)
			err = arc_add(m, id, to, word);
	}
	m->subs[id].n_arcs = m->n_arcs - m->subs[id].first;
	return err;
}

static bool is_final(const struct maker *m, uint32_t id)
{
	for (unsigned i = 0; i < m->subs[id].n; i++)
		if (m->subs[id].nfa[i] == m->set->end)
			return true;
	return false;
}

static bool same(const struct maker *m, uint32_t a, uint32_t b)
{
	const struct subset *x = &m->subs[a], *y = &m->subs[b];

	if (x->n_arcs != y->n_arcs || is_final(m, a) != is_final(m, b))
		return false;
	for (unsigned i = 0; i < x->n_arcs; i++) {
		const struct pattern_arc *p = &m->arcs[x->first + i], *q = &m->arcs[y->first + i];

		if (p->word != q->word || m->subs[p->to].folded != m->subs[q->to].folded)
			return false;
	}
	return true;
}

static void fold(struct maker *m, uint32_t id)
{
	const struct subset *s = &m->subs[id];
	uint32_t h = 17 + is_final(m, id);

	for (unsigned i = 0; i < s->n_arcs; i++) {
		uint32_t pair[2] = {m->arcs[s->first + i].word,
				    m->subs[m->arcs[s->first + i].to].folded};

		h = hash_words(pair, 2, h);
	}
	for (;; h++) {
		uint32_t *at = &m->fold_index[h % m->index_size];

		if (!*at) {
			*at = id + 1;
			m->subs[id].folded = m->n_kept;
			m->kept[m->n_kept++] = id;
			return;
		}
		if (same(m, *at - 1, id)) {
			m->subs[id].folded = m->subs[*at - 1].folded;
			return;
		}
	}
}

/* Depth first without recursion: a state is folded after all it leads to. */
static int fold_all(struct maker *m)
{
	uint32_t *stack = malloc((m->n_arcs + 1) * sizeof *stack);
	unsigned depth = 0;

	if (!stack)
		return ENOMEM;
	stack[depth++] = 0;
	while (depth) {
		uint32_t id = stack[depth - 1];
		const struct subset *s = &m->subs[id];
		unsigned before = depth;

		if (s->folded != UINT32_MAX) {
			depth--;
			continue;
		}
		for (unsigned i = 0; i < s->n_arcs; i++)
			if (m->subs[m->arcs[s->first + i].to].folded == UINT32_MAX)
				stack[depth++] = m->arcs[s->first + i].to;
		if (depth == before) {
			fold(m, id);
			depth--;
		}
	}
	free(stack);
	return 0;
}

static int emit(struct maker *m, struct pattern_graph *out)
{
	unsigned n_arcs = 0, n = m->n_kept;
	struct pattern_graph g = {.n_states = n, .n_words = m->set->n_words};

	for (unsigned i = 0; i < n; i++)
		n_arcs += m->subs[m->kept[i]].n_arcs;
	g.final = calloc(n, sizeof *g.final);
	g.arcs = calloc(n_arcs + 1, sizeof *g.arcs);
	g.words = calloc(g.n_words + 1, sizeof *g.words);
	if (!g.final || !g.arcs || !g.words) {
		pattern_graph_free(&g);
		return ENOMEM;
	}
	for (unsigned i = 0; i < g.n_words; i++)
		g.words[i] = m->set->words[i];
	assert(m->kept);
	/* The start was folded last; the graph is numbered from it. */
	for (unsigned i = 0; i < n; i++) {
		const struct subset *s = &m->subs[m->kept[n - 1 - i]];

		g.final[i] = is_final(m, m->kept[n - 1 - i]);
		assert(m->arcs || !s->n_arcs);
		for (unsigned k = 0; k < s->n_arcs; k++)
			g.arcs[g.n_arcs++] = (struct pattern_arc){
				.from = i,
				.to = n - 1 - m->subs[m->arcs[s->first + k].to].folded,
				.word = m->arcs[s->first + k].word,
			};
	}
	*out = g;
	return 0;
}

static int build(struct maker *m, struct pattern_graph *out, uint32_t (*pairs)[2], uint32_t *list)
{
	uint32_t id;
	unsigned n;
	int err;

	list[0] = m->set->start;
	n = close_over(m, list, 1);
	err = subset_find(m, list, n, &id);
	for (uint32_t i = 0; !err && i < m->n_subs; i++)
		err = expand(m, i, pairs, list);
	if (err)
		return err;
	assert(m->n_subs);
	m->kept = malloc(m->n_subs * sizeof *m->kept);
	if (!m->kept)
		return ENOMEM;
	err = fold_all(m);
	return err ? err : emit(m, out);
}

int pattern_graph(struct pattern_graph *out, const struct pattern_set *set)
{
	struct maker m = {.set = set, .index_size = GRAPH_MAX_STATES * 2 + 1};
	uint32_t(*pairs)[2] = malloc((set->n_arcs + 1) * sizeof *pairs);
	uint32_t *list = malloc((set->n_states + 1) * sizeof *list);
	int err = ENOMEM;

	m.mark = calloc(set->n_states, sizeof *m.mark);
	m.stack = malloc((set->n_states + 1) * sizeof *m.stack);
	m.index = calloc(m.index_size, sizeof *m.index);
	m.fold_index = calloc(m.index_size, sizeof *m.fold_index);
	if (pairs && list && m.mark && m.stack && m.index && m.fold_index)
		err = build(&m, out, pairs, list);
	for (unsigned i = 0; i < m.n_subs; i++)
		free(m.subs[i].nfa);
	free(m.subs);
	free(m.arcs);
	free(m.mark);
	free(m.stack);
	free(m.index);
	free(m.fold_index);
	free(m.kept);
	free(pairs);
	free(list);
	return err;
}

void pattern_graph_free(struct pattern_graph *g)
{
	free(g->final);
	free(g->arcs);
	free(g->words);
	memset(g, 0, sizeof *g);
}
