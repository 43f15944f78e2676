/* The user's own program that finds the sound of a page: yt-dlp, run in the sandbox once for each
 * request (music_sources.h). It may visit the sites of EXTRACTORS alone: with all that it
 * has, members would reach any service of this machine, past the guard. */
#include "control/music_sources/inside.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "control/jail/program.h"
#include "control/jail/sandbox.h"
#include "control/music/match.h"
#include "control/music/playlist.h"
#include "control/settings/settings.h"
#include "ipc/env.h"
#include "ipc/http_guard.h"
#include "ipc/log.h"
#include "ipc/reaper.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/media.h"

/* Sound in one file, or else in segments (HLS), as live streams are. mediad reads no DASH, and
 * where there is a picture too, a small one costs less to fetch. */
#define WHOLE	 "[protocol~='^https?$']"
#define SEGMENTS "[protocol^=m3u8]"
#define FORMATS                                                                                    \
	"ba[acodec=opus]" WHOLE "/ba" WHOLE "/b" WHOLE "/ba" SEGMENTS "/b[height<=480]" SEGMENTS   \
	"/b" SEGMENTS

enum { NOT_EXECUTABLE = 126, NOT_FOUND = 127 };
enum { OUTPUT_MAX = 8 << 20, MEMORY_MIB = 512, PLAYLIST_END = PLAYLIST_TRACKS };

/* Sites whose extractors ask the site alone. Others go to whatever host an address names, or go on
 * at an address that stands in the one they are given, as youtube:consent does. */
#define EXTRACTORS                                                                                 \
	"youtube,youtube:.*,youtubeytbe,-youtube:consent,soundcloud,soundcloud:.*,bandcamp,"       \
	"bandcamp:.*,mixcloud,mixcloud:.*,vimeo,vimeo:.*,twitch:.*,twitchcollection,"              \
	"twitchvideos.*,dailymotion,dailymotion:.*,audiomack,audiomack:.*,archive\\.org,jamendo,"  \
	"jamendoalbum,hearthisat"

/* Their domains. */
static const char *const sites[] = {
	"youtube.com", "youtu.be",    "soundcloud.com",	 "bandcamp.com", "mixcloud.com",
	"vimeo.com",   "twitch.tv",   "dailymotion.com", "dai.ly",	 "audiomack.com",
	"archive.org", "jamendo.com", "hearthis.at"};

bool music_download_wanted(const struct music_sources *s)
{
	return *s->settings->music_downloader;
}

bool music_download_visits(const char *url)
{
	char host[256];
	size_t n, k;

	if (!http_guard_host(url, host, sizeof host))
		return false;
	n = strlen(host);
	for (size_t i = 0; i < sizeof sites / sizeof sites[0]; i++) {
		k = strlen(sites[i]);
		if (n >= k && strcasecmp(host + n - k, sites[i]) == 0 &&
		    (n == k || host[n - k - 1] == '.'))
			return true;
	}
	return false;
}

static void start_waiting(struct music_sources *s);

void music_download_clear(struct music_request *r)
{
	struct music_sources *s = r->s;
	bool ran = r->child != NULL;

	r->waits = false;
	reaper_take(s->reaper, r->child);
	r->child = NULL;
	if (ran)
		start_waiting(s);
}

/* ---- streams that are known ---- */

static struct music_known *find_known(const struct music_sources *s, const char *page)
{
	uint64_t now = env_now(s->env);

	for (unsigned i = 0; s->known && i < MUSIC_KNOWN; i++)
		if (s->known[i].until > now && strcmp(s->known[i].page, page) == 0)
			return &s->known[i];
	return NULL;
}

/* In the place of the one that ends first. */
static void keep_known(struct music_sources *s, const struct ytdlp_result *found)
{
	const char *page = found->track.reference;
	struct music_known *place;

	if (!s->known)
		s->known = calloc(MUSIC_KNOWN, sizeof *s->known);
	if (!s->known)
		return;
	place = &s->known[0];
	for (unsigned i = 1; i < MUSIC_KNOWN; i++)
		if (s->known[i].until < place->until)
			place = &s->known[i];
	snprintf(place->page, sizeof place->page, "%s", page);
	place->until = env_now(s->env) + MUSIC_KNOWN_S * NS_PER_S;
	snprintf(place->stream, sizeof place->stream, "%s", found->stream);
	snprintf(place->headers, sizeof place->headers, "%s", found->headers);
}

void music_sources_forget(struct music_sources *s, const struct track *track)
{
	struct music_known *known = find_known(s, track->reference);

	if (known)
		*known = (struct music_known){0};
}

/* ---- its output ---- */

static void sort_hits(struct music_request *r)
{
	for (size_t i = 1; i < r->n; i++)
		for (size_t k = i; k && r->hits[k].score > r->hits[k - 1].score; k--) {
			struct library_hit one = r->hits[k];

			r->hits[k] = r->hits[k - 1];
			r->hits[k - 1] = one;
		}
}

