# SPDX-License-Identifier: MIT
#
# Installing and packaging; the Makefile includes this.
#
#   make install         [DESTDIR=] [PREFIX=/usr/local] and the directories below
#   make uninstall       with the same variables: leaves nothing
#   make deb             .build/deb/busyindicator_VERSION_ARCH.deb, and what lintian says of it
#   make check-install   the package on a clean Debian tree: installed, used, removed (root)
#   make check-service   the service under a real `systemd --user`, on both message buses (root)

PREFIX ?= /usr/local
bindir ?= $(PREFIX)/bin
datadir ?= $(PREFIX)/share
mandir ?= $(datadir)/man
docdir ?= $(datadir)/doc/busyindicator
paneldir ?= $(datadir)/busyindicator/panels
unitdir ?= $(datadir)/busyindicator/units
dbusservicedir ?= $(datadir)/dbus-1/services
dbusinterfacedir ?= $(datadir)/dbus-1/interfaces
bashcompletiondir ?= $(datadir)/bash-completion/completions
zshcompletiondir ?= $(datadir)/zsh/site-functions
fishcompletiondir ?= $(datadir)/fish/vendor_completions.d
# In a home directory systemd looks below share, elsewhere below lib.
systemduserunitdir ?= $(if $(filter $(HOME)/%,$(PREFIX)),$(datadir),$(PREFIX)/lib)/systemd/user

INSTALL ?= install

# Programs that are built already are taken as they are: make install PROGRAMS=/some/where
ifndef PROGRAMS
PROGRAMS := $(RELEASE)
INSTALL_NEEDS := build
endif

.PHONY: install uninstall deb check-install check-service

EXAMPLE_FILES := $(shell find examples -type f ! -path '*/.*' ! -path '*/__pycache__/*')
PANEL_FILES := $(shell find packaging/panels -type f ! -path '*/.*' 2>/dev/null)

# Units to copy, and what one of them runs.
UNIT_FILES := busyindicator-mqtt.service busyindicator-hook.service busyindicator-hook

# Every file that is installed.
INSTALLED_FILES = \
  $(bindir)/busyindicatord $(bindir)/busyctl \
  $(systemduserunitdir)/busyindicatord.service \
  $(dbusservicedir)/org.busyindicator.BusyIndicator1.service \
  $(dbusinterfacedir)/org.busyindicator.BusyIndicator1.xml \
  $(dbusinterfacedir)/org.busyindicator.BusyIndicator1.Control.xml \
  $(mandir)/man1/busyctl.1 $(mandir)/man7/busyindicator.7 $(mandir)/man8/busyindicatord.8 \
  $(bashcompletiondir)/busyctl $(zshcompletiondir)/_busyctl $(fishcompletiondir)/busyctl.fish \
  $(docdir)/README.md \
  $(EXAMPLE_FILES:examples/%=$(docdir)/examples/%) \
  $(PANEL_FILES:packaging/panels/%=$(paneldir)/%) \
  $(UNIT_FILES:%=$(unitdir)/%)

# Directories that may have been made for these files alone, inner ones first.
INSTALLED_DIRECTORIES = $(shell printf '%s\n' \
    $(dir $(EXAMPLE_FILES:examples/%=$(docdir)/examples/%) $(PANEL_FILES:packaging/panels/%=$(paneldir)/%)) \
  | sort -ru) $(docdir) $(paneldir) $(unitdir) $(datadir)/busyindicator \
  $(systemduserunitdir) $(patsubst %/,%,$(dir $(systemduserunitdir))) \
  $(dbusservicedir) $(dbusinterfacedir) $(datadir)/dbus-1 \
  $(bashcompletiondir) $(patsubst %/,%,$(dir $(bashcompletiondir))) \
  $(zshcompletiondir) $(patsubst %/,%,$(dir $(zshcompletiondir))) \
  $(fishcompletiondir) $(patsubst %/,%,$(dir $(fishcompletiondir))) \
  $(mandir)/man1 $(mandir)/man7 $(mandir)/man8 $(datadir)/doc

