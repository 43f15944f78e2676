#include "control/mcp/discovery.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/http.h"

enum { ASK_MS = 10000, AT_CHALLENGE = 0, AT_WELL_KNOWN = 1 };

struct discovery {
	struct discovery_conf conf;
	struct http_req *req; /* NULL: nothing is asked */
	enum { ASKS_RESOURCE, ASKS_ISSUER } asks;
	unsigned place; /* of the resource: the challenge's address, then the well-known places */
	struct oauth_resource resource;
};

static void ask_next(struct discovery *d);

struct http *discovery_http(const struct discovery_conf *conf, const char *url)
{
	if (!oauth_may_send(url))
		return NULL;
	if (oauth_same_host(url, conf->server) || oauth_same_origin(url, conf->trusted))
		return conf->http;
	return conf->guarded;
}

static void fail(struct discovery *d, const char *why)
{
	d->conf.failedh(why, d->conf.arg);
}

static const char *describe_error(const struct discovery *d, int err)
{
	if (err == EPERM)
		return *d->conf.issuer
			       ? "the server does not name the authorization server of the settings"
			       : "the server names no authorization server that can be used";
	return d->asks == ASKS_ISSUER ? "the metadata are those of another authorization server"
				      : "the metadata are those of another server";
}

static void take_metadata(struct discovery *d, const struct http_resp *resp)
{
	struct oauth_issuer issuer;
	int err;

	if (d->asks == ASKS_RESOURCE)
		err = oauth_read_resource(resp->body.p, resp->body.n, d->conf.server,
					  d->conf.issuer, &d->resource);
	else
		err = oauth_read_issuer(resp->body.p, resp->body.n, d->resource.issuer, &issuer);
	if (err == EACCES || err == EPERM) {
		fail(d, describe_error(d, err));
	} else if (err) {
		d->place++;
		ask_next(d);
	} else if (d->asks == ASKS_RESOURCE) {
		d->asks = ASKS_ISSUER;
		d->place = 0;
		ask_next(d);
	} else {
		d->conf.foundh(&d->resource, &issuer, d->conf.arg);
	}
}

static void on_response(const struct http_resp *resp, void *arg)
{
	struct discovery *d = arg;

	d->req = NULL;
	if (resp->err == EACCES) {
		fail(d, "the metadata are at an address that is not public");
	} else if (resp->err) {
		fail(d, "the authorization server or the server's metadata cannot be reached");
	} else if (resp->status != 200) {
		d->place++;
		ask_next(d);
	} else {
		take_metadata(d, resp);
	}
}

/* As oauth_resource_place and oauth_issuer_place. */
static int find_place(const struct discovery *d, char *url, size_t size)
{
	if (d->asks == ASKS_ISSUER)
		return oauth_issuer_place(d->resource.issuer, d->place, url, size);
	if (d->place >= AT_WELL_KNOWN)
		return oauth_resource_place(d->conf.server, d->place - AT_WELL_KNOWN, url, size);
	snprintf(url, size, "%s", d->conf.metadata);
	return 0;
}

static void ask_next(struct discovery *d)
{
	char url[OAUTH_URL_MAX];
	int err = find_place(d, url, sizeof url);
	struct http *http = err ? NULL : discovery_http(&d->conf, url);

	if (err)
		fail(d, err == EINVAL ? "the address is neither https nor on this machine"
			: d->asks == ASKS_RESOURCE
				? "the server does not tell its authorization server"
				: "the authorization server tells nothing of itself");
	else if (!http)
		fail(d, "the metadata are at an address that is not public");
	else if (http_request(&d->req, http,
			      &(struct http_call){.method = "GET",
						  .url = url,
						  .timeout_ms = ASK_MS,
						  .max_body = OAUTH_BODY_MAX},
			      on_response, d))
		fail(d, "there is no memory");
}

int discovery_alloc(struct discovery **out, const struct discovery_conf *conf)
{
	struct discovery *d = calloc(1, sizeof *d);

	if (!d)
		return ENOMEM;
	d->conf = *conf;
	d->place = *conf->metadata ? AT_CHALLENGE : AT_WELL_KNOWN;
	*out = d;
	ask_next(d);
	return 0;
}

struct discovery *discovery_free(struct discovery *d)
{
	if (!d)
		return NULL;
	if (d->req)
		http_req_cancel(d->req);
	free(d);
	return NULL;
}
