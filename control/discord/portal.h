/* Compares an application's settings in the developer portal with the settings that Parley needs.
 * Pure: takes the answer of GET /applications/@me and returns findings. */
#ifndef CONTROL_DISCORD_PORTAL_H
#define CONTROL_DISCORD_PORTAL_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

/* missing: nothing works until it is fixed; otherwise the finding is a note. what: the switch's
 * name in the portal. text: an instruction for people. */
typedef void(portal_h)(bool missing, const char *what, const char *text, void *arg);

/* intents: those that Parley requests. Returns the number of missing settings. Absent fields cause
 * no finding. */
unsigned portal_check(const json_t *application, uint32_t intents, portal_h *h, void *arg);

/* True if this privileged intent is switched on. */
bool portal_has_intent(const json_t *application, uint32_t intent);

#endif
