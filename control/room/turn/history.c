#include "control/room/turn/history.h"

#include <stdio.h>
#include <string.h>

#include "control/room/base/context.h"
#include "control/room/base/turns.h"
#include "control/room/language/language.h"
#include "control/settings/settings.h"
#include "proto/base/utf8.h"

static struct room_history_line *line_at(struct room_history *h, unsigned i)
{
	return &h->line[(h->first + i) % ROOM_HISTORY_LINES];
}

const struct room_history_line *room_history_at(const struct room_history *h, unsigned i)
{
	return &h->line[(h->first + i) % ROOM_HISTORY_LINES];
}

void room_history_add(struct room_history *h, const struct room_history_words *words)
{
	struct room_history_line *l;
	unsigned i;

	if (!*words->text)
		return;
	if (h->n == ROOM_HISTORY_LINES) {
		if (words->at < line_at(h, 0)->at)
			return;
		h->first = (h->first + 1) % ROOM_HISTORY_LINES;
		h->n--;
	}
	for (i = h->n++; i > 0 && line_at(h, i - 1)->at > words->at; i--)
		*line_at(h, i) = *line_at(h, i - 1);
	l = line_at(h, i);
	*l = (struct room_history_line){.at = words->at,
					.user = words->bot ? 0 : words->user,
					.turn = words->turn,
					.bot = words->bot,
					.cut = words->cut,
					.message = words->message,
					.repeats = words->repeats};
	utf8_copy(l->name, sizeof l->name, words->name);
	utf8_copy(l->text, sizeof l->text, words->text);
}

static void withhold_private(struct room_history *h, const struct room_context *context)
{
	for (unsigned i = 0; i < h->n; i++) {
		struct room_history_line *l = line_at(h, i);

		if (l->private_to && !room_is_alone(context, l->private_to))
			l->withheld = true;
	}
}

/* A line of nobody in particular with this person's name may be theirs. */
static bool is_said_by(const struct room_history_line *l, uint64_t user, const char *name)
{
	return l->user ? l->user == user : name && strcmp(l->name, name) == 0;
}

static void withhold_person(struct room_history *h, const struct room_context *context,
			    uint64_t user)
{
	const char *name = room_person_name(context, user);

	for (unsigned i = 0; i < h->n; i++) {
		struct room_history_line *l = line_at(h, i);

		l->withheld = l->withheld || l->bot || is_said_by(l, user, name);
	}
	h->withdrawn_at = context->now;
}

/* ---- words of people outside ---- */

static bool is_outside(const struct room_context *context, uint64_t user)
{
	return room_place(context, user) == ROOM_SPEAKERS;
}

bool room_history_is_outside(const struct room_context *context, const struct room_history_line *l)
{
	return l->bot ? l->repeats : l->message && is_outside(context, l->user);
}

bool room_history_keep_outside(struct room_history *h, bool outside)
{
	h->outside = h->outside || outside;
	return h->outside;
}

/* A conversation that a brain keeps is told at once, and has the words to its end. */
static void note_typed(struct room_history *h, const struct room_context *context,
		       const struct room_history_words *words)
{
	bool outside = words->bot ? words->repeats : is_outside(context, words->user);

	if (context->settings->reply_path != SETTINGS_REPLY_BRAIN)
		room_history_keep_outside(h, outside);
}

/* The conversation begins anew, and is told lines of the history alone. A question that comes
 * before the answer under way is over may still be put into the one of before. */
static void begin_anew(struct room_history *h, const struct room_context *context)
{
	if (!room_turn_active(context))
		h->outside = false;
}

/* ---- edits ---- */

/* Returns true if a model may have been told the words that stood there. */
static bool edit_line(struct room_history *h, struct room_history_line *l, const char *text)
{
	bool told = !l->withheld;

	if (strcmp(l->text, text) == 0)
		return false;
	if (!h->edited_at)
		h->edited_at = l->at;
	utf8_copy(l->text, sizeof l->text, text);
	l->withheld = l->withheld || !*text;
	return told;
}

/* A preview of an address that Discord adds is an edit, too, which changes no word. */
static void edit_message(struct room_history *h, struct room_context *context,
			 const struct room_event *ev)
{
	char text[ROOM_HISTORY_TEXT + 1], line[sizeof text];
	bool told = false;

	utf8_copy_bytes(text, sizeof text, ev->text.n ? (const char *)ev->text.p : "", ev->text.n);
	memcpy(line, text, sizeof line);
	utf8_plain(line);
	h->edited_at = 0;
	for (unsigned i = 0; i < h->n; i++) {
		struct room_history_line *l = line_at(h, i);

		if (l->message && (!ev->message || l->message == ev->message))
			told = edit_line(h, l, l->bot ? text : line) || told;
	}
	if (!told)
		return;
	room_emit(context, ROOM_DO_RENEW);
	begin_anew(h, context);
}

