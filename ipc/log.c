#include "ipc/log.h"
#include "ipc/log_pairs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/time.h"
#include "proto/base/utf8.h"

enum { LINE_MAX_ = 4096, TEXT_MAX = 3072, FMT_MAX = 512, SECRET_MIN = 6 };
enum { KEYS_MAX = 96, KEYS_KEPT = 64 /* never give way */, LEASES_MAX = 256 };
enum { CUT_MARGIN = 64 };   /* longer than the bytes by which a secret is known */
enum { SECRET_KNOWN = 12 }; /* bytes, by which a key is known where a value was cut */
/* Marks for the structural bytes of a line that come from the format string and not from a value.
 */
enum { BLANK = 0x1f, EQUALS = 0x1e, QUOTE = 0x1d };
enum {
	OF_A_VALUE = 0x1a,
	OTHER = 0x1c
}; /* a value's byte that would be taken for one of these; any byte but those */

static const struct {
	const char *name, *colour;
} levels[] = {
	[LOG_FATAL_] = {"fatal", "\033[1;31m"}, [LOG_WARN_] = {"warn", "\033[33m"},
	[LOG_INFO_] = {"info", "\033[32m"},	[LOG_DEBUG_] = {"debug", "\033[36m"},
	[LOG_TRACE_] = {"trace", "\033[2m"},
};
enum { N_LEVELS = sizeof levels / sizeof *levels };

static struct {
	char process[32];
	_Atomic(enum log_level) level;
	_Atomic bool json;
	bool colour;
} conf = {.process = "parley", .level = LOG_INFO_};

/* The first `kept` of a list stay; of those that follow the oldest gives way. */
struct secret_list {
	char **text;
	unsigned n, max, kept;
};
static char *key_text[KEYS_MAX];
/* A lease is known by keyed hashes of its first bytes and of all of it, so that it need not stay in
 * memory. */
struct lease {
	uint64_t begin, whole;
	size_t n;
};
static struct {
	pthread_mutex_t lock;
	struct secret_list keys;
	struct lease lease[LEASES_MAX]; /* a ring */
	unsigned n_leases;
	uint8_t hash_key[crypto_shorthash_KEYBYTES];
} secrets = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.keys = {.text = key_text, .max = KEYS_MAX, .kept = KEYS_KEPT},
};

/* Lines on their way to the thread that writes them; bytes [head, tail) of a ring. */
enum { RING = 256 << 10, STOP_S = 2 };
static struct {
	pthread_mutex_t lock;
	pthread_cond_t more, empty;
	pthread_t thread;
	void (*begin)(void);
	bool running, quit, writing;
	size_t head, tail;
	unsigned long dropped;
	char *ring;
} writer = {.lock = PTHREAD_MUTEX_INITIALIZER,
	    .more = PTHREAD_COND_INITIALIZER,
	    .empty = PTHREAD_COND_INITIALIZER};

/* A line under construction; it is truncated to its buffer. */
struct line {
	char text[LINE_MAX_];
	size_t n;
};

/* Otherwise the next socket would be stderr, and its peer would read our log. */
static void fill_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0)
			return;
}

void log_init(const char *process, enum log_level level)
{
	const char *no_color = getenv("NO_COLOR");

	fill_standard_descriptors();
	snprintf(conf.process, sizeof conf.process, "%s", process);
	conf.level = level;
	conf.colour = isatty(STDERR_FILENO) && !(no_color && *no_color);
}

void log_set_level(enum log_level level)
{
	conf.level = level;
}

void log_set_json(bool on)
{
	conf.json = on;
}

bool log_level_parse(const char *name, enum log_level *out)
{
	for (unsigned i = 0; name && i < N_LEVELS; i++) {
		if (strcmp(levels[i].name, name) == 0) {
			*out = (enum log_level)i;
			return true;
		}
	}
	return false;
}

static bool list_holds(const struct secret_list *l, const char *value)
{
	for (unsigned i = 0; i < l->n; i++)
		if (strcmp(l->text[i], value) == 0)
			return true;
	return false;
}

static void add_secret(struct secret_list *l, const char *value)
{
	char *copy;

	if (!value || strlen(value) < SECRET_MIN)
		return;
	pthread_mutex_lock(&secrets.lock);
	copy = list_holds(l, value) ? NULL : strdup(value);
	if (copy && l->n == l->max) {
		free(l->text[l->kept]);
		memmove(l->text + l->kept, l->text + l->kept + 1,
			(l->max - l->kept - 1) * sizeof *l->text);
		l->n--;
	}
	if (copy)
		l->text[l->n++] = copy;
	pthread_mutex_unlock(&secrets.lock);
}

