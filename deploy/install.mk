# make install, make uninstall; included by the Makefile.
#
# DESTDIR precedes every path, for packages; PREFIX and each folder can be set.
PREFIX      ?= /usr/local
BINDIR      ?= $(PREFIX)/bin
MANDIR      ?= $(PREFIX)/share/man
DOCDIR      ?= $(PREFIX)/share/doc/parley
UNITDIR     ?= $(PREFIX)/lib/systemd/system
SHAREDIR    ?= $(PREFIX)/share/parley
SYSUSERSDIR ?= $(PREFIX)/lib/sysusers.d
INSTALL     ?= install

INSTALLED_PROGRAMS := mediad decoderd control imaged framed offlined
INSTALLED_PAGES    := $(INSTALLED_PROGRAMS:%=man8/%.8) man5/parley.json.5
INSTALLED_UNITS    := parley-mediad.service parley-control.service
INSTALLED_DOCS     := LICENSE docs/operations.md docs/settings.md docs/privacy.md docs/memory.md

# The programs print their own options for the man pages.
$(B)/man/man8/%.8: docs/man/%.8.in docs/man/page.sh $(B)/%
	@mkdir -p $(@D)
	docs/man/page.sh $(B)/$* $< > $@.new && mv $@.new $@
$(B)/man/man5/parley.json.5: docs/man/settings.sh $(B)/control
	@mkdir -p $(@D)
	docs/man/settings.sh $(B)/control > $@.new && mv $@.new $@
man: $(INSTALLED_PAGES:%=$(B)/man/%)

install: $(PROGRAMS) man
	$(INSTALL) -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(MANDIR)/man5 $(DESTDIR)$(MANDIR)/man8 $(DESTDIR)$(DOCDIR) $(DESTDIR)$(UNITDIR) $(DESTDIR)$(SYSUSERSDIR)
	$(INSTALL) -m 755 $(PROGRAMS) $(DESTDIR)$(BINDIR)
	for p in $(INSTALLED_PAGES); do $(INSTALL) -m 644 $(B)/man/$$p $(DESTDIR)$(MANDIR)/$$p || exit 1; done
	$(INSTALL) -m 644 $(INSTALLED_DOCS) $(DESTDIR)$(DOCDIR)
	$(INSTALL) -d $(DESTDIR)$(SHAREDIR)
	[ ! -f $(EMBEDDER)/use-lite.int8 ] || \
		$(INSTALL) -m 644 $(EMBEDDER)/use-lite.int8 $(EMBEDDER)/LICENSE $(EMBEDDER)/NOTICE $(DESTDIR)$(SHAREDIR)
	for u in $(INSTALLED_UNITS); do \
		sed 's|^ExecStart=/usr/bin/|ExecStart=$(BINDIR)/|' deploy/systemd/$$u > $(DESTDIR)$(UNITDIR)/$$u || exit 1; \
		chmod 644 $(DESTDIR)$(UNITDIR)/$$u; \
	done
	$(INSTALL) -m 644 deploy/systemd/parley-programs.conf $(DESTDIR)$(SHAREDIR)/programs.conf
	$(INSTALL) -m 644 deploy/systemd/parley.sysusers $(DESTDIR)$(SYSUSERSDIR)/parley.conf

# Users, settings, secrets and state stay.
uninstall:
	rm -f $(INSTALLED_PROGRAMS:%=$(DESTDIR)$(BINDIR)/%) $(INSTALLED_PAGES:%=$(DESTDIR)$(MANDIR)/%)
	rm -f $(INSTALLED_UNITS:%=$(DESTDIR)$(UNITDIR)/%) $(DESTDIR)$(SYSUSERSDIR)/parley.conf
	rm -f $(addprefix $(DESTDIR)$(DOCDIR)/,$(notdir $(INSTALLED_DOCS)))
	rm -f $(DESTDIR)$(SHAREDIR)/use-lite.int8 $(DESTDIR)$(SHAREDIR)/LICENSE $(DESTDIR)$(SHAREDIR)/NOTICE
	rm -f $(DESTDIR)$(SHAREDIR)/programs.conf
	[ ! -d $(DESTDIR)$(SHAREDIR) ] || rmdir --ignore-fail-on-non-empty $(DESTDIR)$(SHAREDIR)
	[ ! -d $(DESTDIR)$(DOCDIR) ] || rmdir --ignore-fail-on-non-empty $(DESTDIR)$(DOCDIR)

.PHONY: man install uninstall
