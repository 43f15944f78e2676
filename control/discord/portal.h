/* What the developer portal says of an application, held against what Parley needs there.
 *
 * A function of its arguments: the answer of GET /applications/@me goes in, findings come out. */
#ifndef CONTROL_DISCORD_PORTAL_H
#define CONTROL_DISCORD_PORTAL_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

/* missing: nothing works until it is mended; else it is only to be known. what: the switch's name
 * in the portal. text: what to do, in words for people. */
typedef void(portal_h)(bool missing, const char *what, const char *text, void *arg);

/* intents: those that will be asked for. Returns how many findings were missing ones. Fields that
 * Discord left out say nothing. */
unsigned portal_look(const json_t *application, uint32_t intents, portal_h *h, void *arg);

#endif
