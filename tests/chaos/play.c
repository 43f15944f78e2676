#include "tests/chaos/play.h"

#include "tests/chaos/cluster.h"
#include "tests/chaos/commands.h"
#include "tests/chaos/watch.h"

#include "proto/base/time.h"
#include "proto/media.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
	DEEDS = 128,
	LOOK_MS = 20,
	JOIN_MS = 25000,
	LEAVE_MS = 4000,
	END_MS = 8000,
	REJOIN_MS = 3000,
	STEADY_MS = 1500,
	STEADY_LOOKS = 4,
	RSS_KB = 65536
};

#define GUILD "41771983423143937"
static const uint64_t home = UINT64_C(127121515262115840);

/* One thing to do at its time: a step, or what ends it. */
struct deed {
	unsigned at;
	bool end;
	struct chaos_step step;
};

struct play {
	struct cluster h;
	const struct chaos_script *s;
	const struct chaos_play_conf *conf;
	struct chaos_verdict *v;
	struct deed deed[DEEDS];
	unsigned n;
	uint64_t t0, thaw_at, next_join, next_resume;
	bool paused;	/* the music of a real control, as the bot has left */
	uint64_t other; /* another voice channel */
	int guest;
};

const char *chaos_invariant_name(enum chaos_invariant i)
{
	static const char *const names[] = {
#define X(NAME, name, what) name,
		CHAOS_INVARIANTS(X)
#undef X
	};

	return names[i];
}

const char *chaos_invariant_what(enum chaos_invariant i)
{
	static const char *const whats[] = {
#define X(NAME, name, what) what,
		CHAOS_INVARIANTS(X)
#undef X
	};

	return whats[i];
}

