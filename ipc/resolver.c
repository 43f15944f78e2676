#include "ipc/resolver.h"

#include "ipc/log.h"

#include <errno.h>
#include <event2/dns.h>
#include <event2/event.h>
#include <event2/util.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char default_conf[] = "/etc/resolv.conf";

struct resolver {
	struct evdns_base *dns;
	char *conf;
	struct stat read; /* of the file when it was read; zeros when it was not there */
};

struct family {
	struct lookup *lookup;
	int af;
	bool answered, found;
	struct evdns_getaddrinfo_request *query;
};

struct lookup {
	struct family families[2]; /* AF_INET6 first */
	uint16_t port;
	bool starting, freed;
	lookup_h *h;
	void *arg;
};

/* ---- resolv.conf ---- */
static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static void read_conf(struct resolver *r, int options)
{
	evdns_base_resolv_conf_parse(r->dns, options, r->conf);
	/* Asked in mixed case, the name servers of some container engines know no name. TLS tells
	 * whom we have met. */
	evdns_base_set_option(r->dns, "randomize-case:", "0");
}

/* Queries that wait for a name server that is gone go to the new ones. A file that is not there, or
 * that a sandbox hides, changes nothing: the name servers that were read last are asked on. */
static void read_conf_again(struct resolver *r)
{
	struct stat now;
	int fd;

	if (stat(r->conf, &now) || same_file(&now, &r->read))
		return;
	fd = open(r->conf, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	close(fd);
	r->read = now;
	evdns_base_clear_nameservers_and_suspend(r->dns);
	evdns_base_search_clear(r->dns);
	read_conf(r, DNS_OPTION_SEARCH | DNS_OPTION_NAMESERVERS | DNS_OPTION_MISC);
	evdns_base_resume(r->dns);
	log_info("resolver_conf", "path=%s nameservers=%d", r->conf,
		 evdns_base_count_nameservers(r->dns));
}

int resolver_alloc(struct resolver **out, struct event_base *base)
{
	struct resolver *r;

	if (!out || !base)
		return EINVAL;
	r = calloc(1, sizeof *r);
	if (!r)
		return ENOMEM;
	r->conf = strdup(default_conf);
	r->dns = evdns_base_new(base, EVDNS_BASE_DISABLE_WHEN_INACTIVE);
	if (!r->conf || !r->dns) {
		resolver_free(r);
		return ENOMEM;
	}
	/* Before reading: a change that comes meanwhile is seen at the next lookup. */
	if (stat(r->conf, &r->read))
		memset(&r->read, 0, sizeof r->read);
	read_conf(r, DNS_OPTIONS_ALL);
	*out = r;
	return 0;
}

struct resolver *resolver_free(struct resolver *r)
{
	if (!r)
		return NULL;
	if (r->dns)
		evdns_base_free(r->dns, 0);
	free(r->conf);
	free(r);
	return NULL;
}

int resolver_set_conf(struct resolver *r, const char *path)
{
	char *copy;

	if (!r || !path)
		return EINVAL;
	copy = strdup(path);
	if (!copy)
		return ENOMEM;
	free(r->conf);
	r->conf = copy;
	return 0;
}

/* ---- lookups ---- */
static unsigned take_addresses(const struct family *f, const struct evutil_addrinfo *ai,
			       struct sockaddr_storage addrs[LOOKUP_MAX])
{
	uint16_t port = htons(f->lookup->port);
	unsigned n = 0;

	for (; ai && n < LOOKUP_MAX; ai = ai->ai_next) {
		if (ai->ai_family != f->af || ai->ai_addrlen > sizeof addrs[n])
			continue;
		memset(&addrs[n], 0, sizeof addrs[n]);
		memcpy(&addrs[n], ai->ai_addr, ai->ai_addrlen);
		if (f->af == AF_INET6)
			((struct sockaddr_in6 *)&addrs[n])->sin6_port = port;
		else
			((struct sockaddr_in *)&addrs[n])->sin_port = port;
		n++;
	}
	return n;
}

static void on_answer(int result, struct evutil_addrinfo *ai, void *arg)
{
	struct sockaddr_storage addrs[LOOKUP_MAX];
	struct family *f = arg;
	unsigned n;

	/* A cancelled query is answered, too, when its lookup is not there any more. */
	if (result == EVUTIL_EAI_CANCEL)
		return;
	f->query = NULL;
	f->answered = true;
	n = result ? 0 : take_addresses(f, ai, addrs);
	f->found = n > 0;
	if (ai)
		evutil_freeaddrinfo(ai);
	f->lookup->h(f->af, addrs, n, f->lookup->arg);
}

static void ask_family(struct resolver *r, struct family *f, const char *name)
{
	struct evutil_addrinfo hints = {.ai_family = f->af, .ai_socktype = SOCK_STREAM};
	struct evdns_getaddrinfo_request *q =
		evdns_getaddrinfo(r->dns, name, NULL, &hints, on_answer, f);

	/* NULL: it was answered already, from the hosts file. */
	if (q)
		f->query = q;
}

/* Like the C library: a name of the hosts file is not asked of a name server for its other family.
 */
static void skip_other_family(struct lookup *l)
{
	for (unsigned i = 0; i < 2 && !l->freed; i++) {
		struct family *f = &l->families[i];

		if (f->answered || !l->families[!i].found)
			continue;
		evdns_getaddrinfo_cancel(f->query);
		f->query = NULL;
		f->answered = true;
		l->h(f->af, NULL, 0, l->arg);
	}
}

int lookup_start(struct lookup **out, struct resolver *r, const char *name, uint16_t port,
		 lookup_h *h, void *arg)
{
	static const int afs[2] = {AF_INET6, AF_INET};
	struct lookup *l;

	if (!out || !r || !name || !h)
		return EINVAL;
	l = calloc(1, sizeof *l);
	if (!l)
		return ENOMEM;
	l->port = port;
	l->h = h;
	l->arg = arg;
	for (unsigned i = 0; i < 2; i++)
		l->families[i] = (struct family){.lookup = l, .af = afs[i]};
	read_conf_again(r);
	*out = l;
	l->starting = true;
	for (unsigned i = 0; i < 2 && !l->freed; i++)
		ask_family(r, &l->families[i], name);
	skip_other_family(l);
	l->starting = false;
	if (l->freed)
		free(l);
	return 0;
}

struct lookup *lookup_free(struct lookup *l)
{
	if (!l || l->freed)
		return NULL;
	for (unsigned i = 0; i < 2; i++) {
		if (l->families[i].query)
			evdns_getaddrinfo_cancel(l->families[i].query);
		l->families[i].query = NULL;
	}
	l->freed = true;
	if (!l->starting)
		free(l);
	return NULL;
}
