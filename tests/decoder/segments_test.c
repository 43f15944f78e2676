/* decoderd plays streams in segments (HLS): their formats, seeks, live ones, and hostile ones. */
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/decoder/deck.h"
#include "tests/decoder/formats.h"
#include "tests/decoder/sound.h"
#include "tests/decoder/web.h"
#include "tests/test.h"

enum { SECONDS = 5, LINE = 512, AAC_FRAME = 1024, TAG = 73 };

/* ---- streams ---- */

/* Writes list.m3u8 with segments of half a second. */
static bool write_stream(const struct deck *d, const char *type, const char *codec)
{
	char options[512], segment[96];
	struct sound s = {.format = "hls",
			  .codec = codec,
			  .rate = RATE,
			  .channels = 2,
			  .samples = SECONDS * RATE,
			  .options = options};

	snprintf(segment, sizeof segment, "%s/s%%d.%s", d->dir,
		 strcmp(type, "fmp4") == 0 ? "m4s" : "ts");
	snprintf(options, sizeof options,
		 "hls_time=0.5:hls_list_size=0:hls_playlist_type=vod:hls_segment_type=%s:"
		 "hls_segment_filename=%s",
		 type, segment);
	s.path = deck_path(d, "list.m3u8");
	return sound_write(&s);
}

static bool write_text(const struct deck *d, const char *name, const char *text)
{
	FILE *f = fopen(deck_path(d, name), "w");
	bool ok = f && fputs(text, f) >= 0;

	return f && fclose(f) == 0 && ok;
}

/* Copies list.m3u8 to `name` with this folder before each segment; without the first `skip` ones
 * and, if `most` is not 0, those behind it and the end. */
static bool copy_list(const struct deck *d, const char *name, const char *folder, int skip,
		      int most)
{
	FILE *in = fopen(deck_path(d, "list.m3u8"), "r"), *out = fopen(deck_path(d, name), "w");
	char line[LINE], times[LINE] = "";
	int n = 0;

	while (in && out && fgets(line, sizeof line, in)) {
		if (strncmp(line, "#EXTINF", 7) == 0) {
			memcpy(times, line, sizeof times);
		} else if (*line != '#') {
			if (n >= skip && (!most || n < most))
				fprintf(out, "%s%s%s", times, folder, line);
			n++;
		} else if (strncmp(line, "#EXT-X-MEDIA-SEQUENCE", 21) == 0) {
			fprintf(out, "#EXT-X-MEDIA-SEQUENCE:%d\n", skip);
		} else if (strncmp(line, "#EXT-X-ENDLIST", 14) != 0 || !most) {
			fputs(line, out);
		}
	}
	return in && out && fclose(in) == 0 && fclose(out) == 0 && n > 0;
}

/* ---- what was heard ---- */

/* Signal-to-noise ratio of the frames against those of `whole` from `start` on. */
static double compare(const struct played *p, const struct played *whole, size_t start)
{
	double signal = 1e-9, noise = 1e-9;

	for (size_t i = 0; i < 2 * p->frames && i + 2 * start < 2 * whole->frames; i++) {
		double want = whole->pcm[i + 2 * start], got = p->pcm[i];

		signal += want * want;
		noise += (want - got) * (want - got);
	}
	return 10 * log10(signal / noise);
}

/* Against the signal, which the encoder delays by this many frames. */
static double compare_signal(const struct played *p, size_t delay)
{
	double signal = 1e-9, noise = 1e-9;

	for (size_t i = delay; i < p->frames && i - delay < SECONDS * RATE; i++)
		for (int c = 0; c < 2; c++) {
			double want = sound_signal((double)(i - delay) / RATE, c),
			       got = p->pcm[2 * i + (size_t)c] / 32768.0;

			signal += want * want;
			noise += (want - got) * (want - got);
		}
	return 10 * log10(signal / noise);
}

static bool is_whole(const struct played *p)
{
	long more = (long)p->frames - (long)SECONDS * RATE;

	return p->reason == DECODER_REASON_END && more >= -1 && more < 3 * AAC_FRAME;
}

static const char *reason_for(struct deck *d, const char *name)
{
	struct played p;

	deck_play_file(d, name, 0, &p);
	free(p.pcm);
	return decoder_reason_name(p.reason);
}

