#include "control/store/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 1 << 20 };

static void add_bytes(struct scan *s, const void *p, size_t n)
{
	struct scan_needle *needle = &s->needle[s->n];

	if (s->n == SCAN_NEEDLES || !n)
		return;
	needle->n = n < sizeof needle->bytes ? n : sizeof needle->bytes;
	memcpy(needle->bytes, p, needle->n);
	s->n++;
}

void scan_add_text(struct scan *s, const char *text)
{
	add_bytes(s, text, strlen(text));
}

void scan_add_id(struct scan *s, uint64_t user)
{
	char text[24], big[8], little[8];

	snprintf(text, sizeof text, "%llu", (unsigned long long)user);
	scan_add_text(s, text);
	s->needle[s->n - 1].number = true;
	if (user >> 32 == 0)
		return;
	snprintf(text, sizeof text, "%llx", (unsigned long long)user);
	scan_add_text(s, text);
	for (unsigned i = 0; i < 8; i++) {
		little[i] = (char)(user >> 8 * i);
		big[7 - i] = little[i];
	}
	add_bytes(s, big, sizeof big);
	add_bytes(s, little, sizeof little);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static uint64_t count(const char *p, size_t len, size_t from, const struct scan_needle *needle)
{
	uint64_t hits = 0;
	const char *at = p + from;

	while ((at = memmem(at, len - (size_t)(at - p), needle->bytes, needle->n))) {
		const char *end = at + needle->n;

		hits += !needle->number ||
			!((at > p && is_digit(at[-1])) || (end < p + len && is_digit(*end)));
		at++;
	}
	return hits;
}

bool scan_holds(const struct scan *s, const char *text)
{
	for (unsigned i = 0; i < s->n; i++)
		if (count(text, strlen(text), 0, &s->needle[i]))
			return true;
	return false;
}

/* The end of the block before is kept, so that a needle on the border is found, once. */
static uint64_t count_new(const struct scan *s, const char *p, size_t kept, size_t len)
{
	uint64_t hits = 0;

	for (unsigned i = 0; i < s->n; i++) {
		size_t overlap = s->needle[i].n - 1;

		hits += count(p, len, kept > overlap ? kept - overlap : 0, &s->needle[i]);
	}
	return hits;
}

int scan_bytes(const struct scan *s, scan_read_h *h, void *arg, uint64_t *hits)
{
	char *p = malloc(BLOCK + SCAN_TEXT);
	size_t kept = 0, n = 1;
	int err = p ? 0 : ENOMEM;

	while (!err && n) {
		size_t len;

		err = h(p + kept, BLOCK, &n, arg);
		if (err || !n)
			break;
		len = kept + n;
		*hits += count_new(s, p, kept, len);
		kept = len < SCAN_TEXT ? len : SCAN_TEXT;
		memmove(p, p + len - kept, kept);
	}
	free(p);
	return err;
}

static int read_fd(void *buf, size_t n, size_t *got, void *arg)
{
	ssize_t r = read(*(const int *)arg, buf, n);

	*got = r > 0 ? (size_t)r : 0;
	return r < 0 ? errno : 0;
}

int scan_file(const struct scan *s, const char *path, uint64_t *hits)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), err;

	if (fd < 0)
		return errno == ENOENT ? 0 : errno;
	err = scan_bytes(s, read_fd, &fd, hits);
	close(fd);
	return err;
}
