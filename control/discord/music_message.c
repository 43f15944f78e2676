#include "control/discord/music_message.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "control/discord/components.h"
#include "control/discord/music_commands.h"
#include "control/music/queue.h"
#include "control/words/words.h"
#include "proto/discord.h"

static const char *const actions[] = {
#define B(NAME, action) action,
	MUSIC_BUTTONS(B)
#undef B
};

static void (*const labels[])(struct words *w) = {
	[MUSIC_BUTTON_PREVIOUS] = words_music_label_previous,
	[MUSIC_BUTTON_PAUSE] = words_music_label_pause,
	[MUSIC_BUTTON_RESUME] = words_music_label_resume,
	[MUSIC_BUTTON_SKIP] = words_music_label_skip,
	[MUSIC_BUTTON_STOP] = words_music_label_stop,
	[MUSIC_BUTTON_LOOP] = words_music_label_loop,
	[MUSIC_BUTTON_SHUFFLE] = words_music_label_shuffle,
};

/* ---- the present track ---- */

static uint64_t position_ms(const struct music_queue *q)
{
	return music_queue_position(q) / (MUSIC_FRAMES_PER_S / 1000);
}

/* The position where the present step began. */
static uint64_t shown_position(uint64_t at, uint64_t duration)
{
	uint64_t step = duration ? duration / MUSIC_BAR_CELLS : MUSIC_BAR_ENDLESS_MS;

	if (step < MUSIC_BAR_STEP_MS)
		step = MUSIC_BAR_STEP_MS;
	return at / step * step;
}

static void write_bar(char to[MUSIC_BAR_CELLS * 4 + 1], uint64_t at, uint64_t duration)
{
	uint64_t knob = at * MUSIC_BAR_CELLS / duration;

	to[0] = '\0';
	if (knob >= MUSIC_BAR_CELLS)
		knob = MUSIC_BAR_CELLS - 1;
	for (unsigned i = 0; i < MUSIC_BAR_CELLS; i++)
		strcat(to, i == knob ? "🔘" : "▬");
}

static void add_position(struct words *words, const struct track *t, uint64_t ms)
{
	uint64_t at = shown_position(ms, t->duration_ms);
	char bar[MUSIC_BAR_CELLS * 4 + 1] = "▶", now[MUSIC_TIME_MAX], end[MUSIC_TIME_MAX];
	char times[2 * MUSIC_TIME_MAX + 3];
	struct words live = {.language = words->language};

	words_line(words);
	music_time_write(now, at / 1000);
	if (t->source == TRACK_RADIO) {
		words_music_live(&live);
		words_music_bar(words, bar, live.text);
		return;
	}
	snprintf(times, sizeof times, "%s", now);
	if (t->duration_ms) {
		write_bar(bar, at, t->duration_ms);
		music_time_write(end, t->duration_ms / 1000);
		snprintf(times, sizeof times, "%s / %s", now, end);
	}
	words_music_bar(words, bar, times);
}

static void add_loop(struct words *words, const struct music_queue *q, bool off_too)
{
	switch (music_queue_loop(q)) {
	case MUSIC_LOOP_TRACK:
		words_music_loop_track(words);
		break;
	case MUSIC_LOOP_QUEUE:
		words_music_loop_queue(words);
		break;
	default:
		if (off_too)
			words_music_loop_off(words);
		break;
	}
}

static void add_settings(struct words *words, const struct music_view *v)
{
	unsigned volume = music_queue_volume(v->queue);

	words_line(words);
	add_loop(words, v->queue, false);
	if (volume != MUSIC_VOLUME_FULL)
		words_music_volume(words, volume * 100 / MUSIC_VOLUME_FULL);
	if (v->votes.votes)
		words_music_votes(words, v->votes.votes, v->votes.needed);
	if (v->halted)
		words_music_tries_again(words);
}

static void add_present(struct words *words, const struct music_view *v)
{
	const struct track *t = music_queue_present(v->queue);
	char label[TRACK_LABEL_MAX + TRACK_TITLE_MAX + 3];

	track_write_label(label, t);
	if (v->title && *v->title)
		snprintf(label + strlen(label), TRACK_TITLE_MAX + 3, ": %.*s", TRACK_TITLE_MAX - 1,
			 v->title);
	if (v->paused)
		words_music_now_paused(words, label);
	else
		words_music_now(words, label);
	if (v->paused) {
		words_line(words);
		words_music_resumes(words);
	}
	if (v->waits) {
		words_line(words);
		words_music_source_waits(words);
	}
	if (t->requester) {
		words_line(words);
		words_music_asked_by(words, t->requester);
	}
	add_position(words, t, position_ms(v->queue));
}

