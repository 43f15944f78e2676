#include "control/store/ours.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum { GROUPS_MAX = 64, PATH_SIZE = 640 };

static bool is_own_group(gid_t gid)
{
	gid_t groups[GROUPS_MAX];
	int n = getgroups(GROUPS_MAX, groups);

	for (int i = 0; i < n; i++)
		if (groups[i] == gid)
			return true;
	return gid == getegid();
}

/* Its modes for a group are no danger. */
static bool is_shared_with_own_group(const struct stat *st)
{
	return st->st_uid == geteuid() && is_own_group(st->st_gid);
}

bool ours_is_trusted(const struct stat *st)
{
	return S_ISREG(st->st_mode) && (st->st_uid == geteuid() || st->st_uid == 0) &&
	       !(st->st_mode & S_IWOTH) &&
	       (!(st->st_mode & S_IWGRP) || is_shared_with_own_group(st));
}

bool ours_is_private(int fd, const struct stat *st)
{
	if (!ours_is_trusted(st) || st->st_mode & S_IRWXO)
		return false;
	return !(st->st_mode & S_IRWXG) || (is_shared_with_own_group(st) && !fchmod(fd, 0600));
}

/* An administrator may look at it, copy it, and erase a person from it. SQLite gives the files that
 * it makes then to the owner of the database. */
static bool may_use(bool own, const struct stat *st)
{
	return ours_is_trusted(st) ||
	       (!own && geteuid() == 0 && S_ISREG(st->st_mode) && !(st->st_mode & S_IWOTH));
}

/* Files beside the database have the same effect as its own content. */
static int check_parts(const char *file, bool own)
{
	static const char *const parts[] = {"-wal", "-shm", "-journal"};
	char path[PATH_SIZE + 16];
	struct stat st;

	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		snprintf(path, sizeof path, "%s%s", file, parts[i]);
		if (lstat(path, &st) == 0 && !may_use(own, &st))
			return EPERM;
	}
	return 0;
}

int ours_check_database(const char *file, bool own)
{
	struct stat st;
	int err = 0;

	if (lstat(file, &st))
		return errno == EACCES ? EROFS : errno;
	if (S_ISLNK(st.st_mode))
		return EBADMSG;
	if (!may_use(own, &st))
		err = EPERM;
	else if (own && st.st_mode & (S_IRWXG | S_IRWXO) && chmod(file, 0600))
		err = errno;
	return err ? err : check_parts(file, own);
}
