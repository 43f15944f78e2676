#include "tests/talk/pages.h"

#include "ipc/http_server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 256 << 10 };

static const struct {
	const char *path, *file, *type;
} table[] = {
	{"/", "index.html", "text/html; charset=utf-8"},
	{"/style.css", "style.css", "text/css; charset=utf-8"},
	{"/talk.js", "talk.js", "text/javascript; charset=utf-8"},
	{"/sound.js", "sound.js", "text/javascript; charset=utf-8"},
	{"/mic.js", "mic.js", "text/javascript; charset=utf-8"},
	{"/voice.js", "voice.js", "text/javascript; charset=utf-8"},
};
enum { N = sizeof table / sizeof table[0] };

struct pages {
	char policy[320];
	size_t n[N];
	char *data[N];
};

static int load(struct pages *p, unsigned i, const char *dir)
{
	char path[1024];
	FILE *f;
	int err = 0;

	snprintf(path, sizeof path, "%s/%s", dir, table[i].file);
	f = fopen(path, "re");
	if (!f)
		return errno;
	p->data[i] = malloc(FILE_MAX);
	if (!p->data[i])
		err = ENOMEM;
	else
		p->n[i] = fread(p->data[i], 1, FILE_MAX, f);
	if (!err && ferror(f))
		err = EIO;
	else if (!err && p->n[i] == FILE_MAX)
		err = EFBIG;
	fclose(f);
	return err;
}

int pages_alloc(struct pages **out, const char *dir)
{
	struct pages *p = calloc(1, sizeof *p);
	int err = p ? 0 : ENOMEM;

	for (unsigned i = 0; !err && i < N; i++)
		err = load(p, i, dir);
	if (err)
		pages_free(p);
	else
		*out = p;
	return err;
}

struct pages *pages_free(struct pages *p)
{
	for (unsigned i = 0; p && i < N; i++)
		free(p->data[i]);
	free(p);
	return NULL;
}

void pages_port(struct pages *p, uint16_t port, const char *dashboard)
{
	snprintf(p->policy, sizeof p->policy,
		 "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; "
		 "connect-src 'self' ws://127.0.0.1:%u ws://localhost:%u; base-uri 'none'; "
		 "form-action 'none'; frame-ancestors %s",
		 port, port, dashboard);
}

void pages_serve(const struct pages *p, const char *path, struct http_exchange *x)
{
	unsigned i = 0;

	while (i < N && strcmp(path, table[i].path) != 0)
		i++;
	if (i == N) {
		http_reply(x, 404, "text/plain", "not here\n", 9);
		return;
	}
	http_reply_field(x, "Content-Security-Policy", p->policy);
	http_reply(x, 200, table[i].type, p->data[i], p->n[i]);
}
