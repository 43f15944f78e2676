/* Where music comes from: the library, addresses on a web server of the test, and a program in the
 * place of yt-dlp. */
#include "control/music_sources/music_sources.h"

#include <signal.h>

#include "control/library/library.h"
#include "control/music_sources/inside.h"
#include "control/settings/settings.h"
#include "ipc/log.h"
#include "proto/base/fnv.h"
#include "tests/unit/control/jail/fake_sandbox.h"
#include "tests/unit/control/library/folders.h"
#include "tests/unit/control/tools/builtin/web_server.h"

static struct loop l;
static struct web_server site;
static struct settings *settings;
static struct library *library;
static struct music_sources *sources;
static char state[32], path[4096], found[4096];
static unsigned ends;
static const struct music_asker nobody, ana = {1, 501}, ben = {1, 502};

/* ---- the site ---- */

static void redirect(struct evhttp_request *req, const char *to)
{
	evhttp_add_header(evhttp_request_get_output_headers(req), "Location", to);
	evhttp_send_reply(req, 302, "x", NULL);
}

static struct evhttp_request *radio; /* the one that plays; NULL: none */

/* Without a length and without an end. */
static void play_radio(struct evhttp_request *req)
{
	struct evbuffer *out = evbuffer_new();

	evhttp_add_header(evhttp_request_get_output_headers(req), "Content-Type", "audio/mpeg");
	evhttp_add_header(evhttp_request_get_output_headers(req), "icy-name", "Radio One");
	evhttp_send_reply_start(req, 200, "x");
	evbuffer_add(out, "sound", 5);
	evhttp_send_reply_chunk(req, out);
	evbuffer_free(out);
	radio = req;
}

static void serve(struct evhttp_request *req, void *arg)
{
	static const char list[] = "#EXTM3U\n#EXTINF:60,Toto - Africa\na.mp3\n"
				   "http://b.example/b.mp3\nfile:///etc/passwd\n";
	static const char segments[] = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n1.ts\n";
	static const char over[] =
		"#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n1.ts\n#EXT-X-ENDLIST\n";
	static const char locked[] = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-KEY:METHOD=AES-128\n"
				     "#EXTINF:6,\n1.ts\n";
	static const char master[] = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nover.m3u8\n";
	static const char round[] = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nround.m3u8\n";
	static const char private[] =
		"#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nhttp://10.1.2.3/a.m3u8\n";
	static char big[300000];
	const char *at = evhttp_request_get_uri(req);

	(void)arg;
	if (strcmp(at, "/song.mp3") == 0)
		web_server_reply(req, 200, "audio/mpeg", big, sizeof big);
	else if (strcmp(at, "/radio") == 0)
		play_radio(req);
	else if (strcmp(at, "/list.m3u") == 0)
		web_server_reply(req, 200, "audio/x-mpegurl", list, sizeof list - 1);
	else if (strcmp(at, "/hls.m3u8") == 0)
		web_server_reply(req, 200, "application/vnd.apple.mpegurl", segments,
				 sizeof segments - 1);
	else if (strcmp(at, "/over.m3u8") == 0)
		web_server_reply(req, 200, "audio/mpegurl", over, sizeof over - 1);
	else if (strcmp(at, "/locked.m3u8") == 0)
		web_server_reply(req, 200, "audio/mpegurl", locked, sizeof locked - 1);
	else if (strcmp(at, "/master.m3u8") == 0)
		web_server_reply(req, 200, "audio/mpegurl", master, sizeof master - 1);
	else if (strcmp(at, "/round.m3u8") == 0)
		web_server_reply(req, 200, "audio/mpegurl", round, sizeof round - 1);
	else if (strcmp(at, "/private.m3u8") == 0)
		web_server_reply(req, 200, "audio/mpegurl", private, sizeof private - 1);
	else if (strcmp(at, "/bad.pls") == 0)
		web_server_reply(req, 200, "audio/x-scpls", "[playlist]\n", 11);
	else if (strcmp(at, "/huge.m3u") == 0)
		for (unsigned i = 0; i < 1; i++)
			web_server_reply(req, 200, "audio/x-mpegurl", big, sizeof big);
	else if (strcmp(at, "/page") == 0)
		web_server_reply(req, 200, "text/html; charset=utf-8", "<p>", 3);
	else if (strcmp(at, "/picture") == 0)
		web_server_reply(req, 200, "image/png", "x", 1);
	else if (strcmp(at, "/moved") == 0)
		redirect(req, "/song.mp3");
	else if (strcmp(at, "/away") == 0)
		redirect(req, "http://10.1.2.3/x.mp3");
	else if (strcmp(at, "/round") == 0)
		redirect(req, "/round");
	else if (strcmp(at, "/busy") == 0)
		web_server_reply(req, 429, "text/plain", "", 0);
	else if (strcmp(at, "/closed") == 0)
		web_server_reply(req, 403, "text/plain", "", 0);
	else if (strcmp(at, "/broken") == 0)
		web_server_reply(req, 503, "text/plain", "", 0);
	else
		web_server_reply(req, 404, "text/plain", "", 0);
}

