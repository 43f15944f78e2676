/* The dispatcher of the room's effects: each goes to the role, the media link or the owner that
 * serves it (agent.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/agent/agent_music.h"
#include "control/agent/agent_screens.h"
#include "control/agent/inside.h"
#include "control/agent/utterance_sound.h"
#include "control/agent/voice_output.h"
#include "control/media/media.h"
#include "control/prompts/prompts.def"
#include "control/room/turn/segment.h"
#include "control/settings/settings.h"
#include "control/tools/registry.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/base/time.h"
#include "proto/media.h"

/* ---- answers ---- */

static bool is_classified(const struct room_effect *e)
{
	return e->type == ROOM_DO_CLASSIFY || e->type == ROOM_DO_CLASSIFY_OVERLAP;
}

/* The budget is spent: nobody is asked. */
static void refuse_ask(struct agent *a, const struct room_effect *e)
{
	static const char why[] = "the budget is spent";

	log_warn("not_asked", "turn=%u why=\"%s\"", e->turn, why);
	agent_feed(a, &(struct room_event){.type = is_classified(e)		? ROOM_CLASSIFIED
						   : e->type == ROOM_DO_COMPACT ? ROOM_SUMMARY
										: ROOM_BRAIN_FAILED,
					   .turn = e->turn,
					   .chunk = e->chunk,
					   .text = slice_str(why)});
}

/* The words of a turn's speakers, as lines. */
enum { LINES_MAX = ROOM_TEXT_MAX + ROOM_SEGMENTS * (ROOM_NAME_MAX + 8) };

/* The sound of the question, and the line before it: all of the question's text but the words.
 * False: the question is text, because several people asked it or no sound of it is kept. */
static bool attach_sound(struct agent *a, const struct room_effect *e, struct slice *sound,
			 char *label, size_t size, size_t *n)
{
	const struct room_turn *t = a->sound ? room_active(a->room) : NULL;
	char lines[LINES_MAX];
	size_t len = strlen(e->text), tail;

	if (!t || t->id != e->turn || !t->segments || room_segment_shared(t))
		return false;
	tail = room_segment_lines(t, lines, sizeof lines);
	if (tail > len || strcmp(e->text + len - tail, lines) != 0)
		return false;
	for (unsigned i = 0; i < t->segments; i++) {
		struct slice pcm = utterance_sound_get(a->sound, t->segment[i].utterance);

		if (!pcm.n)
			return false;
		sound[i] = pcm;
	}
	*n = t->segments;
	snprintf(label, size, "%.*s[%s]:", (int)(len - tail), e->text, t->name);
	return true;
}

/* The slice of the memory stands before the question. A session that knows the conversation so far
 * gets it as an item, unless it is the one that it got last. */
static void tell_memory(struct agent *a, const struct room_effect *e, struct engine_ask *ask,
			struct engine_message *messages)
{
	const struct engine_message m = {.role = ENGINE_USER, .speaker = "", .text = e->memory};
	const struct room_turn *t;

	if (!e->memory || !*e->memory)
		return;
	messages[ask->n++] = m;
	agent_continuity_note_told(a->continuity, e->memory);
	if (a->memory_told && strcmp(a->memory_told, e->memory) == 0)
		return;
	roles_hear(a->roles, &m);
	free(a->memory_told);
	a->memory_told = strdup(e->memory);
	t = room_active(a->room);
	if (t && t->id == e->turn && t->told_private)
		agent_hold_private(a, t->user);
}

/* Screens stand before the question as well. A session gets a picture once, and words
 * about it as they change. */
static void tell_screens(struct agent *a, struct engine_ask *ask, struct engine_message *messages,
			 struct agent_shown *shown)
{
	const struct room_turn *t = room_active(a->room);
	uint64_t speaker = t && t->id == ask->turn ? t->user : 0;
	bool fresh = false, news = false;
	struct engine_message told;

	if (!agent_screens_message(a, speaker, shown, &messages[ask->n], &fresh, &news))
		return;
	agent_tools_show(a->tools, ask->turn);
	agent_screens_note(a, ask->turn);
	told = messages[ask->n++];
	if (!fresh)
		told.n_images = 0;
	if (news)
		roles_hear(a->roles, &told);
}

