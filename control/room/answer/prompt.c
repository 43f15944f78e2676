#include "control/room/answer/prompt.h"
#include "control/room/base/text.h"

#include <stdio.h>
#include <string.h>

#include "control/prompts/prompts.def"
#include "control/room/answer/retrieval.h"
#include "control/room/answer/soundboard.h"
#include "control/room/answer/tool_results.h"
#include "control/room/base/context.h"
#include "control/room/base/turns.h"
#include "control/room/floor/music.h"
#include "control/room/turn/compaction.h"
#include "control/room/turn/history.h"
#include "control/room/turn/moments.h"
#include "control/room/turn/segment.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

/* ---- sections ---- */

/* Bytes reserved for one person's name and the words around it. */
enum { PEOPLE_MIN = 160 };
/* Bytes of the persona that the contract leaves. */
enum { PERSONA_MIN = 600 };

struct text {
	char *buf;
	size_t n, size; /* size: with the NUL */
};

static size_t space_left(const struct text *t)
{
	return t->size - 1 - t->n;
}

/* Appends all of the text, or nothing and returns false. */
static bool put_text(struct text *t, const char *what)
{
	size_t n = strlen(what);

	if (n > space_left(t))
		return false;
	memcpy(t->buf + t->n, what, n + 1);
	t->n += n;
	return true;
}

/* Appends as much as fits and `most` allows, in whole characters. */
static void put_cut(struct text *t, const char *what, size_t most)
{
	size_t n = strlen(what), room_left = space_left(t);

	if (most > room_left)
		most = room_left;
	if (n > most)
		n = utf8_whole(what, most);
	memcpy(t->buf + t->n, what, n);
	t->n += n;
	t->buf[t->n] = '\0';
}

static void put_people(const struct room_context *context, struct text *t)
{
	static const char more[] = ", and others";
	const char *name;
	unsigned n = 0, place = 0;

	put_text(t, "\npeople in the room: ");
	/* Names are never cut; this much is reserved for the words after them. */
	t->size -= sizeof more;
	while ((name = room_person_next(context, &place))) {
		char one[ROOM_NAME_MAX + 2];

		snprintf(one, sizeof one, "%s%s", n ? ", " : "", name);
		if (n == ROOM_PROMPT_PEOPLE || !put_text(t, one)) {
			t->size += sizeof more;
			put_text(t, more);
			return;
		}
		n++;
	}
	t->size += sizeof more;
	if (!n)
		put_text(t, "nobody");
}

/* The words of this turn are not part of the conversation before it, though they may be in the
 * history. */
static bool is_before_turn(const struct room_history_line *l, const struct room_turn *turn)
{
	return l->turn != turn->id && (l->bot || !strstr(turn->transcript, l->text));
}

/* Nor is what people said to each other, where the setting `overhear` withholds it. turn: NULL for
 * none. */
static bool is_told(const struct room_history_line *l, const struct room_turn *turn)
{
	return !l->withheld && (!turn || is_before_turn(l, turn));
}

static size_t now_size(const struct room_turn *turn)
{
	char all[ROOM_TEXT_MAX + ROOM_SEGMENTS * (ROOM_NAME_MAX + 8)];
	size_t n;

	room_segment_lines(turn, all, sizeof all);
	n = strlen(all);
	return n < ROOM_PROMPT_NOW ? n : ROOM_PROMPT_NOW;
}

enum { CONTRACT_MAX = 2048 };

/* The contract is left out where the persona would hardly fit beside it, and the sounds before it.
 */
static void write_contract(const struct room_context *context, const struct text *t, char *buf)
{
	static const char *const when[] = {
		[SETTINGS_SOUNDBOARD_REQUEST] = PROMPT_SOUNDS_REQUEST,
		[SETTINGS_SOUNDBOARD_SOMETIMES] = PROMPT_SOUNDS_SOMETIMES,
		[SETTINGS_SOUNDBOARD_OFTEN] = PROMPT_SOUNDS_OFTEN,
	};
	const char *sounds = room_soundboard_names(context->soundboard);
	char of_sounds[sizeof PROMPT_SOUNDS + sizeof PROMPT_SOUNDS_REQUEST + ROOM_SOUNDBOARD_MAX] =
		"";
	static const char rest[] = PROMPT_CONTRACT PROMPT_CONTRACT_END;

	_Static_assert(CONTRACT_MAX >= sizeof rest + sizeof of_sounds, "contract");
	if (*sounds && context->settings->soundboard != SETTINGS_SOUNDBOARD_OFF)
		snprintf(of_sounds, sizeof of_sounds, PROMPT_SOUNDS,
			 when[context->settings->soundboard], sounds);
	if (space_left(t) < sizeof rest + strlen(of_sounds) + PERSONA_MIN)
		of_sounds[0] = '\0';
	if (space_left(t) >= sizeof rest + PERSONA_MIN)
		snprintf(buf, CONTRACT_MAX, "%s%s%s", PROMPT_CONTRACT, of_sounds,
			 PROMPT_CONTRACT_END);
}

