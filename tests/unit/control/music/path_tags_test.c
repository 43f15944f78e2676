/* Tags from paths. */
#include "control/music/path_tags.h"

#include "tests/test.h"

TEST(a_path_tells_artist_album_and_title)
{
	static const struct {
		const char *path, *artist, *album, *title;
	} rows[] = {
		{"Queen/A Night at the Opera/11 - Bohemian Rhapsody.flac", "Queen",
		 "A Night at the Opera", "Bohemian Rhapsody"},
		{"music/Queen/Jazz/1-12. Don't Stop Me Now.MP3", "Queen", "Jazz",
		 "Don't Stop Me Now"},
		{"Queen/Killer Queen.ogg", "Queen", "", "Killer Queen"},
		{"Mix/Toto - Africa.opus", "Toto", "", "Africa"},
		{"a/b/03 Toto - Africa - Live.m4a", "Toto", "b", "Africa - Live"},
		{"99 Luftballons.mp3", "", "", "Luftballons"},
		{"1999.wav", "", "", "1999"},
		{"99.wav", "", "", "99"},
		{"1999 Live.wav", "", "", "1999 Live"},
		{"7 - .wav", "", "", "7 -"},
		{"pink_floyd/wish_you_were_here.mp3", "pink floyd", "", "wish you were here"},
		{"a b_c/d_e f.mp3", "a b_c", "", "d_e f"},
		{" - x.mp3", "", "", "- x"},
		{"米津玄師/Lemon.webm", "米津玄師", "", "Lemon"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct track t = {0};

		CHECK(path_tags_read(&t, rows[i].path));
		CHECK_STR(t.title, rows[i].title);
		CHECK_STR(t.artist, rows[i].artist);
		CHECK_STR(t.album, rows[i].album);
	}
}

TEST(other_files_are_no_music)
{
	static const char *const names[] = {"cover.jpg",  "a/list.m3u", "mp3", ".mp3",
					    "a.mp3.part", "",		"a/",  "a.mp3/b"};
	struct track t = {.title = "as it was"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		CHECK(!path_tags_read(&t, names[i]));
	CHECK_STR(t.title, "as it was");
}
