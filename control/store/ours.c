#include "control/store/ours.h"

#include <unistd.h>

enum { GROUPS_MAX = 64 };

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
