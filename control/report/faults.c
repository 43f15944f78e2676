#include "control/report/faults.h"

#include "proto/base/time.h"

static const struct {
	unsigned wait_ms, again_s;
	bool told, over; /* the table has a sentence for it */
} rows[] = {
#define X(NAME, name, wait, again, begins, over)                                                   \
	{wait, again, sizeof(begins) > 1, sizeof(over) > 1},
	WORDS_FAULTS(X)
#undef X
};

const char *faults_name(enum fault fault)
{
	static const char *const names[] = {
#define X(NAME, name, wait, again, begins, over) #NAME,
		WORDS_FAULTS(X)
#undef X
	};

	return names[fault];
}

/* The earliest time of another report. */
static uint64_t next_report_at(const struct faults *f, enum fault fault)
{
	const struct fault_record *r = &f->v[fault];

	return r->told_at ? r->told_at + rows[fault].again_s * 1000 * NS_PER_MS : 0;
}

void faults_set(struct faults *f, enum fault fault, enum fault_is is, uint64_t now)
{
	struct fault_record *r = &f->v[fault];
	bool there = is != FAULT_IS_OVER;

	r->unknown = is == FAULT_IS_UNKNOWN;
	if (is == FAULT_IS_NOTICED && !r->told) {
		uint64_t wait = rows[fault].wait_ms * NS_PER_MS;

		r->counted = r->counted && r->there;
		r->there = true;
		r->changed = now > wait ? now - wait : 0;
		return;
	}
	if (r->unknown || (r->there == there && is != FAULT_IS_ONCE))
		return;
	/* A late report of an event without duration is useless, so it is made now or never. */
	if (is == FAULT_IS_ONCE) {
		r->count++;
		r->last = now;
		r->due = rows[fault].told && now >= next_report_at(f, fault);
		return;
	}
	r->there = there;
	r->counted = false;
	r->changed = now;
}

void faults_known(struct faults *f, enum fault fault, uint64_t now)
{
	f->v[fault].told = f->v[fault].there;
	f->v[fault].told_at = now;
}

void faults_forget(struct faults *f, enum fault fault)
{
	struct fault_record *r = &f->v[fault];

	r->there = r->told = r->unknown = r->due = r->counted = false;
}

void faults_end(struct faults *f)
{
	for (unsigned i = 0; i < FAULT_COUNT; i++)
		faults_forget(f, (enum fault)i);
}

/* When this fault, or its end, is due to be reported. */
static uint64_t report_due_at(const struct faults *f, enum fault fault)
{
	const struct fault_record *r = &f->v[fault];
	uint64_t at = r->changed + (r->there ? rows[fault].wait_ms : FAULTS_WELL_MS) * NS_PER_MS;

	if (r->due)
		return 0;
	if (r->unknown || r->there == r->told || !rows[fault].told)
		return UINT64_MAX;
	if (r->there && at < next_report_at(f, fault))
		return next_report_at(f, fault);
	return at;
}

/* When the fault has lasted long enough to be counted. */
static uint64_t counts_at(const struct faults *f, enum fault fault)
{
	const struct fault_record *r = &f->v[fault];
	unsigned ms = rows[fault].wait_ms < FAULTS_COUNT_MS ? rows[fault].wait_ms : FAULTS_COUNT_MS;

	return r->there && !r->counted && !r->unknown ? r->changed + ms * NS_PER_MS : UINT64_MAX;
}

uint64_t faults_deadline(const struct faults *f)
{
	uint64_t at = UINT64_MAX;

	for (unsigned i = 0; i < FAULT_COUNT; i++) {
		uint64_t told = report_due_at(f, (enum fault)i),
			 counted = counts_at(f, (enum fault)i);

		at = told < at ? told : at;
		at = counted < at ? counted : at;
	}
	return at;
}

static void count_faults(struct faults *f, uint64_t now)
{
	for (unsigned i = 0; i < FAULT_COUNT; i++) {
		struct fault_record *r = &f->v[i];

		if (now < counts_at(f, (enum fault)i))
			continue;
		r->counted = true;
		r->count++;
		r->last = r->changed;
	}
}

bool faults_say(struct faults *f, uint64_t now, struct words *w)
{
	count_faults(f, now);
	for (unsigned i = 0; i < FAULT_COUNT; i++) {
		struct fault_record *r = &f->v[i];
		bool once = r->due;

		if (now < report_due_at(f, (enum fault)i))
			continue;
		r->due = false;
		if (!once)
			r->told = r->there;
		if (once || r->told)
			r->told_at = now;
		else if (!rows[i].over)
			continue;
		words_fault(w, (enum fault)i, !once && !r->told);
		return true;
	}
	return false;
}
