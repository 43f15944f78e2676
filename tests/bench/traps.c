/* What an audio thread does that it must not, in so many frames of speakers who join, leave and
 * change their SSRC, in calls that speak, play short tracks of music and change keys: audio_traps.
 * Counted by preload/traps.c in a real mediad; one of each is planted at the end and must be found,
 * or the count would mean nothing. Calls that are encrypted end to end: traps_dave.c, under the
 * same library. */
#include "proto/base/wav.h"
#include "tests/bench/bench.h"
#include "tests/bench/speakers.h"
#include "tests/bench/plane.h"
#include "tests/bench/preload/traps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	CALLS = 4,
	SPEAKERS = 15,
	RATE = 24000,
	FRAMES = 200000, /* BENCH_FRAMES */
	FRAME_US = 5000, /* four times as fast as they speak */
	LOST = 50,
	STEP_MS = 40,
	MUSIC_RATE = 48000,
	MUSIC_MS = 3000, /* of a track; they follow one another */
	MUSIC_STEPS = MUSIC_MS / STEP_MS,
	FIRST_STEPS = 1000 / STEP_MS, /* the first second, whose faults do not count */
};

static struct rig {
	struct plane *plane;
	struct speakers *speakers;
	struct traps_page *page;
	uint64_t heard;
	unsigned turn[CALLS][SPEAKERS];
	bool gone[CALLS][SPEAKERS];
	unsigned rekeys[CALLS];
	uint32_t playback;
	unsigned joins, leaves, changes, keys;
	uint32_t musics;
	unsigned played; /* reports of music that plays */
} rig;

static void on_msg(const struct media_msg *msg, void *arg)
{
	(void)arg;
	rig.heard += msg->type == MEDIA_HEARD;
	rig.played += msg->type == MEDIA_MUSIC_STATE &&
		      msg->music_state.phase == MEDIA_MUSIC_PHASE_PLAYING;
}

/* Writes a track of a tone, longer than it is played. */
static void make_track(const char *path)
{
	static int16_t pcm[2 * MUSIC_RATE / 10];
	uint8_t header[WAV_HEADER];
	FILE *f = fopen(path, "w");
	unsigned parts = 2 * MUSIC_MS / 100;

	if (!f)
		bench_die("%s: %s", path, strerror(errno));
	wav_header(header, MUSIC_RATE, 2, (size_t)parts * MUSIC_RATE / 10);
	fwrite(header, sizeof header, 1, f);
	for (unsigned i = 0; i < sizeof pcm / sizeof pcm[0]; i++)
		pcm[i] = (int16_t)((i / 2 * 53 % 300) * 40 - 6000);
	for (unsigned part = 0; part < parts; part++)
		fwrite(pcm, sizeof pcm, 1, f);
	if (fclose(f))
		bench_die("%s: %s", path, strerror(errno));
}

/* The next track replaces the one before it. */
static void play(unsigned call)
{
	struct media_msg msg = {.type = MEDIA_MUSIC_PLAY};

	msg.music_play = (struct media_music_play){.call = call,
						   .gen = 1,
						   .music = ++rig.musics,
						   .kind = MEDIA_MUSIC_FILE,
						   .path = slice_str("track.wav"),
						   .gain = 1000,
						   .duck = 150,
						   .duck_attack_ms = 80,
						   .duck_hold_ms = 600,
						   .duck_release_ms = 600,
						   .bitrate = 128000};
	plane_send(rig.plane, &msg);
}

/* One speaker of each call leaves, comes back, or has another SSRC; now and then a call has another
 * key, other words or another track. */
