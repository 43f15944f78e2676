#include "control/agent/room_log.h"

#include <sys/stat.h>

#include "control/room/journal.h"
#include "control/room/room.h"
#include "control/settings/settings.h"
#include "tests/unit/ipc/loop.h"

#include <glob.h>

static struct room_effects fx;

/* The only file of the folder; its size, or -1. */
static long journal_in(const char *dir, char *first, size_t size)
{
	char pattern[64];
	glob_t found;
	struct stat st;
	long n = -1;
	FILE *f;

	snprintf(pattern, sizeof pattern, "%s/*.parley-room", dir);
	if (glob(pattern, 0, NULL, &found))
		return -1;
	if (found.gl_pathc == 1 && stat(found.gl_pathv[0], &st) == 0 &&
	    (st.st_mode & 0777) == 0600) {
		n = st.st_size;
		f = fopen(found.gl_pathv[0], "r");
		if (!f || !fgets(first, (int)size, f))
			n = -1;
		if (f)
			fclose(f);
		unlink(found.gl_pathv[0]);
	}
	globfree(&found);
	return n;
}

TEST(a_room_journal_is_written_beside_the_loop)
{
	static uint8_t sound[9600];
	struct room_event heard = {.type = ROOM_HEARD, .user = 1, .pcm = {sound, sizeof sound}};
	struct settings *settings = NULL;
	char dir[32], first[80] = "";
	struct room_log *log;
	struct loop l;

	CHECK(folder_make(dir));
	CHECK_INT(settings_alloc(&settings), 0);
	CHECK_INT(loop_open(&l, NULL), 0);
	CHECK(!room_log_new(l.env, settings, "Parley", 7, 1)); /* none is wanted */
	CHECK_INT(settings_set(settings, "room_journals", dir), 0);
	log = room_log_new(l.env, settings, "Parley", 7, 1);
	CHECK(log);
	for (unsigned i = 0; i < 100; i++)
		room_log_step(log, &heard, i, &fx);
	room_log_free(log);
	room_log_settle();
	CHECK(journal_in(dir, first, sizeof first) > 100 * (long)sizeof sound);
	CHECK(strncmp(ROOM_JOURNAL_FIRST, first, strlen(first)) == 0);
	/* A missing folder is logged and has no other effect. */
	CHECK_INT(settings_set(settings, "room_journals", "/nowhere/at/all"), 0);
	log = room_log_new(l.env, settings, "Parley", 7, 1);
	CHECK(log);
	room_log_step(log, &heard, 1, &fx);
	room_log_free(log);
	room_log_settle();
	loop_close(&l);
	settings_free(settings);
	folder_remove(dir);
}
