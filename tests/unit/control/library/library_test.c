/* The music library: scans, searches, what is gone, and damaged files. */
#include "control/library/library.h"

#include <unistd.h>

#include "proto/media_folder.h"
#include "tests/unit/control/library/folders.h"
#include "tests/unit/ipc/loop.h"

static struct loop l;
static struct library *library;
static char state[32], got[512], first[512]; /* first: label, album and seconds of the best hit */
static int got_err;

static void on_hits(int err, const struct library_hit *hits, size_t n, void *arg)
{
	(void)arg;
	char label[TRACK_LABEL_MAX] = "";

	got_err = err;
	*got = '\0';
	if (n)
		track_write_label(label, &hits[0].track);
	snprintf(first, sizeof first, "%s|%s|%u", label, n ? hits[0].track.album : "",
		 n ? (unsigned)(hits[0].track.duration_ms / 1000) : 0);
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

static void remove_state(void)
{
	char path[64];

	snprintf(path, sizeof path, "%s/asked", state);
	unlink(path);
	snprintf(path, sizeof path, "%s/decoderd", state);
	unlink(path);
	folder_remove(state);
}

/* Searches until the scan that runs beside has found it. */
static bool await(const char *query, const char *want)
{
	bool found = false;

	LOOP_UNTIL(&l, found = strcmp(search(query, 5), want) == 0);
	return found;
}

static bool open_with(const char *folders, const char *decoder)
{
	return loop_open(&l, NULL) == 0 &&
	       library_alloc(&library, l.env, state, folders, decoder) == 0;
}

static bool open_library(const char *folders)
{
	return open_with(folders, NULL);
}

static void close_library(void)
{
	library = library_free(library);
	loop_close(&l);
}

TEST(music_is_found_by_its_words)
{
	struct stat st;

	CHECK(make_folder() && folder_make(state));
	CHECK(write_music("Queen/Opera/11 - Bohemian Rhapsody.flac", "") &&
	      write_music("Queen/Jazz/Mustapha.mp3", "") &&
	      write_music("The Beatles/Yesterday.mp3", "") &&
	      write_music("BTS/\xeb\xb4\x84\xeb\x82\xa0.mp3", ""));
	CHECK(open_library(folder));
	CHECK(await("bohemain rapsody", "0:Queen/Opera/11 - Bohemian Rhapsody.flac "));
	/* The directory is told with the first piece of the scan. */
	CHECK_INT(stat(folder, &st), 0);
	CHECK(library_folder(library, 0) && library_folder(library, 0)->number == st.st_ino &&
	      library_folder(library, 0)->device == st.st_dev);
	CHECK(!library_folder(library, 1));
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
	CHECK_INT(library_alloc(&none, l.env, "/tmp", "music", NULL), EINVAL);
	CHECK_INT(library_alloc(&none, l.env, "/tmp", "::", NULL), EINVAL);
	CHECK_INT(library_alloc(&none, l.env, "/tmp", "/1:/2:/3:/4:/5:/6:/7:/8:/9", NULL), EINVAL);
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

/* ---- tags ---- */

/* Writes a program in the place of decoderd: what it does for the file that is `$path`, in a
 * folder that nobody plays. Requests are written to the file "asked" there. */
static const char *write_decoder(const char *begin, const char *each)
{
	static char path[64];
	char text[600];
	FILE *f;

	snprintf(path, sizeof path, "%s/decoderd", state);
	snprintf(text, sizeof text,
		 "#!/bin/sh\n%s\nwhile read -r root path; do echo \"$root $path\" >>%s/asked\n%s\n"
		 "done\n",
		 begin, state, each);
	f = fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f) || chmod(path, 0700))
		return NULL;
	return path;
}

static unsigned count_requests(const char *path)
{
	char name[64], line[300];
	unsigned n = 0;
	FILE *f;

	snprintf(name, sizeof name, "%s/asked", state);
	f = fopen(name, "r");
	while (f && fgets(line, sizeof line, f))
		n += strstr(line, path) != NULL;
	if (f)
		fclose(f);
	return n;
}

/* Searches until the best hit is this one. */
static bool await_first(const char *query, const char *want)
{
	bool found = false;

	LOOP_UNTIL(&l, (search(query, 5), found = strcmp(first, want) == 0));
	return found;
}

#define TAGGED                                                                                     \
	"case $path in *9.mp3) printf 'Leuchtturm\\tNena\\tNena\\t187000\\n';; "                   \
	"*half.mp3) printf 'Rosanna\\t\\t\\t0\\n';; *) echo;; esac"

