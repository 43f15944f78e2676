/* The people of whom tools of the memory told the models of a voice session: its answers may repeat
 * them. Pure. */
#ifndef CONTROL_REPORT_TOLD_H
#define CONTROL_REPORT_TOLD_H

#include <stdbool.h>
#include <stdint.h>

enum { TOLD_MAX = 256 };

/* All zero: nobody. */
struct told {
	unsigned n;
	bool lost, lost_over; /* somebody had no place; the second: before the last told_over */
	struct told_person {
		uint64_t user;
		bool over;
	} v[TOLD_MAX];
};

void told_add(struct told *t, uint64_t user);
/* True if nobody had no place: else nobody knows whom an answer may repeat. */
bool told_is_whole(const struct told *t);
/* Those of until now are repeated by what is under way alone; told_drop takes them out. */
void told_over(struct told *t);
void told_drop(struct told *t);
/* Somebody who may not be kept, over aside; 0: nobody. */
uint64_t told_find_unkept(const struct told *t, bool (*keepsh)(uint64_t user, void *arg),
			  void *arg);
/* ["ID", …]. NULL: nobody, or no memory. The caller frees it. */
char *told_text(const struct told *t);

#endif
