/* OAuth without a browser: where metadata are, what they must say, tokens. */
#include "control/dialect/oauth.h"

#include <errno.h>
#include <stdio.h>
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

static struct oauth_resource resource;

static int read_resource(const char *text, const char *named)
{
	return oauth_read_resource(text, strlen(text), "https://a.org/v1/mcp", named, &resource);
}

TEST(oauth_reads_metadata_of_the_server_and_of_no_other)
{
	CHECK_INT(read_resource("{\"resource\":\"https://a.org/v1/mcp\",\"scopes_supported\":"
				"[\"read\",7,\"a\\\"b\",\"write\"],\"authorization_servers\":[7,"
				"\"http://as.org\",\"https://as.org\"]}",
				""),
		  0);
	CHECK_STR(resource.issuer, "https://as.org");
	CHECK_STR(resource.scope, "read write");
	CHECK_INT(read_resource("{\"resource\":\"https://a.org/\",\"authorization_servers\":["
				"\"https://b.org\",\"https://as.org\"]}",
				"https://as.org/"),
		  0);
	CHECK_STR(resource.resource, "https://a.org/");
	CHECK_STR(resource.issuer, "https://as.org");
	CHECK_INT(read_resource("{\"resource\":\"https://a.org/v1/mc\","
				"\"authorization_servers\":[\"https://as.org\"]}",
				""),
		  EACCES);
	CHECK_INT(read_resource("{\"resource\":\"https://a.or\","
				"\"authorization_servers\":[\"https://as.org\"]}",
				""),
		  EACCES);
	CHECK_INT(read_resource("{\"resource\":\"https://a.org/v1/mcp/more\","
				"\"authorization_servers\":[\"https://as.org\"]}",
				""),
		  EACCES);
	CHECK_INT(read_resource("{\"resource\":\"https://a.org\","
				"\"authorization_servers\":[\"https://evil.org\"]}",
				"https://as.org"),
		  EPERM);
	CHECK_INT(read_resource("{\"resource\":\"https://a.org\"}", ""), EPERM);
	CHECK_INT(read_resource("{\"authorization_servers\":[\"https://as.org\"]}", ""), EBADMSG);
	CHECK_INT(read_resource("not JSON", ""), EBADMSG);
}

static int read_issuer(const char *text, const char *named, struct oauth_issuer *o)
{
	return oauth_read_issuer(text, strlen(text), named, o);
}

TEST(oauth_reads_the_addresses_of_the_issuer)
{
	struct oauth_issuer o = {0};

	CHECK_INT(read_issuer("{\"issuer\":\"https://as.org\",\"token_endpoint\":\"https://as.org/"
			      "token\",\"authorization_endpoint\":\"javascript:alert(1)\","
			      "\"registration_endpoint\":\"https://as.org/register\","
			      "\"code_challenge_methods_supported\":[\"plain\",\"S256\"]}",
			      "https://as.org/", &o),
		  0);
	CHECK_STR(o.token, "https://as.org/token");
	CHECK_STR(o.registration, "https://as.org/register");
	CHECK(!*o.authorize && o.s256 && !o.names_itself);
	CHECK_INT(read_issuer("{\"issuer\":\"https://as.org\",\"token_endpoint\":"
			      "\"https://as.org/t\"}",
			      "https://other.org", &o),
		  EACCES);
	CHECK_INT(read_issuer("{\"issuer\":\"https://as.org\",\"token_endpoint\":"
			      "\"http://as.org/t\"}",
			      "https://as.org", &o),
		  EBADMSG);
	CHECK_STR(o.token, "https://as.org/token");
}

TEST(oauth_reads_challenges)
{
	struct oauth_challenge c;

	oauth_read_challenge(
		"Bearer error=\"invalid_token\", error_description=\"x, y=\\\"z\\\"\", "
		"resource_metadata=\"https://a.org/.well-known/p\"",
		&c);
	CHECK_STR(c.metadata, "https://a.org/.well-known/p");
	CHECK_STR(c.error, "invalid_token");
	CHECK_STR(c.scope, "");
	oauth_read_challenge("Basic realm=\"x\", scope=\"no\", bearer scope = \"a b\",error=e, "
			     "DPoP scope=\"c\"",
			     &c);
	CHECK_STR(c.scope, "a b");
	CHECK_STR(c.error, "e");
	/* Neither plain HTTP nor what would break a line or a shell. */
	oauth_read_challenge("Bearer resource_metadata=\"http://a.org/p\", scope=\"a\x01\"", &c);
	CHECK(!*c.metadata && !*c.scope);
	oauth_read_challenge("Negotiate abc==", &c);
	CHECK(!*c.metadata);
	oauth_read_challenge("Bearer scope=\"open", &c);
	CHECK_STR(c.scope, "open");
	oauth_read_challenge("", &c);
}

