#include "control/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "control/settings/document.h"
#include "control/store/consent_file.h"
#include "control/store/deletions.h"
#include "control/store/forgotten_replay.h"
#include "control/store/faults.h"
#include "control/store/ours.h"
#include "control/store/store.h"
#include "control/words/words.h"
#include "ipc/log.h"
#include "proto/base/utf8.h"
#include "proto/discord.h"

enum {
	FORMAT = 1,
	PATH_SIZE = 600,
	VERSIONS_BRACKETS = 64,
	LOCK_MS = 50,
	LOCK_TRIES = 20,
	HOLDER_READS = 100
};
enum { SESSION_MAX = 8 << 20 }; /* the commands that wait are most of it, at most 256 */

int state_dir(const char *given, char *buf, size_t size)
{
	const char *systemd = getenv("STATE_DIRECTORY"), *xdg = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");
	int n;

	if (given)
		n = snprintf(buf, size, "%s", given);
	else if (systemd && *systemd)
		n = snprintf(buf, size, "%s", systemd);
	else if (xdg && *xdg)
		n = snprintf(buf, size, "%s/parley", xdg);
	else if (home && *home)
		n = snprintf(buf, size, "%s/.local/state/parley", home);
	else
		return ENOENT;
	return (size_t)n < size ? 0 : ENAMETOOLONG;
}

int state_dir_make(const char *dir)
{
	char path[PATH_SIZE];

	if ((size_t)snprintf(path, sizeof path, "%s", dir) >= sizeof path)
		return ENAMETOOLONG;
	for (char *p = path + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(path, 0700) && errno != EEXIST)
			return errno;
		*p = '/';
	}
	return mkdir(path, 0700) && errno != EEXIST ? errno : 0;
}

static int open_lock(const char *dir, int *out)
{
	char path[PATH_SIZE];
	struct stat st;
	int fd, err = 0;

	if ((size_t)snprintf(path, sizeof path, "%s/control.lock", dir) >= sizeof path)
		return ENAMETOOLONG;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (fd < 0)
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW |
					O_NONBLOCK); /* nothing can be written */
	if (fd < 0)
		return errno;
	if (fstat(fd, &st))
		err = errno;
	/* Whoever owns it could hold it for ever. */
	else if (!ours_is_trusted(&st))
		err = EPERM;
	if (err)
		close(fd);
	else
		*out = fd;
	return err;
}

int state_lock(const char *dir, int *out)
{
	int fd = -1, err = open_lock(dir, &fd);

	if (err)
		return err;
	/* A control that was told to stop may need a moment to end. */
	for (unsigned tries = 0; flock(fd, LOCK_EX | LOCK_NB); tries++) {
		err = errno;
		if (err != EINTR && (err != EWOULDBLOCK || tries == LOCK_TRIES)) {
			close(fd);
			return err == EWOULDBLOCK ? EBUSY : err;
		}
		usleep(LOCK_MS * 1000);
	}
	*out = fd;
	return 0;
}

/* Makes no file: one that an administrator makes could not be opened by the user of the bot. For
 * root, the lock of the directory's owner is the bot's. */
int state_lock_check(const char *dir)
{
	char path[PATH_SIZE];
	struct stat st, of_dir;
	int fd = -1, err;

	if ((size_t)snprintf(path, sizeof path, "%s/control.lock", dir) >= sizeof path)
		return ENAMETOOLONG;
	if (lstat(path, &st))
		return errno == ENOENT ? 0 : errno;
	if (geteuid() == 0 && stat(dir, &of_dir) == 0 && S_ISREG(st.st_mode) &&
	    st.st_uid == of_dir.st_uid && !(st.st_mode & S_IWOTH))
		return 0;
	err = open_lock(dir, &fd);
	if (!err)
		close(fd);
	return err;
}

bool state_is_incident(const char *dir)
{
	char path[PATH_SIZE];
	struct stat st;

	return (size_t)snprintf(path, sizeof path, "%s/" STATE_INCIDENT, dir) < sizeof path &&
	       lstat(path, &st) == 0;
}

bool state_is_used(const char *dir)
{
	static const char *const files[] = {"control.lock", "parley.db", "session.json"};
	char path[PATH_SIZE];
	struct stat st;

	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, files[i]);
		if (lstat(path, &st) == 0 || (errno != ENOENT && errno != ENOTDIR))
			return true;
	}
	return false;
}

