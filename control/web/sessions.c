#include "control/web/sessions.h"

#include <stdio.h>
#include <string.h>

#include <sodium.h>

void sessions_secret(const struct sessions *s, const uint8_t nonce[SESSION_NONCE],
		     char out[WEB_KEYED_HEX])
{
	web_keyed_hex(out, s->token, "session", nonce, SESSION_NONCE);
}

static void hash_secret(const struct sessions *s, const char *secret, char out[WEB_KEYED_HEX])
{
	web_keyed_hex(out, s->token, "kept session", secret, strlen(secret));
}

static void remove_at(struct sessions *s, unsigned i)
{
	memmove(&s->v[i], &s->v[i + 1], (--s->n - i) * sizeof s->v[0]);
}

/* Members of a server can sign in as often as they like, and must not sign out others by it. */
static bool may_give_way(const struct session *s, const struct session *of)
{
	return s->role <= of->role && (!of->discord || s->discord);
}

uint64_t sessions_in_the_way(const struct sessions *s, const struct session *of)
{
	const struct session *found = NULL;

	for (unsigned i = 0; s->n == SESSIONS_MAX && i < s->n; i++)
		if (may_give_way(&s->v[i], of) && (!found || s->v[i].role < found->role))
			found = &s->v[i];
	return found ? found->id : 0;
}

uint64_t sessions_add(struct sessions *s, const struct session *of, const char *secret)
{
	struct session *new;

	if (s->n == SESSIONS_MAX)
		return 0;
	new = &s->v[s->n++];
	*new = *of;
	new->id = ++s->last_id;
	hash_secret(s, secret, new->hash);
	if (of->user)
		web_keyed_hex(new->person, s->token, "person", &of->user, sizeof of->user);
	return new->id;
}

uint64_t sessions_match(const struct sessions *s, const char *secret)
{
	char hash[WEB_KEYED_HEX];
	uint64_t id = 0;

	hash_secret(s, secret, hash);
	for (unsigned i = 0; i < s->n; i++)
		if (sodium_memcmp(s->v[i].hash, hash, sizeof hash) == 0)
			id = s->v[i].id;
	sodium_memzero(hash, sizeof hash);
	return id;
}

const struct session *sessions_find(const struct sessions *s, uint64_t id, uint64_t now_ms)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->v[i].id == id && s->v[i].expires_ms > now_ms)
			return &s->v[i];
	return NULL;
}

void sessions_limit_discord(struct sessions *s, uint64_t until_ms)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->v[i].discord && s->v[i].expires_ms > until_ms)
			s->v[i].expires_ms = until_ms;
}

bool sessions_move(struct sessions *s, uint64_t id, const struct session *to)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->v[i].id == id) {
			s->v[i].role = to->role;
			s->v[i].guild = to->role < WEB_ADMIN ? to->guild : 0;
			s->v[i].open = to->role < WEB_ADMIN && to->open;
			return true;
		}
	return false;
}

bool sessions_end(struct sessions *s, uint64_t id)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->v[i].id == id) {
			remove_at(s, i);
			return true;
		}
	return false;
}

unsigned sessions_end_all(struct sessions *s, const char *person)
{
	char whose[WEB_KEYED_HEX];
	unsigned ended = 0;

	/* It may be that of a session which goes. */
	snprintf(whose, sizeof whose, "%s", person ? person : "");

	for (unsigned i = 0; i < s->n;)
		if (!person || strcmp(s->v[i].person, whose) == 0) {
			remove_at(s, i);
			ended++;
		} else {
			i++;
		}
	return ended;
}

static void forget_codes(struct sessions *s, uint64_t now_ms)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < s->n_used; i++)
		if (s->used[i].expires_ms > now_ms)
			s->used[kept++] = s->used[i];
	s->n_used = kept;
}

unsigned sessions_expire(struct sessions *s, uint64_t now_ms)
{
	unsigned ended = 0;

	for (unsigned i = 0; i < s->n;)
		if (s->v[i].expires_ms <= now_ms) {
			remove_at(s, i);
			ended++;
		} else {
			i++;
		}
	forget_codes(s, now_ms);
	return ended;
}

uint64_t sessions_deadline(const struct sessions *s)
{
	uint64_t first = UINT64_MAX;

	for (unsigned i = 0; i < s->n; i++)
		if (s->v[i].expires_ms < first)
			first = s->v[i].expires_ms;
	return first;
}

