/* Music for the tools of a room: asks the library, and tells models what it found. */
#ifndef CONTROL_AGENT_AGENT_MUSIC_H
#define CONTROL_AGENT_AGENT_MUSIC_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/cursor.h"

struct agent_music;
struct library;

/* The output of a call (control/tools/builtin/host.h). */
typedef void(agent_music_h)(uint32_t id, bool ok, struct slice text, void *arg);

/* library and arg are borrowed. ENOMEM. The caller owns *out and frees it before the library. */
int agent_music_alloc(struct agent_music **out, struct library *library, agent_music_h *h,
		      void *arg);
/* No handler is called any more. NULL accepted. */
struct agent_music *agent_music_free(struct agent_music *m);
/* Finds tracks; the handler gets {"tracks": [{"selection_id", "title", "artist", "album",
 * "source"}, …]}, the best first. ENOSPC: too many searches are out; errors of library_search. */
int agent_music_search(struct agent_music *m, uint32_t id, const char *query, unsigned most);

#endif
