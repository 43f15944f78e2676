/* Log lines: `time level process key=value …` on stderr, one write each.
 *
 * The vocabulary is OpenBSD's: fatal, warn, info, debug, and trace. Values are quoted when they
 * hold spaces, control bytes are escaped. Secrets are never printed: log_secret() registers a value
 * (token, key) that is replaced by `***` wherever it would appear. Colour only on a terminal and
 * never with NO_COLOR. Not for audio threads. */
#ifndef IPC_LOG_H
#define IPC_LOG_H

#include <stdbool.h>

enum log_level { LOG_FATAL_, LOG_WARN_, LOG_INFO_, LOG_DEBUG_, LOG_TRACE_ };

/* process is copied. Standard descriptors that are closed become /dev/null: call it before any
 * other is opened. */
void log_init(const char *process, enum log_level level);
/* "warn", "info", "debug", "trace", "fatal"; false when unknown. */
bool log_level_parse(const char *name, enum log_level *out);
/* From now on, of any thread. */
void log_set_level(enum log_level level);
/* From now on lines are JSON: {"time", "level", "process", "event", "fields": {key: text}}. A line
 * that is too long lacks the end of a value or whole fields, and is JSON all the same. */
void log_set_json(bool on);
/* From now on this value prints as ***. Copied; values under 6 bytes are ignored. For tokens and
 * keys, of which the first 64 and the newest 32 count. */
void log_secret(const char *value);
/* The same for secrets that come all the time, such as those of voice sessions: the newest 256
 * count, and take no place of a key. */
void log_lease(const char *value);
/* The same in the place of a lease that is void. old: NULL or unknown: as log_lease. */
void log_lease_again(const char *old, const char *value);

/* From now on a thread writes the lines, so a disk that stalls delays nobody who logs. Lines that
 * do not fit into its buffer are dropped and counted in a line of their own. LOG_FATAL_ lines are
 * written at once, after all before them. begin: the thread's first step; NULL: none. ENOMEM,
 * EAGAIN. */
int log_start_writer(void (*begin)(void));
/* Writes what is left and ends that thread. Gives up when that takes more than two seconds; then it
 * can be called again. */
void log_stop_writer(void);

/* fmt is the text after the event name: key=value pairs in printf form, e.g.
 *   log_info("call_up", "call=%u channel=%llu", call, channel); */
void log_write(enum log_level level, const char *event, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#define log_fatal(...) log_write(LOG_FATAL_, __VA_ARGS__)
#define log_warn(...)  log_write(LOG_WARN_, __VA_ARGS__)
#define log_info(...)  log_write(LOG_INFO_, __VA_ARGS__)
#define log_debug(...) log_write(LOG_DEBUG_, __VA_ARGS__)
#define log_trace(...) log_write(LOG_TRACE_, __VA_ARGS__)

#endif
