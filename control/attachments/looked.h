/* The output of the tool image_lookup: a picture that was found, or which ones
 * there are. Pure. */
#ifndef CONTROL_ATTACHMENTS_LOOKED_H
#define CONTROL_ATTACHMENTS_LOOKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "control/attachments/viewer.h"

/* True if the query fits a picture of this name by this person: it is empty, or every word of it is
 * in one of both, in any case. */
bool looked_fits(const char *query, const char *name, const char *by);
/* The output for a picture: its text, a new string. NULL without memory, or where it was not seen:
 * *why. */
char *looked_text(const struct view_result *got, const char *name, const char *by, uint64_t age_s,
		  const uint8_t mark[UNTRUSTED_MARK], const char **why);
/* True if the address stands in the text as it is, whole. */
bool looked_has_url(const char *text, const char *url);

#endif
