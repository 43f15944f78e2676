/* Playlists: no text may crash, and every entry is a bounded plain track; those of the web name
 * addresses alone. The first byte chooses where the playlist is. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "control/music/playlist.h"
#include "proto/base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	bool local;
	size_t n;
};

static bool check_track(const struct track *t, void *arg)
{
	struct seen *seen = arg;
	bool web = strncasecmp(t->reference, "http", 4) == 0;

	if (!utf8_valid(t->title) || !utf8_valid(t->artist) || !*t->reference)
		abort();
	if (t->source == TRACK_LOCAL ? !seen->local || *t->reference == '/' : !web)
		abort();
	return ++seen->n < PLAYLIST_TRACKS;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct track place = {.source = TRACK_URL, .reference = "https://radio.example/a/b.m3u"};
	struct seen seen = {0};
	int err;

	if (!size)
		return 0;
	if (data[0] & 1) {
		place = (struct track){.source = TRACK_LOCAL, .reference = "rock/list.pls"};
		seen.local = true;
	}
	err = playlist_read(&place, (struct slice){data + 1, size - 1}, check_track, &seen);
	if (seen.n > PLAYLIST_TRACKS || (!err && !seen.n))
		abort();
	return 0;
}
