#include "control/web/origins.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#define SCHEME "https://"

static bool read_origin(char out[ORIGIN_MAX], const char *text)
{
	size_t n = strlen(text);

	*out = '\0';
	if (!n)
		return true;
	if (n >= ORIGIN_MAX || strncmp(text, SCHEME, strlen(SCHEME)) != 0)
		return false;
	text += strlen(SCHEME);
	n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789.-");
	if (!n || (text[n] && text[n] != ':'))
		return false;
	if (text[n] == ':' && (!text[n + 1] || text[n + 1 + strspn(text + n + 1, "0123456789")]))
		return false;
	snprintf(out, ORIGIN_MAX, "%s", text);
	return true;
}

static bool is_address(const char *text)
{
	uint8_t bytes[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, text, bytes) == 1 || inet_pton(AF_INET6, text, bytes) == 1;
}

static bool read_proxies(struct origins *o, const char *list)
{
	while (*(list += strspn(list, ", "))) {
		size_t n = strcspn(list, ", ");
		char *one = o->proxies[o->n_proxies];

		if (n >= ADDRESS_MAX || o->n_proxies == PROXIES_MAX)
			return false;
		memcpy(one, list, n);
		one[n] = '\0';
		if (!is_address(one))
			return false;
		o->n_proxies++;
		list += n;
	}
	return true;
}

/* Without its port. */
static struct http_text name_of(struct http_text host)
{
	size_t n = 0;

	if (host.n && host.p[0] == '[')
		while (n < host.n && host.p[n++] != ']')
			;
	else
		while (n < host.n && host.p[n] != ':')
			n++;
	host.n = n;
	return host;
}

static struct http_text text_of(const char *s)
{
	return (struct http_text){s, strlen(s)};
}

static char lower(char c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* "a.example." names the same as "a.example". */
static bool same_name(struct http_text a, struct http_text b)
{
	a = name_of(a);
	b = name_of(b);
	a.n -= a.n && a.p[a.n - 1] == '.';
	b.n -= b.n && b.p[b.n - 1] == '.';
	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++)
		if (lower(a.p[i]) != lower(b.p[i]))
			return false;
	return a.n > 0;
}

static struct http_text port_of(struct http_text host, const char *standard)
{
	size_t n = name_of(host).n;

	return n + 1 < host.n ? (struct http_text){host.p + n + 1, host.n - n - 1}
			      : text_of(standard);
}

static bool same_place(struct http_text a, struct http_text b, const char *standard)
{
	struct http_text p = port_of(a, standard), q = port_of(b, standard);

	return same_name(a, b) && p.n == q.n && memcmp(p.p, q.p, p.n) == 0;
}

bool origins_read(struct origins *o, const char *own, const char *share, const char *proxies)
{
	o->n_proxies = 0;
	/* Cookies know no ports. */
	return read_origin(o->own, own) && read_origin(o->share, share) &&
	       !same_name(text_of(o->own), text_of(o->share)) && read_proxies(o, proxies);
}

static bool is_number(struct http_text name)
{
	char text[ADDRESS_MAX];

	if (name.n > 1 && name.p[0] == '[' && name.p[name.n - 1] == ']')
		name = (struct http_text){name.p + 1, name.n - 2};
	if (name.n >= sizeof text)
		return false;
	memcpy(text, name.p, name.n);
	text[name.n] = '\0';
	return is_address(text);
}

/* At every address any number is right: only a name can be bound anew to one of ours. */
static bool is_listen(const struct origins *o, struct http_text name)
{
	bool any = strcmp(o->listen, "0.0.0.0") == 0 || strcmp(o->listen, "[::]") == 0;

	return any ? is_number(name) : http_text_is(name, o->listen);
}

enum place origins_place(const struct origins *o, struct http_text host)
{
	struct http_text name = name_of(host), share = text_of(o->share), own = text_of(o->own);

	/* The name of the shares serves nothing else, whatever the port. */
	if (same_name(host, share))
		return same_place(host, share, "443") ? PLACE_SHARE : PLACE_FOREIGN;
	if (same_place(host, own, "443"))
		return PLACE_OWN;
	if (is_listen(o, name) || http_text_like(name, "localhost"))
		return PLACE_LISTEN;
	return PLACE_FOREIGN;
}

static bool skip(struct http_text *t, const char *prefix)
{
	size_t n = strlen(prefix);

	if (t->n < n || memcmp(t->p, prefix, n) != 0)
		return false;
	t->p += n;
	t->n -= n;
	return true;
}

/* The whole value: a scheme and the Host of the request, which the server has checked. */
bool origins_match(const struct origins *o, struct http_text origin, struct http_text host)
{
	bool tls = skip(&origin, SCHEME);

	if (!tls && (origins_place(o, host) == PLACE_OWN || !skip(&origin, "http://")))
		return false;
	return same_place(origin, host, tls ? "443" : "80");
}

bool origins_private(const struct origins *o, struct http_text host)
{
	struct http_text name = name_of(host);
	char text[ADDRESS_MAX];
	uint8_t bytes[sizeof(struct in_addr)];

	if (origins_place(o, host) == PLACE_OWN || http_text_like(name, "localhost") ||
	    http_text_is(name, "[::1]"))
		return true;
	if (name.n >= sizeof text)
		return false;
	memcpy(text, name.p, name.n);
	text[name.n] = '\0';
	return inet_pton(AF_INET, text, bytes) == 1 && bytes[0] == 127;
}

bool origins_is_proxy(const struct origins *o, const char *address)
{
	for (unsigned i = 0; i < o->n_proxies; i++)
		if (strcmp(o->proxies[i], address) == 0)
			return true;
	return false;
}

/* The last of a list, which is taken off. False: it is none. */
static bool take_last(struct http_text *list, char out[ADDRESS_MAX])
{
	size_t n = 0;

	while (list->n && strchr(", \t", list->p[list->n - 1]))
		list->n--;
	while (n < list->n && !strchr(", \t", list->p[list->n - 1 - n]))
		n++;
	if (!n || n >= ADDRESS_MAX)
		return false;
	list->n -= n;
	memcpy(out, list->p + list->n, n);
	out[n] = '\0';
	return is_address(out);
}

/* A proxy adds its line, or its word of the line, behind what the client sent. */
void origins_client(const struct origins *o, const struct http_head *head, char *out)
{
	char one[ADDRESS_MAX];

	for (unsigned i = head->n_fields; i--;) {
		struct http_text list = head->fields[i].value;

		if (!http_text_like(head->fields[i].name, "X-Forwarded-For"))
			continue;
		while (list.n) {
			if (!origins_is_proxy(o, out) || !take_last(&list, one))
				return;
			memcpy(out, one, sizeof one);
		}
	}
}

bool origins_misdirected(const struct origins *o, const struct http_head *head, const char *peer)
{
	return origins_place(o, head->host) == PLACE_LISTEN && (*o->own || *o->share) &&
	       origins_is_proxy(o, peer) && http_head_field(head, "X-Forwarded-For").p;
}