bool state_locked(const char *dir)
{
	char path[PATH_SIZE];
	bool held;
	int fd;

	if ((size_t)snprintf(path, sizeof path, "%s/control.lock", dir) >= sizeof path)
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	/* A control that starts at this moment tries again (state_lock). */
	held = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
	close(fd);
	return held;
}

/* A line of /proc/locks: "1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF". */
static bool is_lock_of(const char *line, const struct stat *st, pid_t *pid)
{
	unsigned major_id, minor_id;
	unsigned long long inode;
	int holder;

	if (sscanf(line, "%*d: FLOCK ADVISORY WRITE %d %x:%x:%llu", &holder, &major_id, &minor_id,
		   &inode) != 4 ||
	    inode != st->st_ino || major_id != major(st->st_dev) || minor_id != minor(st->st_dev))
		return false;
	*pid = holder;
	return true;
}

static pid_t find_holder(const struct stat *st)
{
	FILE *f = fopen("/proc/locks", "re");
	char line[160];
	pid_t pid = 0;

	while (f && fgets(line, sizeof line, f) && !is_lock_of(line, st, &pid))
		;
	if (f)
		fclose(f);
	return pid;
}

pid_t state_holder(const char *dir)
{
	char path[PATH_SIZE];
	struct stat st;
	pid_t pid = 0;

	if ((size_t)snprintf(path, sizeof path, "%s/control.lock", dir) >= sizeof path ||
	    stat(path, &st))
		return 0;
	/* The kernel tells the list by pages, and between two of them lines are passed over when
	 * others go. */
	for (unsigned i = 0; i < HOLDER_READS && pid <= 0 && state_locked(dir); i++)
		pid = find_holder(&st);
	return pid > 0 ? pid : 0;
}

static int write_file(const char *dir, const char *name, const char *text)
{
	char path[PATH_SIZE], tmp[PATH_SIZE + 8];
	size_t n = strlen(text);
	int fd, err = 0;

	if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, name) >= sizeof path)
		return ENAMETOOLONG;
	snprintf(tmp, sizeof tmp, "%s.new", path);
	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return errno;
	if (fchmod(fd, 0600))
		err = errno;
	for (size_t at = 0; !err && at < n;) {
		ssize_t w = write(fd, text + at, n - at);

		if (w < 0)
			err = errno;
		else
			at += (size_t)w;
	}
	if (close(fd) && !err)
		err = errno;
	if (!err && rename(tmp, path))
		err = errno;
	if (err)
		unlink(tmp);
	return err;
}

static int write_text(const char *dir, const char *name, const char *text)
{
	int err = write_file(dir, name, text);

	if (err == ENOENT) {
		err = state_dir_make(dir);
		if (!err)
			err = write_file(dir, name, text);
	}
	return err;
}

/* A session names the address that the next Resume sends the bot's token to. */
static bool is_ours(const struct stat *st)
{
	return ours_is_trusted(st) && st->st_size <= SESSION_MAX;
}

static json_t *read_ours(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	json_t *j = NULL;

	if (fd < 0 && errno != ELOOP)
		return NULL;
	if (fd >= 0 && fstat(fd, &st) == 0 && is_ours(&st))
		j = json_loadfd(fd, JSON_REJECT_DUPLICATES, NULL);
	else
		log_warn("state_not_ours", "file=\"%s\"", path);
	if (fd >= 0)
		close(fd);
	return j;
}

/* Writes and syncs a file of this size, which shows a full disk and a quota. */
static int fill_file(int fd, uint64_t bytes)
{
	static const char zeros[1 << 16];

	for (uint64_t n = 0; n < bytes; n += sizeof zeros)
		if (write(fd, zeros, sizeof zeros) != (ssize_t)sizeof zeros)
			return errno ? errno : ENOSPC;
	return fsync(fd) ? errno : 0;
}

uint64_t state_dir_room(const char *dir)
{
	char path[PATH_SIZE];
	struct stat st = {0};

	if ((size_t)snprintf(path, sizeof path, "%s/parley.db", dir) < sizeof path &&
	    stat(path, &st))
		st.st_size = 0;
	/* The database, its log, and a copy of it for a backup or a migration. */
	return STATE_ROOM + 2 * (uint64_t)st.st_size;
}

