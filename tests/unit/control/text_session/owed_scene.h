/* What a text session takes over from the control before. */
#ifndef TESTS_UNIT_CONTROL_TEXT_SESSION_OWED_SCENE_H
#define TESTS_UNIT_CONTROL_TEXT_SESSION_OWED_SCENE_H

#include <jansson.h>

#include "tests/unit/control/text_session/text_stage.h"

enum { MINUTE = 60000, HOUR = 60 * MINUTE };

/* A row of what the control before had not answered: of Bob, in this state. */
json_t *owed_row(uint64_t message, uint64_t guild, uint64_t channel, const char *state);
/* The same of a message of so long ago in STAGE_CHANNEL, which the next control takes over: its
 * id. */
uint64_t owed_since(struct text_stage *s, uint64_t ago_ms, const char *state);
/* Discord tells of n servers from this id on. */
void owed_server_comes(struct text_stage *s, uint64_t first, unsigned n);
/* And of STAGE_CHANNEL of STAGE_GUILD, whose last message this is; what follows from that. */
void owed_channel_comes(struct text_stage *s, uint64_t last);

#endif
