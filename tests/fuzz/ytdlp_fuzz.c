/* yt-dlp's output: no line may crash, and a result has plain names, addresses of the web and
 * headers of one line. The same bytes are read as errors. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "control/music/ytdlp.h"
#include "proto/base/utf8.h"
#include "proto/media.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ytdlp_result r;
	struct slice s = {data, size};

	if (!*ytdlp_failure_name(ytdlp_find_failure(s)))
		abort();
	if (ytdlp_read_line(&r, s))
		return 0;
	if (!utf8_valid(r.track.title) || !utf8_valid(r.track.artist) || !utf8_valid(r.track.album))
		abort();
	if (strncasecmp(r.track.reference, "http", 4) != 0 ||
	    (*r.stream && strncasecmp(r.stream, "http", 4) != 0) ||
	    !stream_headers_valid(slice_str(r.headers)))
		abort();
	return 0;
}
