/* What a bench and its children write to stderr, in a file: the log is searched there. One at a
 * time. If the process ends before stderr_file_end, the last lines of the file go to stderr. */
#ifndef TESTS_BENCH_STDERR_FILE_H
#define TESTS_BENCH_STDERR_FILE_H

/* path: borrowed until stderr_file_end. Ends the bench if the file cannot be made. */
void stderr_file_begin(const char *path);
void stderr_file_end(void);

#endif
