#include "tests/test.h"

#include "control/web/sign_in.h"

#include <string.h>

#define TOKEN "0123456789abcdef0123456789abcdef"
#define NOW   UINT64_C(1790000000000)

static struct sign_in code_of(enum web_role role)
{
	return (struct sign_in){.role = role, .expires_ms = NOW + 1000, .nonce = {1, 2, 3}};
}

TEST(a_code_is_read_as_it_was_made)
{
	char text[SIGN_IN_MAX];
	struct sign_in s = code_of(WEB_OPERATOR), got;

	CHECK_INT(sign_in_format(text, sizeof text, &s, TOKEN), 0);
	CHECK_INT(sign_in_parse(text, &got), 0);
	CHECK_INT(got.role, WEB_OPERATOR);
	CHECK(got.expires_ms == s.expires_ms);
	CHECK_MEM(got.nonce, sizeof got.nonce, s.nonce, sizeof s.nonce);
	CHECK(sign_in_verify(text, TOKEN));
	CHECK(!sign_in_verify(text, TOKEN "0"));
	s = code_of(WEB_NOBODY);
	CHECK_INT(sign_in_format(text, sizeof text, &s, TOKEN), EINVAL);
	s = code_of(WEB_ADMIN);
	CHECK_INT(sign_in_format(text, 40, &s, TOKEN), ENOSPC);
}

TEST(no_letter_of_a_code_can_be_changed)
{
	char text[SIGN_IN_MAX], other[SIGN_IN_MAX];
	struct sign_in s = code_of(WEB_VIEWER), got;

	CHECK_INT(sign_in_format(text, sizeof text, &s, TOKEN), 0);
	for (size_t i = 0; text[i]; i++) {
		memcpy(other, text, sizeof text);
		other[i] = other[i] == '1' ? '2' : '1';
		CHECK(sign_in_parse(other, &got) != 0 || !sign_in_verify(other, TOKEN));
	}
	for (size_t i = strlen(text); i--;) {
		text[i] = '\0';
		CHECK_INT(sign_in_parse(text, &got), EBADMSG);
	}
}

TEST(a_code_with_something_behind_it_is_none)
{
	char text[SIGN_IN_MAX];
	struct sign_in s = code_of(WEB_ADMIN), got;

	CHECK_INT(sign_in_format(text, sizeof text, &s, TOKEN), 0);
	strcat(text, "0");
	CHECK_INT(sign_in_parse(text, &got), EBADMSG);
	CHECK_INT(sign_in_parse("1.admin.99999999999999999999.", &got), EBADMSG);
	CHECK_INT(sign_in_parse("1.root.1.", &got), EBADMSG);
	CHECK_INT(sign_in_parse("1.nobody.1.", &got), EBADMSG);
	CHECK_INT(sign_in_parse("", &got), EBADMSG);
}

TEST(a_code_holds_for_ten_minutes_at_most)
{
	struct sign_in s = code_of(WEB_ADMIN);

	CHECK(sign_in_holds(&s, NOW));
	CHECK(!sign_in_holds(&s, NOW + 1000));
	s.expires_ms = NOW + SIGN_IN_MS + 1;
	CHECK(!sign_in_holds(&s, NOW));
}
