/* OAuth without a browser: where metadata are, what they must say, tokens. */
#include "control/dialect/oauth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

static char url[OAUTH_URL_MAX];

static const char *resource_place(const char *server, unsigned place)
{
	int err = oauth_resource_place(server, place, url, sizeof url);

	return err == EINVAL ? "EINVAL" : err == ENOENT ? "ENOENT" : err ? "error" : url;
}

static const char *issuer_place(const char *issuer, unsigned place)
{
	int err = oauth_issuer_place(issuer, place, url, sizeof url);

	return err == EINVAL ? "EINVAL" : err == ENOENT ? "ENOENT" : err ? "error" : url;
}

TEST(oauth_looks_for_metadata_in_the_places_of_the_standards)
{
	CHECK_STR(resource_place("https://a.org/mcp/", 0),
		  "https://a.org/.well-known/oauth-protected-resource/mcp");
	CHECK_STR(resource_place("https://a.org/mcp", 1),
		  "https://a.org/.well-known/oauth-protected-resource");
	CHECK_STR(resource_place("https://a.org", 0),
		  "https://a.org/.well-known/oauth-protected-resource");
	CHECK_STR(resource_place("https://a.org/", 1), "ENOENT");
	CHECK_STR(resource_place("https://a.org/mcp", 2), "ENOENT");
	CHECK_STR(issuer_place("https://a.org/t/1", 0),
		  "https://a.org/.well-known/oauth-authorization-server/t/1");
	CHECK_STR(issuer_place("https://a.org/t/1", 1),
		  "https://a.org/.well-known/openid-configuration/t/1");
	CHECK_STR(issuer_place("https://a.org/t/1", 2),
		  "https://a.org/t/1/.well-known/openid-configuration");
	CHECK_STR(issuer_place("https://a.org", 2), "ENOENT");
	CHECK_STR(issuer_place("https://a.org", 3), "ENOENT");
}

TEST(oauth_sends_credentials_over_https_or_to_this_machine_only)
{
	static const char *const refused[] = {
		"http://a.org/mcp", "http://127.0.0.1.a.org/", "http://localhost.a.org/",
		"ftp://a.org",	    "https://u:p@a.org/",      "https://a.org/?x",
		"https://a.org/#x", "https://a.org/\r\nX: y",  "",
	};

	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
		CHECK_STR(resource_place(refused[i], 0), "EINVAL");
		CHECK_STR(issuer_place(refused[i], 0), "EINVAL");
	}
	CHECK_STR(issuer_place("http://127.0.0.1:8080", 0),
		  "http://127.0.0.1:8080/.well-known/oauth-authorization-server");
	CHECK_STR(issuer_place("http://[::1]:8080/", 0),
		  "http://[::1]:8080/.well-known/oauth-authorization-server");
}

static int check_resource(const char *text)
{
	return oauth_check_resource(text, strlen(text), "https://a.org/mcp", "https://as.org/");
}

TEST(oauth_refuses_metadata_of_others)
{
	static const char issuer[] =
		"{\"issuer\":\"https://as.org\",\"token_endpoint\":\"https://as.org/token\"}";
	static const char plain[] =
		"{\"issuer\":\"https://as.org\",\"token_endpoint\":\"http://as.org/token\"}";
	char endpoint[OAUTH_URL_MAX] = "";

	CHECK_INT(check_resource("{\"resource\":\"https://a.org/mcp\","
				 "\"authorization_servers\":[7,\"https://as.org\"]}"),
		  0);
	CHECK_INT(check_resource("{\"resource\":\"https://a.org/other\","
				 "\"authorization_servers\":[\"https://as.org\"]}"),
		  EACCES);
	CHECK_INT(check_resource("{\"resource\":\"https://a.org/mcp\","
				 "\"authorization_servers\":[\"https://evil.org\"]}"),
		  EPERM);
	CHECK_INT(check_resource("{\"authorization_servers\":[\"https://as.org\"]}"), EBADMSG);
	CHECK_INT(check_resource("not JSON"), EBADMSG);
	CHECK_INT(oauth_read_issuer(issuer, strlen(issuer), "https://as.org/", endpoint,
				    sizeof endpoint),
		  0);
	CHECK_STR(endpoint, "https://as.org/token");
	CHECK_INT(oauth_read_issuer(issuer, strlen(issuer), "https://other.org", endpoint,
				    sizeof endpoint),
		  EACCES);
	CHECK_INT(oauth_read_issuer(plain, strlen(plain), "https://as.org", endpoint,
				    sizeof endpoint),
		  EBADMSG);
	CHECK_INT(oauth_read_issuer(issuer, strlen(issuer), "https://as.org", endpoint, 5),
		  EBADMSG);
}

TEST(oauth_asks_with_what_it_has)
{
	struct oauth_ask ask = {.client_id = "c 1",
				.client_secret = "s&=\xc3\xa9",
				.refresh_token = "",
				.scope = "",
				.resource = "https://a.org/mcp"};
	char *body = oauth_ask_body(&ask);

	CHECK_STR(body, "grant_type=client_credentials&client_id=c%201&client_secret="
			"s%26%3D%C3%A9&resource=https%3A%2F%2Fa.org%2Fmcp");
	free(body);
	ask.client_secret = "";
	ask.refresh_token = "r.1";
	ask.scope = "a b";
	body = oauth_ask_body(&ask);
	CHECK_STR(body, "grant_type=refresh_token&refresh_token=r.1&client_id=c%201&scope=a%20b&"
			"resource=https%3A%2F%2Fa.org%2Fmcp");
	free(body);
}

static int read_token(const char *text, struct oauth_token *t)
{
	return oauth_read_token(text, strlen(text), t);
}

TEST(oauth_reads_bearer_tokens_that_fit_a_header)
{
	struct oauth_token t = {0};
	char error[16];

	CHECK_INT(read_token("{\"access_token\":\"a.b-c\",\"token_type\":\"BEARER\","
			     "\"expires_in\":3600,\"refresh_token\":\"r2\"}",
			     &t),
		  0);
	CHECK_STR(t.access, "a.b-c");
	CHECK_STR(t.refresh, "r2");
	CHECK_INT(t.seconds, 3600);
	CHECK_INT(read_token("{\"access_token\":\"x\",\"token_type\":\"Bearer\",\"expires_in\":-1}",
			     &t),
		  0);
	CHECK(t.seconds == 0 && !*t.refresh);
	CHECK_INT(read_token("{\"access_token\":\"x\",\"token_type\":\"mac\"}", &t), EBADMSG);
	CHECK_INT(read_token("{\"access_token\":\"x\"}", &t), EBADMSG);
	CHECK_INT(read_token("{\"access_token\":\"\",\"token_type\":\"bearer\"}", &t), EBADMSG);
	CHECK_INT(read_token("{\"access_token\":\"a\\r\\nX: y\",\"token_type\":\"bearer\"}", &t),
		  EBADMSG);
	CHECK_INT(read_token("[]", &t), EBADMSG);
	CHECK_STR(t.access, "x");
	oauth_read_error("{\"error\":\"invalid_grant\"}", 25, error, sizeof error);
	CHECK_STR(error, "invalid_grant");
	oauth_read_error("{\"error\":\"a\\nb\"}", 16, error, sizeof error);
	CHECK_STR(error, "");
}
