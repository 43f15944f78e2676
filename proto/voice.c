#include "proto/voice.h"

#include <stddef.h>

static const struct voice_close closes[] = {
#define CLOSE(code, name, action, reason, cool, tries, text)                                       \
	{code, #name, VOICE_CLOSE_##action, MEDIA_REASON_##reason, cool, tries, text},
	VOICE_CLOSES(CLOSE)
#undef CLOSE
};

static const struct voice_close *find_close(uint16_t code)
{
	for (size_t i = 0; i < sizeof closes / sizeof closes[0]; i++)
		if (closes[i].code == code)
			return &closes[i];
	return NULL;
}

const struct voice_close *voice_close_of(uint16_t code)
{
	const struct voice_close *c = find_close(code);

	return c ? c : find_close(code < 4000 ? 1006 : 4009);
}
