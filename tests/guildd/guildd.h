/* A Discord on this machine: the state that its parts share. main.c makes the parts in this order
 * and frees them in reverse; each part reaches the others through this struct. Everything runs on
 * env's loop. */
#ifndef GUILDD_GUILDD_H
#define GUILDD_GUILDD_H

#include "tests/guildd/switches.h"
#include "tests/guildd/world.h"

#include <jansson.h>
#include <stdint.h>

struct env;
struct ws_ctx;

struct guildd {
	struct env *env;
	char ip[16];   /* the address of every listener */
	char name[64]; /* the host name of the voice server for clients */
	uint16_t port; /* of REST, the control API's is the next; 0: any */
	struct ws_ctx *ws;
	struct gd_switches sw;
	struct gd_world *world;
	struct gd_certs *certs;
	struct gd_relay *relay;
	struct gd_dave *dave;
	struct gd_voice *voice;
	struct gd_golives *golives;
	struct gd_gateway *gateway;
	struct gd_rest *rest;
	struct gd_api *api;
	struct gd_history *history;
	json_t *counts; /* by user id: { what: how often } */
};

/* 64 hex digits of the system's randomness: session ids, tokens. */
void gd_secret(struct guildd *g, char out[GD_SECRET]);
/* Adds one to a counter of a user (0: of nobody), shown by GET /stats. */
void gd_count(struct guildd *g, uint64_t user, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
