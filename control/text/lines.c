/* The messages of a channel that the model is told, and the window in which one of the bot is
 * recent (inside.h). */
#include <stdlib.h>
#include <string.h>

#include "control/settings/settings.h"
#include "control/text/inside.h"
#include "proto/base/time.h"

static struct text_line *find_line(struct text_channel *ch, uint64_t message)
{
	for (unsigned i = ch->n_lines; i > 0; i--)
		if (ch->line[i - 1].message == message)
			return &ch->line[i - 1];
	return NULL;
}

/* One allocation, which the name begins: freed by it. */
static bool set_texts(struct text_line *line, const char *name, const char *text)
{
	size_t n = strlen(name) + 1, m = strlen(text) + 1;
	char *both = malloc(n + m);

	if (!both)
		return false;
	memcpy(both, name, n);
	memcpy(both + n, text, m);
	line->name = both;
	line->text = both + n;
	return true;
}

static void drop_line(struct text_channel *ch, unsigned i)
{
	free((char *)ch->line[i].name);
	memmove(&ch->line[i], &ch->line[i + 1], (--ch->n_lines - i) * sizeof ch->line[0]);
}

size_t text_event_own(const struct text_event *ev)
{
	return strnlen(ev->text ? ev->text : "", ev->strangers ? ev->own : SIZE_MAX);
}

bool text_line_add(const struct text_chat *chat, struct text_channel *ch,
		   const struct text_event *ev, bool bot, uint64_t answers)
{
	struct text_line line = {.message = ev->message,
				 .user = ev->user,
				 .bot = bot,
				 .machine = ev->bot,
				 .others = bot && (ev->strangers || !answers),
				 .strangers = !bot && ev->strangers,
				 .own = text_event_own(ev),
				 .answers = answers,
				 .kept = ev->kept,
				 .at = chat->now > ev->age ? chat->now - ev->age : 0};
	struct text_line *known = find_line(ch, ev->message);

	/* Discord tells of the bot's own messages twice: by the gateway and by the request. */
	if (known && answers) {
		known->answers = answers;
		known->others = line.others;
	}
	if (known || !set_texts(&line, ev->name ? ev->name : "", ev->text ? ev->text : ""))
		return false;
	if (ch->n_lines == TEXT_HISTORY)
		drop_line(ch, 0);
	ch->line[ch->n_lines++] = line;
	return true;
}

void text_line_edit(struct text_channel *ch, const struct text_event *ev)
{
	struct text_line *line = find_line(ch, ev->message), edited;

	if (!line)
		return;
	/* Its words are gone, or not to be read any more. */
	if (!*ev->text) {
		drop_line(ch, (unsigned)(line - ch->line));
		return;
	}
	edited = *line;
	edited.strangers = ev->strangers;
	edited.own = text_event_own(ev);
	/* Words that were taken back are not told to the model for want of memory. */
	if (!set_texts(&edited, line->name, ev->text)) {
		drop_line(ch, (unsigned)(line - ch->line));
		return;
	}
	free((char *)line->name);
	*line = edited;
}

void text_line_delete(struct text_channel *ch, uint64_t message)
{
	struct text_line *line = find_line(ch, message);

	if (line)
		drop_line(ch, (unsigned)(line - ch->line));
}

void text_lines_forget(struct text_channel *ch, uint64_t user, bool quoted)
{
	bool any = quoted;

	for (unsigned i = 0; i < ch->n_lines; i++)
		any = any || ch->line[i].user == user || ch->line[i].answers == user;
	for (unsigned i = ch->n_lines; i > 0 && any; i--)
		if (ch->line[i - 1].user == user || ch->line[i - 1].bot)
			drop_line(ch, i - 1);
}

/* Where no words are kept, a conversation can go on all the same. Lines of somebody who has been
 * blocked since then are told no more. */
void text_lines_expire(const struct text_chat *chat, struct text_channel *ch)
{
	uint64_t hours = chat->settings->store_words_hours;
	uint64_t ns = (hours ? hours : 1) * 3600 * NS_PER_S;

	/* Those that were written while the bot was away may have come after newer ones. */
	for (unsigned i = ch->n_lines; i > 0; i--) {
		const struct text_line *l = &ch->line[i - 1];

		if ((chat->now > ns && l->at < chat->now - ns) ||
		    (!l->bot && text_user_is_blocked(chat->settings, ch->guild, l->user)))
			drop_line(ch, i - 1);
	}
}

void text_lines_clear(struct text_channel *ch)
{
	while (ch->n_lines)
		drop_line(ch, ch->n_lines - 1);
}

/* Messages back to which one of the bot is recent. */
static unsigned window_of(unsigned eagerness)
{
	static const struct {
		unsigned most, messages;
	} steps[] = {{0, 0}, {20, 1}, {40, 2}, {60, 4}, {100, TEXT_WINDOW}};
	unsigned i = 0;

	while (eagerness > steps[i].most)
		i++;
	return steps[i].messages;
}

enum text_attention text_lines_attend(const struct text_chat *chat, const struct text_channel *ch,
				      const struct text_event *ev, enum text_signal signal)
{
	unsigned window = window_of(chat->settings->text_window), n = ch->n_lines;
	unsigned first = n > window ? n - window : 0;
	const struct text_line *last = NULL;
	bool others = false;

	for (unsigned i = first; i < n && ev->replies_to; i++)
		if (ch->line[i].bot && ch->line[i].message == ev->replies_to)
			return TEXT_ATTENTION_REPLY_TO_BOT;
	if (text_signal_confidence(signal) >= TEXT_ADDRESSED)
		return TEXT_ATTENTION_DIRECT_ADDRESS;
	for (unsigned i = n; i > first && !last; i--) {
		if (ch->line[i - 1].bot)
			last = &ch->line[i - 1];
		else
			others |= ch->line[i - 1].user != ev->user && !ch->line[i - 1].machine;
	}
	if (!last || others)
		return TEXT_ATTENTION_COLD_AMBIENT;
	if (last->answers == ev->user || (last > ch->line && last[-1].user == ev->user))
		return TEXT_ATTENTION_SAME_AUTHOR_FOLLOWUP;
	return TEXT_ATTENTION_COLD_AMBIENT;
}