void log_secret(const char *value)
{
	add_secret(&secrets.keys, value);
}

static uint64_t hash_bytes(const char *p, size_t n)
{
	uint64_t h = 0;

	_Static_assert(sizeof h == crypto_shorthash_BYTES, "one number");
	crypto_shorthash((unsigned char *)&h, (const unsigned char *)p, n, secrets.hash_key);
	return h;
}

/* With the lock. */
static struct lease hash_lease(const char *value)
{
	struct lease l = {.n = value ? strlen(value) : 0};

	if (l.n < SECRET_MIN)
		return (struct lease){0};
	l.begin = hash_bytes(value, SECRET_MIN);
	l.whole = hash_bytes(value, l.n);
	return l;
}

/* With the lock. NULL: it is not known. */
static struct lease *find_lease(const struct lease *l)
{
	for (unsigned i = 0; i < secrets.n_leases && i < LEASES_MAX; i++)
		if (l->n && secrets.lease[i].whole == l->whole && secrets.lease[i].n == l->n)
			return &secrets.lease[i];
	return NULL;
}

void log_lease_again(const char *old, const char *value)
{
	struct lease before, l, *place;

	pthread_mutex_lock(&secrets.lock);
	if (!secrets.n_leases)
		crypto_shorthash_keygen(secrets.hash_key);
	before = hash_lease(old);
	l = hash_lease(value);
	place = find_lease(&before);
	if (l.n && !find_lease(&l)) {
		if (!place)
			place = &secrets.lease[secrets.n_leases++ % LEASES_MAX];
		*place = l;
	}
	pthread_mutex_unlock(&secrets.lock);
}

void log_lease(const char *value)
{
	log_lease_again(NULL, value);
}

/* Returns the length of the secret's part that stands at p. */
static size_t shown_of(const char *secret, const char *p)
{
	size_t n = 0;

	while (secret[n] && secret[n] == p[n])
		n++;
	return n;
}

/* Wherever the first `known` bytes of a secret stand, with all of it that follows. */
static void redact_list(const struct secret_list *l, size_t known, char *text)
{
	for (unsigned i = 0; i < l->n; i++) {
		char begins[SECRET_KNOWN + 1], *p = text;
		const char *secret = l->text[i];

		snprintf(begins, sizeof begins, "%s", secret);
		while ((p = strstr(p, known < strlen(secret) ? begins : secret))) {
			size_t n = shown_of(secret, p);

			memcpy(p, "***", 3);
			memmove(p + 3, p + n, strlen(p + n) + 1);
			p += 3;
		}
	}
}

/* The length of the lease that stands at p; 0: none does. In a line that was cut, a lease longer
 * than the rest is known by its beginning. */
static size_t lease_at(const char *p, size_t n, bool cut)
{
	uint64_t begin = n < SECRET_MIN ? 0 : hash_bytes(p, SECRET_MIN);

	for (unsigned i = 0; n >= SECRET_MIN && i < secrets.n_leases && i < LEASES_MAX; i++) {
		const struct lease *l = &secrets.lease[i];

		if (l->begin != begin)
			continue;
		if (l->n <= n ? l->whole == hash_bytes(p, l->n) : cut)
			return l->n <= n ? l->n : n;
	}
	return 0;
}

static void redact_leases(char *text, bool cut)
{
	size_t left = secrets.n_leases ? strlen(text) : 0;

	for (char *p = text; left; p++, left--) {
		size_t n = lease_at(p, left, cut);

		if (!n)
			continue;
		memcpy(p, "***", 3);
		memmove(p + 3, p + n, left - n + 1);
		p += 2;
		left -= n - 1;
	}
}

/* Replaces every secret in place. */
static void redact(char *text, bool cut)
{
	pthread_mutex_lock(&secrets.lock);
	redact_list(&secrets.keys, SIZE_MAX, text);
	redact_list(&secrets.keys, SECRET_KNOWN, text);
	redact_leases(text, cut);
	pthread_mutex_unlock(&secrets.lock);
}

static void put(struct line *l, const char *s, size_t n)
{
	size_t room = sizeof l->text - 1 - l->n; /* one byte stays for the newline */

	if (n > room)
		n = room;
	memcpy(l->text + l->n, s, n);
	l->n += n;
}

static void puts_(struct line *l, const char *s)
{
	put(l, s, strlen(s));
}