static void put_notes(const struct room_context *context, struct text *t)
{
	char notes[ROOM_TOOL_NOTES * (ROOM_TOOL_NOTE_MAX + 1)];

	room_tool_results_text(context->tool_results, notes, sizeof notes);
	if (*notes && put_text(t, PROMPT_TOOL_NOTES))
		put_cut(t, notes, sizeof notes);
}

/* Quotes are told whole or not at all. */
static void put_memory(const struct room_context *context, const struct room_turn *turn,
		       struct text *t)
{
	const char *slice = room_retrieval_slice(context, turn);

	if (*slice && strlen(slice) + sizeof PROMPT_MEMORY_SECTION <= space_left(t) &&
	    put_text(t, PROMPT_MEMORY_SECTION))
		put_text(t, slice);
}

/* Its titles are words of strangers, so they stand below a heading that says so. */
static void put_music(const struct room_context *context, struct text *t)
{
	const char *tracks = room_music_tracks(context->music);

	if (*tracks && strlen(tracks) + sizeof PROMPT_MUSIC_SECTION <= space_left(t) &&
	    put_text(t, PROMPT_MUSIC_SECTION))
		put_text(t, tracks);
}

/* turn: the one that a text model answers, told with the moments; NULL for a voice model, which
 * gets the contract only if its words are read out. *stable (may be NULL): the bytes at the
 * beginning that seldom change. */
static size_t build_prompt(const struct room_context *context, const struct room_turn *turn,
			   char *buf, size_t size, size_t *stable)
{
	const char *summary = room_compaction_summary(context->compaction);
	char contract[CONTRACT_MAX] = "";
	size_t most = context->settings->context_bytes + 1;
	struct text t = {.buf = buf, .size = most < size ? most : size};
	char name[ROOM_NAME_MAX + 32];
	size_t now = turn ? now_size(turn) : 0;

	buf[0] = '\0';
	t.size -= now < t.size ? now : 0;
	snprintf(name, sizeof name, "\nYour name is %s.", context->name);
	/* Of a voice that speaks itself, the marks would be heard. */
	if (turn || settings_reads_out(context->settings))
		write_contract(context, &t, contract);
	put_cut(&t, context->settings->instructions,
		space_left(&t) - strlen(name) - strlen(contract) - PEOPLE_MIN);
	put_text(&t, name);
	put_text(&t, contract);
	if (stable)
		*stable = t.n;
	put_people(context, &t);
	put_music(context, &t);
	if (turn && *summary && put_text(&t, PROMPT_SUMMARY_SECTION))
		put_cut(&t, summary, strlen(summary));
	if (turn)
		put_memory(context, turn, &t);
	if (turn)
		put_notes(context, &t);
	if (turn) {
		char moments[ROOM_MOMENTS_MAX];

		room_moments_text(context->moments, context->now, moments, sizeof moments);
		put_cut(&t, moments, sizeof moments);
		if (t.n && buf[t.n - 1] == '\n')
			buf[--t.n] = '\0';
	}
	return t.n;
}

size_t room_prompt_instructions(const struct room_context *context, char *buf, size_t size)
{
	return build_prompt(context, NULL, buf, size, NULL);
}

/* ---- the question and what was said before it ---- */

static size_t line_size(const struct room_context *context, const struct room_history_line *l)
{
	return strlen(l->bot ? context->name : l->name) + strlen(l->text) + 8;
}

/* The place from which on the newest lines fit into `most` bytes. */
static unsigned find_first_told(const struct room_context *context, const struct room_turn *turn,
				size_t most)
{
	const struct room_history *history = context->history;
	unsigned from = room_history_count(history), lines = 0;
	size_t need = 0;

	while (from && lines < context->settings->context_turns &&
	       context->messages.n + lines < ROOM_MESSAGES) {
		const struct room_history_line *l = room_history_at(history, from - 1);

		if (is_told(l, turn)) {
			need += line_size(context, l);
			if (need > most)
				break;
			lines++;
		}
		from--;
	}
	return from;
}

