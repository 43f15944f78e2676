/* Has somebody finished, or do they only pause? A probability, from what can be known while they
 * are silent.
 *
 *   what was said so far                                         class    begins at    rises by
 *   the bot's name alone, or an end that asks for more           OPEN     100          400 a second
 *     ("and", "the", "to", "um", a comma, "what is")
 *   anything else                                                MAYBE    400          500 a second
 *   a question mark; a question or request of three words;       WHOLE    520          400 a second
 *     an end that few go on after ("please", "now")
 *
 *   how it ends                                                  moved by
 *   softer than it was (three quarters or less)                  +60
 *   as loud as it was, or louder                                 -60
 *
 * All in thousandths; `pause` counts from the last sound of a voice. The words' tables (eot.def)
 * are English; of other languages a question mark, a comma, the pause and the loudness tell. Pure:
 * no room in it. */
#ifndef CONTROL_ROOM_TURN_EOT_H
#define CONTROL_ROOM_TURN_EOT_H

#include <stdint.h>

enum room_eot_words { ROOM_EOT_OPEN, ROOM_EOT_MAYBE, ROOM_EOT_WHOLE };

struct room_names;

/* names: the bot's, which say nothing. */
enum room_eot_words room_eot_words(const char *text, const struct room_names *names);
/* tail, all: the loudness of its last tenth of a second, and of all of it; 0 when not known. */
int room_eot_loudness_shift(uint32_t tail, uint32_t all);
/* 0 to 1000. */
uint32_t room_eot_probability(enum room_eot_words words, int fall, uint64_t pause_ms);
/* The shortest pause at which the probability is at least `share`. */
uint64_t room_eot_delay(enum room_eot_words words, int fall, uint32_t share);

#endif