/* C0, DEL, and the two bytes of C1 (U+0080 to U+009F), which terminals obey as well. */
static bool is_control(const char *s, size_t i, size_t n)
{
	const unsigned char *c = (const unsigned char *)s;

	if (c[i] == 0xc2)
		return i + 1 < n && c[i + 1] >= 0x80 && c[i + 1] <= 0x9f;
	if (c[i] >= 0x80 && c[i] <= 0x9f)
		return i && c[i - 1] == 0xc2;
	return c[i] < 0x20 || c[i] == 0x7f;
}

/* Escapes control bytes, and quotes and backslashes when inside quotes. */
static void put_escaped(struct line *l, const char *s, size_t n, bool quoted)
{
	char hex[8];

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c == BLANK || c == EQUALS) {
			put(l, c == BLANK ? " " : "=", 1);
		} else if (c == QUOTE) {
			continue; /* what it stands around is quoted below */
		} else if (is_control(s, i, n)) {
			snprintf(hex, sizeof hex, c == '\n' ? "\\n" : "\\x%02x", c);
			puts_(l, hex);
		} else {
			if (quoted && (c == '"' || c == '\\'))
				put(l, "\\", 1);
			put(l, s + i, 1);
		}
	}
}

/* key=value, the value quoted when the format quotes it or it could be taken for more than one
 * word. */
static void put_pair(struct line *l, const char *s, size_t n)
{
	const char *eq = memchr(s, EQUALS, n);
	size_t key = eq ? (size_t)(eq - s) + 1 : 0;
	bool quote = eq && key == n;

	for (size_t i = key; eq && i < n && !quote; i++)
		quote = strchr(" \"", s[i]) || s[i] == BLANK || s[i] == QUOTE;
	put(l, " ", 1);
	put_escaped(l, s, key, false);
	if (quote)
		put(l, "\"", 1);
	put_escaped(l, s + key, n - key, quote);
	if (quote)
		put(l, "\"", 1);
}

/* True when a piece opens a new pair: an identifier, then the format's '='. */
static bool opens_pair(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && (isalnum((unsigned char)s[i]) || s[i] == '_' || s[i] == '.'))
		i++;
	return i > 0 && i < n && s[i] == EQUALS;
}

/* ---- JSON ---- */

/* What closes the strings and objects of a line that is cut. */
enum { JSON_END = 8 };

static bool has_room(const struct line *l, size_t n)
{
	return sizeof l->text - 1 - l->n >= n + JSON_END;
}

