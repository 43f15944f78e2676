#include "tests/guildd/switches.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
	const char *name, *what, *text;
	size_t at;
	bool str;
	uint32_t def, min, max;
};

static const struct row rows[] = {
#define N(name, def, min, max, what)                                                               \
	{#name, what, "", offsetof(struct gd_switches, name), false, def, min, max},
#define S(name, def, what) {#name, what, def, offsetof(struct gd_switches, name), true, 0, 0, 0},
	GUILDD_SWITCHES(N, S)
#undef N
#undef S
};
enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

static uint32_t *num(struct gd_switches *sw, const struct row *r)
{
	return (uint32_t *)(void *)((char *)sw + r->at);
}

static char *str(struct gd_switches *sw, const struct row *r)
{
	return (char *)sw + r->at;
}

void gd_switches_default(struct gd_switches *sw)
{
	memset(sw, 0, sizeof(*sw));
	for (size_t i = 0; i < N_ROWS; i++) {
		if (rows[i].str)
			snprintf(str(sw, &rows[i]), GD_SWITCH_STR, "%s", rows[i].text);
		else
			*num(sw, &rows[i]) = rows[i].def;
	}
}

static const struct row *find(const char *name, size_t len)
{
	for (size_t i = 0; i < N_ROWS; i++) {
		if (strlen(rows[i].name) == len && memcmp(rows[i].name, name, len) == 0)
			return &rows[i];
	}
	return NULL;
}

int gd_switch_set(struct gd_switches *sw, const char *name, const json_t *value)
{
	const struct row *r = find(name, strlen(name));
	json_int_t v;

	if (!r)
		return ENOENT;
	if (r->str) {
		const char *s = json_string_value(value);

		if (!s || strlen(s) >= GD_SWITCH_STR)
			return EINVAL;
		snprintf(str(sw, r), GD_SWITCH_STR, "%s", s);
		return 0;
	}
	if (!json_is_integer(value) && !json_is_boolean(value))
		return EINVAL;
	v = json_is_integer(value) ? json_integer_value(value) : json_is_true(value);
	if (v < (json_int_t)r->min || v > (json_int_t)r->max)
		return EINVAL;
	*num(sw, r) = (uint32_t)v;
	return 0;
}

int gd_switch_parse(struct gd_switches *sw, const char *text)
{
	const char *eq = strchr(text, '=');
	const struct row *r = eq ? find(text, (size_t)(eq - text)) : NULL;
	json_t *v;
	char *end;
	int err;

	if (!eq)
		return EINVAL;
	if (!r)
		return ENOENT;
	if (r->str) {
		v = json_string(eq + 1);
	} else {
		long long n = strtoll(eq + 1, &end, 10);

		if (end == eq + 1 || *end)
			return EINVAL;
		v = json_integer(n);
	}
	if (!v)
		return EINVAL;
	err = gd_switch_set(sw, r->name, v);
	json_decref(v);
	return err;
}

json_t *gd_switches_json(const struct gd_switches *sw)
{
	struct gd_switches copy = *sw;
	json_t *o = json_object();

	for (size_t i = 0; o && i < N_ROWS; i++) {
		json_object_set_new(o, rows[i].name,
				    rows[i].str ? json_string(str(&copy, &rows[i]))
						: json_integer(*num(&copy, &rows[i])));
	}
	return o;
}

void gd_switches_print(void)
{
	for (size_t i = 0; i < N_ROWS; i++) {
		if (rows[i].str)
			printf("  %-18s %s (%s)\n", rows[i].name, rows[i].what, rows[i].text);
		else
			printf("  %-18s %s (%u)\n", rows[i].name, rows[i].what, rows[i].def);
	}
}
