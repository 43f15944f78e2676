#include "tests/decoder/web.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEAD = 4096, BODY = 4 << 20, BREAK_AFTER = 20000, TEAR_AFTER = 5000, INTERVAL = 8000 };

enum { DOORS = 2 };

struct web {
	const char *dir;
	uint16_t port;
	struct door {
		struct web *w;
		int fd;
		pthread_t thread;
	} door[DOORS];
	_Atomic unsigned requests, delay_ms;
	_Atomic unsigned lists, tears; /* requests for /live/ and /tears/ */
};

struct body {
	uint8_t bytes[BODY];
	size_t n;
};

static void send_all(int fd, const void *data, size_t n)
{
	const char *p = data;
	ssize_t k;

	while (n && (k = send(fd, p, n, MSG_NOSIGNAL)) > 0) {
		p += k;
		n -= (size_t)k;
	}
}

static void send_text(int fd, const char *text)
{
	send_all(fd, text, strlen(text));
}

static bool load(struct body *b, const char *dir, const char *name)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", dir, name);
	f = fopen(path, "rb");
	b->n = f ? fread(b->bytes, 1, sizeof b->bytes, f) : 0;
	return f && fclose(f) == 0;
}

static void send_range(int fd, const struct body *b, const char *head, size_t most)
{
	const char *range = strcasestr(head, "\nRange: bytes=");
	size_t from = range ? strtoul(range + 14, NULL, 10) : 0, n;
	char text[256];

	if (from >= b->n) {
		send_text(fd, "HTTP/1.1 416 No Such Range\r\nContent-Length: 0\r\n\r\n");
		return;
	}
	n = b->n - from;
	snprintf(text, sizeof text,
		 "HTTP/1.1 206 Partial Content\r\nContent-Length: %zu\r\n"
		 "Content-Range: bytes %zu-%zu/%zu\r\n\r\n",
		 n, from, b->n - 1, b->n);
	send_text(fd, text);
	send_all(fd, b->bytes + from, n < most ? n : most);
}

/* RFC 9110 section 15.3.7: a server may send less than the range that it was asked for. */
static void send_part(int fd, const struct body *b, const char *head, size_t most)
{
	const char *range = strcasestr(head, "\nRange: bytes=");
	size_t from = range ? strtoul(range + 14, NULL, 10) : 0, n;
	char text[256];

	if (from >= b->n) {
		send_text(fd, "HTTP/1.1 416 No Such Range\r\nContent-Length: 0\r\n\r\n");
		return;
	}
	n = b->n - from < most ? b->n - from : most;
	snprintf(text, sizeof text,
		 "HTTP/1.1 206 Partial Content\r\nContent-Length: %zu\r\n"
		 "Content-Range: bytes %zu-%zu/%zu\r\n\r\n",
		 n, from, from + n - 1, b->n);
	send_text(fd, text);
	send_all(fd, b->bytes + from, n);
}

/* Another content under the same address: an advertisement before the rest. */
static void put_before(struct body *b, size_t n)
{
	memmove(b->bytes + n, b->bytes, b->n);
	b->n += n;
}