/* Bytes of the character at s, whose text is UTF-8. */
static size_t character_at(const char *s)
{
	unsigned char c = (unsigned char)*s;

	return c < 0xc0 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

/* A piece of a string, or as much of it as there is room for. */
static void put_json_text(struct line *l, const char *s, size_t n)
{
	char escaped[8];
	size_t length;

	for (size_t i = 0; i < n && has_room(l, sizeof escaped); i += length) {
		unsigned char c = (unsigned char)s[i];

		length = character_at(s + i);
		if (c == BLANK || c == EQUALS) {
			put(l, c == BLANK ? " " : "=", 1);
		} else if (c == QUOTE) {
			continue;
		} else if (is_control(s, i, n)) {
			/* Of two bytes the second one is its number. */
			snprintf(escaped, sizeof escaped, "\\u%04x",
				 (unsigned char)s[i + length - 1]);
			puts_(l, escaped);
		} else {
			if (c == '"' || c == '\\')
				put(l, "\\", 1);
			put(l, s + i, length);
		}
	}
}

/* `"key":"value"`, or nothing where there is no room for the key. A text without a key is "text".
 */
static void put_json_pair(struct line *l, const char *s, size_t n)
{
	const char *eq = memchr(s, EQUALS, n);
	size_t key = eq ? (size_t)(eq - s) : 0;

	if (!has_room(l, key + 16))
		return;
	if (l->text[l->n - 1] != '{')
		put(l, ",", 1);
	put(l, "\"", 1);
	if (eq)
		put_json_text(l, s, key);
	else
		puts_(l, "text");
	puts_(l, "\":\"");
	put_json_text(l, s + (eq ? key + 1 : 0), n - (eq ? key + 1 : 0));
	put(l, "\"", 1);
}

/* Splits at the format's blanks; pieces that open no pair, or stand in the format's quotes, belong
 * to the value before them. */
static void put_pairs(struct line *l, const char *text,
		      void (*put_one)(struct line *l, const char *s, size_t n))
{
	const char *start = text;
	bool quoted = false;

	for (const char *p = text; *p; p++) {
		quoted ^= *p == QUOTE;
		if (*p != BLANK || quoted || !opens_pair(p + 1, strlen(p + 1)))
			continue;
		put_one(l, start, (size_t)(p - start));
		start = p + 1;
	}
	if (*start)
		put_one(l, start, strlen(start));
}

/* Prints with the format's own blanks, '=' and quotes marked: twice, with other marks the second
 * time, for where the two differ the byte is the format's. */
static bool print_marked(char *text, const char *fmt, va_list ap)
{
	static const char chars[] = {' ', '=', '"'}, marks[] = {BLANK, EQUALS, QUOTE};
	char other[TEXT_MAX], marked[2][FMT_MAX];
	size_t n = 0;
	va_list again;
	bool cut;

	for (; n < FMT_MAX - 1 && fmt[n]; n++) {
		const char *at = memchr(chars, fmt[n], sizeof marks);

		marked[0][n] = at ? marks[at - chars] : fmt[n];
		marked[1][n] = at ? (char)OTHER : fmt[n];
	}
	marked[0][n] = marked[1][n] = '\0';
	va_copy(again, ap);
	cut = vsnprintf(text, TEXT_MAX, marked[0], ap) >= TEXT_MAX;
	vsnprintf(other, sizeof other, marked[1], again);
	va_end(again);
	for (size_t i = 0; text[i]; i++)
		if (text[i] == other[i] && memchr(marks, text[i], sizeof marks))
			text[i] = OF_A_VALUE;
	return cut;
}

/* The only direct reading of the wall clock: it only labels the line. */
static void put_time(struct line *l)
{
	struct timespec ts;
	struct tm tm;
	char buf[40];
	size_t n;

	clock_gettime(CLOCK_REALTIME, &ts);
	gmtime_r(&ts.tv_sec, &tm);
	n = strftime(buf, sizeof buf, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(buf + n, sizeof buf - n, ".%03dZ", (int)((uint64_t)ts.tv_nsec / NS_PER_MS));
	puts_(l, buf);
}

/* ---- the thread that writes ---- */

/* False: there is none, or the line is not to wait. */
static bool write_later(const char *text, size_t n)
{
	bool taken;

	pthread_mutex_lock(&writer.lock);
	taken = writer.running;
	if (taken && n > RING - (writer.tail - writer.head)) {
		writer.dropped++;
	} else if (taken) {
		for (size_t i = 0; i < n; i++)
			writer.ring[(writer.tail + i) % RING] = text[i];
		writer.tail += n;
		pthread_cond_signal(&writer.more);
	}
	pthread_mutex_unlock(&writer.lock);
	return taken;
}

static void wait_until_written(void)
{
	pthread_mutex_lock(&writer.lock);
	while (writer.running && (writer.writing || writer.head != writer.tail))
		pthread_cond_wait(&writer.empty, &writer.lock);
	pthread_mutex_unlock(&writer.lock);
}

/* Without the lock, which the caller holds. Whole lines only, so that those of other processes do
 * not stand inside them. */
static void write_ring(void)
{
	static char buf[16 << 10];
	size_t n = writer.tail - writer.head;

	n = n < sizeof buf ? n : sizeof buf;
	for (size_t i = 0; i < n; i++)
		buf[i] = writer.ring[(writer.head + i) % RING];
	while (buf[n - 1] != '\n')
		n--;
	writer.head += n;
	writer.writing = true;
	pthread_mutex_unlock(&writer.lock);
	(void)!write(STDERR_FILENO, buf, n);
	pthread_mutex_lock(&writer.lock);
	writer.writing = false;
}

static void tell_dropped(void)
{
	unsigned long n = writer.dropped;

	writer.dropped = 0;
	pthread_mutex_unlock(&writer.lock);
	log_warn("log_lines_dropped", "count=%lu", n);
	pthread_mutex_lock(&writer.lock);
}

static void *writer_main(void *arg)
{
	(void)arg;
	pthread_setname_np(pthread_self(), "log");
	if (writer.begin)
		writer.begin();
	pthread_mutex_lock(&writer.lock);
	writer.running = true;
	pthread_cond_broadcast(&writer.empty);
	while (!writer.quit || writer.head != writer.tail) {
		if (writer.head != writer.tail) {
			write_ring();
		} else if (writer.dropped) {
			tell_dropped();
		} else {
			pthread_cond_broadcast(&writer.empty);
			pthread_cond_wait(&writer.more, &writer.lock);
		}
	}
	writer.running = false;
	pthread_cond_broadcast(&writer.empty);
	pthread_mutex_unlock(&writer.lock);
	return NULL;
}

int log_start_writer(void (*begin)(void))
{
	sigset_t all, old;
	int err;

	if (writer.running)
		return 0;
	writer.ring = malloc(RING);
	if (!writer.ring)
		return ENOMEM;
	writer.head = writer.tail = 0;
	writer.quit = false;
	writer.begin = begin;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&writer.thread, NULL, writer_main, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err) {
		free(writer.ring);
		writer.ring = NULL;
		return err;
	}
	pthread_mutex_lock(&writer.lock);
	while (!writer.running)
		pthread_cond_wait(&writer.empty, &writer.lock);
	pthread_mutex_unlock(&writer.lock);
	return 0;
}

/* Whoever reads the log may have stopped for good, which must not keep the process. */
void log_stop_writer(void)
{
	struct timespec until;

	if (!writer.ring)
		return;
	pthread_mutex_lock(&writer.lock);
	writer.quit = true;
	pthread_cond_signal(&writer.more);
	pthread_mutex_unlock(&writer.lock);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += STOP_S;
	if (pthread_timedjoin_np(writer.thread, NULL, &until))
		return;
	free(writer.ring);
	writer.ring = NULL;
}

static void put_plain_line(struct line *l, enum log_level level, const char *event,
			   const char *text)
{
	put_time(l);
	put(l, " ", 1);
	if (conf.colour)
		puts_(l, levels[level].colour);
	puts_(l, levels[level].name);
	if (conf.colour)
		puts_(l, "\033[0m");
	put(l, " ", 1);
	puts_(l, conf.process);
	put(l, " ", 1);
	puts_(l, event);
	put_pairs(l, text, put_pair);
}

static void put_json_line(struct line *l, enum log_level level, const char *event, char *text)
{
	utf8_mend(text);
	puts_(l, "{\"time\":\"");
	put_time(l);
	puts_(l, "\",\"level\":\"");
	puts_(l, levels[level].name);
	puts_(l, "\",\"process\":\"");
	puts_(l, conf.process);
	puts_(l, "\",\"event\":\"");
	put_json_text(l, event, strlen(event));
	puts_(l, "\",\"fields\":{");
	put_pairs(l, text, put_json_pair);
	puts_(l, "}}");
}

/* The text's blanks, '=' and quotes are marked. Truncation may have left the first part of a secret
 * at the end, where it is not recognised. */
static void write_marked(enum log_level level, const char *event, char text[TEXT_MAX], bool cut)
{
	struct line l;
	size_t n;

	l.n = 0;
	redact(text, cut);
	n = strlen(text);
	if (cut)
		strcpy(text + (n > CUT_MARGIN ? n - CUT_MARGIN : 0), "...");
	if (conf.json)
		put_json_line(&l, level, event, text);
	else
		put_plain_line(&l, level, event, text);
	l.text[l.n++] = '\n';
	if (level == LOG_FATAL_)
		wait_until_written();
	if (level == LOG_FATAL_ || !write_later(l.text, l.n))
		(void)!write(STDERR_FILENO, l.text, l.n);
}

void log_write(enum log_level level, const char *event, const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list ap;
	int saved = errno;
	bool cut;

	if (level > conf.level)
		return;
	va_start(ap, fmt);
	cut = print_marked(text, fmt, ap);
	va_end(ap);
	write_marked(level, event, text, cut);
	errno = saved;
}

/* In place; quoted values lose their backslashes. */
static void mark_pairs(char *text)
{
	bool quoted = false, value = false;
	char *out = text;

	for (; *text; text++) {
		if (quoted && *text == '\\' && (text[1] == '"' || text[1] == '\\')) {
			*out++ = *++text;
		} else if (*text == '"') {
			quoted = !quoted;
			*out++ = QUOTE;
		} else if (*text == ' ' && !quoted) {
			value = false;
			*out++ = BLANK;
		} else if (*text == '=' && !quoted && !value) {
			value = true;
			*out++ = EQUALS;
		} else {
			*out++ = *text;
		}
	}
	*out = '\0';
}

void log_write_pairs(enum log_level level, const char *event, const char *pairs)
{
	char text[TEXT_MAX];
	int saved = errno;

	if (level > conf.level)
		return;
	if (!conf.json) {
		log_write(level, event, "%s", pairs);
		return;
	}
	snprintf(text, sizeof text, "%s", pairs);
	mark_pairs(text);
	write_marked(level, event, text, strlen(pairs) >= sizeof text);
	errno = saved;
}
