/* The room's state, and what its parts ask of one another. For control/room only. */
#ifndef CONTROL_ROOM_INSIDE_H
#define CONTROL_ROOM_INSIDE_H

#include "control/room/floor/address.h"
#include "control/room/answer/barge_in.h"
#include "control/room/hearing/capture.h"
#include "control/room/hearing/recording_queue.h"
#include "control/room/answer/prompt.h"
#include "control/room/floor/floor.h"
#include "control/room/floor/choice.h"
#include "control/room/turn/classifier.h"
#include "control/room/turn/moments.h"
#include "control/room/floor/followup.h"
#include "control/room/floor/music.h"
#include "control/room/session.h"
#include "control/room/answer/thought.h"
#include "control/room/turn/history.h"
#include "control/room/answer/retry_policy.h"
#include "control/room/answer/speculative.h"
#include "control/room/turn/endpointing.h"
#include "control/room/answer/output_state.h"
#include "control/room/answer/reply.h"
#include "control/room/people.h"
#include "control/room/room.h"
#include "control/settings/settings.h"
#include "control/words/words.h"

struct room_speaker {
	bool used, is_bot;
	uint64_t user;
	char name[ROOM_NAME_MAX];
	struct room_capture capture;
	struct room_turn *turn; /* the HEARING one, or NULL */
	/* speech-to-text */
	bool asr_open;
	uint64_t asr_used_at;
	unsigned asr_empty;
	struct room_overlap overlap; /* voice over the bot's own */
	struct room_endpointing endpointing;
	uint32_t interim_utterance; /* the newest utterance that speech-to-text looked at before its
				       end */
};

/* How the bot's voice stands while it speaks (arbiter.h). */
struct room_playback_level {
	uint32_t turn;
	enum room_barge_in_action lowered;
	bool ducked; /* also under a pause */
};

/* Whom the bot told that it did not understand. Kept apart from the speakers: who goes and comes
 * back is the same person. */
struct room_not_understood {
	uint64_t user, at; /* user 0: free */
};

/* Texts that effects of the running step point to, one after another. Half is for what a step may
 * say many of, and the rest for what the brain is told. */
enum { ROOM_TEXTS = 1 << 17, ROOM_TEXTS_MANY = ROOM_TEXTS / 2 };

struct room_texts {
	size_t n;
	char buf[ROOM_TEXTS];
};

/* Lines of the conversation that effects of the running step point to. */
enum { ROOM_MESSAGES = 128 };

struct room_messages {
	size_t n;
	struct room_message v[ROOM_MESSAGES];
};

struct room {
	const struct settings *settings;
	char name[ROOM_NAME_MAX];
	struct room_names names;
	bool guest;
	bool shared; /* one transcription session for all, as it was when the room began */
	bool files;  /* recordings are transcribed, not what is streamed */
	struct room_recording_queue recordings;
	uint64_t interim_not_before; /* before this speech-to-text is asked for no words so far: it
					was too slow */
	bool interim_unrequested; /* speech-to-text has words while somebody speaks, without being
				     asked */

	bool up, muted, greeted, over;
	struct room_speaker speaker[ROOM_SPEAKERS];
	unsigned places; /* of those; beyond them nobody is */
	struct room_turn turn[ROOM_TURNS];
	uint64_t live[(ROOM_TURNS + 63) / 64]; /* which of them are not over */
	struct room_turn *active; /* ASKED, SPEAKING or CLOSING: the one that has the floor */
	uint32_t last_turn, last_utterance;
	struct room_playback_level level;
	struct room_reply reply; /* of the active turn */
	struct room_speculative speculative;
	struct room_retry retry; /* the same */
	struct {
		enum room_output_phase phase;
		uint64_t at;
	} output;	  /* the output's phase, and since when */
	uint64_t free_at; /* when the floor became free */
	struct room_floor floor;
	struct room_followup followup;
	struct room_choice choice;
	struct room_classifier classifier;
	struct room_music music;
	struct room_session session;
	struct room_thought thought;
	struct room_moments moments;
	uint64_t counts[ROOM_REASON_COUNT];
	struct room_not_understood not_understood[ROOM_SPEAKERS];
	struct room_history history;
	struct room_instructions_refresh refresh;
	char instructions[ROOM_PROMPT_MAX]; /* as told last */
	struct words words;

