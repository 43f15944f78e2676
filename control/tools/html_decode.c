#include "control/tools/html_inside.h"

#include <string.h>

#include "proto/base/utf8.h"

/* Named character references that occur in prose. Others stay as they are. */
static const struct entity {
	const char *name;
	uint16_t code;
} entities[] = {
	{"amp", '&'},	    {"lt", '<'},	{"gt", '>'},	   {"quot", '"'},
	{"apos", '\''},	    {"nbsp", ' '},	{"iexcl", 0xa1},   {"cent", 0xa2},
	{"pound", 0xa3},    {"curren", 0xa4},	{"yen", 0xa5},	   {"brvbar", 0xa6},
	{"sect", 0xa7},	    {"uml", 0xa8},	{"copy", 0xa9},	   {"ordf", 0xaa},
	{"laquo", 0xab},    {"not", 0xac},	{"reg", 0xae},	   {"macr", 0xaf},
	{"deg", 0xb0},	    {"plusmn", 0xb1},	{"sup2", 0xb2},	   {"sup3", 0xb3},
	{"acute", 0xb4},    {"micro", 0xb5},	{"para", 0xb6},	   {"middot", 0xb7},
	{"cedil", 0xb8},    {"sup1", 0xb9},	{"ordm", 0xba},	   {"raquo", 0xbb},
	{"frac14", 0xbc},   {"frac12", 0xbd},	{"frac34", 0xbe},  {"iquest", 0xbf},
	{"Agrave", 0xc0},   {"Aacute", 0xc1},	{"Acirc", 0xc2},   {"Atilde", 0xc3},
	{"Auml", 0xc4},	    {"Aring", 0xc5},	{"AElig", 0xc6},   {"Ccedil", 0xc7},
	{"Egrave", 0xc8},   {"Eacute", 0xc9},	{"Ecirc", 0xca},   {"Euml", 0xcb},
	{"Igrave", 0xcc},   {"Iacute", 0xcd},	{"Icirc", 0xce},   {"Iuml", 0xcf},
	{"ETH", 0xd0},	    {"Ntilde", 0xd1},	{"Ograve", 0xd2},  {"Oacute", 0xd3},
	{"Ocirc", 0xd4},    {"Otilde", 0xd5},	{"Ouml", 0xd6},	   {"times", 0xd7},
	{"Oslash", 0xd8},   {"Ugrave", 0xd9},	{"Uacute", 0xda},  {"Ucirc", 0xdb},
	{"Uuml", 0xdc},	    {"Yacute", 0xdd},	{"THORN", 0xde},   {"szlig", 0xdf},
	{"agrave", 0xe0},   {"aacute", 0xe1},	{"acirc", 0xe2},   {"atilde", 0xe3},
	{"auml", 0xe4},	    {"aring", 0xe5},	{"aelig", 0xe6},   {"ccedil", 0xe7},
	{"egrave", 0xe8},   {"eacute", 0xe9},	{"ecirc", 0xea},   {"euml", 0xeb},
	{"igrave", 0xec},   {"iacute", 0xed},	{"icirc", 0xee},   {"iuml", 0xef},
	{"eth", 0xf0},	    {"ntilde", 0xf1},	{"ograve", 0xf2},  {"oacute", 0xf3},
	{"ocirc", 0xf4},    {"otilde", 0xf5},	{"ouml", 0xf6},	   {"divide", 0xf7},
	{"oslash", 0xf8},   {"ugrave", 0xf9},	{"uacute", 0xfa},  {"ucirc", 0xfb},
	{"uuml", 0xfc},	    {"yacute", 0xfd},	{"thorn", 0xfe},   {"yuml", 0xff},
	{"OElig", 0x152},   {"oelig", 0x153},	{"Scaron", 0x160}, {"scaron", 0x161},
	{"Yuml", 0x178},    {"ensp", ' '},	{"emsp", ' '},	   {"thinsp", ' '},
	{"ndash", 0x2013},  {"mdash", 0x2014},	{"lsquo", 0x2018}, {"rsquo", 0x2019},
	{"sbquo", 0x201a},  {"ldquo", 0x201c},	{"rdquo", 0x201d}, {"bdquo", 0x201e},
	{"dagger", 0x2020}, {"Dagger", 0x2021}, {"bull", 0x2022},  {"hellip", 0x2026},
	{"permil", 0x2030}, {"prime", 0x2032},	{"Prime", 0x2033}, {"lsaquo", 0x2039},
	{"rsaquo", 0x203a}, {"euro", 0x20ac},	{"trade", 0x2122}, {"larr", 0x2190},
	{"uarr", 0x2191},   {"rarr", 0x2192},	{"darr", 0x2193},  {"minus", 0x2212},
	{"infin", 0x221e},  {"asymp", 0x2248},	{"ne", 0x2260},	   {"le", 0x2264},
	{"ge", 0x2265},	    {"check", 0x2713},
};

/* Numeric references 128 to 159 mean windows-1252 (HTML 13.2.5.80). 0: none of that. */
static const uint16_t windows_1252[32] = {
	0x20ac, 0,	0x201a, 0x192,	0x201e, 0x2026, 0x2020, 0x2021, 0x2c6,	0x2030, 0x160,
	0x2039, 0x152,	0,	0x17d,	0,	0,	0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
	0x2013, 0x2014, 0x2dc,	0x2122, 0x161,	0x203a, 0x153,	0,	0x17e,	0x178,
};

static size_t write_code(char to[8], uint32_t c)
{
	if (c >= 0x80 && c < 0xa0)
		c = windows_1252[c - 0x80];
	return utf8_write(to, c ? c : 0xfffd);
}

static unsigned read_digit(char c, unsigned base)
{
	unsigned d = 99;

	if (c >= '0' && c <= '9')
		d = (unsigned)(c - '0');
	else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
		d = (unsigned)((c | 0x20) - 'a' + 10);
	return d < base ? d : 99;
}

/* "#233;" or "#xe9;"; the semicolon may be missing. */
static size_t decode_number(const char *p, size_t n, char to[8], size_t *len)
{
	unsigned base = n > 1 && (p[1] | 0x20) == 'x' ? 16 : 10;
	size_t i = base == 16 ? 2 : 1, start = i;
	uint32_t c = 0;

	while (i < n && read_digit(p[i], base) < base) {
		if (c <= 0x10ffff)
			c = c * base + read_digit(p[i], base);
		i++;
	}
	if (i == start)
		return 0;
	*len = write_code(to, c);
	return i < n && p[i] == ';' ? i + 1 : i;
}

size_t html_decode(const char *p, size_t n, char to[8], size_t *len)
{
	size_t i = 0;

	if (n && *p == '#')
		return decode_number(p, n, to, len);
	while (i < n && i < 8 &&
	       (read_digit(p[i], 10) < 10 || ((p[i] | 0x20) >= 'a' && (p[i] | 0x20) <= 'z')))
		i++;
	for (size_t k = 0; i > 1 && k < sizeof entities / sizeof *entities; k++) {
		const struct entity *e = &entities[k];
		size_t m = *e->name == *p ? strlen(e->name) : 0;

		/* The oldest ones need no semicolon. */
		if (m != i || memcmp(p, e->name, m) != 0 || (k > 5 && (i == n || p[i] != ';')))
			continue;
		*len = write_code(to, e->code);
		return i < n && p[i] == ';' ? i + 1 : i;
	}
	return 0;
}
