/* Notes of what the room did, in the words of docs/scenarios.md. */
#include "tests/room/stage_inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct stage_note *note_new(struct stage *s, int effect)
{
	struct stage_note *n;

	if (!s->conf.notes || s->n_notes == STAGE_NOTES)
		return NULL;
	if (s->n_notes == s->note_cap) {
		s->note_cap = s->note_cap ? 2 * s->note_cap : 256;
		s->note = stage_must(realloc(s->note, s->note_cap * sizeof *s->note));
	}
	n = &s->note[s->n_notes++];
	*n = (struct stage_note){.at = s->now, .effect = effect};
	return n;
}

void stage_note_line(struct stage *s, int effect, const char *fmt, ...)
{
	struct stage_note *n = note_new(s, effect);
	char text[TEXT];
	va_list ap;

	if (!n)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	/* A note is one line. */
	for (char *p = strchr(text, '\n'); p; p = strchr(p, '\n'))
		*p = ' ';
	n->text = stage_must(strdup(text));
}

static const char *name_of(const struct stage *s, uint64_t user)
{
	return user && user <= s->people ? s->person[user - 1].name : "nobody";
}

static const char *turn_name(struct stage *s, uint32_t turn)
{
	static char name[ROOM_NAME_MAX];
	char why[4096], *end;

	name[0] = '\0';
	if (room_why(s->room, turn, why, sizeof why) == 0 && (end = strchr(why, ':'))) {
		*end = '\0';
		snprintf(name, sizeof name, "%s",
			 strstr(why, " of ") ? strstr(why, " of ") + 4 : "");
	}
	return name;
}

/* "NAME [WHO] [MS] [TEXT]" for any effect. */
static char *plain(struct stage *s, const struct room_effect *e)
{
	static const char *const names[] = {
#define X(NAME, name, text) #name,
		ROOM_EFFECT_ROWS(X)
#undef X
	};
	char buf[TEXT];
	size_t n = (size_t)snprintf(buf, sizeof buf, "%s", names[e->type]);

	if (e->user)
		n += (size_t)snprintf(buf + n, sizeof buf - n, " %s", name_of(s, e->user));
	else if (e->record)
		n += (size_t)snprintf(buf + n, sizeof buf - n, " %s", e->record->name);
	else if (e->turn && *turn_name(s, e->turn))
		n += (size_t)snprintf(buf + n, sizeof buf - n, " %s", turn_name(s, e->turn));
	if (e->ms)
		n += (size_t)snprintf(buf + n, sizeof buf - n, " %u", e->ms);
	if (e->text)
		snprintf(buf + n, sizeof buf - n, " \"%s\"", e->text);
	return stage_must(strdup(buf));
}

static void note_record(struct stage *s, const struct room_turn *t)
{
	int e = ROOM_DO_RECORD;

	for (unsigned i = 0; i < t->decisions && i < ROOM_CHAIN; i++)
		stage_note_line(s, e, "turn %s rule %s %s %lld %lld", t->name,
				room_rule_name(t->decision[i].rule),
				t->decision[i].yes ? "yes" : "no", (long long)t->decision[i].value,
				(long long)t->decision[i].limit);
	stage_note_line(s, e, "turn %s ended %s", t->name, room_reason_name(t->reason));
	if (*t->transcript)
		stage_note_line(s, e, "heard \"%s\"", t->transcript);
	if (*t->answer)
		stage_note_line(s, e, "said \"%s\"", t->answer);
}

