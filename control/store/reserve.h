/* The file `reserve` of the state directory: room that is given up when the disk is full. SQLite
 * needs room to delete, too, and without it nothing could be erased on a full disk. */
#ifndef CONTROL_STORE_RESERVE_H
#define CONTROL_STORE_RESERVE_H

#include <stdbool.h>
#include <stdint.h>

enum { RESERVE_BYTES = 64 << 20 };

/* Makes the file if it is not there and the disk has room for four times as much. */
void reserve_make(const char *dir, uint64_t bytes);
/* Gives the room up. False: there was none. */
bool reserve_drop(const char *dir);

/* Tries a write of 256 KiB: a smaller one proves nothing, because the log of the database may have
 * room for it. An errno. */
int reserve_try_write(const char *dir);

#endif
