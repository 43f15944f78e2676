#include "tests/test.h"

#include "control/tools/charset.h"

static const char *find(const char *type, const char *body)
{
	size_t skip;

	return charset_find(type, body, strlen(body), &skip);
}

TEST(charset_form_is_by_the_media_type)
{
	static const struct {
		const char *type, *body;
		enum page_form form;
	} rows[] = {
		{"text/html; charset=x", "", PAGE_HTML},
		{" TEXT/HTML", "", PAGE_HTML},
		{"application/xhtml+xml", "", PAGE_HTML},
		{"text/plain", "<p>", PAGE_TEXT},
		{"application/json", "", PAGE_TEXT},
		{"application/ld+json;x", "", PAGE_TEXT},
		{"application/rss+xml", "", PAGE_TEXT},
		{"application/xml", "", PAGE_TEXT},
		{"image/png", "", PAGE_OTHER},
		{"application/octet-stream", "<p>", PAGE_OTHER},
		{"application/pdf", "", PAGE_OTHER},
		{NULL, " \n<p>", PAGE_HTML},
		{"", "hello", PAGE_TEXT},
		{NULL, "", PAGE_TEXT},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		CHECK_INT(charset_form(rows[i].type, rows[i].body, strlen(rows[i].body)),
			  rows[i].form);
	CHECK_INT(charset_form(NULL, "a\0b", 3), PAGE_OTHER);
}

TEST(charset_is_by_mark_header_and_head)
{
	size_t skip = 9;
	char far[1200];

	CHECK_STR(charset_find("text/html; charset=koi8-r", "\xef\xbb\xbfx", 4, &skip), "UTF-8");
	CHECK_INT(skip, 3);
	CHECK_STR(charset_find(NULL, "\xfe\xff\0a", 4, &skip), "UTF-16BE");
	CHECK_INT(skip, 2);
	CHECK_STR(charset_find("a; charset=utf-16", "\0a", 2, &skip), "UTF-16LE");
	CHECK_INT(skip, 0);
	CHECK_STR(find("text/html; Charset = \"Windows-1251\"", "<meta charset=koi8-r>"), "CP1251");
	CHECK_STR(find("text/html; charset=utf-7", "<META\ncharset='koi8-r'>"), "KOI8-R");
	CHECK_STR(find(NULL,
		       "<!doctype html><meta http-equiv=a content=\"text/html; charset=big5\">"),
		  "BIG5-HKSCS");
	CHECK_STR(find(NULL, "<?xml version='1.0' encoding='Shift_JIS'?>"), "CP932");
	CHECK_STR(find(NULL, "<meta charset=utf-16>"), "UTF-8");
	CHECK_STR(find(NULL, "<meta charset=x-user-defined>\xe9!"), "CP1252");
	CHECK_STR(find(NULL, "caf\xc3\xa9"), "UTF-8");
	CHECK_STR(find("text/html", "caf\xe9 <p>"), "CP1252");
	snprintf(far, sizeof far, "%1100s<meta charset=koi8-r>", "");
	CHECK_STR(find(NULL, far), "UTF-8");
	CHECK_STR(find(NULL, "<meta charset=a><meta charset"), "UTF-8");
}
