#include "control/memory/line_people.h"

#include <stddef.h>

#include "proto/discord.h"

bool line_people_all(const json_t *line, bool (*h)(uint64_t user, void *arg), void *arg)
{
	static const char *const lists[] = {"askers", "quoted"};
	const json_t *id;
	bool all = true;
	uint64_t user;
	size_t i;

	for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++) {
		json_array_foreach(json_object_get(line, lists[k]), i, id)
		{
			bool one = discord_u64(json_string_value(id), &user) && h(user, arg);

			all = all && one;
		}
	}
	return all;
}
