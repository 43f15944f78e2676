/* Output of yt-dlp, a program of the user's that finds the sound of a page: with -j it prints a
 * JSON object a line, one for each entry of a playlist.
 *
 *   field                                   becomes
 *   webpage_url                             reference: a stream's own address expires, the page's
 * does not title or track; artists, artist,        title, artist, album channel or uploader; album
 *   duration                                duration
 *   extractor_key                           source: YOUTUBE, SOUNDCLOUD, else PAGE
 *   is_live, live_status                    no duration
 *   url, http_headers                       the stream and what the server wants to be sent
 *
 * The headers are those of proto/http/stream_headers.h. Pure. */
#ifndef CONTROL_MUSIC_YTDLP_H
#define CONTROL_MUSIC_YTDLP_H

#include "control/music/track.h"
#include "proto/base/cursor.h"
#include "proto/http/stream_headers.h"

enum {
	YTDLP_LINE_MAX = 2 << 20, /* formats of a long video take 1 MB */
	YTDLP_ADDRESS_MAX = 4096,
};

struct ytdlp_result {
	struct track track;
	char stream[YTDLP_ADDRESS_MAX]; /* "" for an entry of a playlist, which is resolved later */
	char headers[STREAM_HEADERS_MAX + 1]; /* lines that its server wants */
};

/* EMSGSIZE; EBADMSG: no object, or none with an address of the web. */
int ytdlp_read_line(struct ytdlp_result *out, struct slice line);

/* F(NAME, name): the failures that people are told; the first that fits counts. */
#define YTDLP_FAILURES(F)                                                                          \
	F(NO_JAVASCRIPT, "no_javascript") /* no runtime for the site's challenges */               \
	F(AGE, "age")			  /* only for signed-in adults */                          \
	F(SIGN_IN, "sign_in")		  /* the site doubts that we are people */                 \
	F(PRIVATE, "private")		  /* also: only for paying members */                      \
	F(REGION, "region")                                                                        \
	F(RATE_LIMIT, "rate_limit")                                                                \
	F(FORBIDDEN, "forbidden")                                                                  \
	F(NO_FORMAT, "no_format")                                                                  \
	F(GONE, "gone")                                                                            \
	F(UNSUPPORTED, "unsupported")                                                              \
	F(TIMEOUT, "timeout")                                                                      \
	F(UNREACHABLE, "unreachable") /* or it answers that it cannot at present */                \
	F(OTHER, "other")

enum ytdlp_failure {
#define F(NAME, name) YTDLP_##NAME,
	YTDLP_FAILURES(F)
#undef F
};

/* Finds the reason in what the program wrote to its standard error. */
enum ytdlp_failure ytdlp_find_failure(struct slice errors);
const char *ytdlp_failure_name(enum ytdlp_failure failure);
/* True if it is about the way to the site, or all of it: the same may be found later. */
bool ytdlp_failure_passes(enum ytdlp_failure failure);

#endif
