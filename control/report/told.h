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
	/* Somebody had no place: among those who are not past, and among those who are. */
	bool lost, lost_past;
	struct told_person {
		uint64_t user;
		bool past;
	} v[TOLD_MAX];
};

/* user: 0 is nobody. Whoever is past is so no more. */
void told_add(struct told *t, uint64_t user);
/* True if everybody had a place: else it is unknown whom an answer may repeat. */
bool told_is_complete(const struct told *t);
/* Makes everybody past: the answer under way may repeat them, and later ones may not. */
void told_make_past(struct told *t);
/* Takes out those who are past. */
void told_drop_past(struct told *t);
/* Somebody who is not past and may not be kept; 0: nobody. */
uint64_t told_find_unkept(const struct told *t, bool (*keepsh)(uint64_t user, void *arg),
			  void *arg);
/* *out: all of them as ["ID", …]; NULL: nobody. The caller frees it. ENOMEM. */
int told_print(const struct told *t, char **out);

#endif
