/* The caller of the demo: says a sentence in guildd's voice channel, prints what happens with
 * times, and judges whether the sound that came back is the sound that was said. */
#include "tests/caller/caller.h"
#include "tests/caller/score.h"

#include "control/offline/wavfile.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/base/wav.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RATE = 24000, ENOUGH_PERCENT = 80 };

extern char **environ;

static struct {
	const char *api, *sock, *spawn, *ca, *offlined, *record, *out, *say, *wav, *voice, *arrived,
		*stay;
	uint64_t guild, channel, user, bot;
	const char *line[CALLER_LINES]; /* "MS TEXT" */
	unsigned lines, wait_s, quiet_ms;
} opt = {.voice = "rms", .out = "out/demo", .wait_s = 12, .quiet_ms = 1500};

static struct {
	struct env *env;
	enum caller_end end;
} run;

static void done(enum caller_end end, void *arg)
{
	(void)arg;
	run.end = end;
	env_stop(run.env);
}

/* Runs a program of ours to its end; with buf its output is kept there. Exit status, or -1. */
static int run_program(char *const argv[], char *buf, size_t size)
{
	posix_spawn_file_actions_t fa;
	int fd[2], status = -1;
	size_t n = 0;
	ssize_t k;
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC))
		return -1;
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, fd[1], 1);
	if (!argv[0] || posix_spawn(&pid, argv[0], &fa, NULL, argv, environ))
		pid = -1;
	posix_spawn_file_actions_destroy(&fa);
	close(fd[1]);
	while (n + 1 < size && (k = read(fd[0], buf + n, size - 1 - n)) > 0)
		n += (size_t)k;
	if (size)
		buf[n] = '\0';
	close(fd[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* A WAVE file as mono s16; caller frees. Says what is wrong with it. */
static int16_t *read_mono(const char *path, uint32_t *rate, size_t *samples)
{
	int16_t *pcm = NULL;
	int err = wavfile_read(path, rate, &pcm, samples);

	if (err)
		fprintf(stderr, "caller: %s: %s\n", path,
			err == ENOTSUP	 ? "only 16-bit PCM WAVE files can be played"
			: err == EBADMSG ? "not a WAVE file"
					 : strerror(err));
	return pcm;
}

static int write_wav(const char *path, const int16_t *left, size_t nl, const int16_t *right,
		     size_t nr)
{
	size_t n = nl > nr ? nl : nr;
	uint16_t channels = right ? 2 : 1;
	uint8_t head[WAV_HEADER];
	FILE *f = fopen(path, "wb");
	int err = 0;

	if (!f)
		return errno;
	wav_header(head, RATE, channels, n);
	fwrite(head, 1, sizeof head, f);
	for (size_t i = 0; i < n; i++) {
		int16_t pair[2] = {i < nl ? left[i] : 0, i < nr && right ? right[i] : 0};

		fwrite(pair, 2, channels, f);
	}
	if (fflush(f) || ferror(f))
		err = EIO;
	fclose(f);
	return err;
}

/* Reads the newest line of this kind from offlined's record of its messages. */
static json_t *newest(const char *kind)
{
	char path[1024], row[65536];
	json_t *found = NULL;
	FILE *f;

	snprintf(path, sizeof path, "%s/events.jsonl", opt.record);
	f = fopen(path, "r");
	while (f && fgets(row, sizeof row, f)) {
		json_t *o = json_loads(row, 0, NULL);
		const char *k = json_string_value(json_object_get(o, "kind"));

		if (k && strcmp(k, kind) == 0) {
			json_decref(found);
			found = json_incref(o);
		}
		json_decref(o);
	}
	if (f)
		fclose(f);
	return found;
}

static const char *text_of(const json_t *o)
{
	const char *t = json_string_value(json_object_get(o, "text"));

	return t ? t : "";
}

/* Compares the sound that came with the sound offlined made. 0 when it is the same. */
static int judge(const struct caller *c)
{
	json_t *heard = newest("heard"), *said = newest("said");
	const char *file = json_string_value(json_object_get(said, "wav"));
	char path[1024], words[4096] = "";
	size_t n, nref = 0;
	const int16_t *got = caller_heard(c, &n);
	int16_t *ref = NULL;
	uint32_t rate = 0;
	double corr = 0;
	long lag = 0;

	snprintf(path, sizeof path, "%s/arrived.wav", opt.out);
	if (write_wav(path, got, n, NULL, 0) == 0) {
		char *argv[] = {(char *)opt.offlined, "--transcribe", path, NULL};

		if (run_program(argv, words, sizeof words))
			fprintf(stderr, "caller: the recogniser could not read what arrived\n");
		words[strcspn(words, "\n")] = '\0';
	}
	if (file) {
		snprintf(path, sizeof path, "%s/%s", opt.record, file);
		ref = read_mono(path, &rate, &nref);
	}
	if (ref && rate == RATE)
		corr = score_correlation(ref, nref, got, n, &lag);
	printf("heard: %s\n", text_of(heard));
	printf("said: %s\n", text_of(said));
	printf("caller heard: %s\n", words);
	printf("the sound that arrived is the sound that was said: correlation %.2f (at least 0.80 "
	       "wanted); words in "
	       "common: %.0f %%\n",
	       corr, 100 * score_words(text_of(said), words));
	free(ref);
	json_decref(heard);
	json_decref(said);
	return corr * 100 >= ENOUGH_PERCENT ? 0 : 1;
}

static void usage(FILE *f)
{
	fprintf(f,
		"usage: caller --api URL (--media-sock PATH | --spawn-mediad PROGRAM) --offlined "
		"PROGRAM --record DIR\n"
		"              --guild ID --channel ID --user ID --bot ID [--ca FILE] [--out DIR]\n"
		"              (--say TEXT [--voice NAME] | --wav FILE) [--line 'MS TEXT']… "
		"[--wait SECONDS] [--quiet MS]\n"
		"              [--stay FILE]\n\n"
		"       caller --wav FILE --arrived FILE.pcm\n\n"
		"Joins guildd's voice channel, says TEXT (in a voice of flite's) or plays FILE, "
		"and judges the answer.\n"
		"--wait: for the answer, 12 by default. --quiet: the answer is over when the bot "
		"has been\n"
		"silent for so long, 1500 by default.\n"
		"--arrived: joins nothing; says whether FILE stands within FILE.pcm, s16le mono at "
		"24 kHz.\n"
		"--line: says more, so long after the bot began to speak; then nothing is judged.\n"
		"--stay: writes the exit status to FILE, closes its output, and listens in the "
		"call "
		"until it is killed.\n"
		"Exit status: 0 the answer arrived as it was said, 1 it did not, 2 wrong usage.\n");
}

static int parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{"api", 1, NULL, 'a'},		{"media-sock", 1, NULL, 'm'},
		{"spawn-mediad", 1, NULL, 'M'}, {"ca", 1, NULL, 'c'},
		{"offlined", 1, NULL, 'o'},	{"record", 1, NULL, 'r'},
		{"out", 1, NULL, 'O'},		{"say", 1, NULL, 's'},
		{"wav", 1, NULL, 'w'},		{"voice", 1, NULL, 'v'},
		{"guild", 1, NULL, 'g'},	{"channel", 1, NULL, 'C'},
		{"user", 1, NULL, 'u'},		{"bot", 1, NULL, 'b'},
		{"line", 1, NULL, 'l'},		{"wait", 1, NULL, 'W'},
		{"quiet", 1, NULL, 'q'},	{"arrived", 1, NULL, 'A'},
		{"stay", 1, NULL, 'S'},		{"help", 0, NULL, 'h'},
		{"version", 0, NULL, 'V'},	{NULL, 0, NULL, 0},
	};
	int k;

	while ((k = getopt_long(argc, argv, "hV", longs, NULL)) != -1) {
		switch (k) {
		case 'a':
			opt.api = optarg;
			break;
		case 'm':
			opt.sock = optarg;
			break;
		case 'M':
			opt.spawn = optarg;
			break;
		case 'c':
			opt.ca = optarg;
			break;
		case 'o':
			opt.offlined = optarg;
			break;
		case 'r':
			opt.record = optarg;
			break;
		case 'O':
			opt.out = optarg;
			break;
		case 's':
			opt.say = optarg;
			break;
		case 'w':
			opt.wav = optarg;
			break;
		case 'v':
			opt.voice = optarg;
			break;
		case 'g':
			opt.guild = strtoull(optarg, NULL, 10);
			break;
		case 'C':
			opt.channel = strtoull(optarg, NULL, 10);
			break;
		case 'u':
			opt.user = strtoull(optarg, NULL, 10);
			break;
		case 'b':
			opt.bot = strtoull(optarg, NULL, 10);
			break;
		case 'l':
			if (opt.lines == CALLER_LINES)
				return EINVAL;
			opt.line[opt.lines++] = optarg;
			break;
		case 'W':
			opt.wait_s = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'q':
			opt.quiet_ms = (unsigned)strtoul(optarg, NULL, 10);
			break;
		case 'A':
			opt.arrived = optarg;
			break;
		case 'S':
			opt.stay = optarg;
			break;
		case 'h':
			usage(stdout);
			exit(0);
		case 'V':
			printf("caller (Parley) %s\n", PARLEY_VERSION);
			exit(0);
		default:
			return EINVAL;
		}
	}
	if (opt.arrived)
		return opt.wav ? 0 : EINVAL;
	return opt.api && !opt.sock != !opt.spawn && opt.offlined && opt.record && opt.guild &&
			       opt.channel && opt.user && opt.bot && !opt.say != !opt.wav
		       ? 0
		       : EINVAL;
}

