#include "ipc/proxy.h"

#include <errno.h>
#include <netinet/in.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "proto/base/numeric_address.h"

enum { DEFAULT_PORT = 1080, IP_MAX = 16 };

/* ---- the environment ---- */
static const char *first_set(const char *const *names)
{
	for (; *names; names++) {
		const char *value = getenv(*names);

		if (value && *value)
			return value;
	}
	return NULL;
}

/* Four or sixteen bytes; 0: the text is no address. */
static unsigned parse_ip(const char *text, uint8_t ip[IP_MAX])
{
	struct sockaddr_storage addr;
	const struct sockaddr_in *four = (struct sockaddr_in *)&addr;
	const struct sockaddr_in6 *six = (struct sockaddr_in6 *)&addr;

	if (!numeric_address(&addr, text, 0))
		return 0;
	if (addr.ss_family == AF_INET) {
		memcpy(ip, &four->sin_addr, sizeof four->sin_addr);
		return sizeof four->sin_addr;
	}
	memcpy(ip, &six->sin6_addr, sizeof six->sin6_addr);
	return sizeof six->sin6_addr;
}

static bool is_loopback(const char *host)
{
	static const uint8_t six[16] = {[15] = 1};
	uint8_t ip[IP_MAX];
	unsigned n = parse_ip(host, ip);

	if (!n)
		return strcasecmp(host, "localhost") == 0;
	return n == 4 ? ip[0] == 127 : memcmp(ip, six, sizeof six) == 0;
}

int proxy_choose(struct proxy *out, bool tls, const char *host, uint16_t port)
{
	static const char *const plain[] = {"ws_proxy",	 "WS_PROXY",  "http_proxy",
					    "all_proxy", "ALL_PROXY", NULL};
	static const char *const secure[] = {"wss_proxy", "WSS_PROXY", "https_proxy", "HTTPS_PROXY",
					     "all_proxy", "ALL_PROXY", NULL};
	static const char *const none[] = {"no_proxy", "NO_PROXY", NULL};
	const char *url = first_set(tls ? secure : plain), *list = first_set(none);

	if (!url || is_loopback(host) || (list && proxy_exempts(list, host, port))) {
		memset(out, 0, sizeof *out);
		return 0;
	}
	return proxy_parse(out, url);
}

void proxy_wipe(struct proxy *p)
{
	sodium_memzero(p, sizeof *p);
}

/* ---- a proxy's URL ---- */
static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int decode(const char *p, size_t n, char *out, size_t size)
{
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		char c = p[i];

		if (c == '%') {
			int high = i + 2 < n ? hex_digit(p[i + 1]) : -1;
			int low = high >= 0 ? hex_digit(p[i + 2]) : -1;

			if (low < 0)
				return EINVAL;
			c = (char)(high << 4 | low);
			i += 2;
		}
		if (at + 1 >= size || (unsigned char)c < 0x20 || c == 0x7f)
			return EINVAL;
		out[at++] = c;
	}
	out[at] = '\0';
	return 0;
}

static int parse_port(const char *text, size_t n, uint16_t *port)
{
	unsigned value = 0;

	if (!n || n > 5)
		return EINVAL;
	for (size_t i = 0; i < n; i++) {
		if (text[i] < '0' || text[i] > '9')
			return EINVAL;
		value = value * 10 + (unsigned)(text[i] - '0');
	}
	if (!value || value > 65535)
		return EINVAL;
	*port = (uint16_t)value;
	return 0;
}

/* host[:port], an IPv6 literal in brackets. */
static int parse_host(struct proxy *out, const char *p, size_t n)
{
	const char *end = p + n, *host = p, *tail;
	uint8_t ip[IP_MAX];
	size_t n_host;

	if (n && *p == '[') {
		host = p + 1;
		tail = memchr(host, ']', n - 1);
		if (!tail)
			return EINVAL;
		n_host = (size_t)(tail++ - host);
	} else {
		tail = memchr(p, ':', n);
		tail = tail ? tail : end;
		n_host = (size_t)(tail - p);
	}
	if (!n_host || n_host >= sizeof out->host || memchr(host, ' ', n_host))
		return EINVAL;
	memcpy(out->host, host, n_host);
	out->host[n_host] = '\0';
	if (*p == '[' && parse_ip(out->host, ip) != 16)
		return EINVAL;
	out->port = DEFAULT_PORT;
	if (tail == end)
		return 0;
	return *tail == ':' ? parse_port(tail + 1, (size_t)(end - tail - 1), &out->port) : EINVAL;
}

int proxy_parse(struct proxy *out, const char *url)
{
	const char *scheme_end = strstr(url, "://"), *p = url, *at, *end;
	struct proxy proxy = {0};
	int err = 0;

	if (scheme_end) {
		if (scheme_end - url != 4 || strncasecmp(url, "http", 4) != 0)
			return EPROTONOSUPPORT;
		p = scheme_end + 3;
	}
	end = p + strcspn(p, "/?#");
	at = memrchr(p, '@', (size_t)(end - p));
	if (at) {
		err = decode(p, (size_t)(at - p), proxy.credentials, sizeof proxy.credentials);
		p = at + 1;
	}
	if (!err)
		err = parse_host(&proxy, p, (size_t)(end - p));
	if (!err)
		*out = proxy;
	proxy_wipe(&proxy);
	return err;
}

