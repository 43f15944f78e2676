/* Which intents a stored document may hold, and what they do to settings. For
 * control/settings/document.c alone. */
#ifndef CONTROL_SETTINGS_DOCUMENT_CHECK_H
#define CONTROL_SETTINGS_DOCUMENT_CHECK_H

#include "control/settings/document.h"

/* The whole intent, with every guild's. EINVAL: faults were told; ENOMEM. */
int document_check(const struct settings *base, const struct json_t *intent, document_fault_h *h,
		   void *arg);
/* Puts what the intent says for all guilds on s, which is a copy of base. Returns how many faults
 * there were. */
unsigned document_apply(struct settings *s, const struct settings *base,
			const struct json_t *intent, document_fault_h *h, void *arg);
/* Puts what it says for the guild with this id on s, over what it says for all. The same. */
unsigned document_apply_guild(struct settings *s, const struct settings *base,
			      const struct json_t *intent, const char *guild, document_fault_h *h,
			      void *arg);

#endif
