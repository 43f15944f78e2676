#include <string.h>

#include "control/dialect/openai.h"

/* Codes stand in texts, beside other words or alone. */
enum trouble openai_trouble(const uint8_t *why, size_t len)
{
	static const struct {
		const char *code;
		enum trouble trouble;
	} table[] = {{"invalid_api_key", TROUBLE_KEY},
		     {"unauthorized", TROUBLE_KEY},
		     {"authentication_error", TROUBLE_KEY},
		     {"permission_error", TROUBLE_KEY},
		     {"insufficient_quota", TROUBLE_CREDIT},
		     {"billing_error", TROUBLE_CREDIT},
		     {"credit balance is too low", TROUBLE_CREDIT},
		     {"rate_limit", TROUBLE_BUSY},
		     {"overloaded", TROUBLE_BUSY}};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if (len && memmem(why, len, table[i].code, strlen(table[i].code)))
			return table[i].trouble;
	return TROUBLE_OTHER;
}
