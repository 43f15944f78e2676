/* The delay between a decision and its effect in the running programs, in quiet rooms (rooms.h):
 * ask_p99_ms, cut_p99_ms, commit_p99_ms, bargein_cancel_p99_ms, bargein_audio_p99_ms,
 * first_audio_p99_ms.
 *
 * The provider, also for speech-to-text, is a script in this process (brain.h), so no figure
 * contains a model's time. Its answers come as fast as they are spoken, so an interruption cancels
 * one.
 *
 *   commit  from the arrival of the utterance's last packet with speech at the bot's mediad, less
 * the endpointing delay (that packet's own 20 ms and the silence that the settings ask for), to the
 * commit on the socket of speech-to-text ask     from there to the question on the brain's socket
 *   cut     from control's read of the frame that confirms the interruption to SAY_STOP
 *   cancel  from there to response.cancel on the brain's socket
 *   audio   from there to the last audible packet that the member's mediad received
 *   first   from the first sound that the brain sent to the first packet of it that the member's
 *           mediad received
 *
 * A commit, its transcript and the question that follows are paired by the transcript's number.
 *
 * The times of control's reads come from the room's journal, on one clock with the provider's read
 * of the question and with mediad's read of SAY_STOP (its journal). The figures are therefore
 * slightly too long, by the reader's wake-up time, and those of sound by guildd's relay.
 *
 *   BENCH_ASKS=n      questions in all (300: two minutes; 1000: six)      BENCH_ROOMS=n      rooms
 * at a time (4) */
#include "proto/base/time.h"
#include "tests/bench/ask_times.h"
#include "tests/bench/bench.h"
#include "tests/bench/brain.h"
#include "tests/bench/journal_times.h"
#include "tests/bench/rooms.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	ANSWER_MS = 4000,
	FIT_MS = 1000, /* between a decision and its trace elsewhere */
	GAP_MS = 150,  /* without an audible packet: another answer begins */
	ROOMS = 8,
};

/* The bot's answers as a member heard them: the first and the last audible packet of each. */
struct heard {
	uint64_t first, last;
};

static struct {
	struct brain *brain;
	struct heard *heard[ROOMS];
	size_t n[ROOMS], cap[ROOMS];
} w;

static void on_heard(unsigned room, uint64_t at, bool audible, void *arg)
{
	struct heard *h = w.heard[room];
	size_t n = w.n[room];

	(void)arg;
	if (!audible)
		return;
	if (n && at < h[n - 1].last + GAP_MS * NS_PER_MS) {
		h[n - 1].last = at;
		return;
	}
	if (n == w.cap[room]) {
		w.cap[room] = w.cap[room] ? 2 * w.cap[room] : 256;
		w.heard[room] = h = realloc(h, w.cap[room] * sizeof *h);
		if (!h)
			bench_die("out of memory");
	}
	h[w.n[room]++] = (struct heard){at, at};
}

static double ms_of(uint64_t from, uint64_t to)
{
	return (double)(int64_t)(to - from) / 1e6;
}

struct figure {
	const char *name;
	double *ms;
	size_t n, of;
};

static void add(struct figure *f, double ms)
{
	f->ms = realloc(f->ms, (f->n + 1) * sizeof *f->ms);
	if (!f->ms)
		bench_die("out of memory");
	f->ms[f->n++] = ms;
}

enum { ASK, CUT, COMMIT, CANCEL, AUDIO, FIRST, FIGURES };

static void asks_of(struct figure *f, const struct journal_times *s, unsigned room)
{
	size_t n, h = 0;
	const struct brain_asked *asked = brain_asked(w.brain, &n);
	unsigned conn = ask_times_conn(s, asked, n);

	for (size_t k = 0; k < n; k++) {
		double ms;

		if (asked[k].conn != conn)
			continue;
		if (ask_times_ms(s, &asked[k], &ms))
			add(&f[ASK], ms);
		while (h < w.n[room] && w.heard[room][h].first < asked[k].sound)
			h++;
		f[FIRST].of++;
		if (h < w.n[room] && w.heard[room][h].first < asked[k].sound + FIT_MS * NS_PER_MS)
			add(&f[FIRST], ms_of(asked[k].sound, w.heard[room][h].first));
		for (size_t i = 0; asked[k].cancelled && i < s->cuts; i++)
			if (s->cut[i].heard < asked[k].cancelled &&
			    asked[k].cancelled < s->cut[i].heard + FIT_MS * NS_PER_MS) {
				add(&f[CANCEL], ms_of(s->cut[i].heard, asked[k].cancelled));
				break;
			}
	}
	f[ASK].of += s->asks;
}