static void take_line(const char *line, size_t len, void *arg)
{
	struct music_request *r = arg;
	struct ytdlp_result *found = malloc(sizeof *found);
	int err =
		found ? ytdlp_read_line(found, (struct slice){(const uint8_t *)line, len}) : ENOMEM;

	if (err) {
		log_debug("music_download_line", "error=%d", err);
	} else if (r->kind == REQUEST_STREAM) {
		snprintf(r->stream, sizeof r->stream, "%s", found->stream);
		snprintf(r->headers, sizeof r->headers, "%s", found->headers);
	} else if (r->n < r->unsure + PLAYLIST_END) {
		music_request_add(r, &found->track,
				  r->kind == REQUEST_WORDS ? music_match(r->text, &found->track)
							   : 0);
	}
	if (!err && *found->stream)
		keep_known(r->s, found);
	free(found);
}

static void take_error(const char *line, size_t len, void *arg)
{
	struct music_request *r = arg;
	size_t n = strlen(r->errors);

	(void)len;
	snprintf(r->errors + n, sizeof r->errors - n, "%s\n", line);
}

/* The lines' own limit holds for one of them. */
static void count_output(size_t n, void *arg)
{
	struct music_request *r = arg;

	r->read += n;
	if (r->read > OUTPUT_MAX && r->child)
		child_cut(r->child);
}

static const char *explain_failure(enum ytdlp_failure failure)
{
	static const char *const says[] = {
		[YTDLP_NO_JAVASCRIPT] = "the downloader needs a JavaScript runtime for this site",
		[YTDLP_AGE] = "it is only for adults who are signed in",
		[YTDLP_SIGN_IN] = "the site wants a sign-in",
		[YTDLP_PRIVATE] = "it is private",
		[YTDLP_REGION] = "it is not available in this region",
		[YTDLP_RATE_LIMIT] = "the site had too many requests",
		[YTDLP_FORBIDDEN] = "the site refused it",
		[YTDLP_NO_FORMAT] = "it has no sound that I can play",
		[YTDLP_GONE] = "it is gone",
		[YTDLP_UNSUPPORTED] = "the downloader knows no music at this address",
		[YTDLP_TIMEOUT] = "the site took too long to answer",
		[YTDLP_UNREACHABLE] = "the site cannot be reached",
		[YTDLP_OTHER] = "the downloader failed"};

	return says[failure];
}

static void end_download(struct music_request *r, int status)
{
	bool found = r->kind == REQUEST_STREAM ? *r->stream != 0 : r->n > r->unsure;
	enum ytdlp_failure failure = ytdlp_find_failure(slice_str(r->errors));

	/* As a shell and env tell it: such as no Python. */
	if ((status == NOT_EXECUTABLE || status == NOT_FOUND) && !found) {
		log_warn("music_download_failed", "status=%d reason=cannot_run", status);
		r->machine = true;
		music_request_lose(r, "the downloader cannot be started");
		return;
	}
	if (status && !found) {
		log_warn("music_download_failed", "status=%d reason=%s", status,
			 ytdlp_failure_name(failure));
		r->passes = ytdlp_failure_passes(failure);
		music_request_lose(r, explain_failure(failure));
		return;
	}
	if (r->kind == REQUEST_WORDS)
		sort_hits(r);
	r->list = r->kind == REQUEST_ADDRESS && r->n > 1;
	music_request_end(r, NULL);
}

static void take_state(bool up, int status, void *arg)
{
	if (!up)
		end_download(arg, status);
}

/* ---- its start ---- */

/* Blames the machine. */
static void fail_here(struct music_request *r, const char *why)
{
	r->machine = true;
	music_request_fail(r, why);
}

/* Bubblewrap would tell it no more clearly than a program that has failed by itself. */
static bool can_run(const struct music_sources *s)
{
	const char *program = s->settings->music_downloader;

	return env_answer(s->env, *program == '/' && access(program, X_OK) == 0);
}

/* A JSON array of its arguments, which the caller frees. A member's address gets a path, or loose
 * patterns take what follows its host for the host; and it loses its fragment, in which the program
 * takes orders to extractors. */
static char *write_command(const struct music_request *r)
{
	char target[MUSIC_ADDRESS_MAX + 16], end[16];
	json_t *args;
	char *text;

	snprintf(end, sizeof end, "%d", r->kind == REQUEST_WORDS ? (int)r->most : PLAYLIST_END);
	if (r->kind == REQUEST_WORDS)
		snprintf(target, sizeof target, "%s%zu:%s",
			 r->platform == MUSIC_SOUNDCLOUD ? "scsearch" : "ytsearch", r->most,
			 r->text);
	else if (r->kind == REQUEST_STREAM ||
		 !http_guard_join(r->text, r->text, target, sizeof target))
		snprintf(target, sizeof target, "%s", r->text);
	args = json_pack("[s,s,s,s,s,s,s,s,s,s,s,s,s]", r->s->settings->music_downloader,
			 "--ignore-config", "--no-cache-dir", "--use-extractors", EXTRACTORS,
			 "--no-playlist", "--playlist-end", end, "--socket-timeout", "10", "-f",
			 FORMATS, "-j");
	if (args && r->kind != REQUEST_STREAM)
		json_array_append_new(args, json_string("--flat-playlist"));
	if (args) {
		json_array_append_new(args, json_string("--"));
		json_array_append_new(args, json_string(target));
	}
	text = args ? json_dumps(args, JSON_COMPACT) : NULL;
	json_decref(args);
	return text;
}

