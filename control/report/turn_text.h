/* What the room knows of a turn, as its event tells it. Pure. */
#ifndef CONTROL_REPORT_TURN_TEXT_H
#define CONTROL_REPORT_TURN_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct room_turn;

/* [{"rule", "yes", "value", "limit", "unit", "text"}, …]: its decisions, in order. NULL without
 * memory. The caller frees it. */
char *turn_why_text(const struct room_turn *turn);
/* What people said. A turn of the bot's own was begun by a prompt, in which a person's words may be
 * quoted: nobody said the rest. Always terminated. */
void turn_heard_text(const struct room_turn *turn, char *out, size_t size);
/* From the end of the question to the first sound of the answer, in ms; -1: not known. */
int64_t turn_first_audio_ms(const struct room_turn *turn);
/* From its beginning to now (ns), in ms; -1: not known. */
int64_t turn_lasted_ms(const struct room_turn *turn, uint64_t now);

#endif
