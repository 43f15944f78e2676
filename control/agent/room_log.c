#include "control/agent/room_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/room/journal.h"
#include "control/settings/settings.h"
#include "ipc/env.h"
#include "ipc/log.h"

enum { RECORD = ROOM_JOURNAL_RECORD_MAX };

struct room_log {
	FILE *f;
	uint64_t steps, sum;
	uint8_t buf[RECORD];
};

static struct slice slice_of_text(const char *text)
{
	return (struct slice){(const uint8_t *)text, strlen(text)};
}

static void write_record(struct room_log *l, const struct room_journal_record *r)
{
	struct wr w = wr_of(l->buf, sizeof l->buf);

	room_journal_write(&w, r);
	if (!l->f || (w.ok && fwrite(l->buf, 1, w.pos, l->f) == w.pos))
		return;
	log_warn("room_journal_broken", "error=\"%s\"",
		 w.ok ? strerror(errno) : "a record too large");
	fclose(l->f);
	l->f = NULL;
}

static void write_setting(const char *name, const char *value, bool secret, void *arg)
{
	if (!secret)
		write_record(arg, &(struct room_journal_record){.what = ROOM_JOURNAL_SETTING,
								.text = slice_of_text(name),
								.value = slice_of_text(value)});
}

static FILE *make_file(const char *folder, uint64_t guild, uint64_t wall_ms)
{
	char path[1024];
	FILE *f;
	int fd, err;

	snprintf(path, sizeof path, "%s/%llu-%llu.parley-room", folder, (unsigned long long)guild,
		 (unsigned long long)wall_ms);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	f = fd < 0 ? NULL : fdopen(fd, "wb");
	err = errno;
	if (!f && fd >= 0)
		close(fd);
	if (!f)
		log_warn("room_journal_failed", "file=\"%s\" error=\"%s\"", path, strerror(err));
	return f;
}

struct room_log *room_log_new(struct env *env, const struct settings *settings,
			      const char *bot_name, uint64_t guild)
{
	struct room_log *l;
	uint64_t wall_ms;

	if (!*settings->room_journals)
		return NULL;
	wall_ms = env_wall_ms(env);
	if (env_replaying(env))
		return NULL;
	l = calloc(1, sizeof *l);
	if (!l)
		return NULL;
	l->f = make_file(settings->room_journals, guild, wall_ms);
	if (!l->f) {
		free(l);
		return NULL;
	}
	fputs(ROOM_JOURNAL_FIRST, l->f);
	write_record(l, &(struct room_journal_record){
				.what = ROOM_JOURNAL_NAME,
				.text = slice_of_text(bot_name ? bot_name : settings->bot_name)});
	settings_each(settings, write_setting, l);
	return l;
}

void room_log_step(struct room_log *l, const struct room_event *ev, uint64_t now,
		   const struct room_effects *fx)
{
	if (!l)
		return;
	l->steps++;
	l->sum = room_journal_sum(l->sum, fx);
	write_record(l, &(struct room_journal_record){
				.what = ROOM_JOURNAL_EVENT, .event = *ev, .now = now});
}

void room_log_settings(struct room_log *l, const struct settings *settings)
{
	if (l)
		settings_each(settings, write_setting, l);
}

struct room_log *room_log_free(struct room_log *l)
{
	if (!l)
		return NULL;
	write_record(l, &(struct room_journal_record){
				.what = ROOM_JOURNAL_SUM, .steps = l->steps, .sum = l->sum});
	if (l->f && fclose(l->f))
		log_warn("room_journal_broken", "error=\"%s\"", strerror(errno));
	free(l);
	return NULL;
}
