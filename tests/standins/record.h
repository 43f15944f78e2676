/* What a stand-in received and sent, for tests: FOLDER/events.jsonl, a line for each event, and
 * FOLDER/N.pcm with the sound that session N received, s16le mono.
 *
 *   {"at": NS, "link": N, "what": "in", "event": {…}}       a message, or a piece of an answer
 *   {"at": NS, "link": N, "what": "request", "method": …, "path": …, "event": {…}}
 *   {"at": NS, "link": N, "what": "open", "text": …}        other facts
 *
 *   {"at": NS, "kind": "said", "text": …, "wav": "said-1.wav"}   a sound that was made; or "heard"
 *
 * Times are CLOCK_MONOTONIC. Sound in base64 is cut to its first characters. */
#ifndef STANDINS_RECORD_H
#define STANDINS_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_head;
struct si_record;

/* An errno of mkdir or open. Caller owns *out. All others accept NULL and then do nothing. */
int si_record_open(struct si_record **out, const char *folder);
struct si_record *si_record_close(struct si_record *r);

void si_record_message(struct si_record *r, uint32_t link, const char *what, bool text,
		       const char *data, size_t n);
void si_record_request(struct si_record *r, uint32_t link, const struct http_head *head,
		       const char *body, size_t n);
void si_record_note(struct si_record *r, uint32_t link, const char *what, const char *text);
/* Sound of a session. */
void si_record_pcm(struct si_record *r, uint32_t link, const void *pcm, size_t n);
/* What was said or heard, with its sound when there is one; as offlined's record has it. */
void si_record_sound(struct si_record *r, const char *kind, const char *text, const int16_t *pcm,
		     size_t n, uint32_t rate);
/* A file NAME of the folder. */
void si_record_file(struct si_record *r, const char *name, const void *data, size_t n);

#endif
