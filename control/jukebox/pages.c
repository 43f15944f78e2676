/* Music whose reference is a page: the address of its stream is looked for when it is to be played
 * or prepared, because such addresses expire. And music that fails before mediad hears of it. */
#include <errno.h>
#include <string.h>

#include "control/jukebox/inside.h"
#include "control/media/music.h"
#include "control/music_sources/music_sources.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"

enum { RENEW_S = 60 };

bool jukebox_finds_present(const struct jukebox *j)
{
	uint32_t music = j->player.present.music;

	return music && (j->pages[0].music == music || j->pages[1].music == music);
}

/* mediad knows nothing that follows music which it does not know: the next track is played anew. */
static void fail(struct jukebox *j, uint32_t music, enum music_fault fault, const char *why)
{
	if (music == j->player.present.music)
		j->player.next = (struct music_told){0};
	jukebox_report(
		j,
		&(struct music_report){.music = music, .phase = MUSIC_PHASE_FAILED, .fault = fault},
		why);
	jukebox_settle(j);
}

static void order_next(struct jukebox *j)
{
	const struct music_player *p = &j->player;
	const struct music_order o = {
		.kind = MUSIC_ORDER_NEXT,
		.music = p->next.music,
		.after = p->present.music,
		.track = music_queue_at(j->queue, music_queue_find(j->queue, p->next.entry)),
		.volume = music_queue_volume(j->queue)};

	if (o.music && o.track)
		jukebox_order(&o, j);
}

/* As it is wanted now: it may have become the present music, or been paused, meanwhile. */
static void send_order(struct jukebox *j, uint32_t music, const struct music_found *found)
{
	const struct music_player *p = &j->player;
	bool present = music == p->present.music;
	uint32_t entry = present ? p->present.entry : p->next.entry;
	struct music_order o = {.kind = present ? MUSIC_ORDER_PLAY : MUSIC_ORDER_NEXT,
				.music = music,
				.volume = music_queue_volume(j->queue)};
	int err;

	if (present) {
		o.position = music_queue_position(j->queue);
		o.paused = p->paused;
	} else {
		o.after = p->present.music;
	}
	o.track = music_queue_at(j->queue, music_queue_find(j->queue, entry));
	if (!o.track)
		return;
	err = jukebox_send(j, &o, found);
	if (jukebox_refusal(err))
		fail(j, music, MUSIC_FAULT_TRACK, jukebox_refusal(err));
	else if (present)
		order_next(j);
}

static void take_stream(const struct music_found *found, void *arg)
{
	struct jukebox_page *page = arg;
	struct jukebox *j = page->j;
	uint32_t music = page->music;

	*page = (struct jukebox_page){0};
	if (found->why || !found->stream)
		fail(j, music,
		     found->machine  ? MUSIC_FAULT_MACHINE
		     : found->passes ? MUSIC_FAULT_NETWORK
				     : MUSIC_FAULT_TRACK,
		     found->why ? found->why : "");
	else
		send_order(j, music, found);
}

void jukebox_drop_pages(struct jukebox *j)
{
	for (unsigned i = 0; i < 2; i++) {
		struct jukebox_page *page = &j->pages[i];

		if (!page->music || page->music == j->player.present.music ||
		    page->music == j->player.next.music)
			continue;
		music_request_cancel(page->request);
		*page = (struct jukebox_page){0};
	}
}

static struct jukebox_page *take_page(struct jukebox *j, uint32_t music)
{
	struct jukebox_page *page;

	jukebox_drop_pages(j);
	page = j->pages[0].music ? &j->pages[1] : &j->pages[0];
	music_request_cancel(page->request);
	*page = (struct jukebox_page){.j = j, .music = music};
	return page;
}

static void fail_page(struct jukebox_page *page, enum music_fault fault, const char *why)
{
	page->failed = why;
	page->fault = fault;
	tmr_start(page->j->tmr, 0);
}

/* No page could be looked for: it is not for this one to leave the queue. */
void jukebox_find_stream(struct jukebox *j, const struct music_order *o)
{
	struct jukebox_page *page = take_page(j, o->music);
	int err = j->conf.sources ? music_sources_stream(&page->request, j->conf.sources, o->track,
							 take_stream, page)
				  : ENOTSUP;

	if (err)
		fail_page(page, MUSIC_FAULT_MACHINE, err == ENOTSUP ? MUSIC_NO_DOWNLOADER : "");
}

/* Returns false if it was done less than RENEW_S before. */
static bool note_renewal(struct jukebox *j, uint32_t entry)
{
	unsigned place = j->renewed[0].entry == entry ? 0 : 1;
	uint64_t now = env_now(j->conf.env);

	if (j->renewed[place].entry == entry && now - j->renewed[place].at < RENEW_S * NS_PER_S)
		return false;
	if (place)
		j->renewed[1] = j->renewed[0];
	j->renewed[0].entry = entry;
	j->renewed[0].at = now;
	return true;
}

bool jukebox_renew_stream(struct jukebox *j, uint32_t music)
{
	const struct music_player *p = &j->player;
	uint32_t entry = music == p->present.music ? p->present.entry
			 : music == p->next.music  ? p->next.entry
						   : 0;
	const struct track *t = music_queue_at(j->queue, music_queue_find(j->queue, entry));

	if (!music || !entry || !t || !j->conf.sources || media_music_opens(t) ||
	    !note_renewal(j, entry))
		return false;
	log_info("music_stream_renewed", "guild=%llu music=%u", (unsigned long long)j->conf.guild,
		 music);
	music_sources_forget(j->conf.sources, t);
	music_player_reopen(&j->player, music);
	jukebox_settle(j);
	return true;
}

void jukebox_fail_later(struct jukebox *j, uint32_t music, const char *why)
{
	fail_page(take_page(j, music), MUSIC_FAULT_TRACK, why);
}

bool jukebox_fail_pages(struct jukebox *j)
{
	for (unsigned i = 0; i < 2; i++)
		if (j->pages[i].failed) {
			const struct jukebox_page page = j->pages[i];

			j->pages[i] = (struct jukebox_page){0};
			fail(j, page.music, page.fault, page.failed);
			return true;
		}
	return false;
}
