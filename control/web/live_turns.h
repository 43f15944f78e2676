/* The turns of each server that are under way, and the last ones that ended, for the page of rooms
 * and the seeds' snapshot: a subscriber of the bus. Holds words of turns under way and of the last
 * one that ended; they are gone once the session is over, or somebody's words are erased
 * (live_turns_forget), and those that may not be kept once their turn ends. */
#ifndef CONTROL_WEB_LIVE_TURNS_H
#define CONTROL_WEB_LIVE_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

struct bus;
struct live_turns;

/* Of all servers, and those that ended of each. */
enum { LIVE_TURNS_MAX = 1024, LIVE_TURNS_RECENT = 12 };

/* Subscribes; bus is borrowed. ENOMEM, ENOSPC. Caller owns *out and frees it when nobody publishes
 * any more. */
int live_turns_alloc(struct live_turns **out, struct bus *bus);
struct live_turns *live_turns_free(struct live_turns *t);
void live_turns_forget(struct live_turns *t);
/* Whether with what was said, and whether that is to be kept. */
enum live_words { LIVE_NO_WORDS, LIVE_WORDS, LIVE_KEPT_WORDS };
/* [{turn, stage, at, user, name, heard, why}], the oldest first. Caller owns it. */
json_t *live_turns_current(const struct live_turns *t, uint64_t guild, enum live_words words);
/* The last that ended, with reason, text, said and firstAudioMs; JSON null for none. */
json_t *live_turns_last(const struct live_turns *t, uint64_t guild, bool words);
/* Those that ended, the newest last, at most LIVE_TURNS_RECENT, the last one as above and others
 * without words and `why`. Caller owns it. */
json_t *live_turns_recent(const struct live_turns *t, uint64_t guild, bool words);

#endif
