/* Bodies and queries of every route of the dashboard, by the real server on loopback: the first
 * byte chooses the route, the second whether the rest is its body or its query. Whatever comes, the
 * server answers and goes on. */
#include <errno.h>
#include <stdio.h>

#include "control/web/routes.def"
#include "tests/fuzz/web_stage.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct route {
	const char *method, *path;
	size_t body;
} routes[] = {
#define ROUTE(METHOD, path, r, seen, handler, n, ms, text) {#METHOD, path, n},
	WEB_ROUTES(ROUTE)
#undef ROUTE
};

static int on_save(const struct live_settings_version *version, void *arg)
{
	(void)version, (void)arg;
	return EIO;
}

static void on_changed(void *arg)
{
	(void)arg;
}

static void on_told(const char *name, enum settings_when when, const char *author, void *arg)
{
	(void)name, (void)when, (void)author, (void)arg;
}

/* :NAME in a path is 42, or 42-7. */
static void fill_path(const char *path, char out[160])
{
	const char *colon = strchr(path, ':');

	if (colon)
		snprintf(out, 160, "%.*s%s%s", (int)(colon - path), path,
			 strncmp(colon, ":session", 8) == 0 ? "42-7" : "42",
			 colon + strcspn(colon, "/"));
	else
		snprintf(out, 160, "%s", path);
}

static size_t write_request(char *out, const struct route *r, bool query, const uint8_t *p,
			    size_t n)
{
	char path[160];
	size_t m;

	fill_path(r->path, path);
	m = (size_t)snprintf(out, REQUEST_MAX, "%s %s%s", r->method, path, query ? "?" : "");
	for (size_t i = 0; query && i < n && i < 2000; i++)
		out[m++] = (char)(p[i] > ' ' && p[i] < 0x7f ? p[i] : '%');
	m += (size_t)snprintf(out + m, REQUEST_MAX - m,
			      " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
			      "Authorization: Bearer " TOKEN "\r\n"
			      "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
			      query ? 0 : n);
	if (!query) {
		memcpy(out + m, p, n);
		m += n;
	}
	return m;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char request[REQUEST_MAX];
	const struct route *r;

	if (size < 2 || size > REQUEST_MAX / 2)
		return 0;
	if (!open_web((struct web_conf){0}, (struct live_settings_conf){.saveh = on_save,
									.changedh = on_changed,
									.toldh = on_told}))
		abort();
	r = &routes[data[0] % (sizeof routes / sizeof routes[0])];
	exchange(request, write_request(request, r, data[1] & 1, data + 2, size - 2));
	return 0;
}
