#include "tests/unit/control/store/small_disk.h"

#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <unistd.h>

static bool map_id(const char *file, unsigned id)
{
	FILE *f = fopen(file, "w");
	bool ok = f && fprintf(f, "%u %u 1\n", id, id) > 0;

	return f && !fclose(f) && ok;
}

static bool has_own_mounts(void)
{
	unsigned user = geteuid();

	if (unshare(CLONE_NEWNS) &&
	    (unshare(CLONE_NEWUSER | CLONE_NEWNS) || !map_id("/proc/self/uid_map", user)))
		return false;
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

bool small_disk_mount(const char *folder, const char *size)
{
	char options[32];

	snprintf(options, sizeof options, "size=%s", size);
	return has_own_mounts() && mount("none", folder, "tmpfs", 0, options) == 0;
}