/* ---- the scene ---- */

/* "why", or "source title reference" of each track. */
static void take_found(const struct music_found *f, void *arg)
{
	size_t n = 0;

	(void)arg;
	ends++;
	n += (size_t)snprintf(found, sizeof found, "%s%s%s", f->why ? f->why : "",
			      f->list ? "list " : "", f->stream ? f->stream : "");
	for (size_t i = 0; i < f->n && n < sizeof found; i++) {
		const struct track *t = &f->hits[i].track;
		const char *end = strrchr(t->reference, '/');

		n += (size_t)snprintf(found + n, sizeof found - n, "%s[%s] %s %s", i ? ", " : "",
				      track_source_name(t->source), t->title,
				      end ? end : t->reference);
	}
	env_stop(l.env);
}

static bool open_sources(const char *downloader)
{
	char allowed[32], folders[80];

	signal(SIGPIPE, SIG_IGN); /* the site writes on when nobody reads */
	ends = 0;
	*found = '\0';
	if (!make_folder() || !folder_make(state) || !fake_sandbox(folder, path, sizeof path) ||
	    loop_open(&l, NULL) || !web_server_open(&site, &l, serve) || settings_alloc(&settings))
		return false;
	snprintf(allowed, sizeof allowed, "127.0.0.1:%u", site.port);
	snprintf(folders, sizeof folders, "%s/%s", folder, downloader);
	return settings_set(settings, "web_read_allowed", allowed) == 0 &&
	       (!*downloader || settings_set(settings, "music_downloader", folders) == 0) &&
	       settings_set(settings, "music_web", "1") == 0 &&
	       music_sources_alloc(&sources, l.env, library, settings) == 0;
}

static void close_sources(void)
{
	sources = music_sources_free(sources);
	library = library_free(library);
	if (radio)
		evhttp_send_reply_end(radio);
	radio = NULL;
	web_server_close(&site);
	settings = settings_free(settings);
	loop_close(&l);
	setenv("PATH", path, 1);
	remove_folder();
	folder_remove(state);
}

static const char *ask_address(const char *page)
{
	struct music_request *r;
	char url[160];
	int err;

	snprintf(url, sizeof url, "%s%s", strchr(page, ':') ? "" : site.base, page);
	*found = '\0';
	err = music_sources_address(&r, sources, nobody, url, take_found, NULL);
	if (err)
		return strerror(err);
	return *found ? "at once" : loop_run(&l) ? found : "too late";
}

static const char *ask_words(const char *words, enum music_platform platform)
{
	struct music_request *r;
	const struct music_words wanted = {
		.words = words, .platform = platform, .most = 5, .doubted = true};
	int err = music_sources_words(&r, sources, &wanted, take_found, NULL);

	return err ? strerror(err) : loop_run(&l) ? found : "too late";
}

/* ---- addresses ---- */

