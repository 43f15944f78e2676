#include "control/music_sources/inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/jail/sandbox.h"
#include "control/library/library.h"
#include "control/music/match.h"
#include "control/settings/settings.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/http_guard.h"
#include "ipc/reaper.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

/* ---- requests ---- */

/* What is in no list any more. */
static void release_request(struct music_request *r)
{
	if (r->s->library)
		library_forget(r->s->library, r);
	music_address_clear(r);
	music_download_clear(r);
	tmr_free(r->timer);
	free(r->hits);
	free(r);
}

static void free_request(struct music_request *r)
{
	struct music_request **at = &r->s->requests;

	while (*at != r)
		at = &(*at)->next;
	*at = r->next;
	release_request(r);
}

void music_request_cancel(struct music_request *r)
{
	if (r)
		free_request(r);
}

void music_request_end(struct music_request *r, const char *why)
{
	struct library_hit *hits = r->hits;
	struct music_found found = {.why = why, .hits = hits, .n = r->n, .list = r->list};
	char stream[YTDLP_ADDRESS_MAX], headers[sizeof r->headers], said[MUSIC_WHY_MAX];
	music_found_h *h = r->h;
	void *arg = r->arg;

	snprintf(stream, sizeof stream, "%s", r->stream);
	snprintf(headers, sizeof headers, "%s", r->headers);
	snprintf(said, sizeof said, "%s", why ? why : "");
	if (why) {
		found = (struct music_found){
			.why = said, .machine = r->machine, .passes = r->passes};
	} else if (*stream) {
		found.stream = stream;
		found.headers = headers;
	} else if (!found.n) {
		found.why = "no track fits";
	}
	r->hits = NULL;
	free_request(r);
	h(&found, arg);
	free(hits);
}

int music_request_add(struct music_request *r, const struct track *track, unsigned score)
{
	if (r->n == r->room) {
		size_t room = r->room ? 2 * r->room : 8;
		struct library_hit *hits = realloc(r->hits, room * sizeof *hits);

		if (!hits)
			return ENOMEM;
		r->hits = hits;
		r->room = room;
	}
	r->hits[r->n++] = (struct library_hit){score, *track};
	return 0;
}

void music_request_fail(struct music_request *r, const char *why)
{
	snprintf(r->why, sizeof r->why, "%s", why);
	tmr_start(r->timer, 0);
}

void music_request_lose(struct music_request *r, const char *why)
{
	r->n = r->unsure;
	music_request_end(r, r->n ? NULL : why);
}

/* What it has found until now is not told: half an answer would pass for a whole one. */
static void timer_fired(void *arg)
{
	struct music_request *r = arg;

	r->passes = r->passes || !*r->why;
	if (*r->stream)
		music_request_end(r, NULL);
	else
		music_request_lose(r, *r->why ? r->why : "it took too long");
}

/* Words and addresses have limits of their own in a server: addresses that answer late must not
 * hold back the library. */
static int check_limits(const struct music_sources *s, enum music_request_kind kind,
			struct music_asker asker)
{
	unsigned all = 0, of_guild = 0, of_user = 0;

	if (kind == REQUEST_STREAM)
		return 0;
	for (const struct music_request *r = s->requests; r; r = r->next) {
		all += r->kind != REQUEST_STREAM;
		of_guild += r->kind == kind && r->asker.guild == asker.guild;
		of_user += r->asker.user == asker.user;
	}
	if (asker.user && of_user >= MUSIC_USER_REQUESTS)
		return EDQUOT;
	if (all >= MUSIC_REQUESTS || (asker.guild && of_guild >= MUSIC_GUILD_REQUESTS))
		return ENOSPC;
	return 0;
}

static int begin_request(struct music_request **out, struct music_sources *s,
			 enum music_request_kind kind, struct music_asker asker, const char *text,
			 music_found_h *h, void *arg)
{
	int err = check_limits(s, kind, asker);
	struct music_request *r;

	if (err)
		return err;
	if (strlen(text) >= sizeof r->text)
		return ENAMETOOLONG;
	r = calloc(1, sizeof *r);
	if (!r)
		return ENOMEM;
	err = tmr_alloc(&r->timer, s->env, timer_fired, r);
	if (err) {
		free(r);
		return err;
	}
	r->s = s;
	r->kind = kind;
	r->asker = asker;
	r->h = h;
	r->arg = arg;
	snprintf(r->text, sizeof r->text, "%s", text);
	r->next = s->requests;
	s->requests = r;
	*out = r;
	return 0;
}

