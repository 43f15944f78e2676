/* The walk through music folders: every sound file once, and nothing outside. */
#include "control/library/walk.h"

#include <unistd.h>

#include "tests/test.h"
#include "tests/unit/control/library/folders.h"

static char found[2048];
static unsigned skipped;

/* The paths that a walk meets, sorted by nothing: "0:a.mp3 1:b.mp3 ". */
static bool walk_all(const char *const *folders, unsigned n)
{
	struct walk_file f;
	struct walk *w;
	int err;

	*found = '\0';
	if (walk_alloc(&w, folders, n))
		return false;
	while ((err = walk_next(w, &f, 3)) != ENOENT)
		if (!err)
			snprintf(found + strlen(found), sizeof found - strlen(found), "%u:%s ",
				 f.root, f.path);
	skipped = walk_skipped(w);
	walk_free(w);
	return true;
}

TEST(a_walk_meets_every_sound_file)
{
	const char *const folders[] = {folder};

	CHECK(make_folder());
	CHECK(write_music("a.mp3", "x") && write_music("b/c/d.flac", "") &&
	      write_music("b/cover.jpg", "") && write_music(".hidden/e.mp3", "") &&
	      write_music("g/h.ogg", ""));
	CHECK(walk_all(folders, 1));
	CHECK(strstr(found, "0:a.mp3 ") && strstr(found, "0:b/c/d.flac ") &&
	      strstr(found, "0:g/h.ogg "));
	CHECK_INT(strlen(found), strlen("0:a.mp3 0:b/c/d.flac 0:g/h.ogg "));
	CHECK_INT(skipped, 0);
	remove_folder();
}

TEST(no_link_leads_out_or_round)
{
	char path[2 * FOLDER_PATH], inside[FOLDER_PATH], target[FOLDER_PATH];
	const char *const folders[] = {inside};

	CHECK(make_folder());
	snprintf(inside, sizeof inside, "%s/in", folder);
	CHECK(write_music("in/a.mp3", "") && write_music("out/secret.mp3", ""));
	snprintf(path, sizeof path, "%s/loop", inside);
	CHECK_INT(symlink(inside, path), 0);
	snprintf(path, sizeof path, "%s/away", inside);
	CHECK_INT(symlink("../out", path), 0);
	snprintf(path, sizeof path, "%s/file.mp3", inside);
	snprintf(target, sizeof target, "%s/out/secret.mp3", folder);
	CHECK_INT(symlink(target, path), 0);
	CHECK(walk_all(folders, 1));
	CHECK_STR(found, "0:a.mp3 ");
	remove_folder();
}

TEST(folders_that_are_too_deep_and_odd_names_are_skipped)
{
	const char *const folders[] = {folder};
	char path[FOLDER_PATH] = "";

	CHECK(make_folder());
	for (unsigned i = 0; i < WALK_DEPTH + 2; i++)
		strcat(path, "d/");
	strcat(path, "deep.mp3");
	CHECK(write_music(path, "") && write_music("two\nlines.mp3", "") &&
	      write_music("not\xffutf8.mp3", "") && write_music("ok.mp3", ""));
	path[2 * (WALK_DEPTH - 1)] = '\0';
	strcat(path, "edge.mp3");
	CHECK(write_music(path, ""));
	CHECK(walk_all(folders, 1));
	CHECK(strstr(found, "edge.mp3") && strstr(found, "ok.mp3") && !strstr(found, "deep"));
	CHECK(!strstr(found, "lines") && !strstr(found, "utf8"));
	CHECK_INT(skipped, 3);
	remove_folder();
}

TEST(a_folder_that_is_missing_does_not_end_the_walk)
{
	char a[FOLDER_PATH], b[FOLDER_PATH];
	const char *const folders[] = {"/nonexistent", a, "/nonexistent/2", b};
	struct walk_file f;
	struct walk *w = NULL;

	CHECK(make_folder());
	snprintf(a, sizeof a, "%s/a", folder);
	snprintf(b, sizeof b, "%s/b", folder);
	CHECK(write_music("a/1.mp3", "") && write_music("b/2.mp3", ""));
	CHECK(walk_all(folders, 4));
	CHECK_STR(found, "1:1.mp3 3:2.mp3 ");
	CHECK_INT(walk_alloc(&w, folders, 4), 0);
	while (walk_next(w, &f, 1) != ENOENT)
		;
	CHECK(!walk_opened(w, 0) && walk_opened(w, 1) && walk_opened(w, 3) && !walk_opened(w, 9));
	walk_free(w);
	remove_folder();
}