TEST(the_headers_of_an_address_decide_what_it_is)
{
	static const struct {
		const char *page, *found;
	} pages[] = {{"/song.mp3", "[url]  /song.mp3"},
		     {"/radio", "[radio] Radio One /radio"},
		     {"/list.m3u", "list [url] Africa /a.mp3, [url]  /b.mp3"},
		     {"/hls.m3u8", "[radio]  /hls.m3u8"},
		     {"/over.m3u8", "[url]  /over.m3u8"},
		     {"/master.m3u8", "[url]  /master.m3u8"},
		     {"/locked.m3u8", "the stream is encrypted"},
		     {"/round.m3u8", "its playlist has no address that can be played"},
		     {"/private.m3u8", "its address is not public"},
		     {"/bad.pls", "its playlist has no address that can be played"},
		     {"/huge.m3u", "its playlist has no address that can be played"},
		     {"/page", "it is a page and no sound"},
		     {"/picture", "it is no sound"},
		     {"/moved", "[url]  /moved"},
		     {"/away", "its address is not public"},
		     {"/round", "it leads from one address to the next without end"},
		     {"/none", "it is gone"},
		     {"/busy", "the site had too many requests"},
		     {"/closed", "the site refused it"},
		     {"/broken", "the site does not work at the moment"},
		     {"http://127.0.0.1:1/x.mp3",
		      "its port is neither 80 nor 443, and web_read_allowed does not list it"},
		     {"http://radio.example:8000/x",
		      "its port is neither 80 nor 443, and web_read_allowed does not list it"},
		     {"ftp://a.example/x.mp3", "its address is not public"},
		     {"http://8.8.8.8/a b.wav", "its address is malformed"},
		     {"http://", "its address is malformed"},
		     {"http://ana:secret@127.0.0.1/x.mp3",
		      "its address holds a user name or a password"},
		     {"no address:", "its address is malformed"}};

	CHECK(open_sources(""));
	for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++)
		CHECK_STR(ask_address(pages[i].page), pages[i].found);
	close_sources();
}

TEST(addresses_of_the_web_are_off_unless_the_settings_want_them)
{
	CHECK(open_sources(""));
	CHECK_INT(settings_set(settings, "music_web", "0"), 0);
	CHECK(!music_sources_web(sources));
	CHECK_STR(ask_address("/song.mp3"), strerror(ENOTSUP));
	CHECK(!music_sources_search(sources));
	CHECK_STR(ask_words("africa", MUSIC_ANYWHERE), strerror(ENOTSUP));
	close_sources();
}

TEST(a_site_that_only_a_downloader_plays_is_told_from_other_pages)
{
	struct music_request *r;
	char url[160];

	CHECK(music_download_visits("https://www.youtube.com/watch?v=x"));
	CHECK(music_download_visits("http://YOUTU.BE:80/x"));
	CHECK(music_download_visits("https://artist.bandcamp.com/track/y"));
	CHECK(!music_download_visits("https://notyoutube.com/watch?v=x"));
	CHECK(!music_download_visits("https://youtube.com.example/"));
	CHECK(!music_download_visits("https://example.com/youtube.com"));
	CHECK(!music_download_visits("no address"));
	CHECK(open_sources(""));
	snprintf(url, sizeof url, "%s/page", site.base);
	CHECK_INT(music_sources_address(&r, sources, nobody, url, take_found, NULL), 0);
	snprintf(r->at, sizeof r->at, "https://www.youtube.com/watch?v=x"); /* as redirected */
	CHECK(loop_run(&l));
	CHECK_STR(found, "there is no downloader for its site");
	close_sources();
}

TEST(an_address_that_is_allowed_no_more_is_asked_no_more)
{
	char allowed[32];

	CHECK(open_sources(""));
	CHECK_STR(ask_address("/none"), "it is gone");
	CHECK_INT(settings_set(settings, "web_read_allowed", ""), 0);
	CHECK_STR(ask_address("/none"),
		  "its port is neither 80 nor 443, and web_read_allowed does not list it");
	snprintf(allowed, sizeof allowed, "127.0.0.1:%u", site.port);
	CHECK_INT(settings_set(settings, "web_read_allowed", allowed), 0);
	CHECK_STR(ask_address("/none"), "it is gone");
	close_sources();
}

