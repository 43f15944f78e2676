#include "tests/guildd/world.h"

#include "tests/guildd/objects.h"

#include <stdio.h>

#define EACH(var, vec) for (size_t i_ = 0; i_ < (vec).n && ((var) = (vec).v[i_], 1); i_++)

static void copy_name(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

static void channel_free(struct gd_channel *c)
{
	for (size_t i = 0; i < c->messages.n; i++)
		json_decref(c->messages.v[i]);
	gd_vec_clear(&c->messages);
	free(c->over);
	free(c);
}

static void member_free(struct gd_member *m)
{
	gd_vec_clear(&m->roles);
	free(m);
}

static void guild_free(struct gd_guild *g)
{
	for (size_t i = 0; i < g->channels.n; i++)
		channel_free(g->channels.v[i]);
	for (size_t i = 0; i < g->members.n; i++)
		member_free(g->members.v[i]);
	for (size_t i = 0; i < g->roles.n; i++)
		free(g->roles.v[i]);
	for (size_t i = 0; i < g->vstates.n; i++)
		free(g->vstates.v[i]);
	gd_vec_clear(&g->channels);
	gd_vec_clear(&g->members);
	gd_vec_clear(&g->roles);
	gd_vec_clear(&g->vstates);
	json_decref(g->commands);
	json_decref(g->sounds);
	free(g);
}

int gd_world_alloc(struct gd_world **out)
{
	struct gd_world *w = calloc(1, sizeof(*w));

	if (!w)
		return ENOMEM;
	w->next_id = 7000;
	*out = w;
	return 0;
}

struct gd_world *gd_world_free(struct gd_world *w)
{
	if (!w)
		return NULL;
	for (size_t i = 0; i < w->guilds.n; i++)
		guild_free(w->guilds.v[i]);
	for (size_t i = 0; i < w->bots.n; i++) {
		struct gd_bot *b = w->bots.v[i];

		json_decref(b->commands);
		json_decref(b->application);
		free(b);
	}
	for (size_t i = 0; i < w->users.n; i++)
		free(w->users.v[i]);
	for (size_t i = 0; i < w->dms.n; i++)
		channel_free(w->dms.v[i]);
	gd_vec_clear(&w->dms);
	gd_vec_clear(&w->guilds);
	gd_vec_clear(&w->bots);
	gd_vec_clear(&w->users);
	free(w);
	return NULL;
}

int gd_world_defaults(struct gd_world *w, bool long_ids)
{
	static const uint64_t more = 777123456789012;
	struct {
		uint64_t id;
		const char *name;
	} people[] = {{501, "alice"}, {502, "bob"}};
	struct gd_guild *g;
	struct gd_bot *bot;
	struct gd_user *u;
	int err;

	for (size_t i = 0; long_ids && i < sizeof(people) / sizeof(people[0]); i++)
		people[i].id = people[i].id * UINT64_C(1000000000000000) + more;
	/* GUILD_MEMBERS, GUILD_PRESENCES and MESSAGE_CONTENT are enabled. */
	err = gd_bot_add(w, &bot, GD_DEFAULT_BOT, "parley", GD_DEFAULT_TOKEN,
			 1 << 1 | 1 << 8 | 1 << 15);
	for (size_t i = 0; !err && i < sizeof(people) / sizeof(people[0]); i++)
		err = gd_user_add(w, NULL, people[i].id, people[i].name);
	if (!err)
		err = gd_guild_add(w, &g, GD_DEFAULT_GUILD, "Guild", people[0].id);
	if (!err)
		err = gd_channel_add(w, NULL, g, GD_DEFAULT_TEXT, GD_CHANNEL_TEXT, "general");
	if (!err)
		err = gd_channel_add(w, NULL, g, GD_DEFAULT_VOICE, GD_CHANNEL_VOICE, "Voice");
	if (!err)
		err = gd_member_add(NULL, g, bot->user);
	for (size_t i = 0; !err && i < sizeof(people) / sizeof(people[0]); i++) {
		u = gd_user_find(w, people[i].id);
		err = gd_member_add(NULL, g, u);
	}
	return err;
}

static bool id_taken(const struct gd_world *w, uint64_t id)
{
	struct gd_guild *g;

	if (gd_user_find(w, id) || gd_guild_find(w, id) || gd_channel_find(w, id))
		return true;
	EACH(g, w->guilds)
	{
		if (gd_role_find(g, id))
			return true;
	}
	return false;
}

uint64_t gd_world_id(struct gd_world *w)
{
	do
		w->next_id++;
	while (id_taken(w, w->next_id));
	return w->next_id;
}

#define SNOWFLAKE_EPOCH_MS UINT64_C(1420070400000)

uint64_t gd_id_ms(uint64_t id)
{
	return (id >> 22) + SNOWFLAKE_EPOCH_MS;
}

uint64_t gd_world_id_at(struct gd_world *w, uint64_t now_ms)
{
	uint64_t id = (now_ms - SNOWFLAKE_EPOCH_MS) << 22;

	w->last_at = id > w->last_at ? id : w->last_at + 1;
	return w->last_at;
}

int gd_user_add(struct gd_world *w, struct gd_user **out, uint64_t id, const char *name)
{
	struct gd_user *u;

	if (id && gd_user_find(w, id))
		return EEXIST;
	u = calloc(1, sizeof(*u));
	if (!u || gd_vec_add(&w->users, u)) {
		free(u);
		return ENOMEM;
	}
	u->id = id ? id : gd_world_id(w);
	copy_name(u->name, sizeof(u->name), name);
	copy_name(u->global_name, sizeof(u->global_name), name);
	if (u->global_name[0] >= 'a' && u->global_name[0] <= 'z')
		u->global_name[0] = (char)(u->global_name[0] - 'a' + 'A');
	if (out)
		*out = u;
	return 0;
}

int gd_bot_add(struct gd_world *w, struct gd_bot **out, uint64_t id, const char *name,
	       const char *token, uint64_t privileged)
{
	struct gd_user *u = id ? gd_user_find(w, id) : NULL;
	struct gd_bot *b;
	int err;

	if (gd_bot_by_token(w, token) || (id && gd_bot_find(w, id)))
		return EEXIST;
	if (strlen(token) >= sizeof(b->token))
		return EINVAL;
	if (!u && (err = gd_user_add(w, &u, id, name)))
		return err;
	b = calloc(1, sizeof(*b));
	if (b)
		b->commands = json_array();
	if (!b || !b->commands || gd_vec_add(&w->bots, b)) {
		if (b)
			json_decref(b->commands);
		free(b);
		return ENOMEM;
	}
	u->bot = true;
	u->global_name[0] = '\0';
	b->user = u;
	b->privileged = privileged;
	copy_name(b->token, sizeof(b->token), token);
	if (out)
		*out = b;
	return 0;
}

int gd_guild_add(struct gd_world *w, struct gd_guild **out, uint64_t id, const char *name,
		 uint64_t owner)
{
	struct gd_guild *g;
	int err;

	if (id && gd_guild_find(w, id))
		return EEXIST;
	g = calloc(1, sizeof(*g));
	if (!g)
		return ENOMEM;
	g->id = id ? id : gd_world_id(w);
	g->owner = owner;
	copy_name(g->name, sizeof(g->name), name);
	g->commands = json_object();
	/* The role of everyone has the guild's id. */
	err = g->commands ? gd_role_add(w, NULL, g, g->id, "@everyone", GD_PERM_DEFAULT) : ENOMEM;
	if (!err)
		err = gd_vec_add(&w->guilds, g);
	if (err) {
		guild_free(g);
		return err;
	}
	if (out)
		*out = g;
	return 0;
}

int gd_channel_add(struct gd_world *w, struct gd_channel **out, struct gd_guild *g, uint64_t id,
		   int type, const char *name)
{
	struct gd_channel *c;

	if (id && gd_channel_find(w, id))
		return EEXIST;
	c = calloc(1, sizeof(*c));
	if (!c)
		return ENOMEM;
	c->id = id ? id : gd_world_id(w);
	c->guild = g->id;
	c->type = type;
	c->position = (unsigned)g->channels.n;
	c->bitrate = 64000;
	copy_name(c->name, sizeof(c->name), name);
	if (gd_vec_add(&g->channels, c)) {
		channel_free(c);
		return ENOMEM;
	}
	if (out)
		*out = c;
	return 0;
}

int gd_dm_open(struct gd_world *w, struct gd_channel **out, uint64_t person, uint64_t bot)
{
	struct gd_channel *c;

	for (size_t i = 0; i < w->dms.n; i++) {
		c = w->dms.v[i];
		if (c->person == person && c->bot == bot) {
			*out = c;
			return 0;
		}
	}
	c = calloc(1, sizeof(*c));
	if (!c || gd_vec_add(&w->dms, c)) {
		free(c);
		return ENOMEM;
	}
	c->id = gd_world_id(w);
	c->type = GD_CHANNEL_DM;
	c->person = person;
	c->bot = bot;
	*out = c;
	return 0;
}

int gd_role_add(struct gd_world *w, struct gd_role **out, struct gd_guild *g, uint64_t id,
		const char *name, uint64_t permissions)
{
	struct gd_role *r;

	if (id && gd_role_find(g, id))
		return EEXIST;
	r = calloc(1, sizeof(*r));
	if (!r || gd_vec_add(&g->roles, r)) {
		free(r);
		return ENOMEM;
	}
	r->id = id ? id : gd_world_id(w);
	r->permissions = permissions;
	copy_name(r->name, sizeof(r->name), name);
	if (out)
		*out = r;
	return 0;
}

int gd_member_add(struct gd_member **out, struct gd_guild *g, struct gd_user *u)
{
	struct gd_member *m;

	if (gd_member_find(g, u->id))
		return EEXIST;
	m = calloc(1, sizeof(*m));
	if (!m || gd_vec_add(&g->members, m)) {
		free(m);
		return ENOMEM;
	}
	m->user = u;
	if (out)
		*out = m;
	return 0;
}

int gd_member_remove(struct gd_guild *g, uint64_t user)
{
	struct gd_member *m = gd_member_find(g, user);

	if (!m || gd_vstate_find(g, user))
		return m ? EBUSY : ENOENT;
	gd_vec_remove(&g->members, m);
	member_free(m);
	return 0;
}

int gd_overwrite_set(struct gd_channel *c, const struct gd_overwrite *o)
{
	struct gd_overwrite *more;

	for (size_t i = 0; i < c->n_over; i++) {
		if (c->over[i].id != o->id || c->over[i].member != o->member)
			continue;
		if (o->allow | o->deny)
			c->over[i] = *o;
		else
			c->over[i] = c->over[--c->n_over];
		return 0;
	}
	if (!(o->allow | o->deny))
		return 0;
	more = realloc(c->over, (c->n_over + 1) * sizeof(*more));
	if (!more)
		return ENOMEM;
	c->over = more;
	c->over[c->n_over++] = *o;
	return 0;
}

void gd_channel_remove(struct gd_world *w, struct gd_channel *c)
{
	struct gd_guild *g = gd_guild_find(w, c->guild);

	gd_vec_remove(&g->channels, c);
	channel_free(c);
}

int gd_vstate_add(struct gd_vstate **out, struct gd_guild *g, uint64_t user, uint64_t channel)
{
	struct gd_vstate *v = calloc(1, sizeof(*v));

	if (!v || gd_vec_add(&g->vstates, v)) {
		free(v);
		return ENOMEM;
	}
	v->guild = g->id;
	v->user = user;
	v->channel = channel;
	*out = v;
	return 0;
}

void gd_vstate_remove(struct gd_guild *g, struct gd_vstate *v)
{
	gd_vec_remove(&g->vstates, v);
	free(v);
}

int gd_message_keep(struct gd_channel *c, json_t *message)
{
	if (c->messages.n == GD_MAX_MESSAGES)
		json_decref(gd_vec_take(&c->messages, 0));
	if (gd_vec_add(&c->messages, message))
		return ENOMEM;
	c->last_message = gd_id(json_object_get(message, "id"));
	json_incref(message);
	return 0;
}

#define FINDER(type, fn, holder, vec)                                                              \
	struct type *fn(const struct holder *h, uint64_t id)                                       \
	{                                                                                          \
		for (size_t i = 0; i < h->vec.n; i++) {                                            \
			struct type *o = h->vec.v[i];                                              \
			if (o->id == id)                                                           \
				return o;                                                          \
		}                                                                                  \
		return NULL;                                                                       \
	}

FINDER(gd_user, gd_user_find, gd_world, users)
FINDER(gd_guild, gd_guild_find, gd_world, guilds)
FINDER(gd_role, gd_role_find, gd_guild, roles)

struct gd_bot *gd_bot_find(const struct gd_world *w, uint64_t id)
{
	struct gd_bot *b;

	EACH(b, w->bots)
	{
		if (b->user->id == id)
			return b;
	}
	return NULL;
}

struct gd_user *gd_user_person(const struct gd_world *w)
{
	struct gd_user *u;

	EACH(u, w->users)
	{
		if (!u->bot)
			return u;
	}
	return NULL;
}

struct gd_bot *gd_bot_by_token(const struct gd_world *w, const char *token)
{
	struct gd_bot *b;

	EACH(b, w->bots)
	{
		if (strcmp(b->token, token) == 0)
			return b;
	}
	return NULL;
}

struct gd_channel *gd_channel_find(const struct gd_world *w, uint64_t id)
{
	for (size_t i = 0; i < w->guilds.n; i++) {
		struct gd_guild *g = w->guilds.v[i];

		for (size_t k = 0; k < g->channels.n; k++) {
			struct gd_channel *c = g->channels.v[k];

			if (c->id == id)
				return c;
		}
	}
	for (size_t i = 0; i < w->dms.n; i++) {
		struct gd_channel *c = w->dms.v[i];

		if (c->id == id)
			return c;
	}
	return NULL;
}

struct gd_member *gd_member_find(const struct gd_guild *g, uint64_t user)
{
	struct gd_member *m;

	EACH(m, g->members)
	{
		if (m->user->id == user)
			return m;
	}
	return NULL;
}

struct gd_vstate *gd_vstate_find(const struct gd_guild *g, uint64_t user)
{
	struct gd_vstate *v;

	EACH(v, g->vstates)
	{
		if (v->user == user)
			return v;
	}
	return NULL;
}

json_t *gd_message_find(const struct gd_channel *c, uint64_t id, size_t *at)
{
	for (size_t i = 0; i < c->messages.n; i++) {
		const char *s = json_string_value(json_object_get(c->messages.v[i], "id"));

		if (s && strtoull(s, NULL, 10) == id) {
			if (at)
				*at = i;
			return c->messages.v[i];
		}
	}
	return NULL;
}

bool gd_channel_is_voice(const struct gd_channel *c)
{
	return c->type == GD_CHANNEL_VOICE || c->type == GD_CHANNEL_STAGE;
}

unsigned gd_channel_count(const struct gd_guild *g, uint64_t channel)
{
	struct gd_vstate *v;
	unsigned n = 0;

	EACH(v, g->vstates)
	n += v->channel == channel;
	return n;
}

bool gd_channel_is_thread(const struct gd_channel *c)
{
	return c->type == GD_CHANNEL_THREAD || c->type == GD_CHANNEL_PRIVATE_THREAD;
}

/* The channel whose overwrites hold: of a thread its parent. */
static const struct gd_channel *ruling_channel(const struct gd_guild *g, const struct gd_channel *c)
{
	const struct gd_channel *parent;

	if (!c || !c->parent)
		return c;
	EACH(parent, g->channels)
	{
		if (parent->id == c->parent)
			return parent;
	}
	return c;
}

/* A private thread is seen by its members. */
static bool is_hidden(const struct gd_channel *c, uint64_t user)
{
	if (!c || c->type != GD_CHANNEL_PRIVATE_THREAD)
		return false;
	for (size_t i = 0; i < c->n_joined; i++)
		if (c->joined[i] == user)
			return false;
	return true;
}

uint64_t gd_permissions(const struct gd_guild *g, uint64_t user, const struct gd_channel *c)
{
	enum { MAX_ROLES = 64 };
	uint64_t ids[MAX_ROLES], perms[MAX_ROLES];
	struct gd_member *m = gd_member_find(g, user);
	struct gd_role *everyone = gd_role_find(g, g->id), *r;
	uint64_t bits;
	struct gd_perm_in in = {.guild = g->id,
				.user = user,
				.owner = g->owner,
				.role_ids = ids,
				.role_perms = perms};

	if (!m || is_hidden(c, user))
		return 0;
	c = ruling_channel(g, c);
	in.everyone = everyone ? everyone->permissions : 0;
	EACH(r, m->roles)
	{
		if (in.n_roles == MAX_ROLES)
			break;
		ids[in.n_roles] = r->id;
		perms[in.n_roles++] = r->permissions;
	}
	if (c) {
		in.channel = true;
		in.over = c->over;
		in.n_over = c->n_over;
	}
	bits = gd_perm(&in);
	/* In a timeout all but administrators see and read alone. */
	return *m->timeout && bits != GD_PERM_ALL ? bits & (GD_PERM_VIEW | GD_PERM_HISTORY) : bits;
}