/* The first thing that is broken counts. */
static bool broken(struct play *p, enum chaos_invariant which, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static bool broken(struct play *p, enum chaos_invariant which, const char *fmt, ...)
{
	va_list ap;

	if (p->v->broken == CHAOS_NONE_) {
		p->v->broken = which;
		va_start(ap, fmt);
		vsnprintf(p->v->text, sizeof p->v->text, fmt, ap);
		va_end(ap);
	}
	return false;
}

static bool alive(struct play *p)
{
	cluster_tick(&p->h);
	return p->h.trouble[0] ? broken(p, CHAOS_ALIVE_, "%s", p->h.trouble) : true;
}

/* ---- the script ---- */

static void add(struct play *p, unsigned at, bool end, const struct chaos_step *s)
{
	unsigned i = p->n;

	if (p->n == DEEDS)
		return;
	while (i > 0 && p->deed[i - 1].at > at) {
		p->deed[i] = p->deed[i - 1];
		i--;
	}
	p->deed[i] = (struct deed){at, end, *s};
	p->n++;
}

static void plan(struct play *p)
{
	for (unsigned i = 0; i < p->s->n; i++) {
		const struct chaos_step *s = &p->s->step[i];
		struct chaos_step bob = {.verb = CHAOS_LEAVE, .who = CHAOS_BOB};

		switch (s->verb) {
		case CHAOS_STORM: /* made of leaves */
			for (unsigned k = 0; k < s->arg[0] && k < 16; k++) {
				add(p, s->at + 2 * k * s->arg[1], false, &bob);
				add(p, s->at + (2 * k + 1) * s->arg[1], true, &bob);
			}
			break;
		case CHAOS_SILENT:
		case CHAOS_NO_UDP:
		case CHAOS_NO_SERVER:
		case CHAOS_LEAVE:
		case CHAOS_FREEZE_MEDIAD:
		case CHAOS_FREEZE_CONTROL:
		case CHAOS_FREEZE_SERVER:
			add(p, s->at + s->arg[0], true, s);
			/* fall through */
		default:
			add(p, s->at, false, s);
			break;
		}
	}
}

static bool of_real(const struct play *p, enum chaos_who who)
{
	return p->s->real && who == CHAOS_BOT;
}

static void user(struct play *p, enum chaos_who who, const char *verb, const char *body)
{
	char path[96];

	snprintf(path, sizeof path, "/users/%" PRIu64 "/%s", chaos_user[who], verb);
	cluster_request(&p->h, NULL, path, "%s", body);
}

static void calm(struct play *p)
{
	cluster_request(&p->h, NULL, "/switches",
			"{\"loss_permille\":0,\"up_loss_permille\":0,\"dup_permille\":0,\"reorder_"
			"permille\":0,\"delay_ms\":0,\"jitter_ms\":0}");
}

static void fault(struct play *p, const struct chaos_step *s, const char *what)
{
	char body[128];

	snprintf(body, sizeof body, "{\"op\":%u,\"what\":\"%s\",\"times\":1,\"ms\":%u}", s->arg[0],
		 what, s->arg[1]);
	user(p, s->who, "faults", body);
}

static void group(struct play *p, const char *what)
{
	char path[64];

	snprintf(path, sizeof path, "/channels/%" PRIu64 "/dave", home);
	cluster_request(&p->h, NULL, path, "{\"what\":\"%s\"}", what);
}

static void move(struct play *p, enum chaos_who who, uint64_t to)
{
	char body[64];

	snprintf(body, sizeof body, "{\"channel_id\":\"%" PRIu64 "\"}", to);
	atomic_store(&p->h.state[who].channel, to);
	user(p, who, "move", body);
}

static void server(struct play *p, enum chaos_who who, enum agent_errand errand)
{
	if (of_real(p, who))
		user(p, who, errand == ERRAND_NEW_SERVER ? "new-server" : "no-server", "{}");
	else
		atomic_store(&p->h.state[who].errand, errand);
}

static void presence(struct play *p, enum chaos_who who, bool here)
{
	if (of_real(p, who))
		here ? command_join(&p->h) : command_leave(&p->h);
	atomic_store(&p->h.state[who].present, here);
}

static void freeze_server(struct play *p, const struct deed *d)
{
	cluster_freeze(&p->h, CLUSTER_SERVER, CHAOS_ALL, !d->end);
	p->thaw_at = d->end ? 0 : p->t0 + (d->at + d->step.arg[0]) * NS_PER_MS;
}

/* What happens to the programs. False: something else. */
static bool do_program(struct play *p, const struct deed *d)
{
	const struct chaos_step *s = &d->step;

	switch (s->verb) {
	case CHAOS_FREEZE_MEDIAD:
		cluster_freeze(&p->h, CLUSTER_MEDIAD, s->who, !d->end);
		return true;
	case CHAOS_FREEZE_CONTROL:
		cluster_freeze(&p->h, CLUSTER_CONTROL, s->who, !d->end);
		return true;
	case CHAOS_FREEZE_SERVER:
		freeze_server(p, d);
		return true;
	case CHAOS_KILL_MEDIAD:
		cluster_kill(&p->h, CLUSTER_MEDIAD, s->who);
		return true;
	case CHAOS_KILL_CONTROL:
		cluster_kill(&p->h, CLUSTER_CONTROL, s->who);
		return true;
	case CHAOS_KILL_DECODER:
	case CHAOS_KILL_DECODERS:
		if (cluster_kill_decoder(&p->h, s->who, s->verb == CHAOS_KILL_DECODERS))
			p->v->decoders++;
		return true;
	case CHAOS_WALL:
		cluster_set_wall_clock(&p->h, s->arg[0] % 2 ? -(long long)s->arg[0]
							    : (long long)s->arg[0]);
		return true;
	default:
		return false;
	}
}

/* To messages of the voice gateway, and to the group. */
static bool do_message(struct play *p, const struct chaos_step *s)
{
	switch (s->verb) {
	case CHAOS_LOSE:
		fault(p, s, "lose");
		return true;
	case CHAOS_SKIP:
		fault(p, s, "skip");
		return true;
	case CHAOS_CORRUPT:
		fault(p, s, "corrupt");
		return true;
	case CHAOS_DELAY:
		fault(p, s, "delay");
		return true;
	case CHAOS_HOLD:
		fault(p, s, "hold");
		return true;
	case CHAOS_NEW_SENDER:
		group(p, "new_sender");
		return true;
	case CHAOS_STALE:
		group(p, "stale_proposal");
		return true;
	case CHAOS_REINIT:
		group(p, "reinit");
		return true;
	default:
		return false;
	}
}

/* To everybody. */
static bool do_server(struct play *p, const struct deed *d)
{
	const unsigned *a = d->step.arg;

	switch (d->step.verb) {
	case CHAOS_NET:
		cluster_request(&p->h, NULL, "/switches",
				"{\"loss_permille\":%u,\"up_loss_permille\":%u,\"dup_permille\":%u,"
				"\"reorder_permille\":%u,\"delay_ms\":%u,"
				"\"jitter_ms\":%u,\"seed\":%u}",
				a[0], a[1], a[2], a[3], a[4], a[5],
				(unsigned)(p->s->seed % 1000 + 1));
		return true;
	case CHAOS_CALM:
		calm(p);
		return true;
	case CHAOS_SILENT:
		cluster_request(&p->h, NULL, "/switches", "{\"voice_silent\":%d}", !d->end);
		return true;
	case CHAOS_NO_UDP:
		cluster_request(&p->h, NULL, "/switches", "{\"discovery\":%d}", d->end);
		return true;
	case CHAOS_CRASH:
		cluster_request(&p->h, NULL, "/crash", "{}");
		return true;
	default:
		return false;
	}
}

static void do_person(struct play *p, const struct deed *d)
{
	enum chaos_who who = d->step.who;
	char body[64];

	switch (d->step.verb) {
	case CHAOS_DROP:
		user(p, who, "drop", "{\"which\":\"voice\"}");
		break;
	case CHAOS_HALF:
		user(p, who, "drop", "{\"which\":\"voice\",\"silent\":true}");
		break;
	case CHAOS_CLOSE:
		snprintf(body, sizeof body, "{\"which\":\"voice\",\"code\":%u}", d->step.arg[0]);
		user(p, who, "close", body);
		break;
	case CHAOS_REGION:
		server(p, who, ERRAND_NEW_SERVER);
		break;
	case CHAOS_NO_SERVER:
		server(p, who, d->end ? ERRAND_NEW_SERVER : ERRAND_NO_SERVER);
		break;
	case CHAOS_MOVE:
		move(p, who, p->other);
		break;
	case CHAOS_KICK:
		user(p, who, "kick", "{}");
		break;
	case CHAOS_LEAVE: /* storms are made of these, too */
		presence(p, who, d->end);
		break;
	default:
		break;
	}
}

static void do_step(struct play *p, const struct deed *d)
{
	if (!do_program(p, d) && !do_message(p, &d->step) && !do_server(p, d))
		do_person(p, d);
}

/* Who stands still cannot be asked: what needs guildd waits until it goes on. */
static bool asks_server(enum chaos_verb v)
{
	return v != CHAOS_FREEZE_SERVER && v != CHAOS_FREEZE_MEDIAD && v != CHAOS_FREEZE_CONTROL &&
	       v != CHAOS_KILL_MEDIAD && v != CHAOS_KILL_CONTROL && v != CHAOS_KILL_DECODER &&
	       v != CHAOS_KILL_DECODERS && v != CHAOS_WALL;
}

static bool play_script(struct play *p)
{
	p->t0 = chaos_now();
	for (unsigned i = 0; i < p->n;) {
		const struct deed *d = &p->deed[i];
		uint64_t now = chaos_now();

		if (!alive(p))
			return false;
		if (now < p->t0 + d->at * NS_PER_MS) {
			chaos_sleep(2);
			continue;
		}
		if (p->thaw_at && asks_server(d->step.verb)) {
			/* Behind the thaw in the list. */
			struct deed later = *d;

			memmove(&p->deed[i], &p->deed[i + 1], (p->n - i - 1) * sizeof *d);
			p->n--;
			add(p, (unsigned)((p->thaw_at - p->t0) / NS_PER_MS) + 1, later.end,
			    &later.step);
			continue;
		}
		do_step(p, d);
		i++;
	}
	return true;
}

/* The weather clears: nothing more goes wrong, everybody is wanted at home. */
static void clear(struct play *p)
{
	bool away = false;

	for (unsigned at = 0; at < CLUSTER_PROCESSES; at++) {
		if (p->h.proc[at].frozen)
			kill(p->h.proc[at].pid, SIGCONT);
		p->h.proc[at].frozen = false;
	}
	calm(p);
	cluster_request(&p->h, NULL, "/switches", "{\"voice_silent\":0,\"discovery\":1}");
	for (unsigned i = 0; i < p->s->n; i++) {
		const struct chaos_step *s = &p->s->step[i];

		away |= s->verb == CHAOS_MOVE && s->who == CHAOS_BOT;
		p->paused |=
			(s->verb == CHAOS_LEAVE || s->verb == CHAOS_KICK) && s->who == CHAOS_BOT;
	}
	if (p->s->real && away)
		move(p, CHAOS_BOT, home);
	for (unsigned w = 0; w < CHAOS_PEOPLE; w++) {
		atomic_store(&p->h.state[w].channel, home);
		atomic_store(&p->h.state[w].present, true);
	}
	p->next_join = chaos_now() + REJOIN_MS * NS_PER_MS;
}

/* ---- all is well ---- */

/* A bot that was thrown out, or gave up for a reason it named, is asked in again, as people would.
 */
static void ask_in(struct play *p, const struct watch *w)
{
	if (!p->s->real || w->bot_there || chaos_now() < p->next_join)
		return;
	p->next_join = chaos_now() + REJOIN_MS * NS_PER_MS;
	command_join(&p->h);
	p->paused = true;
}

/* Music pauses when the bot leaves or is disconnected. A member resumes it when the bot is back. */
static void ask_for_music(struct play *p, const struct watch *w)
{
	if (!p->h.bot_plays || !p->paused || !w->bot_there || chaos_now() < p->next_resume)
		return;
	p->next_resume = chaos_now() + REJOIN_MS * NS_PER_MS;
	command_resume(&p->h);
}

/* Returns by how much longer it took, in ns. */
static uint64_t sleep_late(unsigned ms)
{
	uint64_t from = chaos_now(), took;

	chaos_sleep(ms);
	took = chaos_now() - from;
	return took > ms * NS_PER_MS ? took - ms * NS_PER_MS : 0;
}

static bool check_music(struct play *p)
{
	for (unsigned w = 0; w < CHAOS_PEOPLE; w++) {
		const struct agent_state *st = &p->h.state[w];

		if (atomic_load(&st->music_lost))
			return broken(p, CHAOS_MUSIC_, "a track is lost from the queue of %s",
				      chaos_who_name(w));
		if (atomic_load(&st->music_misplaced))
			return broken(p, CHAOS_MUSIC_,
				      "the music of %s was %u times where it cannot be",
				      chaos_who_name(w), atomic_load(&st->music_misplaced));
		if (atomic_load(&st->sound_wrong))
			return broken(p, CHAOS_MUSIC_, "%s heard %u times what nobody plays",
				      chaos_who_name(w), atomic_load(&st->sound_wrong));
	}
	return true;
}

/* A machine that has no time for us has none for the others, so what our own sleeps take too long
 * is added to their time, twice: one more for what they lost by it. */
static bool wait_well(struct play *p, unsigned ms, enum chaos_invariant which)
{
	uint64_t from = chaos_now(), until = from + ms * NS_PER_MS;
	struct watch w;

	watch_begin(&w, &p->h, p->s->real);
	while (!watch_well(&w)) {
		if (!alive(p) || !check_music(p))
			return false;
		if (chaos_now() > until)
			return broken(p, which, "not after %u ms: %s",
				      (unsigned)((until - from) / NS_PER_MS), watch_text(&w));
		ask_in(p, &w);
		ask_for_music(p, &w);
		until += 2 * sleep_late(LOOK_MS);
	}
	p->v->settle_ms = (unsigned)((chaos_now() - from) / NS_PER_MS);
	return true;
}

/* Not only once: the music has come back for good. On a busy machine one look may fail. */
static bool wait_steady(struct play *p)
{
	struct watch w;

	watch_begin(&w, &p->h, p->s->real);
	for (unsigned i = 0; i < STEADY_LOOKS; i++) {
		uint64_t until = chaos_now() + STEADY_MS * NS_PER_MS;

		watch_mark(&w);
		while (chaos_now() < until) {
			if (!alive(p) || !check_music(p))
				return false;
			chaos_sleep(LOOK_MS);
		}
		if (watch_music_steady(&w, STEADY_MS))
			return true;
	}
	return broken(p, CHAOS_MUSIC_, "%s", watch_text(&w));
}

static bool check_agents(struct play *p)
{
	for (unsigned w = 0; w < CHAOS_PEOPLE; w++) {
		const struct agent_state *st = &p->h.state[w];

		p->v->failed += atomic_load(&st->failed);
		if (atomic_load(&st->unexplained))
			return broken(p, CHAOS_REASON_,
				      "%s was told %u times that something ended, and not why",
				      chaos_who_name(w), atomic_load(&st->unexplained));
		if (atomic_load(&st->wrong))
			return broken(p, CHAOS_VOICES_,
				      "%s heard %u frames of somebody in the voice of another",
				      chaos_who_name(w), atomic_load(&st->wrong));
	}
	return true;
}

static bool check_server(struct play *p)
{
	json_t *stats = NULL;
	bool ok = cluster_request(&p->h, &stats, "/stats", NULL);

	if (!ok || !stats)
		return broken(p, CHAOS_DRIVER_, "guildd does not answer");
	for (unsigned w = 0; w < CHAOS_PEOPLE && ok; w++) {
		uint64_t plain = watch_count(stats, chaos_user[w], "dave_plaintext");
		uint64_t identifies = watch_count(stats, chaos_user[w], "voice_op_0");
		uint64_t limited = watch_count(stats, chaos_user[w], "voice_rate_limited");
		unsigned most = chaos_identifies(p->s, (enum chaos_who)w);

		if (plain)
			ok = broken(p, CHAOS_PLAIN_, "%" PRIu64 " plain packets of %s", plain,
				    chaos_who_name(w));
		else if (limited)
			ok = broken(p, CHAOS_RATE_, "%" PRIu64 " times %s sent op 5 too often",
				    limited, chaos_who_name(w));
		else if (identifies > most)
			ok = broken(p, CHAOS_LOOP_,
				    "%" PRIu64 " Identifies of %s, where %u are explained",
				    identifies, chaos_who_name(w), most);
	}
	if (ok && watch_refused(stats, "bad_nonce") + watch_refused(stats, "bad_auth"))
		ok = broken(p, CHAOS_NONCE_,
			    "%" PRIu64 " packets with a nonce used before, %" PRIu64
			    " that do not open",
			    watch_refused(stats, "bad_nonce"), watch_refused(stats, "bad_auth"));
	json_decref(stats);
	return ok;
}

/* ---- all is left ---- */

static bool left_by_command(struct play *p)
{
	uint64_t until = chaos_now() + LEAVE_MS * NS_PER_MS;
	json_t *stats = NULL;
	bool there = true;

	command_leave(&p->h);
	while (there && chaos_now() < until) {
		chaos_sleep(30);
		cluster_request(&p->h, &stats, "/stats", NULL);
		there = watch_there(stats, CHAOS_BOT);
		json_decref(stats);
	}
	return there ? broken(p, CHAOS_END_, "control did not leave when told") : true;
}

static bool leave(struct play *p)
{
	/* Ending alone would leave the call for the next control. */
	if (p->s->real && !left_by_command(p))
		return false;
	if (p->s->real && cluster_end(&p->h, CLUSTER_CONTROL, CHAOS_BOT, END_MS) != 0)
		return broken(p, CHAOS_END_, "control did not end in good order");
	for (unsigned w = 0; w < CHAOS_PEOPLE; w++)
		atomic_store(&p->h.state[w].quit, true);
	for (unsigned w = p->s->real ? 1 : 0; w < CHAOS_PEOPLE; w++)
		if (cluster_wait(&p->h, CLUSTER_CONTROL, (enum chaos_who)w, LEAVE_MS) != 0)
			return broken(p, CHAOS_DRIVER_, "the agent of %s did not end",
				      chaos_who_name(w));
	return true;
}

static bool check_left(struct play *p, enum chaos_who who)
{
	const struct cluster_process *m = &p->h.proc[cluster_index(CLUSTER_MEDIAD, who)];
	uint64_t until = chaos_now() + LEAVE_MS * NS_PER_MS;
	unsigned rss;
	const char *bound = getenv("CHAOS_RSS_KB");
	int calls;

	while ((calls = cluster_count_calls(&p->h, who)) != 0)
		if (chaos_now() > until)
			return broken(p, CHAOS_CALLS_, "mediad of %s holds %d calls",
				      chaos_who_name(who), calls);
		else
			chaos_sleep(20);
	/* On a busy machine a descriptor of its start may have been open still when they were
	 * counted. */
	while (cluster_count_fds(m->pid) > m->fds ||
	       cluster_status(m->pid, "Threads") != m->threads)
		if (chaos_now() > until)
			return broken(p, CHAOS_FILES_,
				      "mediad of %s has %u descriptors and %u threads, and had %u "
				      "and %u: %s",
				      chaos_who_name(who), cluster_count_fds(m->pid),
				      cluster_status(m->pid, "Threads"), m->fds, m->threads,
				      cluster_fd_names(m->pid));
		else
			chaos_sleep(20);
	rss = cluster_status(m->pid, "VmRSS");
	if (rss > (bound ? strtoul(bound, NULL, 10) : RSS_KB))
		return broken(p, CHAOS_MEMORY_, "mediad of %s has %u kB", chaos_who_name(who), rss);
	return true;
}

static bool check_end(struct play *p, enum chaos_who who)
{
	bool full = who == CHAOS_BOT && p->s->journal_kb && cluster_journal_full(&p->h);
	int status;

	if (p->conf->plant == CHAOS_PLANT_STUCK && who == CHAOS_BOT)
		cluster_freeze(&p->h, CLUSTER_MEDIAD, who, true);
	status = cluster_end(&p->h, CLUSTER_MEDIAD, who, END_MS);
	if (status == full)
		return true;
	return broken(p, CHAOS_END_, "mediad of %s ended with status %d%s", chaos_who_name(who),
		      status, full ? ", its journal is full" : "");
}

/* ---- a run ---- */

static void hold_on(struct play *p)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	snprintf(a.sun_path, sizeof a.sun_path, "%s/bot.sock", p->h.folder);
	p->guest = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(p->guest, (struct sockaddr *)&a, sizeof a))
		broken(p, CHAOS_DRIVER_, "the guest is not let in");
}