TEST(requests_have_a_cap_and_end_when_they_are_cancelled)
{
	struct music_request *r[MUSIC_REQUESTS], *one;
	char url[160], longer[MUSIC_ADDRESS_MAX + 1];

	CHECK(open_sources(""));
	snprintf(url, sizeof url, "%s/song.mp3", site.base);
	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	CHECK_INT(music_sources_address(&one, sources, nobody, longer, take_found, NULL),
		  ENAMETOOLONG);
	for (unsigned i = 0; i < MUSIC_USER_REQUESTS; i++)
		CHECK_INT(music_sources_address(&r[i], sources, ana, url, take_found, NULL), 0);
	CHECK_INT(music_sources_address(&one, sources, ana, url, take_found, NULL), EDQUOT);
	CHECK_INT(music_sources_address(&one, sources, ben, url, take_found, NULL), 0);
	music_request_cancel(one);
	for (unsigned i = 0; i < MUSIC_USER_REQUESTS; i++)
		music_request_cancel(r[i]);
	for (unsigned i = 0; i < MUSIC_REQUESTS; i++)
		CHECK_INT(music_sources_address(&r[i], sources, nobody, url, take_found, NULL), 0);
	CHECK_INT(music_sources_address(&one, sources, nobody, url, take_found, NULL), ENOSPC);
	for (unsigned i = 0; i < MUSIC_REQUESTS - 1; i++)
		music_request_cancel(r[i]);
	CHECK(loop_run(&l));
	CHECK_INT(ends, 1);
	CHECK_INT(music_sources_address(&one, sources, nobody, url, take_found, NULL), 0);
	close_sources(); /* while one is under way */
	CHECK_INT(ends, 1);
}

/* Addresses that answer late hold back neither other servers nor the library of this one. */
TEST(one_server_holds_back_nobody)
{
	struct music_request *r[MUSIC_GUILD_REQUESTS], *one;
	const struct music_asker other = {2, 1};
	const struct music_words wanted = {{1, 9}, "africa", MUSIC_LIBRARY, 5, false};
	char url[160];

	CHECK(open_sources(""));
	snprintf(url, sizeof url, "%s/song.mp3", site.base);
	sources = music_sources_free(sources);
	CHECK_INT(library_alloc(&library, l.env, state, folder, NULL), 0);
	CHECK_INT(music_sources_alloc(&sources, l.env, library, settings), 0);
	for (unsigned i = 0; i < MUSIC_GUILD_REQUESTS; i++)
		CHECK_INT(music_sources_address(&r[i], sources, (struct music_asker){1, 501 + i},
						url, take_found, NULL),
			  0);
	CHECK_INT(music_sources_address(&one, sources, ana, url, take_found, NULL), ENOSPC);
	CHECK_INT(music_sources_words(&one, sources, &wanted, take_found, NULL), 0);
	CHECK_INT(music_sources_address(&one, sources, other, url, take_found, NULL), 0);
	close_sources();
}

TEST_OOM(without_memory_there_is_no_source)
{
	struct music_sources *some = NULL;
	struct music_request *r;
	struct settings *set = NULL;
	struct env *env = NULL;
	int err = env_alloc(&env, &(struct env_conf){.loop = true});

	if (!err)
		err = settings_alloc(&set);
	if (!err)
		err = settings_set(set, "music_web", "1");
	if (!err)
		err = music_sources_alloc(&some, env, NULL, set);
	if (!err)
		err = music_sources_address(&r, some, nobody, "http://127.0.0.1:1/x", take_found,
					    NULL);
	music_sources_free(some);
	settings_free(set);
	env_free(env);
	CHECK_OOM(err, (void)0);
}

/* ---- words ---- */

TEST(words_find_tracks_of_the_library)
{
	CHECK(open_sources(""));
	CHECK(write_music("music/Toto - Africa.mp3", "") && write_music("music/Nena.mp3", ""));
	music_sources_free(sources);
	snprintf(found, sizeof found, "%s/music", folder);
	CHECK_INT(library_alloc(&library, l.env, state, found, NULL), 0);
	CHECK_INT(music_sources_alloc(&sources, l.env, library, settings), 0);
	CHECK(music_sources_search(sources));
	/* The scan runs beside. */
	LOOP_UNTIL(&l, strcmp(ask_words("afrika", MUSIC_LIBRARY), "no track fits") != 0);
	CHECK_STR(found, "[local] Africa Toto - Africa.mp3");
	CHECK_STR(ask_words("nothing like it", MUSIC_ANYWHERE), "no track fits");
	CHECK_STR(ask_words("x", MUSIC_YOUTUBE), strerror(ENOTSUP));
	close_sources();
}

