#include "control/dialect/realtime.h"

#include <jansson.h>

struct realtime_fact *realtime_fact_add(struct realtime_facts *facts, enum realtime_fact_type type)
{
	static const struct slice none = {.p = (const uint8_t *)"", .n = 0};
	struct realtime_fact *f;

	if (facts->n == REALTIME_FACTS)
		return NULL;
	f = &facts->v[facts->n++];
	*f = (struct realtime_fact){.type = type, .text = none, .data = none};
	return f;
}

void realtime_facts_clear(struct realtime_facts *facts)
{
	json_decref(facts->tree);
	facts->tree = NULL;
	facts->n = 0;
}
