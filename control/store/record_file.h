/* Files of lines beside the database, which a backup does not copy: `deletions`, `consents` and
 * `forgotten`. A database that is restored from a backup learns from them of the decisions made
 * since. Strings are borrowed for the call. */
#ifndef CONTROL_STORE_RECORD_FILE_H
#define CONTROL_STORE_RECORD_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Appends the line, without its newline, to the file of the state directory dir and syncs it. A
 * line that a crash has cut short is ended first. Errors of open, write and fsync; ENAMETOOLONG. */
int record_file_add(const char *dir, const char *name, const char *line);
/* Bytes of the file: the end before and after. */
struct record_span {
	uint64_t from, to;
};
/* The same of whole lines, each with its newline. */
int record_file_append(const char *dir, const char *name, const char *lines,
		       struct record_span *span);
/* Calls h for each line that the file has now, without its newline, until it returns an error. 0
 * without a file. Errors of open and read, and of h. */
typedef int(record_file_h)(const char *line, void *arg);
int record_file_each(const char *dir, const char *name, record_file_h *h, void *arg);
/* The same of the lines from span->from on; of all lines if none begins there. span->to: the end.
 */
int record_file_each_from(const char *dir, const char *name, struct record_span *span,
			  record_file_h *h, void *arg);

#endif
