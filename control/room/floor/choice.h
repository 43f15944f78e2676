/* A choice that one person was asked to make: "which of these three?"
 *
 *   words                                       chosen
 *   a number or an ordinal among the options    that one ("two", "the second one", "number 3", "the
 * last") an option's name, or words of it            that one, when no other has them too "cancel",
 * "never mind" (phrase.h)           none: it is taken back anything else nothing: the brain shall
 * see to it
 *
 * It belongs to whom it was offered, for 10 min; a newer offer takes its place, whatever it was
 * for. */
#ifndef CONTROL_ROOM_FLOOR_CHOICE_H
#define CONTROL_ROOM_FLOOR_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ROOM_OPTIONS = 5, ROOM_OPTION_MAX = 120, ROOM_CHOICE_KIND = 24 };

struct room_choice {
	uint64_t user, until;	     /* until 0: none */
	char kind[ROOM_CHOICE_KIND]; /* what it is for: play, queue_add, queue_next */
	unsigned n;
	char option[ROOM_OPTIONS][ROOM_OPTION_MAX];
};

/* text: the kind and then the options, a line each. */
void room_choice_offer(struct room_choice *c, uint64_t user, const char *text, size_t n,
		       uint64_t now);
void room_choice_clear(struct room_choice *c);
bool room_choice_open(const struct room_choice *c, uint64_t now);
/* Which option these words choose, or -1. */
int room_choice_match(const struct room_choice *c, const char *words);

#endif
