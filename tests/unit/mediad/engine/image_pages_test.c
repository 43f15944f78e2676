/* The pages of this program, as the kernel sees them. */
#include "mediad/engine/image_pages.h"
#include "tests/unit/mediad/engine/present.h"

#include "tests/test.h"

enum { PAGES = 64 };

/* More than the kernel maps around one fault. */
static const uint8_t table[PAGES * PRESENT_PAGE] = {[PAGES * PRESENT_PAGE / 2] = 1};
static uint8_t zeros[PAGES * PRESENT_PAGE];

static void check_present(const uint8_t *p)
{
	unsigned all = 0, present = present_pages(p, (size_t)PAGES * PRESENT_PAGE, &all);

	CHECK(all >= PAGES - 1);
	CHECK_INT(present, all);
}

TEST(image_pages_are_present)
{
	image_pages_populate();
	check_present(table);
	check_present(zeros);
}
