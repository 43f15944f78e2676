#include "control/offline/pattern.h"
#include "control/offline/words.h"
#include "tests/test.h"

static const struct pattern_slot slots[] = {
	{"digit", "one | two | three", NULL, PATTERN_CLOSED},
	{"_polite", "please", "please | pretty please", PATTERN_CLOSED},
	{"thing", "cup | big cup", NULL, PATTERN_OPEN},
};
static const struct pattern_rule rules[] = {
	{"(add | sum) <digit> and <digit>", true},
	{"give me [the] <thing> <_polite>", true},
	{"* red *", false},
	{"count {<digit>}", false},
};
enum { N_SLOTS = 3, N_RULES = 4 };

static int compile(struct pattern_set **set)
{
	static const struct pattern_table table = {slots, N_SLOTS, rules, N_RULES, "hey", "now"};

	return pattern_compile(set, &table, NULL);
}

static int match(const struct pattern_set *set, const char *text, struct pattern_match *m)
{
	struct words w;

	words_split(&w, text);
	return pattern_match(set, &w, m);
}

TEST(pattern_matches_and_captures)
{
	struct pattern_set *set = NULL;
	struct pattern_match m;

	CHECK_INT(compile(&set), 0);
	CHECK_INT(match(set, "hey add one and three now", &m), 0);
	CHECK_INT(m.rule, 0);
	CHECK_INT(m.cost, 0);
	CHECK_INT(m.n, 2);
	CHECK_INT(m.cap[0].from, 2);
	CHECK_INT(m.cap[1].from, 4);
	CHECK_INT(m.cap[1].to, 5);
	/* The written form of a slot is for text only, an open slot takes any words. */
	CHECK_INT(match(set, "give me the old green lamp pretty please", &m), 0);
	CHECK_INT(m.rule, 1);
	CHECK_INT(m.cap[0].slot, 2);
	CHECK_INT(m.cap[0].to, 6);
	CHECK_INT(match(set, "count two two two", &m), 0);
	CHECK_INT(m.n, 3);
	CHECK_INT(match(set, "count", &m), ENOENT);
	CHECK_INT(match(set, "", &m), ENOENT);
	CHECK_INT(match(set, "add one", &m), ENOENT);
	pattern_free(set);
}

TEST(pattern_prefers_what_skips_least)
{
	struct pattern_set *set = NULL;
	struct pattern_match m;

	CHECK_INT(compile(&set), 0);
	CHECK_INT(match(set, "the red one", &m), 0);
	CHECK_INT(m.rule, 2);
	CHECK(m.cost > 0);
	CHECK_INT(match(set, "give me red please", &m), 0);
	CHECK_INT(m.rule, 1);
	/* Too much of it is not meant. */
	CHECK_INT(match(set, "a b c d e f g h i j k l m n red", &m), ENOENT);
	pattern_free(set);
}

TEST(pattern_refuses_what_is_malformed)
{
	static const char *const bad[] = {"(a | b", "[a",    "a)",  "<nothing>",
					  "<digit", "a * b", "{a}", "a ] b"};
	struct pattern_set *set = NULL;
	const char *where;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct pattern_rule r = {bad[i], true};
		struct pattern_table table = {slots, N_SLOTS, &r, 1, NULL, NULL};

		CHECK_INT(pattern_compile(&set, &table, &where), EINVAL);
		CHECK_STR(where, bad[i]);
		CHECK(!set);
	}
}

static bool accepts(const struct pattern_graph *g, const char *text)
{
	struct words w;
	uint32_t state = 0;

	words_split(&w, text);
	for (unsigned i = 0; i < w.n; i++) {
		unsigned a = 0;

		while (a < g->n_arcs && !(g->arcs[a].from == state &&
					  strcmp(g->words[g->arcs[a].word], w.w[i]) == 0))
			a++;
		if (a == g->n_arcs)
			return false;
		state = g->arcs[a].to;
	}
	return g->final[state];
}

TEST(pattern_graph_holds_what_may_be_spoken)
{
	struct pattern_set *set = NULL;
	struct pattern_graph g;

	CHECK_INT(compile(&set), 0);
	CHECK_INT(pattern_graph(&g, set), 0);
	CHECK(accepts(&g, "add one and two"));
	CHECK(accepts(&g, "hey sum three and three now"));
	CHECK(accepts(&g, "give me the big cup please"));
	CHECK(!accepts(&g, "give me the lamp please"));
	CHECK(!accepts(&g, "give me the cup pretty please"));
	CHECK(!accepts(&g, "the red one"));
	CHECK(!accepts(&g, "hey"));
	/* Minimal: "add" and "sum" lead to one state. */
	CHECK_INT(g.n_states, 12);
	for (unsigned i = 1; i < g.n_arcs; i++)
		CHECK(g.arcs[i - 1].from <= g.arcs[i].from);
	pattern_graph_free(&g);
	pattern_free(set);
}

TEST_OOM(pattern_survives_without_memory)
{
	struct pattern_set *set = NULL;
	struct pattern_graph g = {.n_states = 0};
	struct pattern_match m;
	int err;

	CHECK_OOM(compile(&set), );
	err = match(set, "add one and two", &m);
	if (!err)
		err = pattern_graph(&g, set);
	pattern_graph_free(&g);
	pattern_free(set);
	CHECK_OOM(err, );
}
