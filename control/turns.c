#include "control/turns.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/room/turn/turn.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/base/time.h"

enum { FILE_MAX = 4 << 20 };

static const char *const stages[] = {"admitted", "speaking", "ended"};

static json_t *id_json(uint64_t id)
{
	char text[24];

	snprintf(text, sizeof text, "%llu", (unsigned long long)id);
	return json_string(text);
}

static json_t *why_json(const struct room_turn *t)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < t->decisions && i < ROOM_CHAIN; i++) {
		const struct room_decision *d = &t->decision[i];

		json_array_append_new(
			list, json_pack("{s:s,s:b,s:I,s:I,s:s,s:s}", "rule",
					room_rule_name(d->rule), "yes", d->yes, "value",
					(json_int_t)d->value, "limit", (json_int_t)d->limit, "unit",
					room_rule_unit(d->rule), "text", room_rule_text(d->rule)));
	}
	return list;
}

static json_t *first_audio(const struct room_turn *t)
{
	if (!t->first_audio_at || !t->end_of_speech_at || t->first_audio_at < t->end_of_speech_at)
		return json_null();
	return json_integer((json_int_t)((t->first_audio_at - t->end_of_speech_at) / NS_PER_MS));
}

json_t *turns_json(const struct room_turn *t, enum turns_stage stage, const struct turns_at *at)
{
	return json_pack("{s:I,s:o,s:o,s:I,s:s,s:o,s:s,s:s,s:s,s:s,s:s,s:o,s:o}", "at",
			 (json_int_t)at->wall_ms, "guild", id_json(at->guild), "channel",
			 id_json(at->channel), "turn", (json_int_t)t->id, "stage", stages[stage],
			 "user", id_json(t->user), "name", t->name, "heard", t->transcript, "said",
			 t->answer, "reason", room_reason_name(t->reason), "text",
			 room_reason_text(t->reason), "first_audio_ms", first_audio(t), "why",
			 why_json(t));
}

static int open_file(const char *file)
{
	return open(file, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW,
		    0600);
}

/* One write a line, so that several rooms share a file. */
static int append(const char *file, const char *line, size_t n)
{
	int fd = open_file(file), err = 0;
	char old[1024];
	struct stat st;
	ssize_t w;

	if (fd < 0)
		return errno;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= FILE_MAX &&
	    (size_t)snprintf(old, sizeof old, "%s.old", file) < sizeof old &&
	    rename(file, old) == 0) {
		close(fd);
		fd = open_file(file);
		if (fd < 0)
			return errno;
	}
	w = write(fd, line, n);
	if (w < 0)
		err = errno;
	else if ((size_t)w < n)
		err = EIO;
	close(fd);
	return err;
}

void turns_write(struct env *env, const char *file, const struct room_turn *turn,
		 enum turns_stage stage, uint64_t guild, uint64_t channel)
{
	struct turns_at at = {.guild = guild, .channel = channel};
	char *text, *line = NULL;
	json_t *j;
	int n = -1, err = ENOMEM;

	if (!file[0])
		return;
	at.wall_ms = env_wall_ms(env);
	j = turns_json(turn, stage, &at);
	text = j ? json_dumps(j, JSON_COMPACT) : NULL;
	if (text)
		n = asprintf(&line, "%s\n", text);
	if (n > 0) {
		env_output(env, ENV_OUT_FILE, 0, line, (size_t)n);
		err = (int)env_answer(env, env_replaying(env) ? 0 : append(file, line, (size_t)n));
		free(line);
	}
	if (err)
		log_warn("turn_not_written", "file=\"%s\" error=\"%s\"", file, strerror(err));
	free(text);
	json_decref(j);
}
