#include "control/settings/ids.h"

#include <stdlib.h>
#include <string.h>

bool settings_ids_have(const char *list, uint64_t id)
{
	while (*list) {
		char *end;
		uint64_t v = strtoull(list, &end, 10);

		if (end != list && v == id)
			return true;
		list = end + (*end != '\0');
	}
	return false;
}

bool settings_ids_empty(const char *list)
{
	return !list[strspn(list, " ,")];
}