/* ---- ordinary streams ---- */

static void check_format(const char *type, const char *codec)
{
	struct deck d;
	struct played whole = {0}, part = {0};
	double snr, same;
	bool ok = deck_open(&d) && write_stream(&d, type, codec);

	if (ok) {
		deck_play_file(&d, "/ranges/list.m3u8", 0, &whole);
		deck_play_file(&d, "/ranges/list.m3u8", 100001, &part);
	}
	snr = compare_signal(&whole, AAC_FRAME);
	same = compare(&part, &whole, 100001);
	deck_close(&d);
	free(whole.pcm);
	free(part.pcm);
	CHECK(ok && is_whole(&whole));
	CHECK(snr > 12);
	CHECK(whole.opened.seekable);
	CHECK(labs((long)whole.opened.duration - (long)whole.frames) <= 2 * AAC_FRAME);
	CHECK_INT(part.reason, DECODER_REASON_END);
	CHECK_INT(part.opened.start, 100001);
	CHECK(same > 30);
}

TEST(decoderd_plays_segments_of_mpeg_transport_streams)
{
	check_format("mpegts", "aac");
}

TEST(decoderd_plays_segments_of_fragmented_mp4)
{
	check_format("fmp4", "aac");
}

/* ---- sound alone, whose segments begin with a tag that tells their time ---- */

/* Writes the segments of a file of ADTS frames: some frames each, behind a tag. */
static bool cut_frames(const struct deck *d, const char *from)
{
	FILE *in = fopen(deck_path(d, from), "rb"), *list = fopen(deck_path(d, "list.m3u8"), "w"),
	     *out = NULL;
	uint8_t head[7], frame[8192];
	uint8_t tag[TAG] = {'I', 'D', '3', 4, 0, 0, 0, 0, 0, TAG - 10, 'P', 'R', 'I', 'V'};
	char name[32];
	unsigned n = 0;
	size_t size;

	if (!in || !list)
		return false;
	fputs("#EXTM3U\n#EXT-X-TARGETDURATION:1\n", list);
	for (; fread(head, 1, sizeof head, in) == sizeof head; n++) {
		size = (size_t)(head[3] & 3) << 11 | (size_t)head[4] << 3 | head[5] >> 5;
		if (size < sizeof head || size > sizeof frame ||
		    fread(frame, 1, size - sizeof head, in) != size - sizeof head)
			return false;
		if (n % 24 == 0) {
			snprintf(name, sizeof name, "s%u.aac", n / 24);
			if (out && fclose(out))
				return false;
			out = fopen(deck_path(d, name), "wb");
			if (!out)
				return false;
			fprintf(list, "#EXTINF:0.512,\n%s\n", name);
			fwrite(tag, 1, sizeof tag, out);
		}
		fwrite(head, 1, sizeof head, out);
		fwrite(frame, 1, size - sizeof head, out);
	}
	fputs("#EXT-X-ENDLIST\n", list);
	return fclose(in) == 0 && fclose(list) == 0 && out && fclose(out) == 0;
}

TEST(decoderd_plays_segments_of_sound_alone)
{
	struct deck d;
	struct played file = {0}, stream = {0};
	bool ok = deck_open(&d), same;
	struct sound s = {.format = "adts",
			  .codec = "aac",
			  .rate = RATE,
			  .channels = 2,
			  .samples = SECONDS * RATE};

	s.path = deck_path(&d, "whole.aac");
	if (ok && sound_write(&s) && cut_frames(&d, "whole.aac")) {
		deck_play_file(&d, "whole.aac", 0, &file);
		deck_play_file(&d, "/ranges/list.m3u8", 0, &stream);
	}
	same = file.frames && stream.frames == file.frames &&
	       memcmp(stream.pcm, file.pcm, file.frames * 4) == 0;
	deck_close(&d);
	free(file.pcm);
	free(stream.pcm);
	CHECK(ok && is_whole(&stream));
	CHECK(same);
}

/* ---- broken lines and changing lists ---- */

