#include "control/room/answer/output.h"

#include <stdio.h>
#include <string.h>

#include "control/room/answer/barge_in.h"
#include "control/room/answer/played_words.h"
#include "control/room/answer/prompt.h"
#include "control/room/answer/addressee.h"
#include "control/room/answer/reply.h"
#include "control/room/answer/response_watchdog.h"
#include "control/room/answer/retrieval.h"
#include "control/room/answer/speculative.h"
#include "control/room/answer/wait_line.h"
#include "control/room/base/context.h"
#include "control/room/base/turns.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"

enum { TELL_CHARS = 40, TELL_MS = 400, DRAIN_SLACK_S = 5 };

void room_answer_ask(struct room_context *context, struct room_turn *turn)
{
	struct room_effect *e;

	if (!room_speculative_holds(context, turn->id))
		room_speculative_yield(context);
	room_turn_activate(context, turn);
	turn->phase = ROOM_PHASE_ASKED;
	turn->asked_at = context->now;
	turn->deadline = context->now + context->settings->first_audio_ms * NS_PER_MS;
	turn->sinks |= ROOM_SINK_BRAIN;
	turn->policy = room_interruption_policy(context->settings->interruptions,
						ROOM_TARGET_UNTOLD, 0, turn->user);
	/* Words of its own are for everybody. */
	if (!turn->user && context->settings->interruptions != SETTINGS_INTERRUPT_NONE)
		turn->policy = room_interruption_policy_own(ROOM_SCOPE_ANYONE, 0);
	room_reply_begin(context->reply, context, turn);
	room_watchdog_asked(context->retry, context, turn);
	room_turn_decide(turn, ROOM_RULE_ASKED, true,
			 turn->end_of_speech_at < context->now
				 ? (int64_t)((context->now - turn->end_of_speech_at) / NS_PER_MS)
				 : 0,
			 0);
	room_retrieval_note(context, turn);
	e = room_emit(context, ROOM_DO_ASK);
	e->turn = turn->id;
	e->user = turn->user;
	room_prompt_ask(context, turn, e);
}

void room_answer_ask_again(struct room_context *context, struct room_turn *turn, bool anew)
{
	struct room_effect *e;

	if (anew && (turn->sinks & ROOM_SINK_BRAIN))
		room_emit(context, ROOM_DO_BRAIN_CANCEL)->turn = turn->id;
	turn->sinks |= ROOM_SINK_BRAIN;
	turn->answer[0] = '\0';
	room_reply_begin(context->reply, context, turn);
	e = room_emit(context, anew ? ROOM_DO_ASK : ROOM_DO_ASK_AGAIN);
	e->turn = turn->id;
	e->user = turn->user;
	if (anew)
		room_prompt_ask(context, turn, e);
	else
		room_prompt_writings(context, e);
}

/* The provider's session keeps an answer of which people heard a part, or nothing: a voice that
 * speaks itself, or one whose words another voice reads out. A text model keeps nothing. */
static bool keeps_unheard(const struct room_context *context, const struct room_turn *turn)
{
	if (!room_reply_planned(context->reply))
		return turn->samples > turn->samples_played;
	return turn->answer_cut && context->settings->reply_path != SETTINGS_REPLY_BRAIN;
}

void room_answer_close(struct room_context *context, struct room_turn *turn)
{
	struct room_effect *e;
	const char *heard;

	room_reply_close(context->reply, context, context->history, turn);
	room_played_words_keep(context->played_words, context, turn);
	if (!keeps_unheard(context, turn))
		return;
	heard = room_text_of(context, turn->answer, strlen(turn->answer));
	e = room_emit(context, ROOM_DO_BRAIN_TRUNCATE);
	e->turn = turn->id;
	e->ms = (uint32_t)(turn->samples_played * 1000 / ROOM_RATE);
	e->text = heard ? heard : "";
}

bool room_answer_planned(const struct room_context *context)
{
	return room_reply_planned(context->reply);
}

static bool is_answering(const struct room_turn *t, uint32_t id)
{
	return t && t->id == id &&
	       (t->phase == ROOM_PHASE_ASKED || t->phase == ROOM_PHASE_SPEAKING);
}

