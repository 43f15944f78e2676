#include "control/library/library.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "control/library/tagger.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "ipc/worker.h"
#include "proto/base/time.h"
#include "proto/media_folder.h"

enum { PATH_SIZE = 600, QUERY_SIZE = 512, HOUR_S = 3600, RETRY_S = 1 };

enum job_kind { JOB_SCAN, JOB_SEARCH, JOB_UNTAGGED, JOB_TAG };

struct job {
	enum job_kind kind;
	atomic_bool forgotten; /* nobody waits for this search any more */
	size_t most;	       /* of a search */
	unsigned trigrams;     /* likewise */
	char query[QUERY_SIZE];
	size_t n; /* of JOB_TAG */
	struct library_tags tags[];
};

/* Head of an answer. The hits of a search follow it, the files without tags, or the music folders
 * of a scan that begins. */
struct answer {
	int err;
	bool done; /* the scan is over */
	unsigned files, skipped;
	size_t n;
};

struct request {
	struct request *next;
	struct job *job; /* borrowed until its answer */
	uint64_t id;
	library_h *h;
	void *arg;
};

/* The worker's, until it is freed. */
struct runner {
	char path[PATH_SIZE];
	char *folders;
	const char *folder[WALK_FOLDERS];
	unsigned n;
	struct library_index *index; /* NULL: not open */
	struct walk *walk;	     /* NULL: no scan is under way */
	unsigned beyond;	     /* files of this scan that the index has no room for */
};

struct library {
	struct worker *worker;
	struct tmr *tmr;
	struct tagger *tagger; /* NULL: tags are those of paths */
	struct tmr *tag_tmr;
	struct job *put_off; /* about tags, until the worker has room */
	bool tagging;	     /* under way */
	unsigned tagged;     /* since it began */
	struct runner runner;
	struct media_folder folders[WALK_FOLDERS];
	unsigned n_folders; /* that are known */
	struct request *requests;
	uint64_t last_id;
};

/* ---- on the worker ---- */

static int open_index(struct runner *r)
{
	return r->index ? 0 : library_index_open(&r->index, r->path, r->folder, r->n);
}

/* Unless one is under way. */
static int begin_scan(struct runner *r)
{
	int err = open_index(r);

	if (err || r->walk)
		return err;
	r->beyond = 0;
	library_index_begin_scan(r->index);
	return walk_alloc(&r->walk, r->folder, r->n);
}

/* Puts the files among the next entries. ENOENT: the scan is over. */
static int put_files(struct runner *r)
{
	struct walk_file f;
	int err = 0;

	for (unsigned i = 0; i < LIBRARY_PIECE && (!err || err == EAGAIN); i++) {
		err = walk_next(r->walk, &f, 1);
		if (!err)
			err = library_index_put(r->index, &f);
		if (err == ENOSPC) {
			r->beyond++;
			err = 0;
		}
	}
	return err == EAGAIN ? 0 : err;
}

static void find_folders(const struct runner *r, struct media_folder *to)
{
	struct stat st;

	for (unsigned i = 0; i < r->n; i++)
		if (stat(r->folder[i], &st) == 0)
			to[i] = (struct media_folder){st.st_dev, st.st_ino};
}

static void run_scan(struct runner *r, struct answer *a, struct worker_answer *answer)
{
	struct media_folder folders[WALK_FOLDERS] = {{0, 0}};
	int end;

	a->n = r->walk ? 0 : r->n;
	if (a->n)
		find_folders(r, folders);
	a->err = begin_scan(r);
	if (!a->err)
		a->err = library_index_begin_batch(r->index);
	if (!a->err) {
		a->err = put_files(r);
		a->done = a->err == ENOENT;
		a->skipped = walk_skipped(r->walk) + r->beyond;
		if (a->done)
			a->err = library_index_end_scan(r->index, r->walk);
		end = library_index_end_batch(r->index);
		a->err = a->err ? a->err : end;
	}
	a->files = r->index ? library_index_count(r->index) : 0;
	if (a->done || a->err)
		r->walk = walk_free(r->walk);
	if (worker_answer_add(answer, a, sizeof *a) == 0 && a->n)
		worker_answer_add(answer, folders, a->n * sizeof *folders);
}