/* Each second connection breaks, for a server with and one without ranges. */
TEST(decoderd_goes_on_within_a_segment_when_a_line_breaks)
{
	static const char *const folders[] = {"/tears/", "/tears-plain/"};
	struct deck d;
	struct played whole = {0}, torn[2] = {0};
	bool ok = deck_open(&d) && write_stream(&d, "mpegts", "aac"), same[2];

	if (ok)
		deck_play_file(&d, "/ranges/list.m3u8", 0, &whole);
	for (int i = 0; i < 2; i++) {
		ok = ok && copy_list(&d, "torn.m3u8", folders[i], 0, 0);
		if (ok)
			deck_play_file(&d, "/ranges/torn.m3u8", 0, &torn[i]);
		same[i] = torn[i].frames == whole.frames && whole.frames &&
			  memcmp(torn[i].pcm, whole.pcm, whole.frames * 4) == 0;
		free(torn[i].pcm);
	}
	deck_close(&d);
	free(whole.pcm);
	CHECK(ok && same[0] && same[1]);
}

/* The list grows, loses its first segments, and ends. */
TEST(decoderd_plays_a_live_stream_as_it_grows)
{
	struct deck d;
	struct played whole = {0}, live = {0};
	bool ok = deck_open(&d) && write_stream(&d, "mpegts", "aac"), same;

	if (ok)
		deck_play_file(&d, "/ranges/list.m3u8", 0, &whole);
	ok = ok && copy_list(&d, "1live.m3u8", "/ranges/", 0, 5) &&
	     copy_list(&d, "2live.m3u8", "/ranges/", 3, 0);
	if (ok)
		deck_play_file(&d, "/live/live.m3u8", 480000, &live);
	same = live.frames == whole.frames && whole.frames &&
	       memcmp(live.pcm, whole.pcm, whole.frames * 4) == 0;
	deck_close(&d);
	free(whole.pcm);
	free(live.pcm);
	CHECK(ok);
	CHECK_INT(live.reason, DECODER_REASON_END);
	/* It begins where it is, whatever was wanted. */
	CHECK_INT(live.opened.start, 480000);
	CHECK(!live.opened.seekable && !live.opened.duration);
	CHECK(same);
}

/* Its server loses more segments in a row than a file may lack. */
TEST(decoderd_goes_on_with_a_live_stream_behind_missing_segments)
{
	struct deck d;
	struct played whole = {0}, live = {0};
	bool ok = deck_open(&d) && write_stream(&d, "mpegts", "aac"), same;

	if (ok)
		deck_play_file(&d, "/ranges/list.m3u8", 0, &whole);
	ok = ok && copy_list(&d, "1live.m3u8", "/ranges/", 0, 5) &&
	     write_text(&d, "2live.m3u8",
			"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:5\n"
			"#EXTINF:0.5,\n/missing?1\n#EXTINF:0.5,\n/missing?2\n"
			"#EXTINF:0.5,\n/missing?3\n#EXTINF:0.5,\n/missing?4\n"
			"#EXTINF:0.5,\n/missing?5\n#EXTINF:0.5,\n/ranges/s5.ts\n"
			"#EXTINF:0.5,\n/ranges/s6.ts\n#EXT-X-ENDLIST\n");
	if (ok)
		deck_play_file(&d, "/live/live.m3u8", 480000, &live);
	same = live.frames > 3 * RATE && live.frames < whole.frames &&
	       memcmp(live.pcm, whole.pcm, live.frames * 2) == 0;
	deck_close(&d);
	free(whole.pcm);
	free(live.pcm);
	CHECK(ok);
	CHECK_STR(decoder_reason_name(live.reason), "end");
	CHECK(same);
}

TEST(decoderd_waits_for_segments_of_a_server_that_is_restarted)
{
	static const char *const folders[] = {"ranges", "restarts"};
	struct deck d;
	struct played p[2] = {0};
	bool ok = deck_open(&d) && write_stream(&d, "mpegts", "aac"), same;
	char text[300];

	for (unsigned i = 0; i < 2; i++) {
		snprintf(text, sizeof text,
			 "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:0.5,\n/ranges/s0.ts\n"
			 "#EXTINF:0.5,\n/ranges/s1.ts\n#EXTINF:0.5,\n/%s/s2.ts\n"
			 "#EXTINF:0.5,\n/ranges/s3.ts\n#EXT-X-ENDLIST\n",
			 folders[i]);
		ok = ok && write_text(&d, "four.m3u8", text);
		if (i)
			web_forget_requests(d.web);
		if (ok)
			deck_play_file(&d, "/ranges/four.m3u8", 0, &p[i]);
	}
	same = p[0].frames > RATE && p[1].frames == p[0].frames &&
	       memcmp(p[0].pcm, p[1].pcm, 4 * p[0].frames) == 0;
	deck_close(&d);
	free(p[0].pcm);
	free(p[1].pcm);
	CHECK(ok);
	CHECK(same);
}

