/* The pages of this program, as the kernel sees them. */
#include "mediad/engine/image_pages.h"

#include "tests/test.h"

#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 64 };

/* More than the kernel maps around one fault. */
static const uint8_t table[PAGES * PAGE] = {[PAGES * PAGE / 2] = 1};
static uint8_t zeros[PAGES * PAGE];

static unsigned count_present(const volatile uint8_t *p)
{
	int fd = open("/proc/self/pagemap", O_RDONLY);
	unsigned n = 0;

	for (unsigned i = 0; fd >= 0 && i < PAGES - 1; i++) {
		uintptr_t page = ((uintptr_t)p + PAGE - 1) / PAGE + i;
		uint64_t entry = 0;

		if (pread(fd, &entry, sizeof entry, (off_t)(page * sizeof entry)) == sizeof entry)
			n += entry >> 63;
	}
	close(fd);
	return n;
}

TEST(image_pages_are_present)
{
	image_pages_populate();
	CHECK_INT(count_present(table), PAGES - 1);
	CHECK_INT(count_present(zeros), PAGES - 1);
}
