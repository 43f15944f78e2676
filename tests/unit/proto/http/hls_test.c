#include "proto/http/hls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

static struct hls hls;

static int open_text(const char *text)
{
	return hls_open(&hls, (struct slice){(const uint8_t *)text, strlen(text)});
}

static const char *words(struct slice s)
{
	static char text[128];

	snprintf(text, sizeof text, "%.*s", (int)s.n, (const char *)s.p);
	return text;
}

static const char *chosen(const char *text)
{
	struct slice uri;

	return open_text(text) || !hls.master || !hls_choose(&hls, &uri) ? "" : words(uri);
}

TEST(a_media_playlist_lists_its_segments)
{
	struct hls_segment s;

	CHECK_INT(
		open_text(
			"#EXTM3U\r\n#EXT-X-VERSION:3\r\n#EXT-X-TARGETDURATION:10\r\n"
			"#EXT-X-MEDIA-SEQUENCE:2680\r\n\r\n#EXTINF:9.009,A title, with a comma\r\n"
			"first.ts\r\n# a remark\r\n#EXTINF:3,\r\n  https://b.example/second.ts \r\n"
			"#EXT-X-GAP\r\n#EXTINF:4.5\r\nthird.ts\r\n#EXT-X-ENDLIST\r\n"),
		0);
	CHECK(!hls.master && hls.ended);
	CHECK_INT(hls.segments, 3);
	CHECK_INT(hls.sequence, 2680);
	CHECK_INT(hls.us, 16509000);
	CHECK_INT(hls.target_us, 10000000);
	CHECK(hls_next(&hls, &s));
	CHECK_STR(words(s.part.uri), "first.ts");
	CHECK_INT(s.sequence, 2680);
	CHECK_INT(s.microseconds, 9009000);
	CHECK(!s.gap && !s.map.uri.n && !s.part.length);
	CHECK(hls_next(&hls, &s));
	CHECK_STR(words(s.part.uri), "https://b.example/second.ts");
	CHECK_INT(s.sequence, 2681);
	CHECK(hls_next(&hls, &s));
	CHECK(s.gap);
	CHECK(!hls_next(&hls, &s));
}

TEST(segments_may_be_parts_of_a_file)
{
	struct hls_segment s;

	CHECK_INT(open_text("#EXTM3U\n#EXT-X-TARGETDURATION:4\n"
			    "#EXT-X-MAP:URI=\"all.mp4\",BYTERANGE=\"720@0\"\n"
			    "#EXTINF:4,\n#EXT-X-BYTERANGE:1000@720\nall.mp4\n"
			    "#EXTINF:4,\n#EXT-X-BYTERANGE:500\nall.mp4\n"
			    "#EXTINF:4,\n#EXT-X-BYTERANGE:18446744073709551615@1\nall.mp4\n"),
		  0);
	CHECK(!hls.ended);
	CHECK(hls_next(&hls, &s));
	CHECK_STR(words(s.map.uri), "all.mp4");
	CHECK_INT(s.map.length, 720);
	CHECK_INT(s.part.from, 720);
	CHECK_INT(s.part.length, 1000);
	CHECK(hls_next(&hls, &s));
	CHECK_INT(s.part.from, 1720);
	CHECK_INT(s.part.length, 500);
	CHECK(hls_next(&hls, &s));
	CHECK(s.gap);
}

TEST(what_is_no_playlist_of_segments_is_refused)
{
	static const struct {
		const char *text;
		int err;
	} rows[] = {
		{"", EBADMSG},
		{"#EXTM3", EBADMSG},
		{"#EXTM3U\nhttp://radio.example/\n", EBADMSG},
		{"#EXTM3U\n#EXT-X-TARGETDURATION:4\n", EBADMSG},
		{"#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n"
		 "#EXTINF:4,\na.ts\n",
		 ENOTSUP},
		{"#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-KEY:METHOD=NONE\n#EXTINF:4,\na.ts\n", 0},
		{"#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-KEY:URI=\"METHOD=NONE\"\n#EXTINF:4,"
		 "\na\n",
		 ENOTSUP},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		CHECK_INT(open_text(rows[i].text), rows[i].err);
}

TEST(a_playlist_without_an_end_is_bounded)
{
	static const char line[] = "#EXTINF:1,\na\n";
	size_t n = sizeof line - 1, most = 40 + n * (HLS_SEGMENTS_MAX + 1);
	char *text = malloc(most + 1);
	size_t at;

	CHECK(text != NULL);
	at = (size_t)sprintf(text, "#EXTM3U\n#EXT-X-TARGETDURATION:1\n");
	for (unsigned i = 0; i <= HLS_SEGMENTS_MAX; i++, at += n)
		memcpy(text + at, line, n + 1);
	CHECK_INT(open_text(text), EMSGSIZE);
	text[at - n] = '\0';
	CHECK_INT(open_text(text), 0);
	free(text);
}

/* Sound alone comes first, of the most bits that the limit allows. */
TEST(a_variant_of_sound_alone_is_heard)
{
	CHECK_STR(chosen("#EXTM3U\n"
			 "#EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS=\"mp4a.40.5\"\nlow\n"
			 "#EXT-X-STREAM-INF:BANDWIDTH=192000,CODECS=\"mp4a.40.2\"\nhigh\n"
			 "#EXT-X-STREAM-INF:BANDWIDTH=1400000,CODECS=\"fLaC\"\nlossless\n"
			 "#EXT-X-STREAM-INF:BANDWIDTH=800000,RESOLUTION=640x360,"
			 "CODECS=\"avc1.4d401e,mp4a.40.2\"\npicture\n"),
		  "high");
}

TEST(without_sound_alone_a_small_picture_is_taken)
{
	static const char text[] =
		"#EXTM3U\n"
		"#EXT-X-STREAM-INF:BANDWIDTH=5000000,CODECS=\"avc1.64001f,mp4a.40.2\"\nbig\n"
		"#EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS=\"avc1.4d401e,mp4a.40.2\"\nfair\n"
		"#EXT-X-STREAM-INF:BANDWIDTH=300000,CODECS=\"avc1.42c00d,mp4a.40.2\"\nsmall\n";

	CHECK_STR(chosen(text), "fair");
	CHECK_STR(chosen("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=9000000,RESOLUTION=3840x2160\nhuge\n"
			 "#EXT-X-STREAM-INF:BANDWIDTH=5000000,RESOLUTION=1920x1080\nbig\n"),
		  "big");
}

TEST(a_picture_s_sound_may_have_an_address_of_its_own)
{
	CHECK_STR(chosen("#EXTM3U\n"
			 "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"Other\",URI=\"other\"\n"
			 "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"Main\",DEFAULT=YES,URI="
			 "\"main\"\n"
			 "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"a\",DEFAULT=YES,URI=\"text\"\n"
			 "#EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=640x360,AUDIO="
			 "\"a\"\npicture\n"),
		  "main");
	/* The group has none: the sound is in the variant. */
	CHECK_STR(chosen("#EXTM3U\n"
			 "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"Main\",DEFAULT=YES\n"
			 "#EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=640x360,AUDIO="
			 "\"a\"\npicture\n"),
		  "picture");
	CHECK_STR(chosen("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n#EXT-X-ENDLIST\n"), "");
}
