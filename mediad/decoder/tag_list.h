/* Reads the tags of files for the music library of control: the part of decoderd that needs no
 * mediad.
 *
 * First it prints the line "ready". Then each line of its input names a file: the number of the
 * folder, a blank, and the path below it. Each is opened by a decoder process of its own, as a
 * track is, which ends once it has told what the file is. The answer is one line, in the order of
 * the requests: title, artist, album and the length in milliseconds, with tabs between them. What
 * is not known is empty, or 0; the line of a file that cannot be played is empty. */
#ifndef MEDIAD_DECODER_TAG_LIST_H
#define MEDIAD_DECODER_TAG_LIST_H

#include <stdio.h>

/* roots: descriptors of folders, n of them; borrowed. Only in a process whose children can be
 * jailed (jail_works). 0 at the end of the input, or errno of a failure. */
int tag_list_run(const int *roots, unsigned n, FILE *in, FILE *out);

#endif
