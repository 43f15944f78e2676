/* The query of a list:
 * ?guild=ID&user=ID&reason=NAME&q=LETTERS&since=MS&before=MS&limit=50&cursor=ID. Pure. */
#ifndef CONTROL_WEB_LIST_QUERY_H
#define CONTROL_WEB_LIST_QUERY_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/http/head.h"

enum { LIST_LIMIT = 50, LIST_LIMIT_MAX = 100, LIST_REASON_SIZE = 48, LIST_LETTERS_SIZE = 128 };

struct list_query {
	uint64_t guild, user;	   /* 0: any */
	uint64_t since_ms, cursor; /* 0: without */
	uint64_t before_ms;	   /* of turns; 0: without */
	unsigned limit;
	char reason[LIST_REASON_SIZE];	 /* "": any */
	bool timeline;			 /* of turns: with their timelines */
	char letters[LIST_LETTERS_SIZE]; /* that a text holds; "": any */
};

/* False: a parameter has another form. Parameters that are not known are refused before it
 * (queries.h). */
bool list_query_read(struct list_query *q, const struct http_head *head);

/* A number of this range; 0 without the parameter. False: it is none. */
bool list_query_number(const struct http_head *head, const char *name, uint64_t max, uint64_t *out);

/* Of /api/actions. */
enum { ACTIONS_LIMIT = 200, ACTION_KINDS_SIZE = 512 };
struct action_query {
	uint64_t guild, user, session; /* 0: any */
	uint64_t since_ms, cursor;     /* 0: without */
	unsigned limit;
	char kinds[ACTION_KINDS_SIZE]; /* ",a,b,"; "": any */
};

#endif