/* A name, a line end and words. */
static void take_line(struct room_history *h, const struct room_context *context,
		      const struct room_event *ev)
{
	const char *text = (const char *)ev->text.p, *end = memchr(text, '\n', ev->text.n);
	char name[ROOM_NAME_MAX], label[ROOM_NAME_MAX], words[ROOM_HISTORY_TEXT + 1];
	struct room_history_words line = {.at = ev->at,
					  .user = ev->user,
					  .bot = ev->is_bot,
					  .cut = ev->yes,
					  .message = ev->message,
					  .name = label,
					  .text = words};

	if (!end)
		return;
	utf8_copy_bytes(name, sizeof name, text, (size_t)(end - text));
	if (ev->user && !ev->is_bot)
		room_person_label(context, ev->user, name, label);
	else
		memcpy(label, name, sizeof label);
	utf8_copy_bytes(words, sizeof words, end + 1, ev->text.n - (size_t)(end + 1 - text));
	/* A further line could pass for somebody else's. */
	if (!ev->is_bot)
		utf8_plain(words);
	if (ev->type == ROOM_TYPED) {
		line.repeats = ev->is_bot && (ev->tainted || is_outside(context, ev->user));
		note_typed(h, context, &line);
	}
	room_history_add(h, &line);
}

void room_history_on_event(struct room_history *h, struct room_context *context,
			   const struct room_event *ev)
{
	if (ev->type == ROOM_MEMBER)
		withhold_private(h, context);
	if (ev->type == ROOM_WITHDRAWN) {
		withhold_person(h, context, ev->user);
		begin_anew(h, context);
	}
	if (ev->type == ROOM_EDITED)
		edit_message(h, context, ev);
	if ((ev->type == ROOM_RECALLED || ev->type == ROOM_TYPED) && ev->text.n)
		take_line(h, context, ev);
}

/* True if a word goes on from one character to the next. */
static bool is_within_word(uint32_t a, uint32_t b)
{
	enum room_script x = room_script_of(a), y = room_script_of(b);

	return x == y && (x == ROOM_SCRIPT_LATIN || x == ROOM_SCRIPT_DIGIT ||
			  x == ROOM_SCRIPT_CYRILLIC || x == ROOM_SCRIPT_HANGUL);
}

static uint32_t char_before(const char *text, const char *at)
{
	const char *p = at;

	if (p == text)
		return ' ';
	for (p--; p > text && (*p & 0xc0) == 0x80;)
		p--;
	return room_script_next(&p);
}

/* The words within the text, not within a word of it: no "no" in "know". */
static char *find_words(char *text, const char *words)
{
	size_t n = strlen(words);

	for (char *at = strstr(text, words); at; at = strstr(at + 1, words)) {
		const char *first = at, *next = at + n;
		uint32_t last = char_before(at, at + n);

		if (!is_within_word(char_before(text, at), room_script_next(&first)) &&
		    !is_within_word(last, *next ? room_script_next(&next) : ' '))
			return at;
	}
	return NULL;
}

bool room_history_revise(struct room_history *h, uint64_t user, const char *was, const char *is)
{
	for (unsigned i = h->n; i-- > 0 && *was;) {
		struct room_history_line *l = line_at(h, i);
		char *at = l->bot || l->user != user ? NULL : find_words(l->text, was);
		char text[ROOM_HISTORY_TEXT + ROOM_TEXT_MAX];

		if (!at)
			continue;
		snprintf(text, sizeof text, "%.*s%s%s", (int)(at - l->text), l->text, is,
			 at + strlen(was));
		utf8_copy(l->text, sizeof l->text, text);
		return true;
	}
	return false;
}

unsigned room_history_count(const struct room_history *h)
{
	return h->n;
}

bool room_history_has_name(const struct room_history *h, uint64_t user, const char *name)
{
	for (unsigned i = 0; i < h->n; i++) {
		const struct room_history_line *l = room_history_at(h, i);

		if (l->user && l->user != user && room_script_same(l->name, name))
			return true;
	}
	return false;
}

uint64_t room_history_edited(const struct room_history *h)
{
	return h->edited_at;
}

unsigned room_history_count_recalled(const struct room_history *h)
{
	unsigned n = 0;

	for (unsigned i = 0; i < h->n; i++)
		n += !room_history_at(h, i)->turn;
	return n;
}

void room_history_keep_private(struct room_history *h, const struct room_context *context,
			       uint32_t turn, uint64_t user)
{
	for (unsigned i = h->n; i-- > 0;)
		if (line_at(h, i)->turn == turn && line_at(h, i)->bot) {
			line_at(h, i)->private_to = user;
			line_at(h, i)->withheld = line_at(h, i)->withheld || !user;
		}
	withhold_private(h, context);
}

void room_history_withhold(struct room_history *h, uint32_t turn)
{
	for (unsigned i = 0; i < h->n; i++) {
		struct room_history_line *l = &h->line[(h->first + i) % ROOM_HISTORY_LINES];

		if (l->turn == turn && !l->bot)
			l->withheld = true;
	}
}
