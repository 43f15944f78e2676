/* Playlists: M3U and PLS, names, durations, and references that reach nothing they should not. */
#include "control/music/playlist.h"

#include "tests/test.h"
#include "tests/unit/control/music/tracks.h"

struct got {
	size_t n, most;
	struct track track[8];
};

static bool keep(const struct track *t, void *arg)
{
	struct got *g = arg;

	if (g->n < 8)
		g->track[g->n] = *t;
	g->n++;
	return g->n != g->most;
}

static int read_playlist(struct got *g, enum track_source source, const char *reference,
			 const char *text)
{
	struct track place = {.source = source, .root = 3, .requester = BOB};

	*g = (struct got){.most = g->most};
	snprintf(place.reference, sizeof place.reference, "%s", reference);
	return playlist_read(&place, (struct slice){(const uint8_t *)text, strlen(text)}, keep, g);
}

static int read_web(struct got *g, const char *text)
{
	return read_playlist(g, TRACK_URL, "https://radio.example/a/list.m3u?x=/y", text);
}

TEST(an_m3u_names_its_tracks)
{
	struct got g = {0};

	CHECK_INT(read_web(&g, "\xef\xbb\xbf#EXTM3U\r\n"
			       "#EXTINF:215 logo=\"a,b\" group=\"x\",Queen - One - Two\r\n"
			       "https://cdn.example/1.mp3\r\n\r\n"
			       "# a comment\n"
			       "2.mp3\n"
			       "#EXTINF:-1,Radio\xe9\n"
			       "http://live.example:8000/stream"),
		  0);
	CHECK_INT(g.n, 3);
	CHECK_STR(g.track[0].artist, "Queen");
	CHECK_STR(g.track[0].title, "One - Two");
	CHECK_INT(g.track[0].duration_ms, 215000);
	CHECK_INT(g.track[0].source, TRACK_URL);
	CHECK_STR(g.track[0].reference, "https://cdn.example/1.mp3");
	CHECK(g.track[0].requester == BOB && g.track[0].root == 3);
	CHECK_STR(g.track[1].reference, "https://radio.example/a/2.mp3");
	CHECK_STR(g.track[1].title, "");
	/* It may be a file or a station: the list does not say. */
	CHECK(g.track[1].source == TRACK_URL && g.track[1].may_be_live && !g.track[0].may_be_live);
	CHECK(g.track[2].source == TRACK_RADIO && !g.track[2].may_be_live);
	CHECK_STR(g.track[2].title, "Radioé");
}

TEST(a_pls_names_its_tracks_in_any_order)
{
	struct got g = {0};

	CHECK_INT(read_web(&g,
			   "[Playlist]\nTitle2=Second\nnumberofentries=2\nFile2=/two\n"
			   "file1=//other.example/one\nLength1=61\nTITLE1=Band - First\n"
			   "File0=http://no/\nFile501=http://no/\nFile=http://no/\nVersion=2\n"),
		  0);
	CHECK_INT(g.n, 2);
	CHECK_STR(g.track[0].reference, "https://other.example/one");
	CHECK_STR(g.track[0].artist, "Band");
	CHECK_INT(g.track[0].duration_ms, 61000);
	CHECK_STR(g.track[1].reference, "https://radio.example/two");
	CHECK_STR(g.track[1].title, "Second");
	CHECK(g.track[1].source == TRACK_URL && g.track[1].may_be_live && !g.track[0].may_be_live);
	CHECK_INT(read_web(&g, "[playlist]\nFile1=http://live.example/s\nLength1=-1\n"), 0);
	CHECK(g.track[0].source == TRACK_RADIO && !g.track[0].may_be_live);
}

TEST(a_playlist_of_the_web_reaches_no_file)
{
	static const char *const refused[] = {"file:///etc/passwd", "C:\\music\\a.mp3",
					      "rtsp://x/y", "data:audio/mp3;base64,AA",
					      "concat:a|b"};
	struct got g = {0};

	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
		CHECK_INT(read_web(&g, refused[i]), EBADMSG);
	CHECK_INT(read_playlist(&g, TRACK_URL, "radio.example", "a.mp3"), EBADMSG);
	/* "../" stays an address of the same host. */
	CHECK_INT(read_web(&g, "../../x.mp3"), 0);
	CHECK_STR(g.track[0].reference, "https://radio.example/a/../../x.mp3");
}

