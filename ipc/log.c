#include "ipc/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE_MAX_ = 4096, SECRETS = 16, SECRET_MIN = 6 };

static const char *const names[] = {"fatal", "warn", "info", "debug", "trace"};
static const char *const colours[] = {"\033[31m", "\033[33m", "", "\033[2m", "\033[2m"};

/* One process, one log: the only global state outside an env. Written at start, before any other
 * thread. */
static struct {
	char process[32];
	enum log_level level;
	bool colour;
	char *secrets[SECRETS];
	unsigned n_secrets;
} lg = {.process = "parley", .level = LOG_INFO_};

void log_init(const char *process, enum log_level level)
{
	snprintf(lg.process, sizeof lg.process, "%s", process);
	lg.level = level;
	lg.colour = isatty(STDERR_FILENO) && !getenv("NO_COLOR");
}

bool log_level_parse(const char *name, enum log_level *out)
{
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
		if (strcmp(name, names[i]) == 0) {
			*out = (enum log_level)i;
			return true;
		}
	}
	return false;
}

void log_secret(const char *value)
{
	if (!value || strlen(value) < SECRET_MIN)
		return;
	for (unsigned i = 0; i < lg.n_secrets; i++)
		if (strcmp(lg.secrets[i], value) == 0)
			return;
	if (lg.n_secrets < SECRETS) {
		lg.secrets[lg.n_secrets] = strdup(value);
		lg.n_secrets += lg.secrets[lg.n_secrets] != NULL;
	}
}

/* Every secret becomes *** in place; the line only gets shorter or stays as long (secrets have 6
 * bytes or more). */
static void redact(char *line)
{
	for (unsigned i = 0; i < lg.n_secrets; i++) {
		size_t n = strlen(lg.secrets[i]);
		char *p = line;

		while ((p = strstr(p, lg.secrets[i]))) {
			memcpy(p, "***", 3);
			memmove(p + 3, p + n, strlen(p + n) + 1);
			p += 3;
		}
	}
}

static size_t stamp(char *buf, size_t size)
{
	struct timespec ts;
	struct tm tm;
	size_t n;

	clock_gettime(CLOCK_REALTIME, &ts);
	gmtime_r(&ts.tv_sec, &tm);
	n = strftime(buf, size, "%Y-%m-%dT%H:%M:%S", &tm);
	return n + (size_t)snprintf(buf + n, size - n, ".%03ldZ", ts.tv_nsec / 1000000);
}

void log_write(enum log_level level, const char *event, const char *fmt, ...)
{
	char line[LINE_MAX_ + 1];
	size_t n = 0, text;
	va_list ap;
	int k;

	if (level > lg.level)
		return;
	if (lg.colour)
		n = (size_t)snprintf(line, sizeof line, "%s", colours[level]);
	n += stamp(line + n, sizeof line - n);
	n += (size_t)snprintf(line + n, sizeof line - n, " %s %s %s ", names[level], lg.process,
			      event);
	text = n;
	va_start(ap, fmt);
	k = vsnprintf(line + n, sizeof line - n - 8, fmt, ap);
	va_end(ap);
	if (k > 0)
		n += (size_t)k < sizeof line - n - 8 ? (size_t)k : sizeof line - n - 9;
	for (size_t i = text; i < n; i++)
		if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
			line[i] = ' ';
	line[n] = '\0';
	redact(line + text);
	n = strlen(line);
	while (n > text && line[n - 1] == ' ')
		n--;
	n += (size_t)snprintf(line + n, sizeof line - n, "%s\n", lg.colour ? "\033[0m" : "");
	/* One write, so that lines of several threads do not mix; nobody is told when stderr is
	 * gone. */
	if (write(STDERR_FILENO, line, n) < 0)
		return;
}
