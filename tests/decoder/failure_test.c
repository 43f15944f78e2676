/* Processes of decoderd that are killed: a decoder takes its own track along, the process that
 * forks them all tracks, and both leave decoderd able to play. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/decoder/deck.h"
#include "tests/decoder/formats.h"
#include "tests/test.h"

enum { CHILDREN = 8, PATIENCE_MS = 30000 };

/* Finds processes by their parent; returns their number. */
static unsigned find_children(pid_t parent, pid_t out[CHILDREN])
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	unsigned n = 0;

	while (d && (e = readdir(d)) && n < CHILDREN) {
		char path[300];
		FILE *f;
		int pid = 0, ppid = 0;

		snprintf(path, sizeof path, "/proc/%s/stat", e->d_name);
		f = fopen(path, "r");
		if (f && fscanf(f, "%d (%*[^)]) %*c %d", &pid, &ppid) == 2 && ppid == parent)
			out[n++] = pid;
		if (f)
			fclose(f);
	}
	if (d)
		closedir(d);
	return n;
}

static pid_t find_zygote(const struct deck *d)
{
	pid_t found[CHILDREN];

	return find_children(d->pid, found) == 1 ? found[0] : 0;
}

/* Starts a track that is longer than its ring, so that its process stays. */
static bool start_long(struct deck *d, uint16_t slot)
{
	struct played p;

	if (!deck_start(d, slot, formats[2].name, 0))
		return false;
	deck_play(d, slot, &p, 100);
	free(p.pcm);
	return p.has_opened && p.frames == 100;
}

static bool wait_for(struct deck *d, enum decoder_type type, struct decoder_msg *msg)
{
	while (deck_receive(d, msg, PATIENCE_MS))
		if (msg->type == type)
			return true;
	return false;
}

/* Starts decoderd with one decoder process; returns its parent, or 0. */
static pid_t open_with_child(struct deck *d, pid_t children[CHILDREN])
{
	pid_t zygote = 0;

	if (deck_open(d) && format_write(d, &formats[2], 2) && start_long(d, 1))
		zygote = find_zygote(d);
	return zygote && find_children(zygote, children) == 1 ? zygote : 0;
}

/* decoderd is able to play. */
static void close_after_playing(struct deck *d)
{
	struct played p = {0};

	deck_play_file(d, formats[2].name, 0, &p);
	free(p.pcm);
	deck_close(d);
	CHECK_INT(p.reason, DECODER_REASON_END);
}

TEST(decoderd_reports_a_decoder_that_was_killed)
{
	struct deck d;
	struct decoder_msg msg;
	pid_t children[CHILDREN];

	CHECK(open_with_child(&d, children) != 0);
	CHECK_INT(kill(children[0], SIGKILL), 0);
	CHECK(wait_for(&d, DECODER_ENDED, &msg));
	CHECK_STR(decoder_reason_name(msg.reason), "crashed");
	CHECK_INT(msg.slot, 1);
	close_after_playing(&d);
}

/* People wait for the first sound alone. */
TEST(decoderd_hurries_until_a_track_is_opened)
{
	pid_t children[CHILDREN];
	struct deck d;
	int nice;

	CHECK(open_with_child(&d, children) != 0);
	errno = 0;
	nice = getpriority(PRIO_PROCESS, (id_t)children[0]);
	CHECK_INT(errno, 0);
	CHECK(nice >= 10);
	close_after_playing(&d);
}

/* -1: it cannot be read. */
static int oom_score_of(pid_t pid)
{
	char path[64];
	int score = -1;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/oom_score_adj", (int)pid);
	f = fopen(path, "r");
	if (f && fscanf(f, "%d", &score) != 1)
		score = -1;
	if (f)
		fclose(f);
	return score;
}

/* Where memory is short, a decoder goes before mediad, and so does the process that forks them,
 * which comes back. Their first process goes with mediad: nobody could start it again. */
TEST(decoderd_loses_no_process_that_cannot_come_back)
{
	pid_t children[CHILDREN], zygote;
	struct deck d;

	zygote = open_with_child(&d, children);
	CHECK(zygote != 0);
	CHECK_INT(oom_score_of(children[0]), 500);
	CHECK_INT(oom_score_of(zygote), 500);
	CHECK_INT(oom_score_of(d.pid), oom_score_of(getpid()));
	close_after_playing(&d);
}

TEST(decoderd_comes_back_when_its_forking_process_was_killed)
{
	struct deck d;
	struct decoder_msg msg;
	pid_t children[CHILDREN], zygote = open_with_child(&d, children);

	CHECK(zygote != 0);
	CHECK_INT(kill(zygote, SIGKILL), 0);
	CHECK(wait_for(&d, DECODER_READY, &msg));
	CHECK(msg.jailed);
	/* Its decoders died with it. */
	CHECK_INT(find_children(zygote, children), 0);
	close_after_playing(&d);
}

TEST(decoderd_answers_a_close_of_an_unknown_track)
{
	struct deck d;
	struct decoder_msg msg = {.type = DECODER_CLOSE, .slot = 2, .track = 77};

	CHECK(deck_open(&d));
	CHECK(deck_send(&d, &msg));
	CHECK(wait_for(&d, DECODER_ENDED, &msg));
	CHECK_INT(msg.track, 77);
	CHECK_STR(decoder_reason_name(msg.reason), "closed");
	deck_close(&d);
}
