/* A choice that the bot offered to one person: "which of these three?"
 *
 *   words                                       result
 *   a number or an ordinal among the options    that option ("two", "the second one", "the last")
 *   an option's name, or words of it            that option, if no other option has these words
 *   "cancel", "never mind" (phrase.h)           the choice is cancelled
 *   anything else                               none; the brain answers
 *
 * A choice belongs to the person it was offered to, for 10 minutes. A newer offer replaces it. */
#ifndef CONTROL_ROOM_FLOOR_CHOICE_H
#define CONTROL_ROOM_FLOOR_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct room_context;
struct room_event;

enum { ROOM_OPTIONS = 5, ROOM_OPTION_MAX = 120, ROOM_CHOICE_KIND = 24 };

struct room_choice {
	uint64_t user, until;	     /* until 0: none */
	char kind[ROOM_CHOICE_KIND]; /* its purpose: play, queue_add, queue_next */
	unsigned n;
	char option[ROOM_OPTIONS][ROOM_OPTION_MAX];
};

/* text: the kind, then the options, one line each. */
void room_choice_offer(struct room_choice *c, uint64_t user, const char *text, size_t n,
		       uint64_t now);
void room_choice_clear(struct room_choice *c);
/* ROOM_CHOICE. */
void room_choice_on_event(struct room_choice *c, const struct room_context *context,
			  const struct room_event *ev);
bool room_choice_open(const struct room_choice *c, uint64_t now);
/* The index of the option that these words choose, or -1. */
int room_choice_match(const struct room_choice *c, const char *words);
/* To whom the choice was offered; the number of its options; one of them. */
uint64_t room_choice_user(const struct room_choice *c);
unsigned room_choice_count(const struct room_choice *c);
const char *room_choice_option(const struct room_choice *c, int i);

#endif
