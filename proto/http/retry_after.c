#include "proto/http/retry_after.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define TOLD ", retry after "

static bool is_digit(char ch)
{
	return ch >= '0' && ch <= '9';
}

static uint32_t limit_ms(double ms)
{
	return ms < 1 ? 0 : ms > RETRY_AFTER_MAX_MS ? RETRY_AFTER_MAX_MS : (uint32_t)ms;
}

/* A decimal number, with or without a fraction, and nothing else. -1: it is not one. */
static double read_decimal(const char *s)
{
	double v = 0, place = 1;
	const char *p = s;

	for (; is_digit(*p); p++)
		v = v * 10 + (*p - '0');
	if (p == s)
		return -1;
	if (*p == '.')
		for (p++; is_digit(*p); p++)
			v += (*p - '0') * (place /= 10);
	return *p ? -1 : v;
}

/* Days since 1970-01-01 in the Gregorian calendar. */
static int64_t days_of(int64_t year, unsigned month, unsigned day)
{
	int64_t y = year - (month <= 2), era = y / 400;
	unsigned of_era = (unsigned)(y - era * 400);
	unsigned of_year = (153 * (month + (month > 2 ? -3u : 9u)) + 2) / 5 + day - 1;

	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* "Sun, 06 Nov 1994 08:49:37 GMT", the only form that servers may send (RFC 9110 section 5.6.7):
 * seconds since 1970. -1: another form. */
static int64_t read_date(const char *s)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	static const char shape[] = "aaa, dd aaa dddd dd:dd:dd GMT";
	const char *month;
	static const unsigned char at[5][2] = {{5, 2}, {12, 4}, {17, 2}, {20, 2}, {23, 2}};
	unsigned n[5];

	if (strlen(s) != sizeof shape - 1)
		return -1;
	for (size_t i = 0; shape[i]; i++)
		if (shape[i] == 'd' ? !is_digit(s[i]) : shape[i] != 'a' && shape[i] != s[i])
			return -1;
	for (size_t i = 0; i < 5; i++) {
		n[i] = 0;
		for (size_t k = 0; k < at[i][1]; k++)
			n[i] = n[i] * 10 + (unsigned)(s[at[i][0] + k] - '0');
	}
	month = memmem(months, sizeof months - 1, s + 8, 3);
	if (!month || (month - months) % 3)
		return -1;
	return days_of(n[1], (unsigned)(month - months) / 3 + 1, n[0]) * 86400 + n[2] * 3600 +
	       n[3] * 60 + n[4];
}

uint32_t retry_after_read(const struct retry_after_fields *f)
{
	double ms = read_decimal(f->after_ms), seconds = read_decimal(f->after);
	int64_t at, now;

	if (ms >= 0)
		return limit_ms(ms);
	if (seconds >= 0)
		return limit_ms(seconds * 1000);
	at = read_date(f->after);
	now = read_date(f->date);
	return at < 0 || now < 0 || at <= now ? 0 : limit_ms((double)(at - now) * 1000);
}

void retry_after_print(uint32_t ms, char buf[RETRY_AFTER_TEXT_MAX])
{
	buf[0] = '\0';
	if (ms)
		snprintf(buf, RETRY_AFTER_TEXT_MAX, TOLD "%u ms", ms);
}

uint32_t retry_after_told(const char *why, size_t n)
{
	static const char unit[] = " ms";
	const char *p = n ? memmem(why, n, TOLD, sizeof TOLD - 1) : NULL, *end = why + n;
	uint32_t ms = 0;

	if (!p)
		return 0;
	for (p += sizeof TOLD - 1; p < end && is_digit(*p); p++)
		if (ms < RETRY_AFTER_MAX_MS)
			ms = ms * 10 + (uint32_t)(*p - '0');
	if ((size_t)(end - p) < sizeof unit - 1 || memcmp(p, unit, sizeof unit - 1) != 0)
		return 0;
	return ms < RETRY_AFTER_MAX_MS ? ms : RETRY_AFTER_MAX_MS;
}
