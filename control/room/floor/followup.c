#include "control/room/floor/followup.h"

#include <stdio.h>

#include "control/room/base/context.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

enum { TOOL_S = 120 };

void room_followup_tool(struct room_followup *f, const struct settings *s, bool on, uint64_t user,
			uint64_t now)
{
	if (!room_followup_tools_until(f, now))
		f->tools = 0; /* a tool that never reported its end */
	if (!on && !f->tools)
		return;
	f->tools += on ? 1 : -1u;
	if (on)
		f->tool_user = user;
	f->tool_until = now + (f->tools ? TOOL_S * NS_PER_S : s->tool_follow_ms * NS_PER_MS);
}

/* At most TOOLS_OPEN users can have jobs, one per open call. */
static void set_jobs(struct room_followup *f, uint64_t user, uint32_t n)
{
	unsigned at = ROOM_JOB_OWNERS;

	for (unsigned i = 0; i < ROOM_JOB_OWNERS; i++)
		if (f->jobs[i].n && f->jobs[i].user == user)
			at = i;
	for (unsigned i = 0; i < ROOM_JOB_OWNERS && at == ROOM_JOB_OWNERS; i++)
		if (!f->jobs[i].n)
			at = i;
	if (at == ROOM_JOB_OWNERS)
		return;
	f->jobs[at].user = user;
	f->jobs[at].n = n;
}

unsigned room_followup_jobs(const struct room_followup *f, uint64_t user)
{
	unsigned n = 0;

	for (unsigned i = 0; i < ROOM_JOB_OWNERS; i++)
		if (!user || f->jobs[i].user == user)
			n += f->jobs[i].n;
	return n;
}

void room_followup_on_event(struct room_followup *f, const struct room_context *context,
			    const struct room_event *ev)
{
	if (ev->type == ROOM_TOOL)
		room_followup_tool(f, context->settings, ev->yes, ev->user, context->now);
	else if (ev->type == ROOM_TOOL_JOBS)
		set_jobs(f, ev->user, ev->chunk);
}

void room_followup_interrupted(struct room_followup *f, const struct room_turn *turn, uint64_t now)
{
	if (!turn->interrupted_by)
		return;
	f->cut_user = turn->interrupted_by;
	f->interrupting_utterance = turn->interrupting_utterance;
	f->cut_at = now;
	utf8_copy(f->cut_said, sizeof f->cut_said, turn->answer);
}

void room_followup_answered(struct room_followup *f)
{
	f->cut_at = 0;
}

uint64_t room_followup_tools_until(const struct room_followup *f, uint64_t now)
{
	return f->tools && f->tool_until > now ? f->tool_until : 0;
}

uint64_t room_followup_tool_owner(const struct room_followup *f, uint64_t now)
{
	return f->tool_until > now ? f->tool_user : 0;
}

uint64_t room_followup_interrupted_since(const struct room_followup *f, const struct settings *s,
					 uint64_t user, uint64_t now)
{
	uint64_t ms = f->cut_at && f->cut_user == user ? (now - f->cut_at) / NS_PER_MS : UINT64_MAX;

	return ms <= s->barge_in_follow_ms ? ms : UINT64_MAX;
}

bool room_followup_interrupted_with(const struct room_followup *f, const struct settings *s,
				    uint64_t user, uint32_t utterance, uint64_t now)
{
	return f->interrupting_utterance == utterance &&
	       room_followup_interrupted_since(f, s, user, now) != UINT64_MAX;
}

size_t room_followup_recovery(const struct room_followup *f, const struct settings *s,
			      const struct room_turn *turn, uint64_t now, char *buf, size_t size)
{
	buf[0] = '\0';
	if (!*f->cut_said || room_followup_interrupted_since(f, s, turn->user, now) == UINT64_MAX)
		return 0;
	return (size_t)snprintf(buf, size, "(%s spoke over you. Heard of it was: \"%s\")\n",
				turn->name, f->cut_said);
}

uint32_t room_followup_interruption(const struct room_followup *f)
{
	return f->interrupting_utterance;
}

uint64_t room_followup_interrupted_at(const struct room_followup *f)
{
	return f->cut_at;
}
