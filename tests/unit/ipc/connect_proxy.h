/* An HTTP proxy on the loopback interface that knows CONNECT alone, on the test's own loop.
 * It connects to one port of 127.0.0.1, whatever host a client names. */
#ifndef TESTS_UNIT_IPC_CONNECT_PROXY_H
#define TESTS_UNIT_IPC_CONNECT_PROXY_H

#include <stdbool.h>
#include <stdint.h>

struct bufferevent;
struct event_base;
struct evconnlistener;

enum { CONNECT_PROXY_PAIRS = 8 };

struct connect_proxy {
	struct event_base *base;
	struct evconnlistener *listener;
	uint16_t port, target;
	const char *reply; /* instead of 200; "" = none */
	bool frozen;	   /* what comes, from either side, is swallowed */
	unsigned tunnels;
	char request[2048]; /* head of the last request */
	struct bufferevent *ends[2 * CONNECT_PROXY_PAIRS];
	unsigned n;
};

bool connect_proxy_open(struct connect_proxy *p, struct event_base *base, uint16_t target);
void connect_proxy_close(struct connect_proxy *p);

#endif