TEST(tags_of_files_are_better_than_their_paths)
{
	const char *decoder;

	CHECK(make_folder() && folder_make(state));
	CHECK(write_music("rips/disc/09 - 9.mp3", "") && write_music("Toto/IV/half.mp3", "") &&
	      write_music("Toto/IV/Africa.mp3", ""));
	decoder = write_decoder("echo ready", TAGGED);
	CHECK(decoder && open_with(folder, decoder));
	CHECK(await_first("leuchtturm nena", "Nena - Leuchtturm|Nena|187"));
	CHECK_STR(got, "0:rips/disc/09 - 9.mp3 ");
	CHECK(await_first("rosanna", "Toto - Rosanna|IV|0"));
	CHECK(await_first("africa", "Toto - Africa|IV|0"));
	CHECK_STR(search("rips", 5), "");
	close_library();
	/* Of an index that is opened again only what has changed is read. */
	CHECK(write_music("Toto/IV/half.mp3", "longer"));
	CHECK(open_with(folder, decoder));
	LOOP_UNTIL(&l, count_requests("half.mp3") == 2);
	CHECK_INT(count_requests("half.mp3"), 2);
	CHECK_INT(count_requests("09 - 9.mp3"), 1);
	CHECK_INT(count_requests("Africa.mp3"), 1);
	CHECK_INT(count_requests("0 Toto/IV/half.mp3"), 2);
	close_library();
	remove_folder();
	remove_state();
}

/* decoderd itself ends at a file; the others have their tags all the same. */
TEST(a_file_that_ends_decoderd_has_no_tags)
{
	const char *decoder;

	CHECK(make_folder() && folder_make(state));
	CHECK(write_music("a9.mp3", "") && write_music("bad.mp3", "") && write_music("c9.mp3", ""));
	decoder = write_decoder("echo ready", "case $path in bad*) exit 3;; esac; " TAGGED);
	CHECK(decoder && open_with(folder, decoder));
	LOOP_UNTIL(&l, (search("leuchtturm", 5), strstr(got, "a9") && strstr(got, "c9")));
	CHECK(strstr(got, "a9") && strstr(got, "c9"));
	CHECK_INT(count_requests("bad.mp3"), 1);
	CHECK_STR(search("bad", 5), "0:bad.mp3 ");
	close_library();
	remove_folder();
	remove_state();
}

/* Code in a jailed process of decoderd could send what it finds there in a title. */
TEST(decoderd_is_started_without_controls_environment)
{
	CHECK(make_folder() && folder_make(state));
	CHECK(write_music("a9.mp3", ""));
	CHECK_INT(setenv("AWS_SECRET_ACCESS_KEY", "planted", 1), 0);
	CHECK(open_with(folder, write_decoder("env >>$(dirname $0)/asked; echo ready", TAGGED)));
	CHECK(await_first("leuchtturm nena", "Nena - Leuchtturm|Nena|187"));
	unsetenv("AWS_SECRET_ACCESS_KEY");
	CHECK_INT(count_requests("PWD="), 1); /* the shell's own */
	CHECK_INT(count_requests("planted"), 0);
	close_library();
	remove_folder();
	remove_state();
}

TEST(without_a_jail_tracks_have_the_tags_of_their_paths)
{
	const char *decoder;

	CHECK(make_folder() && folder_make(state));
	CHECK(write_music("a9.mp3", ""));
	decoder = write_decoder("echo began >>$(dirname $0)/asked; exit 1", TAGGED);
	CHECK(decoder && open_with(folder, decoder));
	CHECK(await("a9", "0:a9.mp3 "));
	LOOP_UNTIL(&l, count_requests("began") == 1);
	loop_run_for(&l, 50 * NS_PER_MS);
	CHECK_INT(count_requests("began"), 1);
	close_library();
	CHECK(open_with(folder, "/nowhere/decoderd"));
	CHECK(await("a9", "0:a9.mp3 "));
	close_library();
	remove_folder();
	remove_state();
}

TEST_OOM(a_library_without_memory)
{
	struct library *one = NULL;
	int err = loop_open(&l, NULL);

	if (!err)
		err = library_alloc(&one, l.env, "/nowhere", "/folder", "decoderd");
	library_free(one);
	loop_close(&l);
	CHECK_OOM(err, (void)0);
}
