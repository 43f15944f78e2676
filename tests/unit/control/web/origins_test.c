/* Which Host is ours, which page may ask, and who a client behind a proxy is. */
#include "control/web/origins.h"

#include <string.h>

#include "tests/test.h"

static struct http_text text(const char *s)
{
	return (struct http_text){s, strlen(s)};
}

static struct origins make(void)
{
	struct origins o = {.listen = "127.0.0.1"};

	origins_read(&o, "https://parley.example.org", "https://share.example.org:8443",
		     "10.0.0.5, 10.0.0.6");
	return o;
}

TEST(settings_of_origins_are_read_strictly)
{
	struct origins o = {0};

	CHECK(origins_read(&o, "", "", ""));
	CHECK(origins_read(&o, "https://a.example", "https://b.example:1", "::1,127.0.0.1"));
	CHECK_INT(o.n_proxies, 2);
	CHECK(!origins_read(&o, "http://a.example", "", ""));
	CHECK(!origins_read(&o, "https://a.example/", "", ""));
	CHECK(!origins_read(&o, "https://a.example:", "", ""));
	CHECK(!origins_read(&o, "https://a b", "", ""));
	CHECK(!origins_read(&o, "https://", "", ""));
	CHECK(!origins_read(&o, "https://a.example", "https://a.example", ""));
	CHECK(!origins_read(&o, "https://a.example", "https://a.example.:8443", ""));
	CHECK(!origins_read(&o, "", "", "proxy.example"));
	CHECK(!origins_read(&o, "", "",
			    "1.1.1.1,2.2.2.2,3.3.3.3,4.4.4.4,5.5.5.5,6.6.6.6,7.7.7.7,"
			    "8.8.8.8,9.9.9.9"));
}

TEST(a_host_is_the_dashboards_the_shares_or_foreign)
{
	struct origins o = make();

	CHECK_INT(origins_place(&o, text("127.0.0.1:9")), PLACE_LISTEN);
	CHECK_INT(origins_place(&o, text("localhost:9")), PLACE_LISTEN);
	CHECK_INT(origins_place(&o, text("PARLEY.example.org")), PLACE_OWN);
	CHECK_INT(origins_place(&o, text("parley.example.org:8443")), PLACE_FOREIGN);
	CHECK_INT(origins_place(&o, text("share.example.org:8443")), PLACE_SHARE);
	CHECK_INT(origins_place(&o, text("share.example.org")), PLACE_FOREIGN);
	CHECK_INT(origins_place(&o, text("parley.example.org.evil.example")), PLACE_FOREIGN);
	CHECK_INT(origins_place(&o, text("")), PLACE_FOREIGN);
	/* A default port and a dot at the end are no other name. */
	CHECK_INT(origins_place(&o, text("parley.example.org:443")), PLACE_OWN);
	CHECK_INT(origins_place(&o, text("parley.example.org.")), PLACE_OWN);
	CHECK_INT(origins_place(&o, text("share.example.org.:8443")), PLACE_SHARE);
}

TEST(at_every_address_names_that_are_bound_anew_are_foreign)
{
	struct origins o = make();

	for (unsigned i = 0; i < 2; i++) {
		strcpy(o.listen, i ? "[::]" : "0.0.0.0");
		CHECK_INT(origins_place(&o, text("evil.example:9")), PLACE_FOREIGN);
		CHECK_INT(origins_place(&o, text("127.0.0.1.evil.example:9")), PLACE_FOREIGN);
		CHECK_INT(origins_place(&o, text("share.example.org")), PLACE_FOREIGN);
		CHECK_INT(origins_place(&o, text("share.example.org.")), PLACE_FOREIGN);
		CHECK_INT(origins_place(&o, text("")), PLACE_FOREIGN);
		CHECK_INT(origins_place(&o, text("192.168.0.2:9")), PLACE_LISTEN);
		CHECK_INT(origins_place(&o, text("[fd00::1]:9")), PLACE_LISTEN);
		CHECK_INT(origins_place(&o, text("localhost:9")), PLACE_LISTEN);
		CHECK_INT(origins_place(&o, text("parley.example.org")), PLACE_OWN);
	}
}

TEST(pages_of_other_origins_are_not_ours)
{
	struct origins o = make();
	struct http_text own = text("parley.example.org"), loop = text("127.0.0.1:9");

	CHECK(origins_match(&o, text("https://parley.example.org"), own));
	CHECK(!origins_match(&o, text("http://parley.example.org"), own));
	CHECK(!origins_match(&o, text("https://share.example.org:8443"), own));
	CHECK(!origins_match(&o, text("null"), own));
	CHECK(origins_match(&o, text("https://parley.example.org"),
			    text("parley.example.org:443")));
	CHECK(!origins_match(&o, text("https://parley.example.org:8443"), own));
	CHECK(origins_match(&o, text("http://127.0.0.1:9"), loop));
	CHECK(!origins_match(&o, text("http://127.0.0.1:91"), loop));
	CHECK(!origins_match(&o, text(""), loop));
}

TEST(a_cookie_is_kept_by_loopback_and_the_proxy_alone)
{
	struct origins o = make();

	strcpy(o.listen, "0.0.0.0");
	CHECK(origins_private(&o, text("127.0.0.1:9")));
	CHECK(origins_private(&o, text("127.1.2.3")));
	CHECK(origins_private(&o, text("[::1]:9")));
	CHECK(origins_private(&o, text("localhost:9")));
	CHECK(origins_private(&o, text("parley.example.org")));
	CHECK(!origins_private(&o, text("127.evil.example")));
	CHECK(!origins_private(&o, text("localhost.evil.example")));
	CHECK(!origins_private(&o, text("192.168.0.2:9")));
	CHECK(!origins_private(&o, text("")));
}

static const char *client(const char *peer, const char *first, const char *second)
{
	static char out[ADDRESS_MAX];
	static struct http_head head;
	struct origins o = make();

	memset(&head, 0, sizeof head);
	head.fields[0] = (struct http_field){text("x-forwarded-for"), text(first)};
	head.fields[1] = (struct http_field){text("X-Forwarded-For"), text(second)};
	head.n_fields = *second ? 2 : *first ? 1 : 0;
	strcpy(out, peer);
	origins_client(&o, &head, out);
	return out;
}

TEST(the_client_is_the_last_hop_that_no_proxy_of_ours_is)
{
	CHECK_STR(client("10.0.0.5", "", ""), "10.0.0.5");
	CHECK_STR(client("10.0.0.5", "1.2.3.4", ""), "1.2.3.4");
	/* What the client itself sent stands before. */
	CHECK_STR(client("10.0.0.5", "9.9.9.9, 1.2.3.4", ""), "1.2.3.4");
	CHECK_STR(client("10.0.0.5", "9.9.9.9", "1.2.3.4"), "1.2.3.4");
	CHECK_STR(client("10.0.0.5", "1.2.3.4, 10.0.0.6", ""), "1.2.3.4");
	CHECK_STR(client("10.0.0.5", "1.2.3.4", "10.0.0.6"), "1.2.3.4");
	/* Others are not believed. */
	CHECK_STR(client("6.6.6.6", "1.2.3.4", ""), "6.6.6.6");
	CHECK_STR(client("10.0.0.5", "<script>", ""), "10.0.0.5");
	CHECK_STR(client("10.0.0.5", "2001:db8::1", ""), "2001:db8::1");
	CHECK_STR(client("10.0.0.5", ",", ""), "10.0.0.5");
}
