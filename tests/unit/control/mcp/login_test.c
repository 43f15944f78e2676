/* Sign-in at a stand-in authorization server, with the browser played by requests of the test. */
#include "control/mcp/login.h"

#include <event2/buffer.h>
#include <event2/event.h>
#include <openssl/evp.h>
#include <string.h>
#include <sys/stat.h>

#include "control/dialect/oauth.h"
#include "control/mcp/token_file.h"
#include "control/settings/record.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "tests/test.h"
#include "tests/unit/control/fake_http.h"
#include "tests/unit/ipc/loop.h"

static struct rig {
	struct fake_http f;
	struct login *login;
	struct mcp_record record;
	char dir[32], link[OAUTH_LINK_MAX], why[256];
	unsigned registrations, tokens, visits, status;
	bool other_page; /* the page of the sign-in is at another host */
	bool over, no_pkce, elsewhere, no_sign_in;
	const char *scope;  /* that the operator asks for */
	const char *answer; /* of the browser: the query behind state; NULL: a code */
	char token_form[2000], verifier_hash[64];
} rig;

static void answer(struct evhttp_request *req, int status, const char *text)
{
	fake_http_answer(req, status, "application/json", text, strlen(text));
}

static void answer_server(struct evhttp_request *req, const char *base)
{
	char field[300];

	if (rig.no_sign_in) {
		answer(req, 200, "{}");
		return;
	}
	snprintf(field, sizeof field,
		 "Bearer error=\"invalid_token\", scope=\"a b\", resource_metadata=\"%s/meta\"",
		 rig.elsewhere ? "https://127.0.0.2" : base);
	evhttp_add_header(evhttp_request_get_output_headers(req), "WWW-Authenticate", field);
	answer(req, 401, "{}");
}

static void keep_form(const struct fake_http *f)
{
	snprintf(rig.token_form, sizeof rig.token_form, "%.*s", (int)f->n, (const char *)f->body);
}

static void serve(struct fake_http *f, struct evhttp_request *req)
{
	const char *path = evhttp_request_get_uri(req), *base = f->base;
	char text[1200];

	if (strcmp(path, "/v1/mcp") == 0) {
		answer_server(req, base);
	} else if (strcmp(path, "/v1/meta") == 0) {
		snprintf(text, sizeof text,
			 "{\"resource\":\"%s/mcp\",\"authorization_servers\":[\"%s\"]}", base,
			 base);
		answer(req, 200, text);
	} else if (strcmp(path, "/v1/.well-known/openid-configuration") == 0) {
		snprintf(text, sizeof text,
			 "{\"issuer\":\"%s\",\"token_endpoint\":\"%s/token\","
			 "\"authorization_endpoint\":\"%s/page\",\"registration_endpoint\":"
			 "\"%s/register\",\"code_challenge_methods_supported\":[%s]}",
			 base, base, rig.other_page ? "https://login.org" : base, base,
			 rig.no_pkce ? "" : "\"S256\"");
		answer(req, 200, text);
	} else if (strcmp(path, "/v1/register") == 0) {
		rig.registrations++;
		answer(req, 201, "{\"client_id\":\"given\"}");
	} else if (strcmp(path, "/v1/token") == 0) {
		keep_form(f);
		rig.tokens++;
		answer(req, 200,
		       "{\"access_token\":\"access-1\",\"token_type\":\"Bearer\","
		       "\"expires_in\":60,\"refresh_token\":\"refresh-1\"}");
	} else {
		answer(req, 404, "{}");
	}
}

static void on_page(const struct http_resp *resp, void *arg)
{
	(void)arg;
	rig.status = (unsigned)resp->status;
	rig.visits++;
}

/* The value of a parameter of the link, as it stands there. */
static const char *parameter(const char *name, char *out, size_t size)
{
	char mark[40];
	const char *at;

	snprintf(mark, sizeof mark, "%s=", name);
	at = strstr(rig.link, mark);
	at = at ? at + strlen(mark) : "";
	snprintf(out, size, "%.*s", (int)strcspn(at, "&"), at);
	return out;
}

static void visit(const char *state, const char *query)
{
	char redirect[100], url[400], *p, *colon;

	/* "http%3A%2F%2F127.0.0.1%3APORT%2Fcallback" */
	parameter("redirect_uri", redirect, sizeof redirect);
	p = strstr(redirect, "127.0.0.1%3A");
	colon = p ? p + strlen("127.0.0.1%3A") : redirect;
	snprintf(url, sizeof url, "http://127.0.0.1:%d/callback?state=%s%s", atoi(colon), state,
		 query);
	CHECK_INT(http_request(NULL, rig.f.http, &(struct http_call){.method = "GET", .url = url},
			       on_page, NULL),
		  0);
}

static void on_link(const char *link, const char *issuer, void *arg)
{
	char state[80];

	(void)arg;
	CHECK_STR(issuer, rig.f.base);
	snprintf(rig.link, sizeof rig.link, "%s", link);
	visit("forged", "&code=evil");
	visit(parameter("state", state, sizeof state), rig.answer ? rig.answer : "&code=c1");
}