/* Reduces text to lower-case words, so that punctuation does not hide a phrase. */
static void normalise_text(const char *text, char *to, size_t size)
{
	size_t k = 0;

	for (; *text && k + 1 < size; text++) {
		char ch = *text;

		if (ch >= 'A' && ch <= 'Z')
			ch = (char)(ch - 'A' + 'a');
		if (ch == '\'')
			continue;
		if (!((ch >= 'a' && ch <= 'z') || (ch >= '0' && ch <= '9') ||
		      (unsigned char)ch >= 0x80))
			ch = ' ';
		if (ch == ' ' && (k == 0 || to[k - 1] == ' '))
			continue;
		to[k++] = ch;
	}
	to[k] = '\0';
}

static bool says_not_understood(const struct room_context *context, const struct room_turn *t)
{
	char said[TELL_CHARS * 4], phrase[128];

	normalise_text(t->answer, said, sizeof said);
	normalise_text(context->settings->not_understood, phrase, sizeof phrase);
	return *phrase && strstr(said, phrase);
}

void room_answer_open_playback(struct room_context *context, struct room_turn *t)
{
	room_reply_open(context->reply);
	room_barge_in_reset(context);
	t->released = true;
	t->phase = ROOM_PHASE_SPEAKING;
	t->deadline = context->now + context->settings->stall_ms * NS_PER_MS;
	room_emit(context, ROOM_DO_SAY_OPEN)->turn = t->id;
}

/* The entry of this speaker; else a free one, or the oldest, emptied. */
static struct room_not_understood *find_not_understood(struct room_context *context, uint64_t user)
{
	struct room_not_understood *oldest = &context->output->not_understood[0];

	for (unsigned i = 0; i < ROOM_SPEAKERS; i++) {
		struct room_not_understood *x = &context->output->not_understood[i];

		if (x->user == user)
			return x;
		if (oldest->user && (!x->user || x->at < oldest->at))
			oldest = x;
	}
	oldest->user = 0;
	return oldest;
}

/* Returns true if it cancelled the turn. */
static bool limit_not_understood(struct room_context *context, struct room_turn *t)
{
	struct room_not_understood *told = find_not_understood(context, t->user);
	uint64_t limit = context->settings->not_understood_s, since = limit;

	if (told->user)
		since = (context->now - told->at) / NS_PER_S;
	room_turn_decide(t, ROOM_RULE_NOT_UNDERSTOOD_RARE, since >= limit, (int64_t)since,
			 (int64_t)limit);
	if (since < limit) {
		room_turn_cancel(context, t, ROOM_REASON_NOT_UNDERSTOOD);
		return true;
	}
	*told = (struct room_not_understood){.user = t->user, .at = context->now};
	return false;
}

/* Decides whether an answer with audio may be heard now. */
static void decide_release(struct room_context *context, struct room_turn *t)
{
	bool told = strlen(t->answer) >= TELL_CHARS || t->brain_done ||
		    t->samples >= TELL_MS * ROOM_RATE / 1000;

	t->not_understood = says_not_understood(context, t);
	if (!t->samples || (context->guest && !told && !t->not_understood) ||
	    room_reply_undecided(context->reply) || room_speculative_holds(context, t->id))
		return;
	if (context->guest && t->not_understood && limit_not_understood(context, t))
		return;
	room_turn_decide(t, ROOM_RULE_FIRST_AUDIO, true,
			 (int64_t)((context->now - t->asked_at) / NS_PER_MS),
			 context->settings->first_audio_ms);
	room_answer_open_playback(context, t);
}

/* The answer is complete. */
static void complete_answer(struct room_context *context, struct room_turn *t)
{
	if (room_speculative_holds(context, t->id))
		return;
	if (room_reply_skips(context->reply)) {
		room_turn_cancel(context, t, ROOM_REASON_NO_ANSWER);
		return;
	}
	if (!t->released)
		decide_release(context, t);
	if (t->phase == ROOM_PHASE_ENDED)
		return;
	if (!t->released) {
		t->sinks &= ~(unsigned)ROOM_SINK_PLAYBACK;
		room_turn_end(context, t,
			      t->brain_broke ? ROOM_REASON_BRAIN_FAILED : ROOM_REASON_NO_ANSWER);
		return;
	}
	room_emit(context, ROOM_DO_SAY_END)->turn = t->id;
	t->deadline = context->now + t->samples * NS_PER_S / ROOM_RATE + DRAIN_SLACK_S * NS_PER_S;
}

