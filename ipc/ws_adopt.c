/* Hands a connected socket to lws, which in 4.1 takes none for a client; and holds IPv6 literals
 * against certificates.
 *
 * We let lws connect to a loopback port where nobody listens. A non-blocking connect never ends
 * inside the call, so lws waits for its descriptor to become writable. The connected socket is put
 * in that descriptor's place before libuv has looked at it (libuv applies changes when it runs):
 * lws finds it connected and goes on with TLS. A Unix socket would do, too, but mediad may make
 * none. docs/decisions/0045. */
#include "ipc/ws_inside.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- the port where nobody listens: bound, so that no other process can listen ---- */
int ws_anchor_open(struct ws_anchor *a)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t n = sizeof sa;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return errno;
	if (bind(fd, (struct sockaddr *)&sa, n) || getsockname(fd, (struct sockaddr *)&sa, &n)) {
		err = errno;
		close(fd);
		return err;
	}
	a->fd = fd;
	a->port = ntohs(sa.sin_port);
	return 0;
}

void ws_anchor_close(struct ws_anchor *a)
{
	if (a->port)
		close(a->fd);
	a->port = 0;
}

/* ---- handing over ---- */
static struct lws *begin(struct ws *ws, const char *host)
{
	struct ws_dial_state *d = &ws->dial;
	unsigned tls = LCCSCF_USE_SSL | (d->six ? LCCSCF_SKIP_SERVER_CERT_HOSTNAME_CHECK : 0);
	/* The headers may hold a key, which is meant for this address alone. */
	unsigned flags = LCCSCF_HTTP_NO_FOLLOW_REDIRECT | (d->tls ? tls : 0);
	struct lws_client_connect_info ci = {
		.context = ws->ctx->lws,
		.vhost = ws->ctx->client,
		.address = "127.0.0.1",
		.port = ws->ctx->anchor.port,
		.path = d->path,
		.host = host,
		.origin = NULL,
		.ssl_connection = (int)flags,
		.local_protocol_name = ws_protocols[0].name,
		.alpn = "http/1.1",
		.opaque_user_data = ws,
		.pwsi = &ws->wsi,
	};

	return lws_client_connect_via_info(&ci);
}

int ws_adopt(struct ws *ws, int fd)
{
	char host[WS_HOST_MAX + 16];
	struct lws *wsi;
	int mine, err = 0;

	snprintf(host, sizeof host, ws->dial.six ? "[%s]:%u" : "%s:%u", ws->dial.host,
		 ws->dial.port);
	ws->busy++; /* a failure may be told from inside */
	wsi = begin(ws, host);
	ws->busy--;
	mine = wsi && ws->wsi ? lws_get_socket_fd(ws->wsi) : -1;
	if (mine < 0)
		err = ECONNABORTED;
	else if (dup3(fd, mine, O_CLOEXEC) < 0)
		err = errno;
	close(fd);
	ws_kick(ws->ctx);
	return err;
}

/* ---- certificates of IPv6 literals: lws cuts the host at its first colon ---- */

/* lws would send "[" as the server name. RFC 6066 §3 allows no literal address there. */
static void on_tls(const SSL *ssl, int where, int ret)
{
	const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);

	(void)ret;
	if ((where & SSL_CB_HANDSHAKE_START) && name && name[0] == '[')
		SSL_set_tlsext_host_name((SSL *)(uintptr_t)ssl, NULL);
}

void ws_tls_prepare(void *ssl_ctx)
{
	SSL_CTX_set_info_callback(ssl_ctx, on_tls);
}

int ws_tls_verify(struct ws *ws, void *x509_store_ctx, bool chain_ok)
{
	struct ws_dial_state *d = &ws->dial;
	X509 *cert;

	if (!d->six || !chain_ok || X509_STORE_CTX_get_error_depth(x509_store_ctx) != 0)
		return 0;
	cert = X509_STORE_CTX_get_current_cert(x509_store_ctx);
	d->verified = cert && X509_check_ip_asc(cert, d->host, 0) == 1;
	if (!d->verified)
		X509_STORE_CTX_set_error(x509_store_ctx, X509_V_ERR_IP_ADDRESS_MISMATCH);
	return d->verified ? 0 : -1;
}
