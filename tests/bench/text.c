/* The processor time of a step of text chat's core: text_step_us, and text_queue_us in a channel
 * where as many messages wait as may; and its explorer: text_explore.
 *
 * CHANNELS channels of one server are live: each has its whole history, people write in all of
 * them, a fifth of the messages mentions the bot, and answers are under way in many. The model
 * answers 400 ms after it was asked, Discord takes 60 ms for a message. The events of some minutes
 * of that are played one by one and timed; those that fill the histories do not count. */
#include <stdio.h>
#include <stdlib.h>

#include "control/settings/settings.h"
#include "control/text/text_chat.h"
#include "proto/base/time.h"
#include "tests/bench/bench.h"
#include "tests/random.h"
#include "tests/text/explore.h"

enum {
	CHANNELS = 500,
	PEOPLE = 40,
	FILL = CHANNELS * TEXT_HISTORY,
	STEPS = 100000,
	ASK_MS = 400,
	SEND_MS = 60,
	GAP_MS = 60, /* between two messages of the server, at most */
	RESULTS = 4096,
	EXPLORED = 20000000,
	ROUND = 200000, /* steps of a fresh core */
};

static struct bench {
	struct settings *settings;
	struct text_chat *chat;
	struct text_effects fx;
	uint64_t random, now, next_id;
	/* What the model and Discord owe, in the order in which it is due. */
	struct result {
		uint64_t due;
		struct text_event ev;
	} result[RESULTS];
	size_t first, n_results;
	double us[STEPS];
	size_t n;
	bool counting;
} b;

static void owe(unsigned ms, const struct text_event *ev)
{
	size_t at = b.first + b.n_results;
	uint64_t due = b.now + ms * NS_PER_MS;

	if (b.n_results == RESULTS)
		bench_die("too much is under way");
	for (; at > b.first && b.result[(at - 1) % RESULTS].due > due; at--)
		b.result[at % RESULTS] = b.result[(at - 1) % RESULTS];
	b.result[at % RESULTS] = (struct result){due, *ev};
	b.n_results++;
}

static void step(const struct text_event *ev)
{
	uint64_t from = bench_cpu();

	text_step(b.chat, ev, b.now, &b.fx);
	if (b.counting && b.n < STEPS)
		b.us[b.n++] = (double)(bench_cpu() - from) / 1000;
	for (size_t i = 0; i < b.fx.n; i++) {
		const struct text_effect *e = &b.fx.v[i];
		struct text_event next = {.guild = e->guild,
					  .channel = e->channel,
					  .reply = e->reply,
					  .rnd = random_below(&b.random, 100)};

		if (e->type == TEXT_DO_ASK) {
			next.type = TEXT_ANSWERED;
			next.text = "It is a quarter past four, and the sun is still up.";
			owe(ASK_MS, &next);
		} else if (e->type == TEXT_DO_SEND) {
			next.type = TEXT_SENT;
			next.message = b.next_id++;
			next.user = 1;
			next.name = "Parley";
			next.text = "It is a quarter past four, and the sun is still up.";
			owe(SEND_MS, &next);
		}
	}
}

static void write_message(void)
{
	static const char *const texts[] = {
		"I went down to the harbour and there was nobody",
		"what did you do then on the way home",
		"Parley, what time is it now?",
		"the second one is better if you ask me, the first is too loud",
		"ok",
	};
	unsigned channel = random_below(&b.random, CHANNELS),
		 user = random_below(&b.random, PEOPLE);
	struct text_event ev = {.type = TEXT_MESSAGE,
				.guild = 7,
				.channel = 10 + channel,
				.message = b.next_id++,
				.user = 100 + user,
				.name = "somebody",
				.text = texts[random_below(&b.random, 5)],
				.to_bot = b.counting && random_below(&b.random, 5) == 0};

	step(&ev);
}

