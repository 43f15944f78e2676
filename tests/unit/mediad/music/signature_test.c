#include "mediad/music/signature.h"

#include "tests/test.h"

static const char *format_of(const char *bytes, size_t n)
{
	const char *name = signature_format((const uint8_t *)bytes, n);

	return name ? name : "none";
}

#define FORMAT(bytes) format_of(bytes, sizeof(bytes) - 1)

TEST(signature_of_each_format)
{
	char ts[SIGNATURE_HEAD] = {0x47};

	CHECK_STR(FORMAT("fLaC\0\0\0\x22"), "flac");
	CHECK_STR(FORMAT("OggS"), "ogg");
	CHECK_STR(FORMAT("\x1a\x45\xdf\xa3\x9f"), "matroska");
	CHECK_STR(FORMAT("\0\0\0\x20"
			 "ftypM4A "),
		  "mov");
	CHECK_STR(FORMAT("RIFF\x24\0\0\0WAVEfmt "), "wav");
	CHECK_STR(FORMAT("\xff\xfb\x90\x64"), "mp3");
	CHECK_STR(FORMAT("\xff\xf3\x90\x64"), "mp3");
	CHECK_STR(FORMAT("\xff\xf1\x50\x80"), "aac");
	CHECK_STR(FORMAT("\xff\xf9\x50\x80"), "aac");
	CHECK_STR(format_of(ts, sizeof ts), "none");
	ts[188] = 0x47;
	CHECK_STR(format_of(ts, sizeof ts), "mpegts");
	CHECK_STR(format_of(ts, 188), "none");
}

TEST(signature_of_anything_else)
{
	CHECK_STR(FORMAT(""), "none");
	CHECK_STR(FORMAT("\xff"), "none");
	CHECK_STR(FORMAT("fLa"), "none");
	CHECK_STR(FORMAT("\xff\xe1\x90\x64"), "none");
	CHECK_STR(FORMAT("#EXTM3U\nfile:///etc/passwd"), "none");
	CHECK_STR(FORMAT("\0\0\0\x20"
			 "fty"),
		  "none");
}

TEST(signature_measures_a_tag)
{
	static const char plain[] = "ID3\4\0\0\0\0\2\1", footer[] = "ID3\4\0\x10\0\0\2\1";

	CHECK_INT(signature_tag((const uint8_t *)plain, 10), 10 + 257);
	CHECK_INT(signature_tag((const uint8_t *)footer, 10), 20 + 257);
	CHECK_INT(signature_tag((const uint8_t *)plain, 9), 0);
	CHECK_INT(signature_tag((const uint8_t *)"ID3\4\0\0\0\x80\2\1", 10), 0);
	CHECK_INT(signature_tag((const uint8_t *)"OggS\0\0\0\0\0\0", 10), 0);
}