uint64_t room_prompt_told_since(const struct room_context *context)
{
	const struct room_turn *turn = room_turn_queued(context);
	size_t most = context->settings->context_bytes, used = ROOM_PROMPT_NOW;
	char instructions[ROOM_PROMPT_MAX];
	unsigned from;

	used += room_prompt_instructions(context, instructions, sizeof instructions);
	from = find_first_told(context, turn, used < most ? most - used : 0);
	for (; from < room_history_count(context->history); from++) {
		const struct room_history_line *l = room_history_at(context->history, from);

		if (is_told(l, turn))
			return l->at;
	}
	return 0;
}

static void put_history(struct room_context *context, const struct room_turn *turn, size_t most,
			struct room_effect *e)
{
	const struct room_history *history = context->history;
	struct room_messages *m = &context->messages;
	unsigned from = find_first_told(context, turn, most);

	e->history = &m->v[m->n];
	for (; from < room_history_count(history); from++) {
		const struct room_history_line *l = room_history_at(history, from);
		char text[ROOM_HISTORY_TEXT + 16];
		const char *kept;

		if (!is_told(l, turn))
			continue;
		snprintf(text, sizeof text, "%s%s", l->cut ? "[interrupted] " : "", l->text);
		kept = room_text_of(context, text, strlen(text));
		if (!kept)
			return;
		m->v[m->n++] = (struct room_message){
			.bot = l->bot,
			.user = l->user,
			.turn = l->turn,
			.message = l->message,
			.speaker = l->bot ? "" : room_text_of(context, l->name, strlen(l->name)),
			.text = kept};
		if (!m->v[m->n - 1].speaker)
			m->v[m->n - 1].speaker = "";
		e->writings = e->writings || room_history_is_outside(context, l);
		e->history_n++;
	}
}

/* For a brain that keeps its instructions: the section as a message of its own. */
static const char *write_memory(struct room_context *context, const struct room_turn *turn)
{
	const char *slice = room_retrieval_slice(context, turn);
	size_t size = sizeof PROMPT_MEMORY_SECTION + strlen(slice);
	char *text = *slice ? room_text(context, size, ROOM_TEXTS) : NULL;

	if (!text)
		return "";
	snprintf(text, size, "%s%s", &PROMPT_MEMORY_SECTION[1], slice);
	return room_text_keep(context, text);
}

static const char *write_question(struct room_context *context, const struct room_turn *turn)
{
	char *line = room_text(context, ROOM_LINE_MAX, ROOM_TEXTS);
	size_t n;

	if (!line)
		return "";
	n = room_followup_recovery(context->followup, context->settings, turn, context->now, line,
				   ROOM_LINE_MAX);
	room_segment_lines(turn, line + n, ROOM_LINE_MAX - n);
	return room_text_keep(context, line);
}

/* Beside lines a text model is told the summary. Any other brain has a conversation of
 * its own, where what it was told stays. */
void room_prompt_writings(const struct room_context *context, struct room_effect *e)
{
	e->titles = *room_music_tracks(context->music);
	if (context->settings->reply_path == SETTINGS_REPLY_BRAIN)
		e->writings = e->writings || room_compaction_is_outside(context->compaction);
	else
		e->writings = room_history_keep_outside(context->history, e->writings);
}

void room_prompt_ask(struct room_context *context, const struct room_turn *turn,
		     struct room_effect *e)
{
	size_t most = context->settings->context_bytes, used = now_size(turn);
	char *instructions;

	e->text = write_question(context, turn);
	e->quotes = *room_retrieval_slice(context, turn);
	/* A text model keeps nothing and is told everything. */
	if (context->settings->reply_path == SETTINGS_REPLY_BRAIN) {
		instructions = room_text(context, ROOM_PROMPT_MAX, ROOM_TEXTS);
		if (instructions) {
			used += build_prompt(context, turn, instructions, ROOM_PROMPT_MAX,
					     &e->stable);
			e->instructions = room_text_keep(context, instructions);
		}
	} else {
		e->memory = write_memory(context, turn);
	}
	put_history(context, turn, used < most ? most - used : 0, e);
	room_prompt_writings(context, e);
}
