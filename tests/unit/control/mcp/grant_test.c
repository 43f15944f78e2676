/* Servers of MCP that want OAuth, with a stand-in authorization server on the same port. */
#include "control/mcp/grant.h"

#include <event2/event.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/mcp/server.h"
#include "control/mcp/token_file.h"
#include "control/settings/record.h"
#include "ipc/journal.h"
#include "tests/test.h"
#include "tests/unit/control/mcp/toy_http.h"
#include "tests/unit/ipc/loop.h"

static struct rig {
	struct fake_http f;
	struct mcp_server *server;
	struct mcp_record record;
	unsigned tokens, refusals; /* tokens issued so far; 401s still to be sent */
	unsigned refused_calls;	   /* 401s still to be sent to calls */
	unsigned wants_more;	   /* 403s for a missing scope still to be sent */
	char dir[32];		   /* of sign-ins; "": there are none */
	char shown[64];		   /* the newest token at the server */
	const char *resource;	   /* what the metadata say; NULL: the truth */
	const char *issuer;	   /* that the metadata name; NULL: the truth */
	const char *error;	   /* of the token endpoint */
	bool signs_in;		   /* the operator signs in during the next token request */
	char asked[400], file[64], result[300];
	bool ready;
} rig;

static void answer(struct evhttp_request *req, int status, const char *text)
{
	fake_http_answer(req, status, "application/json", text, strlen(text));
}

static bool write_sign_in(const char *access, const char *refresh, uint64_t expires_ms)
{
	struct sign_in s = {.expires_ms = expires_ms};
	char path[128];

	snprintf(s.url, sizeof s.url, "%s", rig.record.url);
	snprintf(s.issuer, sizeof s.issuer, "%s", rig.issuer ? rig.issuer : rig.f.base);
	snprintf(s.resource, sizeof s.resource, "%s", rig.record.url);
	snprintf(s.client.id, sizeof s.client.id, "registered");
	snprintf(s.access, sizeof s.access, "%s", access);
	snprintf(s.refresh, sizeof s.refresh, "%s", refresh);
	return sign_in_path(rig.dir, "far", path, sizeof path) == 0 && sign_in_write(path, &s) == 0;
}

static void answer_token(struct fake_http *f, struct evhttp_request *req)
{
	char text[200];

	snprintf(rig.asked, sizeof rig.asked, "%.*s", (int)f->n, (const char *)f->body);
	if (rig.error) {
		snprintf(text, sizeof text, "{\"error\":\"%s\"}", rig.error);
		answer(req, 400, text);
		return;
	}
	if (rig.signs_in)
		CHECK(write_sign_in("newer-token", "newer-refresh", 0));
	rig.tokens++;
	snprintf(text, sizeof text,
		 "{\"access_token\":\"access-%u\",\"token_type\":\"Bearer\",\"expires_in\":3600,"
		 "\"refresh_token\":\"refresh-%u\"}",
		 rig.tokens, rig.tokens);
	answer(req, 200, text);
}

static void keep_token(struct evhttp_request *req)
{
	const char *field =
		evhttp_find_header(evhttp_request_get_input_headers(req), "Authorization");

	snprintf(rig.shown, sizeof rig.shown, "%s", field ? field : "");
}

static void serve(struct fake_http *f, struct evhttp_request *req)
{
	const char *path = evhttp_request_get_uri(req);
	char text[800];

	if (strcmp(path, "/.well-known/oauth-protected-resource/v1/mcp") == 0) {
		snprintf(text, sizeof text,
			 "{\"resource\":\"%s\",\"authorization_servers\":[\"%s\"]}",
			 rig.resource ? rig.resource : rig.record.url,
			 rig.issuer ? rig.issuer : f->base);
		answer(req, 200, text);
	} else if (strcmp(path, "/v1/.well-known/openid-configuration") == 0) {
		snprintf(text, sizeof text, "{\"issuer\":\"%s\",\"token_endpoint\":\"%s/token\"}",
			 f->base, f->base);
		answer(req, 200, text);
	} else if (strcmp(path, "/v1/token") == 0) {
		answer_token(f, req);
	} else if (strcmp(path, "/v1/mcp") != 0) {
		answer(req, 404, "{}");
	} else if (rig.refusals) {
		rig.refusals--;
		answer(req, 401, "{}");
	} else if (rig.refused_calls && strstr((const char *)f->body, "tools/call")) {
		rig.refused_calls--;
		answer(req, 401, "{}");
	} else if (rig.wants_more && strstr((const char *)f->body, "tools/call")) {
		rig.wants_more--;
		evhttp_add_header(evhttp_request_get_output_headers(req), "WWW-Authenticate",
				  "Bearer error=\"insufficient_scope\", scope=\"files:write\"");
		answer(req, 403, "{}");
	} else {
		keep_token(req);
		toy_http_serve(f, req);
	}
}

