/* The switches of switches.def as a struct, and by name. */
#ifndef GUILDD_SWITCHES_H
#define GUILDD_SWITCHES_H

#include "tests/guildd/switches.def"

#include <jansson.h>
#include <stdint.h>

enum { GD_SWITCH_STR = 128 };

struct gd_switches {
#define N(name, def, min, max, what) uint32_t name;
#define S(name, def, what)	     char name[GD_SWITCH_STR];
	GUILDD_SWITCHES(N, S)
#undef N
#undef S
};

void gd_switches_default(struct gd_switches *sw);
/* ENOENT for an unknown name, EINVAL for a value of the wrong type or out of range. Booleans count
 * as 0 and 1. */
int gd_switch_set(struct gd_switches *sw, const char *name, const json_t *value);
/* "name=value" of the command line. */
int gd_switch_parse(struct gd_switches *sw, const char *text);
/* All of them as an object; caller owns it. NULL without memory. */
json_t *gd_switches_json(const struct gd_switches *sw);
/* One line each, for --help. */
void gd_switches_print(void);

#endif
