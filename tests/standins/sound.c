#include "tests/standins/sound.h"

#include "ipc/log.h"
#include "proto/base/wav.h"
#include "tests/standins/record.h"
#include "tests/standins/standin.h"

#include <errno.h>
#include <event2/event.h>
#include <math.h>
#include <openssl/evp.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>

enum { WORDS_MAX = 4096, PATH_SIZE = 64, LOUD = 8000, FADE = 120, FILE_MAX_ = 64 << 20 };

extern char **environ;

struct si_sound {
	struct si_standin *st;
	struct event *ready; /* the program's output, or the next turn */
	pid_t pid;
	int fd;
	char file[PATH_SIZE]; /* of the program, "" without one */
	uint32_t rate;
	si_speak_h *speakh;
	si_hear_h *hearh;
	void *arg;
	int16_t *pcm;
	size_t n;
	char words[WORDS_MAX];
	size_t n_words;
};

unsigned si_sound_hz(uint32_t n)
{
	return 400 + n % 16 * 50;
}

char *si_base64(const void *data, size_t n)
{
	char *text = si_alloc((n + 2) / 3 * 4 + 1);

	EVP_EncodeBlock((uint8_t *)text, data, (int)n);
	return text;
}

uint8_t *si_unbase64(const char *text, size_t n, size_t *out)
{
	uint8_t *data;
	int got;

	if (n % 4)
		return NULL;
	data = si_alloc(n / 4 * 3 + 1);
	got = n ? EVP_DecodeBlock(data, (const uint8_t *)text, (int)n) : 0;
	if (got < 0) {
		free(data);
		return NULL;
	}
	for (size_t i = n; i && text[i - 1] == '=' && got; i--)
		got--;
	*out = (size_t)got;
	return data;
}

struct si_sound *si_sound_cancel(struct si_sound *s)
{
	if (!s)
		return NULL;
	if (s->ready)
		event_free(s->ready);
	if (s->fd >= 0)
		close(s->fd);
	if (s->pid > 0) {
		kill(s->pid, SIGKILL);
		waitpid(s->pid, NULL, 0);
	}
	if (s->file[0])
		unlink(s->file);
	free(s->pcm);
	free(s);
	return NULL;
}

/* The handler may begin a sound of its own, so the struct is detached before. */
static void sound_done(struct si_sound *s)
{
	si_record_sound(s->st->record, s->speakh ? "said" : "heard", s->words, s->pcm, s->n,
			s->rate);
	if (s->speakh)
		s->speakh(s->pcm, s->n, s->arg);
	else
		s->hearh(s->words[0] ? s->words : NULL, s->arg);
	si_sound_cancel(s);
}

/* A tone with soft edges. */
static void tone_make(struct si_sound *s, const char *text)
{
	unsigned hz = si_sound_hz(++s->st->sounds);
	size_t words = 1;

	for (const char *p = text; *p; p++)
		words += *p == ' ';
	s->n = words * SI_SOUND_WORD_MS * s->rate / 1000;
	s->pcm = si_alloc(s->n * sizeof *s->pcm);
	for (size_t i = 0; i < s->n; i++) {
		size_t edge = i < s->n - i ? i : s->n - i;
		double gain = edge < FADE ? (double)edge / FADE : 1;

		s->pcm[i] = (int16_t)(gain * LOUD * sin(2 * M_PI * hz * (double)i / s->rate));
	}
}

/* From the file's rate to the session's, along straight lines. */
static void rate_convert(struct si_sound *s, const struct wav *w)
{
	s->n = (size_t)((uint64_t)w->frames * s->rate / w->rate);
	s->pcm = si_alloc((s->n + 1) * sizeof *s->pcm);
	for (size_t i = 0; i < s->n; i++) {
		double at = (double)i * w->rate / s->rate;
		size_t k = (size_t)at, next = k + 1 < w->frames ? k + 1 : k;
		const uint8_t *a = w->data + 2 * k, *b = w->data + 2 * next;
		double x = (int16_t)(a[0] | a[1] << 8), y = (int16_t)(b[0] | b[1] << 8);

		s->pcm[i] = (int16_t)(x + (y - x) * (at - (double)k));
	}
}