/* ---- the downloader ---- */

/* Answers by its last argument. */
static const char program[] =
	"#!/bin/sh\n"
	"for last; do :; done\n"
	"case \"$*\" in *default*|*generic*|*oundcloudembed*) exit 3 ;; esac\n"
	"case \"$*\" in *--use-extractors*-youtube:consent*) ;; *) exit 3 ;; esac\n"
	"case \"$*\" in *\"--playlist-end 500 \"*|*search5:*) ;; *) exit 5 ;; esac\n"
	/* A format in one file comes before one in segments. */
	"case \"$*\" in *\"-f ba[acodec=opus][protocol~='^https?$']/ba[protocol~='^https?$']/"
	"b[protocol~='^https?$']/ba[protocol^=m3u8]/b[height<=480][protocol^=m3u8]/"
	"b[protocol^=m3u8] -j\"*) ;; *) exit 4 ;; esac\n"
	"entry() { printf "
	"'{\"webpage_url\":\"https://www.youtube.com/watch?v=%s\",\"title\":\"%s\","
	"\"extractor_key\":\"Youtube\"%s}\\n' \"$1\" \"$2\" \"$3\"; }\n"
	"case $last in\n"
	"ytsearch5:hang) exec sleep 60 ;;\n"
	"ytsearch5:*) entry a 'Another' ; entry b \"${last#*:}\" ;;\n"
	"scsearch5:*) entry c 'Cloud' ;;\n"
	"*/page) entry d 'Page' ',\"url\":\"https://cdn.example/d.webm\"' ;;\n"
	"*v=s) entry s 'S' ',\"url\":\"https://cdn.example/s.webm\"' ;;\n"
	"*v=LcOmEtvyhdF) entry LcOmEtvyhdF 'S' ',\"url\":\"https://cdn.example/known.webm\"' ;;\n"
	"*v=private) echo 'ERROR: [youtube] private: Private video. Sign in' >&2; exit 1 ;;\n"
	"*v=flood) exec yes \"{\\\"a\\\":\\\"$(printf %4000s)\\\"}\" ;;\n"
	"*v=hang) exec sleep 60 ;;\n"
	"*) exit 1 ;;\n"
	"esac\n";

static bool open_downloader(void)
{
	return open_sources("yt-dlp") &&
	       write_program(folder, "yt-dlp", program, sizeof program - 1);
}

static const char *ask_stream(const char *video)
{
	struct music_request *r;
	struct track t = {.source = TRACK_YOUTUBE};
	int err;

	snprintf(t.reference, sizeof t.reference, "https://www.youtube.com/watch?v=%s", video);
	err = music_sources_stream(&r, sources, &t, take_found, NULL);
	return err ? strerror(err) : loop_run(&l) ? found : "too late";
}

TEST(the_users_program_finds_what_the_library_lacks)
{
	CHECK(open_downloader());
	CHECK(music_sources_search(sources));
	/* The one that fits best comes first. */
	CHECK_STR(ask_words("Toto Africa", MUSIC_ANYWHERE),
		  "[yt] Toto Africa /watch?v=b, [yt] Another /watch?v=a");
	CHECK_STR(ask_words("x", MUSIC_SOUNDCLOUD), "[yt] Cloud /watch?v=c");
	CHECK_STR(ask_words("x", MUSIC_LIBRARY), strerror(ENOTSUP));
	close_sources();
}