TEST(decoderd_leaves_out_segments_that_are_gone)
{
	struct deck d;
	struct played p = {0};
	bool ok = deck_open(&d) && write_stream(&d, "mpegts", "aac") &&
		  remove(deck_path(&d, "s3.ts")) == 0 && remove(deck_path(&d, "s4.ts")) == 0;

	if (ok)
		deck_play_file(&d, "/ranges/list.m3u8", 0, &p);
	free(p.pcm);
	deck_close(&d);
	CHECK(ok);
	CHECK_STR(decoder_reason_name(p.reason), "end");
	CHECK(p.frames > 3 * RATE && p.frames < 5 * RATE);
}

/* ---- master playlists and other hosts ---- */

TEST(decoderd_takes_a_variant_of_a_master_playlist)
{
	struct deck d;
	struct played p = {0};
	bool ok = deck_open(&d) && write_stream(&d, "mpegts", "aac") &&
		  write_text(&d, "master.m3u8",
			     "#EXTM3U\n"
			     "#EXT-X-STREAM-INF:BANDWIDTH=9000000,RESOLUTION=1x1\nnone.m3u8\n"
			     "#EXT-X-STREAM-INF:BANDWIDTH=128000,CODECS=\"mp4a.40.2\"\n"
			     "/hop/2/list.m3u8\n");

	if (ok)
		deck_play_file(&d, "/ranges/master.m3u8", 0, &p);
	free(p.pcm);
	CHECK(ok && is_whole(&p));
	CHECK(write_text(&d, "loop.m3u8",
			 "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n/ranges/loop.m3u8\n"));
	CHECK_STR(reason_for(&d, "/ranges/loop.m3u8"), "damaged");
	deck_close(&d);
}

/* The hosts of segments get the headers of the page: the playlist names them, as a page does. */
TEST(decoderd_sends_the_headers_of_a_page_to_the_hosts_of_its_segments)
{
	struct deck d;
	struct played p = {0};
	char folder[64];
	bool ok = deck_open(&d) && write_stream(&d, "mpegts", "aac");

	snprintf(folder, sizeof folder, "http://127.0.0.2:%u/wants/", web_server_port(d.web));
	ok = ok && copy_list(&d, "away.m3u8", folder, 0, 0);
	if (ok)
		deck_play_file(&d, "/ranges/away.m3u8", 0, &p);
	CHECK_STR(decoder_reason_name(p.reason), "http_error");
	free(p.pcm);
	d.headers = "Referer: https://page.example/\nUser-Agent: Page\n";
	if (ok)
		deck_play_file(&d, "/ranges/away.m3u8", 0, &p);
	free(p.pcm);
	CHECK(ok && is_whole(&p));
	/* But not one that a segment leads to. */
	CHECK(copy_list(&d, "away.m3u8", "/away/", 0, 0));
	CHECK_STR(reason_for(&d, "/ranges/away.m3u8"), "http_error");
	deck_close(&d);
}

/* ---- hostile lists ---- */

