#include "ipc/jail/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
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

static long find_version(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

int landlock_forbid_files(int directory, bool *used)
{
	long version = find_version();
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

/* ---- a few files and ports ---- */

/* As of version 4, which the headers at hand need not know. */
enum { PORTS_VERSION = 4, NET_BIND = 1, NET_CONNECT = 2, RULE_PORT = 2 };
struct ruleset {
	uint64_t files, net;
};
struct port_rule {
	uint64_t access, port;
};

static int add_path(int rules, const char *path)
{
	struct landlock_path_beneath_attr rule = {.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE};
	struct stat st;
	int err = 0;

	rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (rule.parent_fd < 0)
		return 0;
	if (fstat(rule.parent_fd, &st) == 0 && S_ISDIR(st.st_mode))
		rule.allowed_access |= LANDLOCK_ACCESS_FS_READ_DIR;
	if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0))
		err = errno;
	close(rule.parent_fd);
	return err;
}

int landlock_leave(const char *const *paths, size_t n_paths, const uint16_t *ports, size_t n_ports)
{
	const long version = find_version();
	const bool net = version >= PORTS_VERSION;
	const struct ruleset all = {landlock_rights(version), NET_BIND | NET_CONNECT};
	int rules, err = 0;

	if (version < 1)
		return 0;
	rules = (int)syscall(SYS_landlock_create_ruleset, &all, net ? sizeof all : sizeof all.files,
			     0);
	if (rules < 0)
		return errno;
	for (size_t i = 0; i < n_paths && !err; i++)
		err = add_path(rules, paths[i]);
	for (size_t i = 0; net && i < n_ports && !err; i++) {
		const struct port_rule rule = {NET_CONNECT, ports[i]};

		if (syscall(SYS_landlock_add_rule, rules, RULE_PORT, &rule, 0))
			err = errno;
	}
	if (!err && syscall(SYS_landlock_restrict_self, rules, 0))
		err = errno;
	close(rules);
	return err;
}