/* The room makes a call itself when its asker agreed, so the model must not. */
static void tell_agreed(struct agent *a, struct engine_ask *ask, struct engine_message *messages,
			char *note, size_t size)
{
	const char *tool = agent_tools_agreed(a->tools, ask->turn);

	if (!tool)
		return;
	snprintf(note, size, PROMPT_AGREED_CALL, tool);
	messages[ask->n] =
		(struct engine_message){.role = ENGINE_USER, .speaker = "", .text = note};
	roles_hear(a->roles, &messages[ask->n++]);
}

static void ask_reply(struct agent *a, const struct room_effect *e, uint32_t tokens)
{
	struct engine_message messages[ENGINE_MESSAGES_MAX];
	struct slice sound[ENGINE_SOUNDS_MAX];
	struct engine_image pictures[AGENT_PICTURES_SHOWN];
	char *seen = NULL;
	char label[LINES_MAX], note[sizeof PROMPT_AGREED_CALL + TOOLS_NAME_MAX];
	struct engine_ask ask = {.turn = e->turn,
				 .instructions = e->instructions ? e->instructions : "",
				 .instructions_stable = e->stable,
				 .purpose = PURPOSE_VOICE_REPLY,
				 .output_tokens = tokens,
				 .messages = messages};
	struct agent_shown shown;
	/* The slice, screens, what was attached, the note and the question follow. */
	size_t most = ENGINE_MESSAGES_MAX - 5, skip = e->history_n > most ? e->history_n - most : 0;

	for (size_t i = skip; i < e->history_n; i++)
		messages[ask.n++] = (struct engine_message){
			.role = e->history[i].bot ? ENGINE_ASSISTANT : ENGINE_USER,
			.speaker = e->history[i].speaker,
			.text = e->history[i].text};
	tell_memory(a, e, &ask, messages);
	tell_screens(a, &ask, messages, &shown);
	/* A session that knows the conversation so far was shown it when it came. */
	if (agent_pictures_message(a->pictures, e->turn, &messages[ask.n], pictures, &seen))
		ask.n++;
	tell_agreed(a, &ask, messages, note, sizeof note);
	messages[ask.n++] =
		(struct engine_message){.role = ENGINE_USER, .speaker = "", .text = e->text};
	if (attach_sound(a, e, sound, label, sizeof label, &ask.n_sound)) {
		ask.sound = sound;
		ask.sound_label = label;
	}
	roles_ask(a->roles, agent_reply_use(a), 0, &ask);
	free(seen);
}

static void ask_words(struct agent *a, const struct room_effect *e)
{
	const struct engine_message message = {.role = ENGINE_USER, .speaker = "", .text = e->text};
	struct engine_ask ask = {.turn = e->turn, .instructions = "", .messages = &message, .n = 1};

	if (e->type == ROOM_DO_SPEAK) {
		roles_ask(a->roles, ENGINE_USE_SPEECH, e->chunk, &ask);
		return;
	}
	ask.one_word = true;
	ask.purpose =
		e->type == ROOM_DO_CLASSIFY ? PURPOSE_REPLY_DECISION : PURPOSE_INTERRUPT_DECISION;
	ask.deadline = env_now(a->env) + e->ms * NS_PER_MS;
	roles_ask(a->roles,
		  e->type == ROOM_DO_CLASSIFY ? ENGINE_USE_DECISION : ENGINE_USE_INTERRUPTION,
		  e->chunk, &ask);
}

enum { SUMMARY_TOKENS = 256 };

/* The embedded engine knows no summaries. */
static void ask_summary(struct agent *a, const struct room_effect *e)
{
	const struct engine_message message = {.role = ENGINE_USER, .speaker = "", .text = e->text};
	const struct provider_record *p = settings_purpose(a->settings, PURPOSE_MEMORY, 0);

	/* The room waits for one summary at a time: what is left of an earlier one is not a part of
	 * this. */
	roles_cancel(a->roles, ENGINE_USE_SUMMARY, 0);
	a->summary[0] = '\0';
	if (!p || p->dialect == DIALECT_EMBEDDED) {
		agent_feed(a, &(struct room_event){.type = ROOM_SUMMARY, .chunk = e->chunk});
		return;
	}
	roles_ask(a->roles, ENGINE_USE_SUMMARY, e->chunk,
		  &(struct engine_ask){.instructions = "",
				       .purpose = PURPOSE_MEMORY,
				       .output_tokens = SUMMARY_TOKENS,
				       .messages = &message,
				       .n = 1});
}