static void on_change(struct mcp_server *server, void *arg)
{
	enum mcp_state state = mcp_state(mcp_server_client(server));

	(void)arg;
	rig.ready = state == MCP_READY;
	if (rig.ready)
		env_stop(rig.f.env);
}

static void on_result(uint64_t call, const struct mcp_result *result, void *arg)
{
	(void)call;
	(void)arg;
	snprintf(rig.result, sizeof rig.result, "%s", result->text);
	env_stop(rig.f.env);
}

static void on_progress(uint64_t call, double share, const char *text, void *arg)
{
	(void)call;
	(void)share;
	(void)text;
	(void)arg;
}

static bool begin(const char *values)
{
	memset(&rig, 0, sizeof rig);
	memset(&toy_http, 0, sizeof toy_http);
	if (!fake_http_begin(&rig.f, serve, NULL))
		return false;
	snprintf(rig.file, sizeof rig.file, "/tmp/parley-grant-%d", (int)getpid());
	snprintf(rig.record.name, sizeof rig.record.name, "far");
	rig.record.transport = 1;
	snprintf(rig.record.url, sizeof rig.record.url, "%s/mcp", rig.f.base);
	snprintf(rig.record.issuer, sizeof rig.record.issuer, "%s", rig.f.base);
	snprintf(rig.record.client_id, sizeof rig.record.client_id, "parley");
	snprintf(rig.record.values, sizeof rig.record.values, "%s", values);
	return true;
}

static int start(void)
{
	return mcp_server_alloc(&rig.server,
				&(struct mcp_server_conf){.env = rig.f.env,
							  .http = rig.f.http,
							  .record = &rig.record,
							  .state_dir = *rig.dir ? rig.dir : NULL,
							  .version = "1",
							  .changeh = on_change,
							  .resulth = on_result,
							  .progressh = on_progress});
}

static void end(void)
{
	mcp_server_free(rig.server);
	CHECK(!rig.f.timed_out);
	fake_http_end(&rig.f);
	unlink(rig.file);
	if (*rig.dir)
		folder_remove(rig.dir);
}

/* Runs until the server has said why it is not ready. */
static void run_until_why(void)
{
	for (int i = 0; i < 1000 && strstr(mcp_server_why(rig.server), "being started"); i++)
		event_base_loop(env_base(rig.f.env), EVLOOP_ONCE);
}

TEST(a_refresh_token_opens_a_server_and_the_next_one_is_kept)
{
	struct stat st;
	char kept[32] = "";
	int fd;

	CHECK(begin("{\"refresh token\":\"refresh-0\"}"));
	snprintf(rig.record.refresh_token_file, sizeof rig.record.refresh_token_file, "%s",
		 rig.file);
	CHECK_INT(start(), 0);
	env_run(rig.f.env);
	CHECK(rig.ready);
	CHECK_STR(toy_http.secret, "Bearer access-1");
	CHECK(strstr(rig.asked, "grant_type=refresh_token&refresh_token=refresh-0&client_id=parley"
				"&resource=http%3A%2F%2F127.0.0.1%3A"));
	fd = open(rig.file, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & 0777) == 0600);
	CHECK_INT(read(fd, kept, sizeof kept - 1), 9);
	CHECK_STR(kept, "refresh-1");
	close(fd);
	end();
}

/* The token is void before its time: the next start asks for another, with the new refresh token.
 */
TEST(a_refused_token_is_replaced)
{
	CHECK(begin("{\"refresh token\":\"refresh-0\"}"));
	rig.refusals = 1;
	CHECK_INT(start(), 0);
	env_run(rig.f.env);
	CHECK(rig.ready);
	CHECK_INT(rig.tokens, 2);
	CHECK(strstr(rig.asked, "refresh_token=refresh-1"));
	CHECK_STR(toy_http.secret, "Bearer access-2");
	end();
}

TEST(a_call_that_meets_an_expired_token_is_sent_once_more)
{
	CHECK(begin("{\"client secret\":\"hush\"}"));
	CHECK_INT(start(), 0);
	env_run(rig.f.env);
	rig.refused_calls = 1;
	CHECK_INT(mcp_server_call(rig.server, 1, MCP_CALL_TOOL, "say", NULL, 5000), 0);
	env_run(rig.f.env);
	CHECK_STR(rig.result, "spoken");
	CHECK_STR(rig.shown, "Bearer access-2");
	/* A new token that is refused, too, ends the call. */
	rig.refused_calls = 2;
	CHECK_INT(mcp_server_call(rig.server, 2, MCP_CALL_TOOL, "say", NULL, 5000), 0);
	env_run(rig.f.env);
	CHECK(strstr(rig.result, "401"));
	CHECK_INT(rig.tokens, 3);
	end();
}

