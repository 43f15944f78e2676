/* The music library: scans, searches, what is gone, and damaged files. */
#include "control/library/library.h"

#include <unistd.h>

#include "tests/unit/control/library/folders.h"
#include "tests/unit/ipc/loop.h"

static struct loop l;
static struct library *library;
static char state[32], got[512];
static int got_err;

static void on_hits(int err, const struct library_hit *hits, size_t n, void *arg)
{
	(void)arg;
	got_err = err;
	*got = '\0';
	for (size_t i = 0; i < n; i++)
		snprintf(got + strlen(got), sizeof got - strlen(got), "%u:%s ", hits[i].track.root,
			 hits[i].track.reference);
	env_stop(l.env);
}

static const char *search(const char *query, size_t most)
{
	int err = library_search(library, query, most, on_hits, NULL);

	if (err || !loop_run(&l))
		return "failed";
	return got;
}

/* Searches until the scan that runs beside has found it. */
static bool await(const char *query, const char *want)
{
	bool found = false;

	LOOP_UNTIL(&l, found = strcmp(search(query, 5), want) == 0);
	return found;
}

static bool open_library(const char *folders)
{
	return loop_open(&l, NULL) == 0 && library_alloc(&library, l.env, state, folders) == 0;
}

static void close_library(void)
{
	library = library_free(library);
	loop_close(&l);
}

TEST(music_is_found_by_its_words)
{
	CHECK(make_folder() && folder_make(state));
	CHECK(write_music("Queen/Opera/11 - Bohemian Rhapsody.flac", "") &&
	      write_music("Queen/Jazz/Mustapha.mp3", "") &&
	      write_music("The Beatles/Yesterday.mp3", "") &&
	      write_music("BTS/\xeb\xb4\x84\xeb\x82\xa0.mp3", ""));
	CHECK(open_library(folder));
	CHECK(await("bohemain rapsody", "0:Queen/Opera/11 - Bohemian Rhapsody.flac "));
	CHECK_STR(search("yesterday by the beetles", 5), "0:The Beatles/Yesterday.mp3 ");
	CHECK_STR(search("\xeb\xb4\x84\xeb\x82\xa0", 5), "0:BTS/\xeb\xb4\x84\xeb\x82\xa0.mp3 ");
	CHECK_STR(search("nothing of this", 5), "");
	CHECK_STR(search("", 5), "");
	CHECK_STR(search("\"' OR 1 --", 5), "");
	search("queen", 5);
	CHECK(strstr(got, "Bohemian") && strstr(got, "Mustapha"));
	search("queen", 1);
	CHECK(!strstr(got, "Bohemian") || !strstr(got, "Mustapha"));
	CHECK_INT(got_err, 0);
	close_library();
	remove_folder();
	folder_remove(state);
}

TEST(a_later_scan_finds_what_changed)
{
	char path[FOLDER_PATH], folders[FOLDER_PATH];

	CHECK(make_folder() && folder_make(state));
	snprintf(folders, sizeof folders, "%s/a:%s/b", folder, folder);
	CHECK(write_music("a/Toto - Africa.mp3", "") && write_music("a/kept.mp3", "") &&
	      write_music("b/Nena - Leuchtturm.mp3", ""));
	CHECK(open_library(folders));
	CHECK(await("africa", "0:Toto - Africa.mp3 "));
	CHECK(await("leuchtturm", "1:Nena - Leuchtturm.mp3 "));
	close_library();
	/* Of two folders one is away, as a share that is not mounted; in the other a file is gone.
	 */
	snprintf(path, sizeof path, "%s/a/Toto - Africa.mp3", folder);
	CHECK_INT(unlink(path), 0);
	CHECK(write_music("a/Toto - Rosanna.mp3", "") && write_music("a/kept.mp3", "longer"));
	snprintf(path, sizeof path, "%s/b", folder);
	snprintf(folders, sizeof folders, "%s/c", folder);
	CHECK_INT(rename(path, folders), 0);
	snprintf(folders, sizeof folders, "%s/b:%s/a", folder, folder);
	CHECK(open_library(folders));
	CHECK(await("rosanna", "1:Toto - Rosanna.mp3 "));
	CHECK(await("africa", ""));
	CHECK_STR(search("kept", 5), "1:kept.mp3 ");
	CHECK_STR(search("leuchtturm", 5), "0:Nena - Leuchtturm.mp3 ");
	close_library();
	remove_folder();
	folder_remove(state);
}

TEST(a_damaged_index_is_made_again)
{
	char path[64];
	FILE *f;

	CHECK(make_folder() && folder_make(state));
	CHECK(write_music("Toto - Africa.mp3", ""));
	snprintf(path, sizeof path, "%s/library.db", state);
	f = fopen(path, "w");
	CHECK(f && fputs("this is no database, and long enough to be taken for none", f) >= 0);
	fclose(f);
	CHECK(open_library(folder));
	CHECK(await("africa", "0:Toto - Africa.mp3 "));
	close_library();
	remove_folder();
	folder_remove(state);
}

TEST(an_index_that_cannot_be_made_is_an_error_of_searches)
{
	CHECK(make_folder() && folder_make(state));
	CHECK_INT(rmdir(state), 0);
	CHECK(open_library(folder));
	search("africa", 5);
	CHECK(got_err != 0);
	CHECK_STR(got, "");
	close_library();
	remove_folder();
}

TEST(only_absolute_folders_are_music_folders)
{
	struct library *none = NULL;

	CHECK_INT(loop_open(&l, NULL), 0);
	CHECK_INT(library_alloc(&none, l.env, "/tmp", "music"), EINVAL);
	CHECK_INT(library_alloc(&none, l.env, "/tmp", "::"), EINVAL);
	CHECK_INT(library_alloc(&none, l.env, "/tmp", "/1:/2:/3:/4:/5:/6:/7:/8:/9"), EINVAL);
	CHECK(!none);
	loop_close(&l);
}

TEST(a_handler_that_is_forgotten_is_not_called)
{
	CHECK(make_folder() && folder_make(state));
	CHECK(open_library(folder));
	got_err = 99;
	CHECK_INT(library_search(library, "x", 5, on_hits, &l), 0);
	library_forget(library, &l);
	loop_run_for(&l, 50 * NS_PER_MS);
	CHECK_INT(got_err, 99);
	close_library();
	remove_folder();
	folder_remove(state);
}

/* Searches that fill the worker as it begins would otherwise put it off until the next one. */
TEST(a_scan_goes_on_after_too_many_searches)
{
	unsigned n = 0;

	CHECK(make_folder() && folder_make(state));
	CHECK(write_music("Toto - Africa.mp3", ""));
	CHECK(open_library(folder));
	while (library_suggest(library, "africa", 5, on_hits, &l) == 0)
		n++;
	CHECK_INT(n, LIBRARY_REQUESTS);
	CHECK(await("africa", "0:Toto - Africa.mp3 "));
	close_library();
	remove_folder();
	folder_remove(state);
}