/* ---- no_proxy ---- */
static bool ip_in_range(const uint8_t *ip, unsigned n, const char *entry)
{
	uint8_t range[IP_MAX];
	char text[64], *slash, *rest = NULL;
	unsigned long bits = 8ul * n;

	if (strlen(entry) >= sizeof text)
		return false;
	strcpy(text, entry);
	slash = strchr(text, '/');
	if (slash) {
		*slash = '\0';
		bits = strtoul(slash + 1, &rest, 10);
		if (rest == slash + 1 || *rest || slash[1] == '-' || bits > 8ul * n)
			return false;
	}
	if (parse_ip(text, range) != n || memcmp(ip, range, bits / 8) != 0)
		return false;
	return bits % 8 == 0 || !((ip[bits / 8] ^ range[bits / 8]) >> (8 - bits % 8));
}

static size_t trim_dots(const char *name, size_t n)
{
	return n && name[n - 1] == '.' ? n - 1 : n;
}

static bool name_in_domain(const char *host, const char *entry)
{
	size_t n = trim_dots(host, strlen(host)), m;

	if (*entry == '.')
		entry++;
	m = trim_dots(entry, strlen(entry));
	if (!m || m > n || strncasecmp(host + n - m, entry, m) != 0)
		return false;
	return m == n || host[n - m - 1] == '.';
}

/* Takes the brackets and the port off an entry. False: it is for another port. */
static bool split_entry(char *entry, uint16_t port, char **host)
{
	char *close = *entry == '[' ? strchr(entry, ']') : NULL;
	char *colon = close ? close + 1 : strchr(entry, ':');
	uint16_t only;

	*host = close ? entry + 1 : entry;
	if (close)
		*close = '\0';
	/* Two colons without brackets: an IPv6 address. */
	if (!colon || *colon != ':' || (!close && strchr(colon + 1, ':')))
		return true;
	*colon = '\0';
	return parse_port(colon + 1, strlen(colon + 1), &only) == 0 && only == port;
}

static bool entry_exempts(const char *p, size_t n, const char *host, uint16_t port)
{
	char entry[PROXY_HOST_MAX + 8], *name;
	uint8_t ip[IP_MAX];
	unsigned n_ip = parse_ip(host, ip);

	if (n >= sizeof entry)
		return false;
	memcpy(entry, p, n);
	entry[n] = '\0';
	if (!split_entry(entry, port, &name))
		return false;
	return n_ip ? ip_in_range(ip, n_ip, name) : name_in_domain(host, name);
}

bool proxy_exempts(const char *list, const char *host, uint16_t port)
{
	if (strcmp(list, "*") == 0)
		return true;
	for (const char *p = list; *p;) {
		size_t n = strcspn(p, ", \t");

		if (n && entry_exempts(p, n, host, port))
			return true;
		p += n ? n : 1;
	}
	return false;
}

/* ---- CONNECT ---- */
int proxy_request(const struct proxy *p, const char *host, uint16_t port,
		  char buf[PROXY_REQUEST_MAX], size_t *n)
{
	bool six = strchr(host, ':') != NULL;
	char to[PROXY_HOST_MAX + 16], auth[PROXY_AUTH_MAX] = "";
	int k = snprintf(to, sizeof to, "%s%s%s:%u", six ? "[" : "", host, six ? "]" : "", port);

	if (k < 0 || (size_t)k >= sizeof to)
		return EMSGSIZE;
	if (p->credentials[0])
		sodium_bin2base64(auth, sizeof auth, (const unsigned char *)p->credentials,
				  strlen(p->credentials), sodium_base64_VARIANT_ORIGINAL);
	k = snprintf(buf, PROXY_REQUEST_MAX, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n%s%s%s\r\n", to,
		     to, auth[0] ? "Proxy-Authorization: Basic " : "", auth, auth[0] ? "\r\n" : "");
	sodium_memzero(auth, sizeof auth);
	if (k < 0 || k >= PROXY_REQUEST_MAX)
		return EMSGSIZE;
	*n = (size_t)k;
	return 0;
}

int proxy_reply(const char *p, size_t n, unsigned *status)
{
	static const char begin[] = "HTTP/1.";
	size_t known = n < sizeof begin - 1 ? n : sizeof begin - 1;
	const char *end = memmem(p, n, "\r\n\r\n", 4);

	if (memcmp(p, begin, known) != 0 || (!end && n >= PROXY_REPLY_MAX))
		return EBADMSG;
	if (!end)
		return EAGAIN;
	if (end + 4 != p + n || n < 16 || p[8] != ' ')
		return EBADMSG;
	for (unsigned i = 9; i < 12; i++)
		if (p[i] < '0' || p[i] > '9')
			return EBADMSG;
	*status = (unsigned)((p[9] - '0') * 100 + (p[10] - '0') * 10 + (p[11] - '0'));
	return 0;
}
