#include "control/store/volume.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fscrypt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { PATH_SIZE = 640, LINE_SIZE = 4096, DEPTH = 6 };

struct mount {
	char device[24], type[32];
	size_t prefix; /* length of the mount point; 0: none was found */
};

static bool is_below(const char *dir, const char *point)
{
	size_t n = strlen(point);

	return strncmp(dir, point, n) == 0 && (n == 1 || dir[n] == '/' || dir[n] == '\0');
}

/* proc(5): "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw"; the last one that fits
 * hides those before. */
static void read_mount(const char *line, const char *dir, struct mount *best)
{
	char device[24], point[PATH_SIZE], type[32];
	const char *dash = strstr(line, " - ");

	if (!dash || sscanf(line, "%*s %*s %23s %*s %639s", device, point) != 2 ||
	    sscanf(dash + 3, "%31s", type) != 1 || !is_below(dir, point) ||
	    strlen(point) < best->prefix)
		return;
	snprintf(best->device, sizeof best->device, "%s", device);
	snprintf(best->type, sizeof best->type, "%s", type);
	best->prefix = strlen(point);
}

static void find_mount(const char *dir, const char *root, struct mount *best)
{
	char path[PATH_SIZE], line[LINE_SIZE];
	FILE *f;

	snprintf(path, sizeof path, "%s/proc/self/mountinfo", root);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f))
		read_mount(line, dir, best);
	if (f)
		fclose(f);
}

static bool is_crypt(const char *device)
{
	char path[PATH_SIZE + 16], uuid[32] = "";
	FILE *f;

	snprintf(path, sizeof path, "%s/dm/uuid", device);
	f = fopen(path, "re");
	if (f && !fgets(uuid, sizeof uuid, f))
		*uuid = '\0';
	if (f)
		fclose(f);
	return strncmp(uuid, "CRYPT-", 6) == 0;
}

/* Every device below must be encrypted. */
static bool is_encrypted(const char *device, unsigned depth)
{
	char path[PATH_SIZE];
	struct dirent *e;
	unsigned below = 0;
	bool all = true;
	DIR *d;

	if (is_crypt(device))
		return true;
	if (depth == DEPTH ||
	    (size_t)snprintf(path, sizeof path, "%s/slaves", device) >= sizeof path)
		return false;
	d = opendir(path);
	while (d && (e = readdir(d))) {
		char slave[PATH_SIZE];

		if (e->d_name[0] == '.')
			continue;
		below++;
		all = (size_t)snprintf(slave, sizeof slave, "%s/%s", path, e->d_name) <
			      sizeof slave &&
		      is_encrypted(slave, depth + 1) && all;
	}
	if (d)
		closedir(d);
	return below && all;
}

/* fscrypt encrypts single folders of ext4, f2fs and ubifs. */
static bool has_policy(const char *dir)
{
	struct fscrypt_get_policy_ex_arg arg = {.policy_size = sizeof arg.policy};
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool has = fd >= 0 && ioctl(fd, FS_IOC_GET_ENCRYPTION_POLICY_EX, &arg) == 0;

	if (fd >= 0)
		close(fd);
	return has;
}

enum volume volume_of(const char *dir, const char *root)
{
	struct mount mount = {0};
	char *real = realpath(dir, NULL), device[PATH_SIZE];
	bool known;

	if (!real)
		return VOLUME_UNKNOWN;
	find_mount(real, root, &mount);
	snprintf(device, sizeof device, "%s/sys/dev/block/%s", root, mount.device);
	known = mount.prefix && access(device, F_OK) == 0;
	if (strcmp(mount.type, "ecryptfs") == 0 || has_policy(real) ||
	    (known && is_encrypted(device, 0))) {
		free(real);
		return VOLUME_ENCRYPTED;
	}
	free(real);
	return known ? VOLUME_CLEAR : VOLUME_UNKNOWN;
}