TEST(a_call_ends_when_no_token_replaces_the_expired_one)
{
	CHECK(begin("{\"client secret\":\"hush\"}"));
	CHECK_INT(start(), 0);
	env_run(rig.f.env);
	rig.refused_calls = 1;
	rig.error = "invalid_client";
	CHECK_INT(mcp_server_call(rig.server, 1, MCP_CALL_TOOL, "say", NULL, 5000), 0);
	env_run(rig.f.env);
	CHECK(strstr(rig.result, "401"));
	end();
}

TEST(a_client_with_a_secret_needs_no_refresh_token)
{
	CHECK(begin("{\"client secret\":\"hush\"}"));
	CHECK_INT(start(), 0);
	env_run(rig.f.env);
	CHECK(rig.ready);
	CHECK(strncmp(rig.asked,
		      "grant_type=client_credentials&client_id=parley&client_secret=hush&",
		      66) == 0);
	end();
}

/* Nothing is sent to the authorization server. */
TEST(metadata_of_another_server_get_no_token)
{
	CHECK(begin("{\"client secret\":\"hush\"}"));
	rig.resource = "https://other.org/mcp";
	CHECK_INT(start(), 0);
	run_until_why();
	CHECK(strstr(mcp_server_why(rig.server), "those of another server"));
	CHECK_STR(rig.asked, "");
	end();
}

TEST(an_authorization_server_that_the_settings_do_not_name_gets_no_credentials)
{
	CHECK(begin("{\"client secret\":\"hush\"}"));
	snprintf(rig.record.issuer, sizeof rig.record.issuer, "https://elsewhere.org");
	CHECK_INT(start(), 0);
	run_until_why();
	CHECK(strstr(mcp_server_why(rig.server), "does not name the authorization server"));
	CHECK_STR(rig.asked, "");
	end();
}

TEST(a_refused_grant_is_told)
{
	CHECK(begin("{\"refresh token\":\"void\"}"));
	rig.error = "invalid_grant";
	CHECK_INT(start(), 0);
	run_until_why();
	CHECK(strstr(mcp_server_why(rig.server), "invalid_grant"));
	CHECK(!strstr(mcp_server_why(rig.server), "void"));
	end();
}

static void on_token(const char *header, void *arg)
{
	(void)header;
	(void)arg;
	CHECK(false);
}

static void on_failed(const char *why, void *arg)
{
	snprintf(arg, 160, "%s", why);
}

/* The journal would hold the tokens that the response brings. */
TEST(no_token_is_requested_while_a_journal_is_written)
{
	char dir[32], path[64], why[160] = "";
	struct journal *j = NULL;
	struct grant *g = NULL;
	struct http *http = NULL;
	struct env *env = NULL;

	CHECK(begin("{\"refresh token\":\"refresh-0\"}"));
	CHECK(folder_make(dir));
	snprintf(path, sizeof path, "%s/journal", dir);
	CHECK_INT(journal_create(&j, path, 1, "{}"), 0);
	CHECK_INT(env_alloc(&env, &(struct env_conf){.loop = true, .journal = j}), 0);
	CHECK_INT(http_alloc(&http, env, NULL, "Tester"), 0);
	CHECK_INT(grant_alloc(&g, &(struct grant_conf){.env = env,
						       .http = http,
						       .record = &rig.record,
						       .tokenh = on_token,
						       .failedh = on_failed,
						       .arg = why}),
		  0);
	grant_get(g);
	CHECK(strstr(why, "journal"));
	grant_free(g);
	http_free(http);
	env_free(env);
	journal_free(j);
	folder_remove(dir);
	end();
}

/* ---- sign-ins ---- */

static bool keep_sign_in(const char *access, const char *refresh, uint64_t expires_ms)
{
	*rig.record.issuer = '\0';
	return folder_make(rig.dir) && write_sign_in(access, refresh, expires_ms);
}

static struct sign_in read_sign_in(void)
{
	struct sign_in s = {0};
	char path[128];

	sign_in_path(rig.dir, "far", path, sizeof path);
	if (sign_in_read(path, rig.record.url, &s))
		s = (struct sign_in){0};
	return s;
}

