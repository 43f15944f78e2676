#include "tests/unit/mediad/engine/present.h"

#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

unsigned present_pages(const void *p, size_t n, unsigned *all)
{
	uintptr_t first = ((uintptr_t)p + PRESENT_PAGE - 1) / PRESENT_PAGE;
	uintptr_t end = ((uintptr_t)p + n) / PRESENT_PAGE;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	unsigned present = 0;

	for (uintptr_t page = first; fd >= 0 && page < end; page++) {
		uint64_t entry = 0;

		if (pread(fd, &entry, sizeof entry, (off_t)(page * sizeof entry)) == sizeof entry)
			present += entry >> 63;
	}
	if (fd >= 0)
		close(fd);
	if (all)
		*all = end > first ? (unsigned)(end - first) : 0;
	return present;
}
