/* Maps the pages of the program and of the libraries that audio threads call, so that rarely used
 * code and tables cost no page fault when a frame needs them first. */
#ifndef MEDIAD_ENGINE_IMAGE_PAGES_H
#define MEDIAD_ENGINE_IMAGE_PAGES_H

/* The first call does it, for the first stream, which keeps an idle process small; kernels before
 * Linux 5.14 cannot. */
void image_pages_populate(void);

#endif
