/* Reads the bytes of a source for libav: of a file by its descriptor, or of a web source by
 * requests to a fetcher over a socket (mediad/decoder/range_wire.h).
 *
 * Several may read one file. Makes no system call but pread, lseek, read and write, so it works in
 * the jail. */
#ifndef MEDIAD_DECODER_INPUT_H
#define MEDIAD_DECODER_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "mediad/music/decoder_wire.h"

struct AVIOContext;
struct input;

/* fd: borrowed. ENOMEM. Caller owns *out. */
int input_alloc(struct input **out, int fd, enum decoder_source_kind kind);
struct input *input_free(struct input *in);
/* Borrowed; valid until input_free. */
struct AVIOContext *input_io(struct input *in);
/* True if any byte can be reached, as seen so far. */
bool input_seekable(const struct input *in);
/* The format has an index, which may be at the end of the source: a source that is not seekable may
 * be read from its beginning once more, behind that. A read fails with INDEX_LAST if the index is
 * too far away, until input_end_index says that it was found. */
void input_find_index(struct input *in);
void input_end_index(struct input *in);
/* True if the source begins near the frame that is wanted: *frame is where. */
bool input_begin(const struct input *in, uint64_t *frame);
/* Frames of the whole source; 0: the source does not tell. */
uint64_t input_length(const struct input *in);
/* The reason for which a read failed; DECODER_REASON_UNKNOWN if none did. */
enum decoder_reason input_failure(const struct input *in);

#endif
