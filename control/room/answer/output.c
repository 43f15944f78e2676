/* The output: brings an answer from the brain to the playback.
 *
 *   active turn   the brain's audio   playback       output state
 *   none          -                   -              idle
 *   ASKED         none                -              pending
 *   ASKED         held back           not open       pending (is it "I did not catch that"?)
 *   SPEAKING      released            not started    pending
 *   SPEAKING      released            started        speaking
 *   SPEAKING      complete            started        speaking, until drained
 *   CLOSING       cancelled           stopping       fading
 *
 * A guest tells each speaker only rarely that it did not understand. The words of an answer show
 * whether it is that; so a guest's answer is held back until enough words or enough audio arrived.
 */
#include "control/room/inside.h"

#include "proto/base/time.h"

enum { TELL_CHARS = 40, TELL_MS = 400, DRAIN_SLACK_S = 5 };

/* Fills in an ASK. */
static void write_prompt(struct room *room, const struct room_turn *turn, struct room_effect *e)
{
	struct room_prompt_view view = {.history = &room->history,
					.moments = &room->moments,
					.followup = &room->followup,
					.planned = room_reply_planned(&room->reply)};

	room_prompt_ask(&room->context, &view, turn, e);
}

void room_answer_ask(struct room_context *context, struct room_turn *turn)
{
	struct room *room = room_of(context);
	struct room_effect *e;

	room->active = turn;
	turn->phase = ROOM_PHASE_ASKED;
	turn->asked_at = room->context.now;
	turn->deadline = room->context.now + room->context.settings->first_audio_ms * NS_PER_MS;
	turn->sinks |= ROOM_SINK_BRAIN;
	turn->policy = room_interruption_policy(room->context.settings->interruptions,
						ROOM_TARGET_UNTOLD, 0, turn->user);
	room_reply_begin(&room->reply, &room->context, turn);
	room_watchdog_asked(&room->retry, &room->context, turn);
	room_turn_decide(
		turn, ROOM_RULE_ASKED, true,
		turn->end_of_speech_at < room->context.now
			? (int64_t)((room->context.now - turn->end_of_speech_at) / NS_PER_MS)
			: 0,
		0);
	e = room_emit(&room->context, ROOM_DO_ASK);
	e->turn = turn->id;
	e->user = turn->user;
	write_prompt(room, turn, e);
}

void room_answer_ask_again(struct room_context *context, struct room_turn *turn, bool anew)
{
	struct room *room = room_of(context);
	struct room_effect *e;

	if (anew && (turn->sinks & ROOM_SINK_BRAIN))
		room_emit(context, ROOM_DO_BRAIN_CANCEL)->turn = turn->id;
	turn->sinks |= ROOM_SINK_BRAIN;
	turn->answer[0] = '\0';
	room_reply_begin(&room->reply, &room->context, turn);
	e = room_emit(context, anew ? ROOM_DO_ASK : ROOM_DO_ASK_AGAIN);
	e->turn = turn->id;
	e->user = turn->user;
	if (anew)
		write_prompt(room, turn, e);
}

