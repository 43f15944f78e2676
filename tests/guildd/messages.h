/* Written messages: who writes, edits, deletes and reacts, told to the bots that may see it. */
#ifndef GUILDD_MESSAGES_H
#define GUILDD_MESSAGES_H

#include "tests/guildd/guildd.h"
#include "tests/guildd/world.h"

/* A message by anybody. In the body of a reply stands message_reference; `ping` false: it does not
 * mention the other author. Caller owns *out (may be NULL). ENOMEM. */
int gd_message_post(struct guildd *g, struct gd_channel *c, const struct gd_user *author,
		    const char *content, int type, uint32_t flags, const json_t *body,
		    json_t **out);
/* kept: [{"id"}] of the attachments that it still has; NULL: all. */
void gd_message_edit(struct guildd *g, json_t *m, const char *content, const json_t *kept);
void gd_message_delete(struct guildd *g, struct gd_channel *c, size_t at);
/* Those of these ids that exist, told at once. */
void gd_messages_delete(struct guildd *g, struct gd_channel *c, const json_t *ids);
/* emoji: of Unicode. */
void gd_reaction_add(struct guildd *g, const struct gd_channel *c, json_t *m,
		     const struct gd_user *user, const char *emoji);

#endif
