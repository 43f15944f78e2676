#include "dns_server.h"

#include <arpa/inet.h>
#include <event2/dns.h>
#include <event2/dns_struct.h>
#include <event2/event.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

static int answer(struct dns_server *s, struct evdns_server_request *req, const char *name,
		  bool six)
{
	int err = DNS_ERR_NOTEXIST;

	for (unsigned i = 0; i < s->n; i++) {
		uint8_t addr[16];

		if (strcasecmp(s->records[i].name, name) != 0)
			continue;
		err = DNS_ERR_NONE;
		if (inet_pton(six ? AF_INET6 : AF_INET, s->records[i].address, addr) != 1)
			continue;
		if (six)
			evdns_server_request_add_aaaa_reply(req, name, 1, addr, 1);
		else
			evdns_server_request_add_a_reply(req, name, 1, addr, 1);
	}
	return err;
}

static void on_request(struct evdns_server_request *req, void *arg)
{
	struct dns_server *s = arg;
	const struct evdns_server_question *q = req->nquestions == 1 ? req->questions[0] : NULL;
	bool six = q && q->type == EVDNS_TYPE_AAAA;

	if (!q || (!six && q->type != EVDNS_TYPE_A)) {
		evdns_server_request_drop(req);
		return;
	}
	s->asked_a += !six;
	s->asked_aaaa += six;
	if (six ? s->mute_aaaa : s->mute_a)
		evdns_server_request_drop(req);
	else
		evdns_server_request_respond(req, answer(s, req, q->name, six));
}

bool dns_server_open(struct dns_server *s, struct event_base *base)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t n = sizeof sa;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	memset(s, 0, sizeof *s);
	if (fd < 0 || bind(fd, (struct sockaddr *)&sa, n) ||
	    getsockname(fd, (struct sockaddr *)&sa, &n))
		return false;
	s->port = ntohs(sa.sin_port);
	s->at = evdns_add_server_port_with_base(base, fd, 0, on_request, s);
	return s->at;
}

void dns_server_close(struct dns_server *s)
{
	if (s->at)
		evdns_close_server_port(s->at);
	s->at = NULL;
}

void dns_server_add(struct dns_server *s, const char *name, const char *address)
{
	if (s->n < DNS_SERVER_RECORDS)
		s->records[s->n++] = (struct dns_record){name, address};
}

bool dns_server_conf(const struct dns_server *s, const char *path)
{
	FILE *f = fopen(path, "w");
	bool ok = f && fprintf(f, "nameserver 127.0.0.1:%u\n", s->port) > 0;

	return f && !fclose(f) && ok;
}
