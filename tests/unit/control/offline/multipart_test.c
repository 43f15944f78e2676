#include "control/offline/multipart.h"

#include "tests/test.h"

static const char form[] =
	"preamble\r\n--x1\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nm\r\n"
	"--x1\r\nContent-Disposition: form-data; filename=\"file\"; name=\"file\"\r\n"
	"Content-Type: audio/wav\r\n\r\nRI\r\nFF\r\n--x1--\r\n";

static const char *part(const char *type, const char *name)
{
	static char text[64];
	const uint8_t *p;
	size_t n;

	if (!multipart_find(type, (const uint8_t *)form, sizeof form - 1, name, &p, &n))
		return NULL;
	snprintf(text, sizeof text, "%.*s", (int)n, (const char *)p);
	return text;
}

TEST(a_form_has_parts)
{
	CHECK_STR(part("multipart/form-data; boundary=x1", "model"), "m");
	CHECK_STR(part("Multipart/Form-Data; charset=u; boundary=\"x1\"", "file"), "RI\r\nFF");
	CHECK(!part("multipart/form-data; boundary=x1", "name"));
	CHECK(!part("multipart/form-data; boundary=x2", "model"));
	CHECK(!part("multipart/form-data", "model"));
	CHECK(!part("application/json; boundary=x1", "model"));
	CHECK(!part("multipart/form-data; boundary=", "model"));
}

TEST(a_form_may_end_anywhere)
{
	for (size_t n = 0; n < sizeof form; n++) {
		char *cut = malloc(n ? n : 1);
		const uint8_t *p;
		size_t len;

		CHECK(cut);
		memcpy(cut, form, n);
		if (multipart_find("multipart/form-data; boundary=x1", (uint8_t *)cut, n, "file",
				   &p, &len))
			CHECK(len == 6);
		free(cut);
	}
}