install: $(INSTALL_NEEDS) ## Install: see packaging/README.md
	$(INSTALL) -d "$(DESTDIR)/"
	cd "$(DESTDIR)/" && $(INSTALL) -d $(patsubst /%,./%,$(sort $(dir $(INSTALLED_FILES))))
	$(INSTALL) -m 755 $(PROGRAMS)/busyindicatord $(PROGRAMS)/busyctl "$(DESTDIR)$(bindir)"
	sed 's|@bindir@|$(bindir)|g' packaging/systemd/busyindicatord.service \
	  >"$(DESTDIR)$(systemduserunitdir)/busyindicatord.service"
	sed 's|@bindir@|$(bindir)|g' packaging/dbus/org.busyindicator.BusyIndicator1.service \
	  >"$(DESTDIR)$(dbusservicedir)/org.busyindicator.BusyIndicator1.service"
	cp packaging/dbus/*.xml "$(DESTDIR)$(dbusinterfacedir)"
	for section in 1 7 8; do \
	  cp packaging/man/*.$$section "$(DESTDIR)$(mandir)/man$$section" || exit; done
	$(PROGRAMS)/busyctl completion bash >"$(DESTDIR)$(bashcompletiondir)/busyctl"
	$(PROGRAMS)/busyctl completion zsh >"$(DESTDIR)$(zshcompletiondir)/_busyctl"
	$(PROGRAMS)/busyctl completion fish >"$(DESTDIR)$(fishcompletiondir)/busyctl.fish"
	cp packaging/README.md "$(DESTDIR)$(docdir)/README.md"
	for file in $(EXAMPLE_FILES:examples/%=%); do \
	  cp examples/$$file "$(DESTDIR)$(docdir)/examples/$$file" || exit; done
	for file in $(PANEL_FILES:packaging/panels/%=%); do \
	  cp packaging/panels/$$file "$(DESTDIR)$(paneldir)/$$file" || exit; done
	cd packaging/systemd && cp $(UNIT_FILES) "$(DESTDIR)$(unitdir)"
	cd "$(DESTDIR)/" && chmod u=rwX,go=rX \
	  $(patsubst /%,./%,$(filter-out $(bindir)/%,$(INSTALLED_FILES)))
	chmod 755 "$(DESTDIR)$(unitdir)/busyindicator-hook"

uninstall: ## Remove what install has installed
	cd "$(DESTDIR)/" && rm -f $(patsubst /%,./%,$(INSTALLED_FILES))
	cd "$(DESTDIR)/" && for directory in $(patsubst /%,./%,$(INSTALLED_DIRECTORIES)); do \
	  if [ -d "$$directory" ]; then \
	    rmdir --ignore-fail-on-non-empty "$$directory" || exit; fi; done

DEB_BUILD := .build/deb

# The package's rules call `make install` here again.
deb: $(INSTALL_NEEDS) ## Build the Debian package: .build/deb/*.deb
	@tools/deps build package
	rm -rf $(DEB_BUILD)
	mkdir -p $(DEB_BUILD)/source
	cp -R packaging/debian $(DEB_BUILD)/source/debian
	cd $(DEB_BUILD)/source && \
	  SOURCE_ROOT="$(CURDIR)" PROGRAMS="$(abspath $(PROGRAMS))" dpkg-buildpackage -b -us -uc
	rm -rf $(DEB_BUILD)/source
	lintian --allow-root --display-info --tag-display-limit 0 --fail-on error,warning,info \
	  $(DEB_BUILD)/*.changes
	@ls -l $(DEB_BUILD)/*.deb

check-install: deb ## Install, use and remove the package on a clean Debian (root)
	@tools/deps package
	packaging/tests/check-install $(DEB_BUILD)/busyindicator_*.deb

check-service: $(INSTALL_NEEDS) ## Try the service under a real systemd --user (root)
	@tools/deps service
	PROGRAMS="$(abspath $(PROGRAMS))" packaging/tests/check-service
