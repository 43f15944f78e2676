/* Servers of MCP that want OAuth, with a stand-in authorization server on the same port. */
#include "control/mcp/grant.h"

#include <event2/event.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/mcp/server.h"
#include "control/settings/record.h"
#include "ipc/journal.h"
#include "tests/test.h"
#include "tests/unit/control/mcp/toy_http.h"
#include "tests/unit/ipc/loop.h"

static struct rig {
	struct fake_http f;
	struct mcp_server *server;
	struct mcp_record record;
	unsigned tokens, refusals; /* tokens that were given; 401s that the server gives yet */
	const char *resource;	   /* what the metadata say; NULL: the truth */
	const char *error;	   /* of the token endpoint */
	char asked[400], file[64];
	bool ready;
} rig;

static void answer(struct evhttp_request *req, int status, const char *text)
{
	fake_http_answer(req, status, "application/json", text, strlen(text));
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
	rig.tokens++;
	snprintf(text, sizeof text,
		 "{\"access_token\":\"access-%u\",\"token_type\":\"Bearer\",\"expires_in\":3600,"
		 "\"refresh_token\":\"refresh-%u\"}",
		 rig.tokens, rig.tokens);
	answer(req, 200, text);
}

static void serve(struct fake_http *f, struct evhttp_request *req)
{
	const char *path = evhttp_request_get_uri(req);
	char text[800];

	if (strcmp(path, "/.well-known/oauth-protected-resource/v1/mcp") == 0) {
		snprintf(text, sizeof text,
			 "{\"resource\":\"%s\",\"authorization_servers\":[\"%s\"]}",
			 rig.resource ? rig.resource : rig.record.url, f->base);
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
	} else {
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
	(void)result;
	(void)arg;
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
	return mcp_server_alloc(&rig.server, &(struct mcp_server_conf){.env = rig.f.env,
								       .http = rig.f.http,
								       .record = &rig.record,
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