static void end_brain_answer(struct room_context *context, struct room_turn *t, bool broke)
{
	if (!broke && !room_reply_skips(context->reply) &&
	    room_watchdog_done(context->retry, context, t))
		return;
	t->brain_done = true;
	t->brain_broke = broke;
	t->sinks &= ~(unsigned)ROOM_SINK_BRAIN;
	if (broke && room_speculative_failed(context, t))
		return;
	if (room_reply_planned(context->reply) && !t->released)
		decide_release(context, t);
	if (!is_answering(t, t->id))
		return;
	room_reply_complete(context->reply, context, t);
	if (!broke && is_answering(t, t->id) && !room_reply_skips(context->reply))
		room_addressee_ask(context, t);
	if (!room_reply_planned(context->reply))
		complete_answer(context, t);
}

void room_output_complete(struct room_context *context, struct room_turn *t)
{
	end_brain_answer(context, t, false);
}

void room_answer_release(struct room_context *context, struct room_turn *t)
{
	if (t->brain_done && !room_reply_planned(context->reply))
		complete_answer(context, t);
	else if (!t->released)
		decide_release(context, t);
	if (is_answering(t, t->id))
		room_reply_released(context->reply, context, t);
}

/* Forwards audio of the answer to the playback, which is opened once the answer is released. */
static void forward_audio(struct room_context *context, struct room_turn *t, uint32_t chunk,
			  struct slice pcm)
{
	struct room_effect *e;

	room_reply_add_audio(context->reply, t, chunk, pcm.n / 2);
	room_retry_audio(context->retry);
	t->sinks |= ROOM_SINK_PLAYBACK;
	e = room_emit(context, ROOM_DO_SAY_PCM);
	e->turn = t->id;
	e->pcm = pcm;
	if (t->released && !room_reply_is_open(context->reply))
		room_answer_open_playback(context, t);
}

/* More of the answer arrived: decides whether it may be heard, or waits for more. */
static void continue_answer(struct room_context *context, struct room_turn *t)
{
	if (!is_answering(t, t->id))
		return;
	if (!t->released)
		decide_release(context, t);
	/* Audio arrived, though held back; from now on the rest of the answer is awaited. */
	if (is_answering(t, t->id) && !t->brain_done && (t->released || t->samples))
		t->deadline = context->now + context->settings->stall_ms * NS_PER_MS;
}

static void step_brain(struct room_context *context, const struct room_event *ev)
{
	struct room_turn *t = room_turn_active(context);

	if (!is_answering(t, ev->turn) || t->brain_done)
		return;
	switch (ev->type) {
	case ROOM_BRAIN_AUDIO:
		if (ev->pcm.n < 2 || room_reply_planned(context->reply))
			return;
		room_wait_line_end(context->retry, context, t);
		forward_audio(context, t, 0, ev->pcm);
		break;
	case ROOM_BRAIN_TEXT:
		room_retry_word(context->retry, context->now);
		if (ev->tainted)
			room_reply_taint(context->reply);
		room_reply_add_text(context->reply, context, t, ev->text);
		break;
	case ROOM_BRAIN_DONE:
	case ROOM_BRAIN_FAILED:
		end_brain_answer(context, t, ev->type == ROOM_BRAIN_FAILED);
		return;
	default:
		return;
	}
	continue_answer(context, t);
}

/* Audio of the words that bridge the work of tools, which has a time limit of its own. */
static void step_wait_line(struct room_context *context, struct room_turn *t,
			   const struct room_event *ev)
{
	if (room_reply_planned(context->reply) ||
	    !room_wait_line_on_speech(context->retry, context, t, ev))
		return;
	forward_audio(context, t, 0, ev->pcm);
	continue_answer(context, t);
	if (is_answering(t, t->id) && room_retry_tools(context->retry))
		t->deadline = context->now + context->settings->tool_ms * NS_PER_MS;
}

