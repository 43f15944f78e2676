/* The names and descriptions of commands in the languages of the words, as Discord's registration
 * wants them. Pure. */
#ifndef CONTROL_DISCORD_COMMAND_WORDS_H
#define CONTROL_DISCORD_COMMAND_WORDS_H

#include <jansson.h>

struct words;

/* Adds `description`, and description_localizations in the languages that have a translation. */
void command_describe(json_t *o, void (*describe)(struct words *w));
/* Adds name_localizations of a slash command, a subcommand or an option (command_names.def), in the
 * languages in which it has another name. */
void command_rename(json_t *o, const char *name);
/* As command_describe, of `name`: the label of a menu. */
void command_label(json_t *o, void (*describe)(struct words *w));

#endif
