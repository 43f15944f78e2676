/* The jukebox and pages, whose streams a downloader finds. */
#include "control/jukebox/inside.h"
#include "tests/unit/control/jail/fake_sandbox.h"
#include "tests/unit/control/jukebox/jukebox_scene.h"

/* In the place of yt-dlp. */
static const char downloader[] =
	"#!/bin/sh\n"
	"for last; do :; done\n"
	"case $last in\n"
	"*v=long) printf '{\"webpage_url\":\"%s\",\"title\":\"T\","
	"\"url\":\"https://cdn.example/%02100d\"}\\n' \"$last\" 0 ;;\n"
	"*v=gone) echo 'ERROR: [youtube] gone: Private video. Sign in' >&2; exit 1 ;;\n"
	"*) printf '{\"webpage_url\":\"%s\",\"title\":\"T\",\"extractor_key\":\"Youtube\","
	"\"http_headers\":{\"Referer\":\"https://page.example/\",\"Cookie\":\"a=b\"},"
	"\"url\":\"https://cdn.example/%s.webm\"}\\n' \"$last\" \"${last#*=}\" ;;\n"
	"esac\n";

static bool begin_with_pages(char *path, size_t size)
{
	char program[80];

	memset(&scene, 0, sizeof scene);
	if (!toy_up_with_call(&scene.toy) || settings_alloc(&scene.settings) ||
	    !fake_sandbox(scene.toy.dir, path, size) ||
	    !write_program(scene.toy.dir, "yt-dlp", downloader, sizeof downloader - 1))
		return false;
	snprintf(program, sizeof program, "%s/yt-dlp", scene.toy.dir);
	if (settings_set(scene.settings, "music_downloader", program) ||
	    music_sources_alloc(&scene.sources, scene.toy.env, NULL, scene.settings) ||
	    scene_make(NULL) || jukebox_enter(scene.jukebox, scene.toy.call, CHANNEL))
		return false;
	media_call_set_handler(scene.toy.call, scene_on_call, NULL);
	toy_state(&scene.toy, scene.toy.call_id, 0, 100, MEDIA_PHASE_UP, false);
	toy_settle(&scene.toy);
	return true;
}

static void finish_with_pages(const char *path)
{
	char file[80];

	scene.jukebox = jukebox_free(scene.jukebox);
	scene.sources = music_sources_free(scene.sources);
	for (unsigned i = 0; i < 2; i++) {
		snprintf(file, sizeof file, "%s/%s", scene.toy.dir, i ? "bwrap" : "yt-dlp");
		unlink(file);
	}
	setenv("PATH", path, 1);
	scene_finish();
}

static int add_page_of(enum track_source source, const char *video)
{
	struct track t = {.source = source};

	snprintf(t.title, sizeof t.title, "%s", video);
	snprintf(t.reference, sizeof t.reference, "https://www.youtube.com/watch?v=%s", video);
	return jukebox_do(scene.jukebox,
			  &(struct jukebox_request){.act = MUSIC_ACT_QUEUE_ADD,
						    .user = ALICE,
						    .tracks = &t,
						    .n = 1,
						    .place = MUSIC_QUEUE_END},
			  &scene.a);
}

static int add_page(const char *video)
{
	return add_page_of(TRACK_YOUTUBE, video);
}

/* Of a site without a source of its own, too. */
TEST(a_jukebox_finds_the_stream_of_any_page)
{
	char path[4096];

	CHECK(begin_with_pages(path, sizeof path));
	CHECK_INT(add_page_of(TRACK_PAGE, "one"), 0);
	CHECK(toy_run_until(&scene.toy, MEDIA_MUSIC_PLAY, 1));
	CHECK_STR(scene.toy.music_path, "https://cdn.example/one.webm");
	CHECK_STR(scene.toy.music_headers, "Referer: https://page.example/\n");
	/* They are known for a while, as the stream is; a file of the web has none. */
	CHECK_INT(scene_act(MUSIC_ACT_STOP, DJ), 0);
	CHECK_INT(add_page_of(TRACK_PAGE, "one"), 0);
	CHECK(toy_run_until(&scene.toy, MEDIA_MUSIC_PLAY, 2));
	CHECK_STR(scene.toy.music_headers, "Referer: https://page.example/\n");
	CHECK_INT(scene_act(MUSIC_ACT_STOP, DJ), 0);
	CHECK_INT(add_page_of(TRACK_URL, "file"), 0);
	CHECK(toy_run_until(&scene.toy, MEDIA_MUSIC_PLAY, 3));
	CHECK_STR(scene.toy.music_headers, "");
	finish_with_pages(path);
}

static void refuse(uint32_t music, uint64_t position)
{
	toy_send(&scene.toy,
		 (struct media_msg){.type = MEDIA_MUSIC_STATE,
				    .music_state = {.call = scene.toy.call_id,
						    .music = music,
						    .phase = MEDIA_MUSIC_PHASE_FAILED,
						    .position = position,
						    .failure = slice_str("http_error"),
						    .text = slice_str("the server refused it")}});
	toy_settle(&scene.toy);
}

