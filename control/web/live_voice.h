/* Sessions of speech-to-text, calls of tools, and who came and left, of the voice sessions that go
 * on now, in the form of the seeds: a subscriber of the bus. Without words: what a tool returned is
 * in the history alone. Gone once the voice session is over. */
#ifndef CONTROL_WEB_LIVE_VOICE_H
#define CONTROL_WEB_LIVE_VOICE_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

struct bus;
struct bus_event;
struct live_voice;

/* Of all servers, and the calls of each. What goes on is dropped last. */
enum {
	LIVE_ASR_MAX = 2048,
	LIVE_CALLS_MAX = 512,
	LIVE_CALLS_EACH = 64,
	LIVE_MOVES_MAX = 1024,
	LIVE_MOVES_EACH = 12
};

/* Subscribes; bus is borrowed. ENOMEM, ENOSPC. Caller owns *out and frees it when nobody publishes
 * any more. */
int live_voice_alloc(struct live_voice **out, struct bus *bus);
struct live_voice *live_voice_free(struct live_voice *v);
void live_voice_forget(struct live_voice *v);
/* AsrSessionState of each person of the server who spoke: [{userId, displayName, connected,
 * createdAt, lastTranscriptAt, idleTimerEndsAt, closedReason, guildId, sessionId, audioMs,
 * transcripts, lastError}]; the last three count for the voice session, lastError is why a session
 * of speech-to-text last failed. people: those of /api/rooms, with the end of their idle timers;
 * borrowed, may be NULL. Caller owns it. */
json_t *live_voice_asr(const struct live_voice *v, uint64_t guild, const json_t *people);
/* ToolCallEvent of the last calls in the server, the oldest first. Caller owns it. */
json_t *live_voice_calls(const struct live_voice *v, uint64_t guild);
/* [{userId, displayName, eventType: "join" or "leave", at}] of people who agreed to be remembered,
 * the oldest first, at most LIVE_MOVES_EACH. Caller owns it. */
json_t *live_voice_moves(const struct live_voice *v, uint64_t guild);
/* One TOOL_BEGAN or TOOL_CALLED as a ToolCallEvent; words: with what the tool returned. Caller owns
 * it. */
json_t *live_voice_call_json(const struct bus_event *ev, bool words);
/* One ASR_SESSION as an AsrSessionState; NULL: v has no session of this person. Caller owns it. */
json_t *live_voice_asr_json(const struct live_voice *v, const struct bus_event *ev);

#endif
