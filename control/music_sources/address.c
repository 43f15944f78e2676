/* What is behind an address: sound, a playlist or a page. Its headers decide (music_sources.h). */
#include "control/music_sources/inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "control/music/playlist.h"
#include "control/settings/settings.h"
#include "ipc/http.h"
#include "ipc/http_guard.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/http/hls.h"

#define AGENT		"Parley/" PARLEY_VERSION
#define NOTHING_TO_PLAY "its playlist has no address that can be played"

/* A sound may be as long as it likes: only its first part is read. */
enum { SOUND_MAX = 1 << 30 };

enum kind { KIND_OTHER, KIND_SOUND, KIND_PLAYLIST, KIND_PAGE };

void music_address_clear(struct music_request *r)
{
	http_req_cancel(r->http);
	r->http = NULL;
	free(r->body);
	r->body = NULL;
	r->body_n = 0;
}

/* ---- kinds ---- */

static bool path_ends(const char *url, const char *end)
{
	size_t n = strcspn(url, "?#"), k = strlen(end);

	return n > k && strncasecmp(url + n - k, end, k) == 0;
}

static enum kind find_kind(const struct music_request *r, const char *type)
{
	static const struct {
		const char *type;
		enum kind kind;
	} types[] = {{"audio/x-mpegurl", KIND_PLAYLIST},
		     {"audio/mpegurl", KIND_PLAYLIST},
		     {"application/x-mpegurl", KIND_PLAYLIST},
		     {"application/mpegurl", KIND_PLAYLIST},
		     {"application/vnd.apple.mpegurl", KIND_PLAYLIST},
		     {"audio/x-scpls", KIND_PLAYLIST},
		     {"audio/scpls", KIND_PLAYLIST},
		     {"application/pls+xml", KIND_PLAYLIST},
		     {"text/html", KIND_PAGE},
		     {"application/xhtml+xml", KIND_PAGE},
		     {"audio/", KIND_SOUND},
		     {"video/", KIND_SOUND},
		     {"application/ogg", KIND_SOUND},
		     {"application/octet-stream", KIND_SOUND},
		     {"binary/octet-stream", KIND_SOUND}};

	if (path_ends(r->at, ".m3u") || path_ends(r->at, ".m3u8") || path_ends(r->at, ".pls"))
		return KIND_PLAYLIST;
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
		if (strncasecmp(type, types[i].type, strlen(types[i].type)) == 0)
			return types[i].kind;
	return *type ? KIND_OTHER : KIND_SOUND;
}

/* ---- ends ---- */

static int copy_reference(struct track *t, const char *url)
{
	size_t n = strlen(url);

	if (n >= sizeof t->reference)
		return ENAMETOOLONG;
	memcpy(t->reference, url, n + 1);
	return 0;
}

/* The address itself is the music: a radio station names itself, or has no length. */
static void end_as_sound(struct music_request *r, bool endless, uint64_t duration_ms)
{
	struct track t = {.source = endless ? TRACK_RADIO : TRACK_URL, .duration_ms = duration_ms};
	int err = copy_reference(&t, r->text);

	track_set_text(t.title, sizeof t.title, r->station, strlen(r->station));
	if (!err)
		err = music_request_add(r, &t, 0);
	music_request_end(r, err ? "its address is too long" : NULL);
}

static bool take_entry(const struct track *t, void *arg)
{
	return music_request_add(arg, t, 0) == 0;
}

static int send_probe(struct music_request *r, bool begins);

/* Why the address is not asked. Most stations have other ports, so that reason is told, and what a
 * member can mend. */
static const char *explain_probe(const struct music_request *r, int err)
{
	static const struct {
		const char *fault, *told;
	} faults[] = {
		{HTTP_GUARD_PORTS,
		 "its port is neither 80 nor 443, and web_read_allowed does not list it"},
		{HTTP_GUARD_MALFORMED, "its address is malformed"},
		{HTTP_GUARD_SIGN_IN, "its address holds a user name or a password"},
	};
	const struct http_guard *guard = r->s->guard;
	char why[MUSIC_WHY_MAX];

	if (err != EACCES || !guard || http_guard_url(guard, r->at, why, sizeof why))
		return http_explain(err);
	for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
		if (strstr(why, faults[i].fault))
			return faults[i].told;
	return http_explain(err);
}

/* Asks for the variant that mediad would read: it tells whether the stream is live. */
static void probe_variant(struct music_request *r, const struct hls *list)
{
	char reference[MUSIC_ADDRESS_MAX], url[MUSIC_ADDRESS_MAX];
	struct slice uri;
	int err = EINVAL;

	if (!r->variant && hls_choose(list, &uri) && uri.n < sizeof reference) {
		memcpy(reference, uri.p, uri.n);
		reference[uri.n] = '\0';
		if (http_guard_join(r->at, reference, url, sizeof url)) {
			snprintf(r->at, sizeof r->at, "%s", url);
			r->variant = true;
			r->playlist = false;
			music_address_clear(r);
			err = send_probe(r, false);
		}
	}
	if (err)
		music_request_end(r, err == EINVAL ? NOTHING_TO_PLAY : explain_probe(r, err));
}

/* A stream in segments is one track. */
static void end_as_stream(struct music_request *r)
{
	struct hls list;
	int err = hls_open(&list, (struct slice){(const uint8_t *)r->body, r->body_n});

	if (err)
		music_request_end(r, err == ENOTSUP ? "the stream is encrypted" : NOTHING_TO_PLAY);
	else if (list.master)
		probe_variant(r, &list);
	else
		end_as_sound(r, !list.ended, list.ended ? list.us / US_PER_MS : 0);
}