static void run_search(struct runner *r, struct job *j, struct answer *a,
		       struct worker_answer *answer)
{
	struct library_hit *hits;

	if (atomic_load(&j->forgotten)) {
		worker_answer_add(answer, a, sizeof *a);
		return;
	}
	hits = calloc(LIBRARY_HITS_MAX, sizeof *hits);
	a->err = hits ? open_index(r) : ENOMEM;
	if (!a->err)
		a->err = library_index_search(r->index, j->query, j->trigrams, hits, &a->n);
	a->n = a->err ? 0 : a->n < j->most ? a->n : j->most;
	if (worker_answer_add(answer, a, sizeof *a) == 0 && a->n)
		worker_answer_add(answer, hits, a->n * sizeof *hits);
	free(hits);
}

static void run_untagged(struct runner *r, struct answer *a, struct worker_answer *answer)
{
	struct library_file *files = calloc(TAGGER_FILES, sizeof *files);

	a->err = files ? open_index(r) : ENOMEM;
	if (!a->err)
		a->err = library_index_untagged(r->index, files, TAGGER_FILES, &a->n);
	a->n = a->err ? 0 : a->n;
	if (worker_answer_add(answer, a, sizeof *a) == 0 && a->n)
		worker_answer_add(answer, files, a->n * sizeof *files);
	free(files);
}

static int keep_tags(struct runner *r, const struct job *j)
{
	int err = open_index(r), end;

	if (!err)
		err = library_index_begin_batch(r->index);
	if (err)
		return err;
	for (size_t i = 0; i < j->n && !err; i++)
		err = library_index_tag(r->index, &j->tags[i]);
	end = library_index_end_batch(r->index);
	return err ? err : end;
}

static void run_job(void *job, struct worker_answer *answer, void *arg)
{
	struct job *j = job;
	struct library *l = arg;
	struct runner *r = &l->runner;
	struct answer a = {0};

	if (j->kind == JOB_SEARCH) {
		run_search(r, j, &a, answer);
		return;
	}
	if (j->kind == JOB_UNTAGGED) {
		run_untagged(r, &a, answer);
		return;
	}
	if (j->kind == JOB_SCAN) {
		run_scan(r, &a, answer);
		return;
	}
	a.err = keep_tags(r, j);
	worker_answer_add(answer, &a, sizeof a);
}

/* ---- on the loop ---- */

/* Searches that fill the worker hold the scan back and do not end it. */
static void put_scan(struct library *l)
{
	struct job *j = calloc(1, sizeof *j);

	if (j)
		j->kind = JOB_SCAN;
	if (j && worker_put(l->worker, j, 0) == 0)
		return;
	free(j);
	tmr_start(l->tmr, RETRY_S * NS_PER_S);
}

static void on_timer(void *arg)
{
	put_scan(arg);
}

/* ---- tags ---- */

static void end_tags(struct library *l)
{
	l->tagging = false;
	tagger_rest(l->tagger);
	if (l->tagged)
		log_info("music_tags", "files=%u", l->tagged);
}

/* Takes the job over. */
static void put_tag_job(struct library *l, struct job *j)
{
	int err = j ? worker_put(l->worker, j, 0) : ENOMEM;

	l->put_off = NULL;
	if (err == ENOSPC) {
		l->put_off = j;
		tmr_start(l->tag_tmr, RETRY_S * NS_PER_S);
	} else if (err) {
		free(j);
		end_tags(l);
	}
}

static void on_tag_timer(void *arg)
{
	struct library *l = arg;

	put_tag_job(l, l->put_off);
}

static void list_untagged(struct library *l)
{
	struct job *j = calloc(1, sizeof *j);

	if (j)
		j->kind = JOB_UNTAGGED;
	put_tag_job(l, j);
}

static void begin_tags(struct library *l)
{
	if (!l->tagger || l->tagging)
		return;
	l->tagging = true;
	l->tagged = 0;
	list_untagged(l);
}

