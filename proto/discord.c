#include "proto/discord.h"

static const struct {
	unsigned code;
	enum discord_close_action action;
	const char *text;
} closes[] = {
#define X(code, ACTION, text) {code, DISCORD_CLOSE_##ACTION, text},
	DISCORD_CLOSES(X)
#undef X
};
enum { N_CLOSES = sizeof closes / sizeof closes[0] };

enum discord_close_action discord_close_action(unsigned code)
{
	for (unsigned i = 0; i < N_CLOSES; i++)
		if (closes[i].code == code)
			return closes[i].action;
	return DISCORD_CLOSE_RESUME;
}

const char *discord_close_text(unsigned code)
{
	for (unsigned i = 0; i < N_CLOSES; i++)
		if (closes[i].code == code)
			return closes[i].text;
	return "the connection was lost";
}

const char *discord_error_text(unsigned code)
{
	switch (code) {
#define X(num, NAME, text)                                                                         \
	case num:                                                                                  \
		return text;
		DISCORD_ERRORS(X)
#undef X
	default:
		return NULL;
	}
}

const char *discord_permission_text(unsigned bit)
{
	switch (bit) {
#define X(NAME, num, text)                                                                         \
	case num:                                                                                  \
		return text;
		DISCORD_PERMISSIONS(X)
#undef X
	default:
		return NULL;
	}
}

bool discord_u64(const char *text, uint64_t *out)
{
	uint64_t v = 0;

	if (!text || !*text)
		return false;
	for (; *text; text++) {
		unsigned digit = (unsigned)(unsigned char)*text - '0';

		if (digit > 9 || v > (UINT64_MAX - digit) / 10)
			return false;
		v = v * 10 + digit;
	}
	*out = v;
	return true;
}

bool discord_snowflake(const char *text, uint64_t *out)
{
	uint64_t v;

	if (!discord_u64(text, &v) || !v)
		return false;
	*out = v;
	return true;
}

bool discord_is_account(uint64_t id)
{
	return id >= UINT64_C(10000000000000000) && id <= INT64_MAX;
}
