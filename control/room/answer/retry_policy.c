#include "control/room/answer/retry_policy.h"

#include "control/settings/settings.h"
#include "proto/base/time.h"

static bool is_waiting(const struct room_retry *l)
{
	return l->asked_at && !l->heard;
}

void room_retry_asked(struct room_retry *l, uint64_t now)
{
	l->asked_at = now;
	l->done_at = l->life_at = 0;
	l->tools = 0;
	l->outputs = l->quiet = false;
}

void room_retry_word(struct room_retry *l, uint64_t now)
{
	l->life_at = now;
}

void room_retry_tool(struct room_retry *l, bool on, bool follows, uint64_t now)
{
	if (on) {
		l->tools++;
	} else if (l->tools) {
		l->tools--;
		l->outputs = l->outputs || follows;
		l->quiet = l->quiet || !follows;
	}
	l->life_at = now;
}

void room_retry_audio(struct room_retry *l)
{
	l->heard = true;
}

bool room_retry_done(struct room_retry *l, uint64_t now)
{
	if (!is_waiting(l) || l->tools || l->quiet)
		return false;
	l->done_at = now;
	return true;
}

/* The end of the permitted silence; while tools work only the watchdog counts. */
static uint64_t silence_deadline(const struct room_retry *l, const struct settings *s)
{
	if (l->done_at)
		return l->done_at + s->silent_done_ms * NS_PER_MS;
	return l->tools ? UINT64_MAX : l->asked_at + s->silent_ms * NS_PER_MS;
}

static uint64_t watchdog_deadline(const struct room_retry *l, const struct settings *s)
{
	if (l->tools)
		return l->life_at + s->tool_ms * NS_PER_MS;
	return l->life_at ? UINT64_MAX : l->asked_at + s->first_audio_ms * NS_PER_MS;
}

/* Live speech postpones the retry, up to a limit. */
static uint64_t retry_due(const struct room_retry *l, const struct settings *s,
			  uint64_t blocked_until)
{
	uint64_t silent = silence_deadline(l, s), most;

	if (silent == UINT64_MAX)
		return silent;
	most = silent + s->hold_ms * NS_PER_MS;
	if (blocked_until > most)
		blocked_until = most;
	return blocked_until > silent ? blocked_until : silent;
}

uint64_t room_retry_deadline(const struct room_retry *l, const struct settings *s,
			     uint64_t blocked_until)
{
	uint64_t silent, dog;

	if (!is_waiting(l))
		return UINT64_MAX;
	silent = retry_due(l, s, blocked_until);
	dog = watchdog_deadline(l, s);
	return silent < dog ? silent : dog;
}

enum room_retry_step room_retry_tick(struct room_retry *l, const struct settings *s,
				     uint64_t blocked_until, uint64_t now)
{
	if (!is_waiting(l))
		return ROOM_RETRY_WAIT;
	if (now >= watchdog_deadline(l, s))
		return ROOM_RETRY_WATCHDOG;
	if (now < retry_due(l, s, blocked_until))
		return ROOM_RETRY_WAIT;
	if (l->retries < s->response_retries) {
		l->retries++;
		room_retry_asked(l, now);
		return ROOM_RETRY_AGAIN;
	}
	if (!l->recovered) {
		l->recovered = true;
		room_retry_asked(l, now);
		return ROOM_RETRY_RECOVER;
	}
	return ROOM_RETRY_GIVE_UP;
}

unsigned room_retry_tools(const struct room_retry *l)
{
	return l->tools;
}
