/* Turns told to others, one JSON line each time one gets further: admitted (its words are known), speaking (the first
 * sound of the answer left), ended. For a page that shows them, a dashboard, a search.
 *
 *   {"at":1790000000000,"guild":"…","channel":"…","turn":3,"stage":"ended","user":"501","name":"alice",
 *    "heard":"…","said":"…","reason":"answered","text":"it was answered …","first_audio_ms":1550,
 *    "why":[{"rule":"direct_address","yes":true,"value":1,"limit":1,"unit":"","text":"…"}]}
 *
 * A later line of the same turn replaces the earlier one. first_audio_ms counts from the end of speech, null before. */
#ifndef CONTROL_TURNS_H
#define CONTROL_TURNS_H

#include <stdint.h>

#include <jansson.h>

struct env;
struct room_turn;

enum turns_stage { TURNS_ADMITTED, TURNS_SPEAKING, TURNS_ENDED };

/* When and where. */
struct turns_at {
	uint64_t wall_ms, guild, channel;
};

/* NULL without memory, or when a text is no UTF-8. Caller owns. */
json_t *turns_json(const struct room_turn *turn, enum turns_stage stage, const struct turns_at *at);

/* Appends the line to the file (0600: it holds what was said). One that has grown to 4 MiB becomes FILE.old and a
 * new one is begun. Symbolic links are not followed. A failure is logged and changes nothing else. */
void turns_write(struct env *env, const char *file, const struct room_turn *turn, enum turns_stage stage,
		 uint64_t guild, uint64_t channel);

#endif