static void on_tags(const struct library_tags *tags, size_t n, bool works, void *arg)
{
	struct library *l = arg;
	struct job *j;

	if (!works) {
		log_warn("music_tags",
			 "works=0 hint=\"decoderd cannot read tags here; tracks are found by their "
			 "paths alone\"");
		end_tags(l);
		return;
	}
	j = calloc(1, sizeof *j + n * sizeof *tags);
	if (j) {
		j->kind = JOB_TAG;
		j->n = n;
		memcpy(j->tags, tags, n * sizeof *tags);
	}
	l->tagged += (unsigned)n;
	put_tag_job(l, j);
}

/* bytes: a->n files. */
static void ask_for_tags(struct library *l, const struct answer *a, const uint8_t *bytes)
{
	struct library_file *files = a->n ? calloc(a->n, sizeof *files) : NULL;
	int err = a->err;

	if (!err && a->n && !files)
		err = ENOMEM;
	if (!err && a->n) {
		memcpy(files, bytes, a->n * sizeof *files);
		err = tagger_ask(l->tagger, files, a->n);
	}
	if (err)
		log_warn("music_tags",
			 "error=\"%s\" hint=\"tracks are found by their paths alone\"",
			 strerror(err));
	if (err || !a->n)
		end_tags(l);
	free(files);
}

/* ---- answers of the worker ---- */

/* folders: a->n of them. */
static void finish_piece(struct library *l, const struct answer *a, const uint8_t *folders)
{
	if (a->n && a->n <= WALK_FOLDERS) {
		memcpy(l->folders, folders, a->n * sizeof l->folders[0]);
		l->n_folders = (unsigned)a->n;
	}
	if (!a->err && !a->done) {
		put_scan(l);
		return;
	}
	if (a->err)
		log_warn("music_library_failed", "tracks=%u error=\"%s\"", a->files,
			 strerror(a->err));
	else
		log_info("music_library", "tracks=%u skipped=%u", a->files, a->skipped);
	if (!a->err)
		begin_tags(l);
	tmr_start(l->tmr, LIBRARY_RESCAN_H * HOUR_S * NS_PER_S);
}

static struct request *take_request(struct library *l, uint64_t id)
{
	for (struct request **at = &l->requests; *at; at = &(*at)->next) {
		struct request *r = *at;

		if (r->id != id)
			continue;
		*at = r->next;
		return r;
	}
	return NULL;
}

static void give_hits(const struct request *r, const struct answer *a, const uint8_t *p, size_t len)
{
	struct library_hit *hits = a->n ? malloc(len) : NULL;
	int err = a->err;

	if (a->n && !hits)
		err = ENOMEM;
	else if (a->n)
		memcpy(hits, p, len);
	if (r->h)
		r->h(err, hits, err ? 0 : len / sizeof *hits, r->arg);
	free(hits);
}

static void finish_tag_job(struct library *l, enum job_kind kind, const struct answer *a,
			   const uint8_t *p)
{
	if (kind == JOB_UNTAGGED)
		ask_for_tags(l, a, p);
	else if (a->err)
		end_tags(l);
	else
		list_untagged(l);
}

static size_t size_of_item(enum job_kind kind)
{
	return kind == JOB_UNTAGGED ? sizeof(struct library_file)
	       : kind == JOB_SCAN   ? sizeof(struct media_folder)
				    : sizeof(struct library_hit);
}

static void on_answer(void *job, uint64_t owner, const uint8_t *p, size_t len, void *arg)
{
	struct library *l = arg;
	struct request *r = take_request(l, owner);
	enum job_kind kind = ((const struct job *)job)->kind;
	struct answer a = {.err = ENOMEM};

	free(job);
	if (len >= sizeof a)
		memcpy(&a, p, sizeof a);
	/* Without memory the answer ends before what follows its head. */
	if (len < sizeof a || len - sizeof a != a.n * size_of_item(kind))
		a = (struct answer){.err = ENOMEM};
	if (r)
		give_hits(r, &a, p + sizeof a, a.n * sizeof(struct library_hit));
	else if (kind == JOB_SCAN)
		finish_piece(l, &a, p + sizeof a);
	else if (kind != JOB_SEARCH)
		finish_tag_job(l, kind, &a, p + sizeof a);
	free(r);
}

