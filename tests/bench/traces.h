/* Byte strings that name a person, and the search for them in every file of a folder. One set in a
 * process. */
#ifndef TESTS_BENCH_TRACES_H
#define TESTS_BENCH_TRACES_H

#include <stddef.h>

void traces_clear(void);
/* At most 64 bytes each, 40 of them. Ends the bench if there are more. */
void traces_add(const void *bytes, size_t n);
void traces_add_text(const char *text);
/* How often they occur: in these bytes, in a file, and in the names and contents of all files
 * below a folder. The environment variable ERASE_TELL names the files on stderr. */
unsigned traces_in(const char *bytes, size_t n);
unsigned traces_in_file(const char *path);
unsigned traces_in_folder(const char *folder);

#endif