/* "creed" may be meant for "Creep", or for what the library has not. */
TEST(what_the_library_has_only_perhaps_is_looked_for_elsewhere_as_well)
{
	const struct music_words trusted = {.words = "creed", .most = 5};
	struct music_request *r;

	CHECK(open_downloader());
	CHECK(write_music("music/Radiohead - Creep.mp3", ""));
	music_sources_free(sources);
	snprintf(found, sizeof found, "%s/music", folder);
	CHECK_INT(library_alloc(&library, l.env, state, found, NULL), 0);
	CHECK_INT(music_sources_alloc(&sources, l.env, library, settings), 0);
	LOOP_UNTIL(&l, strstr(ask_words("creep", MUSIC_LIBRARY), "[local]"));
	CHECK_STR(ask_words("creep", MUSIC_ANYWHERE), "[local] Creep Radiohead - Creep.mp3");
	CHECK_STR(ask_words("creed", MUSIC_ANYWHERE),
		  "[yt] creed /watch?v=b, [local] Creep Radiohead - Creep.mp3, "
		  "[yt] Another /watch?v=a");
	CHECK_STR(ask_words("creed", MUSIC_LIBRARY), "[local] Creep Radiohead - Creep.mp3");
	CHECK_INT(music_sources_words(&r, sources, &trusted, take_found, NULL), 0);
	CHECK(loop_run(&l));
	CHECK_STR(found, "[local] Creep Radiohead - Creep.mp3");
	/* Better than nothing. */
	CHECK(write_program(folder, "yt-dlp", "#!/bin/sh\nexit 1\n", 17));
	CHECK_STR(ask_words("creed", MUSIC_ANYWHERE), "[local] Creep Radiohead - Creep.mp3");
	CHECK_INT(settings_set(settings, "music_downloader", "/nonexistent"), 0);
	CHECK(!sources->missing_told);
	CHECK_STR(ask_words("creed", MUSIC_ANYWHERE), "[local] Creep Radiohead - Creep.mp3");
	CHECK(sources->missing_told);
	close_sources();
}

TEST(a_page_and_its_stream_come_from_the_users_program)
{
	CHECK(open_downloader());
	CHECK_STR(ask_address("/page"), "[yt] Page /watch?v=d");
	CHECK_STR(ask_address("/page#__youtubedl_smuggle=%7B%7D"), "[yt] Page /watch?v=d");
	CHECK_STR(ask_stream("s"), "https://cdn.example/s.webm");
	CHECK_STR(ask_stream("private"), "it is private");
	CHECK_STR(ask_stream("none"), "the downloader failed");
	/* What the page told is known, without another run. */
	CHECK(write_program(folder, "yt-dlp", "#!/bin/sh\nexit 1\n", 17));
	CHECK_STR(ask_stream("d"), "https://cdn.example/d.webm");
	CHECK_STR(ask_stream("s"), "https://cdn.example/s.webm");
	close_sources();
}

TEST(without_the_web_the_program_visits_its_sites_alone)
{
	struct music_request *r;

	CHECK(open_downloader());
	CHECK_INT(settings_set(settings, "music_web", "0"), 0);
	CHECK_STR(ask_address("/song.mp3"), strerror(ENOTSUP));
	CHECK_STR(ask_address("/list.m3u"), strerror(ENOTSUP));
	CHECK_INT(music_sources_address(&r, sources, nobody, "https://youtu.be/page", take_found,
					NULL),
		  0);
	CHECK(loop_run(&l));
	CHECK_STR(found, "[yt] Page /watch?v=d");
	close_sources();
}

/* A stream is for a room that waits: the requests of members leave it a place. */
TEST(a_stream_is_found_while_many_ask)
{
	struct music_request *r;

	CHECK(open_downloader());
	for (unsigned i = 0; i < MUSIC_REQUESTS; i++)
		CHECK_INT(music_sources_address(&r, sources, nobody, "http://127.0.0.1:1/",
						take_found, NULL),
			  0);
	CHECK_INT(
		music_sources_address(&r, sources, nobody, "http://127.0.0.1:1/", take_found, NULL),
		ENOSPC);
	CHECK(strcmp(ask_stream("s"), strerror(ENOSPC)) != 0);
	LOOP_UNTIL(&l, strstr(found, "s.webm"));
	close_sources();
}

