#include "control/room/guard.h"

#include <string.h>

#include "control/settings/settings.h"

enum { TOKEN_MAX = 64 };

static bool word_byte(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
	       (unsigned char)ch >= 0x80;
}

bool room_guard_words(const char *text)
{
	for (; *text; text++)
		if (word_byte(*text))
			return true;
	return false;
}

/* <|anything short|> */
static bool bar_token(const char *p)
{
	for (size_t i = 2; i < TOKEN_MAX && p[i]; i++)
		if (p[i] == '|' && p[i + 1] == '>')
			return true;
	return false;
}

/* vq_lbr_audio_123 */
static bool vq_token(const char *p)
{
	for (size_t i = 3; i < TOKEN_MAX && (word_byte(p[i]) || p[i] == '_'); i++)
		if (strncmp(p + i, "_audio_", 7) == 0)
			return true;
	return false;
}

bool room_guard_control(const char *text)
{
	for (const char *p = text; *p; p++)
		switch (*p) {
		case '<':
			if (p[1] == '|' && bar_token(p))
				return true;
			break;
		case 'v':
			if (strncmp(p, "vq_", 3) == 0 && vq_token(p))
				return true;
			break;
		case 'a':
			if (strncmp(p, "audio_future", 12) == 0 && p[12] >= '0' && p[12] <= '9')
				return true;
			break;
		case 'e':
			if (strncmp(p, "end_of_task", 11) == 0)
				return true;
			break;
		default:
			break;
		}
	return false;
}

uint32_t room_guard_pace(const struct room_guard_facts *f)
{
	uint64_t n = 0;

	for (const char *p = f->text; *p; p++)
		n += *p != ' ' && ((unsigned char)*p & 0xc0) != 0x80;
	return f->spoken_ms ? (uint32_t)(n * 10000 / f->spoken_ms) : 0;
}

enum room_guard room_guard(const struct room_guard_facts *f, const struct settings *s)
{
	if (room_guard_control(f->text))
		return ROOM_GUARD_CONTROL;
	if (!room_guard_words(f->text))
		return ROOM_GUARD_EMPTY;
	if (!f->doubt || f->named)
		return ROOM_GUARD_WORDS;
	if (f->doubt - 1 > s->asr_unsure)
		return ROOM_GUARD_UNSURE;
	if (f->spoken_ms >= s->asr_sparse_ms && room_guard_pace(f) < s->asr_sparse_pace)
		return ROOM_GUARD_SPARSE;
	return ROOM_GUARD_WORDS;
}