bool sessions_use_code(struct sessions *s, const struct sign_in *code, uint64_t now_ms)
{
	forget_codes(s, now_ms);
	for (unsigned i = 0; i < s->n_used; i++)
		if (memcmp(s->used[i].nonce, code->nonce, sizeof code->nonce) == 0)
			return false;
	if (s->n_used == SESSIONS_USED)
		return false;
	s->used[s->n_used++] = *code;
	return true;
}

/* ---- as JSON ---- */

static json_t *format_used(const struct sessions *s)
{
	char nonce[2 * SIGN_IN_NONCE + 1];
	json_t *list = json_array();

	for (unsigned i = 0; i < s->n_used; i++) {
		sodium_bin2hex(nonce, sizeof nonce, s->used[i].nonce, SIGN_IN_NONCE);
		json_array_append_new(list, json_pack("{s:s,s:I}", "nonce", nonce, "expires_ms",
						      (json_int_t)s->used[i].expires_ms));
	}
	return list;
}

json_t *sessions_format(const struct sessions *s)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < s->n; i++) {
		const struct session *v = &s->v[i];

		json_array_append_new(
			list,
			json_pack("{s:I,s:s,s:b,s:I,s:s,s:b,s:I,s:I,s:s}", "id", (json_int_t)v->id,
				  "role", web_role_name(v->role), "discord", (int)v->discord,
				  "guild", (json_int_t)v->guild, "person", v->person, "open",
				  (int)v->open, "created_ms", (json_int_t)v->created_ms,
				  "expires_ms", (json_int_t)v->expires_ms, "hash", v->hash));
	}
	return json_pack("{s:o,s:o,s:I}", "sessions", list, "used", format_used(s), "last_id",
			 (json_int_t)s->last_id);
}

/* 0 for what is none. */
static uint64_t read_uint(const json_t *j, const char *name)
{
	json_int_t v = json_integer_value(json_object_get(j, name));

	return v > 0 ? (uint64_t)v : 0;
}

static bool read_hex(const json_t *j, const char *name, char *out, size_t size)
{
	const char *text = json_string_value(json_object_get(j, name));

	if (!text || strlen(text) != size - 1 || text[strspn(text, "0123456789abcdef")])
		return false;
	memcpy(out, text, size);
	return true;
}

static void read_session(struct sessions *s, const json_t *j)
{
	struct session v = {.id = read_uint(j, "id"),
			    .discord = json_is_true(json_object_get(j, "discord")),
			    .guild = read_uint(j, "guild"),
			    .created_ms = read_uint(j, "created_ms"),
			    .expires_ms = read_uint(j, "expires_ms")};
	const char *role = json_string_value(json_object_get(j, "role"));

	if (s->n == SESSIONS_MAX || !v.id || v.id > s->last_id || !role ||
	    !web_role_parse(role, strlen(role), &v.role) ||
	    !read_hex(j, "hash", v.hash, sizeof v.hash))
		return;
	/* It was saved when such a session saw every server. */
	if (v.discord && v.role != WEB_ADMIN && !v.guild)
		return;
	/* None, or one that was saved before there were any. */
	if (!read_hex(j, "person", v.person, sizeof v.person))
		v.person[0] = '\0';
	/* So did one of before. */
	v.open = v.guild && !json_is_false(json_object_get(j, "open"));
	s->v[s->n++] = v;
}

static void read_used(struct sessions *s, const json_t *j)
{
	struct sign_in v = {.expires_ms = read_uint(j, "expires_ms")};
	char nonce[2 * SIGN_IN_NONCE + 1];

	if (s->n_used == SESSIONS_USED || !read_hex(j, "nonce", nonce, sizeof nonce))
		return;
	sodium_hex2bin(v.nonce, sizeof v.nonce, nonce, sizeof nonce - 1, NULL, NULL, NULL);
	s->used[s->n_used++] = v;
}

void sessions_read(struct sessions *s, const json_t *j)
{
	const json_t *x;
	size_t i;

	s->n = s->n_used = 0;
	s->last_id = read_uint(j, "last_id");
	json_array_foreach(json_object_get(j, "sessions"), i, x) read_session(s, x);
	json_array_foreach(json_object_get(j, "used"), i, x) read_used(s, x);
}