	uint64_t now; /* of the running step */
	struct room_effects *fx;
	struct room_texts texts;
	struct room_messages messages;
};

/* room.c */
struct room_effect *room_emit(struct room *room, enum room_effect_type type);
/* A place of `size` bytes for a text of an effect, empty; what is written there is kept by
 * room_text_keep. NULL past `most` bytes in a step. */
char *room_text(struct room *room, size_t size, size_t most);
/* Keeps the text that was written where room_text said last. */
const char *room_text_keep(struct room *room, const char *text);
/* A copy of one of many, valid UTF-8; NULL when the step has said too much. */
const char *room_text_of(struct room *room, const char *text, size_t n);
/* Ends all turns and lets go of everybody; nothing is stepped after it. */
void room_shut_down(struct room *room);
/* Keeps what it needs of the settings in a form of its own: the names, guest mode. */
void room_apply_settings(struct room *room);

/* turn.c */
struct room_turn *room_turn_new(struct room *room, struct room_speaker *sp);
/* A turn that nobody said: words for the brain by the room itself. NULL when there is no place. */
struct room_turn *room_turn_new_prompted(struct room *room, const char *text);
/* Another turn with the same words, not yet in any phase but HEARING; NULL when there is no place.
 */
struct room_turn *room_turn_copy(struct room *room, const struct room_turn *of);
struct room_turn *room_turn_by_id(struct room *room, uint32_t id);
/* The place of the next turn that is not over, from `from` on; ROOM_TURNS when there is none. A
 * step that ends turns may meet one that is. */
unsigned room_turn_next(const struct room *room, unsigned from);
void room_turn_decide(struct room_turn *turn, enum room_rule rule, bool yes, int64_t value,
		      int64_t limit);
/* Its first speaker left: it is the turn of the next. */
void room_turn_reassign(struct room_turn *turn);
/* Stops all that hangs on the turn. The first reason stays. */
void room_turn_cancel(struct room *room, struct room_turn *turn, enum room_reason reason);
void room_turn_end(struct room *room, struct room_turn *turn, enum room_reason reason);
void room_turns_tick(struct room *room);
uint64_t room_turns_deadline(const struct room *room);

/* transcript.c: speech-to-text, one session a speaker */
void room_asr_start(struct room *room, struct room_speaker *sp);
void room_asr_promote(struct room *room, struct room_speaker *sp);
void room_asr_commit(struct room *room, struct room_speaker *sp);
void room_asr_discard(struct room *room, struct room_speaker *sp);
void room_transcripts_on_event(struct room *room, const struct room_event *ev);
/* This utterance's words are not awaited any more; in the lane of recordings the next may run. */
void room_asr_release(struct room *room, uint64_t user, uint32_t utterance);
/* What is awaited of this turn is not any more; its words are those that came. */
void room_asr_abandon(struct room *room, struct room_turn *turn);
/* why: idle_ttl, user_left, empty, shutdown. */
void room_asr_close(struct room *room, struct room_speaker *sp, const char *why);
/* The capture is over: no more pieces. */
void room_turn_end_capture(struct room *room, struct room_turn *turn);
void room_asr_tick(struct room *room, struct room_speaker *sp);
/* When its session is closed for want of use; UINT64_MAX while it is used. */
uint64_t room_asr_idle_at(const struct room *room, const struct room_speaker *sp);

/* output.c: the answer, from the brain to the room */
void room_answer_ask(struct room *room, struct room_turn *turn);
void room_output_on_event(struct room *room, const struct room_event *ev);
/* What held its sound back is over. */
void room_answer_release(struct room *room, struct room_turn *turn);
/* The answer may be heard: its playback opens. */
void room_answer_open_playback(struct room *room, struct room_turn *turn);

#endif