static void on_end(const char *why, void *arg)
{
	(void)arg;
	snprintf(rig.why, sizeof rig.why, "%s", why ? why : "");
	rig.over = true;
	env_stop(rig.f.env);
}

static bool begin(void)
{
	memset(&rig, 0, sizeof rig);
	rig.scope = "";
	if (!fake_http_begin(&rig.f, serve, NULL) || !folder_make(rig.dir))
		return false;
	snprintf(rig.record.name, sizeof rig.record.name, "far");
	rig.record.transport = 1;
	snprintf(rig.record.url, sizeof rig.record.url, "%s/mcp", rig.f.base);
	return true;
}

static bool run(void)
{
	struct login_conf conf = {.env = rig.f.env,
				  .http = rig.f.http,
				  .record = &rig.record,
				  .state_dir = rig.dir,
				  .scope = rig.scope,
				  .linkh = on_link,
				  .endh = on_end};

	if (login_alloc(&rig.login, &conf))
		return false;
	env_run(rig.f.env);
	return rig.over;
}

static void end(void)
{
	login_free(rig.login);
	CHECK(!rig.f.timed_out);
	fake_http_end(&rig.f);
	folder_remove(rig.dir);
}

/* base64url of the SHA-256 of the verifier in the form. */
static const char *hash_verifier(void)
{
	const char *at = strstr(rig.token_form, "code_verifier=");
	uint8_t hash[OAUTH_HASH];

	at = at ? at + strlen("code_verifier=") : "";
	EVP_Digest(at, strcspn(at, "&"), hash, NULL, EVP_sha256(), NULL);
	oauth_base64url(hash, sizeof hash, rig.verifier_hash);
	return rig.verifier_hash;
}

TEST(login_keeps_the_tokens_of_its_own_code)
{
	struct sign_in s = {0};
	struct stat st;
	char path[128], challenge[64];

	CHECK(begin() && run());
	CHECK_STR(rig.why, "");
	CHECK(rig.registrations == 1 && rig.tokens == 1);
	CHECK(strstr(rig.link, "&scope=a%20b") && strstr(rig.link, "client_id=given"));
	CHECK(strstr(rig.token_form, "code=c1&") && !strstr(rig.token_form, "evil"));
	CHECK_STR(parameter("code_challenge", challenge, sizeof challenge), hash_verifier());
	CHECK_INT(sign_in_path(rig.dir, "far", path, sizeof path), 0);
	CHECK_INT(sign_in_read(path, rig.record.url, &s), 0);
	CHECK_STR(s.access, "access-1");
	CHECK_STR(s.refresh, "refresh-1");
	CHECK_STR(s.issuer, rig.f.base);
	CHECK(s.expires_ms > 60000);
	CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
	CHECK_INT(sign_in_read(path, "https://other.org/mcp", &s), EACCES);
	end();
}

TEST(login_asks_for_more_scopes_beside_those_of_the_server)
{
	CHECK(begin());
	rig.scope = "files:write b";
	CHECK(run());
	CHECK(strstr(rig.link, "&scope=a%20b%20files%3Awrite&") ||
	      strstr(rig.link, "&scope=a%20b%20files:write"));
	end();
}

TEST(login_uses_the_client_of_the_record)
{
	CHECK(begin());
	snprintf(rig.record.client_id, sizeof rig.record.client_id, "ours");
	snprintf(rig.record.issuer, sizeof rig.record.issuer, "%s", rig.f.base);
	snprintf(rig.record.values, sizeof rig.record.values, "{\"client secret\":\"hush\"}");
	CHECK(run());
	CHECK_STR(rig.why, "");
	CHECK(rig.registrations == 0 && strstr(rig.link, "client_id=ours"));
	CHECK(strstr(rig.token_form, "client_secret=hush") && !strstr(rig.link, "hush"));
	end();
}

TEST(login_tells_why_it_fails)
{
	CHECK(begin());
	rig.answer = "&error=access_denied";
	CHECK(run());
	CHECK(strstr(rig.why, "access_denied") && rig.tokens == 0);
	end();
	CHECK(begin());
	rig.no_pkce = true;
	CHECK(run());
	CHECK(strstr(rig.why, "PKCE") && !*rig.link);
	end();
	CHECK(begin());
	rig.no_sign_in = true;
	CHECK(run());
	CHECK(strstr(rig.why, "wants no sign-in"));
	end();
	CHECK(begin());
	snprintf(rig.record.issuer, sizeof rig.record.issuer, "https://as.org");
	CHECK(run());
	CHECK(strstr(rig.why, "does not name the authorization server of the settings"));
	end();
}

/* The server names an address of this network that is not its own. */
TEST(login_asks_no_private_address_that_a_server_names)
{
	CHECK(begin());
	rig.elsewhere = true;
	CHECK(run());
	CHECK(strstr(rig.why, "not public"));
	end();
}

/* The code would go to the token endpoint of a server whose page the operator never saw. */
TEST(login_goes_to_no_page_of_another_host_unless_the_settings_name_the_issuer)
{
	CHECK(begin());
	rig.other_page = true;
	CHECK(run());
	CHECK(strstr(rig.why, "names pages of another host") && !*rig.link);
	CHECK_INT(rig.registrations, 0);
	end();
}
