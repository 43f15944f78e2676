/* decoderd plays from web servers: ranges, seeks, redirects, broken lines, stations with titles,
 * and addresses that are not read. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mediad/music/track_ring.h"
#include "tests/decoder/deck.h"
#include "tests/decoder/formats.h"
#include "tests/decoder/sound.h"
#include "tests/decoder/web.h"
#include "tests/test.h"

static bool plays_exactly(struct deck *d, const char *name, const struct format *f, uint64_t start)
{
	struct played p;
	double snr;
	bool ok;

	deck_play_file(d, name, start, &p);
	snr = format_snr(&p, start);
	ok = p.reason == DECODER_REASON_END && p.opened.start == start &&
	     labs((long)p.frames - (format_frames(f) - (long)start)) <= f->length_error &&
	     snr >= f->snr - 6;
	if (!ok)
		printf("%s from %llu: %s, start %llu, %zu frames, %.1f dB\n", name,
		       (unsigned long long)start, decoder_reason_name(p.reason),
		       (unsigned long long)p.opened.start, p.frames, snr);
	free(p.pcm);
	return ok;
}

TEST(decoderd_plays_each_format_from_the_web)
{
	struct deck d;
	char path[64];
	bool ok = deck_open(&d);

	for (unsigned i = 0; i < FORMATS && ok; i++) {
		ok = format_write(&d, &formats[i], 2);
		snprintf(path, sizeof path, "/ranges/%s", formats[i].name);
		ok = ok && plays_exactly(&d, path, &formats[i], 0) &&
		     plays_exactly(&d, path, &formats[i], 100001);
	}
	deck_close(&d);
	CHECK(ok);
}

/* A demuxer that looks at the end of a source comes back to bytes that have arrived before. */
TEST(decoderd_requests_the_beginning_of_a_source_once)
{
	struct deck d;
	struct played p = {0};
	struct sound s = {.format = "ogg",
			  .codec = "libopus",
			  .rate = RATE,
			  .channels = 2,
			  .samples = 2 * RATE};
	bool ok = deck_open(&d);
	unsigned requests;

	s.path = deck_path(&d, "short.opus");
	if (ok && sound_write(&s))
		deck_play_file(&d, "/ranges/short.opus", 0, &p);
	requests = web_requests(d.web);
	free(p.pcm);
	deck_close(&d);
	CHECK_INT(p.reason, DECODER_REASON_END);
	CHECK_INT(p.frames, 2 * RATE);
	CHECK_INT(requests, 1);
}

/* Opens the deck and plays half a minute of AAC from this path. Returns the requests that it took.
 */
static unsigned play_index_at_end(struct deck *d, const char *path, struct played *p)
{
	struct sound s = {.format = "ipod",
			  .codec = "aac",
			  .rate = RATE,
			  .channels = 2,
			  .samples = 30 * (int64_t)RATE};
	bool ok = deck_open(d);

	*p = (struct played){0};
	s.path = deck_path(d, "long.m4a");
	if (ok && sound_write(&s))
		deck_play_file(d, path, 0, p);
	return web_requests(d->web);
}

/* An index at the end of an mp4 file is read twice: with and without the edit list. Each request is
 * a round trip that somebody waits for. */
TEST(decoderd_requests_the_end_of_a_source_once)
{
	struct deck d;
	struct played p;
	unsigned requests = play_index_at_end(&d, "/ranges/long.m4a", &p);

	free(p.pcm);
	deck_close(&d);
	CHECK_INT(p.reason, DECODER_REASON_END);
	CHECK_INT(p.frames, 30 * RATE);
	CHECK_INT(requests, 3); /* the beginning, the end, and what follows the beginning */
}

