/* Takes the id of a person out of settings: out of lists such as blocked_users, and of whatever
 * else names it. */
#ifndef CONTROL_SETTINGS_FORGET_ID_H
#define CONTROL_SETTINGS_FORGET_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_t;

/* The text with `with` in place of the id wherever no digit stands beside it, and of "<@ID>"; *n:
 * how often. Freed by the caller; NULL without memory. */
char *forget_id_text(const char *text, uint64_t id, const char *with, unsigned *n);
/* Its strings without the id, each entry of a list with its separators, and 0 in place of the
 * number. Returns how often it was there. Without memory the value keeps it. */
unsigned forget_id_json(struct json_t *value, uint64_t id);

#endif
