/* One of the programs that decode pictures, played by a test in the place of control. */
#ifndef TESTS_PICTURE_JAILED_H
#define TESTS_PICTURE_JAILED_H

#include <stdbool.h>

#include "control/vision/image_jail.h"
#include "proto/base/cursor.h"

struct env;
struct tmr;

struct jailed {
	struct env *env;
	struct image_jail *jail;
	struct tmr *limit;
	struct image_result last; /* the last result, without its pictures */
	unsigned results;
	/* Each result with its pictures, before `last` is it. NULL: nobody looks. */
	void (*resulth)(struct image_result *r);
};

/* program: a path. False: it cannot be started. */
bool jailed_begin(struct jailed *j, const char *program);
void jailed_end(struct jailed *j);
/* False: no result came within 20 s. A picture whose header is refused has a result as well. */
bool jailed_decode(struct jailed *j, struct slice in, const struct image_limits *limits);

#endif
