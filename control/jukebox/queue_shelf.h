/* The queues of servers in whose voice channels the bot is not: as the store kept them when control
 * started, and as jukeboxes put them back. */
#ifndef CONTROL_JUKEBOX_QUEUE_SHELF_H
#define CONTROL_JUKEBOX_QUEUE_SHELF_H

#include <stdint.h>

#include <jansson.h>

struct music_queue;
struct queue_shelf;

/* kept: as store_read_queues, or NULL; it is not changed. ENOMEM. The caller owns *out. */
int queue_shelf_alloc(struct queue_shelf **out, const json_t *kept);
struct queue_shelf *queue_shelf_free(struct queue_shelf *s);
/* Takes the queue of this server off the shelf; NULL: there is none, or it is not
 * readable. Logs each part that is not readable. The caller owns the queue. */
struct music_queue *queue_shelf_take(struct queue_shelf *s, uint64_t guild);
/* document: of music_queue_write, copied. Without memory the queue is lost until a restart. */
void queue_shelf_put(struct queue_shelf *s, uint64_t guild, const char *document);
/* No queue on the shelf names this user any more. The store changes its own copies. NULL
 * accepted. */
void queue_shelf_forget(struct queue_shelf *s, uint64_t user);

#endif