/* Until the next message is due: timers and results in their order. */
static void pass(uint64_t until)
{
	for (;;) {
		uint64_t timer = text_deadline(b.chat),
			 owed = b.n_results ? b.result[b.first].due : UINT64_MAX;
		struct text_event ev = {.type = TEXT_TIMER};

		if (timer >= until && owed >= until)
			break;
		if (owed < timer) {
			ev = b.result[b.first].ev;
			b.first = (b.first + 1) % RESULTS;
			b.n_results--;
		}
		b.now = owed < timer ? owed : timer > b.now ? timer : b.now;
		step(&ev);
	}
	b.now = until;
}

static void time_steps(void)
{
	BENCH_OK(settings_alloc(&b.settings));
	BENCH_OK(settings_set(b.settings, "text_chat", "all"));
	BENCH_OK(settings_set(b.settings, "text_spacing_s", "0"));
	BENCH_OK(settings_set(b.settings, "text_per_hour", "60"));
	BENCH_OK(settings_set(b.settings, "text_asks_per_hour", "10000"));
	BENCH_OK(text_chat_alloc(&b.chat, b.settings, "Parley"));
	b.random = 1;
	b.next_id = 1000;
	for (unsigned i = 0; i < FILL; i++)
		write_message();
	b.counting = true;
	while (b.n < STEPS) {
		write_message();
		pass(b.now + (1 + random_below(&b.random, GAP_MS)) * NS_PER_MS);
	}
	bench_raw("text_step_us", b.us, b.n);
	bench_row_more("text_step_us", bench_quantile(b.us, b.n, 0.5), "us",
		       "\"p99\": %.3f, \"steps\": %zu", bench_quantile(b.us, b.n, 0.99), b.n);
	text_chat_free(b.chat);
	settings_free(b.settings);
}

/* All of them have authors of their own, and wait for the spacing. */
static void time_full_queue(void)
{
	struct text_event ev = {.type = TEXT_MESSAGE,
				.guild = 7,
				.channel = 10,
				.name = "somebody",
				.text = "Parley, what time is it now?",
				.to_bot = true};

	b.n = 0;
	BENCH_OK(settings_alloc(&b.settings));
	BENCH_OK(settings_set(b.settings, "text_chat", "all"));
	BENCH_OK(settings_set(b.settings, "text_coalesce_s", "0"));
	BENCH_OK(settings_set(b.settings, "text_spacing_s", "10"));
	BENCH_OK(settings_set(b.settings, "text_per_hour", "500"));
	BENCH_OK(settings_set(b.settings, "text_asks_per_hour", "10000"));
	BENCH_OK(text_chat_alloc(&b.chat, b.settings, "Parley"));
	b.counting = false;
	for (unsigned i = 0; i <= TEXT_QUEUE; i++) {
		ev.message = b.next_id++;
		ev.user = 100 + i;
		step(&ev);
		pass(b.now + 2ULL * ASK_MS * NS_PER_MS * (i == 0));
	}
	if (text_waiting(b.chat) != TEXT_QUEUE)
		bench_die("the queue is not full");
	b.counting = true;
	ev.type = TEXT_HEARD;
	while (b.n < STEPS / 10)
		step(&ev);
	bench_raw("text_queue_us", b.us, b.n);
	bench_row_more("text_queue_us", bench_quantile(b.us, b.n, 0.5), "us",
		       "\"p99\": %.3f, \"steps\": %zu", bench_quantile(b.us, b.n, 0.99), b.n);
	text_chat_free(b.chat);
	settings_free(b.settings);
}

static void explore(void)
{
	uint64_t done = 0, asks = 0, violations = 0;

	for (uint64_t seed = 1; done < EXPLORED; seed++) {
		struct text_explore_result r;

		text_explore(&r, seed, ROUND);
		done += r.steps;
		asks += r.asks;
		if (!r.passed) {
			violations++;
			fprintf(stderr, "seed %llu, step %llu: %s\n", (unsigned long long)seed,
				(unsigned long long)r.steps, r.why);
			break;
		}
	}
	bench_row_more("text_explore", violations ? 0 : (double)done, "",
		       "\"asks\": %llu, \"violations\": %llu", (unsigned long long)asks,
		       (unsigned long long)violations);
}

int main(void)
{
	time_steps();
	time_full_queue();
	explore();
	return 0;
}