/* Every address is judged anew: of variants, segments, what precedes them, and redirects. */
TEST(decoderd_reads_no_private_address_that_a_playlist_names)
{
	static const char head[] = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n";
	static const char *const urls[] = {"http://127.0.0.1:1/x",
					   "http://10.0.0.1/x",
					   "http://169.254.169.254/latest/meta-data/",
					   "file:///etc/passwd",
					   "ftp://example.org/x",
					   "/private",
					   "/scheme",
					   "http://user:word@example.org/x"};
	struct deck d;
	char text[512];

	CHECK(deck_open(&d));
	for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
		snprintf(text, sizeof text, "%s%s\n#EXT-X-ENDLIST\n", head, urls[i]);
		CHECK(write_text(&d, "a.m3u8", text));
		CHECK_STR(reason_for(&d, "/ranges/a.m3u8"), "refused_url");
		snprintf(text, sizeof text,
			 "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MAP:URI=\"%s\"\n#EXTINF:1,\n"
			 "/ranges/a.m3u8\n#EXT-X-ENDLIST\n",
			 urls[i]);
		CHECK(write_text(&d, "b.m3u8", text));
		CHECK_STR(reason_for(&d, "/ranges/b.m3u8"), "refused_url");
		snprintf(text, sizeof text, "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n%s\n",
			 urls[i]);
		CHECK(write_text(&d, "c.m3u8", text));
		CHECK_STR(reason_for(&d, "/ranges/c.m3u8"), "refused_url");
	}
	deck_close(&d);
}

TEST(decoderd_tells_why_a_playlist_cannot_be_played)
{
	struct deck d;

	CHECK(deck_open(&d));
	CHECK(write_text(&d, "a.m3u8",
			 "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n"
			 "#EXTINF:1,\ns0.ts\n#EXT-X-ENDLIST\n"));
	CHECK_STR(reason_for(&d, "/ranges/a.m3u8"), "encrypted");
	CHECK(write_text(&d, "b.m3u8", "#EXTM3U\nhttp://radio.example/\n"));
	CHECK_STR(reason_for(&d, "/ranges/b.m3u8"), "unknown_format");
	CHECK(write_text(&d, "c.m3u8",
			 "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nnone.ts\n"
			 "#EXTINF:1,\nnone.ts\n#EXT-X-ENDLIST\n"));
	CHECK_STR(reason_for(&d, "/ranges/c.m3u8"), "unknown_format");
	deck_close(&d);
}

/* A playlist of strangers does not make us ask somebody for thousands of things. */
TEST(decoderd_does_not_flood_a_server_for_a_playlist)
{
	struct deck d;
	unsigned requests;
	char *text = malloc(1 << 20);
	size_t n;
	bool ok;

	CHECK(text != NULL);
	CHECK(deck_open(&d));
	n = (size_t)sprintf(text, "#EXTM3U\n#EXT-X-TARGETDURATION:1\n");
	for (unsigned i = 0; i < 15000; i++)
		n += (size_t)sprintf(text + n, "#EXTINF:1,\n/missing?%u\n", i);
	strcpy(text + n, "#EXT-X-ENDLIST\n");
	ok = write_text(&d, "a.m3u8", text);
	free(text);
	CHECK(ok);
	CHECK_STR(reason_for(&d, "/ranges/a.m3u8"), "http_error");
	requests = web_requests(d.web);
	deck_close(&d);
	CHECK(requests < 10);
}

/* Writes a playlist that names one file over and over. */
static bool write_many(const struct deck *d, const char *name, const char *file)
{
	FILE *f = fopen(deck_path(d, name), "w");
	bool ok = f && fputs("#EXTM3U\n#EXT-X-TARGETDURATION:1\n", f) >= 0;

	for (unsigned i = 0; ok && i < 10000; i++)
		ok = fprintf(f, "#EXTINF:1,\n%s\n", file) > 0;
	return ok && fputs("#EXT-X-ENDLIST\n", f) >= 0 && fclose(f) == 0;
}

/* Nor for hours, by segments that are hardly any. */
TEST(decoderd_asks_seldom_for_segments_without_sound)
{
	struct deck d;
	unsigned empty, few;
	char junk[201];
	bool ok = deck_open(&d);

	memset(junk, 'x', sizeof junk - 1);
	junk[200] = '\0';
	ok = ok && write_text(&d, "one.ts", "x") && write_text(&d, "few.ts", junk) &&
	     write_many(&d, "one.m3u8", "one.ts") && write_many(&d, "few.m3u8", "few.ts");
	CHECK(ok);
	CHECK_STR(reason_for(&d, "/ranges/one.m3u8"), "http_error");
	empty = web_requests(d.web);
	web_forget_requests(d.web);
	ok = deck_start(&d, 0, "/ranges/few.m3u8", 0);
	poll(NULL, 0, 4000);
	few = web_requests(d.web);
	deck_close(&d);
	CHECK(ok && empty < 10);
	CHECK(few > 5 && few < 52);
}
