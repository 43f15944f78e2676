/* The people whom a line of the store may repeat beside its speaker. A line of the bot has those
 * whom it answers ("askers") and those whose words or facts its model was told ("quoted"), two
 * lists of ids; lines of people have neither. Pure. */
#ifndef CONTROL_MEMORY_LINE_PEOPLE_H
#define CONTROL_MEMORY_LINE_PEOPLE_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

/* Calls h for each of them, also after it was false for one. True if it was true for all of them,
 * and each was an id; h is not called for what is none. line: borrowed. */
bool line_people_all(const json_t *line, bool (*h)(uint64_t user, void *arg), void *arg);

#endif