/* Paths below the test's folder, a colon between them. */
static bool walk_paths(const char *paths)
{
	static char path[WALK_FOLDERS][FOLDER_PATH];
	const char *folders[WALK_FOLDERS];
	char copy[256], *rest = copy, *one;
	unsigned n = 0;

	snprintf(copy, sizeof copy, "%s", paths);
	while ((one = strsep(&rest, ":")) && n < WALK_FOLDERS) {
		snprintf(path[n], sizeof path[n], "%s%s", folder, one);
		folders[n] = path[n];
		n++;
	}
	return walk_all(folders, n);
}

static bool link_music(const char *target, const char *path)
{
	char all[sizeof folder + FOLDER_PATH + 1];

	snprintf(all, sizeof all, "%s/%s", folder, path);
	return symlink(target, all) == 0;
}

TEST(a_folder_in_another_is_walked_once)
{
	CHECK(make_folder());
	CHECK(write_music("m/in/deep/a.mp3", "") && link_music("m/in", "alias"));
	CHECK(walk_paths("/m:/m/in"));
	CHECK_STR(found, "0:in/deep/a.mp3 ");
	CHECK(walk_paths("/m/in:/m"));
	CHECK_STR(found, "1:in/deep/a.mp3 ");
	CHECK(walk_paths("/m/in:/m/in/deep:/m:/m/in/deep/"));
	CHECK_STR(found, "2:in/deep/a.mp3 ");
	CHECK(walk_paths("/alias:/m//in/:/m/../m/in"));
	CHECK_STR(found, "0:deep/a.mp3 ");
	CHECK(walk_paths("/m/in/deep:/alias"));
	CHECK_STR(found, "1:deep/a.mp3 ");
	remove_folder();
}

/* A walk of the outer folder would not come to it. */
TEST(a_folder_that_its_outer_one_does_not_show_is_walked)
{
	const char *const outer[] = {"/", folder};
	char deep[128] = "/m", path[256];

	CHECK(make_folder());
	CHECK(write_music("m/.own/a.mp3", "") && write_music("m2/b.mp3", "") &&
	      write_music("far/c.mp3", "") && link_music("../far", "m/link"));
	CHECK(walk_paths("/m:/m/.own"));
	CHECK_STR(found, "1:a.mp3 ");
	CHECK(walk_paths("/m:/m2"));
	CHECK_STR(found, "1:b.mp3 ");
	CHECK(walk_paths("/m:/m/link"));
	CHECK_STR(found, "1:c.mp3 ");
	for (unsigned i = 0; i < WALK_DEPTH; i++)
		strcat(deep, "/d");
	snprintf(path, sizeof path, "%s/d.mp3", deep + 1);
	CHECK(write_music(path, ""));
	snprintf(path, sizeof path, "/m:%s", deep);
	CHECK(walk_paths(path));
	CHECK_STR(found, "1:d.mp3 ");
	CHECK_INT(walk_find_outer(outer, 2, 1), 0);
	CHECK_INT(walk_find_outer(outer, 2, 0), -1);
	remove_folder();
}

/* What the index knew of it goes, as that of a folder without files. */
TEST(a_folder_in_another_counts_as_opened)
{
	char inner[sizeof folder + 4];
	const char *const folders[] = {inner, folder};
	struct walk_file f;
	struct walk *w;

	CHECK(make_folder());
	CHECK(write_music("in/a.mp3", ""));
	snprintf(inner, sizeof inner, "%s/in", folder);
	CHECK_INT(walk_alloc(&w, folders, 2), 0);
	while (walk_next(w, &f, 1) != ENOENT)
		;
	CHECK(walk_opened(w, 0) && walk_opened(w, 1));
	walk_free(w);
	remove_folder();
}

TEST_OOM(a_walk_without_memory_is_none)
{
	const char *const folders[] = {"/nonexistent", "/nonexistent"};
	struct walk *w = NULL;
	int err = walk_alloc(&w, folders, 2);

	CHECK_OOM(err, (void)0);
	walk_free(w);
}
