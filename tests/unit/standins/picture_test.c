/* What the stand-ins see in pictures. */
#include "tests/standins/picture.h"

#include "control/dialect/base64.h"
#include "tests/picture.h"
#include "tests/test.h"

static const char *seen(const char *type, const uint8_t *data, size_t n)
{
	static char what[SI_PICTURE_MAX];
	char text[2048];

	base64_encode(data, n, text);
	return si_picture_read(type, text, base64_encoded(n), what) ? what : "";
}

TEST(a_picture_is_decoded_and_its_number_read)
{
	CHECK(strstr(seen("image/png", picture_png, sizeof picture_png),
		     "image/png 64x32 frame 37 hash "));
	CHECK(strstr(seen("image/jpeg", picture_jpeg, sizeof picture_jpeg),
		     "image/jpeg 128x64 frame 37 hash "));
}

TEST(a_picture_that_is_broken_or_of_another_type_is_refused)
{
	CHECK_STR(seen("image/jpeg", picture_png, sizeof picture_png), "");
	CHECK_STR(seen("image/png", picture_png, sizeof picture_png - 30), "");
	CHECK_STR(seen("image/png", picture_png, 0), "");
	CHECK_STR(seen("text/plain", picture_png, sizeof picture_png), "");
}

TEST(a_data_uri_names_its_type)
{
	char what[SI_PICTURE_MAX];

	CHECK(!si_picture_url("https://example.org/a.png", what));
	CHECK(!si_picture_url("data:image/png,AAAA", what));
	CHECK(!si_picture_url("data:image/png;base64,!!!!", what));
	CHECK(si_picture_url("data:image/gif;base64,R0lGODlh", what));
}