bool room_answer_planned(const struct room_context *context)
{
	return room_reply_planned(&room_of(context)->reply);
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

static bool says_not_understood(const struct room *room, const struct room_turn *t)
{
	char said[TELL_CHARS * 4], phrase[128];

	normalise_text(t->answer, said, sizeof said);
	normalise_text(room->context.settings->not_understood, phrase, sizeof phrase);
	return *phrase && strstr(said, phrase);
}

void room_answer_open_playback(struct room_context *context, struct room_turn *t)
{
	struct room *room = room_of(context);

	room_reply_open(&room->reply);
	room_barge_in_reset(room);
	t->released = true;
	t->phase = ROOM_PHASE_SPEAKING;
	t->deadline = room->context.now + room->context.settings->stall_ms * NS_PER_MS;
	room_emit(&room->context, ROOM_DO_SAY_OPEN)->turn = t->id;
}

/* The entry of this speaker; else a free one, or the oldest, emptied. */
static struct room_not_understood *find_not_understood(struct room *room, uint64_t user)
{
	struct room_not_understood *oldest = &room->not_understood[0];

	for (unsigned i = 0; i < ROOM_SPEAKERS; i++) {
		struct room_not_understood *x = &room->not_understood[i];

		if (x->user == user)
			return x;
		if (oldest->user && (!x->user || x->at < oldest->at))
			oldest = x;
	}
	oldest->user = 0;
	return oldest;
}

/* Returns true if it cancelled the turn. */
static bool limit_not_understood(struct room *room, struct room_turn *t)
{
	struct room_not_understood *told = find_not_understood(room, t->user);
	uint64_t limit = room->context.settings->not_understood_s, since = limit;

	if (told->user)
		since = (room->context.now - told->at) / NS_PER_S;
	room_turn_decide(t, ROOM_RULE_NOT_UNDERSTOOD_RARE, since >= limit, (int64_t)since,
			 (int64_t)limit);
	if (since < limit) {
		room_turn_cancel(&room->context, t, ROOM_REASON_NOT_UNDERSTOOD);
		return true;
	}
	*told = (struct room_not_understood){.user = t->user, .at = room->context.now};
	return false;
}

/* Decides whether an answer with audio may be heard now. */
static void decide_release(struct room *room, struct room_turn *t)
{
	bool told = strlen(t->answer) >= TELL_CHARS || t->brain_done ||
		    t->samples >= TELL_MS * ROOM_RATE / 1000;

	t->not_understood = says_not_understood(room, t);
	if (!t->samples || (room->context.guest && !told && !t->not_understood) ||
	    room_reply_undecided(&room->reply) || room_speculative_holds(&room->context, t->id))
		return;
	if (room->context.guest && t->not_understood && limit_not_understood(room, t))
		return;
	room_turn_decide(t, ROOM_RULE_FIRST_AUDIO, true,
			 (int64_t)((room->context.now - t->asked_at) / NS_PER_MS),
			 room->context.settings->first_audio_ms);
	room_answer_open_playback(&room->context, t);
}

/* The answer is complete. */
static void complete_answer(struct room *room, struct room_turn *t)
{
	if (!t->released)
		decide_release(room, t);
	if (t->phase == ROOM_PHASE_ENDED || room_speculative_holds(&room->context, t->id))
		return;
	if (!t->released) {
		t->sinks &= ~(unsigned)ROOM_SINK_PLAYBACK;
		room_turn_end(&room->context, t,
			      t->brain_broke ? ROOM_REASON_BRAIN_FAILED : ROOM_REASON_NO_ANSWER);
		return;
	}
	room_emit(&room->context, ROOM_DO_SAY_END)->turn = t->id;
	t->deadline =
		room->context.now + t->samples * NS_PER_S / ROOM_RATE + DRAIN_SLACK_S * NS_PER_S;
}

static void end_brain_answer(struct room *room, struct room_turn *t, bool broke)
{
	if (!broke && !room_reply_skips(&room->reply) &&
	    room_watchdog_done(&room->retry, &room->context, t))
		return;
	t->brain_done = true;
	t->brain_broke = broke;
	t->sinks &= ~(unsigned)ROOM_SINK_BRAIN;
	if (broke && room_speculative_failed(room, t))
		return;
	if (room_reply_planned(&room->reply) && !t->released)
		decide_release(room, t);
	if (!is_answering(t, t->id))
		return;
	room_reply_complete(&room->reply, &room->context, t);
	if (room_reply_planned(&room->reply))
		return;
	if (room_reply_skips(&room->reply)) {
		room_turn_cancel(&room->context, t, ROOM_REASON_NO_ANSWER);
		return;
	}
	complete_answer(room, t);
}

void room_answer_release(struct room *room, struct room_turn *t)
{
	if (t->brain_done && !room_reply_planned(&room->reply))
		complete_answer(room, t);
	else if (!t->released)
		decide_release(room, t);
	if (is_answering(t, t->id))
		room_reply_released(&room->reply, &room->context, t);
}

/* Forwards audio of the answer to the playback, which is opened once the answer is released. */
static void forward_audio(struct room *room, struct room_turn *t, uint32_t chunk, struct slice pcm)
{
	struct room_effect *e;

	room_reply_add_audio(&room->reply, t, chunk, pcm.n / 2);
	room_retry_audio(&room->retry);
	t->sinks |= ROOM_SINK_PLAYBACK;
	e = room_emit(&room->context, ROOM_DO_SAY_PCM);
	e->turn = t->id;
	e->pcm = pcm;
	if (t->released && !room_reply_is_open(&room->reply))
		room_answer_open_playback(&room->context, t);
}

/* More of the answer arrived: decides whether it may be heard, or waits for more. */
static void continue_answer(struct room *room, struct room_turn *t)
{
	if (!is_answering(t, t->id))
		return;
	if (!t->released)
		decide_release(room, t);
	/* Audio arrived, though held back; from now on the rest of the answer is awaited. */
	if (is_answering(t, t->id) && !t->brain_done && (t->released || t->samples))
		t->deadline = room->context.now + room->context.settings->stall_ms * NS_PER_MS;
}

static void step_brain(struct room *room, const struct room_event *ev)
{
	struct room_turn *t = room->active;

	if (!is_answering(t, ev->turn) || t->brain_done)
		return;
	switch (ev->type) {
	case ROOM_BRAIN_AUDIO:
		if (ev->pcm.n < 2 || room_reply_planned(&room->reply))
			return;
		forward_audio(room, t, 0, ev->pcm);
		break;
	case ROOM_BRAIN_TEXT:
		room_retry_word(&room->retry, room->context.now);
		room_reply_add_text(&room->reply, &room->context, t, ev->text);
		break;
	case ROOM_BRAIN_DONE:
	case ROOM_BRAIN_FAILED:
		end_brain_answer(room, t, ev->type == ROOM_BRAIN_FAILED);
		return;
	default:
		return;
	}
	continue_answer(room, t);
}

static void step_speech(struct room *room, const struct room_event *ev)
{
	struct room_turn *t = room->active;

	if (!is_answering(t, ev->turn) || !room_reply_on_event(&room->reply, &room->context, t, ev))
		return;
	forward_audio(room, t, ev->chunk, ev->pcm);
	continue_answer(room, t);
}

static enum room_reason choose_end_reason(const struct room *room, const struct room_turn *t,
					  bool drained)
{
	if (!drained)
		return room->context.up ? ROOM_REASON_PLAYBACK_FAILED : ROOM_REASON_CALL_LOST;
	if (t->brain_broke)
		return ROOM_REASON_BRAIN_FAILED;
	return t->not_understood ? ROOM_REASON_NOT_UNDERSTOOD : ROOM_REASON_ANSWERED;
}

static void step_playback(struct room *room, const struct room_event *ev)
{
	struct room_turn *t = room->active;

	if (!t || t->id != ev->turn || !t->released)
		return;
	if (ev->type == ROOM_SAY_STARTED) {
		if (!t->first_audio_at)
			t->first_audio_at = ev->at;
		room_reply_started(&room->reply, ev->at);
		return;
	}
	if (ev->type == ROOM_SAY_DRAINED && room_reply_planned(&room->reply) &&
	    is_answering(t, ev->turn)) {
		t->sinks &= ~(unsigned)ROOM_SINK_PLAYBACK;
		room_reply_drained(&room->reply, &room->context, t, ev->samples);
		return;
	}
	t->samples_played = room_reply_drained_samples(&room->reply) + ev->samples;
	if (t->samples_played > t->samples)
		t->samples_played = t->samples;
	t->sinks &= ~(unsigned)ROOM_SINK_PLAYBACK;
	if (t->sinks & ROOM_SINK_BRAIN) {
		t->sinks &= ~(unsigned)ROOM_SINK_BRAIN;
		room_emit(&room->context, ROOM_DO_BRAIN_CANCEL)->turn = t->id;
	}
	if (t->sinks & ROOM_SINK_TTS)
		room_emit(&room->context, ROOM_DO_SPEAK_CANCEL)->turn = t->id;
	room_turn_end(&room->context, t, choose_end_reason(room, t, ev->type == ROOM_SAY_DRAINED));
}

void room_output_on_event(struct room *room, const struct room_event *ev)
{
	switch (ev->type) {
	case ROOM_BRAIN_AUDIO:
	case ROOM_BRAIN_TEXT:
	case ROOM_BRAIN_DONE:
	case ROOM_BRAIN_FAILED:
		step_brain(room, ev);
		break;
	case ROOM_SPEECH_AUDIO:
	case ROOM_SPEECH_WORD:
	case ROOM_SPEECH_DONE:
	case ROOM_SPEECH_FAILED:
	case ROOM_SOUND_DONE:
		step_speech(room, ev);
		break;
	case ROOM_SAY_STARTED:
	case ROOM_SAY_DRAINED:
	case ROOM_SAY_STOPPED:
		step_playback(room, ev);
		break;
	default:
		break;
	}
}

struct room_output_state room_output_state_now(const struct room *room)
{
	const struct room_turn *active = room->active;

	return room_output_derive(&room->context, active && room_barge_in_paused(room, active->id),
				  room_retry_tools(&room->retry));
}

void room_output_tick(struct room *room)
{
	room_output_enter(&room->output, room_output_state_now(room).phase, room->context.now);
}