static void commits_of(struct figure *f, const struct journal_times *s)
{
	for (size_t i = 0; i < s->utterances; i++) {
		const struct journal_times_utterance *u = &s->utterance[i];
		uint64_t at = brain_committed(w.brain, u->number);

		if (at)
			add(&f[COMMIT], ms_of(u->speech + u->delay, at));
	}
	f[COMMIT].of += s->utterances;
}

static void cuts_of(struct figure *f, const struct journal_times *s, unsigned room)
{
	uint64_t *stop;
	size_t n = journal_times_stops(&stop, rooms_journal(), rooms_guild(room)), k = 0;

	for (size_t i = 0; i < s->cuts; i++) {
		uint64_t cut = s->cut[i].heard;

		while (k < n && stop[k] < cut)
			k++;
		if (k < n && stop[k] < cut + FIT_MS * NS_PER_MS)
			add(&f[CUT], ms_of(cut, stop[k]));
		for (size_t h = 0; h < w.n[room]; h++)
			if (w.heard[room][h].first < cut &&
			    w.heard[room][h].last + GAP_MS * NS_PER_MS > cut) {
				add(&f[AUDIO], ms_of(cut, w.heard[room][h].last));
				break;
			}
	}
	f[CUT].of += s->cuts;
	f[AUDIO].of += s->cuts;
	f[CANCEL].of += s->cuts;
	free(stop);
}

static void row(const struct figure *f)
{
	if (!f->n)
		bench_die("%s: nothing was measured (logs in %s)", f->name, rooms_folder());
	bench_raw(f->name, f->ms, f->n);
	bench_row_more(f->name, bench_quantile(f->ms, f->n, 0.99), "ms",
		       "\"p50\": %.2f, \"max\": %.2f, \"n\": %zu, \"of\": %zu, \"rooms\": %u",
		       bench_quantile(f->ms, f->n, 0.5), bench_quantile(f->ms, f->n, 1), f->n,
		       f->of, rooms_count());
}

static void figures(void)
{
	struct figure f[FIGURES] = {
		[ASK] = {.name = "ask_p99_ms"},
		[CUT] = {.name = "cut_p99_ms"},
		[COMMIT] = {.name = "commit_p99_ms"},
		[CANCEL] = {.name = "bargein_cancel_p99_ms"},
		[AUDIO] = {.name = "bargein_audio_p99_ms"},
		[FIRST] = {.name = "first_audio_p99_ms"},
	};
	char folder[96];

	snprintf(folder, sizeof folder, "%s/rooms", rooms_folder());
	for (unsigned i = 0; i < rooms_count(); i++) {
		struct journal_times s;

		journal_times_room(&s, folder, rooms_guild(i));
		asks_of(f, &s, i);
		commits_of(f, &s);
		cuts_of(f, &s, i);
		journal_times_clear(&s);
	}
	for (unsigned i = 0; i < FIGURES; i++) {
		row(&f[i]);
		free(f[i].ms);
	}
}

int main(void)
{
	unsigned asks = rooms_number("BENCH_ASKS", 300, 100000);
	struct env *env = rooms_open(rooms_number("BENCH_ROOMS", 4, ROOMS));
	static char url[160];
	const char *settings[] = {url, NULL};
	struct rooms_conf conf = {.settings = settings, .journals = true, .heardh = on_heard};
	size_t n = 0;

	brain_alloc(&w.brain, env, "parley and now what", ANSWER_MS, true);
	snprintf(url, sizeof url, "PARLEY_BRAIN_URL=%s", brain_url(w.brain));
	rooms_begin(&conf);
	for (unsigned s = 0; n < asks; s++) {
		if (s > 60 + 3 * asks)
			bench_die("only %zu questions (logs in %s)", n, rooms_folder());
		rooms_run(1000);
		brain_asked(w.brain, &n);
	}
	rooms_end();
	figures();
	for (unsigned i = 0; i < rooms_count(); i++)
		free(w.heard[i]);
	brain_free(w.brain);
	rooms_close();
	return 0;
}
