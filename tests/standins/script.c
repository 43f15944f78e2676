#include "tests/standins/script.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CONDITIONS = 4, MAX_LINES = 1000 };

struct condition {
	enum si_trigger trigger;
	uint32_t n; /* 0: every time */
};

struct line {
	struct line *next;
	char *text; /* what the others point into */
	struct condition conditions[MAX_CONDITIONS];
	unsigned n_conditions;
	struct si_act act;
	char *words; /* of an answer, else NULL */
};

struct si_script {
	struct line *lines;
	uint32_t counts[SI_N_TRIGGERS];
};

static const char *const triggers[] = {
#define X(name, word, text) word,
	SI_TRIGGERS(X)
#undef X
};
enum argument { NONE, NUMBER, WORD, TEXT };
static const struct {
	const char *word;
	enum argument kind;
} actions[] = {
#define X(name, word, kind, arguments, text) {word, kind},
	SI_ACTIONS(X)
#undef X
};

/* Cuts the next word off *at. */
static char *word_take(char **at)
{
	char *p = *at + strspn(*at, " \t"), *end = p + strcspn(p, " \t");

	*at = *end ? end + 1 : end;
	*end = '\0';
	return p;
}

static bool number_parse(const char *text, uint32_t *out)
{
	char *end;
	unsigned long v = strtoul(text, &end, 10);

	if (end == text || *end || v > INT32_MAX)
		return false;
	*out = (uint32_t)v;
	return true;
}

static bool action_named(const char *word, enum si_action *out)
{
	for (int i = 0; i < SI_N_ACTIONS; i++)
		if (strcmp(actions[i].word, word) == 0) {
			*out = (enum si_action)i;
			return true;
		}
	return false;
}

/* Returns why the arguments are wrong, or NULL. */
static const char *act_parse(struct si_act *act, const char *word, char *rest)
{
	enum argument kind;
	char *first;

	act->word = act->text = "";
	if (!action_named(word, &act->action))
		return "there is no such trigger or action";
	kind = actions[act->action].kind;
	rest += strspn(rest, " \t");
	if (kind == NONE)
		return *rest ? "this action has no argument" : NULL;
	if (!*rest)
		return "this action needs an argument";
	if (kind == NUMBER || kind == WORD) {
		first = word_take(&rest);
		rest += strspn(rest, " \t");
		if (kind == WORD)
			act->word = first;
		else if (!number_parse(first, &act->number))
			return "this is no number";
	}
	act->text = rest;
	return NULL;
}

static bool trigger_named(const char *word, enum si_trigger *out)
{
	for (int i = 0; i < SI_N_TRIGGERS; i++)
		if (strcmp(triggers[i], word) == 0) {
			*out = (enum si_trigger)i;
			return true;
		}
	return false;
}

/* words => TEXT, or words => call NAME JSON */
static const char *answer_parse(struct line *l, char *rest)
{
	char *words = rest + strspn(rest, " \t"), *arrow = strstr(words, "=>");

	if (!arrow || arrow == words)
		return "an answer is written as: answer WORDS => TEXT";
	l->act.text = arrow + 2 + strspn(arrow + 2, " \t");
	do
		*arrow-- = '\0';
	while (*arrow == ' ' || *arrow == '\t');
	l->words = words;
	return NULL;
}

static const char *line_parse(struct line *l)
{
	char *at = l->text, *word = word_take(&at);
	enum si_trigger t;

	if (strcmp(word, "answer") == 0)
		return answer_parse(l, at);
	if (strcmp(word, "at") == 0) {
		l->conditions[l->n_conditions++] = (struct condition){.trigger = SI_AT};
		if (!number_parse(word_take(&at), &l->act.at_ms))
			return "at needs milliseconds";
		word = word_take(&at);
	}
	while (trigger_named(word, &t)) {
		struct condition *c = &l->conditions[l->n_conditions];

		if (l->n_conditions++ == MAX_CONDITIONS)
			return "there are too many conditions";
		*c = (struct condition){.trigger = t};
		word = word_take(&at);
		if (strcmp(word, "*") == 0 || number_parse(word, &c->n))
			word = word_take(&at);
	}
	if (!l->n_conditions)
		return "a line begins with a trigger";
	return act_parse(&l->act, word, at);
}

static void line_free(struct line *l)
{
	free(l->text);
	free(l);
}

/* *why: NULL without memory. */
static int line_add(struct line ***end, const char *text, size_t n, const char **why)
{
	struct line *l = calloc(1, sizeof *l);

	*why = NULL;
	if (!l)
		return ENOMEM;
	l->text = strndup(text, n);
	if (!l->text) {
		line_free(l);
		return ENOMEM;
	}
	*why = line_parse(l);
	if (*why) {
		line_free(l);
		return EINVAL;
	}
	**end = l;
	*end = &l->next;
	return 0;
}

int si_script_alloc(struct si_script **out, const char *text, size_t n, unsigned *line,
		    const char **why)
{
	struct si_script *s = calloc(1, sizeof *s);
	struct line **end;
	int err = 0;

	if (!s)
		return ENOMEM;
	end = &s->lines;
	*why = NULL;
	for (*line = 1; n && !err; (*line)++) {
		const char *newline = memchr(text, '\n', n);
		size_t length = newline ? (size_t)(newline - text) : n, blank = 0;

		while (blank < length && strchr(" \t\r", text[blank]))
			blank++;
		if (*line > MAX_LINES) {
			*why = "the script has too many lines";
			err = EINVAL;
		} else if (blank < length && text[blank] != '#') {
			err = line_add(&end, text + blank, length - blank, why);
		}
		if (err)
			break;
		text += length + (newline != NULL);
		n -= length + (newline != NULL);
	}
	if (err) {
		si_script_free(s);
		return err;
	}
	*out = s;
	return 0;
}

struct si_script *si_script_free(struct si_script *s)
{
	while (s && s->lines) {
		struct line *l = s->lines;

		s->lines = l->next;
		line_free(l);
	}
	free(s);
	return NULL;
}

static bool line_due(const struct si_script *s, const struct line *l, enum si_trigger t)
{
	if (l->words || l->conditions[0].trigger == SI_AT ||
	    l->conditions[l->n_conditions - 1].trigger != t)
		return false;
	for (unsigned i = 0; i < l->n_conditions; i++) {
		const struct condition *c = &l->conditions[i];

		if (c->n && c->n != s->counts[c->trigger])
			return false;
	}
	return true;
}

size_t si_script_fire(struct si_script *s, enum si_trigger t, const struct si_act **acts,
		      size_t max)
{
	size_t n = 0;

	s->counts[t]++;
	if (t == SI_RESPONSE)
		s->counts[SI_AUDIO] = 0;
	for (const struct line *l = s->lines; l && n < max; l = l->next)
		if (line_due(s, l, t))
			acts[n++] = &l->act;
	return n;
}

size_t si_script_times(const struct si_script *s, const struct si_act **acts, size_t max)
{
	size_t n = 0;

	for (const struct line *l = s->lines; l && n < max; l = l->next)
		if (!l->words && l->conditions[0].trigger == SI_AT)
			acts[n++] = &l->act;
	return n;
}

const char *si_script_answer(const struct si_script *s, const char *question)
{
	for (const struct line *l = s->lines; l; l = l->next)
		if (l->words && strcasestr(question, l->words))
			return l->act.text;
	return NULL;
}
