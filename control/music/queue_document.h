/* A queue as the document that the store keeps and a restart reads:
 *
 *   {"guild": "ID", "channel": "ID", "next_id": 9, "loop": "off", "paused": false, "volume": 1000,
 *    "position": frames, "playing": 4, "prepared": 5, "last_number": 5, "now": index or null,
 * "tracks": [{"id": 3, "source": "local", "root": 0, "reference": "…", "title", "artist", "album",
 * "durationMs": 215000, "mayBeLive": true, "requester": "ID"}, …]}
 *
 * Members that are empty, 0 or false are left out, but never the requester: an erasure finds it
 * by its spelling (control/store/statements.def). Pure. */
#ifndef CONTROL_MUSIC_QUEUE_DOCUMENT_H
#define CONTROL_MUSIC_QUEUE_DOCUMENT_H

#include "control/music/queue.h"

enum { MUSIC_DOCUMENT_MAX = 2 << 20 };

/* NULL without memory. The caller frees it. */
char *music_queue_write(const struct music_queue *q);
/* A track that cannot be read is left out, and the others stay. EBADMSG: it is no such document, or
 * breaks a rule of queues; ENOMEM. The caller owns *out. */
int music_queue_read(struct music_queue **out, const char *document);

#endif