/* The session learns things in the order in which they are written to it, so nothing needs to
 * wait. */
static void instruct(struct agent *a, const struct room_effect *e)
{
	roles_instruct(a->roles, e->text);
	agent_feed(a, &(struct room_event){.type = ROOM_INSTRUCTED, .chunk = e->chunk});
}

/* An engine that keeps a conversation is told what it listened to. */
static void overhear(struct agent *a, const struct room_turn *t)
{
	char line[LINES_MAX];

	room_segment_lines(t, line, sizeof line);
	roles_hear(a->roles,
		   &(struct engine_message){.role = ENGINE_USER, .speaker = "", .text = line});
}

/* False: the effect is for no engine that answers. */
static bool perform_answer(struct agent *a, const struct room_effect *e)
{
	bool asks = e->type == ROOM_DO_ASK || e->type == ROOM_DO_ASK_AGAIN ||
		    e->type == ROOM_DO_COMPACT || is_classified(e);
	uint32_t tokens = 0;

	if (asks && !agent_may_spend(a, &tokens)) {
		refuse_ask(a, e);
		return true;
	}
	switch (e->type) {
	case ROOM_DO_INSTRUCT:
		instruct(a, e);
		break;
	case ROOM_DO_ASK:
		agent_keep_context(a, e);
		agent_tools_effect(a->tools, e);
		ask_reply(a, e, tokens);
		break;
	case ROOM_DO_ASK_AGAIN:
		agent_tools_effect(a->tools, e);
		if (a->tools)
			agent_tools_ask_again(a->tools, e->turn);
		else
			roles_ask_again(a->roles, agent_reply_use(a), e->turn);
		break;
	case ROOM_DO_BRAIN_CANCEL:
		roles_cancel(a->roles, ENGINE_USE_VOICE, e->turn);
		roles_cancel(a->roles, ENGINE_USE_REPLY, e->turn);
		break;
	case ROOM_DO_BRAIN_TRUNCATE:
		roles_truncate(a->roles, e->turn, e->ms, e->text);
		break;
	case ROOM_DO_ADDRESSEE:
		if (agent_may_spend(a, &tokens))
			roles_aside(a->roles, e->turn, e->text);
		break;
	case ROOM_DO_OVERHEARD:
		overhear(a, e->record);
		break;
	case ROOM_DO_COMPACT:
		ask_summary(a, e);
		break;
	case ROOM_DO_SPEAK:
	case ROOM_DO_CLASSIFY:
	case ROOM_DO_CLASSIFY_OVERLAP:
		ask_words(a, e);
		break;
	case ROOM_DO_SPEAK_CANCEL:
		roles_cancel(a->roles, ENGINE_USE_SPEECH, e->turn);
		break;
	default:
		return false;
	}
	return true;
}

/* ---- transcription ---- */

static void lose_transcript(struct agent *a, uint64_t user, uint32_t utterance, int err)
{
	agent_feed(a, &(struct room_event){.type = ROOM_TRANSCRIPT_FAILED,
					   .user = user,
					   .utterance = utterance,
					   .text = slice_str(strerror(err))});
}

/* False: the effect is not about an utterance. */
static bool perform_sound(struct agent *a, const struct room_effect *e)
{
	struct engine_sound sound = {.user = e->user, .utterance = e->utterance, .pcm = e->pcm};
	int err;

	agent_recordings_effect(a, e);
	if (a->sound && e->type == ROOM_DO_ASR_APPEND)
		utterance_sound_add(a->sound, e->utterance, e->pcm);
	else if (a->sound && e->type == ROOM_DO_ASR_CANCEL)
		utterance_sound_drop(a->sound, e->utterance);
	switch (e->type) {
	case ROOM_DO_ASR_START:
		sound.type = ENGINE_SOUND_START;
		break;
	case ROOM_DO_ASR_APPEND:
		sound.type = ENGINE_SOUND_APPEND;
		break;
	case ROOM_DO_ASR_PROMOTE:
		sound.type = ENGINE_SOUND_SPEECH;
		break;
	case ROOM_DO_ASR_COMMIT:
		roles_wake(a->roles);
		sound.type = ENGINE_SOUND_COMMIT;
		break;
	case ROOM_DO_ASR_INTERIM:
		sound.type = ENGINE_SOUND_INTERIM;
		break;
	case ROOM_DO_ASR_RECORDING:
		sound.type = ENGINE_SOUND_FILE;
		break;
	case ROOM_DO_ASR_CANCEL:
		sound.type = ENGINE_SOUND_CANCEL;
		break;
	case ROOM_DO_ASR_CLOSE:
		sound.type = ENGINE_SOUND_CLOSE;
		sound.left = strcmp(e->text, "user_left") == 0;
		break;
	default:
		return false;
	}
	err = roles_sound(a->roles, &sound);
	if (err && e->type == ROOM_DO_ASR_START)
		log_warn("asr_start_failed", "error=\"%s\"", strerror(err));
	if (err && (e->type == ROOM_DO_ASR_COMMIT || e->type == ROOM_DO_ASR_RECORDING))
		lose_transcript(a, e->user, e->utterance, err);
	return true;
}