static bool new_channel(struct play *p)
{
	json_t *o = NULL;
	const char *id;
	bool ok;

	cluster_request(&p->h, &o, "/guilds/" GUILD "/channels",
			"{\"type\":\"voice\",\"name\":\"Other\"}");
	id = json_string_value(json_object_get(o, "id"));
	p->other = id ? strtoull(id, NULL, 10) : 0;
	ok = p->other != 0;
	json_decref(o);
	return ok ? ok : broken(p, CHAOS_START_, "guildd made no channel");
}

static bool begin(struct play *p)
{
	if (!cluster_open(&p->h, p->conf->bin, p->s))
		return broken(p, CHAOS_START_, "%s", p->h.trouble);
	if (!new_channel(p))
		return false;
	for (unsigned w = 0; w < CHAOS_PEOPLE; w++) {
		atomic_store(&p->h.state[w].channel, home);
		atomic_store(&p->h.state[w].present, true);
	}
	p->next_join = UINT64_MAX;
	if (!wait_well(p, JOIN_MS, CHAOS_START_))
		return false;
	if (!p->s->real || !p->s->music)
		return true;
	p->h.bot_plays = command_play_tracks(&p->h);
	return p->h.bot_plays ? wait_well(p, JOIN_MS, CHAOS_START_)
			      : broken(p, CHAOS_START_, "control plays no music when told");
}

