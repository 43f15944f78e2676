#include "tests/bench/journal_times.h"

#include "control/room/hearing/signal.h"
#include "control/room/journal.h"
#include "control/room/room.h"
#include "control/settings/settings.h"
#include "ipc/journal.h"
#include "proto/base/time.h"
#include "proto/media.h"
#include "tests/bench/bench.h"
#include "tests/bench/rooms.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REC_HEAD = 8 + 8 + 1 + 1 + 4 + 1 };

struct rerun_ {
	struct settings *settings;
	struct room *room;
	struct room_effects *fx;
	char name[ROOM_NAME_MAX];
	uint64_t speech; /* arrival of the last packet with speech */
	uint64_t frame;	 /* its length, ns */
	unsigned number; /* of the transcript that came last */
	uint64_t steps, sum;
	struct journal_times *out;
	size_t utterance_cap, ask_cap, cut_cap;
};

static uint8_t *whole(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	uint8_t *p;
	long size;

	if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0)
		bench_die("%s: %s", path, strerror(errno));
	rewind(f);
	p = malloc((size_t)size + 1);
	if (!p || fread(p, 1, (size_t)size, f) != (size_t)size)
		bench_die("%s cannot be read", path);
	fclose(f);
	*n = (size_t)size;
	return p;
}

static void *grown(void *p, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return p;
	*cap = *cap ? 2 * *cap : 256;
	p = realloc(p, *cap * size);
	if (!p)
		bench_die("out of memory");
	return p;
}

/* True if the samples may belong to speech, by the settings' own thresholds: soft endings count. */
static bool is_speech(const struct settings *s, const struct room_signal *frame)
{
	return 2 * frame->peak >= s->promote_peak &&
	       2 * room_signal_active(frame) >= s->promote_active;
}

static void note_frame(struct rerun_ *r, const struct room_event *ev)
{
	struct room_signal frame = {0};

	room_signal_add(&frame, ev->pcm, r->settings->active_sample);
	if (!is_speech(r->settings, &frame))
		return;
	r->speech = ev->at;
	r->frame = room_signal_ms(&frame) * NS_PER_MS;
}

/* The room counts end_long_ms of silence from the end of the last frame with speech. Its other
 * rule, the end of packets, starts later and would show as latency here. */
static void note_commit(struct rerun_ *r, uint32_t utterance)
{
	struct journal_times *s = r->out;

	if (!r->speech)
		return;
	s->utterance = grown(s->utterance, s->utterances, &r->utterance_cap, sizeof *s->utterance);
	s->utterance[s->utterances++] = (struct journal_times_utterance){
		.utterance = utterance,
		.speech = r->speech,
		.delay = r->frame + r->settings->end_long_ms * NS_PER_MS,
	};
}

static void note_transcript(struct rerun_ *r, const struct room_event *ev)
{
	struct journal_times *s = r->out;
	char text[128];
	const char *number;

	snprintf(text, sizeof text, "%.*s", (int)ev->text.n, (const char *)ev->text.p);
	number = strstr(text, " number ");
	r->number = number ? (unsigned)atoi(number + strlen(" number ")) : 0;
	for (size_t i = s->utterances; i-- > 0;)
		if (s->utterance[i].utterance == ev->utterance) {
			s->utterance[i].number = r->number;
			return;
		}
}

static void step(struct rerun_ *r, const struct room_event *ev, uint64_t now)
{
	struct journal_times *s = r->out;

	if (!r->room)
		BENCH_OK(room_alloc(&r->room, r->settings, r->name));
	if (ev->type == ROOM_HEARD)
		note_frame(r, ev);
	else if (ev->type == ROOM_TRANSCRIPT)
		note_transcript(r, ev);
	room_step(r->room, ev, now, r->fx);
	r->steps++;
	r->sum = room_journal_sum(r->sum, r->fx);
	for (size_t i = 0; i < r->fx->n; i++) {
		const struct room_effect *e = &r->fx->v[i];

		if (e->type == ROOM_DO_ASR_COMMIT) {
			note_commit(r, e->utterance);
		} else if (e->type == ROOM_DO_ASK) {
			s->ask = grown(s->ask, s->asks, &r->ask_cap, sizeof *s->ask);
			s->ask[s->asks++] = (struct journal_times_ask){e->turn, r->number, now};
		} else if (e->type == ROOM_DO_SAY_STOP && ev->type == ROOM_HEARD) {
			s->cut = grown(s->cut, s->cuts, &r->cut_cap, sizeof *s->cut);
			s->cut[s->cuts++] = (struct journal_times_cut){e->turn, now};
		}
	}
}