static int start_download(struct music_request *r, const char *bwrap)
{
	json_t *read = json_pack("[s]", r->s->settings->music_downloader);
	char *paths = read ? json_dumps(read, JSON_COMPACT) : NULL, *command = write_command(r);
	int err = paths && command ? 0 : ENOMEM;

	json_decref(read);
	if (!err)
		err = program_start(&r->child, r->s->env,
				    &(struct program){.bwrap = bwrap,
						      .command = command,
						      .read = paths,
						      .folder = "",
						      .environment = "",
						      .secrets = "",
						      .values = "",
						      .memory_mib = MEMORY_MIB,
						      .network = true,
						      .once = true,
						      .line_max = YTDLP_LINE_MAX,
						      .readh = count_output,
						      .lineh = take_line,
						      .errorh = take_error,
						      .stateh = take_state,
						      .arg = r});
	free(paths);
	free(command);
	return err;
}

static unsigned count_running(const struct music_sources *s)
{
	unsigned n = 0;

	for (const struct music_request *r = s->requests; r; r = r->next)
		n += r->child != NULL;
	return n;
}

static bool has_running(const struct music_sources *s, uint64_t user)
{
	for (const struct music_request *r = s->requests; r; r = r->next)
		if (user && r->child && r->asker.user == user)
			return true;
	return false;
}

/* A stream comes first, since a room waits for its sound; then what was asked first. Streams leave
 * one place to others who wait: a room that skips again and again wants a new one each time. One
 * person has one program at a time, so that nobody's requests hold back all others. */
static struct music_request *find_waiting(const struct music_sources *s)
{
	struct music_request *stream = NULL, *oldest = NULL;
	unsigned streams = 0;

	for (struct music_request *r = s->requests; r; r = r->next) {
		streams += r->child && r->kind == REQUEST_STREAM;
		if (!r->waits || has_running(s, r->asker.user))
			continue;
		*(r->kind == REQUEST_STREAM ? &stream : &oldest) = r;
	}
	return stream && (!oldest || streams < MUSIC_DOWNLOADS - 1) ? stream : oldest;
}

/* Once: members may ask for music all the time. */
static bool find_program(struct music_sources *s)
{
	bool there = can_run(s);

	if (!there && !s->missing_told)
		log_warn("music_downloader_missing",
			 "program=\"%s\" hint=\"members ask for music that needs it: install it "
			 "there, or change music_downloader\"",
			 s->settings->music_downloader);
	s->missing_told = !there;
	return there;
}

static void start_waiting(struct music_sources *s)
{
	struct music_request *r;
	const char *bwrap;

	if (!s->sandbox || !sandbox_tried(s->sandbox))
		return;
	bwrap = sandbox_bwrap(s->sandbox);
	while (count_running(s) < MUSIC_DOWNLOADS && (r = find_waiting(s))) {
		r->waits = false;
		tmr_start(r->timer, MUSIC_DOWNLOAD_MS * NS_PER_MS);
		if (!bwrap)
			fail_here(r, "there is no sandbox for the downloader");
		else if (!find_program(s))
			fail_here(r, "the downloader is not installed on this machine");
		else if (start_download(r, bwrap))
			fail_here(r, "the downloader cannot be started");
	}
}

static void sandbox_is_tried(void *arg)
{
	start_waiting(arg);
}

void music_download_begin(struct music_request *r)
{
	struct music_sources *s = r->s;
	const struct music_known *known = r->kind == REQUEST_STREAM ? find_known(s, r->text) : NULL;
	int err = 0;

	if (known) {
		snprintf(r->stream, sizeof r->stream, "%s", known->stream);
		snprintf(r->headers, sizeof r->headers, "%s", known->headers);
		tmr_start(r->timer, 0);
		return;
	}
	r->waits = true;
	tmr_start(r->timer, MUSIC_DOWNLOAD_WAIT_MS * NS_PER_MS);
	if (!s->reaper)
		err = reaper_alloc(&s->reaper, s->env);
	if (!err && !s->sandbox)
		err = sandbox_alloc(&s->sandbox, s->env, sandbox_is_tried, s);
	if (err)
		fail_here(r, "there was no memory for it");
	else
		sandbox_try(s->sandbox);
	start_waiting(s);
}
