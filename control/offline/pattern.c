#include "control/offline/pattern_net.h"
#include "control/offline/words.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 24, MAX_STATES = 200000 };

/* A recursive-descent reader. Which reader of the pattern it builds for is part of the state,
 * because a slot may say one thing to the recogniser and another to the matcher. */
struct reader {
	struct pattern_set *set;
	const char *p;
	bool spoken, written;
	unsigned depth;
	int err;
};

static int grow(void **mem, unsigned *cap, unsigned need, size_t size)
{
	unsigned to = *cap ? *cap * 2 : 256;
	void *p;

	if (need <= *cap)
		return 0;
	p = realloc(*mem, to * size);
	if (!p)
		return ENOMEM;
	*mem = p;
	*cap = to;
	return 0;
}

static uint32_t state_new(struct reader *r)
{
	struct pattern_set *s = r->set;

	if (r->err)
		return 0;
	if (s->n_states == MAX_STATES)
		r->err = EINVAL;
	else
		r->err =
			grow((void **)&s->first, &s->cap_states, s->n_states + 1, sizeof *s->first);
	if (r->err)
		return 0;
	s->first[s->n_states] = 0;
	return s->n_states++;
}

static void arc_new(struct reader *r, uint32_t from, uint32_t to, enum net_arc_kind kind,
		    uint32_t value)
{
	struct pattern_set *s = r->set;

	if (!r->err)
		r->err = grow((void **)&s->arcs, &s->cap_arcs, s->n_arcs + 1, sizeof *s->arcs);
	if (r->err)
		return;
	s->arcs[s->n_arcs] = (struct net_arc){.to = to,
					      .next = s->first[from],
					      .value = value,
					      .kind = (uint8_t)kind,
					      .spoken = r->spoken,
					      .written = r->written};
	s->first[from] = ++s->n_arcs;
}

static uint32_t word_id(struct reader *r, const char *p, size_t n)
{
	struct pattern_set *s = r->set;

	for (unsigned i = 0; i < s->n_words; i++)
		if (strncmp(s->words[i], p, n) == 0 && !s->words[i][n])
			return i;
	if (!r->err)
		r->err = grow((void **)&s->words, &s->cap_words, s->n_words + 1, sizeof *s->words);
	if (r->err)
		return 0;
	s->words[s->n_words] = strndup(p, n);
	if (!s->words[s->n_words]) {
		r->err = ENOMEM;
		return 0;
	}
	return s->n_words++;
}

static uint32_t read_choice(struct reader *r, uint32_t from);

static uint32_t read_text(struct reader *r, const char *text, uint32_t from)
{
	const char *saved = r->p;
	uint32_t end;

	if (++r->depth > MAX_DEPTH)
		r->err = r->err ? r->err : EINVAL;
	if (r->err)
		return from;
	r->p = text;
	end = read_choice(r, from);
	if (*r->p && !r->err)
		r->err = EINVAL;
	r->p = saved;
	r->depth--;
	return end;
}

/* The words of a slot, separately for each reader that has its own. */
static uint32_t read_slot(struct reader *r, const struct pattern_slot *slot, uint32_t from)
{
	bool both = slot->kind == PATTERN_CLOSED && !slot->written;
	bool captured = slot->name[0] != '_';
	bool spoken = r->spoken, written = r->written;
	uint32_t id = (uint32_t)(slot - r->set->slots), in = state_new(r), out = state_new(r);

	arc_new(r, from, in, captured ? NET_BEGIN : NET_EMPTY, id);
	if (both || spoken) {
		r->written = both && written;
		arc_new(r, read_text(r, slot->spoken, in), out, NET_EMPTY, 0);
	}
	r->spoken = false;
	r->written = written;
	if (!both && written) {
		if (slot->kind == PATTERN_OPEN) {
			arc_new(r, in, out, NET_OPEN, 0);
			arc_new(r, out, out, NET_OPEN, 0);
		} else {
			arc_new(r, read_text(r, slot->written, in), out, NET_EMPTY, 0);
		}
	}
	r->spoken = spoken;
	r->written = written;
	in = state_new(r);
	arc_new(r, out, in, captured ? NET_END : NET_EMPTY, id);
	return in;
}

static uint32_t read_reference(struct reader *r, uint32_t from)
{
	size_t n = strcspn(++r->p, ">");
	const struct pattern_set *s = r->set;
	uint32_t end = from;
	unsigned i;

	for (i = 0; i < s->n_slots; i++)
		if (strlen(s->slots[i].name) == n && strncmp(s->slots[i].name, r->p, n) == 0)
			break;
	if (i == s->n_slots || r->p[n] != '>') {
		r->err = EINVAL;
		return from;
	}
	r->p += n + 1;
	end = read_slot(r, &s->slots[i], from);
	return end;
}

static void skip_blanks(struct reader *r)
{
	while (isspace((unsigned char)*r->p))
		r->p++;
}

static uint32_t read_group(struct reader *r, uint32_t from, char close)
{
	uint32_t end;

	r->p++;
	if (++r->depth > MAX_DEPTH)
		r->err = EINVAL;
	end = r->err ? from : read_choice(r, from);
	r->depth--;
	if (*r->p != close) {
		r->err = r->err ? r->err : EINVAL;
		return from;
	}
	r->p++;
	if (close == '}' && r->spoken && !r->err)
		r->err = EINVAL;
	if (close == ']')
		arc_new(r, from, end, NET_EMPTY, 0);
	else if (close == '}')
		arc_new(r, end, from, NET_EMPTY, 0);
	return end;
}

