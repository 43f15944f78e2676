/* Functions that the loop's side of the store shares: store.c, store_extract.c and store_saves.c.
 */
#ifndef CONTROL_STORE_STORE_INSIDE_H
#define CONTROL_STORE_STORE_INSIDE_H

#include "control/store/store.h"

struct job;

/* Hands a job to the worker; takes its texts in any case. h NULL: nobody waits for the answer.
 * Errors as store_settings_put. */
int store_request(struct store *s, const struct job *proto, store_document_h *h, void *arg);
/* The same for what nobody waits for. The caller may decide by the result, which depends on the
 * disk: a replay gets it as well. */
int store_post(struct store *s, const struct job *proto);
/* ms since 1970. */
uint64_t store_now_ms(struct store *s);

#endif
