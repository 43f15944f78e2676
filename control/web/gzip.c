#include "control/web/gzip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "proto/http/head.h"

bool gzip_is_accepted(const struct http_head *head)
{
	struct http_text t = http_head_field(head, "Accept-Encoding");
	char list[256];
	const char *at;

	if (t.n >= sizeof list)
		return false;
	memcpy(list, t.p ? t.p : "", t.n);
	list[t.n] = '\0';
	at = strstr(list, "gzip");
	if (!at || (at > list && !strchr(" ,\t", at[-1])))
		return false;
	at += strlen("gzip");
	at += strspn(at, " \t");
	if (*at != ';')
		return !*at || *at == ',';
	at += 1 + strspn(at + 1, " \t");
	return (*at != 'q' && *at != 'Q') || strtod(at + strcspn(at, "=,") + 1, NULL) > 0;
}

int gzip_compress(const void *data, size_t n, int level, uint8_t **out, size_t *out_n)
{
	enum { WINDOW = 15, AS_GZIP = 16, MEMORY = 8 };
	z_stream z = {0};
	uint8_t *to;
	size_t bound;
	int err = 0;

	if (deflateInit2(&z, level, Z_DEFLATED, WINDOW + AS_GZIP, MEMORY, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		return ENOMEM;
	bound = deflateBound(&z, n);
	to = malloc(bound);
	z.next_in = (Bytef *)data;
	z.avail_in = (uInt)n;
	z.next_out = to;
	z.avail_out = (uInt)bound;
	if (!to)
		err = ENOMEM;
	else if (deflate(&z, Z_FINISH) != Z_STREAM_END)
		err = EIO;
	deflateEnd(&z);
	if (err) {
		free(to);
		return err;
	}
	*out = to;
	*out_n = z.total_out;
	return 0;
}
