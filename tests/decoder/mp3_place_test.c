/* The place of a packet of MP3 by its offset in the file. */
#include "mediad/decoder/mp3_place.h"

#include "tests/test.h"

static const uint8_t head_128[MP3_HEAD] = {0xff, 0xfb, 0x90, 0x64}; /* MPEG-1, 44100 Hz */
static const uint8_t head_160[MP3_HEAD] = {0xff, 0xfb, 0xa0, 0x64};

TEST(a_head_of_mp3_tells_its_rates)
{
	static const struct {
		uint8_t head[MP3_HEAD];
		unsigned bit_rate, sample_rate, samples;
	} rows[] = {{{0xff, 0xfb, 0x90, 0x64}, 128000, 44100, 1152},
		    {{0xff, 0xfb, 0xe4, 0x00}, 320000, 48000, 1152},
		    {{0xff, 0xf3, 0x80, 0x00}, 64000, 22050, 576}, /* MPEG-2 */
		    {{0xff, 0xe3, 0x18, 0x00}, 8000, 8000, 576},   /* MPEG-2.5 */
		    {{0xff, 0xfd, 0x90, 0x00}, 0, 0, 0},	   /* Layer II */
		    {{0xff, 0xfb, 0x00, 0x00}, 0, 0, 0},	   /* of a free rate */
		    {{0xff, 0xfb, 0xf0, 0x00}, 0, 0, 0},
		    {{0xff, 0xfb, 0x9c, 0x00}, 0, 0, 0},
		    {{'I', 'D', '3', 4}, 0, 0, 0}};

	for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct mp3_place p = mp3_place_of(rows[i].head, 7);

		CHECK_INT(p.bit_rate, rows[i].bit_rate);
		CHECK_INT(p.sample_rate, rows[i].sample_rate);
		CHECK_INT(p.samples, rows[i].samples);
		CHECK_INT(p.first, 7);
	}
}

/* Packets of 128 kbit/s are 417 or 418 bytes long: their mean is 417.96. */
TEST(an_offset_tells_the_place_in_an_mp3_of_one_rate)
{
	const struct mp3_place first = mp3_place_of(head_128, 462);
	struct mp3_place packet = mp3_place_of(head_128, 17280984);
	const uint64_t size = 19201088, packets = 45939;
	uint64_t sample = 0;

	CHECK(mp3_place_sample(&first, &packet, size, packets, &sample));
	CHECK_INT(sample, 41345 * UINT64_C(1152));
	CHECK(mp3_place_sample(&first, &packet, size, 0, &sample));
	CHECK(mp3_place_sample(&first, &first, size, packets, &sample));
	CHECK_INT(sample, 0);
	/* Not between two packets. */
	packet.first += 200;
	CHECK(!mp3_place_sample(&first, &packet, size, packets, &sample));
	/* Nor of several rates: these two have the same, the file is longer. */
	packet.first -= 200;
	CHECK(!mp3_place_sample(&first, &packet, size, packets / 2, &sample));
	packet = mp3_place_of(head_160, 17280984);
	CHECK(!mp3_place_sample(&first, &packet, size, packets, &sample));
	packet = mp3_place_of(head_128, 100);
	CHECK(!mp3_place_sample(&first, &packet, size, packets, &sample));
	CHECK(!mp3_place_sample(&(struct mp3_place){0}, &(struct mp3_place){0}, 1, 0, &sample));
}
