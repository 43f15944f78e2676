/* The files of the page, read once. */
#ifndef TESTS_TALK_PAGES_H
#define TESTS_TALK_PAGES_H

#include <stdint.h>

struct pages;
struct http_exchange;

/* ENOENT and others of open, EFBIG. Caller owns *out. */
int pages_alloc(struct pages **out, const char *dir);
struct pages *pages_free(struct pages *p);
/* Where the page may connect to follows from the port. dashboard: the origin that may show it as a
 * view of its own. */
void pages_port(struct pages *p, uint16_t port, const char *dashboard);
/* Answers with the file at this path, or 404. */
void pages_serve(const struct pages *p, const char *path, struct http_exchange *x);

#endif
