/* Building a plan part by part; inside of the planning modules. */
#ifndef MEDIAD_DAVE_PLANNER_H
#define MEDIAD_DAVE_PLANNER_H

#include "mediad/dave/frame.h"

struct planner {
	struct dave_plan *plan;
	uint8_t *out;
	size_t cap;
	int err; /* the first one; later parts do nothing */
};

/* Appends bytes that stay readable, as one range with those before them, or that are to be sealed.
 */
void planner_clear(struct planner *p, const uint8_t *bytes, size_t n);
void planner_sealed(struct planner *p, const uint8_t *bytes, size_t n);

/* EBADMSG. */
int plan_h264(struct planner *p, const uint8_t *frame, size_t n);
int plan_h265(struct planner *p, const uint8_t *frame, size_t n);
int plan_av1(struct planner *p, const uint8_t *frame, size_t n);

#endif
