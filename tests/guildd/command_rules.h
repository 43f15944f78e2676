/* What Discord accepts of application commands, and of their use ("Application Commands",
 * "Receiving and Responding"): pure. */
#ifndef TESTS_GUILDD_COMMAND_RULES_H
#define TESTS_GUILDD_COMMAND_RULES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { COMMAND_SLASH = 1, COMMAND_USER = 2, COMMAND_MESSAGE = 3 };

/* Names the first thing that is wrong with a command, NULL when it is fit. */
const char *command_fault(const json_t *command);
/* The same of a whole list, with what holds for all of them together. */
const char *command_list_fault(const json_t *list);
/* True if a user's client could send these options for the command: each is registered and within
 * its limits, and none that is required is missing. */
bool command_options_given(const json_t *command, const json_t *options);
/* True if a member with these permissions sees the command. */
bool command_permits(const json_t *command, uint64_t permissions);
/* True if an answer to typing is one that Discord shows. */
bool command_choices_fit(const json_t *choices);

#endif
