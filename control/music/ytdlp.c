#include "control/music/ytdlp.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *read_text(const json_t *obj, const char *key)
{
	const char *text = json_string_value(json_object_get(obj, key));

	return text ? text : "";
}

static const char *find_first(const json_t *obj, const char *const keys[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (*read_text(obj, keys[i]))
			return read_text(obj, keys[i]);
	return "";
}

/* Copies an address of the web that needs no quoting anywhere. Returns false if it is none. */
static bool copy_address(char *to, size_t size, const char *address)
{
	size_t n = strlen(address);

	if (n >= size ||
	    (strncasecmp(address, "http://", 7) != 0 && strncasecmp(address, "https://", 8) != 0))
		return false;
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)address[i] <= ' ' || (unsigned char)address[i] >= 0x7f ||
		    strchr("\"<>\\^`{|}", address[i]))
			return false;
	memcpy(to, address, n + 1);
	return true;
}

static void read_names(struct track *t, const json_t *obj)
{
	static const char *const titles[] = {"track", "title", "fulltitle"};
	static const char *const artists[] = {"artist", "channel", "uploader"};
	const char *artist = json_string_value(json_array_get(json_object_get(obj, "artists"), 0));
	const char *title = find_first(obj, titles, 3), *album = read_text(obj, "album");

	if (!artist || !*artist)
		artist = find_first(obj, artists, 3);
	track_set_text(t->title, sizeof t->title, title, strlen(title));
	track_set_text(t->artist, sizeof t->artist, artist, strlen(artist));
	track_set_text(t->album, sizeof t->album, album, strlen(album));
}

static bool is_live(const json_t *obj)
{
	return json_is_true(json_object_get(obj, "is_live")) ||
	       strcmp(read_text(obj, "live_status"), "is_live") == 0;
}

/* Also of a live stream: its reference is a page, which mediad cannot open. */
static void read_source(struct track *t, const json_t *obj)
{
	static const char *const keys[] = {"extractor_key", "ie_key", "extractor"};
	const char *extractor = find_first(obj, keys, 3);
	double s = json_number_value(json_object_get(obj, "duration"));

	t->source = strncasecmp(extractor, "youtube", 7) == 0	    ? TRACK_YOUTUBE
		    : strncasecmp(extractor, "soundcloud", 10) == 0 ? TRACK_SOUNDCLOUD
								    : TRACK_PAGE;
	if (!is_live(obj) && s > 0 && s <= TRACK_DURATION_MAX_S)
		t->duration_ms = (uint64_t)(s * 1000);
}

static void read_headers(struct ytdlp_result *r, const json_t *headers)
{
	const char *name;

	for (unsigned i = 0; (name = stream_headers_name(i)); i++)
		stream_headers_add(r->headers, sizeof r->headers, name, read_text(headers, name));
}

int ytdlp_read_line(struct ytdlp_result *out, struct slice line)
{
	static const char *const pages[] = {"webpage_url", "original_url", "url"};
	struct ytdlp_result r = {0};
	json_t *obj;
	int err = EBADMSG;

	if (line.n > YTDLP_LINE_MAX)
		return EMSGSIZE;
	obj = json_loadb((const char *)line.p, line.n, 0, NULL);
	if (!json_is_object(obj))
		goto out;
	for (size_t i = 0; i < 3 && !*r.track.reference; i++)
		copy_address(r.track.reference, sizeof r.track.reference, read_text(obj, pages[i]));
	if (!*r.track.reference)
		goto out;
	read_names(&r.track, obj);
	read_source(&r.track, obj);
	/* The address of a playlist's entry is that of its page. */
	if (strcmp(read_text(obj, "_type"), "url") != 0 &&
	    copy_address(r.stream, sizeof r.stream, read_text(obj, "url")))
		read_headers(&r, json_object_get(obj, "http_headers"));
	*out = r;
	err = 0;
out:
	json_decref(obj);
	return err;
}

static bool has_text(struct slice s, const char *text)
{
	size_t n = strlen(text);

	for (size_t i = 0; i + n <= s.n; i++)
		if (strncasecmp((const char *)s.p + i, text, n) == 0)
			return true;
	return false;
}

enum ytdlp_failure ytdlp_find_failure(struct slice errors)
{
	static const struct {
		const char *text;
		enum ytdlp_failure failure;
	} rows[] = {
		{"no supported javascript runtime", YTDLP_NO_JAVASCRIPT},
		{"challenge solving failed", YTDLP_NO_JAVASCRIPT},
		{"confirm your age", YTDLP_AGE},
		{"age-restricted", YTDLP_AGE},
		{"inappropriate for some users", YTDLP_AGE},
		{"not a bot", YTDLP_SIGN_IN},
		{"login required", YTDLP_SIGN_IN},
		{"only available for registered users", YTDLP_SIGN_IN},
		{"private video", YTDLP_PRIVATE},
		{"video is private", YTDLP_PRIVATE},
		{"members-only", YTDLP_PRIVATE},
		{"join this channel", YTDLP_PRIVATE},
		{"in your country", YTDLP_REGION},
		{"geo restriction", YTDLP_REGION},
		{"geo-restricted", YTDLP_REGION},
		{"http error 429", YTDLP_RATE_LIMIT},
		{"too many requests", YTDLP_RATE_LIMIT},
		{"rate-limited", YTDLP_RATE_LIMIT},
		{"http error 403", YTDLP_FORBIDDEN},
		{"requested format is not available", YTDLP_NO_FORMAT},
		{"no video formats found", YTDLP_NO_FORMAT},
		{"drm protected", YTDLP_NO_FORMAT},
		{"video unavailable", YTDLP_GONE},
		{"has been removed", YTDLP_GONE},
		{"http error 404", YTDLP_GONE},
		{"http error 410", YTDLP_GONE},
		{"unsupported url", YTDLP_UNSUPPORTED},
		{"no suitable extractor", YTDLP_UNSUPPORTED},
		{"timed out", YTDLP_TIMEOUT},
		{"timeout", YTDLP_TIMEOUT},
		{"name resolution", YTDLP_UNREACHABLE},
		{"failed to resolve", YTDLP_UNREACHABLE},
		{"name or service not known", YTDLP_UNREACHABLE},
		{"no address associated with hostname", YTDLP_UNREACHABLE},
		{"network is unreachable", YTDLP_UNREACHABLE},
		{"no route to host", YTDLP_UNREACHABLE},
		{"connection refused", YTDLP_UNREACHABLE},
		{"connection reset", YTDLP_UNREACHABLE},
		{"connection aborted", YTDLP_UNREACHABLE},
		{"http error 5", YTDLP_UNREACHABLE},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (has_text(errors, rows[i].text))
			return rows[i].failure;
	return YTDLP_OTHER;
}

const char *ytdlp_failure_name(enum ytdlp_failure failure)
{
	static const char *const names[] = {
#define F(NAME, name) name,
		YTDLP_FAILURES(F)
#undef F
	};
	return names[failure];
}

bool ytdlp_failure_passes(enum ytdlp_failure failure)
{
	return failure == YTDLP_TIMEOUT || failure == YTDLP_UNREACHABLE ||
	       failure == YTDLP_RATE_LIMIT;
}
