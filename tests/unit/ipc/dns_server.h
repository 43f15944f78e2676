/* A name server on the loopback interface, on the test's own loop. */
#ifndef TESTS_UNIT_IPC_DNS_SERVER_H
#define TESTS_UNIT_IPC_DNS_SERVER_H

#include <stdbool.h>
#include <stdint.h>

struct event_base;
struct evdns_server_port;

enum { DNS_SERVER_RECORDS = 24 };

struct dns_server {
	struct evdns_server_port *at;
	uint16_t port;
	struct dns_record {
		const char *name, *address; /* borrowed */
	} records[DNS_SERVER_RECORDS];
	unsigned n, asked_a, asked_aaaa;
	bool mute_a, mute_aaaa; /* leaves such questions without an answer */
};

bool dns_server_open(struct dns_server *s, struct event_base *base);
void dns_server_close(struct dns_server *s);
/* IPv4 or IPv6 by its form. A name without a record is answered with NXDOMAIN. */
void dns_server_add(struct dns_server *s, const char *name, const char *address);
/* Writes a resolv.conf that names it alone. */
bool dns_server_conf(const struct dns_server *s, const char *path);

#endif
