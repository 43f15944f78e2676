/* Requests of shared screens, by the real server on loopback: the first byte chooses one, the rest
 * is its body. The browser has a share's cookie and the program its token, so that bodies are read.
 * Whatever comes, the server answers, and no handler gets more than it may. */
#include <stdio.h>

#include "tests/fuzz/web_stage.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define KEY	"AAAAAAAAAAAAAAAAAAAAAAAA"
#define SESSION "/api/voice/share-session/" KEY
enum { PICTURE_MAX = 1 << 20, SHARE = 7 };

static const struct request {
	const char *path, *type;
} requests[] = {
	{"/api/voice/stream-ingest/frame", "application/json"},
	{"/api/voice/share-session", "application/json"},
	{SESSION "/frame", "image/png"},
	{SESSION "/state", "application/json"},
	{SESSION "/open", "application/json"},
	{SESSION "/stop", "application/json"},
};

static void on_share(const struct web_share *what, struct web_share_answer *a, void *arg)
{
	bool of_browser = what->kind != WEB_SHARE_OFFER && what->kind != WEB_SHARE_INGEST;

	(void)arg;
	if (what->picture.n > PICTURE_MAX || (what->picture.n && !what->picture.p) ||
	    (of_browser && (strcmp(what->token, KEY) != 0 || what->browser != SHARE)) ||
	    (!of_browser && (!what->guild || !what->target)) ||
	    (what->kind == WEB_SHARE_OFFER && (!what->channel || !what->requester)) ||
	    (what->kind == WEB_SHARE_INGEST && !what->type))
		abort();
	*a = (struct web_share_answer){.status = 200, .code = "", .text = ""};
}

static uint32_t match_share(const char *key, void *arg)
{
	(void)arg;
	return strcmp(key, KEY) == 0 ? SHARE : 0;
}

static bool knows_program(const char *token, void *arg)
{
	(void)arg;
	return strcmp(token, TOKEN) == 0;
}

static size_t write_request(char *out, const struct request *r, const uint8_t *p, size_t n)
{
	size_t m = (size_t)snprintf(out, REQUEST_MAX,
				    "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
				    "Authorization: Bearer " TOKEN "\r\n"
				    "X-Public-Api-Token: " TOKEN "\r\n"
				    "Cookie: parley_share=" KEY "\r\n"
				    "Content-Type: %s\r\nContent-Length: %zu\r\n\r\n",
				    r->path, r->type, n);

	memcpy(out + m, p, n);
	return m + n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char request[REQUEST_MAX];
	const struct request *r;

	if (size < 1 || size > REQUEST_MAX / 2)
		return 0;
	if (!open_web((struct web_conf){.shareh = on_share,
					.share_matchh = match_share,
					.share_programh = knows_program},
		      (struct live_settings_conf){0}))
		abort();
	r = &requests[data[0] % (sizeof requests / sizeof requests[0])];
	exchange(request, write_request(request, r, data + 1, size - 1));
	return 0;
}
