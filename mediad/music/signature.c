#include "mediad/music/signature.h"

#include <string.h>

enum { TAG_HEAD = 10, TAG_FOOTER = 0x10, TS_PACKET = 188, TS_SYNC = 0x47 };

static const struct {
	const char *format;
	size_t at;
	char bytes[5];
} signatures[] = {
	{"flac", 0, "fLaC"}, {"ogg", 0, "OggS"}, {"matroska", 0, "\x1a\x45\xdf\xa3"},
	{"mov", 4, "ftyp"},  {"wav", 8, "WAVE"},
};

/* An MPEG audio frame has layer I, II or III; one of ADTS has 0 there. */
static const char *find_frame(const uint8_t *head, size_t n)
{
	if (n < 2 || head[0] != 0xff || (head[1] & 0xe0) != 0xe0)
		return NULL;
	if ((head[1] & 0xf6) == 0xf0)
		return "aac";
	return head[1] & 0x06 ? "mp3" : NULL;
}

const char *signature_format(const uint8_t *head, size_t n)
{
	for (size_t i = 0; i < sizeof signatures / sizeof signatures[0]; i++)
		if (n >= signatures[i].at + 4 &&
		    memcmp(head + signatures[i].at, signatures[i].bytes, 4) == 0)
			return signatures[i].format;
	if (n > TS_PACKET && head[0] == TS_SYNC && head[TS_PACKET] == TS_SYNC)
		return "mpegts";
	return find_frame(head, n);
}

size_t signature_tag(const uint8_t *head, size_t n)
{
	size_t size;

	if (n < TAG_HEAD || memcmp(head, "ID3", 3) != 0 ||
	    ((head[6] | head[7] | head[8] | head[9]) & 0x80))
		return 0;
	size = (size_t)head[6] << 21 | (size_t)head[7] << 14 | (size_t)head[8] << 7 | head[9];
	return size + (head[5] & TAG_FOOTER ? 2 * TAG_HEAD : TAG_HEAD);
}