static void change(unsigned step)
{
	struct far_end *far_end = plane_far(rig.plane);

	for (unsigned c = 0; c < CALLS; c++) {
		unsigned s = step % SPEAKERS;

		if (rig.gone[c][s] || step % 3) {
			rig.joins += rig.gone[c][s];
			rig.changes += !rig.gone[c][s];
			rig.gone[c][s] = false;
			speakers_turn(rig.speakers, c, s, ++rig.turn[c][s] % 1000);
			far_end_speaking(far_end, c, s, rig.turn[c][s] % 1000);
		} else {
			far_end_left(far_end, c, s);
			rig.gone[c][s] = true;
			rig.leaves++;
		}
		if (step % 25 == 5 * c) {
			far_end_rekey(far_end, c);
			speakers_rekey(rig.speakers, c, ++rig.rekeys[c]);
			rig.keys++;
		}
		if (step % 16 == c) {
			if (rig.playback >= CALLS)
				plane_stop(rig.plane, c, rig.playback + 1 - CALLS);
			plane_say(rig.plane, c, ++rig.playback);
		}
		if (step >= FIRST_STEPS && step % MUSIC_STEPS == 3 * c)
			play(c);
	}
}

static struct traps_page *make_page(char *path)
{
	int fd = mkstemp(path);
	void *p = MAP_FAILED;