static int put_search(struct library *l, const char *query, size_t most, unsigned trigrams,
		      library_h *h, void *arg)
{
	struct request *r = calloc(1, sizeof *r);
	struct job *j = calloc(1, sizeof *j);
	int err = r && j ? 0 : ENOMEM;

	if (!err) {
		j->kind = JOB_SEARCH;
		j->most = most;
		j->trigrams = trigrams;
		snprintf(j->query, sizeof j->query, "%s", query);
		*r = (struct request){
			.next = l->requests, .job = j, .id = ++l->last_id, .h = h, .arg = arg};
		err = worker_put(l->worker, j, r->id);
	}
	if (err) {
		free(r);
		free(j);
		return err;
	}
	l->requests = r;
	return 0;
}

int library_search(struct library *l, const char *query, size_t most, library_h *h, void *arg)
{
	return put_search(l, query, most, LIBRARY_TRIGRAMS, h, arg);
}

int library_suggest(struct library *l, const char *query, size_t most, library_h *h, void *arg)
{
	return put_search(l, query, most, LIBRARY_TYPED_TRIGRAMS, h, arg);
}

const struct media_folder *library_folder(const struct library *l, unsigned root)
{
	return root < l->n_folders ? &l->folders[root] : NULL;
}

void library_forget(struct library *l, const void *arg)
{
	for (struct request *r = l->requests; r; r = r->next)
		if (r->arg == arg) {
			r->h = NULL;
			atomic_store(&r->job->forgotten, true);
		}
}

/* Cuts the setting into paths, in place. */
static int split_folders(struct runner *r)
{
	char *rest = r->folders, *folder;

	while ((folder = strsep(&rest, ":"))) {
		if (!*folder)
			continue;
		if (*folder != '/' || r->n == WALK_FOLDERS)
			return EINVAL;
		r->folder[r->n++] = folder;
	}
	return r->n ? 0 : EINVAL;
}

static int make_tagger(struct library *l, struct env *env, const char *decoder)
{
	int err = tmr_alloc(&l->tag_tmr, env, on_tag_timer, l);

	if (err || !decoder)
		return err;
	return tagger_alloc(&l->tagger, env, decoder, l->runner.folder, l->runner.n, on_tags, l);
}

int library_alloc(struct library **out, struct env *env, const char *dir, const char *folders,
		  const char *decoder)
{
	struct library *l = calloc(1, sizeof *l);
	struct worker_conf conf = {.name = "library",
				   .max = LIBRARY_REQUESTS,
				   .outside = true,
				   .runh = run_job,
				   .doneh = on_answer,
				   .freeh = free};
	int err = l ? 0 : ENOMEM, n;

	if (err)
		return err;
	conf.arg = l;
	l->runner.folders = strdup(folders);
	err = l->runner.folders ? split_folders(&l->runner) : ENOMEM;
	n = snprintf(l->runner.path, PATH_SIZE, "%s/library.db", dir);
	if (!err && (n < 0 || n >= PATH_SIZE))
		err = ENAMETOOLONG;
	if (!err)
		err = worker_alloc(&l->worker, env, &conf);
	if (!err)
		err = tmr_alloc(&l->tmr, env, on_timer, l);
	if (!err)
		err = make_tagger(l, env, decoder);
	if (err) {
		library_free(l);
		return err;
	}
	tmr_start(l->tmr, 0);
	*out = l;
	return 0;
}

struct library *library_free(struct library *l)
{
	struct request *r;

	if (!l)
		return NULL;
	tmr_free(l->tmr);
	tmr_free(l->tag_tmr);
	tagger_free(l->tagger);
	free(l->put_off);
	worker_free(l->worker);
	library_index_close(l->runner.index);
	walk_free(l->runner.walk);
	free(l->runner.folders);
	while ((r = l->requests)) {
		l->requests = r->next;
		free(r);
	}
	free(l);
	return NULL;
}
