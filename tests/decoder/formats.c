#include "tests/decoder/formats.h"

#include <math.h>

#include "tests/decoder/sound.h"

const struct format formats[FORMATS] = {
	{"a.wav", "wav", "pcm_s16le", 48000, 80, 0},  {"b.flac", "flac", "flac", 44100, 60, 1},
	{"c.flac", "flac", "flac", 48000, 80, 0},     {"d.mp3", "mp3", "libmp3lame", 44100, 15, 1},
	{"e.mp3", "mp3", "libmp3lame", 48000, 15, 0}, {"f.ogg", "ogg", "libvorbis", 44100, 10, 1},
	{"g.opus", "ogg", "libopus", 48000, 10, 0},   {"h.webm", "webm", "libopus", 48000, 10, 0},
	{"i.m4a", "ipod", "aac", 44100, 15, 1},	      {"j.m4a", "ipod", "aac", 48000, 15, 0},
	{"k.m4a", "ipod", "alac", 44100, 60, 1},      {"l.mka", "matroska", "flac", 48000, 80, 0},
};

static int64_t count_samples(const struct format *f)
{
	return (int64_t)FORMAT_SECONDS * f->rate + 77;
}

bool format_write(const struct deck *d, const struct format *f, int channels)
{
	struct sound s = {.path = deck_path(d, f->name),
			  .format = f->format,
			  .codec = f->codec,
			  .rate = f->rate,
			  .channels = channels,
			  .samples = count_samples(f),
			  .title = "Tïtle",
			  .artist = "An artist",
			  .gain = "-3.50 dB"};

	return sound_write(&s);
}

long format_frames(const struct format *f)
{
	return lrint((double)count_samples(f) * RATE / f->rate);
}

double format_snr(const struct played *p, uint64_t start)
{
	double signal = 1e-9, noise = 1e-9;

	for (size_t i = 0; i < p->frames; i++)
		for (int c = 0; c < 2; c++) {
			double want = sound_signal((double)(start + i) / RATE, c),
			       got = p->pcm[2 * i + (size_t)c] / 32768.0;

			signal += want * want;
			noise += (want - got) * (want - got);
		}
	return 10 * log10(signal / noise);
}