static void file_read(struct si_sound *s)
{
	uint8_t *data = si_alloc(FILE_MAX_);
	FILE *f = fopen(s->file, "r");
	size_t n = f ? fread(data, 1, FILE_MAX_, f) : 0;
	struct wav w;

	if (f)
		fclose(f);
	if (n && wav_parse(&w, data, n) == 0 && w.channels == 1)
		rate_convert(s, &w);
	free(data);
}

static void on_output(evutil_socket_t fd, short what, void *arg)
{
	struct si_sound *s = arg;
	char ignored[256];
	ssize_t n;

	(void)what;
	if (s->pid > 0) {
		char *at = s->speakh ? ignored : s->words + s->n_words;

		n = read(fd, at, s->speakh ? sizeof ignored : sizeof s->words - 1 - s->n_words);
		if (n > 0) {
			s->n_words += s->speakh ? 0 : (size_t)n;
			return;
		}
		waitpid(s->pid, NULL, 0);
		s->pid = 0;
		if (s->speakh)
			file_read(s);
		else
			s->words[strcspn(s->words, "\n")] = '\0';
	}
	sound_done(s);
}

/* Runs offlined with these arguments; its output is read as words. */
static bool program_run(struct si_sound *s, char *const argv[])
{
	posix_spawn_file_actions_t files;
	int pipes[2], err;

	if (pipe2(pipes, O_CLOEXEC))
		return false;
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, pipes[1], STDOUT_FILENO);
	err = posix_spawn(&s->pid, argv[0], &files, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	close(pipes[1]);
	if (err) {
		log_warn("program_failed", "program=%s error=%s", argv[0], strerror(err));
		s->pid = 0;
		close(pipes[0]);
		return false;
	}
	s->fd = pipes[0];
	s->ready = event_new(s->st->base, s->fd, EV_READ | EV_PERSIST, on_output, s);
	return s->ready && event_add(s->ready, NULL) == 0;
}

static struct si_sound *sound_new(struct si_standin *st, uint32_t rate, void *arg)
{
	struct si_sound *s = si_alloc(sizeof *s);

	s->st = st;
	s->rate = rate;
	s->arg = arg;
	s->fd = -1;
	return s;
}

static void sound_soon(struct si_sound *s)
{
	s->ready = event_new(s->st->base, -1, 0, on_output, s);
	if (!s->ready)
		exit(1);
	event_active(s->ready, EV_TIMEOUT, 0);
}

static bool file_make(struct si_sound *s)
{
	int fd;

	snprintf(s->file, sizeof s->file, "/tmp/standin-XXXXXX");
	fd = mkstemp(s->file);
	if (fd < 0) {
		s->file[0] = '\0';
		return false;
	}
	close(fd);
	return true;
}

struct si_sound *si_sound_speak(struct si_standin *st, const char *text, uint32_t rate,
				si_speak_h *h, void *arg)
{
	struct si_sound *s = sound_new(st, rate, arg);

	s->speakh = h;
	snprintf(s->words, sizeof s->words, "%s", text);
	if (st->offlined && text[0] && file_make(s)) {
		char *argv[] = {(char *)st->offlined, "--speak", (char *)text, "-o", s->file, NULL};

		if (program_run(s, argv))
			return s;
	}
	tone_make(s, text);
	sound_soon(s);
	return s;
}

static bool wav_write(const struct si_sound *s, const int16_t *pcm, size_t n)
{
	uint8_t head[WAV_HEADER];
	FILE *f = fopen(s->file, "w");
	bool ok;

	if (!f)
		return false;
	wav_header(head, s->rate, 1, n);
	ok = fwrite(head, 1, sizeof head, f) == sizeof head && fwrite(pcm, 2, n, f) == n;
	return fclose(f) == 0 && ok;
}

struct si_sound *si_sound_hear(struct si_standin *st, const int16_t *pcm, size_t n, uint32_t rate,
			       const char *words, si_hear_h *h, void *arg)
{
	struct si_sound *s = sound_new(st, rate, arg);

	s->hearh = h;
	if (words) {
		snprintf(s->words, sizeof s->words, "%s", words);
	} else if (st->offlined && file_make(s) && wav_write(s, pcm, n)) {
		char *argv[] = {(char *)st->offlined, "--transcribe", s->file, NULL};

		if (program_run(s, argv))
			return s;
	} else {
		snprintf(s->words, sizeof s->words, "speech of %zu ms", n * 1000 / rate);
	}
	sound_soon(s);
	return s;
}
