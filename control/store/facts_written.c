#include "control/store/facts_written.h"

#include <string.h>

#include "control/events/events.h"

bool facts_written_fill(struct event_memory *out, const json_t *done, const char *source)
{
	const json_t *item;
	size_t i;

	*out = (struct event_memory){.source = source};
	json_array_foreach(json_object_get(done, "written"), i, item)
	{
		const char *status = json_string_value(json_object_get(item, "status"));

		if (status && strcmp(status, "updated") == 0)
			out->updated++;
		else
			out->inserted++;
	}
	json_array_foreach(json_object_get(done, "skipped"), i, item)
	{
		const char *reason = json_string_value(json_object_get(item, "reason"));

		if (reason && strcmp(reason, "duplicate") == 0)
			out->duplicate++;
		else
			out->refused++;
	}
	return out->inserted + out->updated + out->duplicate + out->refused > 0;
}
