#include "control/room/turn/compaction.h"

#include <stdio.h>
#include <string.h>

#include "control/prompts/prompts.def"
#include "control/room/base/context.h"
#include "control/room/turn/history.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

enum { WAIT_S = 30, AGAIN_S = 60, LONGEST_S = 16 * AGAIN_S };

/* True if the line waits to be told in a summary, which everybody may hear. */
static bool is_open(const struct room_compaction *c, const struct room_history_line *l)
{
	return !l->withheld && !l->private_to && l->at > c->until;
}

/* Lines that wait, older than those that a model is told. */
static unsigned count_open(const struct room_compaction *c, const struct room_context *context)
{
	unsigned n = room_history_count(context->history), told = context->settings->context_turns;
	unsigned open = 0;

	for (unsigned i = 0; i + told < n; i++)
		open += is_open(c, room_history_at(context->history, i));
	return open;
}

/* Returns its bytes; 0: it has no place. */
static size_t write_line(const struct room_context *context, const struct room_history_line *l,
			 char *to, size_t size)
{
	char text[ROOM_COMPACT_LINE + 1];
	int n;

	utf8_copy(text, sizeof text, l->text);
	/* A further line of the bot's, too, could pass for somebody else's. */
	utf8_plain(text);
	n = snprintf(to, size, "%s: %s\n", l->bot ? context->name : l->name, text);
	return n > 0 && (size_t)n < size ? (size_t)n : 0;
}

static void ask_summary(struct room_compaction *c, struct room_context *context)
{
	char *prompt = room_text(context, ROOM_COMPACT_PROMPT, ROOM_TEXTS_MANY);
	unsigned n = room_history_count(context->history), told = context->settings->context_turns;
	struct room_effect *e;
	size_t at;

	if (!prompt)
		return;
	at = (size_t)snprintf(prompt, ROOM_COMPACT_PROMPT, PROMPT_SUMMARY,
			      *c->summary ? c->summary : "(nothing)");
	c->asked_outside = c->outside;
	for (unsigned i = 0; i + told < n; i++) {
		const struct room_history_line *l = room_history_at(context->history, i);
		size_t bytes;

		if (!is_open(c, l))
			continue;
		bytes = write_line(context, l, prompt + at, ROOM_COMPACT_PROMPT - at);
		if (!bytes)
			break;
		at += bytes;
		c->asked_outside = c->asked_outside || room_history_is_outside(context, l);
		c->asked_until = l->at;
	}
	prompt[at] = '\0';
	c->asked = true;
	c->over_at = context->now + WAIT_S * NS_PER_S;
	e = room_emit(context, ROOM_DO_COMPACT);
	e->text = room_text_keep(context, prompt);
	e->chunk = ++c->number;
}

/* True if words that were changed went into the summary, or into the one under way. */
static bool holds_edited(const struct room_compaction *c, const struct room_context *context)
{
	uint64_t edited_at = room_history_edited(context->history);

	return edited_at && edited_at <= (c->asked ? c->asked_until : c->until);
}

/* Each time after twice as long, so that nobody who edits messages again and again has a summary of
 * all lines paid each time. */
static uint64_t pause_of(const struct room_compaction *c, uint64_t now)
{
	uint64_t longest = LONGEST_S * NS_PER_S;

	if (!c->pause || now >= c->forgot_at + 2 * longest)
		return AGAIN_S * NS_PER_S;
	return 2 * c->pause < longest ? 2 * c->pause : longest;
}

/* Nobody knows of whose words it is made. The lines that may still be told get another one, later.
 */
static void forget_summary(struct room_compaction *c, const struct room_context *context)
{
	c->summary[0] = '\0';
	c->outside = false;
	c->asked = false;
	c->until = 0;
	c->pause = pause_of(c, context->now);
	c->forgot_at = context->now;
	c->over_at = context->now + c->pause;
}

void room_compaction_on_event(struct room_compaction *c, const struct room_context *context,
			      const struct room_event *ev)
{
	size_t n = ev->text.n < ROOM_COMPACT_SUMMARY ? ev->text.n : ROOM_COMPACT_SUMMARY;

	if (ev->type == ROOM_WITHDRAWN || (ev->type == ROOM_EDITED && holds_edited(c, context)))
		forget_summary(c, context);
	if (ev->type != ROOM_SUMMARY || !c->asked || ev->chunk != c->number)
		return;
	c->asked = false;
	if (!ev->yes || !n) {
		c->over_at = context->now + AGAIN_S * NS_PER_S;
		return;
	}
	memcpy(c->summary, ev->text.p, n);
	c->summary[n] = '\0';
	utf8_mend(c->summary);
	c->until = c->asked_until;
	c->outside = c->asked_outside;
	c->over_at = 0;
}

void room_compaction_tick(struct room_compaction *c, struct room_context *context)
{
	if (context->now < c->over_at)
		return;
	if (c->asked) {
		c->asked = false;
		c->over_at = context->now + AGAIN_S * NS_PER_S;
		return;
	}
	if (context->settings->compact_context &&
	    context->settings->reply_path == SETTINGS_REPLY_BRAIN &&
	    count_open(c, context) >= ROOM_COMPACT_LINES)
		ask_summary(c, context);
}

uint64_t room_compaction_deadline(const struct room_compaction *c,
				  const struct room_context *context)
{
	(void)context;
	return c->asked ? c->over_at : UINT64_MAX;
}

const char *room_compaction_summary(const struct room_compaction *c)
{
	return c->summary;
}

bool room_compaction_is_outside(const struct room_compaction *c)
{
	return c->outside;
}
