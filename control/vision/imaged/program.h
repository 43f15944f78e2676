/* What imaged and framed differ in. */
#ifndef CONTROL_VISION_IMAGED_PROGRAM_H
#define CONTROL_VISION_IMAGED_PROGRAM_H

#include "control/vision/core/image_wire.h"
#include "control/vision/core/pixels.h"
#include "proto/base/cursor.h"

struct image_program {
	const char *name, *what; /* what it decodes */
	/* In the jail: decodes a whole picture, whose header claimed h. Ends the process if it
	 * cannot. */
	void (*decode)(struct slice in, const struct image_header *h,
		       const struct image_limits *limits, struct pixels *out);
	void (*prepare)(void); /* before files are forbidden; NULL */
};
extern const struct image_program image_program;

#endif
