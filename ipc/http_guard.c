#include "ipc/http_guard.h"

#include "proto/base/address_list.h"
#include "proto/base/numeric_address.h"
#include "proto/base/public_address.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { URL_MAX = 2048, HTTP_PORT = 80, HTTPS_PORT = 443 };

struct http_guard {
	struct address_entry allowed[HTTP_GUARD_ALLOWED_MAX];
	unsigned n;
	char *text;
};

/* ---- addresses ---- */
/* Returns false if the host is no numeric address. */
static bool read_address(struct address_entry *e, const char *host, uint16_t port)
{
	e->len = (socklen_t)numeric_address(&e->sa, host, port);
	return e->len > 0;
}

/* Family, address, port and scope only: other members may hold anything. */
static bool copy_endpoint(struct address_entry *e, const struct sockaddr *sa, size_t len)
{
	struct sockaddr_in in4;
	struct sockaddr_in6 in6;

	*e = (struct address_entry){0};
	if (sa->sa_family == AF_INET && len >= sizeof in4) {
		struct sockaddr_in clean = {.sin_family = AF_INET};

		memcpy(&in4, sa, sizeof in4);
		clean.sin_port = in4.sin_port;
		clean.sin_addr = in4.sin_addr;
		e->len = sizeof clean;
		memcpy(&e->sa, &clean, sizeof clean);
		return true;
	}
	if (sa->sa_family == AF_INET6 && len >= sizeof in6) {
		struct sockaddr_in6 clean = {.sin6_family = AF_INET6};

		memcpy(&in6, sa, sizeof in6);
		clean.sin6_port = in6.sin6_port;
		clean.sin6_addr = in6.sin6_addr;
		clean.sin6_scope_id = in6.sin6_scope_id;
		e->len = sizeof clean;
		memcpy(&e->sa, &clean, sizeof clean);
		return true;
	}
	return false;
}

static bool is_allowed(const struct http_guard *g, const struct address_entry *e)
{
	for (unsigned i = 0; i < g->n; i++)
		if (g->allowed[i].len == e->len && memcmp(&g->allowed[i].sa, &e->sa, e->len) == 0)
			return true;
	return false;
}

bool http_guard_connects(const struct http_guard *g, const struct address_entry *e)
{
	const struct sockaddr *sa = (const struct sockaddr *)&e->sa;

	return is_allowed(g, e) || (public_address(sa, e->len) && public_port(sa, e->len));
}

/* ---- curl's callbacks ---- */
static curl_socket_t open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *to)
{
	struct http_guard_watch *w = arg;
	struct address_entry e;

	(void)purpose;
	if (!copy_endpoint(&e, &to->addr, to->addrlen) || !http_guard_connects(w->guard, &e)) {
		w->refused = true;
		return CURL_SOCKET_BAD;
	}
	return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

static int check_connection(void *arg, char *ip, char *local_ip, int port, int local_port)
{
	struct http_guard_watch *w = arg;
	struct address_entry e;

	(void)local_ip;
	(void)local_port;
	if (ip && read_address(&e, ip, (uint16_t)port) && http_guard_connects(w->guard, &e))
		return CURL_PREREQFUNC_OK;
	w->refused = true;
	return CURL_PREREQFUNC_ABORT;
}

int http_guard_set(struct http_guard_watch *w, void *easy)
{
	return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket) ||
			       curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, w) ||
			       curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, check_connection) ||
			       curl_easy_setopt(easy, CURLOPT_PREREQDATA, w) ||
			       curl_easy_setopt(easy, CURLOPT_PROXY, "") ||
			       curl_easy_setopt(easy, CURLOPT_NOPROXY, "*") ||
			       curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") ||
			       curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https") ||
			       curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L) ||
			       curl_easy_setopt(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L) ||
			       curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "")
		       ? ENOMEM
		       : 0;
}

/* ---- URLs ---- */
static bool has_part(CURLU *u, CURLUPart part)
{
	char *text = NULL;
	bool yes = curl_url_get(u, part, &text, 0) == CURLUE_OK;

	curl_free(text);
	return yes;
}

/* An address of the operator's list, as a host and a port. */
static bool is_allowed_host(const struct http_guard *g, const char *host, const char *port)
{
	struct address_entry e;
	char text[80];
	int n = snprintf(text, sizeof text, "%s:%s", host, port);

	return n > 0 && (size_t)n < sizeof text && address_entry_read(&e, text, (size_t)n) &&
	       is_allowed(g, &e);
}

