#include "control/soundboard/clip.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/utf8.h"

/* The value of a digit; above 15 for any other byte. */
static unsigned digit_value(char ch)
{
	if (ch >= '0' && ch <= '9')
		return (unsigned)(ch - '0');
	return ch >= 'a' && ch <= 'f' ? (unsigned)(ch - 'a') + 10 : 16;
}

static bool is_name(const char *name, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)name[i] < ' ' || name[i] == 0x7f)
			return false;
	return n && n < CLIP_NAME_SIZE;
}

static bool read_samples(int16_t *to, const char *hex, size_t n)
{
	for (size_t i = 0; i < n; i++, hex += 4) {
		unsigned a = digit_value(hex[0]), b = digit_value(hex[1]), c = digit_value(hex[2]),
			 d = digit_value(hex[3]);

		if ((a | b | c | d) > 15)
			return false;
		to[i] = (int16_t)(a << 4 | b | c << 12 | d << 8);
	}
	return true;
}

int clip_read(struct clip *out, const char *line, size_t len)
{
	const char *tab = memchr(line, '\t', len);
	size_t name = tab ? (size_t)(tab - line) : 0, hex = tab ? len - name - 1 : 0;
	struct clip c = {.n = hex / 4};

	if (!tab || !is_name(line, name) || !hex || hex % 4 || c.n > CLIP_SAMPLES_MAX)
		return EBADMSG;
	memcpy(c.name, line, name);
	if (!utf8_valid(c.name))
		return EBADMSG;
	c.pcm = malloc(c.n * sizeof *c.pcm);
	if (!c.pcm)
		return ENOMEM;
	if (!read_samples(c.pcm, tab + 1, c.n)) {
		clip_clear(&c);
		return EBADMSG;
	}
	*out = c;
	return 0;
}

void clip_clear(struct clip *c)
{
	free(c->pcm);
	*c = (struct clip){.pcm = NULL};
}