/* Starts the server, which refuses what has no token. */
static void check_wants_sign_in(void)
{
	rig.refusals = 1000;
	CHECK_INT(start(), 0);
	for (int i = 0; i < 1000 && !strstr(mcp_server_why(rig.server), "--mcp-login"); i++)
		event_base_loop(env_base(rig.f.env), EVLOOP_ONCE);
	CHECK_STR(mcp_server_why(rig.server), "it wants a sign-in: run control --mcp-login far");
	CHECK_INT(rig.tokens, 0);
}

TEST(a_server_that_wants_a_sign_in_says_how)
{
	CHECK(begin(""));
	*rig.record.issuer = '\0';
	check_wants_sign_in();
	end();
}

/* Its issuer stands in the settings. */
TEST(a_public_client_needs_a_sign_in)
{
	CHECK(begin(""));
	check_wants_sign_in();
	rig.server = mcp_server_free(rig.server);
	rig.refusals = 0;
	CHECK(folder_make(rig.dir) && write_sign_in("signed-in", "refresh-1", 0));
	CHECK_INT(start(), 0);
	env_run(rig.f.env);
	CHECK(rig.ready);
	CHECK_STR(rig.shown, "Bearer signed-in");
	end();
}

TEST(a_sign_in_opens_a_server_with_its_token)
{
	CHECK(begin(""));
	CHECK(keep_sign_in("kept-token", "", 0));
	CHECK_INT(start(), 0);
	env_run(rig.f.env);
	CHECK(rig.ready && rig.tokens == 0);
	CHECK_STR(rig.shown, "Bearer kept-token");
	end();
}

/* The new tokens are in the file, so that the next start has them. */
TEST(a_sign_in_that_has_expired_is_renewed_and_rotated)
{
	struct sign_in s;

	CHECK(begin(""));
	CHECK(keep_sign_in("old-token", "old-refresh", 1));
	CHECK_INT(start(), 0);
	env_run(rig.f.env);
	CHECK(rig.ready && rig.tokens == 1);
	CHECK_STR(rig.shown, "Bearer access-1");
	CHECK(strstr(rig.asked, "refresh_token=old-refresh&client_id=registered&resource="));
	s = read_sign_in();
	CHECK_STR(s.access, "access-1");
	CHECK_STR(s.refresh, "refresh-1");
	end();
}

/* Its token is void, and the server says so. */
TEST(a_sign_in_that_the_server_refuses_is_renewed)
{
	CHECK(begin(""));
	CHECK(keep_sign_in("void-token", "old-refresh", 0));
	rig.refusals = 1;
	CHECK_INT(start(), 0);
	env_run(rig.f.env);
	CHECK(rig.ready && rig.tokens == 1);
	CHECK_STR(rig.shown, "Bearer access-1");
	end();
}

TEST(a_sign_in_that_cannot_be_renewed_says_how_to_begin_anew)
{
	CHECK(begin(""));
	CHECK(keep_sign_in("old-token", "old-refresh", 1));
	rig.error = "invalid_grant";
	CHECK_INT(start(), 0);
	run_until_why();
	CHECK(strstr(mcp_server_why(rig.server), "invalid_grant") &&
	      strstr(mcp_server_why(rig.server), "--mcp-login far"));
	end();
}

TEST(a_call_that_wants_a_further_scope_is_told_in_words)
{
	CHECK(begin(""));
	CHECK(keep_sign_in("kept-token", "", 0));
	CHECK_INT(start(), 0);
	env_run(rig.f.env);
	rig.wants_more = 1;
	CHECK_INT(mcp_server_call(rig.server, 1, MCP_CALL_TOOL, "say", NULL, 5000), 0);
	env_run(rig.f.env);
	CHECK(strstr(rig.result, "control --mcp-login far --scope 'files:write'"));
	end();
}

/* The operator signs in again while the renewal is under way. */
TEST(a_renewal_keeps_a_newer_sign_in)
{
	CHECK(begin(""));
	CHECK(keep_sign_in("old-token", "old-refresh", 1));
	rig.signs_in = true;
	CHECK_INT(start(), 0);
	env_run(rig.f.env);
	CHECK(rig.ready && rig.tokens == 1);
	CHECK_STR(read_sign_in().refresh, "newer-refresh");
	end();
}

/* Only the settings may open this network to an authorization server; the sign-in learned its own
 * from the server. */
TEST(an_issuer_that_a_sign_in_learned_must_be_public)
{
	char issuer[80];

	CHECK(begin(""));
	snprintf(issuer, sizeof issuer, "http://localhost%s", strrchr(rig.f.base, ':'));
	rig.issuer = issuer;
	CHECK(keep_sign_in("old-token", "old-refresh", 1));
	CHECK_INT(start(), 0);
	run_until_why();
	CHECK(strstr(mcp_server_why(rig.server), "not public"));
	CHECK_STR(rig.asked, "");
	end();
}
