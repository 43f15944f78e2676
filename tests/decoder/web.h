/* A web server on loopback (127.0.0.1 and 127.0.0.2) for tests of the fetcher.
 *
 *   /ranges/FILE      the file; answers range requests
 *   /plain/FILE       the file from its beginning, whatever is asked
 *   /replaced/FILE    as /plain/, but from the second request on with 20 000 bytes more before it
 *   /far/FILE         as /plain/, and 125 MB behind it
 *   /broken/FILE      as /ranges/, but each connection breaks after 20 000 bytes
 *   /forgets/FILE     as /broken/ once, then as /plain/
 *   /always/FILE      as /broken/ once, then a range that begins at 0, whatever is asked
 *   /restarts/FILE    as /broken/ if it is the first request, 503 up to the fifth, then as /ranges/
 *   /parts/FILE       as /ranges/, but each answer holds 20 000 bytes at most, and says so
 *   /changed/FILE     as /broken/ once, then as /ranges/ with 20 000 bytes more before the file
 *   /swapped/FILE     as /broken/ once, then other bytes, as many, with another ETag
 *   /live/FILE        1FILE at first, later 2FILE
 *   /tears/FILE       as /ranges/, but each second connection breaks after 5 000 bytes
 *   /tears-plain/FILE as /tears/, from a server that answers no range
 *   /hop/N/FILE       a redirect to /hop/N-1/FILE, at last to /ranges/FILE
 *   /private          a redirect to an address that is not allowed
 *   /scheme           a redirect to a file
 *   /wants/FILE       as /ranges/ for a Referer of https://page.example/ and a User-Agent of Page
 *   /away/FILE        a redirect to /wants/FILE, at the same port of 127.0.0.2
 *   /missing          404
 *   /overloaded…      503
 *   /radio/FILE       the file as a radio station with two titles, then silence on the line
 *   /late/FILE        the same, with the second title after two thirds of the file
 *   /advert/FILE      the same with a title that is empty for a while, and a line that breaks
 *   /station/FILE     the same: the first request is redirected to /once/FILE, those after the
 *                     break are refused with 503 and 404 six times
 *   /silent/FILE      as /advert/, but the line falls silent instead of breaking */
#ifndef TESTS_DECODER_WEB_H
#define TESTS_DECODER_WEB_H

#include <stdbool.h>
#include <stdint.h>

struct web;

/* Serves files of dir, which is borrowed. Caller owns *out. */
bool web_open(struct web **out, const char *dir);
void web_close(struct web *w);
uint16_t web_server_port(const struct web *w);
/* Every answer waits so long, as if the server were far away. */
void web_set_delay(struct web *w, unsigned ms);
/* Requests so far, or since they were forgotten. */
unsigned web_requests(const struct web *w);
void web_forget_requests(struct web *w);

#endif
