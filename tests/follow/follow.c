#include "tests/follow/follow.h"

#include <stdarg.h>
#include <stdlib.h>

#include "mediad/dave/job.h"
#include "mediad/dave/media.h"
#include "tests/vectors/vectors.h"

enum { USERS_MAX = 1000, WHY = 200, SEEN_MAX = 4096 };

/* Computing a fingerprint takes 60 ms; it is valid as long as the keys. */
struct seen {
	uint64_t user;
	struct slice key; /* of the file's life */
	uint8_t fingerprint[DAVE_FINGERPRINT];
};

struct follower {
	struct dave_mls_state *k;
	uint64_t user, channel;
	struct mls_identity me;
	struct p256_pair init;
	uint64_t users[USERS_MAX]; /* told of, sorted: a recording has no ops 11, so whoever is
				      added */
	size_t n_users;
	struct dave_epoch *epoch;
	struct seen seen[SEEN_MAX];
	unsigned n_seen;
	unsigned fingerprints, frames;
	char why[WHY]; /* the first thing in a step that differs */
};

static void differs(struct follower *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void differs(struct follower *f, const char *fmt, ...)
{
	va_list ap;

	if (f->why[0])
		return;
	va_start(ap, fmt);
	vsnprintf(f->why, sizeof f->why, fmt, ap);
	va_end(ap);
}

static void compare(struct follower *f, const json_t *object, const char *key, const void *p,
		    size_t n)
{
	if (!json_object_get(object, key))
		differs(f, "%s is not in the recording", key);
	else if (!vec_is(object, key, p, n))
		differs(f, "%s", key);
}

static void compare_text(struct follower *f, const json_t *object, const char *key, const char *got)
{
	const char *want = json_string_value(json_object_get(object, key));

	if (!want)
		differs(f, "%s is not in the recording", key);
	else if (strcmp(want, got) != 0)
		differs(f, "%s", key);
}

static uint64_t number(const char *digits)
{
	return digits ? strtoull(digits, NULL, 10) : 0;
}

/* ---- jobs ---- */

/* Runs the job and returns its result, which the caller owns; the mls_state is returned. */
static struct dave_job *run(struct follower *f, enum dave_job_type type, struct slice in)
{
	struct dave_job *j;

	if (dave_job_alloc(&j, type))
		abort();
	j->mls_state = f->k;
	j->channel = f->channel;
	j->in.p = malloc(in.n + 1);
	j->recognized = malloc(sizeof f->users);
	if (!j->in.p || !j->recognized)
		abort();
	memcpy(j->in.p, in.p, in.n);
	j->in.n = in.n;
	memcpy(j->recognized, f->users, sizeof f->users);
	j->n_recognized = f->n_users;
	dave_job_run(j);
	f->k = j->mls_state;
	j->mls_state = NULL;
	return j;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void told_of(struct follower *f, uint64_t user)
{
	if (f->n_users == USERS_MAX || bsearch(&user, f->users, f->n_users, sizeof user, by_number))
		return;
	f->users[f->n_users++] = user;
	qsort(f->users, f->n_users, sizeof user, by_number);
}

static void told_of_added(struct follower *f, const struct mls_public *m)
{
	struct rd r = rd_of(m->body.p, m->body.n);
	struct mls_proposal p;

	if (mls_proposal_read(&p, &r))
		return;
	if (p.type == MLS_PROPOSAL_ADD) {
		r = rd_of(p.key_package->leaf->identity.p, p.key_package->leaf->identity.n);
		told_of(f, rd_be(&r, 8));
	}
	mls_proposal_free(&p);
}

static void proposals(struct follower *f, struct slice payload)
{
	struct rd r = rd_of(payload.p, payload.n), list;
	struct mls_public m;
	struct dave_job *j;

	if (rd_be(&r, 1) == 0)
		for (list = mls_rd_sub(&r); rd_left(&list) && !mls_public_read(&m, &list);)
			told_of_added(f, &m);
	j = run(f, DAVE_JOB_PROPOSALS, payload);
	if (j->verdict != DAVE_DONE && j->verdict != DAVE_IGNORED)
		differs(f, "proposals refused: %s", strerror(j->err));
	dave_job_free(j);
}

static void advance(struct follower *f, enum dave_job_type type, const char *name,
		    struct slice message, bool in_group)
{
	struct dave_job *j = run(f, type, message);

	if (!in_group && j->verdict != DAVE_IGNORED)
		differs(f, "%s taken before the welcome", name);
	if (in_group && j->verdict != DAVE_DONE)
		differs(f, "%s refused: %s", name, strerror(j->err));
	if (j->epoch) {
		dave_epoch_free(f->epoch);
		f->epoch = j->epoch;
		j->epoch = NULL;
	}
	dave_job_free(j);
}

/* ---- the keys of an epoch ---- */

static void group(struct follower *f, const json_t *step)
{
	const struct mls_group *g = dave_mls_state_group(f->k);
	uint8_t hash[MLS_HASH];
	char code[31];

	if (!json_is_integer(json_object_get(step, "epoch")))
		differs(f, "epoch is not in the recording");
	if (f->epoch->number != vec_uint(step, "epoch"))
		differs(f, "epoch");
	if (mls_tree_root_hash(mls_group_tree(g), hash))
		abort();
	compare(f, step, "tree_hash", hash, sizeof hash);
	compare(f, step, "confirmed_transcript_hash", mls_group_confirmed(g).p,
		mls_group_confirmed(g).n);
	compare(f, step, "exporter_secret", mls_group_secrets(g)->exporter, MLS_HASH);
	compare(f, step, "membership_key", mls_group_secrets(g)->membership, MLS_HASH);
	compare(f, step, "epoch_authenticator", f->epoch->authenticator,
		sizeof f->epoch->authenticator);
	if (dave_privacy_code(code, f->epoch->authenticator))
		abort();
	compare_text(f, step, "voice_privacy_code", code);
}

static void senders(struct follower *f, const json_t *list)
{
	const char *user;
	const json_t *want;

	if (json_object_size(list) != f->epoch->n)
		differs(f, "%u members, %zu senders", f->epoch->n, json_object_size(list));
	json_object_foreach((json_t *)list, user, want)
	{
		const struct dave_member *m = dave_epoch_find(f->epoch, number(user));
		uint8_t key[2][16];

		if (!m) {
			differs(f, "sender %s is no member", user);
			continue;
		}
		if (dave_key_bytes(key[0], m->base, 0) || dave_key_bytes(key[1], m->base, 1))
			abort();
		compare(f, want, "base_secret", m->base, DAVE_SECRET);
		compare(f, want, "key_gen0", key[0], sizeof key[0]);
		compare(f, want, "key_gen1", key[1], sizeof key[1]);
	}
}

static const uint8_t *fingerprint(struct follower *f, const struct dave_member *m)
{
	struct slice mine = mls_slice(f->me.signature.pub, MLS_POINT);
	struct seen *s;

	for (unsigned i = 0; i < f->n_seen; i++)
		if (f->seen[i].user == m->user && mls_equal(f->seen[i].key, m->signature_key))
			return f->seen[i].fingerprint;
	if (f->n_seen == SEEN_MAX)
		f->n_seen = 0;
	s = &f->seen[f->n_seen++];
	free((void *)s->key.p);
	s->user = m->user;
	s->key = mls_slice(malloc(m->signature_key.n + 1), m->signature_key.n);
	if (!s->key.p || dave_fingerprint(s->fingerprint, m->signature_key, m->user, mine, f->user))
		abort();
	memcpy((void *)s->key.p, m->signature_key.p, m->signature_key.n);
	return s->fingerprint;
}

static void fingerprints(struct follower *f, const json_t *list)
{
	const char *user;
	const json_t *want;

	json_object_foreach((json_t *)list, user, want)
	{
		const struct dave_member *m = dave_epoch_find(f->epoch, number(user));
		char code[46];

		if (!m) {
			differs(f, "%s has a fingerprint and is no member", user);
			continue;
		}
		compare(f, want, "fingerprint", fingerprint(f, m), DAVE_FINGERPRINT);
		if (dave_verification_code(code, fingerprint(f, m)))
			abort();
		compare_text(f, want, "code", code);
		f->fingerprints++;
	}
}

static void frame(struct follower *f, const json_t *want)
{
	const char *user = json_string_value(json_object_get(want, "user_id"));
	const struct dave_member *m = dave_epoch_find(f->epoch, number(user));
	struct slice sealed = vec_get(want, "frame");
	struct dave_opener *o = NULL;
	struct dave_key *key = NULL;
	struct dave_frame parsed;
	uint8_t *plain = malloc(sealed.n + 1);
	uint64_t epoch = 0;
	size_t n = 0;

	if (!m) {
		differs(f, "a frame of %s, who is no member", user ? user : "nobody");
		free(plain);
		return;
	}
	if (!plain || dave_opener_alloc(&o) || dave_key_alloc(&key, m->base, f->epoch->serial, 0))
		abort();
	dave_opener_add(o, key, 1, NULL, NULL);
	if (dave_open(o, (struct slice){sealed.p, sealed.n}, 1, plain, sealed.n, &n, &epoch) !=
		    DAVE_SEALED ||
	    epoch != f->epoch->serial)
		differs(f, "a frame of %s does not open", user);
	compare(f, want, "plaintext", plain, n);
	if (!dave_frame_parse(&parsed, sealed.p, sealed.n) ||
	    parsed.nonce != vec_uint(want, "truncated_nonce"))
		differs(f, "truncated_nonce of a frame of %s", user);
	f->frames++;
	dave_opener_free(o);
	free(plain);
}

/* ---- steps ---- */

static void step(struct follower *f, const json_t *s)
{
	json_t *welcome = json_object_get(s, "op30_welcome"),
	       *commit = json_object_get(s, "op29_commit"), *e;
	size_t i;

	json_array_foreach(json_object_get(s, "op27_payloads"), i, e) proposals(f, vec_hex(e));
	if (commit)
		advance(f, DAVE_JOB_COMMIT, "commit", vec_hex(commit), !welcome);
	if (welcome)
		advance(f, DAVE_JOB_WELCOME, "welcome", vec_hex(welcome), true);
	if (!f->epoch)
		differs(f, "no group");
	if (!f->epoch || !dave_mls_state_group(f->k))
		return;
	group(f, s);
	senders(f, json_object_get(s, "senders"));
	fingerprints(f, json_object_get(s, "pairwise_with_self"));
	json_array_foreach(json_object_get(s, "frames"), i, e) frame(f, e);
}

static void steps(struct follower *f, struct follow_tally *t, const char *path, const json_t *list,
		  FILE *out)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	size_t i;
	json_t *s;

	json_array_foreach((json_t *)list, i, s)
	{
		const char *title = json_string_value(json_object_get(s, "name"));

		f->fingerprints = f->frames = 0;
		f->why[0] = '\0';
		step(f, s);
		fprintf(out,
			"%s: %zu %s: epoch %llu, %u members, %u fingerprints, %u frames: %s%s\n",
			name, i + 1, title ? title : "step",
			f->epoch ? (unsigned long long)f->epoch->number : 0,
			f->epoch ? f->epoch->n : 0, f->fingerprints, f->frames,
			f->why[0] ? "FAILED: " : "ok", f->why);
		t->steps++;
		t->failed += f->why[0] != '\0';
		t->fingerprints += f->fingerprints;
		t->frames += f->frames;
	}
}

static bool pair(struct p256_pair *out, const json_t *self, const char *key)
{
	struct slice priv = vec_get(self, key);

	return priv.n == MLS_SCALAR && p256_from_priv(out, priv.p, P256_ANY) == 0;
}

static const char *begin(struct follower *f, const json_t *j)
{
	const json_t *self = json_object_get(j, "self");
	struct dave_job *sender;
	bool known;

	f->user = number(json_string_value(json_object_get(self, "user_id")));
	f->channel = number(json_string_value(json_object_get(j, "channel_id")));
	if (!json_array_size(json_object_get(j, "steps")) || !f->user)
		return "no recording of a group";
	if (!pair(&f->me.signature, self, "signature_priv") ||
	    !pair(&f->me.encryption, self, "encryption_priv") || !pair(&f->init, self, "init_priv"))
		return "private keys are missing or no scalars";
	if (dave_mls_state_alloc(&f->k, f->user))
		abort();
	if (dave_mls_state_import(f->k, f->channel, &f->me, &f->init, vec_get(self, "key_package")))
		return "the key package does not belong to the keys";
	told_of(f, f->user);
	sender = run(f, DAVE_JOB_EXTERNAL_SENDER, vec_get(j, "op25_external_sender"));
	known = sender->verdict == DAVE_DONE;
	dave_job_free(sender);
	return known ? NULL : "no external sender";
}

const char *follow_run(struct follow_tally *t, const char *path, FILE *out)
{
	json_t *j = json_load_file(path, 0, NULL);
	struct follower *f = calloc(1, sizeof *f);
	const char *wrong = j ? NULL : "cannot be read as JSON";

	if (!f)
		abort();
	if (!wrong)
		wrong = begin(f, j);
	if (!wrong)
		steps(f, t, path, json_object_get(j, "steps"), out);
	for (unsigned i = 0; i < f->n_seen; i++)
		free((void *)f->seen[i].key.p);
	dave_epoch_free(f->epoch);
	dave_mls_state_free(f->k);
	mls_wipe(f, sizeof *f);
	free(f);
	vec_end();
	json_decref(j);
	return wrong;
}
