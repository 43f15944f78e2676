/* Settings that are lists of ids of Discord, separated by commas, semicolons or blanks. An id may
 * stand there as Discord writes it in a message, too: "<#7>", "<@7>". */
#ifndef CONTROL_SETTINGS_IDS_H
#define CONTROL_SETTINGS_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SETTINGS_IDS_FAULT = 256 };

bool settings_ids_have(const char *list, uint64_t id);
/* True if it names the channel, or what the channel is in: of a thread its channel, and the
 * category. 0: it is in none. */
bool settings_ids_name(const char *list, uint64_t channel, uint64_t parent, uint64_t category);
/* True if the list names nothing. */
bool settings_ids_empty(const char *list);
/* The first entry that is no id, within the list; NULL: all are. */
const char *settings_ids_fault(const char *list);
/* Says about a list with a fault what it must be, as the rest of a sentence behind its name. */
void settings_ids_say(const char *list, char *buf, size_t size);
/* The role that a setting names, by its id or as Discord writes it in a message ("<@&7>"). 0: it
 * names none, empty or not. */
uint64_t settings_role_id(const char *text);
/* The next id, which *list is moved behind. False: there is none. The list has no fault. */
bool settings_ids_each(const char **list, uint64_t *id);

#endif