int state_dir_check(const char *dir)
{
	char path[PATH_SIZE];
	int err = state_dir_make(dir), fd;

	if (!err && (size_t)snprintf(path, sizeof path, "%s/check", dir) >= sizeof path)
		err = ENAMETOOLONG;
	if (err)
		return err;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	errno = 0;
	err = fill_file(fd, state_dir_room(dir));
	close(fd);
	unlink(path);
	return err;
}

static json_t *format_id(uint64_t id)
{
	char text[24];

	snprintf(text, sizeof text, "%llu", (unsigned long long)id);
	return json_string(text);
}

static json_t *format_under_way(const struct under_way *u)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < u->n; i++)
		json_array_append_new(list, json_pack("{s:o,s:I,s:b,s:i}", "guild",
						      format_id(u->v[i].guild), "turn",
						      (json_int_t)u->v[i].turn, "speaking",
						      u->v[i].speaking, "what", (int)u->v[i].what));
	return list;
}

static json_t *format_encrypted(const struct encrypted_channel *c)
{
	return json_sprintf("%llu/%llu", (unsigned long long)c->guild,
			    (unsigned long long)c->channel);
}

json_t *state_format(const struct state *s)
{
	json_t *calls = json_array(), *encrypted = json_array();

	for (unsigned i = 0; i < s->encrypted.n; i++)
		json_array_append_new(encrypted, format_encrypted(&s->encrypted.v[i]));
	for (unsigned i = 0; i < s->n_calls; i++)
		json_array_append_new(calls, json_pack("{s:o,s:o,s:I,s:b,s:o}", "guild",
						       format_id(s->calls[i].guild), "channel",
						       format_id(s->calls[i].channel), "since_ms",
						       (json_int_t)s->calls[i].since_ms, "standing",
						       s->calls[i].standing, "music_message",
						       format_id(s->calls[i].music_message)));
	return json_pack(
		"{s:i,s:o,s:o,s:o,s:I,s:s,s:{s:s,s:s,s:I},s:I,s:I,s:o*,s:O*,s:o,s:o,s:o*,s:o,s:o,s:"
		"o}",
		"format", FORMAT, "epoch", format_id(s->epoch), "user", format_id(s->user),
		"application", format_id(s->application), "saved_ms", (json_int_t)s->saved_ms,
		"bot_name", s->bot_name, "session", "id", s->session.id, "url", s->session.url,
		"seq", (json_int_t)s->session.seq, "intents", (json_int_t)s->intents,
		"text_since_ms", (json_int_t)s->text_since_ms, "text_newest",
		s->text_newest ? format_id(s->text_newest) : NULL, "text_reading", s->reading,
		"calls", calls, "encrypted", encrypted, "lacks_real_time",
		s->lacks_real_time ? json_true() : NULL, "turns", format_under_way(&s->under_way),
		"commands", s->commands ? json_incref(s->commands) : json_array(), "counters",
		counters_json(&s->counters));
}

static void parse_calls(const json_t *list, struct state *s)
{
	json_t *x;
	size_t i;

	json_array_foreach(list, i, x)
	{
		json_int_t since = json_integer_value(json_object_get(x, "since_ms"));
		struct state_call c = {.standing = json_is_true(json_object_get(x, "standing")),
				       .since_ms = since > 0 ? (uint64_t)since : 0};

		discord_snowflake(json_string_value(json_object_get(x, "music_message")),
				  &c.music_message);
		if (s->n_calls < STATE_CALLS_MAX &&
		    discord_snowflake(json_string_value(json_object_get(x, "guild")), &c.guild) &&
		    discord_snowflake(json_string_value(json_object_get(x, "channel")), &c.channel))
			s->calls[s->n_calls++] = c;
	}
}

static bool parse_number(const char *s, const char *end, uint64_t *out)
{
	*out = 0;
	for (; s < end && *s >= '0' && *s <= '9'; s++) {
		if (*out > (UINT64_MAX - 9) / 10)
			return false;
		*out = *out * 10 + (uint64_t)(*s - '0');
	}
	return s == end;
}

