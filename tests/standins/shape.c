#include "tests/standins/shape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct check {
	const struct si_shape *shape;
	struct si_fault *fault;
	char path[SI_SHAPE_PATH];
};

static const struct si_shape *row_of(const struct si_shape *shape, const char *path)
{
	for (; shape->path; shape++)
		if (strcmp(shape->path, path) == 0)
			return shape;
	return NULL;
}

static bool word_is(const char *kind, size_t n, const char *word)
{
	return strlen(word) == n && strncmp(kind, word, n) == 0;
}

/* 1: fits; 0: of another type; -1: the type fits, but not the value. */
static int number_fits(const char *kind, size_t n, double v)
{
	const char *colon = memchr(kind, ':', n);

	if (!colon)
		return 1;
	/* strtod reads "0..1" as 0. */
	return v >= strtod(colon + 1, NULL) && v <= strtod(strstr(colon, "..") + 2, NULL) ? 1 : -1;
}

static int kind_fits(const char *kind, size_t n, const json_t *v)
{
	if (kind[0] == '\'') {
		if (!json_is_string(v))
			return 0;
		return word_is(kind + 1, n - 2, json_string_value(v)) ? 1 : -1;
	}
	if (word_is(kind, n, "any"))
		return 1;
	if (strncmp(kind, "int", 3) == 0)
		return json_is_integer(v) ? number_fits(kind, n, json_number_value(v)) : 0;
	if (strncmp(kind, "num", 3) == 0)
		return json_is_number(v) ? number_fits(kind, n, json_number_value(v)) : 0;
	return (word_is(kind, n, "str") && json_is_string(v)) ||
	       (word_is(kind, n, "bool") && json_is_boolean(v)) ||
	       (word_is(kind, n, "obj") && json_is_object(v)) ||
	       (word_is(kind, n, "arr") && json_is_array(v)) ||
	       (word_is(kind, n, "null") && json_is_null(v));
}

/* Sets *any when what is in the value does not matter. */
static int kinds_fit(const char *kinds, const json_t *v, bool *any)
{
	int best = 0;

	for (const char *p = kinds + (*kinds == '!'); *p; p += strspn(p, " ")) {
		size_t n = strcspn(p, " ");
		int fit = kind_fits(p, n, v);

		*any = *any || word_is(p, n, "any");
		if (fit == 1)
			return 1;
		if (fit < 0)
			best = -1;
		p += n;
	}
	return best;
}

static bool fault_set(struct check *c, enum si_fault_kind kind, const char *path, const char *kinds)
{
	c->fault->kind = kind;
	snprintf(c->fault->path, sizeof c->fault->path, "%s", path);
	c->fault->kinds = kinds + (*kinds == '!');
	return false;
}

static bool inside_check(struct check *c, const json_t *value);

/* The row's path has [] where the fault's has the index. */
static bool member_check(struct check *c, const json_t *v)
{
	const struct si_shape *row = row_of(c->shape, c->path);
	bool any = false;
	int fit;

	if (!row)
		return fault_set(c, SI_FAULT_UNKNOWN, c->path, "");
	fit = kinds_fit(row->kinds, v, &any);
	if (fit != 1)
		return fault_set(c, fit ? SI_FAULT_VALUE : SI_FAULT_TYPE, c->path, row->kinds);
	return any || inside_check(c, v);
}

/* True if every required member of the object at c->path is there. */
static bool required_check(struct check *c, const json_t *object)
{
	size_t n = strlen(c->path);

	for (const struct si_shape *row = c->shape; row->path; row++) {
		const char *name = row->path + n + (n > 0);

		if (row->kinds[0] != '!' || strncmp(row->path, c->path, n) != 0 ||
		    (n && row->path[n] != '.') || strpbrk(name, ".["))
			continue;
		if (!json_object_get(object, name))
			return fault_set(c, SI_FAULT_MISSING, row->path, row->kinds);
	}
	return true;
}

static bool path_add(struct check *c, size_t at, const char *text, const char *name)
{
	int n = snprintf(c->path + at, sizeof c->path - at, "%s%s", text, name);

	return n >= 0 && (size_t)n < sizeof c->path - at;
}

static bool inside_check(struct check *c, const json_t *value)
{
	size_t at = strlen(c->path);
	const char *name;
	json_t *v;

	if (json_is_array(value)) {
		if (!path_add(c, at, "[]", ""))
			return fault_set(c, SI_FAULT_UNKNOWN, c->path, "");
		for (size_t i = 0; i < json_array_size(value); i++)
			if (!member_check(c, json_array_get(value, i)))
				return false;
		c->path[at] = '\0';
	}
	if (!json_is_object(value))
		return true;
	json_object_foreach((json_t *)value, name, v)
	{
		if (!path_add(c, at, at ? "." : "", name) || !member_check(c, v))
			return c->fault->path[0] ? false
						 : fault_set(c, SI_FAULT_UNKNOWN, c->path, "");
		c->path[at] = '\0';
	}
	return required_check(c, value);
}

bool si_shape_check(const struct si_shape *shape, const json_t *value, struct si_fault *fault)
{
	struct check c = {.shape = shape, .fault = fault};

	fault->path[0] = '\0';
	return inside_check(&c, value);
}
