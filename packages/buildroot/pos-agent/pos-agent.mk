################################################################################
#
# pos-agent: the prebuilt tarball, in the same folder as this file
#
################################################################################

POS_AGENT_VERSION = 0.1.0
POS_AGENT_ARCHITECTURE = $(if $(BR2_aarch64),arm64,$(if $(BR2_x86_64),amd64,armhf))
POS_AGENT_SOURCE = pos-agent-$(POS_AGENT_VERSION)-$(POS_AGENT_ARCHITECTURE).tar.gz
POS_AGENT_SITE = $(POS_AGENT_PKGDIR)
POS_AGENT_SITE_METHOD = file
POS_AGENT_LICENSE = MIT or Apache-2.0
POS_AGENT_LICENSE_FILES = LICENSE-MIT LICENSE-APACHE licences.txt

define POS_AGENT_INSTALL_TARGET_CMDS
	DESTDIR=$(TARGET_DIR) $(@D)/install.sh --prefix /usr \
		$(if $(BR2_PACKAGE_SYSTEMD),--systemd,--no-systemd)
endef

define POS_AGENT_USERS
	pos-agent -1 pos-agent -1 * - - dialout,lp Payment terminal agent
	pos-front -1 pos-front -1 * - - pos-agent Payment terminal page and tills on the network
endef

$(eval $(generic-package))
