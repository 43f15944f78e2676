#include "mediad/engine/image_pages.h"

#include <link.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#include <mbedtls/gcm.h>
#include <openssl/evp.h>
#include <opus/opus.h>
#include <sodium.h>

enum { PAGE = 4096 };

/* A function of each object. */
static uintptr_t used[6];

static bool holds(const struct dl_phdr_info *info, const ElfW(Phdr) * h, uintptr_t address)
{
	uintptr_t from = info->dlpi_addr + h->p_vaddr;

	return h->p_type == PT_LOAD && address >= from && address - from < h->p_memsz;
}

static bool is_used(const struct dl_phdr_info *info)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		for (unsigned f = 0; f < sizeof used / sizeof used[0]; f++)
			if (holds(info, &info->dlpi_phdr[i], used[f]))
				return true;
	return false;
}

static uintptr_t page_of(uintptr_t address)
{
	return address / PAGE * PAGE;
}

static void populate(uintptr_t from, uintptr_t to, int advice)
{
	from = page_of(from);
	if (from < to)
		madvise((void *)from, page_of(to + PAGE - 1) - from, advice);
}

/* Returns the end of what the loader made read-only after it had written there. */
static uintptr_t relro_end(const struct dl_phdr_info *info)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];

		if (h->p_type == PT_GNU_RELRO)
			return page_of(info->dlpi_addr + h->p_vaddr + h->p_memsz);
	}
	return 0;
}

static int populate_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	uintptr_t relro = relro_end(info);

	(void)size, (void)arg;
	if (!is_used(info))
		return 0;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		uintptr_t from = info->dlpi_addr + h->p_vaddr, to = from + h->p_memsz;

		if (h->p_type != PT_LOAD)
			continue;
		if (!(h->p_flags & PF_W))
			populate(from, to, MADV_POPULATE_READ);
		else
			populate(relro > from && relro < to ? relro : from, to,
				 MADV_POPULATE_WRITE);
	}
	return 0;
}

static void populate_all(void)
{
	const uintptr_t functions[] = {
		(uintptr_t)image_pages_populate,
		(uintptr_t)opus_decode,
		(uintptr_t)crypto_aead_aes256gcm_is_available,
		(uintptr_t)EVP_DecryptUpdate,
		(uintptr_t)mbedtls_gcm_setkey,
		(uintptr_t)lrint,
	};

	for (unsigned i = 0; i < sizeof used / sizeof used[0]; i++)
		used[i] = functions[i];
	dl_iterate_phdr(populate_object, NULL);
}

void image_pages_populate(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, populate_all);
}
