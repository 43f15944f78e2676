/* decoderd tells the tags of files for the music library of control. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/decoder/formats.h"
#include "tests/decoder/sound.h"
#include "tests/test.h"

static char dir[64], told[2048];

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	return path;
}

static bool write_tagged(const char *name, const char *format, const char *codec, int rate)
{
	return sound_write(&(struct sound){.path = path_of(name),
					   .format = format,
					   .codec = codec,
					   .rate = rate,
					   .channels = 2,
					   .samples = 2 * rate,
					   .title = "N\xc3\xa4hte\tund Zacken",
					   .artist = "The Band",
					   .album = "First"});
}

#define LINE "N\xc3\xa4hte und Zacken\tThe Band\tFirst\t\n"

/* Takes the lengths out of `told`: mp3 has its padding, and Opus its delay. */
static bool takes_lengths(void)
{
	bool ok = true;

	for (char *line = strchr(told, '\n'), *tab; line && line[1];
	     line = strchr(line + 1, '\n')) {
		long ms;
		char *end;

		tab = strchr(line + 1, '\n');
		while (tab && tab > line && *tab != '\t')
			tab--;
		if (!tab || tab == line)
			continue;
		ms = strtol(tab + 1, &end, 10);
		ok = ok && ms >= 2000 && ms < 2050;
		memmove(tab + 1, end, strlen(end) + 1);
	}
	return ok;
}

/* Asks for these files; their answers follow each other in `told`. Returns the exit status. */
static int ask(const char *requests)
{
	char program[256], command[640], *slash;
	ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
	size_t got;
	FILE *f;

	program[n > 0 ? n : 0] = '\0';
	slash = strrchr(program, '/');
	snprintf(slash ? slash : program, 32, "/../decoderd");
	snprintf(command, sizeof command,
		 "printf '%s' | '%s' --log fatal --tags --root '%s' --root '%s/more'", requests,
		 program, dir, dir);
	f = popen(command, "r");
	got = f ? fread(told, 1, sizeof told - 1, f) : 0;
	told[got] = '\0';
	return f ? pclose(f) >> 8 : -1;
}

static bool begin(void)
{
	snprintf(dir, sizeof dir, "/tmp/tags-XXXXXX");
	return mkdtemp(dir) && mkdir(path_of("more"), 0700) == 0;
}

static void end(void)
{
	char command[128];

	snprintf(command, sizeof command, "rm -rf '%s'", dir);
	CHECK_INT(system(command), 0);
}

TEST(decoderd_tells_the_tags_of_each_format)
{
	CHECK(begin());
	CHECK(write_tagged("a.mp3", "mp3", "libmp3lame", 44100));
	CHECK(write_tagged("b.flac", "flac", "flac", 48000));
	CHECK(write_tagged("c.ogg", "ogg", "libvorbis", 48000));
	CHECK(write_tagged("more/d.opus", "ogg", "libopus", 48000));
	CHECK(write_tagged("more/e.m4a", "ipod", "aac", 48000));
	CHECK_INT(ask("0 a.mp3\\n0 b.flac\\n0 c.ogg\\n1 d.opus\\n1 e.m4a\\n"), 0);
	CHECK(takes_lengths());
	CHECK_STR(told, "ready\n" LINE LINE LINE LINE LINE);
	end();
}

/* One line for each request, whatever the file is. */
TEST(decoderd_tells_no_tags_of_what_it_cannot_read)
{
	FILE *f;

	CHECK(begin());
	CHECK(write_tagged("good.flac", "flac", "flac", 48000));
	f = fopen(path_of("noise.mp3"), "w");
	CHECK(f && fputs("noise", f) >= 0 && fclose(f) == 0);
	CHECK_INT(symlink("/etc/hostname", path_of("link.mp3")), 0);
	CHECK_INT(mkfifo(path_of("pipe.mp3"), 0600), 0);
	CHECK_INT(symlink(dir, path_of("more/up")), 0);
	CHECK_INT(ask("0 noise.mp3\\n0 gone.mp3\\n0 ../x\\n9 good.flac\\n0 link.mp3\\n0 pipe.mp3\\n"
		      "good.flac\\n1 ../good.flac\\n1 up/good.flac\\n0 more/../good.flac\\n"
		      "0 good.flac/x\\n0 more\\n0 \\n0 /etc/hostname\\n0 good.flac\\n"),
		  0);
	CHECK(takes_lengths());
	CHECK_STR(told, "ready\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n" LINE);
	CHECK_INT(ask(""), 0);
	CHECK_STR(told, "ready\n");
	end();
}
