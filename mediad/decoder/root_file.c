#include "mediad/decoder/root_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum decoder_reason root_file_open(int root, const char *path, int *out)
{
	struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
			       .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
	struct stat st;
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof how);

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? DECODER_REASON_NOT_FOUND
							   : DECODER_REASON_NOT_READABLE;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return DECODER_REASON_NOT_READABLE;
	}
	*out = fd;
	return DECODER_REASON_UNKNOWN;
}
