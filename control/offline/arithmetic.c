#include "control/offline/arithmetic.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_TERMS = 4, SAID = 256 };

struct sum {
	double v[MAX_TERMS];
	unsigned n;
	unsigned op[MAX_TERMS]; /* SLOT_PLUS … between v[i] and v[i + 1] */
	unsigned n_ops;
	unsigned form; /* the slot of a form that is not a chain, RULE_SLOTS = none */
};

static unsigned plain_op(unsigned slot)
{
	switch (slot) {
	case SLOT_PLUS:
	case SLOT_SUREPLUS:
	case SLOT_ALSO:
		return SLOT_PLUS;
	case SLOT_MINUS:
	case SLOT_SUREMINUS:
		return SLOT_MINUS;
	case SLOT_TIMES:
	case SLOT_SURETIMES:
		return SLOT_TIMES;
	case SLOT_OVER:
	case SLOT_SUREOVER:
		return SLOT_OVER;
	default:
		return RULE_SLOTS;
	}
}

static bool collect(const struct reading *r, struct sum *s)
{
	*s = (struct sum){.form = RULE_SLOTS};
	for (unsigned i = 0; i < r->match.n; i++) {
		const struct pattern_cap *c = &r->match.cap[i];
		unsigned op = plain_op(c->slot);

		if (c->slot == SLOT_NUMBER) {
			if (s->n == MAX_TERMS ||
			    !number_hear(&r->words, c->from, c->to, &s->v[s->n]))
				return false;
			s->n++;
		} else if (op != RULE_SLOTS) {
			if (s->n_ops == MAX_TERMS)
				return false;
			s->op[s->n_ops++] = op;
		} else {
			s->form = c->slot;
		}
	}
	return s->n > 0;
}

static double apply(unsigned op, double a, double b)
{
	switch (op) {
	case SLOT_PLUS:
		return a + b;
	case SLOT_MINUS:
		return a - b;
	case SLOT_TIMES:
		return a * b;
	default:
		return a / b;
	}
}

static const char *op_name(unsigned op)
{
	return op == SLOT_PLUS	  ? "plus"
	       : op == SLOT_MINUS ? "minus"
	       : op == SLOT_TIMES ? "times"
				  : "divided by";
}

static bool is_point(unsigned op)
{
	return op == SLOT_TIMES || op == SLOT_OVER;
}

static void chain_say(const struct sum *s, char *buf, size_t size)
{
	size_t k = 0;

	for (unsigned i = 0; i < s->n && k < size; i++) {
		char number[SAID];

		number_say(s->v[i], number, sizeof number);
		k += (size_t)snprintf(buf + k, size - k, "%s%s%s%s", i ? " " : "",
				      i ? op_name(s->op[i - 1]) : "", i ? " " : "", number);
	}
}

/* Multiplication and division bind tighter. */
static double chain_value(struct sum s)
{
	double v;

	for (unsigned i = 0; i < s.n_ops;) {
		if (!is_point(s.op[i])) {
			i++;
			continue;
		}
		s.v[i] = apply(s.op[i], s.v[i], s.v[i + 1]);
		for (unsigned k = i; k + 1 < s.n_ops; k++) {
			s.op[k] = s.op[k + 1];
			s.v[k + 1] = s.v[k + 2];
		}
		s.n_ops--;
	}
	v = s.v[0];
	for (unsigned i = 0; i < s.n_ops; i++)
		v = apply(s.op[i], v, s.v[i + 1]);
	return v;
}

/* Converts forms with a verb or a noun to chains; false for other forms. */
static bool to_chain(struct sum *s)
{
	double t;

	switch (s->form) {
	case SLOT_ADD:
	case SLOT_SUMOF:
		s->op[0] = SLOT_PLUS;
		break;
	case SLOT_SUBTRACT:
		t = s->v[0];
		s->v[0] = s->v[1];
		s->v[1] = t;
		s->op[0] = SLOT_MINUS;
		break;
	case SLOT_DIFFERENCE:
		if (s->v[0] < s->v[1]) {
			t = s->v[0];
			s->v[0] = s->v[1];
			s->v[1] = t;
		}
		s->op[0] = SLOT_MINUS;
		break;
	case SLOT_MULTIPLY:
	case SLOT_PRODUCT:
		s->op[0] = SLOT_TIMES;
		break;
	case SLOT_DIVIDE:
		s->op[0] = SLOT_OVER;
		break;
	default:
		return s->form == RULE_SLOTS && s->n == s->n_ops + 1;
	}
	if (s->n < 2)
		return false;
	s->n = 2;
	s->n_ops = 1;
	return true;
}

static bool form_value(const struct sum *s, char *left, size_t size, double *v)
{
	char a[SAID], b[SAID] = "";

	number_say(s->v[0], a, sizeof a);
	if (s->n > 1)
		number_say(s->v[1], b, sizeof b);
	switch (s->form) {
	case SLOT_HALF:
		snprintf(left, size, "half of %s", a);
		*v = s->v[0] / 2;
		return true;
	case SLOT_TWICE:
		snprintf(left, size, "twice %s", a);
		*v = s->v[0] * 2;
		return true;
	case SLOT_SQUARED:
		snprintf(left, size, "%s squared", a);
		*v = s->v[0] * s->v[0];
		return true;
	case SLOT_ROOT:
		snprintf(left, size, "the square root of %s", a);
		*v = sqrt(s->v[0]);
		return true;
	case SLOT_PERCENT:
		snprintf(left, size, "%s percent of %s", a, b);
		*v = s->v[0] * s->v[1] / 100;
		return s->n == 2;
	default:
		return false;
	}
}

void arithmetic_answer(const struct reading *r, char *buf, size_t size)
{
	char left[4 * SAID + 64], right[SAID];
	struct sum s;
	double v = 0;
	bool ok = collect(r, &s);

	if (ok && to_chain(&s)) {
		chain_say(&s, left, sizeof left);
		v = chain_value(s);
	} else {
		ok = ok && form_value(&s, left, sizeof left, &v);
	}
	if (!ok) {
		snprintf(buf, size, "I could not follow that sum. Please say it with two numbers.");
		return;
	}
	if (!isfinite(v)) {
		snprintf(buf, size,
			 "That has no answer: nothing can be divided by zero, and so on.");
		return;
	}
	number_say(v, right, sizeof right);
	snprintf(buf, size, "%s is %s%s.", left,
		 fabs(v - round(v * 100) / 100) > 1e-9 * (1 + fabs(v)) ? "about " : "", right);
	buf[0] = (char)toupper((unsigned char)buf[0]);
}
