/* The REST calls with which an interaction is answered (Discord: "Receiving and Responding"). Slash
 * commands, components and autocomplete share them. */
#ifndef CONTROL_DISCORD_INTERACTION_H
#define CONTROL_DISCORD_INTERACTION_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "control/discord/rest.h"

enum {
	INTERACTION_COMMAND = 2, /* types of interactions */
	INTERACTION_COMPONENT = 3,
	INTERACTION_AUTOCOMPLETE = 4,
	INTERACTION_MESSAGE = 4, /* types of answers */
	INTERACTION_DEFER = 5,
	INTERACTION_DEFER_UPDATE = 6,
	INTERACTION_UPDATE = 7,
	INTERACTION_CHOICES = 8,
	INTERACTION_SUBCOMMAND = 1, /* type of an option */
	INTERACTION_EPHEMERAL = 64, /* message flag: only the user who asked sees it */
};

enum { INTERACTION_LOCALE = 8 }; /* bytes of a language with its end */

/* A secret: whoever has the token can answer. */
struct interaction {
	char id[24], application[24], token[512];
};

/* False: a field is missing, or the token does not fit into a path. */
bool interaction_read(const json_t *d, struct interaction *out);
/* The language of the user's client ("de", "pt-BR"); "" if it is not told or too long. Borrowed. */
const char *interaction_locale(const json_t *d);
/* The first answer. body is borrowed. Errors of rest_request, ENOMEM without a body. */
int interaction_callback(struct rest *rest, const struct interaction *i, json_t *body, rest_h *h,
			 void *arg);
/* Replaces a deferred answer. body is borrowed; file may be NULL. */
int interaction_edit(struct rest *rest, const struct interaction *i, json_t *body,
		     const char *file_name, const char *file, rest_h *h, void *arg);
/* Reads the answer that users see. */
int interaction_get(struct rest *rest, const struct interaction *i, rest_h *h, void *arg);

#endif
