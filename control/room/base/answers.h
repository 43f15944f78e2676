/* Interface of answer/ for the groups that it builds on. For control/room only. */
#ifndef CONTROL_ROOM_BASE_ANSWERS_H
#define CONTROL_ROOM_BASE_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct room_context;
struct room_signal;
struct room_turn;

enum room_output_phase {
	ROOM_OUTPUT_IDLE,
	ROOM_OUTPUT_RESPONSE_PENDING,
	ROOM_OUTPUT_AWAITING_TOOL_OUTPUTS,
	ROOM_OUTPUT_SPEAKING_LIVE,
	ROOM_OUTPUT_SPEAKING_BUFFERED,
};

/* The interrupt classifier's verdict on words over an answer (answer/overlap_question.h). */
enum room_overlap_verdict {
	ROOM_OVERLAP_NONE,
	ROOM_OVERLAP_ASKED,
	ROOM_OVERLAP_INTERRUPT,
	ROOM_OVERLAP_IGNORE,
};

/* ---- output.c ---- */

/* Gives the turn the floor and asks the brain. */
void room_answer_ask(struct room_context *context, struct room_turn *turn);
/* The turn ends: tells the brain how much of the answer was played, and keeps only that. */
void room_answer_close(struct room_context *context, struct room_turn *turn);
/* The phase of the bot's output now (answer/output_state.h). */
enum room_output_phase room_output_phase_now(const struct room_context *context);

/* ---- instructions.c ---- */

/* Sends pending instructions at once. Returns false while the brain lacks the newest ones. */
bool room_answer_instruct(struct room_context *context);
/* True if the brain lacks the newest instructions. */
bool room_answer_uninstructed(const struct room_context *context);

/* ---- retrieval.c ---- */

/* Until when (ns) the queued turn waits for its slice of the memory; 0: it is there. */
uint64_t room_retrieval_until(const struct room_context *context, const struct room_turn *turn);

/* ---- thought.c ---- */

/* Somebody speaks: withdraws a thought that was not heard yet. */
void room_answer_speech_began(struct room_context *context);
/* Silence counts from now on. */
void room_answer_restart_silence(struct room_context *context);

/* ---- barge_in.c: overlapping speech of the person in this place ---- */

/* A frame of their audio arrived at `at`. */
void room_overlap_audio(struct room_context *context, unsigned place,
			const struct room_signal *frame, uint64_t at);
/* An interim transcript of an utterance arrived. echo: the bot's own words were removed from it. */
void room_overlap_interim(struct room_context *context, unsigned place, uint32_t utterance,
			  const char *words, bool echo);
/* The final transcript of an utterance arrived, for this turn. Returns true if the words only told
 * the bot to stop and it stopped, so that nothing is left to answer. */
bool room_overlap_words(struct room_context *context, unsigned place, const struct room_turn *of,
			uint32_t utterance, const char *words, bool echo);

/* A session of speech-to-text was closed. */
void room_overlap_session_closed(struct room_context *context);
/* The interrupt classifier did not answer this question in time; a turn that awaits it passes
 * admission again. */
void room_overlap_give_up(struct room_context *context, uint32_t question);

/* ---- overlap_question.c ---- */

/* The verdict on the turn's words. */
enum room_overlap_verdict room_overlap_verdict(const struct room_context *context,
					       const struct room_turn *turn);
/* The turn, whose verdict is ASKED, awaits it in the phase CLASSIFYING. */
void room_overlap_await(struct room_context *context, struct room_turn *turn);

/* ---- played_words.c ---- */

/* When the bot fell silent, if it was audible between these times; UINT64_MAX: it still is; 0: it
 * was not. */
uint64_t room_audible_until(const struct room_context *context, uint64_t from, uint64_t to);
/* When the answer that was audible at this time became so; 0: none was. */
uint64_t room_audible_since(const struct room_context *context, uint64_t at);
/* The bot's words that were audible between these times, in their order, "" for none. */
void room_audible_words(const struct room_context *context, uint64_t from, uint64_t to, char *text,
			size_t size);

/* ---- speculative.c ---- */

/* The speaker goes on: more voice, or these are all words so far. */
void room_speculative_on_voice(struct room_context *context, uint64_t user, uint64_t ms);
void room_speculative_on_words(struct room_context *context, uint64_t user, const char *text);
/* True if the answer to this turn is speculative, so that it must not be heard yet. */
bool room_speculative_holds(const struct room_context *context, uint32_t turn);
/* True if a speculative answer may begin at all. */
bool room_speculative_possible(const struct room_context *context);
/* Begins a speculative answer to the person's open turn if the words are for the bot. probability:
 * of the end of turn, in thousandths. */
void room_speculative_begin(struct room_context *context, unsigned place, uint32_t probability);
/* The turn has its transcript. Returns the speculative answer to the same words, or NULL; other
 * words roll it back. */
struct room_turn *room_speculative_match(struct room_context *context, struct room_turn *turn);
/* Admission decided on the turn: if it is admitted and the bot can be heard, the turn ends and its
 * speculative answer is committed; else the answer is rolled back. early may be NULL. */
void room_speculative_commit(struct room_context *context, struct room_turn *turn,
			     struct room_turn *early);

#endif
