/* decoderd prints the sounds of a folder for control: every format, the level, and what it leaves
 * out. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/decoder/sound.h"
#include "tests/test.h"

enum { RATE = 48000, LINE = 1100000 };

static char dir[64], listing[512];
static double level; /* dBFS of the last sound */

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	return path;
}

static bool write_sound(const char *name, const char *format, const char *codec, int rate,
			double seconds, double (*signal)(double t, int channel))
{
	return sound_write(&(struct sound){.path = path_of(name),
					   .format = format,
					   .codec = codec,
					   .rate = rate,
					   .channels = 2,
					   .samples = (int64_t)(seconds * rate),
					   .signal = signal});
}

static int16_t sample_at(const char *hex)
{
	unsigned v = 0;

	sscanf(hex, "%4x", &v);
	return (int16_t)(v >> 8 | v << 8);
}

/* The line's name and duration in ms into the listing. */
static void take_line(const char *line)
{
	const char *hex = strchr(line, '\t');
	size_t n = hex ? strcspn(hex + 1, "\n") / 4 : 0, at = strlen(listing);
	double sum = 0;

	snprintf(listing + at, sizeof listing - at, "%.*s %zu\n", hex ? (int)(hex - line) : 0, line,
		 n * 1000 / RATE);
	for (size_t i = 0; i < n; i++)
		sum += pow(sample_at(hex + 1 + 4 * i), 2);
	level = n ? 10 * log10(sum / (double)n / 32768 / 32768) : 0;
}

/* Returns the exit status. */
static int print_sounds(const char *folder)
{
	static char line[LINE];
	char program[256], command[512];
	ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
	char *slash;
	FILE *f;

	listing[0] = '\0';
	program[n > 0 ? n : 0] = '\0';
	slash = strrchr(program, '/');
	snprintf(slash ? slash : program, 32, "/../decoderd");
	snprintf(command, sizeof command, "'%s' --log fatal --sounds '%s'", program, folder);
	f = popen(command, "r");
	while (f && fgets(line, sizeof line, f))
		take_line(line);
	return f ? pclose(f) >> 8 : -1;
}

static bool begin(void)
{
	snprintf(dir, sizeof dir, "/tmp/sounds-XXXXXX");
	return mkdtemp(dir) != NULL;
}

static void end(void)
{
	char command[128];

	snprintf(command, sizeof command, "rm -rf '%s'", dir);
	CHECK_INT(system(command), 0);
}

TEST(decoderd_prints_sounds_of_each_format)
{
	CHECK(begin());
	CHECK(write_sound("a bell.wav", "wav", "pcm_s16le", 44100, 0.5, NULL));
	CHECK(write_sound("b.flac", "flac", "flac", 48000, 1, NULL));
	CHECK(write_sound("c.ogg", "ogg", "libopus", 48000, 1.5, NULL));
	CHECK(write_sound("d.e.mp3", "mp3", "libmp3lame", 44100, 2, NULL));
	CHECK_INT(print_sounds(dir), 0);
	CHECK_STR(listing, "a bell 500\nb 1000\nc 1500\nd.e 2000\n");
	end();
}

static double quiet(double t, int channel)
{
	(void)channel;
	return 0.1 * sin(2 * M_PI * 1000 * t);
}

static double loud(double t, int channel)
{
	return 9.9 * quiet(t, channel);
}

/* A stereo sine at 1 kHz has the loudness of its level in dBFS plus 3 dB: -18 LUFS are -21 dB. */
/* Returns a process that pid has forked, or 0. */
static int find_child(int pid)
{
	DIR *d = opendir("/proc");
	const struct dirent *e;
	int child = 0;

	while (d && !child && (e = readdir(d))) {
		int id = atoi(e->d_name), parent = 0;
		char path[64];
		FILE *f;

		snprintf(path, sizeof path, "/proc/%d/stat", id);
		f = id > 0 ? fopen(path, "r") : NULL;
		if (f && fscanf(f, "%*d (%*[^)]) %*c %d", &parent) == 1 && parent == pid)
			child = id;
		if (f)
			fclose(f);
	}
	if (d)
		closedir(d);
	return child;
}

static int oom_score_of(int pid)
{
	char path[64];
	FILE *f;
	int score = 0;

	snprintf(path, sizeof path, "/proc/%d/oom_score_adj", pid);
	f = fopen(path, "r");
	if (f && fscanf(f, "%d", &score) != 1)
		score = 0;
	if (f)
		fclose(f);
	return score;
}

/* What decodes a file of a stranger gives way to the conversation, and dies before it. */
TEST(decoderd_decodes_sounds_nicely)
{
	char program[256];
	ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
	bool nice = false, dies_first = false;
	pid_t pid;

	CHECK(begin());
	for (unsigned i = 0; i < 20; i++) {
		char name[16];

		snprintf(name, sizeof name, "%u.flac", i);
		CHECK(write_sound(name, "flac", "flac", 48000, 2, NULL));
	}
	program[n > 0 ? n : 0] = '\0';
	snprintf(strrchr(program, '/'), 32, "/../decoderd");
	pid = fork();
	if (pid == 0) {
		if (freopen("/dev/null", "w", stdout))
			execl(program, program, "--sounds", dir, (char *)NULL);
		_exit(1);
	}
	while (waitpid(pid, NULL, WNOHANG) == 0) {
		int child = find_child(pid);

		nice = nice || (child && getpriority(PRIO_PROCESS, (id_t)child) == 10);
		dies_first = dies_first || (child && oom_score_of(child) == 500);
	}
	CHECK(nice && dies_first);
	end();
}

TEST(decoderd_prints_sounds_at_one_loudness)
{
	static double (*const signals[])(double, int) = {quiet, loud};

	for (unsigned i = 0; i < 2; i++) {
		CHECK(begin());
		CHECK(write_sound("s.wav", "wav", "pcm_s16le", 48000, 1, signals[i]));
		CHECK_INT(print_sounds(dir), 0);
		CHECK_STR(listing, "s 1000\n");
		CHECK(fabs(level + 21) < 0.5);
		end();
	}
}

TEST(decoderd_leaves_out_what_is_no_short_sound)
{
	FILE *f;

	CHECK(begin());
	CHECK(write_sound("good.wav", "wav", "pcm_s16le", 48000, 5.2, NULL));
	CHECK(write_sound("long.wav", "wav", "pcm_s16le", 48000, 5.3, NULL));
	CHECK(write_sound(".hidden.wav", "wav", "pcm_s16le", 48000, 1, NULL));
	CHECK_INT(symlink("good.wav", path_of("link.wav")), 0);
	CHECK_INT(mkdir(path_of("folder.wav"), 0700), 0);
	CHECK_INT(mkfifo(path_of("pipe.wav"), 0600), 0);
	f = fopen(path_of("text.mp3"), "w");
	CHECK(f);
	fputs("no sound", f);
	fclose(f);
	CHECK_INT(print_sounds(dir), 0);
	CHECK_STR(listing, "good 5200\n");
	end();
	CHECK_INT(print_sounds("/nowhere/at/all"), 1);
}
