#include "control/sign_in_link.h"

#include <errno.h>
#include <string.h>

#include <sodium.h>

#include "control/settings/listen.h"
#include "control/settings/settings.h"
#include "control/state.h"
#include "control/web/sign_in.h"

/* A browser on this machine reaches a server that listens everywhere by its loopback address. */
static void print_link(FILE *out, const struct listen_address *at, const char *code)
{
	const char *host = strcmp(at->host, "0.0.0.0") == 0 ? "127.0.0.1"
			   : strcmp(at->host, "[::]") == 0  ? "[::1]"
							    : at->host;

	/* What follows the # never leaves the browser by itself. */
	fprintf(out, "http://%s:%u/#k=%s\n", host, at->port, code);
}

/* The settings of this process are not those of the control that serves. */
static const char *explain_unset(const char *state_dir)
{
	return state_dir && state_locked(state_dir)
		       ? "the setting web_listen is empty here. A control runs with this state "
			 "directory: if it serves the dashboard, give PARLEY_WEB_LISTEN or "
			 "--config here as there"
		       : "the setting web_listen is empty, so nothing is served";
}

int sign_in_link_run(FILE *out, const struct settings *settings, const char *state_dir,
		     const char *role, uint16_t port, uint64_t now_ms)
{
	struct sign_in s = {.role = WEB_ADMIN, .expires_ms = now_ms + SIGN_IN_MS};
	char token[STATE_TOKEN_MAX], code[SIGN_IN_MAX];
	struct listen_address at;
	int err;

	if (role && !web_role_parse(role, strlen(role), &s.role)) {
		fprintf(stderr, "control: %s is no role: viewer, operator or admin\n", role);
		return 2;
	}
	if (!*settings->web_listen || listen_parse(&at, settings->web_listen)) {
		fprintf(stderr, "control: %s\n", explain_unset(state_dir));
		return 1;
	}
	if (port)
		at.port = port;
	err = state_dir ? state_read_web_token(state_dir, token, sizeof token) : ENOENT;
	if (err) {
		fprintf(stderr,
			"control: the file web-token in the state directory cannot be used: %s\n",
			err == ENOENT ? "control makes it at its first start with web_listen"
				      : state_web_token_fault(err));
		return 1;
	}
	randombytes_buf(s.nonce, sizeof s.nonce);
	if (sign_in_format(code, sizeof code, &s, token) == 0)
		print_link(out, &at, code);
	sodium_memzero(token, sizeof token);
	sodium_memzero(code, sizeof code);
	return 0;
}