/* Its server has to send it from its beginning once more, behind the index. */
TEST(decoderd_plays_an_index_at_the_end_without_ranges)
{
	struct deck d;
	struct played p;
	unsigned requests = play_index_at_end(&d, "/plain/long.m4a", &p);

	CHECK_STR(decoder_reason_name(p.reason), "end");
	CHECK(labs((long)p.frames - 30 * RATE) <= 1024);
	CHECK(format_snr(&p, 0) > 15);
	CHECK(!p.opened.seekable);
	CHECK_INT(requests, 2);
	free(p.pcm);
	/* What comes then is another file. */
	p = (struct played){0};
	web_forget_requests(d.web);
	deck_play_file(&d, "/replaced/long.m4a", 0, &p);
	requests = web_requests(d.web);
	free(p.pcm);
	deck_close(&d);
	CHECK_INT(requests, 2);
	CHECK(p.frames < 10 * RATE); /* what was kept of its beginning */
	CHECK_STR(decoder_reason_name(p.reason), "not_seekable");
}

/* Nobody waits for so much, and the index may never come. */
TEST(decoderd_looks_for_no_index_far_away)
{
	static const char head[] = "\0\0\0\x14"
				   "ftypM4A \0\0\0\0M4A \x10\0\0\0mdat";
	struct deck d;
	struct played p = {0};
	bool ok = deck_open(&d);
	FILE *f = ok ? fopen(deck_path(&d, "far.m4a"), "wb") : NULL;

	ok = f && fwrite(head, 1, sizeof head - 1, f) == sizeof head - 1;
	if (f)
		fclose(f);
	if (ok)
		deck_play_file(&d, "/far/far.m4a", 0, &p);
	free(p.pcm);
	deck_close(&d);
	CHECK(ok);
	CHECK_STR(decoder_reason_name(p.reason), "index_last");
}

TEST(decoderd_plays_from_a_server_without_ranges)
{
	const struct format *f = &formats[4]; /* mp3 needs no seek */
	struct deck d;
	struct played p = {0};
	bool ok =
		deck_open(&d) && format_write(&d, f, 2) && plays_exactly(&d, "/plain/e.mp3", f, 0);

	if (ok)
		deck_play_file(&d, "/plain/e.mp3", 100000, &p);
	free(p.pcm);
	deck_close(&d);
	CHECK(ok);
	CHECK_STR(decoder_reason_name(p.reason), "not_seekable");
}

enum { LONG_S = 180 };

static double noise_then_hum(double t, int channel)
{
	static uint32_t seed = 1;

	seed = seed * 1664525 + 1013904223;
	return t < LONG_S / 3. ? 0.5 * ((double)(seed >> 8) / (1 << 23) - 1)
			       : 0.3 * sin(2000 * t + channel);
}

/* Plays a second of an MP3 file from there. Returns false if it cannot be, or if that took more of
 * the server's parts than most. */
static bool plays_from(struct deck *d, const char *name, uint64_t start, unsigned most,
		       struct played *out)
{
	struct decoder_msg msg = {.type = DECODER_CLOSE};
	unsigned requests;

	web_forget_requests(d->web);
	if (!deck_start(d, 0, name, start))
		return false;
	deck_play(d, 0, out, RATE);
	requests = web_requests(d->web);
	msg.track = d->track[0];
	if (!out->has_ended && (!deck_send(d, &msg) || !deck_receive(d, &msg, 10000)))
		return false;
	if (requests > most)
		printf("%s from %llu: %u requests\n", name, (unsigned long long)start, requests);
	return out->has_opened && out->opened.start == start && out->frames >= RATE &&
	       requests <= most;
}

/* The same samples as those of the file itself? */
static bool plays_as_the_file(struct deck *d, const char *name, uint64_t start, unsigned most)
{
	struct played file = {0}, web = {0};
	char path[64];
	bool same;

	snprintf(path, sizeof path, "/parts/%s", name);
	same = plays_from(d, name, start, most, &file) && plays_from(d, path, start, most, &web) &&
	       memcmp(file.pcm, web.pcm, RATE * 2 * sizeof *web.pcm) == 0;
	free(file.pcm);
	free(web.pcm);
	return same;
}