static uint32_t read_word(struct reader *r, uint32_t from)
{
	size_t n = 0;
	uint32_t end, w;

	while (r->p[n] && !isspace((unsigned char)r->p[n]) && !strchr("()[]{}|<>*", r->p[n]))
		n++;
	if (!n || n >= WORD_SIZE) {
		r->err = r->err ? r->err : EINVAL;
		return from;
	}
	w = word_id(r, r->p, n);
	end = state_new(r);
	arc_new(r, from, end, NET_WORD, w);
	r->p += n;
	return end;
}

static uint32_t read_sequence(struct reader *r, uint32_t from)
{
	uint32_t at = state_new(r);

	/* A state of its own, so that a loop or an option here cannot leak into a sibling. */
	arc_new(r, from, at, NET_EMPTY, 0);
	for (skip_blanks(r); !r->err && *r->p && !strchr("|)]}", *r->p); skip_blanks(r)) {
		uint32_t next;

		if (*r->p == '(') {
			at = read_group(r, at, ')');
		} else if (*r->p == '[') {
			at = read_group(r, at, ']');
		} else if (*r->p == '{') {
			next = state_new(r);
			arc_new(r, at, next, NET_EMPTY, 0);
			at = read_group(r, next, '}');
		} else if (*r->p == '<') {
			at = read_reference(r, at);
		} else if (*r->p == '*') {
			if (r->spoken)
				r->err = EINVAL;
			next = state_new(r);
			arc_new(r, at, next, NET_EMPTY, 0);
			arc_new(r, next, next, NET_SKIP, 0);
			at = next;
			r->p++;
		} else {
			at = read_word(r, at);
		}
	}
	return at;
}

static uint32_t read_choice(struct reader *r, uint32_t from)
{
	uint32_t end = state_new(r);

	for (;;) {
		arc_new(r, read_sequence(r, from), end, NET_EMPTY, 0);
		if (r->err || *r->p != '|')
			return end;
		r->p++;
	}
}

/* The target of an arc past states with a single empty arc. */
static uint32_t shortcut(const struct pattern_set *s, struct net_arc *a)
{
	uint32_t to = a->to;

	for (unsigned hops = 0; hops < 1000 && s->first[to]; hops++) {
		const struct net_arc *only = &s->arcs[s->first[to] - 1];

		if (only->next || only->kind != NET_EMPTY)
			break;
		a->spoken &= only->spoken;
		a->written &= only->written;
		to = only->to;
	}
	return to;
}

/* Removes pass-through states, which are three of four. */
static int trim(struct pattern_set *s)
{
	uint32_t *number = calloc(s->n_states, sizeof *number), *stack, depth = 0, n = 0;
	uint32_t *first;

	stack = malloc(s->n_states * sizeof *stack);
	first = malloc(s->n_states * sizeof *first);
	if (!number || !stack || !first) {
		free(number);
		free(stack);
		free(first);
		return ENOMEM;
	}
	for (unsigned i = 0; i < s->n_arcs; i++)
		s->arcs[i].to = shortcut(s, &s->arcs[i]);
	stack[depth++] = s->start;
	number[s->start] = ++n;
	while (depth) {
		uint32_t st = stack[--depth];

		first[number[st] - 1] = s->first[st];
		for (uint32_t i = s->first[st]; i; i = s->arcs[i - 1].next) {
			uint32_t to = s->arcs[i - 1].to;

			if (!number[to]) {
				number[to] = ++n;
				stack[depth++] = to;
			}
		}
	}
	for (unsigned i = 0; i < s->n_arcs; i++)
		s->arcs[i].to = number[s->arcs[i].to] ? number[s->arcs[i].to] - 1 : 0;
	s->end = number[s->end] - 1;
	s->start = 0;
	free(s->first);
	s->first = first;
	s->n_states = n;
	free(number);
	free(stack);
	return 0;
}

static int compile(struct pattern_set *s, const struct pattern_rule *rules, const char *lead,
		   const char *tail, const char **bad)
{
	struct reader r = {.set = s, .spoken = true, .written = true};
	uint32_t begin;

	s->start = state_new(&r);
	s->end = state_new(&r);
	begin = state_new(&r);
	*bad = lead;
	arc_new(&r, s->start, begin, NET_EMPTY, 0);
	if (lead)
		arc_new(&r, read_text(&r, lead, s->start), begin, NET_EMPTY, 0);
	for (unsigned i = 0; i < s->n_rules && !r.err; i++) {
		uint32_t end, done;

		*bad = rules[i].text;
		r.spoken = rules[i].spoken;
		end = read_text(&r, rules[i].text, begin);
		done = state_new(&r);
		arc_new(&r, end, done, NET_EMPTY, 0);
		if (tail)
			arc_new(&r, read_text(&r, tail, end), done, NET_EMPTY, 0);
		arc_new(&r, done, s->end, NET_RULE, i);
	}
	return r.err;
}

int pattern_compile(struct pattern_set **out, const struct pattern_table *table, const char **bad)
{
	struct pattern_set *s = calloc(1, sizeof *s);
	const char *at = NULL;
	int err = ENOMEM;

	if (!s)
		goto out;
	s->slots = table->slots;
	s->n_slots = table->n_slots;
	s->n_rules = table->n_rules;
	err = compile(s, table->rules, table->lead, table->tail, &at);
	if (!err)
		err = trim(s);
out:
	if (err) {
		if (bad)
			*bad = at;
		pattern_free(s);
		return err;
	}
	*out = s;
	return 0;
}

struct pattern_set *pattern_free(struct pattern_set *s)
{
	if (!s)
		return NULL;
	for (unsigned i = 0; i < s->n_words; i++)
		free(s->words[i]);
	free(s->words);
	free(s->first);
	free(s->arcs);
	free(s);
	return NULL;
}
