/* A small JSON server on ipc/http_server.h: splits the path, reads the body, writes the answer. */
#ifndef GUILDD_HTTPD_H
#define GUILDD_HTTPD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct env;
struct httpd;

enum { HTTPD_MAX_SEGMENTS = 12 };

/* One request. Everything is borrowed and lives until httpd_reply. */
struct httpd_req {
	void *running;		       /* httpd's own */
	const char *method;	       /* "GET" … */
	char *seg[HTTPD_MAX_SEGMENTS]; /* decoded parts of the path, e.g. "@original" */
	unsigned n_seg;
	json_t *body;  /* NULL when there is none */
	bool bad_body; /* there was one that is no JSON object or array */
};

/* Must call httpd_reply once, before it returns. */
typedef void(httpd_h)(struct httpd_req *req, void *arg);

/* Listens on this address; port 0: any. Caller owns *out. */
int httpd_alloc(struct httpd **out, struct env *env, const char *ip, uint16_t port, httpd_h *h,
		void *arg);
struct httpd *httpd_free(struct httpd *d);
uint16_t httpd_port(const struct httpd *d);

/* A request's header, or a parameter of its query; NULL when absent. */
const char *httpd_header(const struct httpd_req *req, const char *name);
const char *httpd_query(const struct httpd_req *req, const char *name);
/* A header of the answer. */
void httpd_set(struct httpd_req *req, const char *name, const char *value);
/* Sends the answer; body NULL = without one, and then without a content type. Steals body. */
void httpd_reply(struct httpd_req *req, int status, json_t *body);
/* 200 with a file. */
void httpd_reply_file(struct httpd_req *req, const char *type, const void *data, size_t n);

#endif
