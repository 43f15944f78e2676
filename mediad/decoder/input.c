#include "mediad/decoder/input.h"

#include <errno.h>
#include <libavformat/avio.h>
#include <libavutil/error.h>
#include <libavutil/mem.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mediad/decoder/progress.h"
#include "mediad/decoder/range_wire.h"
#include "mediad/music/signature.h"

enum {
	BUFFER = 32768,
	/* What is read for an index at the end, of a server that has to send all from its beginning
	 * once more: somebody waits for it, and the parent does not wait for longer. */
	INDEX_WITHIN = 64 << 20,
	INDEX_WITHIN_S = PROGRESS_OPEN_S - 8,
	INDEX_FIRST = 4 << 20, /* an index at the beginning is shorter */
};

struct input {
	AVIOContext *io;
	int fd;
	int64_t at, size;     /* size: RANGE_UNKNOWN if it is */
	int64_t begin, lasts; /* frames, of a stream in segments (range_wire.h) */
	bool seekable;
	bool again;	    /* the source may be read from its beginning once more */
	time_t index_until; /* s; 0: no index is looked for */
	enum decoder_reason failure;
	struct range_answer answer;
};

static time_t read_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

static int read_file(void *arg, uint8_t *buf, int n)
{
	struct input *in = arg;
	ssize_t got = pread(in->fd, buf, (size_t)n, in->at);

	if (got < 0)
		in->failure = DECODER_REASON_NOT_READABLE;
	in->at += got > 0 ? got : 0;
	return got > 0 ? (int)got : got == 0 ? AVERROR_EOF : AVERROR(EIO);
}

/* Asks the fetcher; false if it is gone or failed. */
static bool ask_fetcher(struct input *in, uint32_t length)
{
	const struct range_request ask = {.offset = (uint64_t)in->at, .length = length};
	const size_t head = offsetof(struct range_answer, data);
	ssize_t n;

	if (write(in->fd, &ask, sizeof ask) != sizeof ask)
		return false;
	n = read(in->fd, &in->answer, sizeof in->answer);
	if (n < (ssize_t)head || (size_t)n != head + in->answer.length ||
	    in->answer.length > length) {
		in->failure = DECODER_REASON_UNREACHABLE;
		return false;
	}
	in->size = in->answer.size;
	in->begin = in->answer.begin;
	in->lasts = in->answer.lasts;
	in->seekable = in->answer.seekable != 0;
	in->failure = decoder_reason_of(in->answer.reason);
	return in->failure == DECODER_REASON_UNKNOWN;
}

/* The index must be at the end, and that is too far away. */
static bool is_index_far(const struct input *in)
{
	return in->index_until && !in->seekable &&
	       (in->at > INDEX_WITHIN || (in->at > INDEX_FIRST && read_clock() > in->index_until));
}

static int read_fetched(void *arg, uint8_t *buf, int n)
{
	struct input *in = arg;
	int got = 0;

	/* Looked at once, since the clock goes on; libav may read again, also from the beginning.
	 */
	if (in->failure == DECODER_REASON_INDEX_LAST || is_index_far(in)) {
		in->failure = DECODER_REASON_INDEX_LAST;
		return AVERROR(EIO);
	}
	/* libav may not be able to go back behind its first read, and the format is known by its
	 * head. */
	do {
		uint32_t most = n - got < RANGE_MAX ? (uint32_t)(n - got) : RANGE_MAX;

		if (!ask_fetcher(in, most))
			return got ? got : AVERROR(EIO);
		memcpy(buf + got, in->answer.data, in->answer.length);
		in->at += in->answer.length;
		got += (int)in->answer.length;
	} while (in->answer.length && got == in->at && got < n && got < SIGNATURE_HEAD);
	return got ? got : AVERROR_EOF;
}

static int64_t seek_to(void *arg, int64_t offset, int whence)
{
	struct input *in = arg;
	int64_t base = 0;

	whence &= ~AVSEEK_FORCE;
	if (whence == AVSEEK_SIZE)
		return in->size == RANGE_UNKNOWN ? AVERROR(ENOSYS) : in->size;
	if (!in->seekable && (!in->again || whence != SEEK_SET || offset > in->at))
		return AVERROR(ENOSYS);
	if (whence == SEEK_CUR)
		base = in->at;
	else if (whence == SEEK_END && in->size != RANGE_UNKNOWN)
		base = in->size;
	else if (whence != SEEK_SET)
		return AVERROR(EINVAL);
	if (__builtin_add_overflow(offset, base, &offset) || offset < 0)
		return AVERROR(EINVAL);
	in->again = false;
	in->at = offset;
	return offset;
}

int input_alloc(struct input **out, int fd, enum decoder_source_kind kind)
{
	struct input *in = calloc(1, sizeof *in);
	uint8_t *buffer = av_malloc(BUFFER);
	bool file = kind == DECODER_FILE;

	if (!in || !buffer)
		goto no_memory;
	in->fd = fd;
	in->size = in->begin = RANGE_UNKNOWN;
	in->seekable = file;
	/* The first question tells whether the server can seek, which libav must know before it
	 * reads. */
	if (file)
		in->size = lseek(fd, 0, SEEK_END);
	else
		ask_fetcher(in, 0);
	in->io = avio_alloc_context(buffer, BUFFER, 0, in, file ? read_file : read_fetched, NULL,
				    seek_to);
	if (!in->io)
		goto no_memory;
	in->io->seekable = in->seekable ? AVIO_SEEKABLE_NORMAL : 0;
	*out = in;
	return 0;
no_memory:
	av_free(buffer);
	free(in);
	return ENOMEM;
}

struct input *input_free(struct input *in)
{
	if (!in)
		return NULL;
	av_free(in->io->buffer);
	avio_context_free(&in->io);
	free(in);
	return NULL;
}

struct AVIOContext *input_io(struct input *in)
{
	return in->io;
}

bool input_seekable(const struct input *in)
{
	return in->seekable;
}

void input_find_index(struct input *in)
{
	in->again = !in->seekable;
	in->index_until = read_clock() + INDEX_WITHIN_S;
}

void input_end_index(struct input *in)
{
	in->index_until = 0;
}

bool input_begin(const struct input *in, uint64_t *frame)
{
	*frame = in->begin > 0 ? (uint64_t)in->begin : 0;
	return in->begin >= 0;
}

uint64_t input_length(const struct input *in)
{
	return in->lasts > 0 ? (uint64_t)in->lasts : 0;
}

enum decoder_reason input_failure(const struct input *in)
{
	return in->failure;
}