static void record(struct rerun_ *r, const struct room_journal_record *rec)
{
	char name[128], value[4097];

	switch (rec->what) {
	case ROOM_JOURNAL_NAME:
		snprintf(r->name, sizeof r->name, "%.*s", (int)rec->text.n,
			 (const char *)rec->text.p);
		break;
	case ROOM_JOURNAL_SETTING:
		snprintf(name, sizeof name, "%.*s", (int)rec->text.n, (const char *)rec->text.p);
		snprintf(value, sizeof value, "%.*s", (int)rec->value.n,
			 (const char *)rec->value.p);
		BENCH_OK(settings_set(r->settings, name, value));
		break;
	case ROOM_JOURNAL_EVENT:
		step(r, &rec->event, rec->now);
		break;
	case ROOM_JOURNAL_SUM:
		if (rec->steps != r->steps || rec->sum != r->sum)
			bench_die("the room's journal does not give the same effects again");
		break;
	}
}

static void path_of(char *path, size_t size, const char *folder, uint64_t guild)
{
	char start[32];
	DIR *d = opendir(folder);
	size_t n = (size_t)snprintf(start, sizeof start, "%llu-", (unsigned long long)guild);
	struct dirent *e;

	while (d && (e = readdir(d)) && strncmp(e->d_name, start, n) != 0)
		;
	if (!d || !e)
		bench_die("there is no journal of room %llu", (unsigned long long)guild);
	snprintf(path, size, "%s/%s", folder, e->d_name);
	closedir(d);
}

void journal_times_room(struct journal_times *out, const char *folder, uint64_t guild)
{
	struct rerun_ r = {.out = out};
	struct room_journal_record rec;
	char path[512];
	uint8_t *data;
	struct rd rd;
	size_t n;
	int err;

	*out = (struct journal_times){0};
	path_of(path, sizeof path, folder, guild);
	data = whole(path, &n);
	r.fx = calloc(1, sizeof *r.fx);
	if (!r.fx)
		bench_die("out of memory");
	BENCH_OK(settings_alloc(&r.settings));
	rd = rd_of(data, n);
	rd_bytes(&rd, sizeof ROOM_JOURNAL_FIRST - 1);
	while ((err = room_journal_read(&rd, &rec)) == 0)
		record(&r, &rec);
	if (err != ENODATA)
		bench_die("%s is broken", path);
	room_free(r.room);
	settings_free(r.settings);
	free(r.fx);
	free(data);
}

void journal_times_clear(struct journal_times *s)
{
	free(s->utterance);
	free(s->ask);
	free(s->cut);
}

size_t journal_times_after_cuts(unsigned room, const uint64_t *at, size_t n, double *ms)
{
	struct journal_times s;
	char folder[96];
	size_t out = 0;

	snprintf(folder, sizeof folder, "%s/rooms", rooms_folder());
	journal_times_room(&s, folder, rooms_guild(room));
	for (size_t i = 0; i < s.cuts; i++)
		for (size_t k = 0; k < n; k++)
			if (at[k] > s.cut[i].heard && at[k] < s.cut[i].heard + NS_PER_S) {
				ms[out++] = (double)(at[k] - s.cut[i].heard) / 1e6;
				break;
			}
	journal_times_clear(&s);
	return out;
}

size_t journal_times_stops(uint64_t **out, const char *journal, uint64_t guild)
{
	uint8_t *data;
	uint64_t *at = NULL;
	size_t size, n = 0, cap = 0, lines = 0, pos = 0;
	uint32_t call = 0;
	struct rd rd;

	data = whole(journal, &size);
	while (pos < size && lines < 2)
		lines += data[pos++] == '\n';
	rd = rd_of(data + pos, size - pos);
	while (rd_left(&rd) > 4 + REC_HEAD) {
		size_t len = rd_be(&rd, 4);
		uint64_t now;
		uint8_t thread, what;
		const uint8_t *body;
		struct media_msg msg;

		rd_be(&rd, 8);
		now = rd_be(&rd, 8);
		thread = (uint8_t)rd_be(&rd, 1);
		what = (uint8_t)rd_be(&rd, 1);
		rd_be(&rd, 4);
		rd_be(&rd, 1);
		body = len >= REC_HEAD ? rd_bytes(&rd, len - REC_HEAD) : NULL;
		/* No other input of that thread parses as a command. */
		if (!body || thread || what != JOURNAL_INPUT || len - REC_HEAD > 128 ||
		    media_unpack(&msg, MEDIA_SIDE_CONTROL, body, len - REC_HEAD))
			continue;
		if (msg.type == MEDIA_CALL_OPEN && msg.call_open.guild == guild)
			call = msg.call_open.call;
		if (msg.type != MEDIA_SAY_STOP || msg.say_stop.call != call)
			continue;
		at = grown(at, n, &cap, sizeof *at);
		at[n++] = now;
	}
	free(data);
	*out = at;
	return n;
}
