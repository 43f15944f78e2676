/* What is kept of a turn: the log line, the turn file, the counts of /status (agent.h). */
#include <stdio.h>
#include <string.h>

#include "control/agent/inside.h"
#include "control/agent/voice_output.h"
#include "control/media/media.h"
#include "control/settings/settings.h"
#include "ipc/log.h"
#include "proto/base/time.h"

void agent_tell_turn(struct agent *a, const struct room_turn *t, enum turns_stage stage)
{
	const struct media_want *where = media_call_want(a->call);

	struct room_turn silent;

	if (!a->settings->turns_words) {
		silent = *t;
		silent.transcript[0] = silent.answer[0] = '\0';
		t = &silent;
	}
	turns_write(a->env, a->settings->turns_file, t, stage, where->guild, where->channel);
}

/* Turns that ended badly. */
static void tell_fault(struct agent *a, const struct room_turn *t)
{
	static const struct {
		enum room_reason reason;
		enum fault fault;
	} table[] = {{ROOM_REASON_ASR_FAILED, FAULT_SPEECH},
		     {ROOM_REASON_PLAYBACK_FAILED, FAULT_PLAYBACK},
		     {ROOM_REASON_EXPIRED, FAULT_LATE}};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if (table[i].reason == t->reason)
			agent_fault(a, table[i].fault, FAULT_IS_ONCE);
}

/* Words for the log: inside quotes, so without any of their own. */
static void quoted(const struct agent *a, const char *text, char *buf, size_t size)
{
	if (!a->settings->log_words) {
		snprintf(buf, size, "(%zu characters)", strlen(text));
		return;
	}
	snprintf(buf, size, "%s", text);
	for (; *buf; buf++)
		if (*buf == '"' || (unsigned char)*buf < 0x20)
			*buf = *buf == '"' ? '\'' : ' ';
}

void agent_record_turn(struct agent *a, const struct room_turn *t)
{
	char heard[ROOM_TEXT_MAX], said[ROOM_TEXT_MAX];
	char why[4096];
	int64_t ms = -1;

	if (t->first_audio_at && t->end_of_speech_at && t->first_audio_at > t->end_of_speech_at)
		ms = (int64_t)((t->first_audio_at - t->end_of_speech_at) / NS_PER_MS);
	quoted(a, t->transcript, heard, sizeof heard);
	quoted(a, t->answer, said, sizeof said);
	log_info("turn",
		 "id=%u user=%llu heard=\"%s\" reason=%s said=\"%s\" "
		 "end_of_speech_to_first_audio_ms=%lld",
		 t->id, (unsigned long long)t->user, heard, room_reason_name(t->reason), said,
		 (long long)ms);
	if (room_why(a->room, t->id, why, sizeof why) == 0)
		log_debug("turn_why", "id=%u why=\"%s\"", t->id, why);
	agent_tell_turn(a, t, TURNS_ENDED);
	a->turns++;
	a->last_turn = t->id;
	a->last_reason = t->reason;
	if (ms >= 0)
		status_delay(&a->delays, (uint32_t)ms);
	tell_fault(a, t);
	/* Its words went into another turn, or were taken back: it never was. */
	if (t->asked_at && room_turn_replaced(t))
		roles_forget(a->roles, t->id);
	voice_output_over(a->output, t->id);
}