/* GUILD/CHANNEL; before it was CHANNEL alone. */
static bool parse_encrypted_one(const char *s, struct encrypted_channel *out)
{
	const char *slash = s ? strchr(s, '/') : NULL;

	*out = (struct encrypted_channel){0};
	if (!slash)
		return discord_snowflake(s, &out->channel);
	return parse_number(s, slash, &out->guild) &&
	       parse_number(slash + 1, slash + strlen(slash), &out->channel) &&
	       (out->guild || out->channel);
}

static void parse_encrypted(const json_t *list, struct encrypted_channels *out)
{
	struct encrypted_channel c;
	json_t *x;
	size_t i;

	json_array_foreach(list, i, x)
	{
		if (out->n < ENCRYPTED_CHANNELS_MAX &&
		    parse_encrypted_one(json_string_value(x), &c))
			out->v[out->n++] = c;
	}
}

static void parse_under_way(const json_t *list, struct under_way *out)
{
	json_t *x;
	size_t i;

	json_array_foreach(list, i, x)
	{
		struct turn_under_way t = {
			.turn = (uint32_t)json_integer_value(json_object_get(x, "turn")),
			.speaking = json_is_true(json_object_get(x, "speaking"))};
		json_int_t what = json_integer_value(json_object_get(x, "what"));

		if (what == UNDER_WAY_TASK || what == UNDER_WAY_RESULT)
			t.what = what == UNDER_WAY_TASK ? UNDER_WAY_TASK : UNDER_WAY_RESULT;
		if (i < UNDER_WAY_MAX &&
		    discord_snowflake(json_string_value(json_object_get(x, "guild")), &t.guild))
			under_way_add(out, &t);
	}
}

int state_parse(const json_t *j, struct state *out)
{
	const char *epoch, *user, *application, *name, *id, *url;
	struct state s = {0};
	json_int_t saved, seq;
	const json_t *calls;
	int format;

	if (json_unpack((json_t *)j, "{s:i,s:s,s:s,s:s,s:I,s:s,s:{s:s,s:s,s:I},s:o}", "format",
			&format, "epoch", &epoch, "user", &user, "application", &application,
			"saved_ms", &saved, "bot_name", &name, "session", "id", &id, "url", &url,
			"seq", &seq, "calls", &calls))
		return EBADMSG;
	/* The next epoch is one higher, and mediad obeys only the highest. */
	if (format != FORMAT || !discord_u64(epoch, &s.epoch) || s.epoch == UINT64_MAX ||
	    !discord_u64(user, &s.user) || !discord_u64(application, &s.application) || saved < 0 ||
	    seq < 0 || strlen(id) >= sizeof s.session.id || strlen(url) >= sizeof s.session.url)
		return EBADMSG;
	s.saved_ms = (uint64_t)saved;
	s.session.seq = seq;
	s.intents = (uint32_t)json_integer_value(json_object_get(j, "intents"));
	discord_snowflake(json_string_value(json_object_get(j, "text_newest")), &s.text_newest);
	s.text_since_ms = (uint64_t)json_integer_value(json_object_get(j, "text_since_ms"));
	snprintf(s.session.id, sizeof s.session.id, "%s", id);
	snprintf(s.session.url, sizeof s.session.url, "%s", url);
	utf8_copy(s.bot_name, sizeof s.bot_name, name);
	parse_calls(calls, &s);
	parse_encrypted(json_object_get(j, "encrypted"), &s.encrypted);
	s.lacks_real_time = json_is_true(json_object_get(j, "lacks_real_time"));
	parse_under_way(json_object_get(j, "turns"), &s.under_way);
	counters_read(json_object_get(j, "counters"), &s.counters);
	*out = s;
	return 0;
}

json_t *state_read_session(const char *dir)
{
	char path[PATH_SIZE];

	if ((size_t)snprintf(path, sizeof path, "%s/session.json", dir) >= sizeof path)
		return NULL;
	return read_ours(path);
}

struct versions {
	json_t *list;
	size_t bytes;
	bool unread; /* nobody knows what the newest one holds */
};

static json_t *empty_version(void)
{
	return json_pack("{s:i,s:s,s:s,s:{}}", "version", 0, "updatedAt", "", "author", "",
			 "intent");
}

/* As document_version_text gave it. If the newest cannot be read, an empty version of its number
 * stands for it, so that the document can still be changed and undone. */