/* The sentence as sound: played from a file, or spoken by offlined in a process of the caller's
 * own. */
static int16_t *spoken(const char *text, const char *name, uint32_t *rate, size_t *samples)
{
	char path[1024];

	snprintf(path, sizeof path, "%s/%s.wav", opt.out, name);
	char *argv[] = {(char *)opt.offlined, "--speak", (char *)text, "--voice",
			(char *)opt.voice,    "-o",	 path,	       NULL};

	if (run_program(argv, NULL, 0)) {
		fprintf(stderr, "caller: offlined could not speak the question\n");
		return NULL;
	}
	return read_mono(path, rate, samples);
}

static int16_t *recording(uint32_t *rate, size_t *samples)
{
	return opt.wav ? read_mono(opt.wav, rate, samples)
		       : spoken(opt.say, "question", rate, samples);
}

/* What is said over the bot. False: one could not be made, or has another rate. */
static bool lines(struct caller_conf *cc)
{
	for (unsigned i = 0; i < opt.lines; i++) {
		struct caller_line *l = &cc->line[cc->lines];
		char name[16], *text;
		uint32_t rate = 0;

		l->after_ms = (unsigned)strtoul(opt.line[i], &text, 10);
		snprintf(name, sizeof name, "line%u", i + 1);
		l->pcm = spoken(text, name, &rate, &l->samples);
		if (!l->pcm)
			return false;
		cc->lines++;
		if (rate != cc->rate)
			return false;
	}
	return true;
}