void stage_note_effect(struct stage *s, const struct room_effect *e)
{
	const char *who = name_of(s, e->user);
	size_t before = s->n_notes;

	switch ((int)e->type) {
	case ROOM_DO_LISTEN:
		stage_note_line(s, (int)e->type, "listen %s", who);
		break;
	case ROOM_DO_UNLISTEN:
		stage_note_line(s, (int)e->type, "unlisten %s", who);
		break;
	case ROOM_DO_ASR_START:
		stage_note_line(s, (int)e->type, "asr %s started", who);
		break;
	case ROOM_DO_ASR_COMMIT:
		stage_note_line(s, (int)e->type, "asr %s committed", who);
		break;
	case ROOM_DO_ASR_INTERIM:
		stage_note_line(s, (int)e->type, "asr %s interim", who);
		break;
	case ROOM_DO_ASR_CANCEL:
		stage_note_line(s, (int)e->type, "asr %s cancelled", who);
		break;
	case ROOM_DO_ASR_CLOSE:
		stage_note_line(s, (int)e->type, "asr %s closed", who);
		break;
	case ROOM_DO_INSTRUCT:
		stage_note_line(s, (int)e->type, "instructions \"%s\"", e->text);
		break;
	case ROOM_DO_ASK:
		stage_note_line(s, (int)e->type, "brain asked \"%s\"", e->text);
		for (size_t i = 0; i < e->history_n; i++)
			stage_note_line(s, ROOM_DO_COUNT, "history \"%s: %s\"",
					e->history[i].bot ? "bot" : e->history[i].speaker,
					e->history[i].text);
		break;
	case ROOM_DO_BRAIN_CANCEL:
		stage_note_line(s, (int)e->type, "brain cancelled");
		break;
	case ROOM_DO_BRAIN_TRUNCATE:
		stage_note_line(s, (int)e->type, "brain truncated at %u", e->ms);
		break;
	case ROOM_DO_TELL:
		stage_note_line(s, (int)e->type, "told \"%s\"", e->text);
		break;
	case ROOM_DO_ADMIT:
		stage_note_line(s, (int)e->type, "turn %s admitted %s", e->record->name, e->text);
		break;
	case ROOM_DO_OVERHEARD:
		stage_note_line(s, (int)e->type, "brain hears %s", e->record->name);
		break;
	case ROOM_DO_DEFER:
		stage_note_line(s, (int)e->type, "turn %s deferred %s", e->record->name, e->text);
		break;
	case ROOM_DO_RECORD:
		note_record(s, e->record);
		break;
	case ROOM_DO_SPEAK:
		stage_note_line(s, (int)e->type, "speaks \"%s\"", e->text);
		break;
	case ROOM_DO_SOUNDBOARD:
		stage_note_line(s, (int)e->type, "soundboard \"%s\"", e->text);
		break;
	case ROOM_DO_SAY_OPEN:
		stage_note_line(s, (int)e->type, "playback opened");
		break;
	case ROOM_DO_SAY_END:
		stage_note_line(s, (int)e->type, "playback ending");
		break;
	case ROOM_DO_SAY_STOP:
		stage_note_line(s, (int)e->type, "cut %s", turn_name(s, e->turn));
		break;
	case ROOM_DO_SAY_PAUSE:
	case ROOM_DO_SAY_RESUME:
		stage_note_line(s, (int)e->type, "playback %s",
				e->type == ROOM_DO_SAY_PAUSE ? "pausing" : "resuming");
		break;
	default:
		note_new(s, (int)e->type);
		break;
	}
	if (s->n_notes > before && s->note[before].effect == (int)e->type)
		s->note[before].plain = plain(s, e);
}

size_t stage_notes(const struct stage *s)
{
	return s->n_notes;
}

const struct stage_note *stage_note(const struct stage *s, size_t i)
{
	return &s->note[i];
}

void stage_chain(struct stage *s, const char *name, char *buf, size_t size)
{
	char why[8192], *line, *rest = why;
	uint32_t turn = stage_turn(s, name);
	size_t n = 0;

	*buf = '\0';
	if (!turn || room_why(s->room, turn, why, sizeof why))
		return;
	while ((line = strsep(&rest, "\n")) && *line && n < size) {
		/* The rule's sentence, and the reason's, are for people with more room. */
		char *end = n ? strstr(line, ": ") : strchr(line, '(');

		if (end)
			*end = '\0';
		n += (size_t)snprintf(buf + n, size - n, "%s", n ? " > " : "");
		for (bool blank = false; n + 2 < size && *line; line++) {
			if (*line == ' ') {
				blank = true;
				continue;
			}
			if (blank && n && buf[n - 1] != ' ')
				buf[n++] = ' ';
			blank = false;
			buf[n++] = *line;
		}
		buf[n < size ? n : size - 1] = '\0';
	}
}

/* Turns are numbered one by one; a few may have begun that no effect told of. */
uint32_t stage_turn(struct stage *s, const char *name)
{
	for (uint32_t id = s->newest_turn + 2 * STAGE_PEOPLE; id; id--)
		if (*turn_name(s, id) && (!name || strcmp(turn_name(s, id), name) == 0))
			return id;
	return 0;
}