static json_t *parse_version(const struct store_document *d, bool newest, bool *unread)
{
	json_t *j = json_loads(d->document, JSON_REJECT_DUPLICATES, NULL);

	if (!json_is_object(json_object_get(j, "intent"))) {
		log_warn("settings_document_unreadable", "version=%llu",
			 (unsigned long long)d->version);
		json_decref(j);
		j = newest ? empty_version() : NULL;
		*unread = *unread || newest;
	}
	if (j)
		json_object_set_new(j, "version", json_integer((json_int_t)d->version));
	return j;
}

/* As many of the newest versions as document_parse takes. */
static bool add_version(const struct store_document *d, void *arg)
{
	struct versions *v = arg;

	v->bytes += strlen(d->document) + 1;
	if (v->bytes > DOCUMENT_MAX - VERSIONS_BRACKETS)
		return false;
	if (json_array_insert_new(v->list, 0,
				  parse_version(d, !json_array_size(v->list), &v->unread)) ||
	    json_array_size(v->list) > DOCUMENT_HISTORY_MAX)
		return false;
	/* Before the first one there were no settings: what its undo goes back to. */
	return d->version > 1 || json_array_insert_new(v->list, 0, empty_version()) == 0;
}

json_t *state_read_settings(const char *dir)
{
	struct versions v = {.list = json_array()};
	int err =
		v.list ? store_read_settings(dir, STORE_SETTINGS_GLOBAL, add_version, &v) : ENOMEM;
	struct words why = {0};
	json_t *all;

	if (err == ENOENT)
		err = 0;
	if (err) {
		store_fault_words(&why, dir, err);
		log_warn("settings_document_unreadable", "error=\"%s\" text=\"%s\"", strerror(err),
			 why.text);
	}
	v.unread = v.unread || (err && !json_array_size(v.list));
	if (v.unread)
		log_warn("settings_unread",
			 "text=\"No call is joined until the stored settings can be read or are "
			 "saved anew: they may block people and channels\"");
	if (!v.unread && !json_array_size(v.list)) {
		json_decref(v.list);
		return NULL;
	}
	all = json_pack("{s:o}", "versions", v.list);
	if (v.unread)
		json_object_set_new(all, "unread", json_true());
	return all;
}

/* Words said in the calls that go on. */
static json_t *read_words(const char *dir, const json_t *session)
{
	json_t *all = json_object();
	struct state s;
	char guild[24];

	if (!session || state_parse(session, &s))
		return all;
	for (unsigned i = 0; i < s.n_calls; i++) {
		if (!s.calls[i].since_ms)
			continue;
		snprintf(guild, sizeof guild, "%llu", (unsigned long long)s.calls[i].guild);
		json_object_set_new(all, guild,
				    store_read_words(dir, s.calls[i].guild, s.calls[i].channel,
						     s.calls[i].since_ms));
	}
	return all;
}

static int replay_forgotten(const char *dir)
{
	struct forgotten_replayed again;
	int err = forgotten_replay(dir, &again);

	if (err)
		log_warn("forgotten_not_replayed",
			 "error=\"%s\" text=\"The database may have facts that were forgotten and "
			 "messages that were deleted, from a backup\"",
			 strerror(err));
	if (again.facts || again.servers || again.lines || again.messages)
		log_warn("forgotten_replayed", "facts=%u servers=%u lines=%u messages=%u",
			 again.facts, again.servers, again.lines, again.messages);
	return err;
}

/* A database from an older backup brings back neither the data of a person whom a control has
 * erased nor a consent that was changed since, nor what people forgot or deleted. If it may have,
 * it is as if nobody had agreed to anything: no model learns anything about anybody in it. */
static int repair_backup(const char *dir)
{
	unsigned people = 0, changed = 0;
	int not_erased = deletions_replay(dir, &people), not_forgotten, err;

	if (not_erased)
		log_warn(
			"deletions_not_replayed",
			"error=\"%s\" text=\"The database may have data of people who were erased, "
			"from a backup\"",
			strerror(not_erased));
	if (people)
		log_warn("deletions_replayed", "people=%u", people);
	not_forgotten = replay_forgotten(dir);
	err = consents_replay(dir, &changed);
	if (changed)
		log_warn("consents_replayed", "changed=%u", changed);
	return err ? err : not_erased ? not_erased : not_forgotten;
}

