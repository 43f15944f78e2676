#include "ipc/jail/landlock.h"

#include <errno.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Rights that a kernel of this version of Landlock can forbid; later ones add rights that the
 * headers at hand need not name. */
static uint64_t landlock_rights(long version)
{
	const unsigned rights[] = {0, 13, 14, 15, 15, 16};
	const long last = (long)(sizeof rights / sizeof rights[0]) - 1;

	return (UINT64_C(1) << rights[version > last ? last : version]) - 1;
}

int landlock_forbid_files(int directory, bool *used)
{
	long version =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	struct landlock_ruleset_attr attr = {0};
	struct landlock_path_beneath_attr below = {.allowed_access = LANDLOCK_ACCESS_FS_REMOVE_FILE,
						   .parent_fd = directory};
	int fd, err = 0;

	if (used)
		*used = false;
	if (version < 1)
		return 0;
	attr.handled_access_fs = landlock_rights(version);
	fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr.handled_access_fs, 0);
	if (fd < 0)
		return errno;
	if (directory >= 0 &&
	    syscall(SYS_landlock_add_rule, fd, LANDLOCK_RULE_PATH_BENEATH, &below, 0))
		err = errno;
	if (!err && syscall(SYS_landlock_restrict_self, fd, 0))
		err = errno;
	close(fd);
	if (used)
		*used = !err;
	return err;
}