static void send_plain(int fd, const struct body *b, size_t most)
{
	char text[128];

	snprintf(text, sizeof text, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", b->n);
	send_text(fd, text);
	send_all(fd, b->bytes, b->n < most ? b->n : most);
}

enum { PAUSE_US = 100000 };

/* The file is only the beginning of what would come. */
static void send_far(int fd, const struct body *b)
{
	static const char nothing[1 << 16];

	send_text(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2000000000\r\n\r\n");
	send_all(fd, b->bytes, b->n);
	usleep(PAUSE_US); /* the head comes alone */
	for (unsigned i = 0; i < 2000; i++)
		send_all(fd, nothing, sizeof nothing);
}

/* The same with an ETag, and later with another content as long. */
static void send_swapped(struct web *w, int fd, struct body *b, const char *head)
{
	const char *range = strcasestr(head, "\nRange: bytes=");
	size_t from = range ? strtoul(range + 14, NULL, 10) : 0;
	bool again = atomic_load(&w->requests) > 1;
	size_t n = b->n - from, most = again ? n : BREAK_AFTER;
	char text[256];

	if (again)
		for (size_t i = 0; i < b->n / 2; i++) {
			uint8_t byte = b->bytes[i];

			b->bytes[i] = b->bytes[b->n - 1 - i];
			b->bytes[b->n - 1 - i] = byte;
		}
	snprintf(text, sizeof text,
		 "HTTP/1.1 206 Partial Content\r\nContent-Length: %zu\r\nETag: \"%d\"\r\n"
		 "Content-Range: bytes %zu-%zu/%zu\r\n\r\n",
		 n, again, from, b->n - 1, b->n);
	send_text(fd, text);
	send_all(fd, b->bytes + from, n < most ? n : most);
}

static void send_torn(struct web *w, int fd, const struct body *b, const char *head, bool ranges)
{
	size_t most = atomic_fetch_add(&w->tears, 1) % 2 ? SIZE_MAX : TEAR_AFTER;

	if (ranges)
		send_range(fd, b, head, most);
	else
		send_plain(fd, b, most);
}

static void send_title_block(int fd, const char *title)
{
	uint8_t block[1 + 255 * 16] = {0};
	int n = snprintf((char *)block + 1, sizeof block - 1, "StreamTitle='%s';", title);

	block[0] = (uint8_t)((n + 15) / 16);
	send_all(fd, block, 1 + (size_t)block[0] * 16);
}

/* Two titles, then the line stays open until the client goes. */
static void send_radio(int fd, const struct body *b, size_t second)
{
	char byte;

	send_text(fd, "ICY 200 OK\r\nicy-name: Test\r\nicy-metaint: 8000\r\n"
		      "Content-Type: audio/mpeg\r\n\r\n");
	for (size_t at = 0, i = 0; at < b->n; at += INTERVAL, i++) {
		size_t n = b->n - at < INTERVAL ? b->n - at : INTERVAL;

		send_all(fd, b->bytes + at, n);
		if (n == INTERVAL && i == 0)
			send_title_block(fd, "First \xff- it's 'one'");
		else if (n == INTERVAL && i == second)
			send_title_block(fd, "Second");
		else if (n == INTERVAL)
			send_all(fd, "", 1);
	}
	(void)!recv(fd, &byte, 1, 0);
}

/* A title, none during an advertisement, and another; then the line breaks, and the next one tells
 * no title. */
static void send_advert(int fd, const struct body *b, bool again)
{
	static const char *const titles[] = {"First", "", "Third"};
	const size_t part = 8 * INTERVAL, to = again ? b->n : part;
	char byte;

	send_text(fd, "ICY 200 OK\r\nicy-name: Test\r\nicy-metaint: 8000\r\n"
		      "Content-Type: audio/mpeg\r\n\r\n");
	for (size_t at = again ? part : 0, i = 0; at < to; at += INTERVAL, i++) {
		size_t n = to - at < INTERVAL ? to - at : INTERVAL;

		send_all(fd, b->bytes + at, n);
		if (n == INTERVAL && i % 3 == 0 && !again)
			send_title_block(fd, titles[i / 3]);
		else if (n == INTERVAL)
			send_all(fd, "", 1);
	}
	if (again)
		(void)!recv(fd, &byte, 1, 0);
}

static void redirect(int fd, const char *to)
{
	char text[256];

	snprintf(text, sizeof text,
		 "HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", to);
	send_text(fd, text);
}

/* Sends its first listener elsewhere, is restarted then, and goes on itself. Meanwhile it answers
 * as a server without its source, too. */
static void send_station(struct web *w, int fd, const struct body *b, const char *name)
{
	char to[160];

	snprintf(to, sizeof to, "/once/%s", name);
	if (atomic_load(&w->requests) == 1)
		redirect(fd, to);
	else if (atomic_load(&w->requests) < 9)
		send_text(fd, atomic_load(&w->requests) % 2
				      ? "HTTP/1.1 503 Restarting\r\nContent-Length: 0\r\n\r\n"
				      : "HTTP/1.1 404 No Source\r\nContent-Length: 0\r\n\r\n");
	else
		send_advert(fd, b, true);
}

/* A server that is restarted in the middle of a file, or of a stream in segments. */
static void send_restarted(struct web *w, int fd, const struct body *b, const char *head)
{
	unsigned n = atomic_load(&w->requests);

	if (n > 1 && n < 6)
		send_text(fd, "HTTP/1.1 503 Restarting\r\nContent-Length: 0\r\n\r\n");
	else
		send_range(fd, b, head, n == 1 ? BREAK_AFTER : SIZE_MAX);
}

static void answer(struct web *w, int fd, const char *head)
{
	static _Thread_local struct body b;
	char name[128] = "", to[160];
	unsigned hops;

	if (sscanf(head, "GET /ranges/%127s", name) == 1 && load(&b, w->dir, name)) {
		send_range(fd, &b, head, SIZE_MAX);
	} else if (sscanf(head, "GET /broken/%127s", name) == 1 && load(&b, w->dir, name)) {
		send_range(fd, &b, head, BREAK_AFTER);
	} else if (sscanf(head, "GET /restarts/%127s", name) == 1 && load(&b, w->dir, name)) {
		send_restarted(w, fd, &b, head);
	} else if (sscanf(head, "GET /plain/%127s", name) == 1 && load(&b, w->dir, name)) {
		send_plain(fd, &b, SIZE_MAX);
	} else if (sscanf(head, "GET /replaced/%127s", name) == 1 && load(&b, w->dir, name)) {
		if (atomic_load(&w->requests) > 1)
			put_before(&b, BREAK_AFTER);
		send_plain(fd, &b, SIZE_MAX);
	} else if (sscanf(head, "GET /far/%127s", name) == 1 && load(&b, w->dir, name)) {
		send_far(fd, &b);
	} else if (sscanf(head, "GET /forgets/%127s", name) == 1 && load(&b, w->dir, name)) {
		if (atomic_load(&w->requests) > 1)
			send_plain(fd, &b, SIZE_MAX);
		else
			send_range(fd, &b, head, BREAK_AFTER);
	} else if (sscanf(head, "GET /always/%127s", name) == 1 && load(&b, w->dir, name)) {
		if (atomic_load(&w->requests) > 1)
			send_range(fd, &b, "\nRange: bytes=0-", SIZE_MAX);
		else
			send_range(fd, &b, head, BREAK_AFTER);
	} else if (sscanf(head, "GET /parts/%127s", name) == 1 && load(&b, w->dir, name)) {
		send_part(fd, &b, head, BREAK_AFTER);
	} else if (sscanf(head, "GET /changed/%127s", name) == 1 && load(&b, w->dir, name)) {
		if (atomic_load(&w->requests) > 1)
			put_before(&b, BREAK_AFTER);
		send_range(fd, &b, head, atomic_load(&w->requests) > 1 ? SIZE_MAX : BREAK_AFTER);
	} else if (sscanf(head, "GET /swapped/%127s", name) == 1 && load(&b, w->dir, name)) {
		send_swapped(w, fd, &b, head);
	} else if (sscanf(head, "GET /live/%127s", name) == 1) {
		snprintf(to, sizeof to, "%d%s", atomic_fetch_add(&w->lists, 1) ? 2 : 1, name);
		if (load(&b, w->dir, to))
			send_plain(fd, &b, SIZE_MAX);
	} else if (sscanf(head, "GET /tears/%127s", name) == 1 && load(&b, w->dir, name)) {
		send_torn(w, fd, &b, head, true);
	} else if (sscanf(head, "GET /tears-plain/%127s", name) == 1 && load(&b, w->dir, name)) {
		send_torn(w, fd, &b, head, false);
	} else if (sscanf(head, "GET /radio/%127s", name) == 1 && load(&b, w->dir, name)) {
		send_radio(fd, &b, 5);
	} else if (sscanf(head, "GET /late/%127s", name) == 1 && load(&b, w->dir, name)) {
		send_radio(fd, &b, b.n * 2 / 3 / INTERVAL);
	} else if (sscanf(head, "GET /advert/%127s", name) == 1 && load(&b, w->dir, name)) {
		send_advert(fd, &b, atomic_load(&w->requests) > 1);
	} else if (sscanf(head, "GET /station/%127s", name) == 1 && load(&b, w->dir, name)) {
		send_station(w, fd, &b, name);
	} else if (sscanf(head, "GET /once/%127s", name) == 1 && atomic_load(&w->requests) == 2 &&
		   load(&b, w->dir, name)) {
		send_advert(fd, &b, false);
	} else if (sscanf(head, "GET /silent/%127s", name) == 1 && load(&b, w->dir, name)) {
		send_advert(fd, &b, atomic_load(&w->requests) > 1);
		if (atomic_load(&w->requests) == 1)
			(void)!recv(fd, to, 1, 0);
	} else if (sscanf(head, "GET /hop/%u/%127s", &hops, name) == 2) {
		if (hops)
			snprintf(to, sizeof to, "/hop/%u/%s", hops - 1, name);
		else
			snprintf(to, sizeof to, "/ranges/%s", name);
		redirect(fd, to);
	} else if (sscanf(head, "GET /wants/%127s", name) == 1 &&
		   strstr(head, "\r\nReferer: https://page.example/\r\n") &&
		   strstr(head, "\r\nUser-Agent: Page\r\n") && load(&b, w->dir, name)) {
		send_range(fd, &b, head, SIZE_MAX);
	} else if (sscanf(head, "GET /away/%127s", name) == 1) {
		snprintf(to, sizeof to, "http://127.0.0.2:%u/wants/%s", w->port, name);
		redirect(fd, to);
	} else if (strncmp(head, "GET /private ", 13) == 0) {
		redirect(fd, "http://127.0.0.2:80/secret");
	} else if (strncmp(head, "GET /scheme ", 12) == 0) {
		redirect(fd, "file:///etc/passwd");
	} else if (strncmp(head, "GET /overloaded", 15) == 0) {
		send_text(fd, "HTTP/1.1 503 Overloaded\r\nContent-Length: 0\r\n\r\n");
	} else {
		send_text(fd, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
	}
}

struct visit {
	struct web *w;
	int fd;
};

static void *serve_one(void *arg)
{
	struct visit v = *(struct visit *)arg;
	char head[HEAD + 1];
	size_t n = 0;
	ssize_t k;

	free(arg);
	while (n < HEAD && (k = recv(v.fd, head + n, HEAD - n, 0)) > 0) {
		n += (size_t)k;
		head[n] = '\0';
		if (strstr(head, "\r\n\r\n")) {
			atomic_fetch_add(&v.w->requests, 1);
			usleep(atomic_load(&v.w->delay_ms) * 1000);
			answer(v.w, v.fd, head);
			break;
		}
	}
	close(v.fd);
	return NULL;
}

static void *serve(void *arg)
{
	struct door *door = arg;
	struct visit *v;
	pthread_t thread;
	int fd;

	while ((fd = accept(door->fd, NULL, NULL)) >= 0) {
		v = malloc(sizeof *v);
		if (!v)
			break;
		*v = (struct visit){door->w, fd};
		if (pthread_create(&thread, NULL, serve_one, v))
			break;
		pthread_detach(thread);
	}
	return NULL;
}

/* address: of this machine; port 0: any. */
static bool open_door(struct web *w, struct door *door, uint32_t address, uint16_t port)
{
	struct sockaddr_in sa = {
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(address)}};
	socklen_t n = sizeof sa;

	door->w = w;
	door->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (door->fd < 0 || bind(door->fd, (struct sockaddr *)&sa, n) || listen(door->fd, 64) ||
	    getsockname(door->fd, (struct sockaddr *)&sa, &n) ||
	    pthread_create(&door->thread, NULL, serve, door))
		return false;
	w->port = ntohs(sa.sin_port);
	return true;
}

bool web_open(struct web **out, const char *dir)
{
	struct web *w = calloc(1, sizeof *w);

	if (!w)
		return false;
	w->dir = dir;
	if (!open_door(w, &w->door[0], INADDR_LOOPBACK, 0) ||
	    !open_door(w, &w->door[1], INADDR_LOOPBACK + 1, w->port))
		return false; /* the test ends, and the process with it */
	*out = w;
	return true;
}

void web_close(struct web *w)
{
	if (!w)
		return;
	for (unsigned i = 0; i < DOORS; i++) {
		shutdown(w->door[i].fd, SHUT_RDWR);
		pthread_join(w->door[i].thread, NULL);
		close(w->door[i].fd);
	}
	free(w);
}

uint16_t web_server_port(const struct web *w)
{
	return w->port;
}

void web_set_delay(struct web *w, unsigned ms)
{
	atomic_store(&w->delay_ms, ms);
}

unsigned web_requests(const struct web *w)
{
	return atomic_load(&w->requests);
}

void web_forget_requests(struct web *w)
{
	atomic_store(&w->requests, 0);
}