/* As after hours of pause: the address has expired, and is looked for again once. */
TEST(a_stream_that_the_server_refuses_is_looked_for_once_more)
{
	static const char fresh[] = "#!/bin/sh\n"
				    "printf "
				    "'{\"webpage_url\":\"https://a.example/\",\"url\":\"https://"
				    "cdn.example/new\"}\\n'\n";
	char path[4096];

	CHECK(begin_with_pages(path, sizeof path));
	CHECK_INT(add_page("one"), 0);
	CHECK(toy_run_until(&scene.toy, MEDIA_MUSIC_PLAY, 1));
	scene_tell(1, MEDIA_MUSIC_PHASE_PLAYING, 96000, "");
	CHECK(write_program(scene.toy.dir, "yt-dlp", fresh, sizeof fresh - 1));
	refuse(1, 96960);
	CHECK(toy_run_until(&scene.toy, MEDIA_MUSIC_PLAY, 2));
	CHECK_STR(scene.toy.music_path, "https://cdn.example/new");
	CHECK_INT(scene.toy.music_start, 96000);
	CHECK_INT(scene.failures, 0);
	refuse(2, 96000);
	CHECK_INT(scene.failures, 1);
	CHECK_STR(scene.failed, "one");
	CHECK_STR(scene_queue(), "|");
	/* A file of the web has no other address. */
	CHECK_INT(add_page_of(TRACK_URL, "file"), 0);
	CHECK(toy_run_until(&scene.toy, MEDIA_MUSIC_PLAY, 3));
	refuse(3, 0);
	CHECK_INT(scene.failures, 2);
	finish_with_pages(path);
}

/* Else the track would be opened without end: mediad never hears of it. */
TEST(a_stream_whose_address_is_too_long_fails)
{
	char path[4096];

	CHECK(begin_with_pages(path, sizeof path));
	CHECK_INT(add_page("long"), 0);
	for (unsigned i = 0; i < 200 && !scene.failures; i++)
		toy_settle(&scene.toy);
	CHECK_STR(scene.failed, "long");
	CHECK_STR(scene.reason, "its address is too long");
	CHECK_STR(scene_queue(), "|");
	CHECK_INT(scene.toy.count[MEDIA_MUSIC_PLAY], 0);
	finish_with_pages(path);
}

/* It would play before the page, or in its place. */
TEST(what_follows_a_page_is_ordered_behind_it)
{
	char path[4096];

	CHECK(begin_with_pages(path, sizeof path));
	CHECK_INT(add_page("one"), 0);
	CHECK_INT(add_page_of(TRACK_URL, "file"), 0);
	CHECK(toy_run_until(&scene.toy, MEDIA_MUSIC_NEXT, 1));
	CHECK_INT(scene.toy.music_next, MEDIA_MUSIC_NONE);
	CHECK(toy_run_until(&scene.toy, MEDIA_MUSIC_PLAY, 1));
	CHECK(toy_run_until(&scene.toy, MEDIA_MUSIC_NEXT, 2));
	CHECK_INT(scene.toy.music_next, MEDIA_MUSIC_HTTP);
	CHECK_INT(scene.toy.music_after, 1);
	/* A page without a stream leaves the queue: mediad has never heard of what follows it. */
	CHECK_INT(scene_act(MUSIC_ACT_STOP, DJ), 0);
	CHECK_INT(add_page("gone"), 0);
	CHECK_INT(add_page_of(TRACK_URL, "next"), 0);
	CHECK(toy_run_until(&scene.toy, MEDIA_MUSIC_PLAY, 2));
	CHECK_STR(scene.toy.music_path, "https://www.youtube.com/watch?v=next");
	CHECK_INT(scene.failures, 1);
	finish_with_pages(path);
}

/* No page of any site could be played: it is not for this one to leave the queue. */
TEST(a_downloader_that_is_missing_halts_the_music_and_keeps_the_queue)
{
	static const char no_python[] = "#!/bin/sh\nexit 127\n";
	char path[4096], program[80];

	CHECK(begin_with_pages(path, sizeof path));
	snprintf(program, sizeof program, "%s/yt-dlp", scene.toy.dir);
	CHECK_INT(unlink(program), 0);
	CHECK_INT(add_page("one"), 0);
	CHECK_INT(add_page("two"), 0);
	for (unsigned i = 0; i < 200 && !scene.failures; i++)
		toy_settle(&scene.toy);
	CHECK_INT(scene.failures, 1);
	CHECK(scene.halted);
	CHECK_STR(scene.reason, "the downloader is not installed on this machine");
	CHECK_INT(music_queue_count(jukebox_queue(scene.jukebox)), 2);
	CHECK_INT(jukebox_phase(scene.jukebox), JUKEBOX_HALTED);
	/* Nor is it this one's fault that its interpreter is missing. */
	CHECK(write_program(scene.toy.dir, "yt-dlp", no_python, sizeof no_python - 1));
	CHECK_INT(scene_act(MUSIC_ACT_RESUME, ALICE), 0);
	for (unsigned i = 0; i < 200 && scene.failures < 2; i++)
		toy_settle(&scene.toy);
	CHECK_STR(scene.reason, "the downloader cannot be started");
	CHECK_INT(music_queue_count(jukebox_queue(scene.jukebox)), 2);
	CHECK(write_program(scene.toy.dir, "yt-dlp", downloader, sizeof downloader - 1));
	CHECK_INT(scene_act(MUSIC_ACT_RESUME, ALICE), 0);
	CHECK(toy_run_until(&scene.toy, MEDIA_MUSIC_PLAY, 1));
	CHECK_STR(scene.toy.music_path, "https://cdn.example/one.webm");
	CHECK_INT(scene.failures, 2);
	finish_with_pages(path);
}

