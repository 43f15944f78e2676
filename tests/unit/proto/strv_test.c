#include "proto/base/strv.h"
#include "tests/test.h"

TEST_OOM(strv_copies_and_frees)
{
	static const char *const list[] = {"one", "", "three", NULL};
	char **copy = strv_copy(list);

	CHECK_OOM(copy ? 0 : ENOMEM, (void)0);
	for (unsigned i = 0; i < 3; i++)
		if (strcmp(copy[i], list[i]) != 0 || copy[i] == list[i])
			test_fail(__FILE__, __LINE__, "%s", "copy differs");
	if (copy[3])
		test_fail(__FILE__, __LINE__, "%s", "no end");
	strv_free(copy);
	copy = strv_copy(NULL);
	CHECK_OOM(copy ? 0 : ENOMEM, (void)0);
	if (copy[0])
		test_fail(__FILE__, __LINE__, "%s", "not empty");
	strv_free(copy);
	CHECK(!strv_free(NULL));
}
