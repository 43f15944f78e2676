#include "control/room/answer/played_words.h"

#include <string.h>

#include "control/room/answer/reply.h"
#include "control/room/base/answers.h"
#include "control/room/base/text.h"
#include "control/room/base/turns.h"

enum { WORD = 16 }; /* bytes: within a longer one an answer is cut */

void room_played_words_keep(struct room_played_words *p, const struct room_context *context,
			    const struct room_turn *turn)
{
	if (!turn->first_audio_at || !*turn->answer)
		return;
	p->newest = (p->newest + 1) % ROOM_PLAYED_ANSWERS;
	p->ended[p->newest].from = turn->first_audio_at;
	p->ended[p->newest].to = context->now;
	memcpy(p->ended[p->newest].text, turn->answer, sizeof turn->answer);
}

/* The answer that plays, or NULL. */
static const struct room_turn *find_playing(const struct room_context *context)
{
	const struct room_turn *t = room_turn_active(context);

	return t && t->first_audio_at &&
			       (t->phase == ROOM_PHASE_SPEAKING || t->phase == ROOM_PHASE_CLOSING)
		       ? t
		       : NULL;
}

uint64_t room_audible_until(const struct room_context *context, uint64_t from, uint64_t to)
{
	const struct room_played_words *p = context->played_words;
	const struct room_turn *t = find_playing(context);
	uint64_t until = 0;

	if (t && to >= t->first_audio_at)
		return UINT64_MAX;
	for (unsigned i = 0; i < ROOM_PLAYED_ANSWERS; i++)
		if (to >= p->ended[i].from && from <= p->ended[i].to && p->ended[i].to > until)
			until = p->ended[i].to;
	return until;
}

uint64_t room_audible_since(const struct room_context *context, uint64_t at)
{
	const struct room_played_words *p = context->played_words;
	const struct room_turn *t = find_playing(context);
	uint64_t since = t && at >= t->first_audio_at ? t->first_audio_at : 0;

	for (unsigned i = 0; i < ROOM_PLAYED_ANSWERS; i++)
		if (at >= p->ended[i].from && at <= p->ended[i].to && p->ended[i].from > since)
			since = p->ended[i].from;
	return since;
}

/* The byte of an answer that was spoken evenly, at this time, moved to the beginning of a word. */
static size_t find_byte(const char *text, uint64_t from, uint64_t to, uint64_t at)
{
	size_t n = strlen(text), i;

	if (at >= to || to <= from)
		return n;
	i = at <= from ? 0 : (size_t)(n * (at - from) / (to - from));
	for (size_t back = 0; i && text[i] != ' ' && (back < WORD || (text[i] & 0xc0) == 0x80);
	     back++)
		i--;
	return i;
}

static void append_ended(const struct room_played_words *p, unsigned i, uint64_t from, uint64_t to,
			 char *text, size_t size)
{
	const char *words = p->ended[i].text;
	size_t begin, end;

	if (to < p->ended[i].from || from > p->ended[i].to)
		return;
	begin = find_byte(words, p->ended[i].from, p->ended[i].to, from);
	end = find_byte(words, p->ended[i].from, p->ended[i].to, to);
	if (end > begin)
		room_append(text, size, words + begin, end - begin);
}

void room_audible_words(const struct room_context *context, uint64_t from, uint64_t to, char *text,
			size_t size)
{
	const struct room_played_words *p = context->played_words;
	const struct room_turn *t = find_playing(context);
	size_t begin, end;

	*text = '\0';
	for (unsigned i = 1; i <= ROOM_PLAYED_ANSWERS; i++)
		append_ended(p, (p->newest + i) % ROOM_PLAYED_ANSWERS, from, to, text, size);
	if (!t || to < t->first_audio_at)
		return;
	begin = room_reply_byte_at(context->reply, t, from);
	end = room_reply_byte_at(context->reply, t, to);
	if (end > begin)
		room_append(text, size, t->answer + begin, end - begin);
}
