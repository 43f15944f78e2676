/* Prices of a model's units: the records `prices` of the settings, else the table prices.def.
 *
 * Pure. */
#ifndef CONTROL_SETTINGS_PRICES_H
#define CONTROL_SETTINGS_PRICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/settings/provider_record.h"
#include "control/settings/usage.h"

struct settings;

/* Millionths of a dollar per million units. False: no price is known; *usd is untouched. */
bool settings_price(const struct settings *s, const char *model, enum price_kind kind,
		    uint64_t *usd);

/* The model that a provider bills in a role: the one that the record names, or else the service's
 * own default; "" when neither is known. Borrowed from s, p or static. */
const char *settings_billed_model(const struct settings *s, enum role role,
				  const struct provider_record *p);

/* "text_in", as in the records; always terminated. */
void settings_price_kind(enum price_kind kind, char *buf, size_t size);

#endif