static void plant(struct play *p)
{
	if (p->conf->plant <= CHAOS_PLANT_AGENT_N)
		atomic_store(&p->h.state[CHAOS_BOT].plant, p->conf->plant);
	else if (p->conf->plant == CHAOS_PLANT_NO_RESTART)
		p->h.supervised = false;
	else if (p->conf->plant == CHAOS_PLANT_CRASH)
		kill(p->h.proc[cluster_index(CLUSTER_MEDIAD, CHAOS_BOT)].pid, SIGSEGV);
	else if (p->conf->plant == CHAOS_PLANT_GUEST)
		hold_on(p);
	else if (p->conf->plant == CHAOS_PLANT_OFTEN)
		cluster_request(&p->h, NULL, "/switches", "{\"speaking_limit\":1}");
}

static bool run(struct play *p)
{
	if (!begin(p))
		return false;
	plant(p);
	if (!play_script(p))
		return false;
	clear(p);
	if (!wait_well(p, chaos_settle_ms(p->s), CHAOS_WELL_) || (p->s->music && !wait_steady(p)) ||
	    !check_agents(p) || !check_server(p) || !leave(p))
		return false;
	for (unsigned w = 0; w < CHAOS_PEOPLE; w++)
		if (!check_left(p, (enum chaos_who)w) || !check_end(p, (enum chaos_who)w) ||
		    !alive(p))
			return false;
	return true;
}

void chaos_play(struct chaos_verdict *v, const struct chaos_script *s,
		const struct chaos_play_conf *conf)
{
	struct play p = {.s = s, .conf = conf, .v = v, .guest = -1};

	*v = (struct chaos_verdict){0};
	signal(SIGPIPE, SIG_IGN);
	plan(&p);
	run(&p);
	if (p.guest >= 0)
		close(p.guest);
	if (conf->keep || v->broken)
		snprintf(v->folder, sizeof v->folder, "%s", p.h.folder);
	cluster_close(&p.h, v->folder[0] != '\0');
}
