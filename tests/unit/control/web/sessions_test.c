#include "tests/test.h"

#include "control/web/sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOKEN "0123456789abcdef0123456789abcdef"

static uint64_t add(struct sessions *s, enum web_role role, unsigned n, char secret[WEB_KEYED_HEX])
{
	uint8_t nonce[SESSION_NONCE] = {(uint8_t)n, (uint8_t)(n >> 8)};

	sessions_secret(s, nonce, secret);
	return sessions_add(
		s, &(struct session){.role = role, .created_ms = 1000 + n, .expires_ms = 5000 + n},
		secret);
}

TEST(a_session_is_found_by_its_secret_until_it_is_over)
{
	struct sessions s = {.token = TOKEN};
	char a[WEB_KEYED_HEX], b[WEB_KEYED_HEX];
	uint64_t one = add(&s, WEB_ADMIN, 1, a), two = add(&s, WEB_VIEWER, 2, b);

	CHECK(strcmp(a, b) != 0 && one != two);
	CHECK(sessions_match(&s, a) == one);
	CHECK(sessions_match(&s, b) == two);
	CHECK(sessions_match(&s, "") == 0);
	CHECK_INT(sessions_find(&s, two, 2000)->role, WEB_VIEWER);
	CHECK(sessions_find(&s, one, 5000) != NULL);
	CHECK(sessions_find(&s, one, 5001) == NULL);
	CHECK(sessions_deadline(&s) == 5001);
	CHECK_INT(sessions_expire(&s, 5001), 1);
	CHECK(sessions_match(&s, a) == 0);
	CHECK(sessions_end(&s, two));
	CHECK(!sessions_end(&s, two));
	CHECK(sessions_deadline(&s) == UINT64_MAX);
}

TEST(the_oldest_session_of_the_lowest_role_is_in_the_way)
{
	const struct session admin = {.role = WEB_ADMIN, .expires_ms = 9000},
			     keeper = {.role = WEB_OPERATOR, .expires_ms = 9000},
			     viewer = {.role = WEB_VIEWER, .expires_ms = 9000};
	struct sessions s = {.token = TOKEN};
	char secret[WEB_KEYED_HEX];

	CHECK_INT(sessions_in_the_way(&s, &viewer), 0);
	for (unsigned i = 0; i < SESSIONS_MAX; i++)
		add(&s,
		    i == 5	       ? WEB_VIEWER
		    : i == 3 || i == 7 ? WEB_OPERATOR
				       : WEB_ADMIN,
		    i, secret);
	CHECK_INT(add(&s, WEB_ADMIN, 99, secret), 0);
	CHECK_INT(sessions_in_the_way(&s, &admin), 6);
	CHECK(sessions_end(&s, 6));
	CHECK_INT(sessions_in_the_way(&s, &admin), 0);
	/* No number is used twice. */
	CHECK_INT(sessions_add(&s, &keeper, "a"), SESSIONS_MAX + 1);
	CHECK_INT(sessions_in_the_way(&s, &keeper), 4);
	/* Whoever may less signs nobody out. */
	CHECK_INT(sessions_in_the_way(&s, &viewer), 0);
}

TEST(a_member_who_signs_in_with_discord_signs_nobody_else_out)
{
	const struct session member = {.role = WEB_VIEWER, .discord = true, .expires_ms = 9000};
	struct sessions s = {.token = TOKEN};
	char secret[WEB_KEYED_HEX];

	for (unsigned i = 0; i < SESSIONS_MAX; i++)
		add(&s, WEB_ADMIN, i, secret);
	CHECK_INT(sessions_in_the_way(&s, &member), 0);
	CHECK_INT(sessions_add(&s, &member, "a"), 0);
	CHECK_INT(s.n, SESSIONS_MAX);
	CHECK(sessions_end(&s, 7));
	CHECK_INT(sessions_add(&s, &member, "a"), SESSIONS_MAX + 1);
	CHECK_INT(sessions_in_the_way(&s, &member), SESSIONS_MAX + 1);
	/* An operator at the machine comes in all the same. */
	CHECK(sessions_in_the_way(&s, &(struct session){.role = WEB_ADMIN}) != 0);
}

TEST(sessions_by_discord_hold_for_a_while_after_a_restart)
{
	const struct session member = {
		.role = WEB_VIEWER, .discord = true, .guild = 42, .expires_ms = 9000};
	struct sessions s = {.token = TOKEN}, again = {.token = TOKEN};
	char secret[WEB_KEYED_HEX];
	json_t *kept;

	add(&s, WEB_ADMIN, 1, secret);
	sessions_add(&s, &member, "a");
	kept = sessions_format(&s);
	sessions_read(&again, kept);
	json_decref(kept);
	sessions_limit_discord(&again, 3000);
	CHECK(sessions_find(&again, 1, 4000) != NULL);
	CHECK(sessions_find(&again, 2, 2000) && !sessions_find(&again, 2, 4000));
}