static void add_following(struct words *words, const struct music_queue *q)
{
	const struct track *next = music_queue_following(q);
	size_t waiting = music_queue_count(q) - 1;
	char label[TRACK_LABEL_MAX];

	if (!next || !waiting)
		return;
	track_write_label(label, next);
	words_line(words);
	words_music_next_one(words, label);
	if (waiting > 1) {
		words_line(words);
		words_music_more_wait(words, (unsigned)waiting - 1);
	}
}

void music_message_write(struct words *words, const struct music_view *v)
{
	if (!music_queue_present(v->queue)) {
		words_music_over(words);
		if (v->halted)
			words_music_tries_again(words);
		return;
	}
	add_present(words, v);
	add_following(words, v->queue);
	add_settings(words, v);
	while (words->n && words->text[words->n - 1] == '\n')
		words->text[--words->n] = '\0';
}

/* ---- buttons ---- */

static json_t *button_json(enum music_button button, const char *subject, const char *language)
{
	struct words label = {0};

	words_speak(&label, language);
	labels[button](&label);
	return component_shared_button(
		actions[button], subject,
		button == MUSIC_BUTTON_STOP ? COMPONENT_DANGER : COMPONENT_PLAIN, label.text);
}

json_t *music_message_buttons(const struct music_view *v, const char *language)
{
	const struct track *t = music_queue_present(v->queue);
	enum music_button pause = v->paused ? MUSIC_BUTTON_RESUME : MUSIC_BUTTON_PAUSE;
	char subject[COMPONENT_SUBJECT];
	json_t *rows;

	if (!t)
		return json_array();
	snprintf(subject, sizeof subject, "%" PRIu64 ".%" PRIu32, music_queue_channel(v->queue),
		 t->id);
	rows = component_row(json_pack("[o,o,o,o]",
				       button_json(MUSIC_BUTTON_PREVIOUS, subject, language),
				       button_json(pause, subject, language),
				       button_json(MUSIC_BUTTON_SKIP, subject, language),
				       button_json(MUSIC_BUTTON_STOP, subject, language)));
	component_add_row(rows,
			  json_pack("[o,o]", button_json(MUSIC_BUTTON_LOOP, subject, language),
				    button_json(MUSIC_BUTTON_SHUFFLE, subject, language)));
	return rows;
}

bool music_button_parse(enum music_button *button, const char *action)
{
	for (unsigned i = 0; i < MUSIC_BUTTON_COUNT; i++)
		if (strcmp(actions[i], action) == 0) {
			*button = (enum music_button)i;
			return true;
		}
	return false;
}

int music_subject_parse(const char *subject, uint64_t *channel, uint32_t *entry)
{
	const char *dot = strchr(subject, '.');
	char text[24];
	uint64_t id;

	if (!dot || dot - subject >= (ptrdiff_t)sizeof text)
		return EBADMSG;
	memcpy(text, subject, (size_t)(dot - subject));
	text[dot - subject] = '\0';
	if (!discord_snowflake(text, channel) || !discord_u64(dot + 1, &id) || !id ||
	    id > UINT32_MAX)
		return EBADMSG;
	*entry = (uint32_t)id;
	return 0;
}

/* ---- lists ---- */

static void add_line(struct words *words, size_t place, const struct track *t)
{
	char label[TRACK_LABEL_MAX], time[MUSIC_TIME_MAX];
	struct words live = {.language = words->language};

	track_write_label(label, t);
	music_time_write(time, t->duration_ms / 1000);
	words_line(words);
	words_music_live(&live);
	if (t->source == TRACK_RADIO)
		words_music_line_timed(words, (unsigned)place, label, live.text);
	else if (t->duration_ms)
		words_music_line_timed(words, (unsigned)place, label, time);
	else
		words_music_line(words, (unsigned)place, label);
}

void music_message_queue(struct words *words, const struct music_view *v, size_t page)
{
	size_t n = music_queue_count(v->queue), pages;

	if (!n) {
		words_music_nothing_plays(words);
		return;
	}
	add_present(words, v);
	add_settings(words, v);
	if (n == 1)
		return;
	pages = (n - 1 + MUSIC_PAGE - 1) / MUSIC_PAGE;
	if (page >= pages)
		page = pages - 1;
	words_line(words);
	words_music_waiting_list(words);
	/* Place 1 is the present track. */
	for (size_t i = 1 + page * MUSIC_PAGE; i < n && i <= (page + 1) * MUSIC_PAGE; i++)
		add_line(words, i + 1, music_queue_at(v->queue, i));
	words_line(words);
	if (pages > 1)
		words_music_page(words, (unsigned)page + 1, (unsigned)pages);
}

void music_message_history(struct words *words, const struct music_queue *q)
{
	size_t n = music_queue_played_count(q);

	if (!n) {
		words_music_no_history(words);
		return;
	}
	words_music_played_list(words);
	for (size_t i = 0; i < n && i < MUSIC_PAGE; i++)
		add_line(words, i + 1, music_queue_played(q, i));
}
