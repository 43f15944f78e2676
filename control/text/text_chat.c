#include "control/text/inside.h"

#include <errno.h>
#include <stdlib.h>

#include "control/room/language/language.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

int text_chat_alloc(struct text_chat **out, const struct settings *settings, const char *name)
{
	struct text_chat *chat;

	if (!out || !settings || !name || !*name)
		return EINVAL;
	chat = calloc(1, sizeof *chat);
	if (!chat)
		return ENOMEM;
	room_language_prepare();
	chat->settings = settings;
	utf8_copy(chat->name, sizeof chat->name, name);
	for (unsigned i = 0; i < TEXT_TRIGGERS; i++)
		chat->free[chat->n_free++] = (uint16_t)(TEXT_TRIGGERS - 1 - i);
	*out = chat;
	return 0;
}

static void clear_channel(struct text_channel *ch)
{
	text_lines_clear(ch);
	text_jobs_forget(ch, 0);
	free(ch->reply.result.text);
	ch->reply.result.text = NULL;
}

struct text_chat *text_chat_free(struct text_chat *chat)
{
	for (unsigned i = 0; chat && i < chat->n_channels; i++) {
		clear_channel(chat->channel[i]);
		free(chat->channel[i]);
	}
	for (unsigned i = 0; chat && i < TEXT_TRIGGERS; i++)
		free(chat->pool[i].t.text);
	if (chat)
		free(chat->cut);
	free(chat);
	return NULL;
}

size_t text_waiting(const struct text_chat *chat)
{
	return TEXT_TRIGGERS - chat->n_free - chat->n_ended;
}

uint64_t text_count(const struct text_chat *chat, enum text_reason reason)
{
	return chat->count[reason];
}

struct text_effect *text_emit(struct text_chat *chat, enum text_effect_type type,
			      const struct text_channel *ch)
{
	/* TEXT_ACTIONS has room for all that a step can do. */
	struct text_effect *e = chat->effects->n < TEXT_ACTIONS
					? &chat->effects->v[chat->effects->n++]
					: &chat->lost;

	*e = (struct text_effect){.type = type};
	if (ch) {
		e->channel = ch->id;
		e->guild = ch->guild;
	}
	return e;
}

/* ---- channels ---- */

size_t text_chat_lines(struct text_chat *chat, uint64_t channel, uint64_t now,
		       const struct text_line **out)
{
	struct text_channel *ch = text_channel_find(chat, channel);

	chat->now = now;

	if (!ch)
		return 0;
	text_lines_expire(chat, ch);
	*out = ch->line;
	return ch->n_lines;
}

static unsigned channel_place(const struct text_chat *chat, uint64_t id)
{
	unsigned i = 0;

	while (i < chat->n_channels && chat->channel_id[i] != id)
		i++;
	return i;
}

struct text_channel *text_channel_find(struct text_chat *chat, uint64_t id)
{
	unsigned i = channel_place(chat, id);

	return i < chat->n_channels ? chat->channel[i] : NULL;
}

/* A question, a call, a result or a limit keeps the channel. */
static bool is_kept(const struct text_chat *chat, const struct text_channel *ch)
{
	bool waits = ch->n_results > 0 || text_initiative_counts(chat, ch);

	for (unsigned i = 0; i < TEXT_AGREEMENTS; i++)
		waits = waits || ch->agreement[i].user;
	for (unsigned i = 0; i < TEXT_JOBS; i++)
		waits = waits || ch->jobs[i].n;
	return waits;
}

bool text_is_answering(struct text_chat *chat, uint64_t channel)
{
	const struct text_channel *ch = text_channel_find(chat, channel);

	return ch && !chat->over && ch->reply.state != TEXT_REPLY_NONE;
}

/* The place of the channel unused for the longest time, in which nothing waits; TEXT_CHANNELS:
 * something waits in all of them. */
static unsigned idle_place(const struct text_chat *chat)
{
	unsigned best = TEXT_CHANNELS;

	for (unsigned i = 0; i < chat->n_channels; i++) {
		const struct text_channel *ch = chat->channel[i];

		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): it is there */
		if (!ch->n_queue && ch->reply.state == TEXT_REPLY_NONE && !is_kept(chat, ch) &&
		    (best == TEXT_CHANNELS || ch->used_at < chat->channel[best]->used_at))
			best = i;
	}
	return best;
}

struct text_channel *text_channel_open(struct text_chat *chat, uint64_t id, uint64_t guild)
{
	struct text_channel *ch = text_channel_find(chat, id);
	unsigned i = chat->n_channels;

	if (!ch && i == TEXT_CHANNELS) {
		i = idle_place(chat);
		if (i == TEXT_CHANNELS)
			return NULL;
		ch = chat->channel[i];
		clear_channel(ch);
		*ch = (struct text_channel){.id = id};
	} else if (!ch) {
		ch = calloc(1, sizeof *ch);
		if (!ch)
			return NULL;
		chat->n_channels++;
	} else {
		ch->used_at = chat->now;
		return ch;
	}
	ch->id = id;
	ch->guild = guild;
	ch->used_at = chat->now;
	chat->channel[i] = ch;
	chat->channel_id[i] = id;
	chat->due[i] = UINT64_MAX;
	return ch;
}