static bool write_long(struct deck *d, const char *name, bool varies, const char *options)
{
	const struct sound s = {.path = deck_path(d, name),
				.format = "mp3",
				.codec = "libmp3lame",
				.rate = 44100,
				.channels = 2,
				.samples = (int64_t)LONG_S * 44100,
				.varies = varies,
				.options = options,
				.signal = noise_then_hum};

	return sound_write(&s);
}

/* An MP3 file has no index: all before the place would have to be fetched. */
TEST(decoderd_fetches_little_to_begin_far_into_an_mp3)
{
	const uint64_t near = 5 * (uint64_t)RATE + 77, far = 150 * (uint64_t)RATE + 12345;
	struct played p = {0};
	struct deck d;
	bool opens = deck_open(&d) && write_long(&d, "constant.mp3", false, NULL) &&
		     write_long(&d, "bare.mp3", false, "write_xing=0") &&
		     write_long(&d, "varies.mp3", true, NULL);
	bool constant = opens && plays_as_the_file(&d, "constant.mp3", far, 40),
	     bare = opens && plays_as_the_file(&d, "bare.mp3", far, 40),
	     close = opens && plays_as_the_file(&d, "varies.mp3", near, 60),
	     varies = opens && plays_from(&d, "/parts/varies.mp3", far, 40, &p);

	free(p.pcm);
	deck_close(&d);
	CHECK(opens);
	CHECK(constant);
	CHECK(bare);
	CHECK(close);
	CHECK(varies);
}

static void check_goes_on(const char *url)
{
	const struct format *f = &formats[2];
	struct deck d;
	bool ok = deck_open(&d) && format_write(&d, f, 2) && plays_exactly(&d, url, f, 0);
	unsigned requests = ok ? web_requests(d.web) : 0;

	deck_close(&d);
	CHECK(ok);
	CHECK(requests > 5);
}

TEST(decoderd_connects_again_when_a_line_breaks)
{
	check_goes_on("/broken/c.flac");
}

/* It answers errors for a while. */
TEST(decoderd_waits_for_a_server_that_is_restarted)
{
	check_goes_on("/restarts/c.flac");
}

/* The line breaks before anything was decoded, and the server that answers then knows no ranges:
 * its beginning must not be joined to what came before. */
TEST(decoderd_joins_no_beginning_to_what_came_before)
{
	const struct format *f = &formats[4];
	struct deck d;
	struct played p = {0};
	bool ok = deck_open(&d) && format_write(&d, f, 2), sound;
	long frames = format_frames(f);

	if (ok)
		deck_play_file(&d, "/forgets/e.mp3", 0, &p);
	sound = p.reason == DECODER_REASON_END && labs((long)p.frames - frames) <= f->length_error;
	free(p.pcm);
	deck_close(&d);
	CHECK(ok);
	if (!sound)
		CHECK_STR(decoder_reason_name(p.reason), "not_seekable");
	CHECK((long)p.frames <= frames + f->length_error);
}

/* RFC 9110 section 15.3.7: which range came is told by Content-Range alone. */
TEST(decoderd_takes_no_other_range_for_the_one_it_asked_for)
{
	const struct format *f = &formats[4];
	struct deck d;
	struct played p = {0};
	bool ok = deck_open(&d) && format_write(&d, f, 2);

	if (ok)
		deck_play_file(&d, "/always/e.mp3", 0, &p);
	free(p.pcm);
	deck_close(&d);
	CHECK(ok);
	CHECK((long)p.frames <= format_frames(f) + f->length_error);
}

/* Sources with advertisements differ with each request. Their size tells, and an ETag. */
TEST(decoderd_joins_no_other_content_to_what_came_before)
{
	const struct format *f = &formats[4];
	struct deck d;
	struct played p = {0};
	bool ok = deck_open(&d) && format_write(&d, f, 2);

	if (ok)
		deck_play_file(&d, "/changed/e.mp3", 0, &p);
	free(p.pcm);
	deck_close(&d);
	CHECK(ok);
	CHECK((long)p.frames <= format_frames(f) + f->length_error);
}

