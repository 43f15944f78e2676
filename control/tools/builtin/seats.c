#include "control/tools/builtin/seats.h"

#include <errno.h>

int tool_seats_add(struct tool_seats *seats, void *seat)
{
	for (unsigned i = 0; i < TOOL_SEATS_MAX; i++)
		if (!seats->seat[i]) {
			seats->seat[i] = seat;
			return 0;
		}
	return ENOSPC;
}

void tool_seats_remove(struct tool_seats *seats, const void *seat)
{
	for (unsigned i = 0; i < TOOL_SEATS_MAX; i++)
		if (seats->seat[i] == seat)
			seats->seat[i] = NULL;
}