/* ---- the machines ---- */

static const struct machine {
	const char *name;
	/* Each may be NULL. An event goes to every machine; a machine ignores the events of others.
	 */
	void (*on_event)(struct text_chat *chat, struct text_channel *ch,
			 const struct text_event *ev);
	void (*tick)(struct text_chat *chat, struct text_channel *ch);
	uint64_t (*deadline)(const struct text_chat *chat, const struct text_channel *ch);
} machines[] = {
	{"triggers", text_triggers_on_event, NULL, NULL},
	{"cancellation", text_cancel_on_event, NULL, NULL},
	{"agreement", text_agreement_on_event, text_agreement_tick, text_agreement_deadline},
	{"jobs", text_jobs_on_event, NULL, NULL},
	{"admission", text_admission_on_event, text_admission_tick, text_admission_deadline},
	{"reaction", text_reaction_on_event, NULL, NULL},
	{"reply", text_reply_on_event, text_reply_tick, text_reply_deadline},
	{"queue", NULL, text_queue_tick, text_queue_deadline},
	{"initiative", text_initiative_on_event, text_initiative_tick, text_initiative_deadline},
	{"typing", NULL, text_typing_tick, text_typing_deadline},
};

enum { MACHINES = sizeof machines / sizeof machines[0] };

static void tick_channel(struct text_chat *chat, unsigned place)
{
	struct text_channel *ch = chat->channel[place];
	uint64_t due = UINT64_MAX;

	for (unsigned i = 0; i < MACHINES; i++)
		if (machines[i].tick)
			machines[i].tick(chat, ch);
	for (unsigned i = 0; i < MACHINES; i++) {
		uint64_t at = machines[i].deadline ? machines[i].deadline(chat, ch) : UINT64_MAX;

		due = at < due ? at : due;
	}
	chat->due[place] = due;
}

/* An answer is stopped before its messages are reported; one to no message, too. */
static void shut_down(struct text_chat *chat)
{
	for (unsigned i = 0; i < chat->n_channels; i++) {
		struct text_channel *ch = chat->channel[i];

		if (ch->reply.state != TEXT_REPLY_NONE && ch->reply.state != TEXT_REPLY_SENDING) {
			text_reply_abandon(chat, ch);
			if (ch->reply.kind == TEXT_KIND_INITIATIVE)
				text_initiative_record(chat, ch, TEXT_REASON_SHUTDOWN);
		}
		while (ch->n_queue)
			text_trigger_end(chat, ch, ch->queue[0], TEXT_REASON_SHUTDOWN);
	}
	chat->over = true;
}

/* Nothing begins after the end. */
static void take_late(struct text_chat *chat, const struct text_event *ev)
{
	if (ev->type == TEXT_MESSAGE && !ev->noted)
		text_trigger_refuse(chat, ev, NULL, TEXT_REASON_SHUTDOWN);
}

/* The settings of the last moment hold for the place of the last moment. */
static void move_channel(struct text_chat *chat, const struct text_event *ev)
{
	for (unsigned i = 0; i < chat->n_channels; i++) {
		struct text_channel *ch = chat->channel[i];

		if (ch->guild == ev->guild && (ch->id == ev->channel || ch->parent == ev->channel))
			ch->category = ev->category;
	}
}

void text_step(struct text_chat *chat, const struct text_event *ev, uint64_t now,
	       struct text_effects *effects)
{
	struct text_channel *ch;

	effects->n = 0;
	chat->effects = effects;
	chat->now = now;
	chat->steps++;
	chat->drawn = ev->type == TEXT_TIMER;
	chat->rnd = ev->rnd;
	text_triggers_free_ended(chat);
	free(chat->cut);
	chat->cut = NULL;
	if (chat->over) {
		take_late(chat, ev);
	} else if (ev->type == TEXT_SHUTDOWN) {
		shut_down(chat);
	} else if (ev->type == TEXT_FORGET) {
		text_triggers_forget(chat, ev);
	} else if (ev->type == TEXT_GONE) {
		text_triggers_gone(chat, ev->channel);
	} else if (ev->type == TEXT_PLACED) {
		move_channel(chat, ev);
	} else if (ev->type == TEXT_MESSAGE) {
		text_admission_take(chat, ev);
	} else if (ev->type != TEXT_TIMER) {
		ch = ev->type == TEXT_POSTED ? text_channel_open(chat, ev->channel, ev->guild)
					     : text_channel_find(chat, ev->channel);
		for (unsigned i = 0; ch && i < MACHINES; i++)
			if (machines[i].on_event)
				machines[i].on_event(chat, ch, ev);
	}
	for (unsigned i = 0; !chat->over && i < chat->n_channels; i++)
		if (chat->due[i] <= now || chat->channel_id[i] == ev->channel ||
		    ev->type == TEXT_FORGET || ev->type == TEXT_GONE)
			tick_channel(chat, i);
	chat->effects = NULL;
}

uint64_t text_deadline(const struct text_chat *chat)
{
	uint64_t first = UINT64_MAX;

	for (unsigned i = 0; !chat->over && i < chat->n_channels; i++)
		if (chat->due[i] < first)
			first = chat->due[i];
	return first;
}
