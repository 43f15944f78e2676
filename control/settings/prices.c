#include "control/settings/prices.h"

#include <stdio.h>
#include <string.h>

#include "control/settings/prices.def"
#include "control/settings/settings.h"

#define MICRO_(dollars) ((uint64_t)((dollars)*1e6 + 0.5))

static const struct {
	const char *model;
	uint64_t usd[PRICE_KINDS];
} known[] = {
#define P_(model, date, source, a, b, c, d, e, f, g, h, i)                                         \
	{model,                                                                                    \
	 {MICRO_(a), MICRO_(b), MICRO_(c), MICRO_(d), MICRO_(e), MICRO_(f), MICRO_(g), MICRO_(h),  \
	  MICRO_(i)}},
	PRICES(P_)
#undef P_
#define R_(service, date, source, usd) {service, {[PRICE_REQUESTS] = MICRO_(usd)}},
		REQUEST_PRICES(R_)
#undef R_
};

/* A date, a number or "latest" after the name. */
static bool is_edition(const char *rest)
{
	return *rest == '-' && ((rest[1] >= '0' && rest[1] <= '9') || strcmp(rest, "-latest") == 0);
}

/* Returns the length of the model's name that the row covers; 0: it is another model. */
static size_t match_row(const char *row, const char *model)
{
	size_t n = strlen(row);

	return strncmp(row, model, n) == 0 && (!model[n] || is_edition(model + n)) ? n : 0;
}

const char *settings_billed_model(const struct settings *s, enum role role,
				  const struct provider_record *p)
{
	static const struct {
		enum dialect dialect;
		enum role role;
		const char *model;
	} defaults[] = {
#define B_(DIALECT, ROLE, model) {DIALECT_##DIALECT, ROLE_##ROLE, model},
		BILLED_AS(B_)
#undef B_
	};
	const char *asked = settings_model(s, role, p);

	for (size_t i = 0; !*asked && i < sizeof defaults / sizeof defaults[0]; i++)
		if (defaults[i].dialect == (enum dialect)p->dialect && defaults[i].role == role)
			asked = defaults[i].model;
	return asked;
}

bool settings_price(const struct settings *s, const char *model, enum price_kind kind,
		    uint64_t *usd)
{
	const uint64_t *found = NULL;
	size_t best = 0;

	for (unsigned i = 0; i < s->records.n[RECORD_KIND_PRICE]; i++) {
		const struct price_record *p = &s->records.price[i];

		if (p->kind == kind && strcmp(p->model, model) == 0) {
			*usd = p->usd;
			return true;
		}
	}
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		size_t n = match_row(known[i].model, model);

		if (n > best) {
			best = n;
			found = &known[i].usd[kind];
		}
	}
	if (!found || !*found)
		return false;
	*usd = *found;
	return true;
}

void settings_price_kind(enum price_kind kind, char *buf, size_t size)
{
	const char *p = PRICE_WORDS;

	for (unsigned i = 0; i < (unsigned)kind && *p; i++)
		p += strcspn(p, "|") + 1;
	snprintf(buf, size, "%.*s", (int)strcspn(p, "|"), p);
}
