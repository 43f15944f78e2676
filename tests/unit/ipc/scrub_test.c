#include "ipc/scrub.h"
#include "tests/test.h"

#include <errno.h>
#include <stdlib.h>

TEST(a_secret_gives_way_to_as_many_stars_wherever_it_stands)
{
	struct scrub s = {0};
	char text[] = "hunter22 and hunter22, hunter2, sesame sesame";

	CHECK_INT(scrub_add(&s, "hunter22"), 0);
	CHECK_INT(scrub_add(&s, "sesame"), 0);
	scrub_bytes(&s, text, strlen(text));
	CHECK_STR(text, "******** and ********, hunter2, ****** ******");
	scrub_clear(&s);
	scrub_clear(&s);
}

TEST(a_copy_is_made_only_when_there_is_a_secret)
{
	struct scrub s = {0};
	void *copy;

	CHECK_INT(scrub_copy(&s, "anything", 8, &copy), 0);
	CHECK(!copy);
	CHECK_INT(scrub_add(&s, "hunter22"), 0);
	CHECK_INT(scrub_copy(&s, "hunter2 2", 9, &copy), 0);
	CHECK(!copy);
	CHECK_INT(scrub_copy(&s, "", 0, &copy), 0);
	CHECK(!copy);
	CHECK_INT(scrub_copy(&s, "a\0hunter22", 10, &copy), 0);
	CHECK_MEM(copy, copy ? 10 : 0, "a\0********", 10);
	free(copy);
	scrub_clear(&s);
}

TEST(short_words_are_no_secrets_and_there_is_room_for_some)
{
	struct scrub s = {0};

	CHECK_INT(scrub_add(&s, NULL), 0);
	CHECK_INT(scrub_add(&s, ""), 0);
	CHECK_INT(scrub_add(&s, "short"), 0);
	CHECK_INT(s.n, 0);
	for (unsigned i = 0; i < SCRUB_MAX; i++)
		CHECK_INT(scrub_add(&s, "long enough"), 0);
	CHECK_INT(scrub_add(&s, "long enough"), ENOSPC);
	scrub_clear(&s);
	CHECK_INT(s.n, 0);
}