/* ---- words ---- */

static bool is_sure(const struct music_request *r)
{
	return r->n && (!r->doubted || r->hits[0].score >= MUSIC_MATCH_SURE);
}

static void take_hits(int err, const struct library_hit *hits, size_t n, void *arg)
{
	struct music_request *r = arg;

	for (size_t i = 0; !err && i < n; i++)
		err = music_request_add(r, &hits[i].track, hits[i].score);
	if (err) {
		music_request_end(r, "the music library cannot be read");
	} else if (!is_sure(r) && r->platform == MUSIC_ANYWHERE && music_download_wanted(r->s)) {
		r->unsure = r->n;
		music_download_begin(r);
	} else {
		music_request_end(r, NULL);
	}
}

int music_sources_words(struct music_request **out, struct music_sources *s,
			const struct music_words *wanted, music_found_h *h, void *arg)
{
	enum music_platform platform = wanted->platform;
	bool library = s->library && platform <= MUSIC_LIBRARY;
	struct music_request *r;
	int err;

	if (!library && (platform == MUSIC_LIBRARY || !music_download_wanted(s)))
		return ENOTSUP;
	err = begin_request(&r, s, REQUEST_WORDS, wanted->asker, wanted->words, h, arg);
	if (err)
		return err;
	r->platform = platform;
	r->doubted = wanted->doubted;
	r->most = wanted->most < LIBRARY_HITS_MAX ? wanted->most : LIBRARY_HITS_MAX;
	if (library)
		err = library_search(s->library, wanted->words, r->most, take_hits, r);
	else
		music_download_begin(r);
	if (err)
		free_request(r);
	else
		*out = r;
	return err;
}

/* ---- addresses ---- */

int music_sources_address(struct music_request **out, struct music_sources *s,
			  struct music_asker asker, const char *url, music_found_h *h, void *arg)
{
	bool web = s->settings->music_web;
	struct music_request *r;
	int err;

	if (!web && (!music_download_wanted(s) || !music_download_visits(url)))
		return ENOTSUP;
	err = begin_request(&r, s, REQUEST_ADDRESS, asker, url, h, arg);
	if (err)
		return err;
	*out = r;
	if (web)
		music_address_begin(r);
	else
		music_download_begin(r);
	return 0;
}

int music_sources_stream(struct music_request **out, struct music_sources *s,
			 const struct track *track, music_found_h *h, void *arg)
{
	struct music_request *r;
	int err = music_download_wanted(s)
			  ? begin_request(&r, s, REQUEST_STREAM, (struct music_asker){0},
					  track->reference, h, arg)
			  : ENOTSUP;

	if (err)
		return err;
	*out = r;
	music_download_begin(r);
	return 0;
}

/* ---- coming and going ---- */

bool music_sources_search(const struct music_sources *s)
{
	return s->library || music_download_wanted(s);
}

const struct media_folder *music_sources_folder(const struct music_sources *s, unsigned root)
{
	return s->library ? library_folder(s->library, root) : NULL;
}

bool music_sources_may_read(const struct music_sources *s, const char *url)
{
	char why[MUSIC_WHY_MAX];

	return http_guard_allows(s->settings->web_read_allowed, url, why, sizeof why);
}

bool music_sources_web(const struct music_sources *s)
{
	return s->settings->music_web || music_download_wanted(s);
}

int music_sources_alloc(struct music_sources **out, struct env *env, struct library *library,
			const struct settings *settings)
{
	struct music_sources *s = calloc(1, sizeof *s);

	if (!s)
		return ENOMEM;
	*s = (struct music_sources){.env = env, .library = library, .settings = settings};
	*out = s;
	return 0;
}

struct music_sources *music_sources_free(struct music_sources *s)
{
	struct music_request *r;

	if (!s)
		return NULL;
	s->sandbox = sandbox_free(s->sandbox); /* no other download begins */
	while ((r = s->requests)) {
		s->requests = r->next;
		release_request(r);
	}
	reaper_free(s->reaper);
	http_free(s->http);
	http_guard_free(s->guard);
	free(s->known);
	free(s);
	return NULL;
}
