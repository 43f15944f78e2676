#include "control/events/action_id.h"

#include <stddef.h>

json_t *action_id(const struct action *a)
{
	static const char *const numbers[] = {"call", "turn"};
	static const char *const names[] = {"fault", "role", "source", "message"};
	unsigned long long ms = a->at_ms, guild = a->guild;

	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		const json_t *n = json_object_get(a->details, numbers[i]);

		if (json_is_integer(n))
			return json_sprintf("%s-%llu-%llu-%lld", a->kind, ms, guild,
					    (long long)json_integer_value(n));
	}
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const json_t *n = json_object_get(a->details, names[i]);

		if (json_is_string(n))
			return json_sprintf("%s-%llu-%llu-%s", a->kind, ms, guild,
					    json_string_value(n));
	}
	return json_sprintf("%s-%llu-%llu-%llu", a->kind, ms, guild, (unsigned long long)a->user);
}
