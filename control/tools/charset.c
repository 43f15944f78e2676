#include "control/tools/charset.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "proto/base/utf8.h"

enum { HEAD_MAX = 1024, LABEL_MAX = 24 };

/* Labels of the Encoding Standard that pages use, and iconv's name. As there, ISO 8859-1 means
 * windows-1252. */
static const struct label {
	const char *label, *name;
} labels[] = {
	{"utf-8", "UTF-8"},
	{"utf8", "UTF-8"},
	{"us-ascii", "CP1252"},
	{"ascii", "CP1252"},
	{"iso-8859-1", "CP1252"},
	{"iso8859-1", "CP1252"},
	{"latin1", "CP1252"},
	{"windows-1252", "CP1252"},
	{"cp1252", "CP1252"},
	{"iso-8859-2", "ISO-8859-2"},
	{"latin2", "ISO-8859-2"},
	{"iso-8859-3", "ISO-8859-3"},
	{"iso-8859-4", "ISO-8859-4"},
	{"iso-8859-5", "ISO-8859-5"},
	{"iso-8859-6", "ISO-8859-6"},
	{"iso-8859-7", "ISO-8859-7"},
	{"iso-8859-8", "ISO-8859-8"},
	{"iso-8859-9", "CP1254"},
	{"iso-8859-10", "ISO-8859-10"},
	{"iso-8859-13", "ISO-8859-13"},
	{"iso-8859-14", "ISO-8859-14"},
	{"iso-8859-15", "ISO-8859-15"},
	{"iso-8859-16", "ISO-8859-16"},
	{"windows-1250", "CP1250"},
	{"windows-1251", "CP1251"},
	{"cp1251", "CP1251"},
	{"windows-1253", "CP1253"},
	{"windows-1254", "CP1254"},
	{"windows-1255", "CP1255"},
	{"windows-1256", "CP1256"},
	{"windows-1257", "CP1257"},
	{"windows-1258", "CP1258"},
	{"koi8-r", "KOI8-R"},
	{"koi8-u", "KOI8-U"},
	{"shift_jis", "CP932"},
	{"sjis", "CP932"},
	{"windows-31j", "CP932"},
	{"euc-jp", "EUC-JP"},
	{"euc-kr", "CP949"},
	{"ks_c_5601-1987", "CP949"},
	{"gb2312", "GB18030"},
	{"gbk", "GB18030"},
	{"gb18030", "GB18030"},
	{"big5", "BIG5-HKSCS"},
	{"utf-16", "UTF-16LE"},
	{"utf-16le", "UTF-16LE"},
	{"utf-16be", "UTF-16BE"},
};

static const char *find_label(const char *p, size_t n)
{
	for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
		if (strlen(labels[i].label) == n && strncasecmp(labels[i].label, p, n) == 0)
			return labels[i].name;
	return NULL;
}

/* ---- media types ---- */
static bool ends_with(const char *p, size_t n, const char *end)
{
	size_t m = strlen(end);

	return n >= m && strncasecmp(p + n - m, end, m) == 0;
}

static bool is_type(const char *p, size_t n, const char *type)
{
	return n == strlen(type) && strncasecmp(p, type, n) == 0;
}

enum page_form charset_form(const char *content_type, const char *body, size_t n)
{
	const char *type = content_type ? content_type + strspn(content_type, " \t") : "";
	size_t len = strcspn(type, "; \t,");

	if (!len) {
		size_t i = 0;

		while (i < n && strchr(" \t\r\n\xef\xbb\xbf", body[i]) && body[i])
			i++;
		if (memchr(body, '\0', n < HEAD_MAX ? n : HEAD_MAX))
			return PAGE_OTHER;
		return i < n && body[i] == '<' ? PAGE_HTML : PAGE_TEXT;
	}
	if (is_type(type, len, "text/html") || is_type(type, len, "application/xhtml+xml"))
		return PAGE_HTML;
	if (strncasecmp(type, "text/", 5) == 0 || is_type(type, len, "application/json") ||
	    is_type(type, len, "application/xml") || ends_with(type, len, "+json") ||
	    ends_with(type, len, "+xml"))
		return PAGE_TEXT;
	return PAGE_OTHER;
}

/* ---- character sets ---- */
/* Reads `= "name"` behind the word charset or encoding. NULL: no label of the list. */
static const char *read_label(const char *p, const char *end)
{
	const char *start;
	size_t n = 0;

	while (p < end && strchr(" \t\r\n", *p) && *p)
		p++;
	if (p == end || *p++ != '=')
		return NULL;
	while (p < end && strchr(" \t\r\n\"'", *p) && *p)
		p++;
	for (start = p; p < end && n < LABEL_MAX; p++, n++)
		if (!*p || strchr(" \t\r\n\"';,>/?", *p))
			break;
	return find_label(start, n);
}

/* Finds the word and reads the label behind it. */
static const char *find_after(const char *p, const char *end, const char *word)
{
	size_t n = strlen(word);

	for (; (size_t)(end - p) > n; p++)
		if (strncasecmp(p, word, n) == 0) {
			const char *name = read_label(p + n, end);

			if (name)
				return name;
		}
	return NULL;
}

/* In a meta element, or in the declaration of XML. */
static const char *find_in_head(const char *body, size_t n)
{
	const char *end = body + (n < HEAD_MAX ? n : HEAD_MAX), *p = body, *stop, *name = NULL;

	if ((size_t)(end - body) > 5 && strncasecmp(body, "<?xml", 5) == 0) {
		stop = memchr(body, '>', (size_t)(end - body));
		name = find_after(body, stop ? stop : end, "encoding");
	}
	while (!name && (p = memchr(p, '<', (size_t)(end - p)))) {
		if (end - p > 5 && strncasecmp(p, "<meta", 5) == 0) {
			stop = memchr(p, '>', (size_t)(end - p));
			name = find_after(p + 5, stop ? stop : end, "charset");
		}
		p++;
	}
	/* Bytes that could be read as ASCII up to here are no UTF-16. */
	return name && strncmp(name, "UTF-16", 6) == 0 ? "UTF-8" : name;
}

static const char *find_mark(const char *body, size_t n, size_t *skip)
{
	*skip = 0;
	if (n >= 3 && memcmp(body, "\xef\xbb\xbf", 3) == 0) {
		*skip = 3;
		return "UTF-8";
	}
	if (n >= 2 && (memcmp(body, "\xff\xfe", 2) == 0 || memcmp(body, "\xfe\xff", 2) == 0)) {
		*skip = 2;
		return *body == '\xff' ? "UTF-16LE" : "UTF-16BE";
	}
	return NULL;
}

/* True if the first bytes are well-formed UTF-8. */
static bool looks_utf8(const char *body, size_t n)
{
	char head[4 * HEAD_MAX + 1];
	size_t whole;

	n = n < sizeof head - 1 ? n : sizeof head - 1;
	whole = utf8_whole(body, n);
	memcpy(head, body, whole);
	for (size_t i = 0; i < whole; i++)
		head[i] = head[i] ? head[i] : ' ';
	head[whole] = '\0';
	return utf8_valid(head);
}

const char *charset_find(const char *content_type, const char *body, size_t n, size_t *skip)
{
	const char *name = find_mark(body, n, skip);

	if (!name && content_type)
		name = find_after(content_type, content_type + strlen(content_type), "charset");
	if (!name)
		name = find_in_head(body, n);
	if (!name)
		name = looks_utf8(body, n) ? "UTF-8" : "CP1252";
	return name;
}