static void end_as_playlist(struct music_request *r)
{
	struct track place = {.source = TRACK_URL};
	int err = copy_reference(&place, r->at);

	if (!err)
		err = playlist_read(&place, (struct slice){(const uint8_t *)r->body, r->body_n},
				    take_entry, r);
	r->list = r->n > 1;
	if (err == ENOTSUP)
		end_as_stream(r);
	else
		music_request_end(r, err ? NOTHING_TO_PLAY : NULL);
}

static void end_as_page(struct music_request *r)
{
	if (!music_download_wanted(r->s)) {
		music_request_end(r, music_download_visits(r->at) ? MUSIC_NO_DOWNLOADER
								  : "it is a page and no sound");
		return;
	}
	music_address_clear(r);
	music_download_begin(r);
}

/* ---- answers ---- */

static void keep_part(struct music_request *r, const struct http_resp *resp)
{
	char *body;

	if (r->body_n + resp->body.n > PLAYLIST_BYTES_MAX) {
		music_request_end(r, "its playlist is too long");
		return;
	}
	body = realloc(r->body, r->body_n + resp->body.n + 1);
	if (!body) {
		music_request_end(r, "there was no memory for it");
		return;
	}
	memcpy(body + r->body_n, resp->body.p, resp->body.n);
	r->body = body;
	r->body_n += resp->body.n;
}

/* No more is read of what is no playlist. */
static void end_by_headers(struct music_request *r, const struct http_resp *resp, enum kind kind)
{
	char length[32];
	bool named = http_header(resp, "icy-name", r->station, sizeof r->station) != NULL;
	bool measured = http_header(resp, "Content-Length", length, sizeof length) != NULL;

	if (kind == KIND_PAGE)
		end_as_page(r);
	else if (kind == KIND_SOUND)
		end_as_sound(r, named || !measured, 0);
	else
		music_request_end(r, "it is no sound");
}

/* The first part comes with the headers. */
static void take_part(const struct http_resp *resp, void *arg)
{
	struct music_request *r = arg;
	char type[128] = "";
	enum kind kind = KIND_PLAYLIST;

	if (!r->playlist) {
		http_header(resp, "Content-Type", type, sizeof type);
		kind = find_kind(r, type);
	}
	r->playlist = kind == KIND_PLAYLIST;
	if (r->playlist)
		keep_part(r, resp);
	else
		end_by_headers(r, resp, kind);
}

static void follow_redirect(struct music_request *r, const struct http_resp *resp)
{
	char to[MUSIC_ADDRESS_MAX], url[MUSIC_ADDRESS_MAX];
	int err;

	if (!http_header(resp, "Location", to, sizeof to) ||
	    !http_guard_join(r->at, to, url, sizeof url)) {
		music_request_end(r, "it leads nowhere");
		return;
	}
	if (++r->redirects > MUSIC_REDIRECTS) {
		music_request_end(r, "it leads from one address to the next without end");
		return;
	}
	snprintf(r->at, sizeof r->at, "%s", url);
	err = send_probe(r, false);
	if (err)
		music_request_end(r, explain_probe(r, err));
}

static const char *explain_status(int status)
{
	if (status == 404 || status == 410)
		return "it is gone";
	if (status == 429)
		return "the site had too many requests";
	return status >= 500 ? "the site does not work at the moment" : "the site refused it";
}

static void take_response(const struct http_resp *resp, void *arg)
{
	struct music_request *r = arg;

	r->http = NULL;
	if ((resp->err == EIO || resp->err == EINVAL) && !r->body_n) {
		/* An old radio station begins with ICY instead of HTTP, which mediad reads. */
		end_as_sound(r, true, 0);
	} else if (resp->err) {
		music_request_end(r, http_explain(resp->err));
	} else if (resp->status / 100 == 3) {
		follow_redirect(r, resp);
	} else if (resp->status / 100 != 2) {
		music_request_end(r, explain_status(resp->status));
	} else if (r->playlist) {
		end_as_playlist(r);
	} else {
		music_request_end(r, "it is empty");
	}
}

/* ---- requests ---- */

static bool is_asking(const struct music_sources *s)
{
	for (const struct music_request *r = s->requests; r; r = r->next)
		if (r->http)
			return true;
	return false;
}

/* begins: no answer is being read, as that of a redirect is. */
static int open_http(struct music_sources *s, bool begins)
{
	int err;

	/* An address that is allowed no more is asked no more, nor over a connection that is kept.
	 */
	if (s->guard && !http_guard_is_of(s->guard, s->settings->web_read_allowed)) {
		if (!begins || is_asking(s))
			return EBUSY;
		s->http = http_free(s->http);
		s->guard = http_guard_free(s->guard);
	}
	err = s->guard ? 0 : http_guard_alloc(&s->guard, s->settings->web_read_allowed);

	return err || s->http ? err : http_alloc_guarded(&s->http, s->env, NULL, AGENT, s->guard);
}

static int send_probe(struct music_request *r, bool begins)
{
	static const char *const headers[] = {"Accept: */*", NULL};
	char why[MUSIC_WHY_MAX];
	int err = open_http(r->s, begins);

	if (err)
		return err;
	if (!http_guard_url(r->s->guard, r->at, why, sizeof why))
		return EACCES;
	return http_request(&r->http, r->s->http,
			    &(struct http_call){.method = "GET",
						.url = r->at,
						.headers = headers,
						.timeout_ms = MUSIC_PROBE_MS,
						.max_body = SOUND_MAX,
						.parth = take_part},
			    take_response, r);
}

void music_address_begin(struct music_request *r)
{
	int err;

	snprintf(r->at, sizeof r->at, "%s", r->text);
	tmr_start(r->timer, MUSIC_LOOK_MS * NS_PER_MS);
	err = send_probe(r, true);
	if (err)
		music_request_fail(r, explain_probe(r, err));
}