TEST(signing_out_everywhere_is_of_one_person_or_of_all)
{
	const struct session ana = {.role = WEB_VIEWER, .discord = true, .user = 501},
			     bob = {.role = WEB_VIEWER, .discord = true, .user = 502};
	struct sessions s = {.token = TOKEN};
	char secret[WEB_KEYED_HEX];

	add(&s, WEB_VIEWER, 1, secret);
	sessions_add(&s, &ana, "a");
	sessions_add(&s, &bob, "b");
	sessions_add(&s, &ana, "c");
	add(&s, WEB_ADMIN, 3, secret);
	CHECK_INT(sessions_end_all(&s, s.v[1].person), 2);
	CHECK_INT(s.n, 3);
	CHECK_INT(s.v[1].user, 502);
	CHECK_INT(sessions_end_all(&s, NULL), 3);
	CHECK_INT(s.n, 0);
}

/* Nobody's id is saved, and yet it is known whose the sessions are. */
TEST(after_a_restart_all_sessions_of_one_person_end_together)
{
	const struct session ana = {.role = WEB_VIEWER,
				    .discord = true,
				    .user = 501,
				    .guild = 9,
				    .created_ms = 1,
				    .expires_ms = 5000};
	struct session bob = ana;
	struct sessions s = {.token = TOKEN}, again = {.token = TOKEN};
	char *text;
	json_t *kept;

	bob.user = 502;
	sessions_add(&s, &ana, "a");
	sessions_add(&s, &bob, "b");
	sessions_add(&s, &ana, "c");
	kept = sessions_format(&s);
	text = json_dumps(kept, JSON_COMPACT);
	CHECK(text && !strstr(text, "501"));
	free(text);
	sessions_read(&again, kept);
	json_decref(kept);
	CHECK_INT(again.n, 3);
	CHECK_INT(again.v[0].user, 0);
	CHECK_INT(sessions_end_all(&again, again.v[2].person), 2);
	CHECK_INT(again.n, 1);
}

TEST(a_code_is_used_once_while_it_holds)
{
	struct sessions s = {.token = TOKEN};
	struct sign_in code = {.role = WEB_ADMIN, .expires_ms = 2000, .nonce = {7}};

	CHECK(sessions_use_code(&s, &code, 1000));
	CHECK(!sessions_use_code(&s, &code, 1500));
	code.nonce[0] = 8;
	CHECK(sessions_use_code(&s, &code, 1500));
	CHECK_INT(s.n_used, 2);
	sessions_expire(&s, 2000);
	CHECK_INT(s.n_used, 0);
	/* None is forgotten for another one. */
	for (unsigned i = 0; i < SESSIONS_USED; i++) {
		code.nonce[1] = (uint8_t)i;
		CHECK(sessions_use_code(&s, &code, 1500));
	}
	code.nonce[1] = 99;
	CHECK(!sessions_use_code(&s, &code, 1500));
}

TEST(sessions_outlive_the_program_but_not_their_token)
{
	struct sessions s = {.token = TOKEN}, kept = {.token = TOKEN};
	struct sessions other = {.token = "another token, as long as that.."};
	struct sign_in code = {.role = WEB_ADMIN, .expires_ms = 2000, .nonce = {7}};
	char secret[WEB_KEYED_HEX], *text;
	uint64_t id = add(&s, WEB_OPERATOR, 1, secret);
	json_t *j;

	CHECK(sessions_use_code(&s, &code, 1000));
	j = sessions_format(&s);
	text = json_dumps(j, JSON_COMPACT);
	CHECK(strstr(text, secret) == NULL);
	free(text);
	sessions_read(&kept, j);
	sessions_read(&other, j);
	json_decref(j);
	CHECK(sessions_match(&kept, secret) == id);
	CHECK_INT(sessions_find(&kept, id, 1000)->role, WEB_OPERATOR);
	CHECK(!sessions_use_code(&kept, &code, 1000));
	CHECK(sessions_match(&other, secret) == 0);
	CHECK(add(&kept, WEB_VIEWER, 2, secret) == id + 1);
}

TEST(malformed_sessions_are_left_out)
{
	struct sessions s = {.token = TOKEN};
	json_t *j = json_loads("{\"last_id\": 3, \"sessions\": [4, {\"id\": 1, \"role\": \"root\"},"
			       " {\"id\": 9, \"role\": \"admin\", \"hash\": \"00\"}, {\"id\": -1}],"
			       " \"used\": [{\"nonce\": \"zz\"}, null]}",
			       0, NULL);

	sessions_read(&s, j);
	json_decref(j);
	CHECK_INT(s.n, 0);
	CHECK_INT(s.n_used, 0);
	sessions_read(&s, NULL);
	CHECK_INT(s.n, 0);
}

TEST_OOM(sessions_are_written_without_memory)
{
	struct sessions s = {.token = TOKEN};
	struct sign_in code = {.role = WEB_ADMIN, .expires_ms = 2000};
	char secret[WEB_KEYED_HEX];
	json_t *j;

	add(&s, WEB_ADMIN, 1, secret);
	sessions_use_code(&s, &code, 1000);
	j = sessions_format(&s);
	if (j)
		sessions_read(&s, j);
	json_decref(j);
	CHECK(s.n <= 1);
}
