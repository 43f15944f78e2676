#include "tests/sound/voices.h"

#include "proto/base/wav.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <samplerate.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILE_MAX = 8 << 20, ROW = VOICES_RATE / 100, QUIET_DB = 40, TAIL_MS = 30 };

static const struct {
	const char *program, *voice;
} voices[] = {
	{"flite", "slt"},
	{"flite", "rms"},
	{"espeak-ng", "en-us"},
	{"flite", "awb"},
	{"espeak-ng", "en-gb+f3"},
	{"flite", "kal16"},
	{"espeak-ng", "en-us+m3"},
	{"espeak-ng", "en-gb-scotland+f2"},
	{"espeak-ng", "en-gb-x-rp+m7"},
	{"pico2wave", "en-US"},
	{"pico2wave", "en-GB"},
};

static bool program_found(const char *name)
{
	char path[4096], copy[4096], *at = copy;
	const char *all = getenv("PATH");

	snprintf(copy, sizeof copy, "%s", all ? all : "");
	for (char *p; (p = strsep(&at, ":"));) {
		snprintf(path, sizeof path, "%s/%s", p, name);
		if (access(path, X_OK) == 0)
			return true;
	}
	return false;
}

unsigned voices_count(void)
{
	unsigned all = sizeof voices / sizeof *voices;

	return program_found("pico2wave") ? all : all - 2;
}

const char *voices_name(unsigned voice)
{
	static char name[64];

	snprintf(name, sizeof name, "%s %s", voices[voice].program, voices[voice].voice);
	return name;
}

static int run(char *const argv[])
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return errno;
	if (!pid) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) < 0)
		return errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : EIO;
}

static int synthesize(unsigned voice, const char *text, const char *path)
{
	char *t = (char *)text, *v = (char *)voices[voice].voice, *o = (char *)path;
	char *flite[] = {"flite", "-voice", v, "-t", t, "-o", o, NULL};
	char *espeak[] = {"espeak-ng", "-s", "170", "-v", v, "-w", o, "--", t, NULL};
	char *pico[] = {"pico2wave", "-l", v, "-w", o, t, NULL};

	if (strcmp(voices[voice].program, "flite") == 0)
		return run(flite);
	return run(strcmp(voices[voice].program, "espeak-ng") == 0 ? espeak : pico);
}

/* Caller frees. */
static float *read_wav(const char *path, size_t *n, uint32_t *rate)
{
	uint8_t *bytes = malloc(FILE_MAX);
	FILE *f = fopen(path, "rb");
	size_t size = f && bytes ? fread(bytes, 1, FILE_MAX, f) : 0;
	float *x = NULL;
	struct wav w;

	if (f)
		fclose(f);
	if (size && wav_parse(&w, bytes, size) == 0 && w.channels == 1 && w.frames) {
		x = malloc(w.frames * sizeof *x);
		for (size_t i = 0; x && i < w.frames; i++)
			x[i] = (float)(int16_t)(w.data[2 * i] | w.data[2 * i + 1] << 8);
		*n = w.frames;
		*rate = w.rate;
	}
	free(bytes);
	return x;
}

static double row_power(const float *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)x[i] * x[i];
	return n ? sum / (double)n : 0;
}

/* Cuts the silence at both ends and sets the level of the voiced rows. */
static void trim(const float *x, size_t n, size_t *from, size_t *to, double *gain)
{
	double most = 0, sum = 0;
	size_t rows = n / ROW, voiced = 0;

	*from = 0;
	*to = n;
	for (size_t r = 0; r < rows; r++)
		most = fmax(most, row_power(x + r * ROW, ROW));
	for (size_t r = 0; r < rows; r++) {
		double p = row_power(x + r * ROW, ROW);

		if (p * pow(10, QUIET_DB / 10.0) <= most)
			continue;
		if (!voiced)
			*from = r * ROW;
		*to = (r + 1) * ROW;
		voiced++;
		sum += p;
	}
	*gain = sum > 0 ? 32768 * pow(10, VOICES_DBFS / 20.0) / sqrt(sum / (double)voiced) : 1;
}

static int write_pcm(const char *path, const float *x, size_t n, unsigned pause_ms)
{
	size_t from, to, total;
	double gain;
	int16_t *out;
	FILE *f;
	int err = 0;

	trim(x, n, &from, &to, &gain);
	total = to - from + (size_t)(pause_ms + TAIL_MS) * VOICES_RATE / 1000;
	out = calloc(total, sizeof *out);
	if (!out)
		return ENOMEM;
	for (size_t i = from; i < to; i++)
		out[i - from] = (int16_t)fmax(-32000, fmin(32000, x[i] * gain));
	f = fopen(path, "wb");
	if (!f || fwrite(out, 2, total, f) != total)
		err = EIO;
	if (f && fclose(f))
		err = EIO;
	free(out);
	return err;
}

static int render(unsigned voice, const char *text, const char *path, unsigned pause_ms)
{
	char wav[300], made[300];
	uint32_t rate = 0;
	size_t n = 0;
	float *x, *y = NULL;
	int err;

	snprintf(wav, sizeof wav, "%s.wav", path);
	snprintf(made, sizeof made, "%s.new", path);
	err = synthesize(voice, text, wav);
	x = err ? NULL : read_wav(wav, &n, &rate);
	unlink(wav);
	if (!x)
		return EIO;
	SRC_DATA d = {.data_in = x,
		      .input_frames = (long)n,
		      .src_ratio = (double)VOICES_RATE / rate,
		      .output_frames = (long)((double)n * VOICES_RATE / rate) + 1};
	y = malloc((size_t)d.output_frames * sizeof *y);
	d.data_out = y;
	err = !y || src_simple(&d, SRC_SINC_MEDIUM_QUALITY, 1) ? EIO : 0;
	if (!err)
		err = write_pcm(made, y, (size_t)d.output_frames_gen, pause_ms);
	if (!err && rename(made, path))
		err = errno;
	free(x);
	free(y);
	return err;
}

int voices_speak(char path[256], uint32_t *ms, const char *folder, unsigned voice, const char *text,
		 unsigned pause_ms)
{
	uint64_t h = 0xcbf29ce484222325ull ^ pause_ms;
	struct stat st;
	int err = 0;

	for (const char *p = voices_name(voice); *p; p++)
		h = (h ^ (unsigned char)*p) * 0x100000001b3ull;
	for (const char *p = text; *p; p++)
		h = (h ^ (unsigned char)*p) * 0x100000001b3ull;
	snprintf(path, 256, "%s/%016llx.pcm", folder, (unsigned long long)h);
	if (stat(path, &st))
		err = render(voice, text, path, pause_ms);
	if (!err && stat(path, &st))
		err = errno;
	if (!err)
		*ms = (uint32_t)((uint64_t)st.st_size * 500 / VOICES_RATE);
	return err;
}
