/* What the files of the program wire share (main.c). */
#ifndef TESTS_WIRE_WIRE_H
#define TESTS_WIRE_WIRE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Prints a message that goes out, with the command that causes it; what is no JSON only by its
 * length. */
void wire_print_sent(const char *command, bool text, const void *data, size_t n);
/* Prints what one message that came says. Steals facts, a list of names. */
void wire_print_taken(int err, json_t *facts);

/* Text models, and whatever takes or makes sound by request or in a session of its own. The names
 * are those of events.table. -1: there is none of this name. */
void wire_exchange_list(void);
int wire_exchange_sends(const char *name);
int wire_exchange_takes(const char *name);

#endif
