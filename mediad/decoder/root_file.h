/* Opens files beneath the folders that decoderd was given. */
#ifndef MEDIAD_DECODER_ROOT_FILE_H
#define MEDIAD_DECODER_ROOT_FILE_H

#include "mediad/music/decoder_wire.h"

/* root: descriptor of the folder, or -1 if it could not be opened. path: below it, without links,
 * "." and "..". *out is the caller's. DECODER_REASON_UNKNOWN: it is open; NOT_FOUND, NOT_READABLE.
 */
enum decoder_reason root_file_open(int root, const char *path, int *out);

#endif
