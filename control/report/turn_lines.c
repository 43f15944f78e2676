/* The lines of the turn file (turns.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/events/events.h"
#include "control/report/turns.h"
#include "control/store/turn_file.h"
#include "ipc/log.h"

void turns_append(const char *file, const struct bus_event *ev, bool words)
{
	json_t *j = bus_event_json(ev, words);
	char *text = j ? json_dumps(j, JSON_COMPACT) : NULL, *line = NULL;
	int n = -1, err = ENOMEM;

	if (text)
		n = asprintf(&line, "%s\n", text);
	if (n > 0) {
		err = turn_file_append(file, line, (size_t)n);
		free(line);
	}
	if (err)
		log_warn("turn_not_written", "file=\"%s\" error=\"%s\"", file, strerror(err));
	free(text);
	json_decref(j);
}
