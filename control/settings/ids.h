/* Settings that are lists of ids, separated by commas or blanks. */
#ifndef CONTROL_SETTINGS_IDS_H
#define CONTROL_SETTINGS_IDS_H

#include <stdbool.h>
#include <stdint.h>

bool settings_ids_have(const char *list, uint64_t id);
/* True if the list names nothing. */
bool settings_ids_empty(const char *list);

#endif
