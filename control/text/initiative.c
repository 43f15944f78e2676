/* The bot writes of its own accord (inside.h): in the channels that the settings name, once people
 * there have been quiet for a while, within eagerness, spacing and a limit of the day. One draw for
 * each time that they fall quiet decides whether the model is asked; the model may still skip.
 * Where the limits hold it back for long, it is left out: the talk is over by then. */
#include "control/settings/ids.h"
#include "control/settings/settings.h"
#include "control/text/inside.h"
#include "proto/base/time.h"

#define DAY_NS	  (UINT64_C(86400) * NS_PER_S)
#define MINUTE_NS (60 * NS_PER_S)

/* Times of posts are kept with this added, because those of a control before may lie before the
 * start of the clock. No spacing is longer. */
#define WEEK_NS (7 * DAY_NS)

static uint64_t minus_week(uint64_t ns)
{
	return ns > WEEK_NS ? ns - WEEK_NS : 0;
}

static void note_post(struct text_channel *ch, uint64_t week_at)
{
	unsigned i = ch->n_posts < TEXT_POSTS ? ch->n_posts : TEXT_POSTS - 1;

	if (ch->n_posts == TEXT_POSTS)
		for (unsigned k = 0; k + 1 < TEXT_POSTS; k++)
			ch->post[k] = ch->post[k + 1];
	else
		ch->n_posts++;
	/* Controls before this one tell theirs in no order. */
	for (; i > 0 && ch->post[i - 1] > week_at; i--)
		ch->post[i] = ch->post[i - 1];
	ch->post[i] = week_at;
}

/* When the limits allow the next one. */
static uint64_t allowed_at(const struct settings *s, const struct text_channel *ch)
{
	uint64_t spaced = 0, day = 0;

	if (ch->n_posts)
		spaced = minus_week(ch->post[ch->n_posts - 1] +
				    s->text_initiative_minutes * MINUTE_NS);
	if (ch->n_posts >= s->text_initiative_a_day)
		day = minus_week(ch->post[ch->n_posts - s->text_initiative_a_day] + DAY_NS);
	return spaced > day ? spaced : day;
}

/* What the model could still fit in with: the limits allow it soon enough. */
static bool is_fresh(const struct text_chat *chat, const struct text_channel *ch)
{
	uint64_t until = ch->quiet_from + (TEXT_QUIET_S + TEXT_STALE_S) * NS_PER_S;

	return allowed_at(chat->settings, ch) <= until &&
	       text_queue_allowed_at(chat, ch, 0, true) <= until;
}

/* A thread is one only if it is named itself. */
static bool is_its_channel(const struct settings *s, const struct text_channel *ch)
{
	return settings_ids_name(s->text_initiative_channels, ch->id, 0,
				 ch->parent ? 0 : ch->category);
}

static bool is_wanted(const struct text_chat *chat, const struct text_channel *ch)
{
	const struct settings *s = chat->settings;

	return s->text_initiative && s->text_initiative_eagerness && s->text_initiative_a_day &&
	       ch->guild && ch->quiet_from && !ch->n_queue && !ch->n_results &&
	       ch->reply.state == TEXT_REPLY_NONE && is_its_channel(s, ch) && is_fresh(chat, ch) &&
	       !text_admission_gate(chat, ch, 0);
}

uint64_t text_initiative_deadline(const struct text_chat *chat, const struct text_channel *ch)
{
	uint64_t at, allowed, sends;

	if (!is_wanted(chat, ch))
		return UINT64_MAX;
	at = ch->quiet_from + TEXT_QUIET_S * NS_PER_S;
	allowed = allowed_at(chat->settings, ch);
	sends = text_queue_allowed_at(chat, ch, 0, true);
	at = allowed > at ? allowed : at;
	return sends > at ? sends : at;
}

/* The timer brings what is drawn with. */
void text_initiative_tick(struct text_chat *chat, struct text_channel *ch)
{
	if (!chat->drawn || ch->asked_in == chat->steps ||
	    text_initiative_deadline(chat, ch) > chat->now)
		return;
	ch->quiet_from = 0;
	text_lines_expire(chat, ch);
	if (!ch->n_lines || chat->rnd % 100 >= chat->settings->text_initiative_eagerness)
		return;
	text_reply_initiate(chat, ch);
	text_reply_tick(chat, ch);
}

static void overtake(struct text_chat *chat, struct text_channel *ch)
{
	const struct text_reply *r = &ch->reply;

	if (r->kind != TEXT_KIND_INITIATIVE ||
	    (r->state != TEXT_REPLY_ASKED && r->state != TEXT_REPLY_RETRY))
		return;
	text_reply_abandon(chat, ch);
	text_initiative_record(chat, ch, TEXT_REASON_OVERTAKEN);
}

void text_initiative_heard(struct text_chat *chat, struct text_channel *ch)
{
	ch->quiet_from = chat->now;
	overtake(chat, ch);
}

void text_initiative_unread(struct text_chat *chat, struct text_channel *ch)
{
	if (ch->quiet_from)
		ch->quiet_from = chat->now;
	overtake(chat, ch);
}

void text_initiative_sending(struct text_chat *chat, struct text_channel *ch)
{
	note_post(ch, chat->now + WEEK_NS);
}

void text_initiative_record(struct text_chat *chat, struct text_channel *ch,
			    enum text_reason reason)
{
	struct text_trigger *t = &ch->own[ch->n_own++ % TEXT_OWN];

	*t = (struct text_trigger){.guild = ch->guild,
				   .channel = ch->id,
				   .at = ch->reply.since,
				   .signal = TEXT_SIGNAL_LLM_DECIDES,
				   .attention = TEXT_ATTENTION_COLD_AMBIENT,
				   .admission = TEXT_ADMISSION_INITIATIVE,
				   .reply = ch->reply.id,
				   .reason = reason};
	text_trigger_record(chat, t);
}

void text_initiative_on_event(struct text_chat *chat, struct text_channel *ch,
			      const struct text_event *ev)
{
	uint64_t ago = ev->n * NS_PER_S;

	if (ev->type == TEXT_HEARD)
		text_initiative_unread(chat, ch);
	if (ev->type == TEXT_POSTED && ago < WEEK_NS)
		note_post(ch, chat->now + WEEK_NS - ago);
}

bool text_initiative_counts(const struct text_chat *chat, const struct text_channel *ch)
{
	return ch->n_posts && ch->post[ch->n_posts - 1] > chat->now;
}
