/* Where the sentence encoder's file is: for the store's worker and for control --check. */
#ifndef CONTROL_STORE_EMBEDDER_FILE_H
#define CONTROL_STORE_EMBEDDER_FILE_H

#include <stddef.h>

#define EMBEDDER_NONE "none"

/* Writes the path. setting: memory_embedder; empty looks in the folder embedder beside the program,
 * where make embedder puts it, and in ../share/parley, where make install puts it. ENOENT, then
 * path is the last place; ECANCELED: the setting is none; ENAMETOOLONG. */
int embedder_file_find(char *path, size_t size, const char *setting);

#endif