/* Without the answers nobody knows which members refuse to be heard. */
static json_t *read_consents(const char *dir, int err)
{
	json_t *all = NULL;

	if (!err)
		err = store_read_consents(dir, &all);
	if (!err)
		return all;
	log_warn("consents_unread",
		 "error=\"%s\" text=\"Nobody is heard who does not answer /consent anew, until the "
		 "answers in parley.db, the file consents and the file subject-key can be read\"",
		 strerror(err));
	return json_pack("{s:b}", "unread", 1);
}

void state_kept_forget_sessions(struct state_kept *kept)
{
	json_decref(kept->web);
	kept->web = NULL;
}

void state_read(const char *dir, struct state_kept *out)
{
	out->consents = read_consents(dir, repair_backup(dir));
	out->session = state_read_session(dir);
	out->guilds = store_read_guilds(dir);
	out->queues = store_read_queues(dir);
	out->taken = store_read_taken(dir);
	out->web = store_read_web(dir);
	out->words = read_words(dir, out->session);
	out->settings = state_read_settings(dir);
	out->erasing = store_has_erase_requests(dir);
	out->written = store_has_messages(dir);
}

void state_kept_clear(struct state_kept *kept)
{
	json_decref(kept->session);
	json_decref(kept->guilds);
	json_decref(kept->queues);
	json_decref(kept->taken);
	json_decref(kept->web);
	json_decref(kept->words);
	json_decref(kept->settings);
	json_decref(kept->consents);
	kept->web = kept->queues = kept->taken = kept->consents = kept->session = kept->guilds =
		kept->words = kept->settings = NULL;
}

char *state_text(const struct state *s)
{
	json_t *j = state_format(s);
	char *text = j ? json_dumps(j, JSON_COMPACT) : NULL;

	json_decref(j);
	return text;
}

static int make_token(const char *dir, char *buf, size_t size)
{
	uint8_t bits[32];
	char text[2 * sizeof bits + 2];
	int err;

	if (size < sizeof text)
		return ENOSPC;
	if (getrandom(bits, sizeof bits, 0) != (ssize_t)sizeof bits)
		return EIO;
	for (size_t i = 0; i < sizeof bits; i++)
		snprintf(text + 2 * i, 3, "%02x", bits[i]);
	memcpy(buf, text, 2 * sizeof bits + 1);
	strcat(text, "\n");
	err = write_text(dir, "web-token", text);
	explicit_bzero(bits, sizeof bits);
	explicit_bzero(text, sizeof text);
	return err;
}

int state_read_web_token(const char *dir, char *buf, size_t size)
{
	char path[PATH_SIZE];
	struct stat st;
	ssize_t n;
	int fd;

	if ((size_t)snprintf(path, sizeof path, "%s/web-token", dir) >= sizeof path)
		return ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return errno;
	/* Whoever can read it can change every setting. */
	if (fstat(fd, &st) || !ours_is_private(fd, &st)) {
		close(fd);
		return EPERM;
	}
	n = read(fd, buf, size - 1);
	close(fd);
	buf[n < 0 ? 0 : n] = '\0';
	buf[strcspn(buf, "\r\n")] = '\0';
	n = (ssize_t)strlen(buf);
	/* Nobody guesses one of this length, and it is one word of a header field. */
	return n >= 16 && (size_t)n == strcspn(buf, " \t\"\\") ? 0 : EINVAL;
}

int state_web_token(const char *dir, char *buf, size_t size)
{
	int err = state_read_web_token(dir, buf, size);

	return err == ENOENT ? make_token(dir, buf, size) : err;
}

const char *state_web_token_fault(int err)
{
	return err == EPERM ? "it belongs to another user, or others may read it. Delete it, and a "
			      "new one is made"
	       : err == EINVAL ? "it holds no token. Delete it, and a new one is made"
	       : err == ENOENT ? "there is no state directory. Give --state-dir"
			       : strerror(err);
}

bool state_fresh(const struct state *s, uint64_t wall_ms)
{
	return s->session.id[0] && s->user && wall_ms >= s->saved_ms &&
	       wall_ms - s->saved_ms < (uint64_t)STATE_FRESH_S * 1000;
}

bool state_alive(const struct state *s, uint64_t wall_ms)
{
	return s->session.id[0] && s->saved_ms >= s->epoch && wall_ms >= s->saved_ms &&
	       wall_ms - s->saved_ms < (uint64_t)STATE_ALIVE_S * 1000;
}