/* As long as the first one: only its ETag tells. */
TEST(decoderd_joins_no_content_of_the_same_size)
{
	const struct format *f = &formats[4];
	struct deck d;
	struct played p = {0};
	bool ok = deck_open(&d) && format_write(&d, f, 2);

	if (ok)
		deck_play_file(&d, "/swapped/e.mp3", 0, &p);
	free(p.pcm);
	deck_close(&d);
	CHECK(ok);
	CHECK_STR(decoder_reason_name(p.reason), "not_seekable");
}

/* RFC 9110 section 15.3.7: what is missing of a range is to be asked for again. */
TEST(decoderd_asks_for_the_rest_of_a_range)
{
	const struct format *f = &formats[4];
	struct deck d;
	bool ok =
		deck_open(&d) && format_write(&d, f, 2) && plays_exactly(&d, "/parts/e.mp3", f, 0);

	deck_close(&d);
	CHECK(ok);
}

static const char *reason_for(struct deck *d, const char *name)
{
	struct played p;

	deck_play_file(d, name, 0, &p);
	free(p.pcm);
	return decoder_reason_name(p.reason);
}

TEST(decoderd_follows_five_redirects_and_no_more)
{
	struct deck d;
	bool ok = deck_open(&d) && format_write(&d, &formats[2], 2);

	CHECK(ok);
	CHECK(plays_exactly(&d, "/hop/4/c.flac", &formats[2], 0));
	CHECK_STR(reason_for(&d, "/hop/5/c.flac"), "http_error");
	deck_close(&d);
}

/* It may answer later: control keeps its tracks. */
TEST(decoderd_tells_a_server_that_is_overloaded_from_one_that_refuses)
{
	struct deck d;

	CHECK(deck_open(&d));
	CHECK_STR(reason_for(&d, "/missing"), "http_error");
	CHECK_STR(reason_for(&d, "/overloaded"), "overloaded");
	CHECK_STR(reason_for(&d, "/overloaded.m3u8"), "overloaded");
	deck_close(&d);
}

/* What a page names is for the host of its stream, and not for one that this sends us to. */
TEST(decoderd_sends_the_headers_of_a_page_to_their_host_alone)
{
	struct deck d;
	bool ok = deck_open(&d) && format_write(&d, &formats[2], 2);

	CHECK(ok);
	CHECK_STR(reason_for(&d, "/wants/c.flac"), "http_error");
	d.headers = "Referer: https://page.example/\nUser-Agent: Page\n";
	CHECK(plays_exactly(&d, "/wants/c.flac", &formats[2], 0));
	CHECK(plays_exactly(&d, "/wants/c.flac", &formats[2], 100001));
	CHECK_STR(reason_for(&d, "/away/c.flac"), "http_error");
	deck_close(&d);
}

TEST(decoderd_reads_no_private_address)
{
	struct deck d;
	static const char *const urls[] = {"http://127.0.0.1:1/x",
					   "http://localhost/x",
					   "http://10.0.0.1/x",
					   "http://[::1]/x",
					   "http://169.254.169.254/latest/meta-data/",
					   "file:///etc/passwd",
					   "ftp://example.org/x",
					   "http://user:word@example.org/x"};

	CHECK(deck_open(&d));
	CHECK_STR(reason_for(&d, "/private"), "refused_url");
	CHECK_STR(reason_for(&d, "/scheme"), "refused_url");
	CHECK_STR(reason_for(&d, "/missing"), "http_error");
	d.origin[0] = '\0';
	for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
		struct decoder_msg msg = {.type = DECODER_OPEN, .slot = 1, .track = 1000 + i};

		msg.open.source.kind = DECODER_HTTP;
		snprintf(msg.open.source.path, sizeof msg.open.source.path, "%s", urls[i]);
		CHECK(deck_send(&d, &msg));
		CHECK(deck_receive(&d, &msg, 30000));
		CHECK_INT(msg.type, DECODER_ENDED);
		CHECK_STR(decoder_reason_name(msg.reason), "refused_url");
	}
	deck_close(&d);
}

