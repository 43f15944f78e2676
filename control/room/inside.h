/* The whole state of a room: the narrow context and the state of every machine. Only room.c, which
 * wires them, and tests may include this file; the machines see their own state and the context
 * (base/context.h). */
#ifndef CONTROL_ROOM_INSIDE_H
#define CONTROL_ROOM_INSIDE_H

#include "control/room/answer/barge_in.h"
#include "control/room/answer/inherited_voice.h"
#include "control/room/answer/instructions.h"
#include "control/room/answer/output.h"
#include "control/room/answer/overlap_question.h"
#include "control/room/answer/played_words.h"
#include "control/room/answer/reply.h"
#include "control/room/answer/response_watchdog.h"
#include "control/room/answer/soundboard.h"
#include "control/room/answer/retrieval.h"
#include "control/room/answer/speculative.h"
#include "control/room/answer/remark.h"
#include "control/room/answer/thought.h"
#include "control/room/answer/tool_results.h"
#include "control/room/base/context.h"
#include "control/room/floor/address.h"
#include "control/room/floor/choice.h"
#include "control/room/floor/floor.h"
#include "control/room/floor/followup.h"
#include "control/room/floor/music.h"
#include "control/room/hearing/captures.h"
#include "control/room/hearing/eot_prediction.h"
#include "control/room/hearing/transcript.h"
#include "control/room/people.h"
#include "control/room/room.h"
#include "control/room/session.h"
#include "control/room/turn/classifier.h"
#include "control/room/turn/compaction.h"
#include "control/room/turn/history.h"
#include "control/room/turn/moments.h"
#include "control/room/turn/turns.h"
#include "control/settings/settings.h"

struct room {
	struct room_context context;
	struct room_names names;
	struct room_people people;
	struct room_turns turns;
	struct room_history history;
	struct room_moments moments;
	struct room_compaction compaction;
	struct room_retrieval retrieval;
	struct room_soundboard soundboard;
	struct room_tool_results tool_results;
	struct room_classifier classifier;
	struct room_captures captures;
	struct room_transcripts transcripts;
	struct room_eot_prediction eot_prediction;
	struct room_floor floor;
	struct room_followup followup;
	struct room_choice choice;
	struct room_music music;
	struct room_barge_in barge_in;
	struct room_overlap_questions overlap_questions;
	struct room_inherited_voice inherited_voice;
	struct room_speculative speculative;
	struct room_reply reply;
	struct room_retry retry;
	struct room_output output;
	struct room_played_words played_words;
	struct room_instructions instructions;
	struct room_thought thought;
	struct room_remark remark;
	struct room_session session;
};

#endif