static void step_speech(struct room_context *context, const struct room_event *ev)
{
	struct room_turn *t = room_turn_active(context);

	if (is_answering(t, ev->turn) && ev->chunk == ROOM_LINE_CHUNK) {
		step_wait_line(context, t, ev);
		return;
	}
	if (!is_answering(t, ev->turn) || !room_reply_on_event(context->reply, context, t, ev))
		return;
	forward_audio(context, t, ev->chunk, ev->pcm);
	continue_answer(context, t);
}

static enum room_reason choose_end_reason(const struct room_context *context,
					  const struct room_turn *t, const struct room_event *ev)
{
	if (ev->type == ROOM_SAY_STOPPED && context->up)
		return ev->yes ? ROOM_REASON_NO_KEY : ROOM_REASON_PLAYBACK_FAILED;
	if (ev->type == ROOM_SAY_STOPPED)
		return ROOM_REASON_CALL_LOST;
	if (t->brain_broke)
		return ROOM_REASON_BRAIN_FAILED;
	return t->not_understood ? ROOM_REASON_NOT_UNDERSTOOD : ROOM_REASON_ANSWERED;
}

static void step_playback(struct room_context *context, const struct room_event *ev)
{
	struct room_turn *t = room_turn_active(context);

	if (!t || t->id != ev->turn || !t->released)
		return;
	if (ev->type == ROOM_SAY_STARTED) {
		if (!t->first_audio_at)
			t->first_audio_at = ev->at;
		room_reply_started(context->reply, ev->at);
		return;
	}
	if (ev->type == ROOM_SAY_DRAINED && room_reply_planned(context->reply) &&
	    is_answering(t, ev->turn)) {
		t->sinks &= ~(unsigned)ROOM_SINK_PLAYBACK;
		room_reply_drained(context->reply, context, t, ev->samples);
		return;
	}
	if (ev->type == ROOM_SAY_DRAINED && t->brain_done && is_answering(t, ev->turn))
		room_reply_played(context->reply, context);
	t->samples_played = room_reply_drained_samples(context->reply) + ev->samples;
	if (t->samples_played > t->samples)
		t->samples_played = t->samples;
	t->sinks &= ~(unsigned)ROOM_SINK_PLAYBACK;
	if (t->sinks & ROOM_SINK_BRAIN) {
		t->sinks &= ~(unsigned)ROOM_SINK_BRAIN;
		room_emit(context, ROOM_DO_BRAIN_CANCEL)->turn = t->id;
	}
	if (t->sinks & ROOM_SINK_TTS)
		room_emit(context, ROOM_DO_SPEAK_CANCEL)->turn = t->id;
	room_turn_end(context, t, choose_end_reason(context, t, ev));
}

void room_output_on_event(struct room_context *context, const struct room_event *ev)
{
	switch (ev->type) {
	case ROOM_BRAIN_AUDIO:
	case ROOM_BRAIN_TEXT:
	case ROOM_BRAIN_DONE:
	case ROOM_BRAIN_FAILED:
		step_brain(context, ev);
		break;
	case ROOM_SPEECH_AUDIO:
	case ROOM_SPEECH_WORD:
	case ROOM_SPEECH_DONE:
	case ROOM_SPEECH_FAILED:
	case ROOM_SOUND_DONE:
		step_speech(context, ev);
		break;
	case ROOM_SAY_STARTED:
	case ROOM_SAY_DRAINED:
	case ROOM_SAY_STOPPED:
		step_playback(context, ev);
		break;
	default:
		break;
	}
}

struct room_output_state room_output_state_now(const struct room_context *context)
{
	const struct room_turn *active = room_turn_active(context);
	bool paused = active && room_barge_in_paused(context, active->id);

	return room_output_derive(context, paused, room_retry_tools(context->retry));
}

enum room_output_phase room_output_phase_now(const struct room_context *context)
{
	return room_output_state_now(context).phase;
}

void room_output_tick(struct room_context *context)
{
	struct room_output *output = context->output;
	enum room_output_phase phase = room_output_phase_now(context);

	if (output->phase == phase)
		return;
	output->phase = phase;
	output->at = context->now;
}
