/* yt-dlp's output: what is taken of it, what is refused, and its failures. */
#include "control/music/ytdlp.h"

#include "tests/test.h"

static int read_line(struct ytdlp_result *r, const char *text)
{
	return ytdlp_read_line(r, (struct slice){(const uint8_t *)text, strlen(text)});
}

TEST(a_video_becomes_a_track_with_its_stream)
{
	struct ytdlp_result r;

	CHECK_INT(
		read_line(&r,
			  "{\"id\":\"fJ9\",\"title\":\"Queen \\u2013 Rhapsody\\n(Official)\","
			  "\"track\":null,\"channel\":\"Queen Official\",\"duration\":354.6,"
			  "\"webpage_url\":\"https://www.youtube.com/watch?v=fJ9\","
			  "\"extractor_key\":\"Youtube\",\"album\":7,\"live_status\":\"not_live\","
			  "\"url\":\"https://r1.example/videoplayback?expire=1&ip=x\","
			  "\"http_headers\":{\"User-Agent\":\"Mozilla\",\"Cookie\":\"secret\","
			  "\"Referer\":\"a\\r\\nHost: evil\",\"Accept-Language\":\"en\"}}"),
		0);
	CHECK_STR(r.track.title, "Queen – Rhapsody (Official)");
	CHECK_STR(r.track.artist, "Queen Official");
	CHECK_STR(r.track.album, "");
	CHECK_INT(r.track.duration_ms, 354600);
	CHECK_INT(r.track.source, TRACK_YOUTUBE);
	CHECK_STR(r.track.reference, "https://www.youtube.com/watch?v=fJ9");
	CHECK_STR(r.stream, "https://r1.example/videoplayback?expire=1&ip=x");
	CHECK_STR(r.headers, "User-Agent: Mozilla\nAccept-Language: en\n");
}

TEST(music_is_named_by_its_own_fields)
{
	struct ytdlp_result r;

	CHECK_INT(read_line(&r,
			    "{\"title\":\"x\",\"track\":\"Halo\",\"artists\":[\"Beyonc\\u00e9\","
			    "\"B\"],\"artist\":\"no\",\"album\":\"Fierce\","
			    "\"webpage_url\":\"https://soundcloud.com/a/b\","
			    "\"extractor_key\":\"Soundcloud\",\"url\":\"https://c.example/s\"}"),
		  0);
	CHECK_STR(r.track.title, "Halo");
	CHECK_STR(r.track.artist, "Beyoncé");
	CHECK_STR(r.track.album, "Fierce");
	CHECK_INT(r.track.source, TRACK_SOUNDCLOUD);
	CHECK_INT(r.track.duration_ms, 0);
}

TEST(entries_of_a_playlist_are_resolved_later)
{
	struct ytdlp_result r;

	CHECK_INT(read_line(&r, "{\"_type\":\"url\",\"ie_key\":\"Youtube\",\"id\":\"a\","
				"\"url\":\"https://www.youtube.com/watch?v=a\",\"title\":\"A\","
				"\"duration\":12,\"http_headers\":{\"User-Agent\":\"x\"}}"),
		  0);
	CHECK_STR(r.track.reference, "https://www.youtube.com/watch?v=a");
	CHECK_STR(r.stream, "");
	CHECK_STR(r.headers, "");
	CHECK_INT(r.track.source, TRACK_YOUTUBE);
}

TEST(live_streams_have_no_duration)
{
	struct ytdlp_result r;

	CHECK_INT(read_line(&r, "{\"webpage_url\":\"https://x.example/\",\"is_live\":true,"
				"\"duration\":5,\"url\":\"https://x.example/l\"}"),
		  0);
	CHECK_INT(r.track.source, TRACK_PAGE); /* its stream is not at that address */
	CHECK_INT(r.track.duration_ms, 0);
	CHECK_INT(read_line(&r, "{\"webpage_url\":\"https://x.example/\",\"duration\":9,"
				"\"extractor_key\":\"Youtube\",\"live_status\":\"is_live\"}"),
		  0);
	CHECK_INT(r.track.source, TRACK_YOUTUBE);
	CHECK_INT(r.track.duration_ms, 0);
}

TEST(lines_that_name_no_music_are_refused)
{
	static const char *const refused[] = {
		"",
		"[]",
		"null",
		"WARNING: x",
		"{}",
		"{\"webpage_url\":\"file:///etc/passwd\"}",
		"{\"webpage_url\":\"https://a b/\"}",
		"{\"webpage_url\":\"https://a/\\\"\"}",
		"{\"webpage_url\":5,\"url\":[]}",
		"{\"webpage_url\":\"https://a/\"} x",
	};
	static uint8_t big[YTDLP_LINE_MAX + 1];
	struct ytdlp_result r;

	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
		CHECK_INT(read_line(&r, refused[i]), EBADMSG);
	CHECK_INT(ytdlp_read_line(&r, (struct slice){big, sizeof big}), EMSGSIZE);
	/* A stream that is no address of the web is left out. */
	CHECK_INT(read_line(&r, "{\"webpage_url\":\"https://a/\",\"url\":\"rtmp://a/b\","
				"\"duration\":-4}"),
		  0);
	CHECK_STR(r.stream, "");
	CHECK_INT(r.track.duration_ms, 0);
}

TEST(failures_have_names)
{
	static const struct {
		const char *errors, *name;
	} rows[] = {
		{"ERROR: [youtube] x: Sign in to confirm you\xe2\x80\x99re not a bot. Use "
		 "--cookies",
		 "sign_in"},
		{"ERROR: [youtube] x: Sign in to confirm your age. This video may be inappropriate "
		 "for some users.",
		 "age"},
		{"ERROR: [youtube] x: Private video. Sign in if you've been granted access",
		 "private"},
		{"ERROR: [youtube] x: Join this channel to get access to members-only content",
		 "private"},
		{"ERROR: [youtube] x: The uploader has not made this video available in your "
		 "country",
		 "region"},
		{"ERROR: [youtube] x: Requested format is not available. Use --list-formats",
		 "no_format"},
		{"ERROR: unable to download video data: HTTP Error 403: Forbidden", "forbidden"},
		{"ERROR: [soundcloud] x: HTTP Error 429: Too Many Requests", "rate_limit"},
		{"WARNING: [youtube] No supported JavaScript runtime could be found.\n"
		 "ERROR: [youtube] x: Requested format is not available",
		 "no_javascript"},
		{"ERROR: [youtube] x: Video unavailable. This video has been removed", "gone"},
		{"ERROR: Unsupported URL: https://x.example/", "unsupported"},
		{"ERROR: No suitable extractor found for URL http://x.example/", "unsupported"},
		{"ERROR: The read operation timed out", "timeout"},
		{"ERROR: [youtube] x: Unable to download webpage: <urlopen error [Errno -3] "
		 "Temporary failure in name resolution>",
		 "unreachable"},
		{"ERROR: [soundcloud] x: HTTP Error 503: Service Unavailable", "unreachable"},
		{"Traceback (most recent call last)", "other"},
		{"", "other"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct slice s = {(const uint8_t *)rows[i].errors, strlen(rows[i].errors)};

		CHECK_STR(ytdlp_failure_name(ytdlp_find_failure(s)), rows[i].name);
		CHECK_INT(ytdlp_failure_passes(ytdlp_find_failure(s)),
			  strstr("timeout unreachable rate_limit", rows[i].name) != NULL);
	}
}