	if (fd >= 0 && !ftruncate(fd, sizeof(struct traps_page)))
		p = mmap(NULL, sizeof(struct traps_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			 0);
	if (p == MAP_FAILED)
		bench_die("%s: %s", path, strerror(errno));
	close(fd);
	setenv("TRAPS_PAGE", path, 1);
	return p;
}

static void tell_who(const struct traps_page *p)
{
	static const char *const names[] = {
#define X(NAME, name) #name,
		TRAPS(X)
#undef X
	};

	for (unsigned i = 0; i < p->n_who && i < TRAPS_WHO; i++)
		fprintf(stderr, "bench: an audio thread: %s %u from %s+0x%" PRIx64 "\n",
			names[p->who[i].trap], p->who[i].call, p->who[i].object, p->who[i].from);
}

/* Encrypts half of the frames end to end; returns how many were delivered. */
static uint64_t encrypted_part(const char *library, uint64_t frames, unsigned *epochs)
{
	char program[PATH_MAX], command[3 * PATH_MAX];
	uint64_t heard = 0;
	FILE *f;

	plane_program(program, sizeof program, "bench/traps_dave");
	snprintf(command, sizeof command, "LD_PRELOAD='%s' exec '%s' %" PRIu64, library, program,
		 frames);
	f = popen(command, "r");
	if (!f || fscanf(f, "{\"frames\": %" SCNu64 ", \"epochs\": %u}", &heard, epochs) != 2 ||
	    pclose(f))
		bench_die("traps_dave failed");
	return heard;
}

/* Returns the minor page faults of mediad's audio threads so far. */
static uint64_t audio_faults(pid_t pid)
{
	char dir[64], path[400], line[1024], *at;
	struct dirent *e;
	uint64_t sum = 0;
	DIR *d;

	snprintf(dir, sizeof dir, "/proc/%d/task", (int)pid);
	d = opendir(dir);
	if (!d)
		bench_die("%s: %s", dir, strerror(errno));
	while ((e = readdir(d))) {
		unsigned long long faults;
		FILE *f;

		snprintf(path, sizeof path, "%s/%s/stat", dir, e->d_name);
		f = fopen(path, "r");
		if (!f)
			continue;
		at = fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
		fclose(f);
		/* Behind the name: state and six numbers, then the minor faults. */
		if (at && strstr(line, "(audio") &&
		    sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %llu", &faults) == 1)
			sum += faults;
	}
	closedir(d);
	return sum;
}

static bool planted(void *arg)
{
	struct traps_page *p = arg;

	return !atomic_load(&p->plant);
}

int main(void)
{
	const char *wish = getenv("BENCH_FRAMES");
	uint64_t frames = wish ? strtoull(wish, NULL, 10) : FRAMES, counts[TRAP_COUNT], sum = 0;
	char path[] = "/tmp/parley-bench-traps.XXXXXX", library[PATH_MAX];
	char folder[] = "/tmp/parley-bench-tracks.XXXXXX", track[sizeof folder + 16];
	struct plane_conf conf = {.cpu = -1,
				  .threads = 2,
				  .preload = library,
				  .music_root = folder,
				  .speakers = SPEAKERS,
				  .msgh = on_msg};
	struct speakers_conf cc = {
		.calls = CALLS, .speakers = SPEAKERS, .frame_us = FRAME_US, .lost = LOST};
	unsigned found = 0, epochs = 0;
	uint64_t encrypted, faults, before, first;

	if (sodium_init() < 0)
		bench_die("libsodium does not start");
	plane_program(library, sizeof library, "bench/traps.so");
	rig.page = make_page(path);
	if (!mkdtemp(folder))
		bench_die("%s: %s", folder, strerror(errno));
	snprintf(track, sizeof track, "%s/track.wav", folder);
	make_track(track);
	encrypted = encrypted_part(library, frames / 2, &epochs);
	frames -= frames / 2;
	plane_alloc(&rig.plane, &conf);
	plane_calls(rig.plane, 0, CALLS);
	for (unsigned c = 0; c < CALLS; c++)
		for (unsigned s = 0; s < SPEAKERS; s++)
			plane_speaker(rig.plane, c, s, s % 2 ? 16000 : RATE);
	plane_run(rig.plane, 500);
	cc.far_end = plane_far(rig.plane);
	speakers_alloc(&rig.speakers, &cc);
	before = audio_faults(plane_pid(rig.plane));
	speakers_start(rig.speakers, NULL, NULL);
	plane_run(rig.plane, 200);
	atomic_store(&rig.page->on, 1);
	rig.heard = 0;
	for (unsigned step = 0; step < FIRST_STEPS; step++) {
		change(step);
		plane_run(rig.plane, STEP_MS);
	}
	faults = audio_faults(plane_pid(rig.plane));
	first = faults - before;
	for (unsigned step = FIRST_STEPS; rig.heard < frames || rig.played < CALLS; step++) {
		if (step > 1000 && (rig.heard < step || !rig.played))
			bench_die("nothing is heard, or no music plays");
		change(step);
		plane_run(rig.plane, STEP_MS);
	}
	for (unsigned t = 0; t < TRAP_COUNT; t++) {
		counts[t] = atomic_load(&rig.page->count[t]);
		sum += counts[t];
	}
	faults = audio_faults(plane_pid(rig.plane)) - faults;
	tell_who(rig.page);
	atomic_store(&rig.page->plant, 1);
	plane_until(rig.plane, planted, rig.page, 2000, "the plant");
	plane_run(rig.plane, 20);
	for (unsigned t = 0; t < TRAP_COUNT; t++)
		found += atomic_load(&rig.page->count[t]) > counts[t];
	bench_row_more("audio_traps", (double)sum, "calls",
		       "\"frames\": %" PRIu64 ", \"of_them_encrypted\": %" PRIu64
		       ", \"epochs\": %u, \"allocations\": %" PRIu64 ", \"frees\": %" PRIu64
		       ", \"locks\": %" PRIu64 ", \"conditions\": %" PRIu64
		       ", \"system_calls\": %" PRIu64
		       ", \"audio_threads\": %u, \"with_filter\": %u, \"planted\": %d, "
		       "\"planted_found\": %u, \"joins\": %u, \"leaves\": %u, "
		       "\"ssrc_changes\": %u, \"keys\": %u",
		       rig.heard + encrypted, encrypted, epochs, counts[TRAP_ALLOCATION],
		       counts[TRAP_FREE], counts[TRAP_LOCK], counts[TRAP_CONDITION],
		       counts[TRAP_SYSTEM_CALL], rig.page->threads, rig.page->filters, TRAP_COUNT,
		       found, rig.joins, rig.leaves, rig.changes, rig.keys);
	bench_row_more("audio_faults", (double)faults, "faults",
		       "\"frames\": %" PRIu64 ", \"tracks_of_music\": %u, \"at_rest\": %" PRIu64
		       ", \"in_the_first_second\": %" PRIu64,
		       rig.heard, rig.musics, before, first);
	speakers_stop(rig.speakers);
	atomic_store(&rig.page->on, 0);
	speakers_free(rig.speakers);
	plane_free(rig.plane);
	unlink(path);
	unlink(track);
	rmdir(folder);
	return 0;
}