TEST(oauth_makes_the_link_of_a_sign_in)
{
	struct oauth_sign_in s = {.authorize = "https://as.org/authorize",
				  .client_id = "c 1",
				  .redirect = "http://127.0.0.1:9/callback",
				  .scope = "",
				  .resource = "https://a.org/mcp",
				  .state = "st",
				  .challenge = "ch"};
	char link[OAUTH_LINK_MAX];

	CHECK_INT(oauth_sign_in_link(&s, link, sizeof link), 0);
	CHECK_STR(link, "https://as.org/authorize?response_type=code&client_id=c%201&redirect_uri="
			"http%3A%2F%2F127.0.0.1%3A9%2Fcallback&state=st&code_challenge=ch&"
			"code_challenge_method=S256&resource=https%3A%2F%2Fa.org%2Fmcp");
	CHECK_INT(oauth_sign_in_link(&s, link, 60), EMSGSIZE);
	s.authorize = "http://as.org/authorize";
	CHECK_INT(oauth_sign_in_link(&s, link, sizeof link), EINVAL);
	/* RFC 7636 Appendix B. */
	oauth_base64url((const uint8_t[]){19, 211, 30,	150, 26,  26,  216, 236, 47,  22,  177,
					  12, 76,  152, 46,  8,	  118, 168, 120, 173, 109, 241,
					  68, 86,  110, 225, 137, 74,  203, 112, 249, 195},
			32, link);
	CHECK_STR(link, "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
}

TEST(oauth_takes_the_code_of_its_own_sign_in_only)
{
	struct oauth_redirect r = {.state = "s1", .code = "c"};

	CHECK_INT(oauth_check_redirect(&r, "s1", "https://as.org", false), 0);
	CHECK_INT(oauth_check_redirect(&r, "s1", "https://as.org", true), EACCES);
	CHECK_INT(oauth_check_redirect(&r, "s2", "https://as.org", false), EACCES);
	CHECK_INT(oauth_check_redirect(&r, "", "https://as.org", false), EACCES);
	snprintf(r.iss, sizeof r.iss, "https://as.org/");
	CHECK_INT(oauth_check_redirect(&r, "s1", "https://as.org", true), 0);
	CHECK_INT(oauth_check_redirect(&r, "s1", "https://b.org", false), EACCES);
	snprintf(r.error, sizeof r.error, "access_denied");
	CHECK_INT(oauth_check_redirect(&r, "s1", "https://as.org", false), ECANCELED);
	snprintf(r.error, sizeof r.error, "<b>");
	CHECK_INT(oauth_check_redirect(&r, "s1", "https://as.org", false), EBADMSG);
	r = (struct oauth_redirect){.state = "s1"};
	CHECK_INT(oauth_check_redirect(&r, "s1", "https://as.org", false), EBADMSG);
}

TEST(oauth_registers_a_client_without_a_secret)
{
	struct oauth_client c = {0};
	char *body = oauth_register_body("http://127.0.0.1:9/callback", "a b");

	CHECK(strstr(body, "\"redirect_uris\":[\"http://127.0.0.1:9/callback\"]") &&
	      strstr(body, "\"scope\":\"a b\"") &&
	      strstr(body, "\"token_endpoint_auth_method\":\"none\""));
	free(body);
	CHECK_INT(oauth_read_client("{\"client_id\":\"x\",\"client_secret\":\"y\"}", 37, &c), 0);
	CHECK(strcmp(c.id, "x") == 0 && strcmp(c.secret, "y") == 0);
	CHECK_INT(oauth_read_client("{\"client_id\":7}", 15, &c), EBADMSG);
	CHECK_STR(c.id, "x");
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
	ask.code = "co";
	ask.verifier = "ve";
	ask.redirect = "re";
	body = oauth_ask_body(&ask);
	CHECK_STR(body, "grant_type=authorization_code&code=co&code_verifier=ve&redirect_uri=re&"
			"client_id=c%201&client_secret=s%26%3D%C3%A9&resource="
			"https%3A%2F%2Fa.org%2Fmcp");
	free(body);
	ask.code = ask.verifier = ask.redirect = NULL;
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

/* The link is printed to the operator's terminal. */
TEST(oauth_takes_no_address_with_control_characters)
{
	static const char *const paths[] = {"/\\u001b]0;owned\\u0007", "/\\u0007", "/\\u007f",
					    "/\\u009b2J"};
	struct oauth_issuer o = {0};
	char text[400];

	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		snprintf(text, sizeof text,
			 "{\"issuer\":\"https://a.org\",\"token_endpoint\":\"https://a.org/t\","
			 "\"authorization_endpoint\":\"https://a.org%s\"}",
			 paths[i]);
		CHECK_INT(oauth_read_issuer(text, strlen(text), "https://a.org", &o), 0);
		CHECK_STR(o.authorize, "");
	}
	CHECK(!oauth_may_send("https://a.org/\033[2J"));
	CHECK(oauth_may_send("https://a.org/page"));
}

TEST(oauth_compares_origins_with_their_ports)
{
	CHECK(oauth_same_origin("https://a.org/x", "https://a.org/y"));
	CHECK(oauth_same_origin("https://a.org:8443", "https://a.org:8443/y"));
	CHECK(!oauth_same_origin("https://a.org:8443/x", "https://a.org/x"));
	CHECK(!oauth_same_origin("https://a.org:84/x", "https://a.org:8443/x"));
	CHECK(!oauth_same_origin("https://a.org/x", "https://b.org/x"));
	CHECK(!oauth_same_origin("https://a.org/x", ""));
	CHECK(oauth_same_host("https://a.org:84/x", "https://a.org/x"));
}
