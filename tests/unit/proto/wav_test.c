#include "proto/base/wav.h"
#include "tests/test.h"

TEST(wav_round_trip)
{
	uint8_t file[WAV_HEADER + 8] = {0};
	struct wav w;

	wav_header(file, 24000, 2, 2);
	memcpy(file + WAV_HEADER, "abcdefgh", 8);
	CHECK_INT(wav_parse(&w, file, sizeof file), 0);
	CHECK_INT(w.rate, 24000);
	CHECK_INT(w.channels, 2);
	CHECK_INT(w.frames, 2);
	CHECK_MEM(w.data, 8, "abcdefgh", 8);
}

TEST(wav_damaged_is_refused)
{
	uint8_t file[WAV_HEADER + 8] = {0};
	struct wav w = {.rate = 77};

	wav_header(file, 24000, 1, 4);
	for (size_t n = 0; n < WAV_HEADER; n++)
		CHECK_INT(wav_parse(&w, file, n), EBADMSG);
	CHECK_INT(w.rate, 77);
	/* A header that claims more than is there is cut. */
	CHECK_INT(wav_parse(&w, file, WAV_HEADER + 4), 0);
	CHECK_INT(w.frames, 2);
	file[20] = 3; /* float */
	CHECK_INT(wav_parse(&w, file, sizeof file), ENOTSUP);
	file[0] = 'X';
	CHECK_INT(wav_parse(&w, file, sizeof file), EBADMSG);
}
