/* The turn file: its rotation, and erasures beside a writer. */
#include "control/store/turn_file.h"

#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>

#include "tests/unit/control/store/store_scene.h"

enum { LINES = 2000, BIG = 4 << 20 };

static char dir[32], file[64], old[TURN_FILE_PATH];

static void begin(void)
{
	CHECK(folder_make(dir));
	snprintf(file, sizeof file, "%s/turns", dir);
	CHECK(turn_file_old(file, old));
}

static void append(const char *line)
{
	CHECK_INT(turn_file_append(file, line, strlen(line)), 0);
}

static bool names_ana(const char *line, void *arg)
{
	(void)arg;
	return strstr(line, "ana") != NULL;
}

TEST(a_full_turn_file_makes_room_for_a_new_one)
{
	begin();
	append("first\n");
	CHECK_INT(truncate(file, BIG), 0);
	append("second\n");
	append("third\n");
	CHECK_INT(store_scene_count(file, "second") + store_scene_count(file, "third"), 2);
	CHECK_INT(store_scene_count(old, "first"), 1);
	folder_remove(dir);
}

TEST(an_erasure_reaches_the_rotated_file)
{
	unsigned dropped = 0;
	struct stat st;

	begin();
	CHECK_INT(turn_file_erase(file, names_ana, NULL, &dropped), 0); /* none is there */
	append("ana one\n");
	append("bob one\n");
	CHECK_INT(rename(file, old), 0);
	append("bob two\n");
	append("ana two\n");
	CHECK_INT(turn_file_erase(file, names_ana, NULL, &dropped), 0);
	CHECK_INT(dropped, 2);
	CHECK_INT(store_scene_count(file, "") + store_scene_count(old, ""), 2);
	CHECK_INT(store_scene_count(file, "bob two") + store_scene_count(old, "bob one"), 2);
	CHECK(stat(file, &st) == 0 && (st.st_mode & 0777) == 0600);
	folder_remove(dir);
}

TEST(a_turn_file_that_is_a_pipe_is_left_alone)
{
	unsigned dropped = 0;

	begin();
	CHECK_INT(mkfifo(file, 0600), 0);
	CHECK_INT(turn_file_erase(file, names_ana, NULL, &dropped), 0);
	CHECK_INT(dropped, 0);
	CHECK_INT(turn_file_append(file, "x\n", 2), ENXIO); /* nobody reads */
	folder_remove(dir);
}

static void *append_lines(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < LINES; i++)
		turn_file_append(file, i % 2 ? "bob\n" : "ana\n", 4);
	return NULL;
}

TEST(an_erasure_loses_no_line_that_is_written_meanwhile)
{
	unsigned dropped = 0;
	pthread_t writer;

	begin();
	CHECK_INT(pthread_create(&writer, NULL, append_lines, NULL), 0);
	while (store_scene_count(file, "bob") < LINES / 4)
		CHECK_INT(turn_file_erase(file, names_ana, NULL, &dropped), 0);
	CHECK_INT(pthread_join(writer, NULL), 0);
	CHECK_INT(turn_file_erase(file, names_ana, NULL, &dropped), 0);
	CHECK_INT(dropped, LINES / 2);
	CHECK_INT(store_scene_count(file, "bob"), LINES / 2);
	folder_remove(dir);
}

static const char *contents(char *text, size_t size)
{
	FILE *f = fopen(file, "r");
	size_t n = f ? fread(text, 1, size - 1, f) : 0;

	if (f)
		fclose(f);
	text[n] = '\0';
	return text;
}

static struct bus_event event_of(const char *stage)
{
	struct bus_event ev = {.type = EVENT_TURN, .guild = 1, .user = 501};

	ev.turn = (struct event_turn){.turn = 3, .stage = stage, .heard = "secret"};
	return ev;
}

TEST(turns_are_lines_of_a_file_that_only_its_owner_reads)
{
	struct bus_event admitted = event_of("admitted"), speaking = event_of("speaking"),
			 ended = event_of("ended");
	char text[8192];
	struct stat st;

	begin();
	turn_file_append_event(file, &admitted, true);
	turn_file_append_event(file, &ended, false);
	CHECK_INT(stat(file, &st), 0);
	CHECK_INT(st.st_mode & 0777, 0600);
	CHECK(strstr(contents(text, sizeof text), "\"stage\":\"admitted\""));
	CHECK(strstr(text, "}\n{"));
	CHECK(strstr(text, "\"stage\":\"ended\"") && text[strlen(text) - 1] == '\n');
	CHECK(strstr(text, "secret") && !strstr(strstr(text, "}\n{"), "secret"));
	/* One that has grown is put aside. */
	CHECK_INT(truncate(file, 4 << 20), 0);
	turn_file_append_event(file, &speaking, true);
	CHECK(strncmp(contents(text, sizeof text), "{\"event\":", 9) == 0);
	CHECK(stat(old, &st) == 0 && st.st_size == 4 << 20);
	/* Somebody else's link is not written through. */
	unlink(file);
	CHECK_INT(symlink(old, file), 0);
	turn_file_append_event(file, &ended, true);
	CHECK(stat(old, &st) == 0 && st.st_size == 4 << 20);
	folder_remove(dir);
}