void agent_flush(struct agent *a)
{
	uint64_t user = 0;
	uint32_t utterance = 0;
	int err = roles_flush(a->roles, &user, &utterance);

	if (err)
		lose_transcript(a, user, utterance, err);
}

/* ---- the rest ---- */

const char *agent_language(const struct agent *a)
{
	return room_language_now(a->room);
}

void agent_leave(struct agent *a, const char *why)
{
	struct words words = {0};

	snprintf(a->ended, sizeof a->ended, "%s", why);
	words_speak(&words, room_language_now(a->room));
	words_end(&words, why);
	if (words.n && a->tellh)
		a->tellh(&words, a->arg);
	if (a->leaveh)
		a->leaveh(a->arg);
}

/* False: the effect is not about the bot's voice or about what it listens to. */
static bool perform_media(struct agent *a, const struct room_effect *e)
{
	switch (e->type) {
	case ROOM_DO_LISTEN:
		if (media_call_listen(a->call, e->user, ROOM_RATE, (uint16_t)e->ms))
			log_warn("listen_delayed", "user=%llu error=memory",
				 (unsigned long long)e->user);
		break;
	case ROOM_DO_UNLISTEN:
		media_call_listen(a->call, e->user, 0, 0);
		break;
	case ROOM_DO_SAY_PCM:
	case ROOM_DO_SAY_OPEN:
	case ROOM_DO_SAY_END:
	case ROOM_DO_SAY_STOP:
		if (!e->turn)
			media_call_stop_inherited(a->call);
		else
			voice_output_do(a->output, e);
		if (e->turn && e->type == ROOM_DO_SAY_STOP)
			agent_sounds_effect(a->sounds, e);
		break;
	case ROOM_DO_SAY_PAUSE:
	case ROOM_DO_SAY_RESUME:
	case ROOM_DO_SAY_GAIN:
		voice_output_do(a->output, e);
		agent_sounds_effect(a->sounds, e);
		break;
	case ROOM_DO_SOUNDBOARD:
		agent_sounds_effect(a->sounds, e);
		break;
	default:
		return false;
	}
	return true;
}

void agent_perform(struct agent *a, const struct room_effect *e)
{
	if (perform_sound(a, e) || perform_answer(a, e) || perform_media(a, e))
		return;
	switch (e->type) {
	case ROOM_DO_NOTE:
		log_debug("note", "turn=%u characters=%zu", e->turn, strlen(e->text));
		break;
	case ROOM_DO_TELL:
		if (a->tellh)
			a->tellh(e->words, a->arg);
		break;
	case ROOM_DO_ADMIT:
		log_debug("turn_admitted", "id=%u rule=%s", e->record->id, e->text);
		break;
	case ROOM_DO_DEFER:
		log_debug("turn_deferred", "id=%u rule=%s", e->record->id, e->text);
		break;
	case ROOM_DO_LEAVE:
		agent_leave(a, e->text);
		break;
	case ROOM_DO_RECORD:
		agent_tools_effect(a->tools, e);
		agent_sounds_over(a->sounds, e->record);
		agent_record_turn(a, e->record);
		break;
	case ROOM_DO_TOOL_CANCEL:
		agent_tools_effect(a->tools, e);
		break;
	case ROOM_DO_RETRIEVE:
		agent_retrieval_begin(a->retrieval, e);
		break;
	case ROOM_DO_RENEW:
		agent_renew_voice(a);
		break;
	case ROOM_DO_MUSIC:
	case ROOM_DO_CHOOSE:
		agent_music_effect(a->music, e);
		break;
	default:
		break;
	}
}