/* A queue is saved as JSON, which holds UTF-8 alone; one entry that cannot be written would take
 * the whole queue with it. */
TEST(a_reference_that_is_no_plain_text_names_no_track)
{
	static const char *const refused[] = {"http://x.example/caf\xe9.mp3",  "caf\xe9.mp3",
					      "http://x.example/\xed\xa0\x80", "a\x01.mp3",
					      "http://x.example/\x1b[31m.mp3", "a\x7f.mp3"};
	struct got g = {0};

	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
		CHECK_INT(read_web(&g, refused[i]), EBADMSG);
		CHECK_INT(read_playlist(&g, TRACK_LOCAL, "rock/list.m3u", refused[i]), EBADMSG);
	}
	CHECK_INT(read_playlist(&g, TRACK_URL, "http://x.example/\xe9/list.m3u", "a.mp3"), EBADMSG);
	CHECK_INT(read_web(&g, "caf\xc3\xa9.mp3"), 0);
	CHECK_STR(g.track[0].reference, "https://radio.example/a/caf\xc3\xa9.mp3");
}

TEST(a_playlist_in_a_folder_names_files_below_it_and_addresses)
{
	struct got g = {0};

	CHECK_INT(read_playlist(&g, TRACK_LOCAL, "rock/list.m3u",
				"a.mp3\n/etc/passwd\nC:\\b.mp3\nsub\\c.mp3\n"
				"file:///etc/passwd\n#EXTINF:-1,Live\nhttp://live.example/s\n"),
		  0);
	CHECK_INT(g.n, 2);
	CHECK_INT(g.track[0].source, TRACK_LOCAL);
	CHECK_STR(g.track[0].reference, "rock/a.mp3");
	CHECK(!g.track[0].may_be_live);
	CHECK_INT(g.track[1].source, TRACK_RADIO);
	CHECK_INT(read_playlist(&g, TRACK_LOCAL, "list.m3u", "a#1?.mp3"), 0);
	CHECK_STR(g.track[0].reference, "a#1?.mp3");
}

TEST(a_stream_of_segments_is_no_playlist)
{
	struct got g = {0};

	CHECK_INT(read_web(&g, "#EXTM3U\n#EXT-X-TARGETDURATION:8\n#EXTINF:8,\nseg1.ts\n"), ENOTSUP);
	CHECK_INT(g.n, 0);
	CHECK_INT(read_web(&g, "#EXTM3U\n"), EBADMSG);
	CHECK_INT(read_web(&g, ""), EBADMSG);
}

TEST(a_playlist_has_caps)
{
	static uint8_t big[PLAYLIST_BYTES_MAX + 1];
	char text[PLAYLIST_TRACKS * 2 + 20] = "", long_name[TRACK_REFERENCE_MAX + 20];
	struct track place = {.source = TRACK_URL};
	struct got g = {0};

	memset(big, 'a', sizeof big);
	CHECK_INT(playlist_read(&place, (struct slice){big, sizeof big}, keep, &g), EMSGSIZE);
	CHECK_INT(playlist_read(&place, (struct slice){(const uint8_t *)"a\0b", 3}, keep, &g),
		  EBADMSG);
	for (unsigned i = 0; i < PLAYLIST_TRACKS + 5; i++)
		memcpy(text + 2 * i, "a\n", 3);
	CHECK_INT(read_web(&g, text), 0);
	CHECK_INT(g.n, PLAYLIST_TRACKS);
	g.most = 2;
	CHECK_INT(read_web(&g, text), 0);
	CHECK_INT(g.n, 2);
	memset(long_name, 'a', sizeof long_name - 1);
	long_name[sizeof long_name - 1] = '\0';
	CHECK_INT(read_web(&g, long_name), EBADMSG);
	CHECK_INT(read_web(&g, "#EXTINF:99999999999999999999,x\na"), 0);
	CHECK_INT(g.track[0].duration_ms, 0);
}
