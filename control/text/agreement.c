/* Questions for a yes to a call of a tool, answered in writing or by a button, by their asker alone
 * (inside.h). The call itself is kept by the run of tools (control/tools/policy.h). */
#include <string.h>

#include "control/settings/settings.h"
#include "control/text/inside.h"
#include "control/tools/agreement.h"
#include "proto/base/time.h"

enum { TEXT_YES_MAX = 200 /* bytes; no yes is longer */ };

static void end_agreement(struct text_chat *chat, struct text_channel *ch, struct text_agreement *q,
			  bool yes)
{
	struct text_effect *e = text_emit(chat, TEXT_DO_AGREE, ch);

	e->message = q->message;
	e->user = q->user;
	e->yes = yes;
	*q = (struct text_agreement){0};
}

static struct text_agreement *find_agreement(struct text_channel *ch, uint64_t user)
{
	for (unsigned i = 0; user && i < TEXT_AGREEMENTS; i++)
		if (ch->agreement[i].user == user)
			return &ch->agreement[i];
	return NULL;
}

void text_agreement_withdraw_all(struct text_chat *chat, struct text_channel *ch)
{
	for (unsigned i = 0; i < TEXT_AGREEMENTS; i++)
		if (ch->agreement[i].user)
			end_agreement(chat, ch, &ch->agreement[i], false);
}

bool text_agreement_withdraw(struct text_chat *chat, struct text_channel *ch, uint64_t user)
{
	struct text_agreement *q = find_agreement(ch, user);

	if (q)
		end_agreement(chat, ch, q, false);
	return q != NULL;
}

/* Each person has one call that waits. */
void text_agreement_asked(struct text_chat *chat, struct text_channel *ch, uint64_t message,
			  uint64_t user, const struct text_request *request)
{
	struct text_agreement *q = &ch->agreement[0];

	text_agreement_withdraw(chat, ch, user);
	for (unsigned i = 1; i < TEXT_AGREEMENTS; i++)
		if (q->user && ch->agreement[i].until < q->until)
			q = &ch->agreement[i];
	if (q->user)
		end_agreement(chat, ch, q, false);
	*q = (struct text_agreement){.message = message,
				     .request = *request,
				     .user = user,
				     .until = chat->now + TEXT_YES_S * NS_PER_S};
}

/* A mention of the bot is read as its name on Discord. */
static bool is_yes(const struct text_chat *chat, const char *text)
{
	char words[TEXT_YES_MAX];

	if (strlen(text) >= sizeof words)
		return false;
	for (size_t i = 0; i <= strlen(text); i++)
		words[i] = text[i] == '@' ? ' ' : text[i];
	return tool_agrees(words, chat->settings->bot_name) || tool_agrees(words, chat->nickname) ||
	       tool_agrees(words, chat->name);
}

/* Other people may be called "Yes", "Jo" or "Claro": their names agree to nothing, and what stands
 * beside the asker's own words may disagree. */
static bool agrees(const struct text_chat *chat, const struct text_event *ev)
{
	return is_yes(chat, ev->text) && is_yes(chat, text_names_said(ev));
}

/* A yes to somebody else is none to the bot: it replies to the question, or is said to the bot, or
 * nobody has written anything since. One that was written before the question, and comes late, was
 * meant for something else. */
static bool is_to_agreement(struct text_chat *chat, const struct text_channel *ch,
			    const struct text_agreement *q, const struct text_event *ev)
{
	bool occurs;

	if (ev->message < q->message)
		return false;
	if (ev->replies_to)
		return ev->replies_to == q->message;
	if (ev->to_bot || !ev->guild)
		return true;
	if (ev->to_others)
		return false;
	if (ch->newest <= q->message)
		return true;
	return text_signal_confidence(text_names_signal(chat, text_names_said(ev), &occurs)) >=
	       TEXT_ADDRESSED;
}

bool text_agreement_by_words(struct text_chat *chat, struct text_channel *ch,
			     const struct text_event *ev)
{
	struct text_agreement *q = find_agreement(ch, ev->user);

	if (!q || q->until <= chat->now || !is_to_agreement(chat, ch, q, ev) || !agrees(chat, ev))
		return false;
	text_line_add(chat, ch, ev, false, 0);
	end_agreement(chat, ch, q, true);
	text_trigger_refuse(chat, ev, NULL, TEXT_REASON_AGREED);
	return true;
}

void text_agreement_on_event(struct text_chat *chat, struct text_channel *ch,
			     const struct text_event *ev)
{
	if (ev->type == TEXT_REPLACED)
		text_agreement_withdraw(chat, ch, ev->user);
	for (unsigned i = 0; i < TEXT_AGREEMENTS; i++) {
		struct text_agreement *q = &ch->agreement[i];

		if (q->user && ev->type == TEXT_DELETED &&
		    text_request_has(&q->request, ev->message))
			end_agreement(chat, ch, q, false);
		if (!q->user || q->message != ev->message)
			continue;
		if (ev->type == TEXT_AGREED && q->user == ev->user)
			end_agreement(chat, ch, q,
				      ev->yes && q->until > chat->now &&
					      !text_admission_gate(chat, ch, ev->user));
		else if (ev->type == TEXT_DELETED ||
			 (ev->type == TEXT_CANCEL && q->user == ev->user))
			end_agreement(chat, ch, q, false);
	}
}

void text_agreement_tick(struct text_chat *chat, struct text_channel *ch)
{
	for (unsigned i = 0; i < TEXT_AGREEMENTS; i++)
		if (ch->agreement[i].user && ch->agreement[i].until <= chat->now)
			end_agreement(chat, ch, &ch->agreement[i], false);
}

uint64_t text_agreement_deadline(const struct text_chat *chat, const struct text_channel *ch)
{
	uint64_t first = UINT64_MAX;

	(void)chat;
	for (unsigned i = 0; i < TEXT_AGREEMENTS; i++)
		if (ch->agreement[i].user && ch->agreement[i].until < first)
			first = ch->agreement[i].until;
	return first;
}