TEST(a_program_without_end_is_cut_and_two_run_at_once)
{
	struct music_request *r[3];
	struct track t = {.source = TRACK_YOUTUBE};

	CHECK(open_downloader());
	CHECK_STR(ask_stream("flood"), "the downloader failed");
	snprintf(t.reference, sizeof t.reference, "https://www.youtube.com/watch?v=hang");
	for (unsigned i = 0; i < 2; i++)
		CHECK_INT(music_sources_stream(&r[i], sources, &t, take_found, NULL), 0);
	snprintf(t.reference, sizeof t.reference, "https://www.youtube.com/watch?v=s");
	CHECK_INT(music_sources_stream(&r[2], sources, &t, take_found, NULL), 0);
	ends = 0;
	loop_run_for(&l, 200 * NS_PER_MS);
	CHECK_INT(ends, 0); /* the third one waits */
	music_request_cancel(r[0]);
	CHECK(loop_run(&l));
	CHECK_STR(found, "https://cdn.example/s.webm");
	close_sources(); /* while one hangs */
}

/* Two programs run at once: one for each person, and streams that rooms wait for come first. */
TEST(one_person_holds_back_nobody)
{
	const struct music_words mine = {{1, 7}, "hang", MUSIC_YOUTUBE, 5, false};
	const struct music_words other = {{1, 8}, "x", MUSIC_YOUTUBE, 5, false};
	struct music_request *hang[2], *r;

	CHECK(open_downloader());
	for (unsigned i = 0; i < 2; i++)
		CHECK_INT(music_sources_words(&hang[i], sources, &mine, take_found, NULL), 0);
	CHECK_INT(music_sources_words(&r, sources, &other, take_found, NULL), 0);
	CHECK(loop_run(&l));
	CHECK_STR(found, "[yt] x /watch?v=b, [yt] Another /watch?v=a");
	/* The place that is free now is not for the second one of the same person. */
	CHECK_STR(ask_stream("s"), "https://cdn.example/s.webm");
	music_request_cancel(hang[0]);
	CHECK_INT(music_sources_words(&r, sources, &other, take_found, NULL), 0);
	CHECK(loop_run(&l));
	CHECK_STR(found, "[yt] x /watch?v=b, [yt] Another /watch?v=a");
	close_sources();
}

/* Rooms that skip again and again want a new stream each time. */
TEST(streams_leave_a_place_to_those_who_search)
{
	const struct music_words wanted = {{1, 8}, "x", MUSIC_YOUTUBE, 5, false};
	struct music_request *hang[3], *r;
	struct track t = {.source = TRACK_YOUTUBE};

	CHECK(open_downloader());
	snprintf(t.reference, sizeof t.reference, "https://www.youtube.com/watch?v=hang");
	for (unsigned i = 0; i < 3; i++)
		CHECK_INT(music_sources_stream(&hang[i], sources, &t, take_found, NULL), 0);
	loop_run_for(&l, 200 * NS_PER_MS);
	CHECK_INT(music_sources_words(&r, sources, &wanted, take_found, NULL), 0);
	ends = 0;
	loop_run_for(&l, 200 * NS_PER_MS);
	CHECK_INT(ends, 0); /* two streams run, and another one waits */
	music_request_cancel(hang[0]);
	CHECK(loop_run(&l));
	CHECK_STR(found, "[yt] x /watch?v=b, [yt] Another /watch?v=a");
	close_sources();
}

/* Whoever uploads music may choose its address: a sum of it does not tell it from another one. */
TEST(a_page_is_known_by_its_whole_address)
{
	static const char same[] = "https://www.youtube.com/watch?v=LcOmEtvyhdF",
			  other[] = "https://www.youtube.com/watch?v=fpat5GTn5GN";

	CHECK(fnv_bytes(FNV_BEGIN, same, strlen(same)) ==
	      fnv_bytes(FNV_BEGIN, other, strlen(other)));
	CHECK(open_downloader());
	CHECK_STR(ask_stream("LcOmEtvyhdF"), "https://cdn.example/known.webm");
	CHECK(write_program(folder, "yt-dlp", "#!/bin/sh\nexit 1\n", 17));
	CHECK_STR(ask_stream("LcOmEtvyhdF"), "https://cdn.example/known.webm");
	CHECK_STR(ask_stream("fpat5GTn5GN"), "the downloader failed");
	close_sources();
}