/* An empty title is one like any other, and a broken line is no title. */
TEST(decoderd_plays_on_when_a_station_tells_no_title)
{
	struct deck d;
	struct played p = {0};
	bool ok = deck_open(&d) && format_write(&d, &formats[4], 2) &&
		  deck_start(&d, 0, "/advert/e.mp3", 0);

	if (ok) {
		deck_play(&d, 0, &p, 150000);
		deck_wait_titles(&d, 0, &p, 3);
	}
	free(p.pcm);
	deck_close(&d);
	CHECK(ok && !p.has_ended && p.frames == 150000);
	CHECK_STR(p.titles, "First||Third|");
}

/* The titles are cut out of the sound. */
TEST(decoderd_plays_a_station_and_tells_its_titles)
{
	struct deck d;
	struct played p = {0};
	bool ok = deck_open(&d) && format_write(&d, &formats[4], 2) &&
		  deck_start(&d, 0, "/radio/e.mp3", 0);
	double snr;

	if (ok) {
		deck_play(&d, 0, &p, 150000);
		deck_wait_titles(&d, 0, &p, 2);
	}
	snr = format_snr(&p, 0);
	free(p.pcm);
	deck_close(&d);
	CHECK(ok && !p.has_ended && p.frames == 150000);
	CHECK(!p.opened.seekable);
	CHECK_STR(p.titles, "First ÿ- it's 'one'|Second|");
	CHECK(snr >= formats[4].snr);
}

/* Counts the titles that are told until nothing comes for `ms`. */
static unsigned count_titles(struct deck *d, int ms)
{
	struct decoder_msg msg;
	unsigned n = 0;

	while (deck_receive(d, &msg, ms))
		n += msg.type == DECODER_TITLE;
	return n;
}

/* A station sends what fits into the buffers of its listener, who hears it much later. */
TEST(decoderd_tells_a_title_when_its_sound_is_decoded)
{
	static int16_t pcm[2 * 4800];
	struct deck d;
	struct played p = {0};
	bool ok = deck_open(&d) && format_write(&d, &formats[0], 2) &&
		  deck_start(&d, 0, "/late/a.wav", 0);
	unsigned early = 0, later = 0;

	if (ok) {
		deck_play(&d, 0, &p, 4800);
		deck_wait_titles(&d, 0, &p, 1);
		early = count_titles(&d, 1000);
	}
	for (unsigned waits = 0; ok && waits < 200 && !later; waits++) {
		size_t got = 1;

		while (got && !track_ring_read(d.ring[0], pcm, 4800, &got))
			;
		later = count_titles(&d, 20);
	}
	free(p.pcm);
	deck_close(&d);
	CHECK(ok);
	CHECK_STR(p.titles, "First ÿ- it's 'one'|");
	CHECK_INT(early, 0);
	CHECK_INT(later, 1);
}

/* More than the decoder has when the line breaks. */
enum { LIVE_FRAMES = 180000 };

static void check_live(const char *path)
{
	struct deck d;
	struct played p = {0};
	bool ok = deck_open(&d) && format_write(&d, &formats[4], 2) && deck_start(&d, 0, path, 0);

	if (ok)
		deck_play(&d, 0, &p, LIVE_FRAMES);
	free(p.pcm);
	deck_close(&d);
	CHECK(ok && !p.has_ended);
	CHECK_INT(p.frames, LIVE_FRAMES);
}

/* The encoder of a station is restarted: its address, not the one that it had sent us to, answers
 * again after a while. */
TEST(decoderd_waits_for_a_station_that_is_restarted)
{
	check_live("/station/e.mp3");
}

TEST(decoderd_leaves_a_connection_to_a_station_that_is_silent)
{
	check_live("/silent/e.mp3");
}
