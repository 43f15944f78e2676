/* True if a file of the state directory can be trusted. A file that others have made or may write
 * to could name the address that gets the bot's token, and may hold anything. */
#ifndef CONTROL_STORE_OURS_H
#define CONTROL_STORE_OURS_H

#include <stdbool.h>
#include <sys/stat.h>

/* A regular file of this user or of root, to which only they can write, and a group of this process
 * if the file is this user's: Kubernetes makes the files of a volume with fsGroup writable for a
 * group of the pod. */
bool ours_is_trusted(const struct stat *st);
/* The same, and only its owner can read it. One of this user that only a group of this process can
 * read besides is closed to it. */
bool ours_is_private(int fd, const struct stat *st);
/* 0 if nobody else may have made the database or a file beside it, or may write to it: its
 * documents name the addresses that get secrets, and its rows hold what people said. With own it is
 * closed to others besides; without, root may use one of any user. EPERM; EBADMSG: a link; EROFS:
 * its folder may not be read; errors of lstat and chmod. */
int ours_check_database(const char *file, bool own);

#endif
