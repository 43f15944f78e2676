/* The state of the media plane, shared by mediad.c (calls, the link's life) and mediad_messages.c
 * (messages of control). */
#ifndef MEDIAD_MEDIAD_INTERNAL_H
#define MEDIAD_MEDIAD_INTERNAL_H

#include "mediad/call/call.h"
#include "mediad/link.h"
#include "ipc/log.h"
#include "mediad/mediad.h"
#include "mediad/music/decoders.h"
#include "proto/media_folder.h"

struct mediad {
	struct mediad_conf conf;
	struct link *link;
	struct ws_ctx *ws;
	struct engine *engine;
	struct decoders *decoders;			     /* NULL: music is refused */
	uint8_t folders[MEDIA_FOLDERS * MEDIA_FOLDER_BYTES]; /* of music, as DECODERS has them */
	struct worker *worker;
	struct tmr *claim, *orphan, *stop, *again;
	struct call *calls[MEDIAD_CALLS];
	unsigned n_calls;  /* calls[0..n_calls) are in use */
	uint32_t flows;	   /* number of the newest listen */
	uint64_t sessions; /* number of the newest voice session */
	bool stopping, stopped;
	bool demoted;	   /* an audio thread has lost real-time priority */
	bool no_decoders;  /* decoderd has ended */
	uint64_t began_at; /* ns of env */
	enum log_level started_level;
};

/* ---- mediad.c ---- */
/* Returns the call or NULL. */
struct call *mediad_find_call(struct mediad *m, uint32_t id);
/* Handlers of struct call_conf; arg: struct mediad. */
void mediad_send(const struct media_msg *msg, uint32_t flow, void *mediad);
size_t mediad_queued(void *mediad);
void mediad_on_call_gone(struct call *c, void *mediad);

/* ---- mediad_messages.c ---- */
/* Handler of struct link_handlers; arg: struct mediad. */
int mediad_on_message(const struct media_msg *msg, void *mediad);

#endif