/* Raw samples of a file; caller frees. */
static int16_t *read_raw(const char *path, size_t *samples)
{
	FILE *f = fopen(path, "rb");
	int16_t *pcm = NULL;
	long size = f && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;

	if (size > 0 && fseek(f, 0, SEEK_SET) == 0)
		pcm = malloc((size_t)size);
	*samples = pcm ? fread(pcm, 2, (size_t)size / 2, f) : 0;
	if (f)
		fclose(f);
	return pcm;
}

/* Exit status: 0 the recording stands within the samples. */
static int compare(void)
{
	uint32_t rate = 0;
	size_t n = 0, arrived;
	int16_t *ref = read_mono(opt.wav, &rate, &n), *got = read_raw(opt.arrived, &arrived);
	long lag = 0;
	double corr = rate == RATE ? score_correlation(ref, n, got, arrived, &lag) : 0;

	printf("correlation %.2f\n", corr);
	free(ref);
	free(got);
	return corr * 100 >= ENOUGH_PERCENT ? 0 : 1;
}

/* Whoever reads the output sees its end. */
static void stay_in_call(int rc)
{
	FILE *f = fopen(opt.stay, "w");

	if (!f || fprintf(f, "%d\n", rc) < 0 || fclose(f)) {
		fprintf(stderr, "caller: cannot write %s\n", opt.stay);
		return;
	}
	if (freopen("/dev/null", "w", stdout))
		env_run(run.env);
}

int main(int argc, char **argv)
{
	struct env_conf ec = {.loop = true};
	struct caller_conf cc = {0};
	struct caller *c = NULL;
	char path[1024];
	size_t samples = 0, n;
	uint32_t rate = 0;
	int16_t *pcm;
	int rc = 1;

	if (parse(argc, argv)) {
		usage(stderr);
		return 2;
	}
	if (opt.arrived)
		return compare();
	log_init("caller", LOG_WARN_);
	pcm = recording(&rate, &samples);
	if (!pcm || !samples) {
		if (pcm)
			fprintf(stderr, "caller: the recording is empty\n");
		goto out;
	}
	cc = (struct caller_conf){.api = opt.api,
				  .media_sock = opt.sock,
				  .spawn = opt.spawn,
				  .run_dir = getenv("XDG_RUNTIME_DIR"),
				  .ca_file = opt.ca,
				  .guild = opt.guild,
				  .channel = opt.channel,
				  .user = opt.user,
				  .bot = opt.bot,
				  .pcm = pcm,
				  .samples = samples,
				  .rate = rate,
				  .quiet_ms = opt.quiet_ms,
				  .answer_ms = opt.wait_s * 1000};
	if (!lines(&cc) || env_alloc(&run.env, &ec) || caller_alloc(&c, run.env, &cc, done, NULL)) {
		fprintf(stderr, "caller: cannot start\n");
		goto out;
	}
	env_run(run.env);
	snprintf(path, sizeof path, "%s/conversation.wav", opt.out);
	const int16_t *left = caller_said(c, &n);
	size_t nr;
	const int16_t *right = caller_heard(c, &nr);
	if (write_wav(path, left, n, right, nr))
		fprintf(stderr, "caller: cannot write %s\n", path);
	if (run.end == CALLER_ANSWERED)
		rc = opt.lines ? 0 : judge(c);
	else
		printf("%s.\n", caller_end_text(run.end));
	fflush(stdout);
	if (opt.stay)
		stay_in_call(rc);
out:
	caller_free(c);
	env_free(run.env);
	for (unsigned i = 0; i < cc.lines; i++)
		free((void *)cc.line[i].pcm);
	free(pcm);
	return rc;
}