/* An outage takes no page. */
TEST(pages_that_are_not_reached_leave_the_queue_as_it_was)
{
	static const char offline[] = "#!/bin/sh\necho 'ERROR: [youtube] x: Unable to download "
				      "webpage: <urlopen error [Errno -3] Temporary failure in "
				      "name resolution>' >&2\nexit 1\n";
	char path[4096];

	CHECK(begin_with_pages(path, sizeof path));
	CHECK(write_program(scene.toy.dir, "yt-dlp", offline, sizeof offline - 1));
	CHECK_INT(add_page("one"), 0);
	CHECK_INT(add_page("two"), 0);
	for (unsigned i = 0; i < 400 && !scene.halted; i++)
		toy_settle(&scene.toy);
	CHECK(scene.halted);
	CHECK_STR(scene.reason, "the site cannot be reached");
	CHECK_INT(music_queue_count(jukebox_queue(scene.jukebox)), 2);
	CHECK(write_program(scene.toy.dir, "yt-dlp", downloader, sizeof downloader - 1));
	CHECK_INT(scene_act(MUSIC_ACT_RESUME, ALICE), 0);
	CHECK(toy_run_until(&scene.toy, MEDIA_MUSIC_PLAY, 1));
	CHECK_STR(scene.toy.music_path, "https://cdn.example/one.webm");
	finish_with_pages(path);
}

/* As after a restart with other settings. */
TEST(a_page_without_a_downloader_is_told_once_and_keeps_the_queue)
{
	char path[4096], program[80];

	CHECK(begin_with_pages(path, sizeof path));
	snprintf(program, sizeof program, "%s/yt-dlp", scene.toy.dir);
	CHECK_INT(settings_set(scene.settings, "music_downloader", ""), 0);
	CHECK_INT(add_page("one"), 0);
	CHECK_INT(add_page("two"), 0);
	for (unsigned i = 0; i < 200; i++)
		toy_settle(&scene.toy);
	CHECK_INT(scene.failures, 1);
	CHECK(scene.halted);
	CHECK_STR(scene.reason, "there is no downloader for its site");
	CHECK_INT(music_queue_count(jukebox_queue(scene.jukebox)), 2);
	CHECK_INT(jukebox_phase(scene.jukebox), JUKEBOX_HALTED);
	CHECK_INT(settings_set(scene.settings, "music_downloader", program), 0);
	CHECK_INT(scene_act(MUSIC_ACT_RESUME, ALICE), 0);
	CHECK(toy_run_until(&scene.toy, MEDIA_MUSIC_PLAY, 1));
	CHECK_STR(scene.toy.music_path, "https://cdn.example/one.webm");
	CHECK_INT(scene.failures, 1);
	finish_with_pages(path);
}

TEST(a_jukebox_finds_the_stream_of_a_page)
{
	char path[4096];

	CHECK(begin_with_pages(path, sizeof path));
	CHECK_INT(add_page("one"), 0);
	CHECK_INT(add_page("two"), 0);
	/* Meanwhile it is paused. */
	CHECK_INT(scene_act(MUSIC_ACT_PAUSE, ALICE), 0);
	CHECK(toy_run_until(&scene.toy, MEDIA_MUSIC_PLAY, 1));
	CHECK_STR(scene.toy.music_path, "https://cdn.example/one.webm");
	CHECK(scene.toy.music_paused);
	CHECK(toy_run_until(&scene.toy, MEDIA_MUSIC_NEXT, 1));
	/* One that has no stream leaves the queue, and nobody waits for one that was skipped. */
	CHECK_INT(scene_act(MUSIC_ACT_STOP, DJ), 0);
	CHECK_INT(add_page("gone"), 0);
	for (unsigned i = 0; i < 200 && !scene.failures; i++)
		toy_settle(&scene.toy);
	CHECK_STR(scene.failed, "gone");
	CHECK_STR(scene.reason, "it is private");
	CHECK_INT(add_page("three"), 0);
	CHECK_INT(add_page("four"), 0);
	CHECK_INT(scene_act(MUSIC_ACT_SKIP, ALICE), 0);
	CHECK(toy_run_until(&scene.toy, MEDIA_MUSIC_PLAY, 2));
	CHECK_STR(scene.toy.music_path, "https://cdn.example/four.webm");
	CHECK_INT(add_page("five"), 0); /* is looked for at the end */
	finish_with_pages(path);
}
