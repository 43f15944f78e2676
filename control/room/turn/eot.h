/* End-of-turn (EOT) prediction: the probability that a silent speaker has finished, from the
 * words, the loudness and the length of the silence.
 *
 *   words so far                                               class  starts at  rises by
 *   only the bot's name, or an ending that needs more words    OPEN   100        400 a second
 *   ("and", "the", "to", "um", a comma, "what is")
 *   anything else                                              MAYBE  400        500 a second
 *   a question mark; a question or request of three words; an  WHOLE  520        400 a second
 *   ending after which few speakers go on ("please", "now")
 *
 *   loudness of the ending                                       shifts the start by
 *   softer than the rest (three quarters or less)                +60
 *   as loud as the rest, or louder                               -60
 *
 * All values are thousandths; the silence counts from the last voiced audio. The tables of words
 * are English (eot.def) and the lists of room/language; in a language without lists a question
 * mark, a comma, the silence and the loudness decide. */
#ifndef CONTROL_ROOM_TURN_EOT_H
#define CONTROL_ROOM_TURN_EOT_H

#include <stdint.h>

enum room_eot_words { ROOM_EOT_OPEN, ROOM_EOT_MAYBE, ROOM_EOT_WHOLE };

struct room_names;

/* names: the bot's names, which are ignored. */
enum room_eot_words room_eot_words(const char *text, const struct room_names *names);
/* tail, all: loudness of the last 100 ms and of all of it; 0 when not known. */
int room_eot_loudness_shift(uint32_t tail, uint32_t all);
/* 0 to 1000. */
uint32_t room_eot_probability(enum room_eot_words words, int fall, uint64_t pause_ms);
/* The shortest silence at which the probability reaches `share`. */
uint64_t room_eot_delay(enum room_eot_words words, int fall, uint32_t share);

#endif
