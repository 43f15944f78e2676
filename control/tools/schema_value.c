#include "control/tools/schema_inside.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/utf8.h"

enum { POINTER_MAX = 96 };

bool schema_within_depth(const json_t *v, unsigned depth)
{
	const char *key;
	json_t *item;
	size_t i;

	if (!json_is_array(v) && !json_is_object(v))
		return true;
	if (!depth)
		return false;
	json_array_foreach(v, i, item) if (!schema_within_depth(item, depth - 1)) return false;
	json_object_foreach((json_t *)v, key,
			    item) if (!schema_within_depth(item, depth - 1)) return false;
	return true;
}

/* ---- numbers ---- */
static int compare_int(json_int_t i, double r)
{
	json_int_t whole;

	if (r >= 9223372036854775808.0)
		return -1;
	if (r < -9223372036854775808.0)
		return 1;
	whole = (json_int_t)r;
	if (i != whole)
		return i < whole ? -1 : 1;
	return r > (double)whole ? -1 : r < (double)whole;
}

int schema_compare(const json_t *a, const json_t *b)
{
	double x, y;

	if (json_is_integer(a) && json_is_integer(b)) {
		json_int_t m = json_integer_value(a), n = json_integer_value(b);

		return m < n ? -1 : m > n;
	}
	if (json_is_integer(a))
		return compare_int(json_integer_value(a), json_real_value(b));
	if (json_is_integer(b))
		return -compare_int(json_integer_value(b), json_real_value(a));
	x = json_real_value(a);
	y = json_real_value(b);
	return x < y ? -1 : x > y;
}

bool schema_is_integer(const json_t *v)
{
	return json_is_integer(v) ||
	       (json_is_real(v) && trunc(json_real_value(v)) == json_real_value(v));
}

/* Of reals the quotient may differ from a whole number by its own rounding: 0.0075 is a multiple of
 * 0.0001. */
bool schema_is_multiple(const json_t *v, const json_t *divisor)
{
	double q;

	if (json_is_integer(v) && json_is_integer(divisor))
		return json_integer_value(v) % json_integer_value(divisor) == 0;
	q = json_number_value(v) / json_number_value(divisor);
	return isfinite(q) && fabs(q - nearbyint(q)) <= 4 * DBL_EPSILON * fabs(q);
}

size_t schema_count_chars(const json_t *string)
{
	const char *p = json_string_value(string);
	size_t n = json_string_length(string), chars = 0;

	for (size_t i = 0; i < n; i++)
		chars += ((unsigned char)p[i] & 0xc0) != 0x80;
	return chars;
}

/* ---- equality ---- */
static bool equal_texts(const json_t *a, const json_t *b)
{
	size_t n = json_string_length(a);

	return n == json_string_length(b) &&
	       memcmp(json_string_value(a), json_string_value(b), n) == 0;
}

bool schema_equal(const json_t *a, const json_t *b, unsigned *steps)
{
	const char *key;
	json_t *item;
	size_t i;

	if (!*steps)
		return false;
	--*steps;
	if (json_is_number(a) && json_is_number(b))
		return schema_compare(a, b) == 0;
	if (json_typeof(a) != json_typeof(b))
		return false;
	if (json_is_string(a))
		return equal_texts(a, b);
	if (json_is_array(a)) {
		if (json_array_size(a) != json_array_size(b))
			return false;
		json_array_foreach(a, i, item) if (!schema_equal(item, json_array_get(b, i),
								 steps)) return false;
		return true;
	}
	if (!json_is_object(a))
		return true;
	if (json_object_size(a) != json_object_size(b))
		return false;
	json_object_foreach((json_t *)a, key, item)
	{
		const json_t *other = json_object_get(b, key);

		if (!other || !schema_equal(item, other, steps))
			return false;
	}
	return true;
}

/* ---- sentences ---- */
/* Writes the pointer's last tokens when it is long: the end says most. */
static void write_pointer(char *to, size_t size, const struct schema_place *at)
{
	char token[48], whole[POINTER_MAX + sizeof token + 2] = "", *rest;
	size_t n = 0;

	for (; at && at->parent; at = at->parent) {
		if (at->key)
			utf8_copy(token, sizeof token, at->key);
		else
			snprintf(token, sizeof token, "%zu", at->index);
		utf8_plain(token);
		n = strlen(token) + 1;
		if (strlen(whole) + n > POINTER_MAX) {
			snprintf(token, sizeof token, "...");
			at = NULL;
			n = 3;
		}
		rest = whole + n;
		memmove(rest, whole, strlen(whole) + 1);
		if (at)
			*whole = '/';
		memcpy(whole + (at ? 1 : 0), token, at ? n - 1 : n);
		if (!at)
			break;
	}
	utf8_copy(to, size, whole);
}

void schema_say(char *to, size_t size, const char *what, const struct schema_place *at,
		const char *fmt, ...)
{
	char text[SCHEMA_WHY_MAX], whole[SCHEMA_WHY_MAX + POINTER_MAX + 64],
		pointer[POINTER_MAX + 8];
	va_list ap;

	if (!size)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	write_pointer(pointer, sizeof pointer, at);
	if (*pointer)
		snprintf(whole, sizeof whole, "%s at \"%s\" %s.", what, pointer, text);
	else
		snprintf(whole, sizeof whole, "%s %s.", what, text);
	utf8_mend(whole);
	utf8_copy(to, size, whole);
}

/* Ends a text that was cut at a whole character. */
static const char *shorten(char *to, size_t size, size_t n)
{
	utf8_plain(to);
	if (n >= size)
		memcpy(to + utf8_whole(to, strnlen(to, size - 4)), "...", 4);
	return to;
}

const char *schema_quote_text(char *to, size_t size, const char *text)
{
	utf8_copy(to, size, text);
	return shorten(to, size, strlen(text));
}

const char *schema_quote(char *to, size_t size, const json_t *v)
{
	size_t n;

	/* json_dumpb leaves the rest as it was when the text does not fit. */
	memset(to, 0, size);
	n = json_dumpb(v, to, size - 1, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
	return shorten(to, size, n + 1);
}
