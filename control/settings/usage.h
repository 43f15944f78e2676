/* The usage of a request to a provider, in the units that prices are for (records.def:
 * PRICE_WORDS).
 *
 * A unit counts once: text_in holds no cached tokens, and audio_in none that are text. */
#ifndef CONTROL_SETTINGS_USAGE_H
#define CONTROL_SETTINGS_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "control/settings/record.h"

struct usage {
	uint64_t n[PRICE_KINDS];
	bool estimated; /* not told by the provider, or not as the provider told it */
};

#endif
