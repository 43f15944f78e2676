/* The state of the bot's output, derived from events and never stored or guessed. The first row
 * that fits:
 *
 *   situation                                         phase                  reason
 *   audio of an answer is being played (started, not  SPEAKING_LIVE          bot_audio_live
 *   paused)
 *   a playback is open (not started, or paused)       SPEAKING_BUFFERED      bot_audio_buffered
 *   tools work, or their outputs are owed             AWAITING_TOOL_OUTPUTS  awaiting_tool_outputs
 *   an answer is awaited                              RESPONSE_PENDING       pending_response
 *   nothing; music plays                              IDLE                   music_playback_active
 *   nothing                                           IDLE                   idle
 *
 * An interrupted answer no longer counts: its fade locks nothing. The output is locked when the
 * phase is not IDLE, or music plays or loads. */
#ifndef CONTROL_ROOM_ANSWER_OUTPUT_STATE_H
#define CONTROL_ROOM_ANSWER_OUTPUT_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "control/room/base/answers.h"

struct room_output_input {
	bool inactive;	/* no call */
	bool answering; /* an answer has the floor */
	bool released;	/* its playback is open ... */
	bool started;	/* ... and has started */
	bool paused;
	unsigned tools;
	bool music; /* plays or loads */
};

struct room_output_state {
	enum room_output_phase phase;
	bool locked;
	const char *reason;
};

struct room_output_state room_output_state(const struct room_output_input *input);

/* Of the active turn. paused: its playback is paused; tools: those that work for it. */
struct room_output_state room_output_derive(const struct room_context *context, bool paused,
					    unsigned tools);
#endif