/* NULL: nothing is wrong. */
static const char *find_fault(const struct http_guard *g, CURLU *u)
{
	char *scheme = NULL, *host = NULL, *port = NULL;
	const char *fault = NULL;

	if (curl_url_get(u, CURLUPART_SCHEME, &scheme, 0))
		fault = HTTP_GUARD_MALFORMED;
	else if (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0)
		fault = "only http and https are read";
	else if (curl_url_get(u, CURLUPART_HOST, &host, 0) ||
		 curl_url_get(u, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT))
		fault = HTTP_GUARD_MALFORMED;
	else if (has_part(u, CURLUPART_USER) || has_part(u, CURLUPART_PASSWORD))
		fault = HTTP_GUARD_SIGN_IN;
	else if (is_allowed_host(g, host, port))
		fault = NULL;
	else if (strcmp(port, "80") != 0 && strcmp(port, "443") != 0)
		fault = HTTP_GUARD_PORTS;
	else if (!public_host(host))
		fault = "its host is not a public name";
	curl_free(scheme);
	curl_free(host);
	curl_free(port);
	return fault;
}

bool http_guard_url(const struct http_guard *g, const char *url, char *why, size_t size)
{
	CURLU *u = curl_url();
	const char *fault;

	if (!u)
		fault = "there is no memory";
	else if (strlen(url) > URL_MAX)
		fault = "it is too long";
	else if (curl_url_set(u, CURLUPART_URL, url, 0))
		fault = HTTP_GUARD_MALFORMED;
	else
		fault = find_fault(g, u);
	curl_url_cleanup(u);
	snprintf(why, size, "%s%s", fault ? "this address is not read: " : "", fault ? fault : "");
	return !fault;
}

bool http_guard_allows(const char *list, const char *url, char *why, size_t size)
{
	struct http_guard *g = NULL;
	bool may = false;

	if (http_guard_alloc(&g, list))
		snprintf(why, size, "the address may not be read");
	else
		may = http_guard_url(g, url, why, size);
	http_guard_free(g);
	return may;
}

bool http_guard_join(const char *base, const char *reference, char *to, size_t size)
{
	CURLU *u = curl_url();
	char *whole = NULL;
	bool ok = u && curl_url_set(u, CURLUPART_URL, base, 0) == CURLUE_OK &&
		  curl_url_set(u, CURLUPART_URL, reference, 0) == CURLUE_OK &&
		  curl_url_set(u, CURLUPART_FRAGMENT, NULL, 0) == CURLUE_OK &&
		  curl_url_get(u, CURLUPART_URL, &whole, 0) == CURLUE_OK && strlen(whole) < size;

	if (ok)
		memcpy(to, whole, strlen(whole) + 1);
	curl_free(whole);
	curl_url_cleanup(u);
	return ok;
}

bool http_guard_host(const char *url, char *to, size_t size)
{
	CURLU *u = curl_url();
	char *host = NULL;
	bool ok = u && curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK &&
		  curl_url_get(u, CURLUPART_HOST, &host, 0) == CURLUE_OK && strlen(host) < size;

	if (ok)
		memcpy(to, host, strlen(host) + 1);
	curl_free(host);
	curl_url_cleanup(u);
	return ok;
}

static uint16_t port_of(const struct address_entry *e)
{
	struct sockaddr_in in4;
	struct sockaddr_in6 in6;

	if (e->sa.ss_family == AF_INET) {
		memcpy(&in4, &e->sa, sizeof in4);
		return ntohs(in4.sin_port);
	}
	memcpy(&in6, &e->sa, sizeof in6);
	return ntohs(in6.sin6_port);
}

size_t http_guard_ports(const struct http_guard *g, uint16_t ports[HTTP_GUARD_PORTS_MAX])
{
	size_t n = 0;

	ports[n++] = HTTP_PORT;
	ports[n++] = HTTPS_PORT;
	for (unsigned i = 0; i < g->n; i++)
		ports[n++] = port_of(&g->allowed[i]);
	return n;
}

/* ---- making and freeing ---- */
static int read_allowed(struct http_guard *g)
{
	const char *rest = g->text, *entry;
	size_t n;

	while ((entry = address_list_next(&rest, &n))) {
		if (g->n == HTTP_GUARD_ALLOWED_MAX ||
		    !address_entry_read(&g->allowed[g->n], entry, n))
			return EINVAL;
		g->n++;
	}
	return 0;
}

int http_guard_alloc(struct http_guard **out, const char *allowed)
{
	struct http_guard *g = calloc(1, sizeof *g);
	int err;

	if (!g)
		return ENOMEM;
	g->text = strdup(allowed ? allowed : "");
	err = g->text ? read_allowed(g) : ENOMEM;
	if (err)
		http_guard_free(g);
	else
		*out = g;
	return err;
}

struct http_guard *http_guard_free(struct http_guard *g)
{
	if (!g)
		return NULL;
	free(g->text);
	free(g);
	return NULL;
}

bool http_guard_is_of(const struct http_guard *g, const char *allowed)
{
	return strcmp(g->text, allowed ? allowed : "") == 0;
}
